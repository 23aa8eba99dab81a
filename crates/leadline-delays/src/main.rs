//! A directory mounted elsewhere by FUSE, with cache times that are known: what the tests measure delays against.
//!
//! Where this stands in the flow: nowhere; tests/targets/test_known_delays.py mounts one directory twice by it and lets
//! `leadline consistency` find the times again. The kernel caches names and attributes as long as it is told, as it
//! does for every filesystem in user space, and places appends at the size that it has cached, so that a client that
//! has not heard of another's record writes over it.
//!
//! It ends when it is unmounted. Killed, it leaves a dead mount, which `umount -l` takes away.

mod names;
mod passthrough;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use fuser::{Config, MountOption, SessionACL};

use crate::names::Times;
use crate::passthrough::Passthrough;

/// Mounts a directory with known cache times.
#[derive(Parser)]
struct Arguments {
    /// What is shown.
    directory: PathBuf,
    /// Where.
    mountpoint: PathBuf,
    /// How long the kernel may believe that a name leads where it led, in seconds.
    #[arg(long, default_value_t = 0.0)]
    entry_seconds: f64,
    /// How long it may believe attributes and the size.
    #[arg(long, default_value_t = 0.0)]
    attribute_seconds: f64,
    /// How long it may believe that a name does not exist.
    #[arg(long, default_value_t = 0.0)]
    negative_seconds: f64,
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let times = Times {
        entry: Duration::from_secs_f64(arguments.entry_seconds),
        attribute: Duration::from_secs_f64(arguments.attribute_seconds),
        negative: Duration::from_secs_f64(arguments.negative_seconds),
    };
    let source = MountOption::FSName("leadline-delays".to_string());
    let mut config = Config::default();
    config.mount_options = vec![source, MountOption::DefaultPermissions];
    config.acl = SessionACL::All;
    fuser::mount(Passthrough::of(&arguments.directory, times)?, &arguments.mountpoint, &config)
}
