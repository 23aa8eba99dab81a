//! What all clients of a load did, in the words of the seam.

use leadline_workloads::clock::Moment;
use leadline_workloads::distribution::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failures::FailureCount;

/// What a phase does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Put,
    Get,
    Head,
    /// One listing of all objects of the load.
    List,
    Delete,
}

impl Operation {
    /// A store's objects as a life: made, read, looked at, removed.
    pub const ALL: [Self; 5] = [Self::Put, Self::Get, Self::Head, Self::List, Self::Delete];
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObjectLoadOutcome {
    /// opendal's name of the service.
    pub scheme: String,
    pub object_size_bytes: u64,
    pub objects: u64,
    pub part_size_bytes: Option<u64>,
    pub concurrency: u32,
    pub clients: u32,
    /// In the order in which they ran; nothing else ran meanwhile.
    pub phases: Vec<ObjectPhase>,
}

/// One operation by all clients at once.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ObjectPhase {
    pub operation: Operation,
    #[serde(flatten)]
    pub start: Moment,
    /// Requests that were to be made; null for a phase of fixed time.
    pub planned: Option<u64>,
    /// From the start until the last request had ended.
    pub runtime_ns: u64,
    /// Processor time of this whole process meanwhile: what the requests cost their client.
    pub user_ns: u64,
    pub system_ns: u64,
    /// Objects that the listings named, all together.
    pub listed_objects: u64,
    pub clients: Vec<ClientShare>,
    /// Of a phase of fixed time: what had ended since the interval before.
    pub series: Vec<RequestInterval>,
}

/// What one client instance did in a phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClientShare {
    /// Number of the instance, from 0.
    pub client: u32,
    /// Successful ones.
    pub operations: u64,
    pub size_bytes: u64,
    pub failed: u64,
    /// Requests made again after a failure; their time is in the latency of the operation.
    pub retried: u64,
    /// When its last request had ended, since the start of the phase.
    pub ended_ns: u64,
    /// Processor time of its thread.
    pub busy_ns: u64,
    /// Of the successful ones, from the call until the last byte was there.
    pub latency: Distribution,
    pub errors: Vec<FailureCount>,
}

/// Requests that ended since the end of the interval before.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RequestInterval {
    pub end_ns: u64,
    pub operations: u64,
    pub size_bytes: u64,
}
