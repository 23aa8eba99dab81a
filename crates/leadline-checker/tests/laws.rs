//! Laws that hold whatever a filesystem does: what may not change a verdict, and what may change it in one
//! direction only.

mod brute_force;
mod drawn;
mod randomness;

use drawn::{history, ORDERED};
use leadline_checker::{check, Guarantee, Limits, Report};
use leadline_history::{first_flaw, Action, History, Kind, Operation, NEVER, NOTHING};
use proptest::prelude::*;
use randomness::Dice;

/// A history, and the dice for what is to be done with it.
fn drawn_history(seed: u64) -> (Kind, History, Dice) {
    let mut dice = Dice::new(seed);
    loop {
        let kind = dice.one_of(&ORDERED);
        let history = history(&mut dice, kind, 1);
        if first_flaw(&history).is_none() {
            return (kind, history, dice);
        }
    }
}

fn report(history: &History) -> Report {
    check(history, &Limits { threads: Some(1), ..Limits::default() }).expect("the history is sound")
}

fn violated(report: &Report) -> Vec<(Guarantee, u64, u64)> {
    report.lines.iter().map(|line| (line.guarantee, line.violating, line.objects_violating)).collect()
}

fn changed(history: &History, change: impl Fn(&mut Operation)) -> History {
    let mut other = history.clone();
    other.operations.iter_mut().for_each(change);
    other
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn clients_have_no_names_and_time_has_no_beginning(seed: u64, shift in -1_000_000i64..1_000_000) {
        let (_, history, _) = drawn_history(seed);
        let other = changed(&history, |each| {
            each.client = 40 - each.client;
            each.start_ns += shift;
            each.end_ns = if each.end_ns == NEVER { NEVER } else { each.end_ns + shift };
        });
        prop_assert_eq!(violated(&report(&other)), violated(&report(&history)));
    }

    #[test]
    fn values_have_no_meaning(seed: u64) {
        let (kind, history, _) = drawn_history(seed);
        prop_assume!(!matches!(kind, Kind::NamePair | Kind::LockedCounter));
        let renamed = |value: u64| if value == NOTHING { NOTHING } else { (3 << 48) - value };
        let mut other = changed(&history, |each| {
            each.value_in = renamed(each.value_in);
            let is_number = matches!(each.action, Action::Exists | Action::Length);
            each.value_out = if is_number { each.value_out } else { renamed(each.value_out) };
        });
        other.values.iter_mut().for_each(|value| *value = renamed(*value));
        prop_assert_eq!(violated(&report(&other)), violated(&report(&history)));
    }

    #[test]
    fn the_order_in_which_operations_are_written_down_does_not_matter(seed: u64) {
        let (_, history, mut dice) = drawn_history(seed);
        let mut other = history.clone();
        for place in (1..other.operations.len()).rev() {
            other.operations.swap(place, dice.below(place as u64 + 1) as usize);
        }
        prop_assert_eq!(violated(&report(&other)), violated(&report(&history)));
    }

    #[test]
    fn an_operation_that_took_longer_excuses_more(seed: u64) {
        let (kind, history, mut dice) = drawn_history(seed);
        let place = dice.below(history.operations.len() as u64) as usize;
        let mut other = history.clone();
        let each = &mut other.operations[place];
        each.start_ns -= dice.between(0, 20);
        each.end_ns = each.end_ns.saturating_add(dice.between(0, 20));
        let order = |history: &History| {
            report(history).line(kind, Guarantee::Linearizable).expect("it concerns this kind").objects_violating
        };
        prop_assert!(order(&other) <= order(&history));
    }

    #[test]
    fn a_read_that_nobody_made_accuses_nobody(seed: u64) {
        let (kind, history, mut dice) = drawn_history(seed);
        let place = dice.below(history.operations.len() as u64) as usize;
        let dropped = history.operations[place];
        prop_assume!(!dropped.action.changes());
        let mut other = history.clone();
        other.operations.remove(place);
        prop_assume!(!other.operations.is_empty());
        let after = report(&other);
        for (guarantee, violating, _) in violated(&report(&history)) {
            // Which read tells the order of a log decides which records count as being out of it.
            if kind == Kind::AppendLog && guarantee != Guarantee::Linearizable {
                continue;
            }
            let line = after.line(kind, guarantee).expect("it concerns this kind");
            prop_assert!(line.objects_violating <= u64::from(violating > 0), "{:?}", guarantee);
        }
    }

    #[test]
    fn objects_are_judged_alone(seed: u64) {
        let (kind, one, mut dice) = drawn_history(seed);
        let two = history(&mut dice, kind, 2);
        prop_assume!(first_flaw(&two).is_none());
        let mut both = one.clone();
        both.join(&two);
        let sum: Vec<_> = violated(&report(&one)).into_iter().zip(violated(&report(&two)))
            .map(|(one, two)| (one.0, one.1 + two.1, one.2 + two.2)).collect();
        prop_assert_eq!(violated(&report(&both)), sum);
    }

    #[test]
    fn clocks_that_may_be_off_accuse_less_and_never_more(seed: u64, error in 1u32..30) {
        let (_, history, _) = drawn_history(seed);
        let doubted = report(&changed(&history, |each| each.clock_error_ns = error));
        for (line, trusted) in doubted.lines.iter().zip(&report(&history).lines) {
            let suspected = line.objects_violating + line.objects_undecided;
            prop_assert!(line.objects_violating <= trusted.objects_violating, "{:?}", line.guarantee);
            prop_assert!(suspected >= trusted.objects_violating, "{:?}", line.guarantee);
        }
    }

    #[test]
    fn a_history_that_is_not_whole_accuses_nobody(seed: u64) {
        let (_, history, _) = drawn_history(seed);
        let cut = report(&History { whole: false, ..history.clone() });
        for (line, whole) in cut.lines.iter().zip(&report(&history).lines) {
            prop_assert_eq!(line.violating, 0);
            prop_assert_eq!(line.objects_undecided, whole.objects_violating);
        }
    }
}
