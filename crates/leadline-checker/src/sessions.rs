//! What one client sees one after the other: monotonic reads (G4) and read your writes (G5).
//!
//! Only what is certain counts. Version b is certainly older than a if the write of b had ended before that of a
//! began, or if this very client had already seen b before. (Session guarantees: Terry et al., PDIS 1994.)

use crate::anomaly::Anomaly;
use crate::findings::{Evidence, Findings, Tally};
use crate::guarantee::Guarantee;
use crate::order::LONG_AGO;
use crate::versions::{Sight, Version, Versions, NOBODY};

/// When this client had first seen each version, and by which read.
type FirstSeen = Vec<(i64, u32)>;

const NOT_SEEN: (i64, u32) = (i64::MAX, NOBODY);

/// Judges both for every client of an object.
pub(crate) fn judge(versions: &Versions, findings: &mut Findings) {
    let mut first_seen = vec![NOT_SEEN; versions.versions.len()];
    let writes = own_writes(versions);
    for (client, own) in own_sights(versions).into_iter().enumerate().filter(|(_, own)| !own.is_empty()) {
        note_first_seen(&own, &mut first_seen);
        judge_reads(versions, &own, &first_seen, findings.tally(Guarantee::MonotonicReads));
        let writes = writes.get(client).map_or(&[][..], Vec::as_slice);
        judge_writes(versions, &own, writes, &first_seen, findings.tally(Guarantee::ReadYourWrites));
        own.iter().for_each(|sight| first_seen[sight.version as usize] = NOT_SEEN);
    }
}

/// What each client saw, in the order in which it asked. A client asks nearly in order, so that little is to sort.
fn own_sights(versions: &Versions) -> Vec<Vec<Sight>> {
    let mut own = by_client(versions.sights.iter().map(|sight| (sight.client, *sight)));
    own.iter_mut().for_each(|sights| sights.sort_by_key(|sight| sight.span.start));
    own
}

/// The numbers of the versions that each client wrote and had acknowledged, in the order of their answers.
fn own_writes(versions: &Versions) -> Vec<Vec<u32>> {
    let written = (0u32..).zip(&versions.versions).skip(1).filter(|(_, write)| write.acknowledged);
    let mut own = by_client(written.map(|(number, write)| (write.client, number)));
    own.iter_mut()
        .for_each(|numbers| numbers.sort_by_key(|&number| versions.versions[number as usize].span.end));
    own
}

fn by_client<Item>(items: impl Iterator<Item = (u16, Item)>) -> Vec<Vec<Item>> {
    let mut own: Vec<Vec<Item>> = Vec::new();
    for (client, item) in items {
        let client = usize::from(client);
        if client >= own.len() {
            own.resize_with(client + 1, Vec::new);
        }
        own[client].push(item);
    }
    own
}

fn note_first_seen(own: &[Sight], first_seen: &mut FirstSeen) {
    for sight in own {
        let first = &mut first_seen[sight.version as usize];
        *first = (*first).min((sight.span.end, sight.index));
    }
}

/// What a client had seen up to some instant, as far as later reads can contradict it.
struct Past {
    /// The read of the version whose write began last.
    newest: Option<(i64, Sight)>,
    /// The read that began last, and the last one that saw another version than it.
    latest: Option<Sight>,
    latest_of_other: Option<Sight>,
}

impl Past {
    fn note(&mut self, sight: Sight, write_start: i64) {
        if self.newest.is_none_or(|(start, _)| write_start > start) {
            self.newest = Some((write_start, sight));
        }
        let later = |than: Option<Sight>| than.is_none_or(|than| sight.span.start > than.span.start);
        let same = |as_other: Option<Sight>| as_other.is_some_and(|other| other.version == sight.version);
        if later(self.latest) {
            if !same(self.latest) {
                self.latest_of_other = self.latest;
            }
            self.latest = Some(sight);
        } else if !same(self.latest) && later(self.latest_of_other) {
            self.latest_of_other = Some(sight);
        }
    }

    /// The read that shows that this one went back.
    fn contradicts(&self, read: &Sight, write: &Version, first_seen: (i64, u32)) -> Option<Vec<u32>> {
        let newest = self.newest.filter(|(start, _)| *start > write.span.end);
        if let Some((_, earlier)) = newest {
            return Some(Versions::shown(&[write.index, earlier.index, read.index]));
        }
        let other = [self.latest, self.latest_of_other].into_iter().flatten();
        let between = other.filter(|sight| sight.version != read.version);
        let after_first = between.into_iter().find(|sight| sight.span.start > first_seen.0)?;
        Some(vec![first_seen.1, after_first.index, read.index])
    }
}

fn judge_reads(versions: &Versions, own: &[Sight], first_seen: &FirstSeen, tally: &mut Tally) {
    let mut ended: Vec<&Sight> = own.iter().collect();
    ended.sort_by_key(|sight| sight.span.end);
    let mut ended = ended.into_iter().peekable();
    let mut past = Past { newest: None, latest: None, latest_of_other: None };
    for read in own {
        while let Some(sight) = ended.next_if(|sight| sight.span.end < read.span.start) {
            past.note(*sight, versions.versions[sight.version as usize].span.start);
        }
        tally.checked += u64::from(past.latest.is_some());
        let write = &versions.versions[read.version as usize];
        if let Some(operations) = past.contradicts(read, write, first_seen[read.version as usize]) {
            tally.violated_by(Evidence::of(Anomaly::WentBack, operations));
        }
    }
}

fn judge_writes(
    versions: &Versions,
    own: &[Sight],
    writes: &[u32],
    first_seen: &FirstSeen,
    tally: &mut Tally,
) {
    let with_span = |&number: &u32| (number, &versions.versions[number as usize]);
    let mut ended = writes.iter().map(with_span).peekable();
    let mut newest = (LONG_AGO, NOBODY, NOBODY);
    for read in own {
        while let Some((number, write)) = ended.next_if(|(_, write)| write.span.end < read.span.start) {
            newest = newest.max((write.span.start, number, write.index));
        }
        let (start, number, index) = newest;
        tally.checked += u64::from(index != NOBODY);
        let seen_before = first_seen[read.version as usize];
        let older = versions.versions[read.version as usize].span.end < start;
        if number != read.version && (older || seen_before.0 < start) {
            let before = if older { NOBODY } else { seen_before.1 };
            let operations = Versions::shown(&[before, index, read.index]);
            tally.violated_by(Evidence::of(Anomaly::OwnWriteMissing, operations));
        }
    }
}
