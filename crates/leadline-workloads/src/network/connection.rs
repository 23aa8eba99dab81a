//! The one connection of a test: listening, reaching, and what the kernel counted on it.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};

use crate::Refusal;

/// The other side has this long to come: both were let go together.
const PEER_WITHIN: Duration = Duration::from_secs(30);
const BETWEEN_TRIES: Duration = Duration::from_millis(50);
/// Longer than any retransmission that still ends well; a side that waits longer has lost the other.
const SILENT_AT_MOST: Duration = Duration::from_secs(30);

pub fn listen(address: SocketAddr) -> Result<TcpListener, Refusal> {
    TcpListener::bind(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            Refusal(format!("port {} is taken on {}: give another one", address.port(), address.ip()))
        }
        _ => Refusal(format!("{address} cannot be listened on: {error}")),
    })
}

pub fn accept(listener: &TcpListener) -> Result<TcpStream, Refusal> {
    let mut waiting = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(PEER_WITHIN).unwrap_or(PollTimeout::MAX);
    let ready = loop {
        match poll(&mut waiting, timeout) {
            Err(Errno::EINTR) => {} // stopped and continued
            told => break told.map_err(|error| Refusal(format!("poll failed: {error}")))?,
        }
    };
    Refusal::unless(ready > 0, || format!("no client came within {} s", PEER_WITHIN.as_secs()))?;
    let (stream, _) =
        listener.accept().map_err(|error| Refusal(format!("the client could not be accepted: {error}")))?;
    prepared(stream)
}

/// Tries again while nobody listens: the other side may still be on its way there.
pub fn reach(address: SocketAddr) -> Result<TcpStream, Refusal> {
    let begin = Instant::now();
    loop {
        match TcpStream::connect_timeout(&address, PEER_WITHIN) {
            Ok(stream) => return prepared(stream),
            Err(error)
                if error.kind() == ErrorKind::ConnectionRefused && begin.elapsed() < PEER_WITHIN / 4 =>
            {
                sleep(BETWEEN_TRIES);
            }
            Err(error) => {
                return Err(Refusal(format!(
                    "port {} of {} cannot be reached: {error}",
                    address.port(),
                    address.ip()
                )))
            }
        }
    }
}

fn prepared(stream: TcpStream) -> Result<TcpStream, Refusal> {
    stream
        .set_nodelay(true)
        .and_then(|()| stream.set_read_timeout(Some(SILENT_AT_MOST)))
        .and_then(|()| stream.set_write_timeout(Some(SILENT_AT_MOST)))
        .map_err(|error| Refusal(format!("the connection could not be set up: {error}")))?;
    Ok(stream)
}

/// As read(2), but made again where a stop and a continue broke it off, which they do to a socket with a time limit (signal(7)).
pub fn read_some(mut stream: &TcpStream, into: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match stream.read(into) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            told => return told,
        }
    }
}

/// Segments that this side sent again since the connection began, the ramp included; null where the kernel does not say (tcp(7),
/// TCP_INFO).
pub fn retransmitted_segments(stream: &TcpStream) -> Option<u64> {
    // SAFETY: all fields are integers, for which zeros are a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to a structure of that size.
    let answer = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    (answer == 0).then_some(u64::from(info.tcpi_total_retrans))
}
