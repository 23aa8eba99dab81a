//! Making calls once, or again and again until their answer changes.
//!
//! Asking may itself refresh a cache, so what is measured is what an application sees that keeps asking. The pause grows by a
//! hundredth of what was waited: a window is known to about 1 %, and a long one is not asked to death.

use std::time::Duration;

use crate::clock::{monotonic_ns, wake_this_thread_on_time};
use crate::visibility::answer::{Answer, Reply, Sighting};
use crate::visibility::client::Client;
use crate::visibility::instruction::Instruction;
use crate::Refusal;

const GROWTH: u64 = 100;
/// An answer that flickers without end must not fill the memory; later changes are dropped, but for the last.
const SIGHTINGS_AT_MOST: usize = 200;

/// Follows an instruction to its end; refused where it asks for what cannot be understood, and where nobody hears what comes of it.
pub fn follow(
    client: &mut Client,
    instruction: &Instruction,
    is_heard: &dyn Fn() -> bool,
) -> Result<Reply, Refusal> {
    wake_this_thread_on_time();
    let received_ns = monotonic_ns();
    let mut sightings: Vec<Sighting> = Vec::new();
    loop {
        let start_ns = monotonic_ns();
        let answer = client.perform(&instruction.calls)?;
        let end_ns = monotonic_ns();
        let came = instruction.until.as_ref().is_none_or(|until| *until == answer);
        note(&mut sightings, answer, start_ns, end_ns);
        // Given up only by a look that began after the time: one that began before and stalled says nothing of what came meanwhile.
        if came || start_ns - received_ns >= instruction.at_most_ns {
            return Ok(Reply { number: instruction.number, received_ns, sightings, came });
        }
        Refusal::unless(is_heard(), || "nobody waits for the answer any more".to_owned())?;
        let waited_ns = end_ns - received_ns;
        std::thread::sleep(Duration::from_nanos(instruction.every_ns + waited_ns / GROWTH));
    }
}

fn note(sightings: &mut Vec<Sighting>, answer: Answer, start_ns: u64, end_ns: u64) {
    match sightings.last_mut() {
        Some(last) if last.answer == answer => {
            last.last_start_ns = start_ns;
            last.probes += 1;
        }
        _ => {
            sightings.truncate(SIGHTINGS_AT_MOST - 1);
            sightings.push(Sighting { answer, start_ns, end_ns, last_start_ns: start_ns, probes: 1 });
        }
    }
}
