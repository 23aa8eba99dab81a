//! Latencies as they are recorded and as they are reported: counts in bins, never percentiles.
//!
//! Bins of many threads, hosts and repeats can be added; percentiles cannot. The report computes percentiles
//! from the sum of all bins.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values above this are counted in the last bin; `max_ns` still tells them exactly.
const HIGHEST_NS: u64 = 3600 * 1_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// What one thread records. Allocates when it is made and never again.
pub struct DurationRecorder {
    histogram: Histogram<u64>,
    min_ns: u64,
    max_ns: u64,
    /// Integers, so that mean and deviation are exact however many values and whatever their order: squares
    /// of an hour in nanoseconds leave room for 10^13 values.
    sum_ns: u128,
    sum_of_squares: u128,
}

impl DurationRecorder {
    pub fn new() -> Self {
        let mut histogram =
            Histogram::new_with_bounds(1, HIGHEST_NS, SIGNIFICANT_DIGITS).expect("bounds that are constant");
        histogram.reset(); // writes every counter: no page fault is left for the timed work
        Self { histogram, min_ns: u64::MAX, max_ns: 0, sum_ns: 0, sum_of_squares: 0 }
    }

    #[inline]
    pub fn record(&mut self, duration_ns: u64) {
        self.histogram.saturating_record(duration_ns);
        self.min_ns = self.min_ns.min(duration_ns);
        self.max_ns = self.max_ns.max(duration_ns);
        self.sum_ns += u128::from(duration_ns);
        self.sum_of_squares += u128::from(duration_ns) * u128::from(duration_ns);
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn distribution(&self) -> Distribution {
        let count = self.count();
        let moments = (count > 0).then(|| self.mean_and_deviation(count));
        Distribution {
            count,
            min_ns: (count > 0).then_some(self.min_ns),
            max_ns: (count > 0).then_some(self.max_ns),
            mean_ns: moments.map(|(mean_ns, _)| mean_ns),
            stddev_ns: moments.map(|(_, stddev_ns)| stddev_ns),
            bins: self.bins(),
        }
    }

    fn mean_and_deviation(&self, count: u64) -> (f64, f64) {
        let count = u128::from(count);
        // n * sum(x^2) - sum(x)^2 is exact here; in floating point it would lose everything for a narrow
        // distribution far from zero. Where the product does not fit, the values are wide enough for floats.
        let scaled_variance =
            match (count.checked_mul(self.sum_of_squares), self.sum_ns.checked_mul(self.sum_ns)) {
                (Some(squares), Some(square)) => (squares - square) as f64,
                _ => count as f64 * self.sum_of_squares as f64 - (self.sum_ns as f64).powi(2),
            };
        (self.sum_ns as f64 / count as f64, scaled_variance.max(0.0).sqrt() / count as f64)
    }

    /// A bin stands for a range of values no wider than a thousandth of them. Its middle is reported, because
    /// either end would shift every percentile the same way; kept within what was really seen.
    fn bins(&self) -> Vec<(u64, u64)> {
        self.histogram
            .iter_recorded()
            .map(|bin| {
                let middle_ns = self.histogram.median_equivalent(bin.value_iterated_to());
                (middle_ns.clamp(self.min_ns, self.max_ns), bin.count_at_value())
            })
            .collect()
    }
}

impl Default for DurationRecorder {
    fn default() -> Self {
        Self::new()
    }
}

/// A histogram with the moments that its bins would blur. Without values, everything but the count is null.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    pub count: u64,
    pub min_ns: Option<u64>,
    pub max_ns: Option<u64>,
    pub mean_ns: Option<f64>,
    /// Of all values, not of a sample of them (divided by n).
    pub stddev_ns: Option<f64>,
    /// `[value_ns, count]`, ascending; a bin covers values within 0.05 % of its own.
    pub bins: Vec<(u64, u64)>,
}

impl Distribution {
    /// The smallest binned value that at least this fraction of all values does not exceed. For tests and
    /// quick looks; reports merge bins first.
    pub fn quantile_ns(&self, fraction: f64) -> Option<u64> {
        let wanted = (fraction * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.bins.iter().find_map(|&(value_ns, count)| {
            seen += count;
            (seen >= wanted).then_some(value_ns)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distribution_of(values_ns: &[u64]) -> Distribution {
        let mut recorder = DurationRecorder::new();
        values_ns.iter().for_each(|&value_ns| recorder.record(value_ns));
        recorder.distribution()
    }

    #[test]
    fn an_empty_distribution_has_no_moments_and_no_bins() {
        let empty = distribution_of(&[]);
        assert_eq!((empty.count, empty.min_ns, empty.mean_ns, empty.bins.len()), (0, None, None, 0));
    }

    #[test]
    fn the_deviation_of_a_narrow_distribution_far_from_zero_is_exact() {
        let hour_ns = HIGHEST_NS;
        let narrow = distribution_of(&[hour_ns - 2, hour_ns]);
        assert_eq!(narrow.mean_ns, Some((hour_ns - 1) as f64));
        assert_eq!(narrow.stddev_ns, Some(1.0));
    }

    #[test]
    fn a_value_beyond_the_last_bin_is_counted_and_told_exactly() {
        let beyond = distribution_of(&[5, 2 * HIGHEST_NS]);
        assert_eq!(beyond.count, 2);
        assert_eq!(beyond.max_ns, Some(2 * HIGHEST_NS));
        assert_eq!(beyond.bins.iter().map(|bin| bin.1).sum::<u64>(), 2);
    }

    proptest! {
        #[test]
        fn every_quantile_is_within_a_thousandth_of_the_sorted_truth(
            mut values_ns in prop::collection::vec(0u64..HIGHEST_NS, 1..300),
            fraction in 0.0..=1.0f64,
        ) {
            let measured_ns = distribution_of(&values_ns).quantile_ns(fraction).unwrap();
            values_ns.sort_unstable();
            let rank = ((fraction * values_ns.len() as f64).ceil() as usize).max(1);
            let truth_ns = values_ns[rank - 1];
            prop_assert!(measured_ns.abs_diff(truth_ns) as f64 <= 0.001 * truth_ns as f64);
        }

        #[test]
        fn moments_match_the_values_and_bins_hold_them_all(values_ns in prop::collection::vec(0u64..1_000_000_000, 1..200)) {
            let measured = distribution_of(&values_ns);
            let mean_ns = values_ns.iter().sum::<u64>() as f64 / values_ns.len() as f64;
            prop_assert!((measured.mean_ns.unwrap() - mean_ns).abs() <= 1e-9 * mean_ns.max(1.0));
            prop_assert_eq!(measured.min_ns, values_ns.iter().min().copied());
            prop_assert_eq!(measured.bins.iter().map(|bin| bin.1).sum::<u64>(), values_ns.len() as u64);
            prop_assert!(measured.bins.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
