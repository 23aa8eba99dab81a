//! What one client sees of an append log, and how old it is: G4, G5, G7 and G8 for looks that agree with the final
//! order. A record that is lost for good is found as lost; no look is blamed for not seeing it.

use leadline_history::Action;

use crate::anomaly::Anomaly;
use crate::findings::{Evidence, Findings, Tally};
use crate::guarantee::Guarantee;
use crate::log::{Append, Log, Look};

/// Judges all four.
pub(crate) fn judge(log: &Log, findings: &mut Findings) {
    let mut looks = log.looks.clone();
    looks.sort_by_key(|look| (look.client, look.span.start));
    for own in looks.chunk_by(|one, other| one.client == other.client) {
        judge_looks(own, findings.tally(Guarantee::MonotonicReads));
        let is_own = |append: &&Append| append.client == own[0].client && append.acknowledged;
        let appends: Vec<Append> = log.appends.iter().filter(is_own).copied().collect();
        judge_appends(own, appends, findings.tally(Guarantee::ReadYourWrites));
    }
    let opened = |look: &Look| look.action == Action::Read;
    judge_age(log, opened, findings.tally(Guarantee::CloseToOpen));
    judge_age(log, |_| true, findings.tally(Guarantee::BoundedStaleness));
}

fn judge_looks(own: &[Look], tally: &mut Tally) {
    let mut ended = own.to_vec();
    ended.sort_by_key(|look| look.span.end);
    let mut ended = ended.into_iter().peekable();
    let mut longest: Option<Look> = None;
    for look in own {
        while let Some(earlier) = ended.next_if(|earlier| earlier.span.end < look.span.start) {
            longest = longest.filter(|kept| kept.length >= earlier.length).or(Some(earlier));
        }
        let Some(longest) = longest else { continue };
        tally.checked += 1;
        if look.length < longest.length {
            tally.violated_by(Evidence::of(Anomaly::WentBack, [longest.index, look.index]));
        }
    }
}

fn judge_appends(own: &[Look], mut appends: Vec<Append>, tally: &mut Tally) {
    appends.retain(|append| append.position.is_some());
    appends.sort_by_key(|append| append.span.end);
    let mut ended = appends.into_iter().peekable();
    let mut last: Option<Append> = None;
    for look in own {
        while let Some(append) = ended.next_if(|append| append.span.end < look.span.start) {
            last = last.filter(|kept| kept.position > append.position).or(Some(append));
        }
        let Some(last) = last else { continue };
        tally.checked += 1;
        if last.position.is_some_and(|position| position >= look.length) {
            tally.violated_by(Evidence::of(Anomaly::OwnWriteMissing, [last.index, look.index]));
        }
    }
}

fn judge_age(log: &Log, asked: impl Fn(&Look) -> bool, tally: &mut Tally) {
    let unseen = log.earliest_unseen();
    for look in log.looks.iter().filter(|look| asked(look)) {
        tally.checked += u64::from(log.exercise.provokes(look.client, look.primed, look.span));
        let (end, by) = unseen[look.length as usize];
        if end < look.span.start {
            tally.violated_by(Evidence::of(Anomaly::Stale, [by, look.index]));
        }
    }
}
