//! The anomalies that were published, written down operation by operation: what is found, and how it is told.

use leadline_checker::{check, Anomaly, Guarantee, Limits, Line, Verdict};
use leadline_history::{Action, History, Kind, Moment, Operation, ENOENT};

const MILLISECOND: i64 = 1_000_000;

fn operation(kind: Kind, client: u16, action: Action, at_milliseconds: i64) -> Operation {
    let start = at_milliseconds * MILLISECOND;
    Operation::new(kind, 1, client, action, (start, start + MILLISECOND / 2))
}

fn line(history: &History, guarantee: Guarantee) -> Line {
    let report = check(history, &Limits::default()).expect("the history is sound");
    report.line(history.operations[0].kind, guarantee).expect("it concerns this kind").clone()
}

fn anomaly(history: &History, guarantee: Guarantee) -> Option<Anomaly> {
    line(history, guarantee).witness.map(|witness| witness.anomaly)
}

/// A and B append in turns, each at the end that it believes in: 1,2,3 becomes 1,3.
fn appends_in_turns(final_list: &[u64]) -> History {
    let append = |client, value, at| operation(Kind::AppendLog, client, Action::Append, at).giving(value);
    let mut history: History = [append(0, 1, 0), append(1, 2, 10), append(0, 3, 20)].into_iter().collect();
    let read = operation(Kind::AppendLog, 9, Action::Read, 9000).at(Moment::Final);
    history.push_list(read, final_list);
    history
}

#[test]
fn a_record_that_was_overwritten_is_lost_and_not_stale() {
    let history = appends_in_turns(&[1, 3]);
    let lost = line(&history, Guarantee::NoLostWrite);
    assert_eq!((lost.verdict, lost.checked, lost.violating), (Verdict::Violated, 3, 1));
    let witness = lost.witness.expect("it is violated");
    assert_eq!((witness.anomaly, witness.operations.len()), (Anomaly::Lost, 2));
    assert_eq!(
        witness.sentence,
        "acknowledged and lost for good: client 9 read 2 records at 9000.0 ms, 8989.5 ms after client 1 appended 2 \
         and had its answer"
    );
    assert_eq!(line(&history, Guarantee::BoundedStaleness).least_delay_ns, Some(0));
    assert_eq!(line(&appends_in_turns(&[1, 2, 3]), Guarantee::NoLostWrite).verdict, Verdict::Held);
}

#[test]
fn a_name_that_another_removed_is_still_seen() {
    let history: History = [
        operation(Kind::Entry, 0, Action::Create, 0).giving(7),
        operation(Kind::Entry, 0, Action::Exists, 5).getting(1),
        operation(Kind::Entry, 1, Action::Remove, 10),
        operation(Kind::Entry, 0, Action::Exists, 500).getting(1),
        operation(Kind::Entry, 0, Action::Exists, 1500).getting(0),
        operation(Kind::Entry, 9, Action::Exists, 9000).getting(0).at(Moment::Final),
    ]
    .into_iter()
    .collect();
    let stale = line(&history, Guarantee::BoundedStaleness);
    assert_eq!(
        (stale.least_delay_ns, stale.anomalies[&Anomaly::Stale]),
        (Some(500 * MILLISECOND - 10_500_000), 1)
    );
    assert_eq!(stale.verdict, Verdict::Held, "nothing was promised that 489.5 ms would break");
    assert_eq!(anomaly(&history, Guarantee::Linearizable), Some(Anomaly::Stale));
    assert_eq!(line(&history, Guarantee::NoLostWrite).verdict, Verdict::Held);
}

#[test]
fn a_promise_of_less_staleness_than_was_seen_is_broken() {
    let history: History = [
        operation(Kind::Register, 0, Action::Read, 0),
        operation(Kind::Register, 1, Action::Write, 10).giving(7),
        operation(Kind::Register, 0, Action::Read, 500),
    ]
    .into_iter()
    .collect();
    let verdict = |bound_milliseconds: i64| {
        let limits = Limits { staleness_ns: Some(bound_milliseconds * MILLISECOND), ..Limits::default() };
        let report = check(&history, &limits).expect("the history is sound");
        report.line(Kind::Register, Guarantee::BoundedStaleness).expect("it was asked").verdict
    };
    assert_eq!(verdict(489), Verdict::Violated);
    assert_eq!(verdict(490), Verdict::Held);
}

#[test]
fn a_name_that_was_renamed_over_never_ceased_to_exist() {
    let history: History = [
        operation(Kind::Entry, 1, Action::Create, 0).giving(7),
        operation(Kind::Entry, 0, Action::Read, 5).getting(7),
        operation(Kind::Entry, 1, Action::Replace, 10).giving(8),
        operation(Kind::Entry, 0, Action::Read, 20).refused(ENOENT),
        operation(Kind::Entry, 0, Action::Read, 2000).getting(8),
    ]
    .into_iter()
    .collect();
    let bounded = line(&history, Guarantee::BoundedStaleness);
    assert_eq!((bounded.verdict, bounded.violating), (Verdict::Violated, 1), "no delay makes a name vanish");
    assert_eq!(bounded.witness.expect("it is violated").anomaly, Anomaly::Vanished);
    assert_eq!(bounded.least_delay_ns, Some(0));
}

#[test]
fn a_rename_that_is_seen_half_done_is_told_by_the_looks_that_show_it() {
    let look = |client, name, at| operation(Kind::NamePair, client, Action::Read, at).giving(name);
    let rename =
        Operation { end_ns: 50 * MILLISECOND, ..operation(Kind::NamePair, 1, Action::Move, 10).giving(2) };
    let mut operations =
        vec![look(0, 1, 0).getting(1), rename, look(0, 1, 20).getting(0), look(0, 2, 30).getting(0)];
    operations.extend((60..100).map(|at| look(2, 2, at).getting(1)));
    let history: History = operations.into_iter().collect();
    let order = line(&history, Guarantee::Linearizable);
    assert_eq!(order.verdict, Verdict::Violated);
    let witness = order.witness.expect("it is violated");
    assert_eq!(witness.anomaly, Anomaly::HalfRenamed);
    assert_eq!(witness.operations.len(), 3, "{}", witness.sentence);
}

#[test]
fn two_increments_from_the_same_number_are_a_lost_update() {
    let raise = |client, from, at| {
        operation(Kind::LockedCounter, client, Action::Increment, at).getting(from).giving(from + 1)
    };
    let last = operation(Kind::LockedCounter, 9, Action::Read, 900).getting(2).at(Moment::Final);
    let history: History = [raise(0, 0, 0), raise(0, 1, 10), raise(1, 1, 20), last].into_iter().collect();
    assert_eq!(anomaly(&history, Guarantee::NoLostWrite), Some(Anomaly::LostUpdate));
    assert_eq!(anomaly(&history, Guarantee::Linearizable), Some(Anomaly::LostUpdate));
}

#[test]
fn touching_intervals_overlap() {
    let write = Operation { end_ns: 100, ..operation(Kind::Register, 1, Action::Write, 0).giving(7) };
    let read = |start_ns| Operation { start_ns, ..operation(Kind::Register, 0, Action::Read, 0) };
    let verdict = |start_ns| {
        let primed = Operation { start_ns: -10, end_ns: -5, ..read(0) };
        line(&[primed, write, read(start_ns)].into_iter().collect(), Guarantee::Linearizable).verdict
    };
    assert_eq!(verdict(100), Verdict::Held);
    assert_eq!(verdict(101), Verdict::Violated);
}
