//! A discrete-event simulator of storage clusters: what would one do that nobody here has?
//!
//! Where this stands in the flow: `leadline simulate` turns a cluster file into one [`Simulate`] step for each point of
//! a curve, `leadline-engine run` performs it here, and Python lays the outcomes in tables. Nothing is measured:
//! service times come in as numbers, measured elsewhere or stated by a vendor.
//!
//! Clients keep requests in flight; requests pass their software and NIC, the switch, NIC, software and disks of
//! storage nodes, along chains, to all copies at once, or as the parts of an erasure code. What waits is only
//! [pipes](pipes::Pipes) (first come, first served) and [disks](disks::Disks) (all requests at once, at a rate that
//! depends on how many they are). Time is whole picoseconds: 4 KiB pass a NIC of 400 Gb/s in 82 ns, and half a
//! nanosecond of rounding there would be half a percent of the answer.
//!
//! One simulation is one thread and depends on nothing but its step: the same step gives the same outcome, event by
//! event, on every machine whose `ln` rounds alike.

mod calendar;
mod check;
pub mod description;
pub mod disks;
mod draws;
mod flow;
pub mod outcome;
pub mod pipes;
mod placement;
mod process_memory;
mod requests;
mod resources;
mod simulation;
mod slab;
mod turns;
mod window;

use std::time::Instant;

use leadline_workloads::{Refusal, Workload};

pub use calendar::{Calendar, Event};
pub use description::Simulate;
pub use outcome::SimulateOutcome;

impl Workload for Simulate {
    type Outcome = SimulateOutcome;

    fn perform(&self) -> Result<SimulateOutcome, Refusal> {
        check::check(self)?;
        let start = Instant::now();
        let mut outcome = simulation::Simulation::new(self).run();
        outcome.wall_ns = start.elapsed().as_nanos() as u64;
        outcome.peak_memory_bytes = process_memory::peak_bytes();
        Ok(outcome)
    }
}
