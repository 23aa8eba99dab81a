//! Two questions about spans that every rule asks: how soon one ended of those that began after a time, and how
//! late one ended of those that began up to a time. Both are sorted once and then answered in log n.

use crate::view::Span;

/// No such time: before everything.
pub(crate) const LONG_AGO: i64 = i64::MIN;

/// A span and what it belongs to.
pub(crate) type Owned = (Span, u32);

/// Among spans that start after a time: the one that ends first.
pub(crate) struct EarliestAfter {
    starts: Vec<i64>,
    /// For each start, the earliest end from there on, and whose it is.
    ends: Vec<(i64, u32)>,
}

impl EarliestAfter {
    pub fn of(mut spans: Vec<Owned>) -> Self {
        spans.sort_by_key(|(span, _)| span.start);
        let mut least = (i64::MAX, u32::MAX);
        let mut ends: Vec<(i64, u32)> = Vec::with_capacity(spans.len());
        for (span, owner) in spans.iter().rev() {
            least = if span.end < least.0 { (span.end, *owner) } else { least };
            ends.push(least);
        }
        ends.reverse();
        Self { starts: spans.into_iter().map(|(span, _)| span.start).collect(), ends }
    }

    /// The end and the owner; None when none starts after the time.
    pub fn after(&self, time: i64) -> Option<(i64, u32)> {
        let place = self.starts.partition_point(|&start| start <= time);
        self.ends.get(place).copied()
    }
}

/// Among spans that start at a time or before: the one that ends last.
pub(crate) struct LatestUntil {
    starts: Vec<i64>,
    ends: Vec<(i64, u32)>,
}

impl LatestUntil {
    pub fn of(mut spans: Vec<Owned>) -> Self {
        spans.sort_by_key(|(span, _)| span.start);
        let mut greatest = (LONG_AGO, u32::MAX);
        let mut ends: Vec<(i64, u32)> = Vec::with_capacity(spans.len());
        for (span, owner) in &spans {
            greatest = if span.end > greatest.0 { (span.end, *owner) } else { greatest };
            ends.push(greatest);
        }
        Self { starts: spans.into_iter().map(|(span, _)| span.start).collect(), ends }
    }

    /// The end and the owner; None when none starts until then.
    pub fn until(&self, time: i64) -> Option<(i64, u32)> {
        let place = self.starts.partition_point(|&start| start <= time);
        place.checked_sub(1).map(|last| self.ends[last])
    }
}
