//! Signals as events to wait for, instead of handlers that interrupt: they are blocked and read from a
//! signalfd(2), with a deadline, so that one thread can wait for everything at once.

use std::os::fd::AsFd;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::signal::{signal, SigHandler, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;

/// Sent to us by the kernel when the parent thread ends. A signal nobody else uses for anything here: a stray
/// one is harmless, for it is checked against getppid(2).
pub const PARENT_ENDED: Signal = Signal::SIGUSR2;

const WATCHED: [Signal; 5] = [Signal::SIGCHLD, Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, PARENT_ENDED];

/// What a signal means to the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// One or more children ended: signals of one kind merge while they wait.
    ChildEnded,
    /// Somebody wants the command to stop.
    Interrupt,
    /// The thread that started us ended, and perhaps its whole process.
    ParentThreadEnded,
}

/// The blocked signals of this process.
pub struct Signals(SignalFd);

impl Signals {
    /// From here on, signals wait to be read.
    pub fn watch() -> nix::Result<Self> {
        // SAFETY: the default disposition runs no code of ours. An ignored SIGCHLD, which we may have
        // inherited, would make the kernel discard the exit codes of our children.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }?;
        let watched: SigSet = WATCHED.into_iter().collect();
        watched.thread_block()?;
        SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map(Self)
    }

    /// The next event, or nothing once the deadline has passed.
    pub fn next_before(&self, deadline: Instant) -> nix::Result<Option<Event>> {
        loop {
            if let Some(arrived) = self.0.read_signal()? {
                return Ok(Some(meaning(arrived.ssi_signo)));
            }
            let left = TimeSpec::from(deadline.saturating_duration_since(Instant::now()));
            match ppoll(&mut [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)], Some(left), None) {
                Ok(0) => return Ok(None),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn meaning(number: u32) -> Event {
    match Signal::try_from(number as i32) {
        Ok(Signal::SIGCHLD) => Event::ChildEnded,
        Ok(PARENT_ENDED) => Event::ParentThreadEnded,
        _ => Event::Interrupt,
    }
}
