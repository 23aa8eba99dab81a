//! Where ranks wait for each other: memory that all processes of a step see, and a barrier in it that sleeps.
//!
//! MPI barriers spin, and with more ranks than cores they then measure each other instead of the filesystem. This
//! one waits in futex(2). Whoever meets brings a number and goes away with the greatest that anybody brought:
//! enough to agree on whether to go on, and on how many items the fastest rank has created.
//!
//! Where ranks of other hosts take part, the last to arrive here does not open the barrier itself but tells the
//! process that started the ranks, which asks the others (see `together.rs`).

use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use nix::libc;
use nix::sys::mman::{mmap_anonymous, munmap, MapFlags, ProtFlags};

use crate::clock::monotonic_ns;
use crate::Refusal;

/// What all ranks of this host share. All zeroes is its first state.
#[repr(C, align(64))]
struct Table {
    /// Grows by one each time the barrier opens; ranks sleep on it.
    generation: AtomicU32,
    arrived: AtomicU32,
    /// The greatest number brought to the meeting that is under way, and to the one before.
    greatest: AtomicU64,
    agreed: AtomicU64,
    opened_ns: AtomicU64,
    /// Ranks that have ended their part of the phase.
    finished: AtomicU32,
    /// The phase under way, as a rank counts them; for the sentence when one dies.
    phase: AtomicU32,
}

/// A rank's own line of the processor's cache: writing it must cost the others nothing.
#[repr(C, align(64))]
struct Progress(AtomicU64);

/// Memory shared by the ranks of one host and the process that started them.
pub struct Meeting {
    region: NonNull<libc::c_void>,
    ranks: u32,
}

// SAFETY: everything in the region is atomic, and the region lives until the value is dropped.
unsafe impl Sync for Meeting {}

impl Meeting {
    /// Must be made before the ranks are started.
    pub fn new(ranks: u32) -> Result<Self, Refusal> {
        let bytes = NonZeroUsize::new(Self::bytes(ranks)).expect("a table takes room");
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no existing memory.
        let region = unsafe { mmap_anonymous(None, bytes, access, MapFlags::MAP_SHARED) };
        let region =
            region.map_err(|error| Refusal(format!("no memory for {ranks} ranks to share: {error}")))?;
        Ok(Self { region, ranks })
    }

    fn bytes(ranks: u32) -> usize {
        size_of::<Table>() + ranks as usize * size_of::<Progress>()
    }

    fn table(&self) -> &Table {
        // SAFETY: the region is page-aligned, begins with a table, and all zeroes is a valid one.
        unsafe { self.region.cast::<Table>().as_ref() }
    }

    /// How many operations of the phase under way each rank has completed.
    fn progresses(&self) -> &[Progress] {
        // SAFETY: behind the table, whose size is a multiple of the alignment, lie as many as there are ranks.
        unsafe {
            std::slice::from_raw_parts(
                self.region.cast::<Table>().add(1).cast().as_ptr(),
                self.ranks as usize,
            )
        }
    }

    /// The counter of one rank, by its place on this host.
    pub fn progress(&self, place: u32) -> &AtomicU64 {
        &self.progresses()[place as usize].0
    }

    /// Operations that all ranks of this host together have completed in the phase under way.
    pub fn operations(&self) -> u64 {
        self.progresses().iter().map(|progress| progress.0.load(Ordering::Relaxed)).sum()
    }

    /// Arrives without waiting. Returns the ticket to wait with, and whether this was the last of all ranks.
    pub fn arrive(&self, number: u64) -> (Ticket, bool) {
        let table = self.table();
        let ticket = Ticket(table.generation.load(Ordering::Acquire));
        table.greatest.fetch_max(number, Ordering::AcqRel);
        (ticket, table.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.ranks)
    }

    /// The greatest number that was brought here so far.
    pub fn greatest(&self) -> u64 {
        self.table().greatest.load(Ordering::Acquire)
    }

    /// Lets everybody go, with the number that was agreed on. Only when all have arrived.
    pub fn open(&self, agreed: u64) {
        let table = self.table();
        table.agreed.store(agreed, Ordering::Relaxed);
        table.greatest.store(0, Ordering::Relaxed);
        table.arrived.store(0, Ordering::Relaxed);
        table.finished.store(0, Ordering::Relaxed);
        table.opened_ns.store(monotonic_ns(), Ordering::Relaxed);
        table.generation.fetch_add(1, Ordering::Release);
        // SAFETY: the address is that of a live atomic; waking compares nothing and writes nothing.
        unsafe { libc::syscall(libc::SYS_futex, table.generation.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    /// Sleeps until the barrier opens; returns the number agreed on, and when it opened.
    pub fn wait(&self, ticket: Ticket) -> (u64, u64) {
        let table = self.table();
        while table.generation.load(Ordering::Acquire) == ticket.0 {
            // SAFETY: the address is that of a live atomic, and without a timeout no further pointer is read.
            // Whatever it answers (woken, changed before, a signal), the loop looks again.
            unsafe {
                let no_timeout = std::ptr::null::<libc::timespec>();
                libc::syscall(
                    libc::SYS_futex,
                    table.generation.as_ptr(),
                    libc::FUTEX_WAIT,
                    ticket.0,
                    no_timeout,
                )
            };
        }
        (table.agreed.load(Ordering::Relaxed), table.opened_ns.load(Ordering::Relaxed))
    }

    /// A rank has done its part of the phase; whether it is the first.
    pub fn finish(&self) -> bool {
        self.table().finished.fetch_add(1, Ordering::AcqRel) == 0
    }

    pub fn enter_phase(&self, number: u32) {
        self.table().phase.store(number, Ordering::Relaxed);
    }

    /// The phase that a rank has entered last.
    pub fn phase(&self) -> u32 {
        self.table().phase.load(Ordering::Relaxed)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // SAFETY: mapped with this size in `new`, and no reference outlives the value.
        let _ = unsafe { munmap(self.region, Self::bytes(self.ranks)) };
    }
}

/// Which opening of the barrier one waits for.
#[derive(Clone, Copy)]
pub struct Ticket(u32);

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn meet(meeting: &Meeting, number: u64) -> u64 {
        let (ticket, last) = meeting.arrive(number);
        if last {
            meeting.open(meeting.greatest());
        }
        meeting.wait(ticket).0
    }

    #[test]
    fn everybody_leaves_each_meeting_with_the_greatest_number_brought_to_it() {
        let meeting = Meeting::new(4).unwrap();
        thread::scope(|scope| {
            for place in 0..4u64 {
                let meeting = &meeting;
                scope.spawn(move || {
                    for round in 0..2000u64 {
                        let brought = (place + round) % 4 + round;
                        assert_eq!(meet(meeting, brought), round + 3);
                    }
                });
            }
        });
    }

    #[test]
    fn waiting_takes_no_processor_time() {
        let meeting = Meeting::new(2).unwrap();
        let used_ns = thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                meet(&meeting, 0);
                let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap();
                time.tv_sec() * 1_000_000_000 + time.tv_nsec()
            });
            thread::sleep(std::time::Duration::from_millis(200));
            meet(&meeting, 0);
            waiting.join().unwrap()
        });
        assert!(used_ns < 100_000_000, "{used_ns} ns of processor time in a wait of 200 ms");
    }

    #[test]
    fn the_first_to_finish_is_told_so_once_a_phase() {
        let meeting = Meeting::new(1).unwrap();
        for _ in 0..2 {
            assert_eq!([meeting.finish(), meeting.finish()], [true, false]);
            meet(&meeting, 0);
        }
    }
}
