//! What calls answered, and when it was seen.

use std::io;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

/// What an application would have learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What was asked for, in words; nothing for calls that only succeed.
    Value(String),
    /// The name of the error.
    Failed(String),
}

impl Answer {
    pub fn of(outcome: io::Result<String>) -> Self {
        match outcome {
            Ok(value) => Self::Value(value),
            Err(error) => Self::Failed(name(&error)),
        }
    }
}

fn name(error: &io::Error) -> String {
    match error.raw_os_error().map(|number| (number, Errno::from_raw(number))) {
        Some((number, Errno::UnknownErrno)) => format!("E{number}"),
        Some((_, known)) => format!("{known:?}"),
        None => error.to_string(),
    }
}

/// One answer, for as long as it stayed the same.
#[derive(Debug, Serialize)]
pub struct Sighting {
    pub answer: Answer,
    /// When the first round that gave it began and ended, on this host's CLOCK_MONOTONIC.
    pub start_ns: u64,
    pub end_ns: u64,
    /// When the last such round began: so long it was certainly seen.
    pub last_start_ns: u64,
    pub probes: u64,
}

/// What came of an instruction.
#[derive(Debug, Serialize)]
pub struct Reply {
    pub number: u64,
    /// When the instruction was understood: all that follows lies behind whatever was replied before it was sent.
    pub received_ns: u64,
    /// The answers in the order in which they came; never empty.
    pub sightings: Vec<Sighting>,
    /// Whether the last answer is the one that was waited for; true where none was.
    pub came: bool,
}
