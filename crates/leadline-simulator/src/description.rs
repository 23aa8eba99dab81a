//! What is simulated: the fields of the step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cluster, what its clients ask of it, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    pub clients: Clients,
    pub network: Network,
    pub storage: Storage,
    pub layout: Layout,
    pub load: Load,
    #[serde(default)]
    pub trouble: Trouble,
}

/// Machines that ask.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    pub count: u32,
    /// What one client keeps in flight; not used when requests arrive at a rate.
    pub requests_in_flight: u32,
    /// Files that one client works on, each by a job of its own.
    #[serde(default = "one")]
    pub files: u32,
    /// Software time of a request that holds up no other.
    #[serde(default)]
    pub delay_ns: f64,
    /// What the software of one client passes on at most.
    #[serde(default)]
    pub most_requests_per_second: Option<f64>,
    pub nics: u32,
    /// Of one NIC, each way.
    pub nic_bytes_per_second: f64,
    #[serde(default)]
    pub writes_to_a_file: WritesToAFile,
}

/// What one client's writes to one file, and the chunks of one such write, do to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WritesToAFile {
    /// They are on their way together.
    #[default]
    SideBySide,
    /// Each waits until the one before is answered, and passes the client's software by itself.
    OneAtATime,
}

/// What lies between clients and storage nodes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Of an empty message, there and back.
    #[serde(default)]
    pub round_trip_ns: f64,
    /// What the switch carries in all; when absent, as much as comes.
    #[serde(default)]
    pub switch_bytes_per_second: Option<f64>,
    #[serde(default)]
    pub transfer: Transfer,
}

/// When the second NIC on the way begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transfer {
    /// With the first byte: packets of one message are on several links at a time.
    #[default]
    CutThrough,
    /// With the last byte, as queueing networks have it.
    StoreAndForward,
}

/// Machines that store.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    pub nodes: u32,
    pub disks_per_node: u32,
    pub nics: u32,
    /// Of one NIC, each way.
    pub nic_bytes_per_second: f64,
    /// Software time of a request at a node that holds up no other.
    #[serde(default)]
    pub delay_ns: f64,
    /// What the software of one node serves at most.
    #[serde(default)]
    pub most_requests_per_second: Option<f64>,
    /// `[requests on one disk, requests a second it then serves]`, of the size of one part; ascending, starting with 1.
    /// Of what `direction` says; where that is `mixed`, of reads alone.
    pub disk_rates: Vec<(u32, f64)>,
    /// The same of writes alone, with `mixed`.
    #[serde(default)]
    pub disk_write_rates: Vec<(u32, f64)>,
    #[serde(default)]
    pub service: Service,
    /// `[duration_ns, count]`, with `measured`: how one disk's service times spread; only their shape counts, because
    /// how long they are in the mean is what `disk_rates` say.
    #[serde(default)]
    pub service_times: Vec<(u64, u64)>,
}

/// How far service times of the same work differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// Not at all.
    #[default]
    Constant,
    /// Exponentially, at disks, NICs, switch and software: the textbook's case.
    Exponential,
    /// At disks as `service_times` say; elsewhere not at all.
    Measured,
}

/// Where bytes lie.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Files are cut into chunks of this; a request for more goes to several at once.
    pub chunk_bytes: u64,
    /// Groups of disks over which one file's chunks are spread; when absent, each chunk lies anywhere.
    #[serde(default)]
    pub stripe: Option<u32>,
    pub protection: Protection,
    pub writes: Writes,
    #[serde(default)]
    pub reads: Reads,
}

/// What makes data survive a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Protection {
    /// Whole copies on nodes of their own; 1 protects nothing.
    Replicas(u32),
    /// Parts, any `data` of which suffice.
    ErasureCode { data: u32, parity: u32 },
}

/// How copies or parts come to their nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// From node to node, each after it has written; acknowledged from the last back to the first.
    Chain,
    /// To the first node, which sends to all others while it writes. It also gathers the parts of an erasure code
    /// for readers.
    Primary,
    /// From the client to each.
    FanOut,
}

/// Which copies answer; of an erasure code always the first parts that suffice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reads {
    /// Each request's by chance.
    #[default]
    AnyCopy,
    /// Of a file always the same one, chosen by chance for each file.
    OneCopy,
}

/// What clients ask for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub direction: Way,
    /// With `mixed`: the chance of a request to read, 0 to 1. The others write.
    #[serde(default)]
    pub read_share: Option<f64>,
    /// Each request at a place of its own; otherwise every file from a place of its own on.
    pub random: bool,
    pub request_bytes: u64,
    /// Requests that count.
    pub operations: u64,
    /// Requests before them.
    pub warm_up_operations: u64,
    /// Requests of all clients arrive by chance at this rate, whatever is in flight. When absent, a request follows
    /// each answer.
    #[serde(default)]
    pub arrivals_per_second: Option<f64>,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Read,
    Write,
    /// Each request by chance, whatever the one before it did.
    Mixed,
}

/// Nodes that are not what they should be.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trouble {
    /// Nodes that do not answer: reads go to other copies, writes leave them out.
    pub failed_nodes: u32,
    /// Nodes whose disks, NICs and software take `straggler_factor` times as long.
    pub stragglers: u32,
    pub straggler_factor: f64,
}

impl Default for Trouble {
    fn default() -> Self {
        Self { failed_nodes: 0, stragglers: 0, straggler_factor: 1.0 }
    }
}

fn one() -> u32 {
    1
}

impl Load {
    /// The chance of a request to read.
    pub fn share_of_reads(&self) -> f64 {
        match self.direction {
            Way::Read => 1.0,
            Way::Write => 0.0,
            Way::Mixed => self.read_share.unwrap_or(0.5),
        }
    }
}

impl Protection {
    /// Disks that hold something of a chunk.
    pub fn width(self) -> u32 {
        match self {
            Self::Replicas(replicas) => replicas,
            Self::ErasureCode { data, parity } => data + parity,
        }
    }

    /// What one of them holds of so many bytes.
    pub fn part_bytes(self, bytes: u64) -> u64 {
        match self {
            Self::Replicas(_) => bytes,
            Self::ErasureCode { data, .. } => bytes.div_ceil(u64::from(data)),
        }
    }
}
