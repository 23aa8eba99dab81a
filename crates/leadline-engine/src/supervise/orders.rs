//! Orders on standard input, one word a line, from a leadline that holds several commands back until all can start
//! together, or that is on another machine: there is no parent process whose death could be noticed there, but the
//! input ends when leadline, its ssh or the network connection ends.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::unistd::read;

use super::signals::Event;

/// Said on standard output once only the start of the command is left to do.
pub const READY: &str = "leadline-engine: ready";

/// Begins an order whose rest is for the command.
const TELL: &[u8] = b"tell ";

/// The reading side.
pub struct Orders {
    input: io::Stdin,
    unfinished: Vec<u8>,
}

impl Orders {
    /// Says that everything is ready.
    pub fn invite() -> io::Result<Self> {
        let mut output = io::stdout().lock();
        writeln!(output, "{READY}").and_then(|()| output.flush())?;
        Ok(Self { input: io::stdin(), unfinished: Vec::new() })
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// What has come since the last call; reads past the buffer of the standard library, which poll(2) cannot see into.
    pub fn heard(&mut self) -> io::Result<Vec<Event>> {
        let mut waiting = [PollFd::new(self.input.as_fd(), PollFlags::POLLIN)];
        if poll(&mut waiting, PollTimeout::ZERO)? == 0 {
            return Ok(Vec::new());
        }
        let mut buffer = [0; 256];
        match read(self.input.as_fd(), &mut buffer) {
            Ok(count) if count > 0 => Ok(self.orders_in(&buffer[..count])),
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(Vec::new()),
            _ => Ok(vec![Event::OrdersEnded]), // also an error: an input that cannot be read brings no order any more
        }
    }

    /// A word that we do not know is none of our business.
    fn orders_in(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.unfinished.extend_from_slice(bytes);
        let Some(end) = self.unfinished.iter().rposition(|&byte| byte == b'\n') else { return Vec::new() };
        let lines: Vec<u8> = self.unfinished.drain(..=end).collect();
        lines.split(|&byte| byte == b'\n').filter_map(order).collect()
    }
}

fn order(word: &[u8]) -> Option<Event> {
    match word {
        b"go" => Some(Event::Go),
        b"interrupt" => Some(Event::Interrupt),
        _ => word.strip_prefix(TELL).map(|line| Event::Tell([line, b"\n"].concat())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_count_once_their_line_is_complete() {
        let mut orders = Orders { input: io::stdin(), unfinished: Vec::new() };
        assert_eq!(orders.orders_in(b"g"), []);
        assert_eq!(orders.orders_in(b"o\nwhat\ninterr"), [Event::Go]);
        assert_eq!(orders.orders_in(b"upt\n"), [Event::Interrupt]);
        assert_eq!(orders.orders_in(b"tell go 3 17\ntell"), [Event::Tell(b"go 3 17\n".to_vec())]);
    }
}
