//! How a rate moved over a phase whose length nobody knows beforehand: counters over equal intervals that grow
//! with it, a second long at last.

use serde::{Deserialize, Serialize};

/// 2^-9 of a second, so that doubling ends at exactly one second.
const SHORTEST_NS: u64 = 1_953_125;
const SECOND_NS: u64 = 1_000_000_000;
/// Intervals are doubled when there are more than this, as long as they are shorter than a second ...
const MOST_SHORT: usize = 128;
/// ... and after more than an hour.
const MOST: usize = 4096;

/// Made before the timed work, owned by one process. What is added must come in the order of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    length_ns: u64,
    totals: Vec<u64>,
    /// Where the interval ends that is being counted, and what is in it.
    end_ns: u64,
    current: u64,
}

impl Series {
    pub fn new() -> Self {
        let mut totals = vec![1; MOST + 1]; // not 0: written, so that no page fault is left for the timed work
        totals.clear();
        Self { length_ns: SHORTEST_NS, totals, end_ns: SHORTEST_NS, current: 0 }
    }

    /// Counts one operation that ended at `at_ns`.
    #[inline]
    pub fn add(&mut self, at_ns: u64) {
        if at_ns >= self.end_ns {
            self.advance(at_ns);
        }
        self.current += 1;
    }

    /// Counts operations that ended at these moments; mostly all of them within the interval that is being counted.
    pub fn add_all(&mut self, ends_ns: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + Clone) {
        match ends_ns.clone().next_back() {
            Some(last_ns) if last_ns < self.end_ns => self.current += ends_ns.len() as u64,
            _ => ends_ns.for_each(|end_ns| self.add(end_ns)),
        }
    }

    #[cold]
    fn advance(&mut self, at_ns: u64) {
        while at_ns >= self.end_ns {
            self.totals.push(self.current);
            self.current = 0;
            if self.totals.len() >= self.most() {
                self.double();
            }
            self.end_ns = (self.totals.len() as u64 + 1) * self.length_ns;
        }
    }

    fn most(&self) -> usize {
        if self.length_ns < SECOND_NS {
            MOST_SHORT
        } else {
            MOST
        }
    }

    /// Both limits are even, so every interval finds its neighbour.
    fn double(&mut self) {
        let half = self.totals.len().div_ceil(2);
        for index in 0..half {
            self.totals[index] =
                self.totals[2 * index] + self.totals.get(2 * index + 1).copied().unwrap_or(0);
        }
        self.totals.truncate(half);
        self.length_ns *= 2;
    }

    /// Puts the interval that was being counted beside the others.
    pub fn close(&mut self) {
        self.totals.push(std::mem::take(&mut self.current));
    }

    /// Adds another process's counters. Both must be closed.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.length_ns < other.length_ns {
            self.double();
        }
        while other.length_ns < self.length_ns {
            other.double();
        }
        let longest = self.totals.len().max(other.totals.len());
        self.totals.resize(longest, 0);
        self.totals.iter_mut().zip(&other.totals).for_each(|(total, more)| *total += more);
    }

    /// Where each interval ends, with what was counted in it; the last ends where the phase does.
    pub fn ends_and_totals(&self, phase_end_ns: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let last = self.totals.len().saturating_sub(1);
        self.totals.iter().enumerate().map(move |(index, &total)| {
            let end_ns = (index as u64 + 1) * self.length_ns;
            (if index == last { end_ns.min(phase_end_ns) } else { end_ns }, total)
        })
    }
}

impl Default for Series {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(times_ns: &[u64]) -> Series {
        let mut series = Series::new();
        times_ns.iter().for_each(|&at_ns| series.add(at_ns));
        series.close();
        series
    }

    #[test]
    fn a_phase_of_minutes_is_told_by_the_second() {
        let every_millisecond: Vec<u64> = (0..300_000).map(|index| index * 1_000_000).collect();
        let told: Vec<_> = counted(&every_millisecond).ends_and_totals(300 * SECOND_NS).collect();
        assert_eq!(told.len(), 300);
        assert!(told
            .iter()
            .zip(1..)
            .all(|(&(end_ns, total), second)| (end_ns, total) == (second * SECOND_NS, 1000)));
    }

    #[test]
    fn a_phase_of_milliseconds_is_told_in_milliseconds_and_ends_where_it_ended() {
        let told: Vec<_> = counted(&[0, 1_000_000, 2_000_000]).ends_and_totals(2_500_000).collect();
        assert_eq!(told, [(SHORTEST_NS, 2), (2_500_000, 1)]);
    }

    proptest! {
        #[test]
        fn many_at_once_are_counted_as_one_by_one(
            mut times_ns in prop::collection::vec(0u64..3 * SHORTEST_NS, 0..50), at_once in 1usize..20,
        ) {
            times_ns.sort_unstable();
            let mut series = Series::new();
            times_ns.chunks(at_once).for_each(|chunk| series.add_all(chunk.iter().copied()));
            series.close();
            prop_assert_eq!(series, counted(&times_ns));
        }

        #[test]
        fn nothing_is_lost_when_intervals_grow_or_merge(
            mut one in prop::collection::vec(0u64..20_000 * SECOND_NS, 0..200),
            mut other in prop::collection::vec(0u64..10 * SECOND_NS, 0..200),
        ) {
            one.sort_unstable();
            other.sort_unstable();
            let mut merged = counted(&one);
            merged.merge(&counted(&other));
            let end_ns = one.iter().chain(&other).max().copied().unwrap_or(0) + 1;
            let told: Vec<_> = merged.ends_and_totals(end_ns).collect();
            let mut start_ns = 0;
            for &(end_ns, total) in &told {
                let inside = one.iter().chain(&other).filter(|&&at_ns| (start_ns..end_ns).contains(&at_ns)).count();
                prop_assert_eq!(total, inside as u64, "from {} to {}", start_ns, end_ns);
                start_ns = end_ns;
            }
            prop_assert_eq!(told.iter().map(|each| each.1).sum::<u64>(), (one.len() + other.len()) as u64);
            prop_assert!(told.len() <= MOST + 1);
        }
    }
}
