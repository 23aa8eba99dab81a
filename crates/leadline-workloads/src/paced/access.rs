//! Which block operation n touches, and in which direction: a pure function of n and the seed, so that any
//! thread can work it out alone and a step repeats exactly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::randomness;

/// Named as fio names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    Read,
    Write,
    Randread,
    Randwrite,
    Randrw,
}

impl Pattern {
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Randread | Self::Randrw)
    }

    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Randwrite | Self::Randrw)
    }

    /// The share of reads of patterns that have no choice.
    pub fn fixed_read_percentage(self) -> Option<u8> {
        match self {
            Self::Read | Self::Randread => Some(100),
            Self::Write | Self::Randwrite => Some(0),
            Self::Randrw => None,
        }
    }

    fn is_random(self) -> bool {
        matches!(self, Self::Randread | Self::Randwrite | Self::Randrw)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Read,
    Write,
}

/// One read or write, before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Place in the schedule.
    pub index: u64,
    pub direction: Direction,
    /// Position in the row of all blocks of all files.
    pub block: u64,
}

/// How a step goes through its blocks.
pub struct Access {
    pattern: Pattern,
    read_fraction: f64,
    blocks: u64,
    block_seed: u64,
    direction_seed: u64,
}

impl Access {
    /// `blocks` is how many there are in all files together, at least one.
    pub fn new(pattern: Pattern, read_percentage: Option<u8>, blocks: u64, seed: u64) -> Self {
        let read_percentage = pattern.fixed_read_percentage().or(read_percentage).unwrap_or(50);
        Self {
            pattern,
            read_fraction: f64::from(read_percentage) / 100.0,
            blocks,
            // Arrivals draw from the seed itself; each further question to chance has a sequence of its own.
            block_seed: randomness::word(seed, 1),
            direction_seed: randomness::word(seed, 2),
        }
    }

    /// Sequential patterns start again from the first block after the last.
    #[inline]
    pub fn operation(&self, index: u64) -> Operation {
        let block = if self.pattern.is_random() {
            randomness::below(self.blocks, self.block_seed, index)
        } else {
            index % self.blocks
        };
        Operation { index, direction: self.direction(index), block }
    }

    #[inline]
    fn direction(&self, index: u64) -> Direction {
        // The unit interval excludes 0 and includes 1, so a fraction of 0 never reads and 1 always does.
        if randomness::unit_interval(self.direction_seed, index) <= self.read_fraction {
            Direction::Read
        } else {
            Direction::Write
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share_of_reads(pattern: Pattern, read_percentage: Option<u8>) -> f64 {
        let access = Access::new(pattern, read_percentage, 1000, 42);
        let reads = (0..10_000).filter(|&index| access.operation(index).direction == Direction::Read).count();
        reads as f64 / 10_000.0
    }

    #[test]
    fn sequential_access_visits_every_block_in_order_and_starts_again() {
        let access = Access::new(Pattern::Write, None, 3, 0);
        let blocks: Vec<_> = (0..5).map(|index| access.operation(index).block).collect();
        assert_eq!(blocks, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn reads_and_writes_are_mixed_as_asked() {
        assert_eq!(share_of_reads(Pattern::Randread, None), 1.0);
        assert_eq!(share_of_reads(Pattern::Randwrite, None), 0.0);
        assert_eq!(share_of_reads(Pattern::Randrw, Some(0)), 0.0);
        assert_eq!(share_of_reads(Pattern::Randrw, Some(100)), 1.0);
        assert!((share_of_reads(Pattern::Randrw, Some(70)) - 0.7).abs() < 0.02);
        assert!((share_of_reads(Pattern::Randrw, None) - 0.5).abs() < 0.02);
    }

    proptest! {
        #[test]
        fn random_access_stays_inside_and_spreads_over_all_blocks(seed: u64, blocks in 1u64..50) {
            let access = Access::new(Pattern::Randread, None, blocks, seed);
            let mut visits = vec![0u32; blocks as usize];
            (0..blocks * 200).for_each(|index| visits[access.operation(index).block as usize] += 1);
            // 200 visits expected, a deviation of 14: one in 10^10 lies outside of 100 .. 300
            prop_assert!(visits.iter().all(|&count| (100..300).contains(&count)), "{visits:?}");
        }
    }
}
