//! Reads of what had certainly been replaced: close-to-open (G7) and bounded staleness (G8), for one value.
//!
//! A read is stale if another acknowledged change began after the write of what it saw had ended, and had itself
//! ended before the read began. Reads beside a change may see either (a regular register: Lamport, 1986), which
//! is what close-to-open asks and less than linearizability asks.

use crate::anomaly::Anomaly;
use crate::exercise::Exercise;
use crate::findings::{Evidence, Findings};
use crate::guarantee::Guarantee;
use crate::versions::{Sight, Versions, NOBODY};

/// When each version was replaced, and by whom.
pub(crate) type Replaced = [(i64, u32)];

/// How long before a read what it saw had been replaced, and by whom; None when it is not stale.
pub(crate) fn age_ns(read: &Sight, replaced: &Replaced) -> Option<(i64, u32)> {
    let (end, by) = replaced[read.version as usize];
    (end < read.span.start).then(|| (read.span.start - end, by))
}

/// Judges every read for the guarantee. Versions that stay for good although they were replaced are not stale:
/// what replaced them is lost, and that is found elsewhere.
pub(crate) fn judge(
    guarantee: Guarantee,
    versions: &Versions,
    replaced: &Replaced,
    (for_good, exercise): (Option<u32>, &Exercise),
    findings: &mut Findings,
) -> i64 {
    let tally = findings.tally(guarantee);
    let mut oldest_ns = 0;
    for read in versions.sights.iter().filter(|read| Some(read.version) != for_good) {
        tally.checked += u64::from(exercise.provokes(read.client, read.primed, read.span));
        let Some((age_ns, by)) = age_ns(read, replaced) else { continue };
        oldest_ns = oldest_ns.max(age_ns);
        let write = versions.versions[read.version as usize].index;
        tally.violated_by(Evidence::of(Anomaly::Stale, Versions::shown(&[write, by, read.index])));
    }
    oldest_ns
}

/// The version that the last reads show although it had been replaced, with what replaced it and the read.
pub(crate) fn lost_for_good(versions: &Versions, replaced: &Replaced) -> Option<(u32, Evidence)> {
    let last = versions.sights.iter().filter(|read| read.moment == leadline_history::Moment::Final);
    last.filter_map(|read| {
        let (_, by) = age_ns(read, replaced).filter(|(_, by)| *by != NOBODY)?;
        Some((read.version, Evidence::of(Anomaly::Lost, [by, read.index])))
    })
    .next()
}
