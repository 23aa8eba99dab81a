//! What it costs to record one operation of the metadata load: the clock, the histogram, the series, the progress
//! that others see. The operation itself does nothing. Run with `cargo bench -p leadline-workloads`.

use std::hint::black_box;
use std::sync::atomic::AtomicU64;

use leadline_workloads::clock::monotonic_ns;
use leadline_workloads::metadata::recorder::Recorder;
use leadline_workloads::metadata::stopwatch::Pace;
use nix::time::{clock_gettime, ClockId};

const OPERATIONS: u32 = 100_000;
const ROUNDS: usize = 101;

/// Of processor time: what else runs on the machine is not what recording costs.
fn processor_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has one");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}

fn nanoseconds_an_operation(pace: Pace) -> f64 {
    let progress = AtomicU64::new(0);
    let mut recorder = Recorder::new(&progress, pace);
    recorder.start(monotonic_ns());
    let before_ns = processor_ns();
    for _ in 0..OPERATIONS {
        recorder.done(black_box(Ok(())));
    }
    (processor_ns() - before_ns) as f64 / f64::from(OPERATIONS)
}

fn main() {
    let pace = Pace::find();
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| nanoseconds_an_operation(pace)).collect();
    rounds.sort_by(f64::total_cmp);
    println!(
        "{:.1} ns an operation, median of {ROUNDS} rounds of {OPERATIONS} operations",
        rounds[ROUNDS / 2]
    );
}
