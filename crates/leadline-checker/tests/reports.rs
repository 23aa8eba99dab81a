//! Reports as they are: the same history gets the same report, whatever is changed in how it is found. A difference from
//! golden/reports.txt is a mistake, or a decision that the changelog tells.
//!
//! A line is a sort of histories: for each guarantee how many were checked, violating and undecided, then the anomalies,
//! then a sum over every byte of the reports as JSON, witnesses and sentences included.

mod brute_force;
mod drawn;
mod randomness;
mod simulated;

use std::collections::BTreeMap;
use std::fmt::Write;

use leadline_checker::{check, Anomaly, Guarantee, Limits, Report};
use leadline_history::{first_flaw, Action, History, Kind, Moment, Operation};
use randomness::Dice;
use simulated::{simulate, Fault};

const GOLDEN: &str = include_str!("golden/reports.txt");
const HISTORIES: u64 = 250;

/// Everything that is counted over the reports of one sort of histories.
#[derive(Default)]
struct Sum {
    by_guarantee: BTreeMap<Guarantee, [u64; 3]>,
    anomalies: BTreeMap<Anomaly, u64>,
    of_bytes: u64,
}

impl Sum {
    fn add(&mut self, report: &Report) {
        for line in &report.lines {
            let counts = [line.checked, line.violating, line.objects_undecided];
            let sums = self.by_guarantee.entry(line.guarantee).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            for (anomaly, count) in &line.anomalies {
                *self.anomalies.entry(*anomaly).or_default() += count;
            }
        }
        let json = serde_json::to_vec(report).expect("a report is plain JSON");
        // FNV-1a
        for byte in json {
            self.of_bytes = (self.of_bytes ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn line(&self, name: &str) -> String {
        let mut line = format!("{name}:");
        for (guarantee, [checked, violating, undecided]) in &self.by_guarantee {
            write!(line, " {guarantee:?} {checked}/{violating}/{undecided}").expect("text takes everything");
        }
        for (anomaly, count) in &self.anomalies {
            write!(line, " {anomaly:?}={count}").expect("text takes everything");
        }
        format!("{line} {:016x}\n", self.of_bytes)
    }
}

fn sum_of(histories: impl Iterator<Item = History>, limits: Limits) -> Sum {
    let mut sum = Sum::default();
    for history in histories.filter(|history| first_flaw(history).is_none()) {
        sum.add(&check(&history, &limits).expect("it is sound"));
    }
    sum
}

fn limits() -> Limits {
    Limits { threads: Some(1), ..Limits::default() }
}

/// Small random histories, half of them spoilt, with last looks, and with whatever else is given to them.
fn small(kind: Kind, seed: u64, change: impl Fn(&mut History, &mut Dice)) -> impl Iterator<Item = History> {
    (0..HISTORIES).map(move |number| {
        let mut dice = Dice::new(seed << 32 | number);
        let mut history = small_of(kind, &mut dice, 1);
        change(&mut history, &mut dice);
        history
    })
}

/// Lets some looks be those that are asked when everything has settled, or at the very end.
fn with_moments(history: &mut History, dice: &mut Dice) {
    for each in history.operations.iter_mut().filter(|each| !each.action.changes() && each.client != 9) {
        each.moment = dice.one_of(&[Moment::During, Moment::During, Moment::Settled, Moment::Final]);
    }
}

fn with_bad_clocks(history: &mut History, dice: &mut Dice) {
    history.operations.iter_mut().for_each(|each| each.clock_error_ns = dice.below(4) as u32);
}

/// Four objects of a kind, judged on three threads: what is found on each is put together.
fn together(kind: Kind, seed: u64) -> impl Iterator<Item = History> {
    (0..HISTORIES / 4).map(move |number| {
        let mut all = History::default();
        for object in 1..=4 {
            let mut dice = Dice::new(seed << 32 | number << 8 | object);
            let mut history = small_of(kind, &mut dice, object);
            with_moments(&mut history, &mut dice);
            with_bad_clocks(&mut history, &mut dice);
            if first_flaw(&history).is_none() {
                all.join(&history);
            }
        }
        all
    })
}

/// One small history of any kind.
fn small_of(kind: Kind, dice: &mut Dice, object: u64) -> History {
    if kind == Kind::Directory {
        directory(dice, object)
    } else {
        drawn::history(dice, kind, object)
    }
}

/// A few names made, removed and listed, with lists that are mostly what may be there.
fn directory(dice: &mut Dice, object: u64) -> History {
    let mut history = History::default();
    let names = 1 + dice.below(4);
    let span = |dice: &mut Dice, from: i64| {
        let start = dice.between(from, from + 10);
        (start, start + dice.between(0, 6))
    };
    let of = |dice: &mut Dice, action, at| {
        Operation::new(Kind::Directory, object, dice.below(3) as u16, action, at)
    };
    for name in 1..=names {
        let made = span(dice, 0);
        let removed = span(dice, made.1);
        let (make, remove) = (of(dice, Action::Create, made), of(dice, Action::Remove, removed));
        history.push(if dice.chance(100) { make.giving(name).in_doubt() } else { make.giving(name) });
        match dice.below(4) {
            0 => history.push(remove.giving(name)),
            1 => history.push(remove.giving(name).refused(5)),
            2 if dice.chance(300) => history.push(remove.giving(name).in_doubt()),
            _ => {}
        }
    }
    for _ in 0..2 + dice.below(4) {
        let at = span(dice, 8);
        let mut list: Vec<u64> = (1..=names).filter(|_| dice.chance(600)).collect();
        if dice.chance(50) {
            list.push(1 + dice.below(6));
        }
        let operation = of(dice, Action::List, at);
        history.push_list(operation, &list);
    }
    history
}

/// Two objects of a kind, one of them hit by a fault.
fn simulated(kind: Kind, fault: Fault) -> impl Iterator<Item = History> {
    (0..6).map(move |seed| {
        let mut history = History::default();
        simulate(&mut Dice::new(seed), kind, 1, 30, Some(fault), &mut history);
        simulate(&mut Dice::new(seed + 100), kind, 2, 30, None, &mut history);
        history
    })
}

const FAULTS: [Fault; 19] = [
    Fault::StaleCache,
    Fault::NegativeCache,
    Fault::RenameWindow,
    Fault::AppendAtCachedSize,
    Fault::LostWrite,
    Fault::LostAppend,
    Fault::ForgottenFsync,
    Fault::DuplicateAppend,
    Fault::ReorderedAppends,
    Fault::TornBlock,
    Fault::ZeroTail,
    Fault::Garbage,
    Fault::RefusedWrite,
    Fault::HalfRename,
    Fault::LaggingReplica,
    Fault::OwnWriteHidden,
    Fault::BrokenLock,
    Fault::SharedCreate,
    Fault::FrozenClient,
];

fn lines_of(kind: Kind) -> String {
    let few = Limits { configurations: 20, ..limits() };
    let bounded = Limits { staleness_ns: Some(6), ..limits() };
    let cut_off = |history: &mut History, _: &mut Dice| history.whole = false;
    let mut lines = String::new();
    let sorts = [
        ("small", sum_of(small(kind, 1, |_, _| ()), limits())),
        ("with last looks", sum_of(small(kind, 2, with_moments), limits())),
        ("by bad clocks", sum_of(small(kind, 3, with_bad_clocks), limits())),
        ("cut off", sum_of(small(kind, 4, cut_off), limits())),
        ("with little effort", sum_of(small(kind, 5, with_moments), few)),
        ("up to 6 ns old", sum_of(small(kind, 6, with_moments), bounded)),
        ("together", sum_of(together(kind, 7), Limits { threads: Some(3), ..bounded })),
    ];
    sorts.iter().for_each(|(name, sum)| lines += &sum.line(&format!("{kind:?}, {name}")));
    for fault in FAULTS {
        lines += &sum_of(simulated(kind, fault), limits()).line(&format!("{kind:?}, {fault:?}"));
    }
    lines
}

#[test]
fn reports_are_as_they_were() {
    let lines: String = Kind::ALL.iter().map(|kind| lines_of(*kind)).collect();
    for (now, golden) in lines.lines().zip(GOLDEN.lines()) {
        assert_eq!(now, golden);
    }
    assert_eq!(lines.lines().count(), GOLDEN.lines().count());
}

#[test]
#[ignore = "writes golden/reports.txt anew: cargo test -p leadline-checker --test reports -- --ignored"]
fn write_the_golden_reports_anew() {
    let lines: String = Kind::ALL.iter().map(|kind| lines_of(*kind)).collect();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/reports.txt");
    std::fs::write(path, lines).expect("the sources may be written");
}
