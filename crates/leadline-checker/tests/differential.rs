//! The fast ways against trying every order: on small random histories both must say the same, always.

mod brute_force;
mod drawn;
mod randomness;

use brute_force::is_linearizable;
use drawn::{history, ORDERED};
use leadline_checker::{check, Guarantee, Limits};
use leadline_history::{first_flaw, Content, History, Kind};
use randomness::Dice;

fn checker_says_linearizable(history: &History) -> bool {
    let limits = Limits { threads: Some(1), ..Limits::default() };
    let report = check(history, &limits).expect("the history is sound");
    let line =
        report.line(history.operations[0].kind, Guarantee::Linearizable).expect("it concerns this kind");
    assert_eq!(line.objects_undecided, 0, "{history:?}");
    line.objects_violating == 0
}

/// How many of so many histories are violating; ends the test at the first disagreement.
fn compare(kind: Kind, histories: u64, seed: u64) -> u64 {
    let mut violating = 0;
    for number in 0..histories {
        let history = history(&mut Dice::new(seed + number), kind, 1);
        if first_flaw(&history).is_some() {
            continue;
        }
        let whole = history.operations.iter().all(|operation| operation.content == Content::Whole);
        let truth = whole && is_linearizable(&history);
        let said = checker_says_linearizable(&history);
        assert_eq!(said, truth, "history {number} of seed {seed} (truth on the right): {history:#?}");
        violating += u64::from(!truth);
    }
    violating
}

fn compare_all(histories: u64, seed: u64) {
    for kind in ORDERED {
        let violating = compare(kind, histories, seed);
        println!("{kind:?}: {histories} histories, {violating} violating, 0 disagreements");
        assert!(violating > histories / 50, "{kind:?}: only {violating} of {histories} are violating");
        assert!(violating < histories * 9 / 10, "{kind:?}: {violating} of {histories} are violating");
    }
}

#[test]
fn the_checker_agrees_with_trying_every_order() {
    compare_all(2000, 1);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p leadline-checker --test differential -- --ignored --nocapture"]
fn the_checker_agrees_with_trying_every_order_a_million_times_for_each_kind() {
    compare_all(1_000_000, 1 << 32);
}
