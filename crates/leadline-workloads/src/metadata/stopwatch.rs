//! The time of an operation that takes a microsecond: read from the processor's counter, which costs a third of
//! what asking the kernel does and disturbs less of what the next operation needs.
//!
//! Only where the kernel itself tells the time by that counter, which it does when it has found it to run at one
//! speed and alike on all cores. Elsewhere the kernel is asked.

use std::fs;
use std::time::Duration;

use crate::clock::monotonic_ns;

/// Long enough that the error of two readings (some tens of nanoseconds) is about a millionth.
const CALIBRATION: Duration = Duration::from_millis(20);
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// How counts become nanoseconds: found once, before the ranks are started.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Nanoseconds of 2^32 counts; None: the counter is not to be used.
    scaled_ns: Option<u64>,
}

impl Pace {
    /// Takes a moment: the counter is compared with the kernel's clock.
    pub fn find() -> Self {
        let trusted = fs::read_to_string(CLOCK_SOURCE).is_ok_and(|source| source.trim() == "tsc");
        if !trusted || read_counter().is_none() {
            return Self { scaled_ns: None };
        }
        let (count_before, before_ns) = both();
        std::thread::sleep(CALIBRATION);
        let (count, now_ns) = both();
        let scaled_ns = (u128::from(now_ns - before_ns) << 32) / u128::from(count - count_before);
        Self { scaled_ns: Some(scaled_ns as u64) }
    }

    /// Asks the kernel each time.
    pub fn of_kernel() -> Self {
        Self { scaled_ns: None }
    }
}

/// Nanoseconds since a moment of the monotonic clock.
#[derive(Clone, Copy)]
pub struct Stopwatch {
    pace: Pace,
    origin_ns: u64,
    /// The counter at the origin, modulo 2^64.
    origin_count: u64,
}

impl Stopwatch {
    pub fn since(origin_ns: u64, pace: Pace) -> Self {
        let (count, now_ns) = both();
        let passed = pace.scaled_ns.map_or(0, |scaled_ns| {
            ((u128::from(now_ns.saturating_sub(origin_ns)) << 32) / u128::from(scaled_ns)) as u64
        });
        Self { pace, origin_ns, origin_count: count.wrapping_sub(passed) }
    }

    #[inline(always)]
    pub fn now_ns(&self) -> u64 {
        match (self.pace.scaled_ns, read_counter()) {
            (Some(scaled_ns), Some(count)) => {
                let passed = count.wrapping_sub(self.origin_count);
                ((u128::from(passed) * u128::from(scaled_ns)) >> 32) as u64
            }
            _ => monotonic_ns().saturating_sub(self.origin_ns),
        }
    }
}

/// The counter and the clock at one moment: of several readings, the one that took least.
fn both() -> (u64, u64) {
    let reading = |_| {
        let before = read_counter().unwrap_or(0);
        let now_ns = monotonic_ns();
        let after = read_counter().unwrap_or(0);
        (after.wrapping_sub(before), before.wrapping_add(after.wrapping_sub(before) / 2), now_ns)
    };
    let best = (0..16).map(reading).min_by_key(|&(took, ..)| took);
    best.map(|(_, count, now_ns)| (count, now_ns)).expect("one of sixteen")
}

#[inline(always)]
fn read_counter() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reading the counter has no effect, and Linux allows it to every process.
    return Some(unsafe { core::arch::x86_64::_rdtsc() });
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_agrees_with_the_clock(pace: Pace) {
        let origin_ns = monotonic_ns() - 3_000_000_000;
        let stopwatch = Stopwatch::since(origin_ns, pace);
        for _ in 0..20 {
            let before_ns = monotonic_ns() - origin_ns;
            let now_ns = stopwatch.now_ns();
            let after_ns = monotonic_ns() - origin_ns;
            // A ten-thousandth of three seconds: far above the error of a calibration, far below one of the pace.
            assert!(
                now_ns + 300_000 >= before_ns && now_ns <= after_ns + 300_000,
                "{before_ns} {now_ns} {after_ns}"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn the_counter_tells_the_time_of_the_monotonic_clock() {
        assert_agrees_with_the_clock(Pace::find());
    }

    #[test]
    fn the_kernel_is_asked_where_the_counter_is_not_to_be_trusted() {
        assert_agrees_with_the_clock(Pace::of_kernel());
    }

    #[test]
    fn time_does_not_run_backwards() {
        let stopwatch = Stopwatch::since(monotonic_ns(), Pace::find());
        let times: Vec<u64> = (0..10_000).map(|_| stopwatch.now_ns()).collect();
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
