//! The timed loop of the paced load: what one thread of the pool does.
//!
//! Threads share nothing but the timetable and one counter. Each takes the next arrival, waits until it is due
//! or notices that it is late, performs it and records three durations. Since arrivals are taken in order and
//! an idle thread always holds the next one, the pool is a queue, first come, first served.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::{Clock, Waking};
use crate::distribution::DurationRecorder;
use crate::failures::{Failure, FailureCounts};
use crate::intervals::Intervals;
use crate::paced::access::{Access, Direction, Operation};

/// The seam between the schedule and the filesystem; tests put a fake with known stalls here.
pub trait PerformOperation {
    /// Whatever can be done before the arrival, outside of the measured time.
    fn prepare(&mut self, operation: Operation);

    /// Moves exactly one block, or says why not.
    fn perform(&mut self, operation: Operation) -> Result<(), Failure>;
}

/// When operations are due, and which of them count. All times from the start of the step.
pub struct Timetable {
    /// Ascending.
    pub due_ns: Vec<u64>,
    /// Arrivals before it belong to the ramp.
    pub window_start_ns: u64,
    pub window_end_ns: u64,
    /// Operations that have not started by then stay undone.
    pub give_up_ns: u64,
}

impl Timetable {
    /// Arrivals inside the window.
    pub fn scheduled(&self) -> u64 {
        let ramp = self.due_ns.partition_point(|&due_ns| due_ns < self.window_start_ns);
        (self.due_ns.len() - ramp) as u64
    }
}

/// What one thread recorded.
pub struct Served {
    /// Operations whose arrival lies in the window, whenever they ended.
    pub reads: Tally,
    pub writes: Tally,
    /// Successful operations that ended in the window, whenever they were due.
    pub read_completions: Intervals,
    pub write_completions: Intervals,
    /// End of the last operation, from the start of the window.
    pub last_end_ns: u64,
}

/// Operations of one direction.
#[derive(Default)]
pub struct Tally {
    /// From the arrival to the end. All durations are of successful operations only.
    pub latency: DurationRecorder,
    /// From the system call to the end.
    pub service: DurationRecorder,
    /// From the arrival to the system call.
    pub lag: DurationRecorder,
    /// The lag of those operations for which a thread had been waiting.
    pub oversleep: DurationRecorder,
    pub failures: FailureCounts,
}

impl Tally {
    /// Operations that were performed, with success or without.
    pub fn performed(&self) -> u64 {
        self.latency.count() + self.failures.total()
    }
}

impl Served {
    pub fn over(window_ns: u64) -> Self {
        Self {
            reads: Tally::default(),
            writes: Tally::default(),
            read_completions: Intervals::over(window_ns),
            write_completions: Intervals::over(window_ns),
            last_end_ns: 0,
        }
    }
}

/// Serves arrivals until none is left or it is too late to start another.
pub fn serve(
    timetable: &Timetable,
    access: &Access,
    next: &AtomicU64,
    clock: &impl Clock,
    operations: &mut impl PerformOperation,
    served: &mut Served,
) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(&due_ns) = timetable.due_ns.get(index as usize) else { return };
        let operation = access.operation(index);
        operations.prepare(operation);
        let start = clock.wait_until(due_ns);
        if start.now_ns >= timetable.give_up_ns {
            return;
        }
        let result = operations.perform(operation);
        let end_ns = clock.now_ns();
        served.record(timetable, operation.direction, result, Times { due_ns, start, end_ns });
    }
}

/// The three instants of one operation.
struct Times {
    due_ns: u64,
    start: Waking,
    end_ns: u64,
}

impl Served {
    #[inline]
    fn record(
        &mut self,
        timetable: &Timetable,
        direction: Direction,
        result: Result<(), Failure>,
        times: Times,
    ) {
        let (tally, completions) = match direction {
            Direction::Read => (&mut self.reads, &mut self.read_completions),
            Direction::Write => (&mut self.writes, &mut self.write_completions),
        };
        let end_in_window_ns = times.end_ns.checked_sub(timetable.window_start_ns);
        if let (Some(at_ns), Ok(())) = (end_in_window_ns, result) {
            completions.add(at_ns, 1);
        }
        if times.due_ns < timetable.window_start_ns {
            return;
        }
        self.last_end_ns = self.last_end_ns.max(end_in_window_ns.unwrap_or(0));
        match result {
            Ok(()) => tally.record(times),
            Err(failure) => tally.failures.record(failure),
        }
    }
}

impl Tally {
    #[inline]
    fn record(&mut self, times: Times) {
        self.latency.record(times.end_ns - times.due_ns);
        self.service.record(times.end_ns - times.start.now_ns);
        let lag_ns = times.start.now_ns - times.due_ns;
        self.lag.record(lag_ns);
        if times.start.waited {
            self.oversleep.record(lag_ns);
        }
    }
}
