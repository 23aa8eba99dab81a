//! When operations are due, decided before the first of them starts.
//!
//! A load that waits for one answer before it plans the next request slows down exactly when the system under
//! test does, and so never measures what its users would have felt (Tene's "coordinated omission"). Fixing
//! every arrival beforehand is what makes the load open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{randomness, Refusal};

/// Arrivals are held as eight bytes each: this many are 512 MiB, and more would compete with the page cache
/// that is being measured.
const MOST_ARRIVALS: u64 = 1 << 26;

/// How arrivals are spread over time at a given mean rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// The same gap between any two.
    Constant,
    /// Independent exponential gaps: many users who know nothing of each other.
    Poisson,
}

/// Returns the due times in [0, `length_ns`), ascending, at a mean of `rate_per_second`.
pub fn schedule(
    arrival: Arrival,
    rate_per_second: f64,
    length_ns: u64,
    seed: u64,
) -> Result<Vec<u64>, Refusal> {
    let gap_ns = 1e9 / rate_per_second;
    let expected = length_ns as f64 / gap_ns;
    Refusal::unless(expected <= MOST_ARRIVALS as f64, || {
        format!(
            "rate_per_second over ramp_ns and runtime_ns plans {expected:.0} operations, and a schedule \
             holds {MOST_ARRIVALS} at most: lower the rate or the time"
        )
    })?;
    let times = |next: &mut dyn FnMut(u64) -> f64| {
        let mut schedule = Vec::with_capacity(expected as usize + 1);
        schedule.extend((0..).map(|index| next(index) as u64).take_while(|&due_ns| due_ns < length_ns));
        schedule
    };
    Ok(match arrival {
        // A product, not a running sum: the hundred-millionth arrival is as exact as the first.
        Arrival::Constant => times(&mut |index| index as f64 * gap_ns),
        Arrival::Poisson => {
            let mut due_ns = 0.0;
            times(&mut |index| {
                due_ns -= randomness::unit_interval(seed, index).ln() * gap_ns;
                due_ns
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn constant_arrivals_are_evenly_spaced_from_the_first_instant() {
        let schedule = schedule(Arrival::Constant, 4.0, SECOND_NS, 0).unwrap();
        assert_eq!(schedule, [0, 250_000_000, 500_000_000, 750_000_000]);
    }

    #[test]
    fn a_schedule_that_would_not_fit_in_memory_is_refused() {
        let refusal = schedule(Arrival::Poisson, 1e9, 3600 * SECOND_NS, 0).unwrap_err();
        assert!(refusal.0.contains("rate_per_second"), "{refusal}");
    }

    #[test]
    fn the_same_seed_repeats_a_schedule_and_another_does_not() {
        let times = |seed| schedule(Arrival::Poisson, 500.0, SECOND_NS, seed).unwrap();
        assert_eq!(times(7), times(7));
        assert_ne!(times(7), times(8));
    }

    proptest! {
        /// The count of a Poisson process has variance equal to its mean, and so has, for large means, the
        /// sum of squared gaps: five standard deviations leave one failure in about a million cases.
        #[test]
        fn poisson_arrivals_have_the_mean_and_the_spread_asked_for(
            seed: u64,
            rate_per_second in 1e3..1e5f64,
        ) {
            let schedule = schedule(Arrival::Poisson, rate_per_second, SECOND_NS, seed).unwrap();
            let count = schedule.len() as f64;
            prop_assert!((count - rate_per_second).abs() < 5.0 * rate_per_second.sqrt(), "{count} arrivals");

            let gaps: Vec<f64> = schedule.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            let variation = variance.sqrt() / mean;
            prop_assert!((variation - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "variation {variation}");
        }

        #[test]
        fn arrivals_ascend_and_stay_inside_the_window(
            seed: u64,
            rate_per_second in 1.0..1e5f64,
            length_ns in 1..SECOND_NS,
        ) {
            for arrival in [Arrival::Constant, Arrival::Poisson] {
                let schedule = schedule(arrival, rate_per_second, length_ns, seed).unwrap();
                prop_assert!(schedule.windows(2).all(|pair| pair[0] <= pair[1]));
                prop_assert!(schedule.last().is_none_or(|&last_ns| last_ns < length_ns));
            }
        }
    }
}
