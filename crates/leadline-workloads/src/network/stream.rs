//! Messages without pause, counted where they arrive.

use std::io::{Result, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Instant;

use crate::intervals::Intervals;
use crate::network::connection::read_some;
use crate::network::outcome::{NetworkOutcome, Received, ReceivedInterval};
use crate::network::Network;

/// The receiver asks for this much at once, or for one message where that is more: small messages shall not cost it a call each.
const TAKEN_AT_ONCE_BYTES: usize = 256 * 1024;
/// The receiver's window begins later than the sender's, by a journey; the sender goes on for this much longer.
const EXTRA_NS: u64 = 50_000_000;

pub fn send_only(connection: &TcpStream, step: &Network) -> Result<NetworkOutcome> {
    let sent_bytes = send(connection, step)?;
    Ok(NetworkOutcome { sent_bytes, ..drained(connection)? })
}

pub fn receive_only(connection: &TcpStream, step: &Network) -> Result<NetworkOutcome> {
    let received = receive(connection, step)?;
    Ok(NetworkOutcome {
        runtime_ns: received.runtime_ns,
        received: Some(received),
        ..NetworkOutcome::nothing()
    })
}

/// One thread sends while another receives, on either side.
pub fn both(connection: &TcpStream, step: &Network) -> Result<NetworkOutcome> {
    thread::scope(|scope| {
        let sending = scope.spawn(|| send(connection, step));
        let received = receive(connection, step)?;
        let sent_bytes = sending.join().expect("a sender does not panic")?;
        Ok(NetworkOutcome {
            runtime_ns: received.runtime_ns,
            received: Some(received),
            sent_bytes,
            ..NetworkOutcome::nothing()
        })
    })
}

fn send(mut connection: &TcpStream, step: &Network) -> Result<u64> {
    let message = vec![0x5a; step.message_size()];
    let until_ns = step.ramp_ns + step.runtime_ns + EXTRA_NS;
    let begin = Instant::now();
    let mut sent_bytes = 0;
    while (begin.elapsed().as_nanos() as u64) < until_ns {
        connection.write_all(&message)?;
        sent_bytes += step.message_size_bytes;
    }
    connection.shutdown(Shutdown::Write)?;
    Ok(sent_bytes)
}

/// Waits until the receiver has taken everything and closed, so that what the kernel counted covers all of it.
fn drained(connection: &TcpStream) -> Result<NetworkOutcome> {
    let mut rest = [0; 64];
    while read_some(connection, &mut rest)? > 0 {}
    Ok(NetworkOutcome::nothing())
}

/// Takes everything until the sender has no more; counts what comes inside the window.
fn receive(connection: &TcpStream, step: &Network) -> Result<Received> {
    let mut taken = vec![0; TAKEN_AT_ONCE_BYTES.max(step.message_size())];
    let mut intervals = Intervals::over(step.runtime_ns);
    let mut window: Option<Instant> = None;
    let mut first: Option<Instant> = None;
    let (mut bytes, mut last_ns) = (0, 0);
    loop {
        let more = read_some(connection, &mut taken)? as u64;
        if more == 0 {
            break;
        }
        let now = Instant::now();
        let since_first_ns = now.duration_since(*first.get_or_insert(now)).as_nanos() as u64;
        if let Some(begin) = window {
            let at_ns = now.duration_since(begin).as_nanos() as u64;
            if at_ns < step.runtime_ns {
                bytes += more;
                last_ns = at_ns;
                intervals.add(at_ns, more);
            } else {
                last_ns = step.runtime_ns;
            }
        } else if since_first_ns >= step.ramp_ns {
            window = Some(now); // these bytes came in the time before it
        }
    }
    let series =
        intervals.ends_and_totals().map(|(end_ns, bytes)| ReceivedInterval { end_ns, bytes }).collect();
    Ok(Received { bytes, runtime_ns: last_ns, series })
}
