//! Time, as a workload reads it and waits for it.
//!
//! A seam: workloads are written against [`Clock`], so that a test can let ten seconds with a stalled disk pass
//! in a millisecond, and get the same figures on every machine.

use std::time::{Duration, Instant};

use nix::time::{clock_gettime, ClockId};
use schemars::JsonSchema;
use serde::Serialize;

/// How long before an arrival a thread stops sleeping and starts to spin. Longer than most wake-ups are late
/// once the timer slack is gone; short enough that 1,000 operations a second burn about 3 % of one core.
const SPIN_NS: u64 = 30_000;

/// Nanoseconds since an origin that all threads of a step share.
pub trait Clock {
    fn now_ns(&self) -> u64;

    /// Returns once `due_ns` is reached; at once when it is already past.
    fn wait_until(&self, due_ns: u64) -> Waking;
}

/// The end of a wait.
#[derive(Clone, Copy, Debug)]
pub struct Waking {
    pub now_ns: u64,
    /// There was something to wait for. If so, being late is the waiter's own fault.
    pub waited: bool,
}

/// The machine's monotonic clock, counted from the instant at which the step started.
#[derive(Clone, Copy)]
pub struct MonotonicClock {
    pub origin: Instant,
}

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    #[inline]
    fn wait_until(&self, due_ns: u64) -> Waking {
        let mut now_ns = self.now_ns();
        let waited = now_ns < due_ns;
        if now_ns + SPIN_NS < due_ns {
            std::thread::sleep(Duration::from_nanos(due_ns - SPIN_NS - now_ns));
            now_ns = self.now_ns();
        }
        while now_ns < due_ns {
            std::hint::spin_loop();
            now_ns = self.now_ns();
        }
        Waking { now_ns, waited }
    }
}

/// Asks the kernel to wake this thread on time. By default timers of an ordinary thread may be 50 us late, to
/// be batched with others (PR_SET_TIMERSLACK in prctl(2)). Not granted means a larger recorded lag, no more.
pub fn wake_this_thread_on_time() {
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// One instant on two clocks, so that a measurement can be laid beside what others recorded meanwhile.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Moment {
    /// Wall-clock time: comes with jumps, but is shared between hosts.
    pub start_unix_ns: u64,
    /// CLOCK_MONOTONIC of this host, the clock of Python's `time.monotonic_ns`.
    pub start_monotonic_ns: u64,
}

impl Moment {
    pub fn now() -> Self {
        Self {
            start_unix_ns: read(ClockId::CLOCK_REALTIME),
            start_monotonic_ns: read(ClockId::CLOCK_MONOTONIC),
        }
    }

    /// The moment that lies `later_ns` after this one.
    pub fn plus(self, later_ns: u64) -> Self {
        Self {
            start_unix_ns: self.start_unix_ns + later_ns,
            start_monotonic_ns: self.start_monotonic_ns + later_ns,
        }
    }
}

/// CLOCK_MONOTONIC of this host, which all of its processes share.
#[inline]
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

#[inline]
fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("both clocks exist on every Linux");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}
