//! A simulated filesystem with faults that have names: each is found as what it is, and nothing is found without one.

mod randomness;
mod simulated;

use std::collections::BTreeSet;

use leadline_checker::{check, Anomaly, Guarantee, Limits, Report, Verdict};
use leadline_history::{History, Kind};
use randomness::Dice;
use simulated::{simulate, Fault};

const OBJECTS: u64 = 60;
const OPERATIONS: usize = 60;

fn run(kind: Kind, fault: Option<Fault>, objects: u64, seed: u64) -> Report {
    let mut history = History::default();
    for object in 0..objects {
        simulate(&mut Dice::new(seed + object), kind, object, OPERATIONS, fault, &mut history);
    }
    check(&history, &Limits::default()).expect("the simulation writes sound histories")
}

fn found(report: &Report) -> BTreeSet<Anomaly> {
    report.lines.iter().flat_map(|line| line.anomalies.keys().copied()).collect()
}

fn assert_nothing_is_found(kind: Kind, report: &Report) {
    assert_eq!(found(report), BTreeSet::new(), "{kind:?}");
    for line in &report.lines {
        assert_eq!(line.verdict, Verdict::Held, "{kind:?} {:?}", line.guarantee);
    }
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    for &kind in Kind::ALL {
        assert_nothing_is_found(kind, &run(kind, None, OBJECTS, 1));
    }
}

#[test]
#[ignore = "takes minutes: cargo test --release -p leadline-checker --test simulation -- --ignored --nocapture"]
fn nothing_is_found_in_ten_million_operations_where_nothing_is_wrong() {
    let mut operations = 0;
    for round in 0.. {
        for &kind in Kind::ALL {
            let report = run(kind, None, 2000, round * 1_000_000);
            assert_nothing_is_found(kind, &report);
            operations += report.operations;
        }
        if operations >= 10_000_000 {
            break;
        }
    }
    println!("{operations} operations, 0 false alarms");
}

/// The fault, where it is made, what it must be found as, and what may be found beside it because it is true as well.
type Case = (Fault, Kind, Anomaly, &'static [Anomaly]);

#[rustfmt::skip]
const CASES: &[Case] = {
    use Anomaly::*;
    use Kind::*;
    &[
        (Fault::StaleCache, Register, Stale, &[NoOrder]),
        (Fault::StaleCache, Attribute, Stale, &[NoOrder]),
        (Fault::StaleCache, SessionFile, Stale, &[NoOrder]),
        (Fault::StaleCache, Entry, Stale, &[NoOrder]),
        (Fault::StaleCache, NamePair, Stale, &[Vanished, HalfRenamed]),
        (Fault::StaleCache, AppendLog, Stale, &[]),
        (Fault::StaleCache, Directory, Stale, &[]),
        (Fault::NegativeCache, Entry, Stale, &[NoOrder]),
        (Fault::RenameWindow, Entry, Vanished, &[NoOrder, Stale, OwnWriteMissing]),
        (Fault::AppendAtCachedSize, AppendLog, Lost, &[Forked, Stale, Reordered]),
        (Fault::LostWrite, Register, Lost, &[NoOrder, OwnWriteMissing]),
        (Fault::LostWrite, Attribute, Lost, &[NoOrder, OwnWriteMissing]),
        (Fault::LostWrite, SessionFile, Lost, &[NoOrder, OwnWriteMissing]),
        (Fault::LostWrite, Directory, Lost, &[Resurrected, Stale, OwnWriteMissing]),
        (Fault::LostWrite, LockedCounter, Lost, &[NoOrder, Stale, OwnWriteMissing]),
        (Fault::LostAppend, AppendLog, Lost, &[]),
        (Fault::ForgottenFsync, Register, Lost, &[NoOrder, OwnWriteMissing, Stale]),
        (Fault::ForgottenFsync, AppendLog, Lost, &[]),
        (Fault::DuplicateAppend, AppendLog, Duplicated, &[]),
        (Fault::ReorderedAppends, AppendLog, Reordered, &[Forked, Stale, OwnWriteMissing]),
        (Fault::TornBlock, Register, Torn, &[]),
        (Fault::TornBlock, AppendLog, Torn, &[]),
        (Fault::ZeroTail, Register, ZeroFilled, &[]),
        (Fault::ZeroTail, AppendLog, ZeroFilled, &[]),
        (Fault::Garbage, Register, Invented, &[Diverged]),
        (Fault::Garbage, AppendLog, Invented, &[Diverged]),
        (Fault::Garbage, Directory, Invented, &[Diverged]),
        (Fault::RefusedWrite, Register, RefusedButHappened, &[]),
        (Fault::HalfRename, NamePair, HalfRenamed, &[]),
        (Fault::LaggingReplica, Register, WentBack, &[Stale, NoOrder, OwnWriteMissing]),
        (Fault::LaggingReplica, AppendLog, WentBack, &[Stale, OwnWriteMissing]),
        (Fault::OwnWriteHidden, Register, OwnWriteMissing, &[Stale, NoOrder]),
        (Fault::OwnWriteHidden, AppendLog, OwnWriteMissing, &[Stale]),
        (Fault::OwnWriteHidden, Directory, OwnWriteMissing, &[Stale]),
        (Fault::OwnWriteHidden, Entry, OwnWriteMissing, &[Stale, NoOrder, Vanished]),
        (Fault::BrokenLock, LockedCounter, LostUpdate, &[]),
        (Fault::SharedCreate, Entry, NotExclusive, &[]),
        (Fault::FrozenClient, Register, Diverged, &[Stale, NoOrder]),
        (Fault::FrozenClient, AppendLog, Diverged, &[Stale]),
        (Fault::FrozenClient, Directory, Diverged, &[Stale]),
        (Fault::FrozenClient, Entry, Diverged, &[Stale, Vanished, NoOrder]),
    ]
};

#[test]
fn every_fault_is_found_as_what_it_is() {
    let mut wrong = Vec::new();
    for &(fault, kind, named, beside) in CASES {
        let found = found(&run(kind, Some(fault), OBJECTS, 7));
        let other: Vec<&Anomaly> =
            found.iter().filter(|anomaly| **anomaly != named && !beside.contains(anomaly)).collect();
        if !found.contains(&named) || !other.is_empty() {
            wrong.push(format!("{fault:?} on {kind:?}: expected {named:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_cache_that_expires_is_never_found_as_loss() {
    for kind in
        [Kind::Register, Kind::Attribute, Kind::SessionFile, Kind::Entry, Kind::AppendLog, Kind::Directory]
    {
        let report = run(kind, Some(Fault::StaleCache), OBJECTS, 3);
        assert_eq!(
            report.line(kind, Guarantee::NoLostWrite).expect("it was asked").verdict,
            Verdict::Held,
            "{kind:?}"
        );
        assert_eq!(
            report.line(kind, Guarantee::Convergence).expect("it was asked").verdict,
            Verdict::Held,
            "{kind:?}"
        );
    }
}

#[test]
fn the_staleness_that_is_found_is_no_longer_than_the_cache_time_and_close_to_it() {
    for kind in [Kind::Register, Kind::AppendLog, Kind::Entry, Kind::Directory] {
        let report = run(kind, Some(Fault::StaleCache), 4 * OBJECTS, 3);
        let line = report.line(kind, Guarantee::BoundedStaleness).expect("it was asked");
        let delay = line.least_delay_ns.expect("it is an amount");
        assert!((200..=400).contains(&delay), "{kind:?}: {delay}");
    }
}
