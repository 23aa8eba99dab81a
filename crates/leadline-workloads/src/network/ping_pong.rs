//! One message in flight: there, back, and the next.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

use crate::distribution::DurationRecorder;
use crate::intervals::Intervals;
use crate::network::connection::read_some;
use crate::network::outcome::{NetworkOutcome, RoundTrips};
use crate::network::Network;

/// The client: sends, waits for the answer, and records half of the time between, once the ramp is over.
pub fn ask(connection: &TcpStream, step: &Network) -> Result<NetworkOutcome> {
    let mut message = vec![0x5a; step.message_size()];
    let mut recorder = DurationRecorder::new();
    let mut intervals = Intervals::over(step.runtime_ns);
    let origin = Instant::now();
    let now_ns = || origin.elapsed().as_nanos() as u64;
    let mut begin_ns = now_ns();
    while begin_ns < step.ramp_ns {
        go_there_and_back(connection, &mut message)?;
        begin_ns = now_ns();
    }
    let window_ns = begin_ns;
    while begin_ns - window_ns < step.runtime_ns {
        go_there_and_back(connection, &mut message)?;
        let end_ns = now_ns();
        recorder.record((end_ns - begin_ns) / 2);
        intervals.add(end_ns - window_ns, 1);
        begin_ns = end_ns;
    }
    connection.shutdown(Shutdown::Write)?;
    Ok(NetworkOutcome {
        runtime_ns: begin_ns - window_ns,
        round_trips: recorder.count(),
        latency: Some(recorder.distribution()),
        series: intervals
            .ends_and_totals()
            .map(|(end_ns, round_trips)| RoundTrips { end_ns, round_trips })
            .collect(),
        ..NetworkOutcome::nothing()
    })
}

#[inline]
fn go_there_and_back(mut connection: &TcpStream, message: &mut [u8]) -> Result<()> {
    connection.write_all(message)?;
    connection.read_exact(message)
}

/// The server: sends every message back when it is there as a whole, until the client has no more.
pub fn answer(mut connection: &TcpStream, step: &Network) -> Result<NetworkOutcome> {
    let mut message = vec![0; step.message_size()];
    while read_whole(connection, &mut message)? {
        connection.write_all(&message)?;
    }
    Ok(NetworkOutcome::nothing())
}

/// False at the end of the stream, which comes between two messages.
fn read_whole(connection: &TcpStream, message: &mut [u8]) -> Result<bool> {
    let mut there = 0;
    while there < message.len() {
        match read_some(connection, &mut message[there..])? {
            0 if there == 0 => return Ok(false),
            0 => return Err(Error::new(ErrorKind::UnexpectedEof, "it ended in the midst of a message")),
            more => there += more,
        }
    }
    Ok(true)
}
