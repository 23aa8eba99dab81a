//! What a simulation found.

use leadline_workloads::distribution::Distribution;
use schemars::JsonSchema;
use serde::Serialize;

/// Everything but the last four fields is of the window: the requests that count, after the warm-up.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SimulateOutcome {
    /// Requests that were answered.
    pub operations: u64,
    /// Requests whose chunks had too few copies or parts on nodes that answer.
    pub failed_operations: u64,
    /// Simulated time of the window.
    pub window_ns: f64,
    /// The share of it in which the first half of the requests was answered: 0.5 unless load or queues still change.
    pub first_half_share: f64,
    pub operations_per_second: f64,
    pub bytes_per_second: f64,
    /// Requests in flight, averaged over the time of the window.
    pub mean_in_flight: f64,
    /// From call to answer.
    pub latency: Distribution,
    /// Of reads alone where reads and writes are mixed; null elsewhere.
    pub read_latency: Option<Distribution>,
    /// Of writes alone where reads and writes are mixed; null elsewhere.
    pub write_latency: Option<Distribution>,
    pub resources: Vec<ResourceUse>,
    /// Bytes of all requests that were ever answered, warm-up and end included, as `carried` of the resources is.
    pub answered_bytes: u64,
    pub events: u64,
    /// Real time that the simulation took.
    pub wall_ns: u64,
    /// Resident memory of the process at most, null where the kernel does not say.
    pub peak_memory_bytes: Option<u64>,
}

/// All resources of one kind.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ResourceUse {
    pub name: String,
    /// How many there are, failed nodes left out.
    pub count: u64,
    /// Of what they can do: 1.0 is all of it. Of disks: of their fastest rate at any number of requests.
    pub mean_utilisation: f64,
    pub highest_utilisation: f64,
    /// Bytes through NICs and switch, requests through software and disks: over the whole simulation.
    pub carried: u64,
}
