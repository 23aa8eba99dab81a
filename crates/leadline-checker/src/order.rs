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
        self.after_near(&mut 0, time)
    }

    /// The same, sooner for who asks about many times that come near each other: `near` is where the last was found.
    pub fn after_near(&self, near: &mut usize, time: i64) -> Option<(i64, u32)> {
        self.ends.get(first_without(&self.starts, near, |&start| start <= time)).copied()
    }
}

/// The place of the first that does not fulfil what all before it fulfil: halving, from where the last was found in
/// steps that double. Histories are written in time, so that the next is nearly always near, and in the cache.
pub(crate) fn first_without<Item>(
    items: &[Item],
    near: &mut usize,
    fulfils: impl Fn(&Item) -> bool,
) -> usize {
    let (mut from, mut to, mut step) = (*near, *near, 1);
    while from > 0 && !fulfils(&items[from - 1]) {
        (to, from, step) = (from - 1, from.saturating_sub(step), step * 2);
    }
    while to < items.len() && fulfils(&items[to]) {
        (from, to, step) = (to + 1, (to + step).min(items.len()), step * 2);
    }
    *near = from + items[from..to].partition_point(fulfils);
    *near
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

#[cfg(test)]
mod tests {
    use super::first_without;

    #[test]
    fn wherever_the_search_begins_it_finds_the_same_place() {
        for count in 0..40 {
            let items: Vec<usize> = (0..count).collect();
            for (limit, begin) in (0..=count).flat_map(|limit| (0..=count).map(move |begin| (limit, begin))) {
                let mut near = begin;
                assert_eq!(first_without(&items, &mut near, |item| *item < limit), limit);
                assert_eq!(near, limit);
            }
        }
    }
}
