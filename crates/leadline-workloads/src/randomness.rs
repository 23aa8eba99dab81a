//! Random numbers that depend on a seed and an index only, so that any thread can compute the n-th of them
//! without asking another, and a step with the same seed repeats exactly.
//!
//! The mixing function is the output of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
//! generators", OOPSLA 2014), evaluated at a counter instead of a running state.

/// The increment of SplitMix64: 2^64 divided by the golden ratio, made odd.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Sixty-four random bits: number `index` of the sequence that `seed` names.
pub fn word(seed: u64, index: u64) -> u64 {
    mix(mix(seed).wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA)))
}

/// A uniform number in (0, 1]: never zero, so its logarithm is finite.
pub fn unit_interval(seed: u64, index: u64) -> f64 {
    const STEPS: f64 = (1u64 << 53) as f64;
    ((word(seed, index) >> 11) + 1) as f64 / STEPS
}

/// A uniform whole number below `limit`, by the multiply-and-shift of Lemire (ACM TOMACS 2019). Its bias is
/// below limit / 2^64: invisible for any count of blocks.
pub fn below(limit: u64, seed: u64, index: u64) -> u64 {
    ((u128::from(word(seed, index)) * u128::from(limit)) >> 64) as u64
}

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seed_zero_yields_the_published_sequence_of_splitmix64() {
        // mix(0) is 0, so seed 0 is the generator of the paper started at state 0.
        assert_eq!(word(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(word(0, 1), 0x6e78_9e6a_a1b9_65f4);
    }

    proptest! {
        #[test]
        fn whole_numbers_stay_below_their_limit_and_reach_both_halves(seed: u64, limit in 2u64..1_000_000) {
            let drawn: Vec<u64> = (0..200).map(|index| below(limit, seed, index)).collect();
            prop_assert!(drawn.iter().all(|&number| number < limit));
            prop_assert!(drawn.iter().any(|&number| number < limit / 2));
            prop_assert!(drawn.iter().any(|&number| number >= limit / 2));
        }

        #[test]
        fn the_unit_interval_never_yields_zero(seed: u64, index: u64) {
            let number = unit_interval(seed, index);
            prop_assert!(number > 0.0 && number <= 1.0);
        }
    }
}
