//! Signals as events to wait for, instead of handlers that interrupt: they are blocked and read from a
//! signalfd(2), with a deadline, so that one thread can wait for everything at once. Orders on standard input,
//! where they are taken, are waited for in the same place.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::signal::{signal, SigHandler, SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;

use super::orders::Orders;

/// Sent to us by the kernel when the parent thread ends. A signal nobody else uses for anything here: a stray
/// one is harmless, for it is checked against getppid(2).
pub const PARENT_ENDED: Signal = Signal::SIGUSR2;

const WATCHED: [Signal; 5] = [Signal::SIGCHLD, Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, PARENT_ENDED];

/// What a signal means to the supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// One or more children ended: signals of one kind merge while they wait.
    ChildEnded,
    /// Somebody wants the command to stop.
    Interrupt,
    /// The command may start.
    Go,
    /// The command is answered: this line is for its standard input.
    Tell(Vec<u8>),
    /// Whoever gave orders is gone, or cannot reach us any more.
    OrdersEnded,
    /// The thread that started us ended, and perhaps its whole process.
    ParentThreadEnded,
}

/// The blocked signals of this process, and the orders that it takes.
pub struct Signals {
    signals: SignalFd,
    orders: Option<Orders>,
    arrived: VecDeque<Event>,
}

impl Signals {
    /// From here on, signals wait to be read.
    pub fn watch() -> nix::Result<Self> {
        // SAFETY: the default disposition runs no code of ours. An ignored SIGCHLD, which we may have
        // inherited, would make the kernel discard the exit codes of our children.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }?;
        let watched: SigSet = WATCHED.into_iter().collect();
        watched.thread_block()?;
        let signals = SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self { signals, orders: None, arrived: VecDeque::new() })
    }

    /// From here on, orders are events too.
    pub fn take(&mut self, orders: Orders) {
        self.orders = Some(orders);
    }

    /// The next event, or nothing once the deadline has passed; without a deadline, however long it takes.
    pub fn next_before(&mut self, deadline: impl Into<Option<Instant>>) -> io::Result<Option<Event>> {
        let deadline = deadline.into();
        loop {
            if let Some(arrived) = self.signals.read_signal()? {
                return Ok(Some(meaning(arrived.ssi_signo)));
            }
            if let Some(event) = self.arrived.pop_front() {
                return Ok(Some(event));
            }
            let left = deadline.map(|end| TimeSpec::from(end.saturating_duration_since(Instant::now())));
            match self.wait(left) {
                Ok(0) => return Ok(None),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.hear()?;
        }
    }

    fn wait(&self, left: Option<TimeSpec>) -> nix::Result<i32> {
        let signals = PollFd::new(self.signals.as_fd(), PollFlags::POLLIN);
        match &self.orders {
            Some(orders) => ppoll(&mut [signals, PollFd::new(orders.as_fd(), PollFlags::POLLIN)], left, None),
            None => ppoll(&mut [signals], left, None),
        }
    }

    /// Orders that have come, without waiting for any.
    fn hear(&mut self) -> io::Result<()> {
        let Some(orders) = &mut self.orders else { return Ok(()) };
        let events = orders.heard()?;
        if events.contains(&Event::OrdersEnded) {
            self.orders = None; // an input that has ended is always readable: waiting for it would spin
        }
        self.arrived.extend(events);
        Ok(())
    }
}

fn meaning(number: u32) -> Event {
    match Signal::try_from(number as i32) {
        Ok(Signal::SIGCHLD) => Event::ChildEnded,
        Ok(PARENT_ENDED) => Event::ParentThreadEnded,
        _ => Event::Interrupt,
    }
}
