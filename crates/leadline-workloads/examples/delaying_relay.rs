//! A relay for TCP that keeps every byte for a fixed time: a server far away, on a machine whose kernel has no netem.
//!
//! `delaying_relay LISTEN FORWARD DELAY_MICROSECONDS`, each way. What is under way does not wait for what went before
//! it, so the link has latency and no other limit. benchmarks/metadata_depth.py puts it between JuiceFS and its Redis.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{channel, Receiver};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use leadline_workloads::clock::wake_this_thread_on_time;

/// Bytes, and when they have arrived.
type Parcel = (Instant, Vec<u8>);

/// One direction of one connection, until its sender has nothing more to say.
fn carry(mut from: TcpStream, to: TcpStream, delay: Duration) {
    let (sender, receiver) = channel();
    spawn(move || deliver(&receiver, to));
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
            break;
        }
    }
}

fn deliver(parcels: &Receiver<Parcel>, mut to: TcpStream) {
    wake_this_thread_on_time();
    for (due, bytes) in parcels {
        sleep(due.saturating_duration_since(Instant::now()));
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let delay = Duration::from_micros(arguments[3].parse().expect("DELAY_MICROSECONDS is a number"));
    for near in TcpListener::bind(&arguments[1])?.incoming() {
        let near = near?;
        let far = TcpStream::connect(&arguments[2])?;
        near.set_nodelay(true)?;
        far.set_nodelay(true)?;
        let (near_too, far_too) = (near.try_clone()?, far.try_clone()?);
        spawn(move || carry(near, far, delay));
        spawn(move || carry(far_too, near_too, delay));
    }
    Ok(())
}
