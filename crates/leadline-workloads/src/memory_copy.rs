//! How fast this host copies memory: the limit that buffered reads and writes cannot pass.
//!
//! A read that the page cache answers is a memory copy by the kernel: cold source, and a destination that the
//! application uses again and again. A measurement above what this workload finds for the same block size
//! and number of threads cannot be true.

use std::hint::black_box;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aligned_buffer::AlignedBuffer;
use crate::clock::{Clock, Moment};
use crate::intervals::Intervals;
use crate::processor_cache::last_level_cache_bytes;
use crate::together::start_together;
use crate::{Refusal, Workload};

/// Bytes copied between two looks at the clock: a look costs about 25 ns, this about 10 us.
const BYTES_BETWEEN_LOOKS: u64 = 256 * 1024;
/// Where the machine does not tell its caches, and the least elsewhere.
const SMALLEST_WORKING_SET_BYTES: u64 = 256 << 20;
const MOST_THREADS: u32 = 4096;

/// Copies blocks from one large region to another, or to or from one block that stays in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryCopy {
    /// Threads that copy at the same time, each in memory of its own.
    pub threads: u32,
    /// Bytes moved by one copy.
    pub block_size_bytes: u64,
    pub runtime_ns: u64,
    /// Which side of every copy is one and the same block, as the buffer of an application is.
    #[serde(default)]
    pub reused: ReusedSide,
    /// Size of each region that is walked through, over all threads. When absent: four times the last-level
    /// caches, at least 256 MiB, at most an eighth of the machine's memory.
    #[serde(default)]
    pub working_set_bytes: Option<u64>,
}

/// The side of the copies that stays in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReusedSide {
    /// Both regions are walked through: memory to memory.
    Neither,
    /// One source block: an application that writes.
    Source,
    /// One destination block: an application that reads. The fastest that a buffered read can be.
    #[default]
    Destination,
}

/// What was copied, and when.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryCopyOutcome {
    #[serde(flatten)]
    pub start: Moment,
    pub threads: u32,
    pub block_size_bytes: u64,
    pub reused: ReusedSide,
    /// Size of each region that was walked through, over all threads.
    pub working_set_bytes: u64,
    /// Sum of the last-level caches, null when the machine does not say. A working set that is not well above
    /// it measured caches.
    pub last_level_cache_bytes: Option<u64>,
    pub copied_bytes: u64,
    /// From the common start to the end of the last copy of the slowest thread.
    pub runtime_ns: u64,
    pub bandwidth_bytes_per_second: f64,
    pub series: Vec<CopiedInterval>,
}

/// Bytes copied since the end of the interval before.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CopiedInterval {
    pub end_ns: u64,
    pub copied_bytes: u64,
}

impl Workload for MemoryCopy {
    type Outcome = MemoryCopyOutcome;

    fn perform(&self) -> Result<MemoryCopyOutcome, Refusal> {
        self.check()?;
        let region_bytes = self.region_bytes_per_thread();
        let (copies, start) = start_together(
            self.threads,
            |number| Regions::touched(self, region_bytes, u64::from(number)),
            |mut regions, clock| regions.copy_until(&clock, self.runtime_ns),
        )?;
        Ok(self.outcome(start, region_bytes * u64::from(self.threads), &copies))
    }
}

impl MemoryCopy {
    fn check(&self) -> Result<(), Refusal> {
        Refusal::unless((1..=MOST_THREADS).contains(&self.threads), || {
            format!("threads is {}: give a number from 1 to {MOST_THREADS}", self.threads)
        })?;
        Refusal::unless((1..=1 << 30).contains(&self.block_size_bytes), || {
            format!("block_size_bytes is {}: give a size from 1 byte to 1 GiB", self.block_size_bytes)
        })?;
        Refusal::unless(self.runtime_ns > 0, || "runtime_ns is 0: give a time to copy for".to_owned())
    }

    /// Whole blocks, and at least one.
    fn region_bytes_per_thread(&self) -> u64 {
        let wanted = self.working_set_bytes.unwrap_or_else(default_working_set_bytes);
        (wanted / u64::from(self.threads) / self.block_size_bytes).max(1) * self.block_size_bytes
    }

    fn outcome(&self, start: Moment, working_set_bytes: u64, copies: &[Copied]) -> MemoryCopyOutcome {
        let mut intervals = Intervals::over(self.runtime_ns);
        copies.iter().for_each(|copied| intervals.merge(&copied.intervals));
        let copied_bytes = copies.iter().map(|copied| copied.bytes).sum();
        let runtime_ns = copies.iter().map(|copied| copied.end_ns).max().unwrap_or(0);
        let series = intervals
            .ends_and_totals()
            .map(|(end_ns, copied_bytes)| CopiedInterval { end_ns, copied_bytes })
            .collect();
        MemoryCopyOutcome {
            start,
            threads: self.threads,
            block_size_bytes: self.block_size_bytes,
            reused: self.reused,
            working_set_bytes,
            last_level_cache_bytes: last_level_cache_bytes(),
            copied_bytes,
            runtime_ns,
            bandwidth_bytes_per_second: copied_bytes as f64 * 1e9 / runtime_ns as f64,
            series,
        }
    }
}

