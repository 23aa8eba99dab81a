//! The timed work of leadline: one workload, one module.
//!
//! Where this stands in the flow: `leadline-engine` reads a step, finds the workload it names here, performs
//! it, and prints what it measured. A workload is handed everything it needs in its parameters (absolute
//! paths, counts, durations). It knows nothing of targets, campaigns or hosts: to it, a distributed
//! filesystem is a directory like any other.
//!
//! Two rules hold everywhere in this crate:
//!
//! * Between the first and the last timed operation nothing is allocated, locked or printed. What is counted
//!   there is counted by the thread that did it, and merged afterwards.
//! * What an operation answers is data. A failed write is counted under its errno; only a step that cannot be
//!   performed as it is written is [refused](Refusal).

pub mod aligned_buffer;
pub mod arrivals;
pub mod clock;
pub mod distribution;
pub mod failures;
pub mod histories;
pub mod intervals;
pub mod memory_copy;
pub mod metadata;
pub mod network;
pub mod paced;
mod processor_cache;
pub mod randomness;
mod together;
pub mod visibility;

/// Work that is described by its own fields and measures itself.
pub trait Workload {
    /// What was measured.
    type Outcome;

    /// Performs the whole step and returns once every thread that it started has ended.
    fn perform(&self) -> Result<Self::Outcome, Refusal>;
}

/// Why a step cannot be performed as it is written: one sentence for the user.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// Refuses, with the sentence as the reason, unless the condition holds.
    pub(crate) fn unless(holds: bool, sentence: impl FnOnce() -> String) -> Result<(), Self> {
        if holds {
            Ok(())
        } else {
            Err(Self(sentence()))
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
