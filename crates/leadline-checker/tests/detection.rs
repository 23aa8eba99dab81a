//! How probable it is that a fault is found, by how long objects are watched and how many of them are hit. Prints the
//! tables of docs/concepts/consistency_checking.md.

mod randomness;
mod simulated;

use leadline_checker::{check, Anomaly, Limits};
use leadline_history::{History, Kind};
use randomness::Dice;
use simulated::{simulate, Fault};

const LENGTHS: [usize; 5] = [9, 18, 36, 72, 144];
const RATES_IN_A_THOUSAND: [u64; 3] = [1, 10, 100];

#[rustfmt::skip]
const FAULTS: [(Fault, Kind, Anomaly); 19] = [
    (Fault::StaleCache, Kind::Register, Anomaly::Stale),
    (Fault::NegativeCache, Kind::Entry, Anomaly::Stale),
    (Fault::RenameWindow, Kind::Entry, Anomaly::Vanished),
    (Fault::AppendAtCachedSize, Kind::AppendLog, Anomaly::Lost),
    (Fault::LostWrite, Kind::Register, Anomaly::Lost),
    (Fault::LostAppend, Kind::AppendLog, Anomaly::Lost),
    (Fault::ForgottenFsync, Kind::Register, Anomaly::Lost),
    (Fault::DuplicateAppend, Kind::AppendLog, Anomaly::Duplicated),
    (Fault::ReorderedAppends, Kind::AppendLog, Anomaly::Reordered),
    (Fault::TornBlock, Kind::Register, Anomaly::Torn),
    (Fault::ZeroTail, Kind::Register, Anomaly::ZeroFilled),
    (Fault::Garbage, Kind::Register, Anomaly::Invented),
    (Fault::RefusedWrite, Kind::Register, Anomaly::RefusedButHappened),
    (Fault::HalfRename, Kind::NamePair, Anomaly::HalfRenamed),
    (Fault::LaggingReplica, Kind::Register, Anomaly::WentBack),
    (Fault::OwnWriteHidden, Kind::Register, Anomaly::OwnWriteMissing),
    (Fault::BrokenLock, Kind::LockedCounter, Anomaly::LostUpdate),
    (Fault::SharedCreate, Kind::Entry, Anomaly::NotExclusive),
    (Fault::FrozenClient, Kind::Register, Anomaly::Diverged),
];

/// Whether the fault is found as what it is, when it hits so many in a thousand of the objects.
fn is_found(
    (fault, kind, named): (Fault, Kind, Anomaly),
    (objects, length): (u64, usize),
    hit_in_a_thousand: u64,
    seed: u64,
) -> bool {
    let mut history = History::default();
    for object in 0..objects {
        let mut dice = Dice::new(seed * 1_000 + object);
        let fault = dice.chance(hit_in_a_thousand).then_some(fault);
        simulate(&mut dice, kind, object, length, fault, &mut history);
    }
    let report = check(&history, &Limits { threads: Some(1), ..Limits::default() }).expect("it is sound");
    report.lines.iter().any(|line| line.anomalies.contains_key(&named))
}

fn percent(histories: u64, found: impl Fn(u64) -> bool) -> u64 {
    (0..histories).filter(|&seed| found(seed)).count() as u64 * 100 / histories
}

fn row(name: &str, cells: impl Iterator<Item = u64>) -> String {
    let cells: Vec<String> = cells.map(|cell| cell.to_string()).collect();
    format!("| {name} | {} |", cells.join(" | "))
}

/// Percent of histories of one object that is hit, by its number of operations.
fn by_length(histories: u64) -> Vec<String> {
    let each = FAULTS.iter().map(|case| {
        let found = LENGTHS.map(|length| percent(histories, |seed| is_found(*case, (1, length), 1000, seed)));
        row(&format!("{:?}, {:?}", case.0, case.1), found.into_iter())
    });
    each.collect()
}

/// Percent of histories of 100 objects with 36 operations, by how many objects are hit.
fn by_rate(histories: u64) -> Vec<String> {
    let each = FAULTS.iter().map(|case| {
        let found =
            RATES_IN_A_THOUSAND.map(|rate| percent(histories, |seed| is_found(*case, (100, 36), rate, seed)));
        row(&format!("{:?}, {:?}", case.0, case.1), found.into_iter())
    });
    each.collect()
}

#[test]
fn the_longer_an_object_is_watched_the_surer_its_fault_is_found() {
    for case in FAULTS {
        let [short, long] =
            [9, 144].map(|length| percent(60, |seed| is_found(case, (1, length), 1000, seed)));
        assert!(
            long >= short.min(95) && long >= 50,
            "{case:?}: {short} % of short ones, {long} % of long ones"
        );
    }
}

#[test]
fn no_fault_is_found_where_no_object_is_hit() {
    for case in FAULTS {
        assert_eq!(percent(20, |seed| is_found(case, (3, 36), 0, seed)), 0, "{case:?}");
    }
}

#[test]
#[ignore = "prints tables: cargo test --release -p leadline-checker --test detection -- --ignored --nocapture"]
fn how_probable_it_is_that_a_fault_is_found() {
    println!("| fault, object | {} operations |", LENGTHS.map(|length| length.to_string()).join(" | "));
    by_length(500).iter().for_each(|row| println!("{row}"));
    println!(
        "| fault, object | {} in a thousand objects |",
        RATES_IN_A_THOUSAND.map(|rate| rate.to_string()).join(" | ")
    );
    by_rate(200).iter().for_each(|row| println!("{row}"));
}