fn default_working_set_bytes() -> u64 {
    let beyond_caches = 4 * last_level_cache_bytes().unwrap_or(0);
    let affordable = nix::sys::sysinfo::sysinfo().map_or(u64::MAX, |memory| memory.ram_total() / 8);
    beyond_caches.max(SMALLEST_WORKING_SET_BYTES).min(affordable)
}

/// What one thread copies between.
struct Regions {
    source: AlignedBuffer,
    destination: AlignedBuffer,
    block_size: usize,
}

/// What one thread has copied.
struct Copied {
    bytes: u64,
    end_ns: u64,
    intervals: Intervals,
}

impl Regions {
    /// Allocates and writes every page, so that the copies meet neither page faults nor the one zero page that
    /// the kernel lends to memory nobody wrote.
    fn touched(step: &MemoryCopy, region_bytes: u64, seed: u64) -> Self {
        let (region, block_size) = (region_bytes as usize, step.block_size_bytes as usize);
        let size_of = |side| if step.reused == side { block_size } else { region };
        Self {
            source: AlignedBuffer::filled(size_of(ReusedSide::Source), 2 * seed),
            destination: AlignedBuffer::filled(size_of(ReusedSide::Destination), 2 * seed + 1),
            block_size,
        }
    }

    fn copy_until(&mut self, clock: &impl Clock, end_ns: u64) -> Copied {
        let blocks_between_looks = (BYTES_BETWEEN_LOOKS / self.block_size as u64).max(1);
        let bytes_between_looks = blocks_between_looks * self.block_size as u64;
        let mut copied = Copied { bytes: 0, end_ns: 0, intervals: Intervals::over(end_ns) };
        let mut block = 0;
        while copied.end_ns < end_ns {
            for _ in 0..blocks_between_looks {
                self.copy_block(block);
                block += 1;
            }
            copied.end_ns = clock.now_ns();
            copied.bytes += bytes_between_looks;
            copied.intervals.add(copied.end_ns, bytes_between_looks);
        }
        copied
    }

    #[inline]
    fn copy_block(&mut self, block: usize) {
        let from = block % (self.source.len() / self.block_size) * self.block_size;
        let to = block % (self.destination.len() / self.block_size) * self.block_size;
        let source = &self.source[from..from + self.block_size];
        let destination = &mut self.destination[to..to + self.block_size];
        destination.copy_from_slice(black_box(source));
        black_box(destination); // somebody might read it: the copy cannot be left out
    }
}

#[cfg(test)]
mod tests {
    use leadline_attempts::attempts;

    use super::*;

    fn small() -> MemoryCopy {
        MemoryCopy {
            threads: 2,
            block_size_bytes: 4096,
            runtime_ns: 20_000_000,
            reused: ReusedSide::Neither,
            working_set_bytes: Some(1 << 20),
        }
    }

    #[test]
    fn every_block_of_the_source_arrives_in_the_destination() {
        let step = MemoryCopy { threads: 1, ..small() };
        let mut regions = Regions::touched(&step, step.region_bytes_per_thread(), 0);
        assert_ne!(&regions.source[..], &regions.destination[..]);
        (0..256).for_each(|block| regions.copy_block(block));
        assert_eq!(&regions.source[..], &regions.destination[..]);
    }

    #[test]
    fn the_reused_side_is_one_block() {
        let step = MemoryCopy { reused: ReusedSide::Destination, ..small() };
        let regions = Regions::touched(&step, step.region_bytes_per_thread(), 0);
        assert_eq!((regions.source.len(), regions.destination.len()), (512 * 1024, 4096));
    }

    #[test]
    fn the_series_adds_up_to_what_was_copied_inside_the_window() {
        let in_window = |outcome: &MemoryCopyOutcome| -> u64 {
            outcome.series.iter().map(|interval| interval.copied_bytes).sum()
        };
        let outcome = attempts(|| small().perform().unwrap(), |outcome| in_window(outcome) > 0);
        let in_window = in_window(&outcome);
        assert!(in_window > 0 && in_window <= outcome.copied_bytes);
        // Each thread's last copy ends at or beyond the end of the window, and only that one does.
        assert!(outcome.copied_bytes - in_window <= 2 * BYTES_BETWEEN_LOOKS);
        assert_eq!(outcome.series.last().unwrap().end_ns, 20_000_000);
        assert!(outcome.runtime_ns >= 20_000_000);
    }

    #[test]
    fn a_step_without_threads_or_time_is_refused_in_words() {
        let refused = |step: MemoryCopy| step.perform().unwrap_err().0;
        assert!(refused(MemoryCopy { threads: 0, ..small() }).contains("threads is 0"));
        assert!(refused(MemoryCopy { runtime_ns: 0, ..small() }).contains("runtime_ns"));
        assert!(refused(MemoryCopy { block_size_bytes: 0, ..small() }).contains("block_size_bytes"));
    }
}
