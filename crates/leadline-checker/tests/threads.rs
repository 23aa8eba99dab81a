//! However many threads judge, and however they share the work, the report is the same.

mod randomness;
mod simulated;

use leadline_checker::{check, Limits, Report};
use leadline_history::{History, Kind};
use randomness::Dice;
use simulated::{simulate, Fault};

fn report(history: &History, threads: usize) -> Report {
    check(history, &Limits { threads: Some(threads), ..Limits::default() }).expect("the history is sound")
}

/// Longer than all others together, and than what one thread does sooner alone.
#[test]
fn an_object_that_two_threads_share_is_judged_as_by_one() {
    for fault in [None, Some(Fault::StaleCache), Some(Fault::OwnWriteHidden)] {
        let mut history = History::default();
        simulate(&mut Dice::new(1), Kind::Register, 1, 60_000, fault, &mut history);
        simulate(&mut Dice::new(2), Kind::Register, 2, 60, fault, &mut history);
        assert_eq!(report(&history, 4), report(&history, 1), "{fault:?}");
    }
}

#[test]
fn many_objects_are_judged_by_many_threads_as_by_one() {
    let mut history = History::default();
    for object in 0..40 {
        let kind = Kind::ALL[object as usize % Kind::ALL.len()];
        simulate(&mut Dice::new(object), kind, object, 30, Some(Fault::StaleCache), &mut history);
    }
    let alone = report(&history, 1);
    assert!((2..6).all(|threads| report(&history, threads) == alone));
    assert_eq!(alone.objects, 40);
}
