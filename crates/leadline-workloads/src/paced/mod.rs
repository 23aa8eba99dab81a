//! The schedule-anchored data load: open loop, free of coordinated omission.
//!
//! Every operation has an arrival that was fixed before the first one started. A pool of threads serves the
//! arrivals in order; one that is late is issued as soon as a thread is free and is never skipped. Its
//! *latency* counts from its arrival, so a stalled disk is charged with everybody who queued behind the
//! stall; its *service* counts from the system call, as closed-loop tools do; *lag* is the difference.
//!
//! The parts: [`access`] says what operation n reads or writes, [`files`] does it, [`mod@serve`] is the timed loop
//! that one thread runs, [`outcome`] adds the threads up, and this module holds the step and the threads.

pub mod access;
pub mod files;
pub mod outcome;
pub mod serve;

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arrivals::{self, Arrival};
use crate::clock::{wake_this_thread_on_time, Moment};
use crate::together::start_together;
use crate::{Refusal, Workload};

use access::{Access, Pattern};
use files::{FileOperations, OpenedFiles};
use outcome::PacedOutcome;
use serve::{serve, Served, Timetable};

/// Each has histograms of 2 MiB.
const MOST_THREADS: u32 = 1024;
const LARGEST_BLOCK_BYTES: u64 = 1 << 30;
/// Direct I/O works in logical blocks of the device, and none has smaller ones.
const SECTOR_BYTES: u64 = 512;

/// Reads and writes existing files at given times.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paced {
    /// Absolute paths of regular files that are already laid out. They are taken one after another as one long
    /// row of blocks; the end of a file that does not fill a block is left alone. Writes overwrite.
    pub files: Vec<PathBuf>,
    pub rw: Pattern,
    /// Share of reads of `randrw`; 50 when absent.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    pub read_percentage: Option<u8>,
    pub block_size_bytes: u64,
    /// Whether files are opened with O_DIRECT.
    pub direct: bool,
    /// Threads that serve the schedule together: the most operations that can be in flight.
    pub threads: u32,
    pub arrival: Arrival,
    /// Mean arrivals a second, over all threads.
    pub rate_per_second: f64,
    /// Time before the window: the load is already offered, and its operations are not recorded.
    pub ramp_ns: u64,
    /// Length of the window whose arrivals are recorded.
    pub runtime_ns: u64,
    /// The same seed repeats the same arrivals and the same blocks.
    pub seed: u64,
    /// How long after the window late operations may still be started; what is not started by then is
    /// unserved. An operation that has started is waited for.
    pub drain_limit_ns: u64,
}

impl Workload for Paced {
    type Outcome = PacedOutcome;

    fn perform(&self) -> Result<PacedOutcome, Refusal> {
        self.check()?;
        let files = OpenedFiles::open(&self.files, self.block_size_bytes, self.rw.writes(), self.direct)?;
        let length_ns = self.ramp_ns + self.runtime_ns;
        let timetable = Timetable {
            due_ns: arrivals::schedule(self.arrival, self.rate_per_second, length_ns, self.seed)?,
            window_start_ns: self.ramp_ns,
            window_end_ns: length_ns,
            give_up_ns: length_ns + self.drain_limit_ns,
        };
        let access = Access::new(self.rw, self.read_percentage, files.blocks(), self.seed);
        let (served, start) = self.serve_with_threads(&timetable, &access, &files)?;
        Ok(PacedOutcome::merge(self, start.plus(self.ramp_ns), &timetable, &served))
    }
}

impl Paced {
    fn serve_with_threads(
        &self,
        timetable: &Timetable,
        access: &Access,
        files: &OpenedFiles,
    ) -> Result<(Vec<Served>, Moment), Refusal> {
        let next = AtomicU64::new(0);
        let prepare = |thread: u32| {
            wake_this_thread_on_time();
            (FileOperations::new(files, self.seed ^ u64::from(thread)), Served::over(self.runtime_ns))
        };
        start_together(self.threads, prepare, |(mut operations, mut served), clock| {
            serve(timetable, access, &next, &clock, &mut operations, &mut served);
            served
        })
    }

    fn check(&self) -> Result<(), Refusal> {
        self.check_load()?;
        self.check_blocks()?;
        self.check_mix()
    }

    fn check_mix(&self) -> Result<(), Refusal> {
        let Some(percentage) = self.read_percentage else { return Ok(()) };
        let fixed = self.rw.fixed_read_percentage();
        Refusal::unless(percentage <= 100 && fixed.is_none_or(|fixed| fixed == percentage), || {
            format!(
                "read_percentage is {percentage}, which {:?} cannot have: give 0 to 100 with Randrw, or leave \
                 it out",
                self.rw
            )
            .to_lowercase()
        })
    }

    fn check_load(&self) -> Result<(), Refusal> {
        Refusal::unless((1..=MOST_THREADS).contains(&self.threads), || {
            format!("threads is {}: give a number from 1 to {MOST_THREADS}", self.threads)
        })?;
        Refusal::unless(self.rate_per_second.is_finite() && self.rate_per_second > 0.0, || {
            format!("rate_per_second is {}: give a number above 0", self.rate_per_second)
        })?;
        Refusal::unless(self.runtime_ns > 0, || "runtime_ns is 0: give the window a length".to_owned())?;
        let end_ns =
            self.ramp_ns.checked_add(self.runtime_ns).and_then(|ns| ns.checked_add(self.drain_limit_ns));
        Refusal::unless(end_ns.is_some_and(|ns| ns <= 1 << 62), || {
            "ramp_ns, runtime_ns and drain_limit_ns together exceed a century: are they in nanoseconds?"
                .to_owned()
        })
    }

    fn check_blocks(&self) -> Result<(), Refusal> {
        let block_size_bytes = self.block_size_bytes;
        Refusal::unless((1..=LARGEST_BLOCK_BYTES).contains(&block_size_bytes), || {
            format!("block_size_bytes is {block_size_bytes}: give a size from 1 byte to 1 GiB")
        })?;
        Refusal::unless(!self.direct || block_size_bytes % SECTOR_BYTES == 0, || {
            format!(
                "block_size_bytes is {block_size_bytes}, and direct I/O moves multiples of {SECTOR_BYTES} \
                 only: change the size or set direct to false"
            )
        })
    }
}
