//! `slow-disk`: mounts while whoever called still listens, then stays behind alone until it is unmounted.

use std::time::Duration;

use leadline_slow_disk::{Model, SlowDisk};

use crate::arguments::SlowDisk as Options;

/// Returns when it is unmounted, in a process of its own; the caller's has ended by then, at once after the mount.
pub fn show(options: &Options) -> Result<String, String> {
    let model = Model {
        latency: Duration::from_secs_f64(options.latency_seconds),
        channels: options.channels,
        channel_bandwidth_bytes_per_second: options.channel_bytes_per_second,
    };
    let (image, point) = (options.image.display(), options.point.display());
    let disk = SlowDisk::mount(&options.image, &options.point, model)
        .map_err(|error| format!("{image} could not be shown at {point}: {error}"))?;
    // Its own session, no folder in use, nothing to read from or to write to: daemon(3).
    nix::unistd::daemon(false, false).map_err(|error| format!("it could not stay behind: {error}"))?;
    disk.serve().map_err(|error| format!("{point} could not be served: {error}"))?;
    Ok(String::new())
}
