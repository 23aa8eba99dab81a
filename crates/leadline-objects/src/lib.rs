//! Timed requests to object stores: what a store can do, and how fast, before any filesystem stands on it.
//!
//! Where this stands in the flow: `leadline objbench` and campaigns ask `leadline-engine run` for one of three steps.
//! [`folder::ObjectFolder`] makes a folder of leadline's own in a bucket and removes it, [`checks::ObjectChecks`] tries
//! out what a store must be able to do, [`load::ObjectLoad`] measures.
//!
//! A crate of its own and no module of leadline-workloads, because of its weight: the client library (opendal), HTTP and
//! TLS are some 250 crates, which whoever builds or tests the other workloads need not compile.
//!
//! The rule of leadline-workloads that nothing is allocated between timed operations cannot be kept here: an HTTP
//! request allocates. What is counted is still counted by the thread that did it, and merged afterwards.

pub mod checks;
mod client;
mod content;
pub mod failures;
pub mod folder;
pub mod load;
mod names;
pub mod outcome;
mod phase;
pub mod store;

use leadline_workloads::Refusal;

/// Refuses, with the sentence as the reason, unless the condition holds.
fn refuse_unless(holds: bool, sentence: impl FnOnce() -> String) -> Result<(), Refusal> {
    if holds {
        Ok(())
    } else {
        Err(Refusal(sentence()))
    }
}
