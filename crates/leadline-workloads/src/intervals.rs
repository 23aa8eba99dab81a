//! A window of time cut into equal intervals, each with a counter: how a rate moved while it was measured.

/// Intervals are a second long, or shorter where that would leave fewer than forty of them.
const LONGEST_NS: u64 = 1_000_000_000;
const FEWEST: u64 = 40;

/// Counters over [0, `window_ns`), made before the timed work and owned by one thread.
#[derive(Clone)]
pub struct Intervals {
    window_ns: u64,
    length_ns: u64,
    totals: Vec<u64>,
}

impl Intervals {
    pub fn over(window_ns: u64) -> Self {
        let length_ns = (window_ns / FEWEST).clamp(1, LONGEST_NS);
        Self { window_ns, length_ns, totals: vec![0; window_ns.div_ceil(length_ns) as usize] }
    }

    /// Adds to the interval in which `at_ns` lies; what lies outside the window is not counted.
    #[inline]
    pub fn add(&mut self, at_ns: u64, amount: u64) {
        if let Some(total) = self.totals.get_mut((at_ns / self.length_ns) as usize) {
            *total += amount;
        }
    }

    /// Adds another thread's counters, which must be over the same window.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.window_ns, other.window_ns, "intervals over different windows");
        self.totals.iter_mut().zip(&other.totals).for_each(|(total, more)| *total += more);
    }

    /// Where each interval ends, with what was counted in it. The last one may be shorter than the others.
    pub fn ends_and_totals(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let end_ns = |index: usize| ((index as u64 + 1) * self.length_ns).min(self.window_ns);
        self.totals.iter().enumerate().map(move |(index, &total)| (end_ns(index), total))
    }

    pub fn total(&self) -> u64 {
        self.totals.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_window_is_cut_into_seconds_and_a_short_one_into_forty() {
        assert_eq!(Intervals::over(60_500_000_000).ends_and_totals().count(), 61);
        assert_eq!(Intervals::over(60_500_000_000).ends_and_totals().last(), Some((60_500_000_000, 0)));
        assert_eq!(Intervals::over(4_000).ends_and_totals().next(), Some((100, 0)));
        assert_eq!(Intervals::over(4_000).ends_and_totals().count(), 40);
    }

    #[test]
    fn counters_merge_and_ignore_what_lies_outside_the_window() {
        let mut mine = Intervals::over(4_000);
        let mut other = mine.clone();
        mine.add(99, 1);
        mine.add(100, 2);
        mine.add(4_000, 64);
        other.add(199, 4);
        mine.merge(&other);
        let told: Vec<_> = mine.ends_and_totals().take(2).collect();
        assert_eq!(told, [(100, 1), (200, 6)]);
        assert_eq!(mine.total(), 7);
    }
}
