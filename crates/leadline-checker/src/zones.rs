//! Linearizability of an object with one value, in n log n: the zones of Gibbons and Korach (SIAM J. Comput. 26,
//! 1997), for values that are written once.
//!
//! The zone of a value reaches from the first end to the last start among its write and its reads. If the first
//! end comes first, the value must hold from there to the last start (a forward zone); otherwise all its
//! operations share an instant (a backward zone). There is an order of all operations exactly if no read ends
//! before its write starts and no two values A, B have first_end(A) < last_start(B) and first_end(B) <
//! last_start(A), that is if forward zones do not overlap and none contains a backward zone.

use crate::order::first_without;
use crate::versions::{Versions, NOBODY};

/// The zone of one version. Reads may be moved back, so that they are kept apart from the write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zone {
    first_end: i64,
    ended_by: u32,
    write_start: i64,
    read_start: i64,
    write: u32,
    last_read: u32,
}

impl Zone {
    /// The last start, were every read to look back so far.
    fn last_start(&self, delay_ns: i64) -> i64 {
        self.write_start.max(self.read_start.saturating_sub(delay_ns))
    }

    fn started_by(&self) -> u32 {
        if self.read_start > self.write_start {
            self.last_read
        } else {
            self.write
        }
    }

    fn conflicts_with(&self, other: &Self, delay_ns: i64) -> bool {
        self.first_end < other.last_start(delay_ns) && other.first_end < self.last_start(delay_ns)
    }
}

/// The zones of all versions that certainly happened, without the reads of one version that is judged elsewhere.
pub(crate) fn zones_of(versions: &Versions, without: Option<u32>) -> Vec<Zone> {
    let begin = |version: &crate::versions::Version| Zone {
        first_end: version.span.end,
        ended_by: version.index,
        write_start: version.span.start,
        read_start: i64::MIN,
        write: version.index,
        last_read: NOBODY,
    };
    let mut zones: Vec<Zone> = versions.versions.iter().map(begin).collect();
    for sight in versions.sights.iter().filter(|sight| Some(sight.version) != without) {
        let zone = &mut zones[sight.version as usize];
        if sight.span.end < zone.first_end {
            (zone.first_end, zone.ended_by) = (sight.span.end, sight.index);
        }
        if sight.span.start > zone.read_start {
            (zone.read_start, zone.last_read) = (sight.span.start, sight.index);
        }
    }
    let happened = |(zone, version): (Zone, &crate::versions::Version)| {
        (version.acknowledged || zone.last_read != NOBODY).then_some(zone)
    };
    zones.into_iter().zip(&versions.versions).filter_map(happened).collect()
}

/// These zones in the order of their first ends. Places are sorted rather than zones, which are four times as wide.
fn by_first_end(zones: &[Zone], wanted: impl Fn(&&Zone) -> bool) -> Vec<Zone> {
    let chosen = (0u32..).zip(zones).filter(|(_, zone)| wanted(zone));
    let mut order: Vec<(i64, u32)> = chosen.map(|(place, zone)| (zone.first_end, place)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, place)| zones[place as usize]).collect()
}

/// Of these zones, each that conflicts with another, were reads to look back so far.
///
/// Of several zones that conflict with the same one not all are found as its partners, but then they conflict
/// with each other and are found by that. So the outcome is empty exactly if nothing conflicts, and a later call
/// with a longer delay needs only what an earlier one returned.
pub(crate) fn conflicting(zones: &[Zone], delay_ns: i64) -> Vec<Zone> {
    let is_forward = |zone: &&Zone| zone.first_end < zone.last_start(delay_ns);
    let forward = by_first_end(zones, is_forward);
    let mut marked = vec![false; forward.len()];
    let mut reaching: Vec<usize> = Vec::with_capacity(forward.len());
    for (place, zone) in forward.iter().enumerate() {
        let farthest = reaching.last().copied().unwrap_or(place);
        let overlaps = place > 0 && zone.first_end < forward[farthest].last_start(delay_ns);
        marked[place] |= overlaps;
        marked[farthest] |= overlaps;
        let farther = zone.last_start(delay_ns) > forward[farthest].last_start(delay_ns);
        reaching.push(if farther { place } else { farthest });
    }
    let (mut found, mut near) = (Vec::new(), 0);
    for zone in zones.iter().filter(|zone| !is_forward(zone)) {
        let before = |other: &Zone| other.first_end < zone.last_start(delay_ns);
        let earlier = first_without(&forward, &mut near, before);
        let Some(farthest) = earlier.checked_sub(1).map(|last| reaching[last]) else { continue };
        if forward[farthest].conflicts_with(zone, delay_ns) {
            marked[farthest] = true;
            found.push(*zone);
        }
    }
    found.extend(forward.into_iter().zip(marked).filter_map(|(zone, marked)| marked.then_some(zone)));
    found
}

/// The operations that set the four bounds of the first two zones that conflict.
pub(crate) fn witness_of(conflicting: &[Zone]) -> Option<Vec<u32>> {
    let first = conflicting.iter().min_by_key(|zone| zone.last_start(0).min(zone.first_end))?;
    let partner = |zone: &&Zone| zone.write != first.write && zone.conflicts_with(first, 0);
    let second = conflicting.iter().find(partner)?;
    let bounds = [first, second].map(|zone| [zone.write, zone.ended_by, zone.started_by()]).concat();
    let mut operations = Versions::shown(&bounds);
    operations.sort_unstable();
    operations.dedup();
    Some(operations)
}

/// The least delay with which nothing conflicts any more, found by halving: conflicts only vanish as it grows.
/// (Delta-atomicity: Golab, Li and Shah, PODC 2011.)
pub(crate) fn least_delay_ns(conflicting_now: Vec<Zone>) -> i64 {
    let latest = conflicting_now.iter().map(|zone| zone.read_start).max();
    let ends = conflicting_now.iter().map(|zone| zone.first_end).filter(|&end| end > i64::MIN);
    let (Some(latest), Some(earliest)) = (latest, ends.min()) else { return 0 };
    let (mut too_short, mut enough) = (0, latest.saturating_sub(earliest).max(1));
    let mut left = conflicting_now;
    while enough - too_short > 1 {
        let middle = too_short + (enough - too_short) / 2;
        let still = conflicting(&left, middle);
        if still.is_empty() {
            enough = middle;
        } else {
            (too_short, left) = (middle, still);
        }
    }
    enough
}
