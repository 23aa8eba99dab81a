//! What one side of a network test saw.

use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::{TimeVal, TimeValLike};
use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::Moment;
use crate::distribution::Distribution;

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NetworkOutcome {
    /// When the connection stood.
    #[serde(flatten)]
    pub start: Moment,
    /// Of the measured window on this side; 0 for a side that measures nothing.
    pub runtime_ns: u64,
    /// Client of a latency test: messages that went there and back inside the window.
    pub round_trips: u64,
    /// Client of a latency test: half of each round trip.
    pub latency: Option<Distribution>,
    /// Client of a latency test: round trips over time.
    pub series: Vec<RoundTrips>,
    /// Of a side that streams are sent to.
    pub received: Option<Received>,
    /// Of a side that sends a stream: everything, the ramp and the end included.
    pub sent_bytes: u64,
    /// TCP segments that this side sent again, from the first byte to the last; null where the kernel does not say.
    pub retransmitted_segments: Option<u64>,
    /// Processor time of this side, the ramp included.
    #[serde(flatten)]
    pub use_of_processor: Use,
}

/// Round trips that ended in this interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RoundTrips {
    /// Since the window began.
    pub end_ns: u64,
    pub round_trips: u64,
}

/// A stream as its receiver counted it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Received {
    /// Inside the window, which begins with the first byte after the ramp.
    pub bytes: u64,
    /// The window, or until the last byte where the stream ended before it.
    pub runtime_ns: u64,
    pub series: Vec<ReceivedInterval>,
}

/// Bytes that came in this interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReceivedInterval {
    /// Since the window began.
    pub end_ns: u64,
    pub bytes: u64,
}

/// Processor time of the whole process.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Use {
    pub user_ns: u64,
    pub system_ns: u64,
}

impl Use {
    pub fn now() -> Self {
        getrusage(UsageWho::RUSAGE_SELF).map_or_else(
            |_| Self::default(),
            |used| Self {
                user_ns: nanoseconds(used.user_time()),
                system_ns: nanoseconds(used.system_time()),
            },
        )
    }

    pub fn since(&self, before: &Self) -> Self {
        Self { user_ns: self.user_ns - before.user_ns, system_ns: self.system_ns - before.system_ns }
    }
}

fn nanoseconds(time: TimeVal) -> u64 {
    time.num_microseconds() as u64 * 1000
}

impl NetworkOutcome {
    /// Of a side that has seen nothing yet.
    pub fn nothing() -> Self {
        Self {
            start: Moment::now(),
            runtime_ns: 0,
            round_trips: 0,
            latency: None,
            series: Vec::new(),
            received: None,
            sent_bytes: 0,
            retransmitted_segments: None,
            use_of_processor: Use::default(),
        }
    }
}
