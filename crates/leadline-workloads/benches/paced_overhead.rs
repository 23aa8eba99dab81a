//! What the paced loop itself costs for one operation: all arrivals are already due and the operation does
//! nothing, so everything that is left is the harness. Run with `cargo bench -p leadline-workloads`.

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use leadline_workloads::clock::MonotonicClock;
use leadline_workloads::failures::Failure;
use leadline_workloads::paced::access::{Access, Operation, Pattern};
use leadline_workloads::paced::serve::{serve, PerformOperation, Served, Timetable};

const OPERATIONS: usize = 5_000_000;

struct Nothing;

impl PerformOperation for Nothing {
    fn prepare(&mut self, _: Operation) {}

    fn perform(&mut self, operation: Operation) -> Result<(), Failure> {
        std::hint::black_box(operation);
        Ok(())
    }
}

fn main() {
    let timetable = Timetable {
        due_ns: vec![0; OPERATIONS],
        window_start_ns: 0,
        window_end_ns: 1_000_000_000,
        give_up_ns: u64::MAX,
    };
    let access = Access::new(Pattern::Randrw, None, 1 << 20, 1);
    let mut served = Served::over(1_000_000_000);
    let origin = Instant::now();
    serve(&timetable, &access, &AtomicU64::new(0), &MonotonicClock { origin }, &mut Nothing, &mut served);
    let elapsed_ns = origin.elapsed().as_nanos() as f64;
    let operations = served.reads.performed() + served.writes.performed();
    println!("{:.0} ns an operation, over {operations} operations", elapsed_ns / operations as f64);
}
