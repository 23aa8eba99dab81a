//! Many operations in flight from one process, through io_uring.
//!
//! The kernel hands most of these operations (everything but opening what is cached, and closing) to worker threads
//! of its own, and by default limits those to four for each processor. A depth beyond that would be kept in words
//! only, so the limit is raised to the depth.
//!
//! An operation of several calls (open, write, close) is submitted call by call, each when the one before it has
//! been answered. Its duration is from the submission of the first to the moment at which the answer to the last
//! was found.

use std::ops::Range;

use io_uring::squeue::Entry;
use io_uring::{opcode, IoUring, Probe};
use nix::libc;

use crate::failures::Failure;
use crate::metadata::drive::{Operation, Transfers};
use crate::metadata::pointer::{Directories, Naming, Share};
use crate::metadata::recorder::Recorder;
use crate::metadata::rotation::{Named, Rotation};
use crate::metadata::slot::Slot;
use crate::Refusal;

/// What a rank needs to keep operations in flight, kept over all phases.
pub struct Ring {
    ring: IoUring,
    directories: Directories,
    slots: Vec<Slot>,
    /// Slots in which nothing is in flight.
    free: Vec<usize>,
    /// Answers that were found and not yet looked at.
    answered: Vec<(usize, i32)>,
}

impl Ring {
    /// Refuses where the kernel does not offer what it takes.
    pub fn new(iodepth: u32, naming: Naming, transfers: Transfers, seed: u64) -> Result<Self, Refusal> {
        let ring = build(iodepth).map_err(|error| {
            Refusal(format!(
                "io_uring cannot be set up with iodepth {iodepth} here ({error}): set driver to \"calls\", or allow \
                 it (kernel.io_uring_disabled, container profile, locked memory)"
            ))
        })?;
        check_operations(&ring)?;
        let slots = (0..u64::from(iodepth)).map(|slot| Slot::new(naming, transfers, seed ^ slot)).collect();
        Ok(Self {
            ring,
            directories: Directories::new(naming, 2 * iodepth as usize),
            slots,
            free: (0..iodepth as usize).rev().collect(),
            answered: Vec::with_capacity(iodepth as usize),
        })
    }

    /// See [`crate::metadata::drive::Driver::run`].
    pub fn run(
        &mut self,
        operation: Operation,
        share: &Share<'_>,
        positions: Range<u64>,
        until_ns: u64,
        recorder: &mut Recorder<'_>,
    ) -> u64 {
        let mut next = positions.start;
        loop {
            let now_ns = recorder.now_ns();
            while next < positions.end && now_ns < until_ns {
                let Some(slot) = self.free.pop() else { break };
                self.slots[slot].point_at(
                    Named { position: next, parked: false },
                    share,
                    &mut self.directories,
                );
                let first = self.slots[slot].begin(operation, next, now_ns);
                self.submit_or_finish(slot, first, recorder);
                next += 1;
            }
            if self.none_in_flight() {
                break;
            }
            self.await_answers(recorder);
            while let Some((slot, answer)) = self.answered.pop() {
                let then = self.slots[slot].answered(answer);
                self.submit_or_finish(slot, then, recorder);
            }
        }
        self.leave_directories(share);
        next
    }

    /// Gives each directory the name of the one before it: as many rotations side by side as the depth allows,
    /// because within one each rename has to wait for the one before.
    pub fn rename(&mut self, share: &Share<'_>, positions: Range<u64>, recorder: &mut Recorder<'_>) {
        let mut rotations = Rotation::side_by_side(positions, self.slots.len() as u32);
        let mut in_flight = 0;
        for (slot, rotation) in rotations.iter_mut().enumerate() {
            in_flight += usize::from(self.rename_next(slot, rotation, share, recorder));
        }
        while in_flight > 0 {
            self.await_answers(recorder);
            while let Some((slot, answer)) = self.answered.pop() {
                let Then::Finished(answer) = self.slots[slot].answered(answer) else { continue };
                recorder.done_since(self.slots[slot].started_ns(), answer);
                in_flight -= usize::from(!self.rename_next(slot, &mut rotations[slot], share, recorder));
            }
        }
        self.leave_directories(share);
    }

    /// Begins the next rename of a rotation; returns whether one was left. A rename whose directory could not be
    /// opened has failed without being begun, and the next has its turn.
    fn rename_next(
        &mut self,
        slot: usize,
        rotation: &mut Rotation,
        share: &Share<'_>,
        recorder: &mut Recorder<'_>,
    ) -> bool {
        for renaming in rotation {
            self.slots[slot].point_from_to(renaming, share, &mut self.directories);
            let now_ns = recorder.now_ns();
            match self.slots[slot].begin_rename(now_ns) {
                Then::Submit(entry) => {
                    self.submit(slot, entry);
                    return true;
                }
                Then::Finished(answer) => recorder.done_since(now_ns, answer),
            }
        }
        false
    }

    fn submit_or_finish(&mut self, slot: usize, then: Then, recorder: &mut Recorder<'_>) {
        match then {
            Then::Submit(entry) => self.submit(slot, entry),
            Then::Finished(answer) => {
                recorder.done_since(self.slots[slot].started_ns(), answer);
                self.free.push(slot);
            }
        }
    }

    fn submit(&mut self, slot: usize, entry: Entry) {
        // SAFETY: names and buffers belong to the slot, which does not touch them before this is answered, and
        // whose memory outlives the ring's work because every run ends only when nothing is in flight.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(slot as u64)) };
        pushed.expect("the queue has room for one entry of every slot");
    }

    fn none_in_flight(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Sleeps until at least one answer is there, and collects all that are.
    fn await_answers(&mut self, recorder: &mut Recorder<'_>) {
        while let Err(error) = self.ring.submit_and_wait(1) {
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EBUSY) => break, // answers are waiting to be collected
                _ => panic!("a ring that was set up takes what it has room for: {error}"),
            }
        }
        recorder.now_ns();
        let answers = self.ring.completion().map(|answer| (answer.user_data() as usize, answer.result()));
        self.answered.extend(answers);
    }

    fn leave_directories(&mut self, share: &Share<'_>) {
        self.slots.iter_mut().for_each(|slot| slot.leave(share, &mut self.directories));
    }
}

/// What becomes of an operation.
pub enum Then {
    Submit(Entry),
    Finished(Result<(), Failure>),
}

fn build(iodepth: u32) -> std::io::Result<IoUring> {
    // One process submits and reaps: the kernel may leave its part of a completion to the moment at which that
    // process looks (Linux 6.1). Older kernels do without.
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(iodepth)
        .or_else(|_| IoUring::new(iodepth))?;
    ring.submitter().register_iowq_max_workers(&mut [iodepth, iodepth])?;
    Ok(ring)
}

fn check_operations(ring: &IoUring) -> Result<(), Refusal> {
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe);
    let needed = [
        opcode::OpenAt::CODE,
        opcode::Close::CODE,
        opcode::Statx::CODE,
        opcode::MkDirAt::CODE,
        opcode::UnlinkAt::CODE,
        opcode::RenameAt::CODE,
    ];
    let known = probed.is_ok() && needed.iter().all(|&code| probe.is_supported(code));
    Refusal::unless(known, || {
        "io_uring of this kernel lacks metadata operations (Linux 5.15 has them): set driver to \"calls\""
            .to_owned()
    })
}
