//! What all threads of a paced load did, in the words of the seam.

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::Moment;
use crate::distribution::Distribution;
use crate::failures::FailureCount;
use crate::intervals::Intervals;
use crate::paced::access::Direction;
use crate::paced::serve::{Served, Tally, Timetable};
use crate::paced::Paced;

/// Two views of one window. `jobs`, `scheduled`, `served` and `unserved` follow the operations that were *due*
/// in it, however late they ended: latency belongs to whoever asked. `series` and `achieved_rate_per_second`
/// follow the operations that *ended* in it: throughput belongs to the clock.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PacedOutcome {
    /// Start of the window, after the ramp.
    #[serde(flatten)]
    pub start: Moment,
    /// One entry for each thread and each direction that the pattern has.
    pub jobs: Vec<Job>,
    pub series: Vec<TransferredInterval>,
    /// Operations due in the window.
    pub scheduled: u64,
    /// Those of them that were performed, with success or without.
    pub served: u64,
    /// Those that had not been started when the drain limit ran out. Above zero, every percentile of latency
    /// is a lower bound.
    pub unserved: u64,
    /// Operations due in the window, over its length.
    pub offered_rate_per_second: f64,
    /// Successful operations that ended in the window, over its length.
    pub achieved_rate_per_second: f64,
}

/// One direction of one thread.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Job {
    /// Number of the thread, from 0.
    pub job: u32,
    pub direction: Direction,
    /// Successful ones.
    pub operations: u64,
    pub size_bytes: u64,
    /// From the start of the window until all operations due in it had ended, but at least its length; the
    /// same for all jobs.
    pub runtime_ns: u64,
    /// From the scheduled arrival to the end: what a user waits.
    pub latency: Distribution,
    /// From the system call to the end: what closed-loop tools call latency.
    pub service: Distribution,
    /// From the scheduled arrival to the system call: time spent waiting for a free thread, or oversleeping.
    pub lag: Distribution,
    /// The lag of those operations for which a thread had been waiting: how late the generator itself was, as
    /// opposed to the target. Latencies are no more trustworthy than this is small.
    pub oversleep: Distribution,
    pub errors: Vec<FailureCount>,
}

/// Bytes of operations that ended since the end of the interval before.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TransferredInterval {
    /// From the start of the window.
    pub end_ns: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
}

impl PacedOutcome {
    pub fn merge(step: &Paced, start: Moment, timetable: &Timetable, threads: &[Served]) -> Self {
        let window_seconds = step.runtime_ns as f64 / 1e9;
        let reads = merged(step, threads.iter().map(|thread| &thread.read_completions));
        let writes = merged(step, threads.iter().map(|thread| &thread.write_completions));
        let scheduled = timetable.scheduled();
        let served = threads.iter().map(|thread| thread.reads.performed() + thread.writes.performed()).sum();
        Self {
            start,
            jobs: jobs(step, threads),
            series: series(step.block_size_bytes, &reads, &writes),
            scheduled,
            served,
            unserved: scheduled - served,
            offered_rate_per_second: scheduled as f64 / window_seconds,
            achieved_rate_per_second: (reads.total() + writes.total()) as f64 / window_seconds,
        }
    }
}

fn merged<'threads>(step: &Paced, threads: impl Iterator<Item = &'threads Intervals>) -> Intervals {
    let mut sum = Intervals::over(step.runtime_ns);
    threads.for_each(|completions| sum.merge(completions));
    sum
}

fn series(block_size_bytes: u64, reads: &Intervals, writes: &Intervals) -> Vec<TransferredInterval> {
    let both = reads.ends_and_totals().zip(writes.ends_and_totals());
    both.map(|((end_ns, reads), (_, writes))| TransferredInterval {
        end_ns,
        read_bytes: reads * block_size_bytes,
        write_bytes: writes * block_size_bytes,
    })
    .collect()
}

fn jobs(step: &Paced, threads: &[Served]) -> Vec<Job> {
    let last_end_ns = threads.iter().map(|thread| thread.last_end_ns).max().unwrap_or(0);
    let runtime_ns = last_end_ns.max(step.runtime_ns);
    let directions = |thread: &'_ Served, number: u32| {
        let reads = step.rw.reads().then(|| job(step, number, Direction::Read, &thread.reads, runtime_ns));
        let writes =
            step.rw.writes().then(|| job(step, number, Direction::Write, &thread.writes, runtime_ns));
        reads.into_iter().chain(writes)
    };
    threads.iter().zip(0..).flat_map(|(thread, number)| directions(thread, number)).collect()
}

fn job(step: &Paced, number: u32, direction: Direction, tally: &Tally, runtime_ns: u64) -> Job {
    let latency = tally.latency.distribution();
    Job {
        job: number,
        direction,
        operations: latency.count,
        size_bytes: latency.count * step.block_size_bytes,
        runtime_ns,
        latency,
        service: tally.service.distribution(),
        lag: tally.lag.distribution(),
        oversleep: tally.oversleep.distribution(),
        errors: tally.failures.occurred(),
    }
}
