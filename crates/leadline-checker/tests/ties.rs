//! One operation is before another only if it ended strictly before the other began: what touches overlaps, and excuses.

use leadline_checker::{check, Anomaly, Guarantee, Limits, Report};
use leadline_history::{Action, History, Kind, Moment, Operation, ENOENT};

fn report(history: &History) -> Report {
    check(history, &Limits { threads: Some(1), ..Limits::default() }).expect("the history is sound")
}

fn of(operations: &[Operation]) -> Report {
    report(&operations.iter().copied().collect())
}

fn entry(client: u16, action: Action, span: (i64, i64)) -> Operation {
    Operation::new(Kind::Entry, 1, client, action, span)
}

/// How often a guarantee shows an anomaly.
fn count(report: &Report, kind: Kind, guarantee: Guarantee, anomaly: Anomaly) -> u64 {
    let line = report.line(kind, guarantee).expect("it concerns the kind");
    line.anomalies.get(&anomaly).copied().unwrap_or(0)
}

#[test]
fn a_name_seen_when_its_removal_ended_is_no_witness_that_it_vanished_later() {
    let looks = [((30, 45), Anomaly::Stale), ((31, 60), Anomaly::Stale), ((31, 45), Anomaly::Vanished)];
    for (look, anomaly) in looks {
        let found = of(&[
            entry(0, Action::Create, (0, 10)).giving(1),
            entry(1, Action::Remove, (20, 30)),
            entry(1, Action::Replace, (40, 50)).giving(2),
            entry(0, Action::Exists, look).getting(1),
            entry(0, Action::Exists, (60, 61)).refused(ENOENT),
        ]);
        assert_eq!(count(&found, Kind::Entry, Guarantee::BoundedStaleness, anomaly), 1, "{look:?}");
    }
}

fn log(client: u16, action: Action, span: (i64, i64)) -> Operation {
    Operation::new(Kind::AppendLog, 1, client, action, span)
}

#[test]
fn appends_that_touch_may_lie_in_either_order() {
    for (second_start, reordered) in [(10, 0), (11, 1)] {
        let mut history = History::default();
        history.push(log(0, Action::Append, (0, 10)).giving(1));
        history.push(log(1, Action::Append, (second_start, 20)).giving(2));
        history.push_list(log(2, Action::Read, (30, 31)).at(Moment::Final), &[2, 1]);
        let found = report(&history);
        assert_eq!(count(&found, Kind::AppendLog, Guarantee::AppendOrder, Anomaly::Reordered), reordered);
    }
}

#[test]
fn a_look_that_begins_as_an_append_ends_need_not_see_it() {
    for (look_start, stale) in [(20, 0), (21, 1)] {
        let mut history = History::default();
        history.push(log(0, Action::Append, (0, 5)).giving(1));
        history.push(log(1, Action::Append, (10, 20)).giving(2));
        history.push_list(log(0, Action::Read, (look_start, 25)), &[1]);
        history.push_list(log(2, Action::Read, (30, 31)).at(Moment::Final), &[1, 2]);
        let found = report(&history);
        assert_eq!(count(&found, Kind::AppendLog, Guarantee::CloseToOpen, Anomaly::Stale), stale);
    }
}

#[test]
fn a_listing_that_touches_what_changed_may_show_either() {
    let directory = |client, action, span| Operation::new(Kind::Directory, 1, client, action, span);
    for (listed_from, listed_to, stale) in [(10, 29, 0), (11, 30, 0), (11, 29, 1)] {
        let mut history = History::default();
        history.push(directory(0, Action::Create, (0, 10)).giving(1));
        history.push(directory(0, Action::Remove, (30, 40)).giving(1));
        history.push_list(directory(1, Action::List, (1, 2)), &[]);
        history.push_list(directory(1, Action::List, (listed_from, listed_to)), &[]);
        let found = report(&history);
        let line = found.line(Kind::Directory, Guarantee::BoundedStaleness).expect("it concerns directories");
        assert_eq!(line.anomalies.values().sum::<u64>(), stale, "{listed_from} {listed_to} {:?}", line);
    }
}

#[test]
fn of_ones_own_appends_the_farthest_counts_and_not_the_one_that_ended_last() {
    let mut history = History::default();
    history.push(log(0, Action::Append, (0, 10)).giving(1));
    history.push(log(0, Action::Append, (1, 12)).giving(2));
    history.push_list(log(0, Action::Read, (20, 21)), &[2]);
    history.push_list(log(2, Action::Read, (30, 31)).at(Moment::Final), &[2, 1]);
    let found = report(&history);
    let missing = count(&found, Kind::AppendLog, Guarantee::ReadYourWrites, Anomaly::OwnWriteMissing);
    assert_eq!(missing, 1);
}
