//! Locked counters. An increment says which number it began with, so that the numbers tell the order, and two
//! increments that began with the same one show that the lock did not keep them apart.

use leadline_history::{Action, Moment, Outcome};

use crate::anomaly::Anomaly;
use crate::convergence;
use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings, Tally};
use crate::guarantee::Guarantee;
use crate::versions::{broken_content, NOBODY};
use crate::view::{Seen, View};

/// Judges one of them.
pub(crate) fn judge(view: &View) -> Findings {
    let mut findings = Findings::default();
    let answered = |action| view.operations().filter(move |each: &Seen| is_answer(each, action));
    let increments: Vec<Seen> = answered(Action::Increment).collect();
    let reads: Vec<Seen> = answered(Action::Read).collect();
    let is_doubt =
        |each: &Seen| each.operation.action == Action::Increment && each.operation.outcome == Outcome::Doubt;
    let doubts: Vec<Seen> = view.operations().filter(is_doubt).collect();
    let most = (increments.len() + doubts.len()) as u64;
    judge_origins(most, &increments, &reads, findings.tally(Guarantee::NoInventedData));
    let twins = twins(&increments);
    judge_final_state(&increments, &reads, &twins, findings.tally(Guarantee::NoLostWrite));
    convergence::judge(view, &mut findings);
    let tally = findings.tally(Guarantee::Linearizable);
    tally.checked += u64::from(Exercise::of(view).any(view));
    let invented = findings.get(Guarantee::NoInventedData).and_then(|tally| tally.evidence.clone());
    let known = invented.or(twins.into_iter().next());
    if let Some(evidence) = known.or_else(|| first_inversion(&increments, &reads, &doubts)) {
        findings.tally(Guarantee::Linearizable).violated_by(evidence);
    }
    findings
}

fn is_answer(each: &Seen, action: Action) -> bool {
    each.operation.action == action && each.operation.outcome == Outcome::Ok
}

/// G1: no number is higher than the increments that may have happened before it was read.
fn judge_origins(most: u64, increments: &[Seen], reads: &[Seen], tally: &mut Tally) {
    for read in increments.iter().chain(reads) {
        tally.checked += 1;
        let others = most - u64::from(read.operation.action == Action::Increment);
        let too_high = (read.operation.value_out > others).then_some(Anomaly::Invented);
        if let Some(anomaly) = broken_content(read.operation.content).or(too_high) {
            tally.violated_by(Evidence::of(anomaly, [read.index]));
        }
    }
}

/// Pairs of increments that began with the same number.
fn twins(increments: &[Seen]) -> Vec<Evidence> {
    let mut sorted = increments.to_vec();
    sorted.sort_by_key(|each| (each.operation.value_out, each.span.start));
    let pairs = sorted.windows(2).filter(|pair| pair[0].operation.value_out == pair[1].operation.value_out);
    pairs.map(|pair| Evidence::of(Anomaly::LostUpdate, [pair[0].index, pair[1].index])).collect()
}

/// G2: the final number counts every acknowledged increment.
fn judge_final_state(increments: &[Seen], reads: &[Seen], twins: &[Evidence], tally: &mut Tally) {
    let last = reads.iter().filter(|read| read.operation.moment == Moment::Final);
    let Some(last) = last.max_by_key(|read| read.operation.value_out) else { return };
    tally.checked += increments.len() as u64;
    twins.iter().for_each(|evidence| tally.violated_by(evidence.clone()));
    if twins.is_empty() && last.operation.value_out < increments.len() as u64 {
        let highest = increments.iter().max_by_key(|each| each.operation.value_out);
        let operations: Vec<u32> = highest.map(|each| each.index).into_iter().chain([last.index]).collect();
        tally.violated_by(Evidence::of(Anomaly::Lost, operations));
    }
}

/// G9: an increment from v comes after every read of v and before every read of v + 1.
fn first_inversion(increments: &[Seen], reads: &[Seen], doubts: &[Seen]) -> Option<Evidence> {
    let mut order: Vec<Seen> = increments.iter().chain(reads).copied().collect();
    order.sort_by_key(place_of);
    let mut least_later = (i64::MAX, NOBODY);
    // For each place in the order, the earliest end from there on.
    let mut least_from = vec![least_later; order.len() + 1];
    let mut found = None;
    let mut begin = order.len();
    for same in order.chunk_by(|one, other| place_of(one) == place_of(other)).rev() {
        begin -= same.len();
        let late = same.iter().find(|each| least_later.0 < each.span.start);
        found = late.map(|each| Evidence::of(anomaly_of(each), [least_later.1, each.index])).or(found);
        least_later = same.iter().map(|each| (each.span.end, each.index)).fold(least_later, Ord::min);
        least_from[begin..begin + same.len()].fill(least_later);
    }
    found.or_else(|| first_gap(&order, &least_from, doubts))
}

fn place_of(each: &Seen) -> u64 {
    2 * each.operation.value_out + u64::from(each.operation.action == Action::Increment)
}

/// A number from which nobody raised the counter. An increment in doubt may have, if it began in time; the numbers
/// that must have been left first go to the increments that began first.
fn first_gap(order: &[Seen], least_from: &[(i64, u32)], doubts: &[Seen]) -> Option<Evidence> {
    let highest = order.last().map_or(0, |each| place_of(each).div_ceil(2));
    let mut doubts = doubts.to_vec();
    doubts.sort_by_key(|each| each.span.start);
    let mut doubts = doubts.into_iter();
    for number in 0..highest {
        let behind = order.partition_point(|each| place_of(each) <= 2 * number + 1);
        if behind > 0 && place_of(&order[behind - 1]) == 2 * number + 1 {
            continue;
        }
        let (end, by) = least_from[behind];
        match doubts.next() {
            None => return Some(Evidence::of(Anomaly::Invented, [order[behind].index])),
            Some(doubt) if doubt.span.start > end => {
                return Some(Evidence::of(Anomaly::NoOrder, [by, doubt.index]))
            }
            Some(_) => {}
        }
    }
    None
}

fn anomaly_of(late: &Seen) -> Anomaly {
    if late.operation.action == Action::Read {
        Anomaly::Stale
    } else {
        Anomaly::NoOrder
    }
}
