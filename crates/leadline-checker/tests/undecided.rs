//! When nothing can be said: nobody looked, too much overlapped, the clocks are not good enough, or operations are
//! missing.

use leadline_checker::{check, Guarantee, Limits, Line, Verdict};
use leadline_history::{Action, History, Kind, Operation};

fn line_within(history: &History, guarantee: Guarantee, limits: &Limits) -> Line {
    let report = check(history, limits).expect("the history is sound");
    report.line(history.operations[0].kind, guarantee).expect("it concerns this kind").clone()
}

fn line(history: &History, guarantee: Guarantee) -> Line {
    line_within(history, guarantee, &Limits::default())
}

/// B reads the beginning, A writes, B reads the beginning again so many nanoseconds after.
fn stale_by(nanoseconds: i64) -> History {
    let read = |span| Operation::new(Kind::Register, 1, 1, Action::Read, span);
    let write = Operation::new(Kind::Register, 1, 0, Action::Write, (100, 200)).giving(7);
    [read((0, 10)), write, read((200 + nanoseconds, 210 + nanoseconds))].into_iter().collect()
}

#[test]
fn a_cold_look_proves_nothing() {
    let write = Operation::new(Kind::Register, 1, 0, Action::Write, (0, 10)).giving(7);
    let read = Operation::new(Kind::Register, 1, 1, Action::Read, (20, 30)).getting(7);
    let cold: History = [write, read].into_iter().collect();
    assert_eq!(line(&cold, Guarantee::Linearizable).verdict, Verdict::NotExercised);
    assert_eq!(line(&cold, Guarantee::BoundedStaleness).verdict, Verdict::NotExercised);
    let primed: History = [write, Operation { primed: true, ..read }].into_iter().collect();
    assert_eq!(line(&primed, Guarantee::Linearizable).verdict, Verdict::Held);
    assert_eq!(line(&primed, Guarantee::BoundedStaleness).checked, 1);
}

#[test]
fn a_client_that_looks_at_its_own_changes_only_exercises_nothing() {
    let own = |action, span| Operation::new(Kind::Register, 1, 0, action, span);
    let history: History =
        [own(Action::Write, (0, 10)).giving(7), own(Action::Read, (20, 30)).getting(7)].into_iter().collect();
    assert_eq!(line(&history, Guarantee::Linearizable).verdict, Verdict::NotExercised);
    assert_eq!(line(&history, Guarantee::ReadYourWrites).verdict, Verdict::Held);
}

#[test]
fn what_the_clocks_may_explain_is_undecided_and_what_they_cannot_is_violated() {
    let with_error = |nanoseconds, error| {
        let mut history = stale_by(nanoseconds);
        history.operations.iter_mut().for_each(|each| each.clock_error_ns = error);
        line(&history, Guarantee::Linearizable)
    };
    assert_eq!(with_error(50, 0).verdict, Verdict::Violated);
    assert_eq!(with_error(50, 24).verdict, Verdict::Violated);
    let undecided = with_error(50, 25);
    assert_eq!(
        (undecided.verdict, undecided.violating, undecided.objects_undecided),
        (Verdict::Undecided, 0, 1)
    );
    let because = undecided.undecided_because.expect("it says why");
    assert_eq!(because, "1 object look violated by less than the clocks may be off");
    assert!(undecided.witness.is_some(), "what looks wrong is shown");
}

#[test]
fn missing_operations_may_excuse_everything() {
    let cut = History { whole: false, ..stale_by(50) };
    let line = line(&cut, Guarantee::Linearizable);
    assert_eq!((line.verdict, line.violating), (Verdict::Undecided, 0));
    assert!(line.undecided_because.expect("it says why").contains("operations are missing"));
}

/// So many names created at once, all in doubt but one, and looks in between.
fn overlapping(changes: u64) -> History {
    let replace =
        |value| Operation::new(Kind::Entry, 1, value as u16, Action::Replace, (0, 1000)).giving(value);
    let mut operations: Vec<Operation> = (1..=changes).map(replace).collect();
    let look = |at| Operation::new(Kind::Entry, 1, 500, Action::Exists, (at, at)).getting(1);
    operations.push(look(-5).getting(0));
    operations.extend((10..20).map(look));
    operations.into_iter().collect()
}

#[test]
fn a_search_that_takes_too_long_is_given_up_and_counted() {
    assert_eq!(line(&overlapping(6), Guarantee::Linearizable).verdict, Verdict::Held);
    for (changes, limits) in
        [(6, Limits { configurations: 10, ..Limits::default() }), (80, Limits::default())]
    {
        let given_up = line_within(&overlapping(changes), Guarantee::Linearizable, &limits);
        assert_eq!((given_up.verdict, given_up.objects_undecided), (Verdict::Undecided, 1));
        assert!(given_up.undecided_because.expect("it says why").contains("too many changes overlap"));
    }
}

#[test]
fn the_verdict_does_not_depend_on_the_number_of_threads() {
    let mut history = History::default();
    for object in 0..50 {
        let moved = stale_by(object % 3 * 20 - 20);
        history
            .operations
            .extend(moved.operations.iter().map(|each| Operation { object: object as u64, ..*each }));
    }
    let by = |threads| {
        check(&history, &Limits { threads: Some(threads), ..Limits::default() }).expect("it is sound")
    };
    assert_eq!(by(1), by(4));
}

#[test]
fn a_history_with_a_flaw_is_refused_in_a_sentence() {
    let twice: History = (0..2).map(|_| stale_by(5).operations[1]).collect();
    let flaw = check(&twice, &Limits::default()).expect_err("a value was written twice");
    assert!(flaw.to_string().contains("object 1 was given value 7 twice"));
}

#[test]
fn a_report_survives_being_stored() {
    let report = check(&stale_by(50), &Limits::default()).expect("it is sound");
    let stored = serde_json::to_string(&report).expect("a report is plain data");
    assert_eq!(
        serde_json::from_str::<leadline_checker::Report>(&stored).expect("it was just stored"),
        report
    );
}
