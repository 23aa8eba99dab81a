//! What one rank writes down while a phase runs.
//!
//! The clock is read once for each operation: the end of one is the start of the next. A duration therefore holds
//! what the rank itself does between two calls (the next name, the note of the last: some tens of nanoseconds). A
//! second look at the clock would cost as much again.
//!
//! Durations are noted in a short row and entered into histogram and series when that is full. After every system
//! call code and data of the program are cold, so that entering one costs several times what entering many in a row
//! does. The time for it belongs to the phase, but to no operation.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::distribution::DurationRecorder;
use crate::failures::{Failure, FailureCounts};
use crate::metadata::series::Series;
use crate::metadata::stopwatch::{Pace, Stopwatch};

/// Four kilobytes, of which the processor's nearest cache holds eight times as much at least.
const NOTES: usize = 256;

/// One operation that succeeded.
#[derive(Clone, Copy, Default)]
struct Note {
    duration_ns: u64,
    ended_ns: u64,
}

/// Made before the phase starts; allocates nothing afterwards.
pub struct Recorder<'shared> {
    pace: Pace,
    /// Counts from the moment at which the barrier let go, as all times below do.
    stopwatch: Stopwatch,
    last_ns: u64,
    notes: [Note; NOTES],
    noted: usize,
    operations: u64,
    /// How many operations succeeded, for other ranks to see.
    progress: &'shared AtomicU64,
    latency: DurationRecorder,
    failures: FailureCounts,
    series: Series,
}

/// What was recorded.
pub struct Recorded {
    pub latency: DurationRecorder,
    pub failures: FailureCounts,
    pub series: Series,
}

impl<'shared> Recorder<'shared> {
    pub fn new(progress: &'shared AtomicU64, pace: Pace) -> Self {
        progress.store(0, Ordering::Relaxed);
        Self {
            pace,
            stopwatch: Stopwatch::since(0, pace),
            last_ns: 0,
            notes: [Note::default(); NOTES],
            noted: 0,
            operations: 0,
            progress,
            latency: DurationRecorder::new(),
            failures: FailureCounts::new(),
            series: Series::new(),
        }
    }

    /// Begins to count from `origin_ns`, the moment at which all ranks were let go; returns how late this one is.
    pub fn start(&mut self, origin_ns: u64) -> u64 {
        self.stopwatch = Stopwatch::since(origin_ns, self.pace);
        self.now_ns()
    }

    /// Reads the clock: what went before belongs to no operation.
    #[inline]
    pub fn now_ns(&mut self) -> u64 {
        self.last_ns = self.stopwatch.now_ns();
        self.last_ns
    }

    /// When the clock was last read.
    #[inline]
    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// An operation has ended that began when the clock was last read.
    #[inline]
    pub fn done(&mut self, answer: Result<(), Failure>) {
        let started_ns = self.last_ns;
        self.now_ns();
        self.done_since(started_ns, answer);
    }

    /// An operation has ended when the clock was last read. Only what succeeded has a duration, and only that is
    /// counted in a rate.
    #[inline]
    pub fn done_since(&mut self, started_ns: u64, answer: Result<(), Failure>) {
        match answer {
            Ok(()) => {
                self.notes[self.noted] =
                    Note { duration_ns: self.last_ns.saturating_sub(started_ns), ended_ns: self.last_ns };
                self.noted += 1;
                self.operations += 1;
                self.progress.store(self.operations, Ordering::Relaxed);
                if self.noted == NOTES {
                    self.enter_notes();
                    self.now_ns();
                }
            }
            Err(failure) => self.failures.record(failure),
        }
    }

    #[cold]
    fn enter_notes(&mut self) {
        for note in &self.notes[..self.noted] {
            self.latency.record(note.duration_ns);
        }
        self.series.add_all(self.notes[..self.noted].iter().map(|note| note.ended_ns));
        self.noted = 0;
    }

    /// Operations that succeeded.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The phase is over.
    pub fn close(mut self) -> Recorded {
        self.enter_notes();
        self.series.close();
        Recorded { latency: self.latency, failures: self.failures, series: self.series }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic_ns;

    #[test]
    fn failed_operations_have_no_duration_and_are_in_no_rate() {
        let progress = AtomicU64::new(7);
        let mut recorder = Recorder::new(&progress, Pace::of_kernel());
        recorder.start(monotonic_ns());
        recorder.done(Ok(()));
        recorder.done(Err(Failure::from_errno(28)));
        recorder.done(Ok(()));
        assert_eq!([recorder.operations(), progress.load(Ordering::Relaxed)], [2, 2]);
        let recorded = recorder.close();
        let counted: u64 = recorded.series.ends_and_totals(u64::MAX).map(|each| each.1).sum();
        assert_eq!([recorded.latency.count(), counted, recorded.failures.total()], [2, 2, 1]);
    }

    #[test]
    fn nothing_is_lost_between_the_notes_and_the_histogram() {
        for operations in [0, 1, NOTES - 1, NOTES, NOTES + 1, 5 * NOTES + 3] {
            let progress = AtomicU64::new(0);
            let mut recorder = Recorder::new(&progress, Pace::of_kernel());
            recorder.start(monotonic_ns());
            (0..operations).for_each(|_| recorder.done(Ok(())));
            assert_eq!(recorder.close().latency.count(), operations as u64);
        }
    }
}
