//! What a supervisor observed, written so that a reader finds all of it or nothing.

use std::fs;
use std::path::{Path, PathBuf};

use leadline_workloads::clock::Moment;
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeVal;
use schemars::JsonSchema;
use serde::Serialize;

/// How one command ran and ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Supervision {
    /// Null when a signal ended the command.
    pub exit_code: Option<u8>,
    /// Number of the signal that ended the command, null when it exited.
    pub signal: Option<u8>,
    /// The hard timeout passed, and everything was killed.
    pub timed_out: bool,
    /// Somebody asked the command to stop, or its parent died.
    pub interrupted: bool,
    /// Just before the command was started.
    #[serde(flatten)]
    pub start: Moment,
    /// From the start to the end of the command itself, without what it left behind.
    pub wall_ns: u64,
    #[serde(flatten)]
    pub resources: Resources,
    /// Processes that were alive when the command had ended or had to, and were killed; the command itself
    /// included.
    pub killed_descendants: u64,
    /// Processes that did not die of SIGKILL in ten seconds, because they hang in the kernel or belong to
    /// another user. Not zero: this host needs attention.
    pub surviving_descendants: u64,
}

impl Supervision {
    /// It was held back until there was no use in starting it any more.
    pub fn of_a_command_never_started() -> nix::Result<Self> {
        Ok(Self {
            exit_code: None,
            signal: None,
            timed_out: false,
            interrupted: true,
            start: Moment::now(),
            wall_ns: 0,
            resources: Resources::of_reaped_children()?,
            killed_descendants: 0,
            surviving_descendants: 0,
        })
    }
}

/// What the command and all its descendants used (getrusage(2), RUSAGE_CHILDREN). All of them are in it,
/// because all of them were reaped: by their parents or, as orphans, by the supervisor.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Resources {
    pub user_cpu_ns: u64,
    pub system_cpu_ns: u64,
    /// Of the largest single process.
    pub max_resident_bytes: u64,
    pub voluntary_context_switches: u64,
    pub involuntary_context_switches: u64,
}

impl Resources {
    pub fn of_reaped_children() -> nix::Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        Ok(Self {
            user_cpu_ns: nanoseconds(usage.user_time()),
            system_cpu_ns: nanoseconds(usage.system_time()),
            max_resident_bytes: usage.max_rss() as u64 * 1024, // Linux tells kibibytes
            voluntary_context_switches: usage.voluntary_context_switches() as u64,
            involuntary_context_switches: usage.involuntary_context_switches() as u64,
        })
    }
}

fn nanoseconds(time: TimeVal) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_usec() as u64 * 1000
}

/// Finds out before the command runs, not an hour later, that its report would have no place.
pub fn check_destination(path: Option<&Path>) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    if path.is_dir() {
        return Err(format!("the report cannot replace the directory {}: name a file", path.display()));
    }
    let partial = partial(path)?;
    fs::write(&partial, "")
        .and_then(|()| fs::remove_file(&partial))
        .map_err(|error| format!("the report cannot be written to {}: {error}", path.display()))
}

/// Renamed into place when complete: whoever kills us meanwhile leaves no half report. Not synced to the disk,
/// which may be the one under load; against a power failure the store protects.
pub fn write(path: Option<&Path>, supervision: &Supervision) -> Result<(), String> {
    let Some(path) = path else { return Ok(()) };
    let partial = partial(path)?;
    let text = serde_json::to_string(supervision).expect("a report is plain data") + "\n";
    fs::write(&partial, text)
        .and_then(|()| fs::rename(&partial, path))
        .map_err(|error| format!("the report could not be written to {}: {error}", path.display()))
}

/// In the same directory, because a rename does not cross filesystems.
fn partial(path: &Path) -> Result<PathBuf, String> {
    let name = path.file_name().ok_or_else(|| format!("--report {} names no file", path.display()))?;
    let name = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
    Ok(path.with_file_name(name))
}
