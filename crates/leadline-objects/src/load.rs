//! A load on an object store: the same requests by several clients at once, one kind after the other.
//!
//! Each phase has one kind of request and begins when all clients are there. Its window is open for a fixed count (every
//! object once) or for a fixed time (the objects over and over); removing is always once each.
//!
//! Clients on other hosts are waited for before each phase, by the lines that all workloads share (metadata/company.rs).

use std::io::{self, BufReader};
use std::sync::atomic::AtomicBool;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use leadline_workloads::metadata::company::Company;
use leadline_workloads::{Refusal, Workload};
use opendal::Operator;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::client::Client;
use crate::content::Content;
use crate::names::is_folder;
use crate::outcome::{ObjectLoadOutcome, ObjectPhase, Operation};
use crate::phase::{keep_company, run_phases, Phase, Shared};
use crate::refuse_unless;
use crate::store::Store;

const MOST_CONCURRENCY: u32 = 4096;
const MOST_CLIENTS: u32 = 256;
/// Objects are put from memory and got into it, one for each request in flight.
const LARGEST_OBJECT_BYTES: u64 = 1 << 30;
const MOST_OBJECTS: u64 = 1 << 32;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectLoad {
    pub store: Store,
    /// A folder of leadline's own, claimed before.
    pub folder: String,
    pub object_size_bytes: u64,
    /// How many different objects there are; no fewer than requests in flight where `runtime_ns` is given.
    pub objects: u64,
    /// Requests in flight, over all clients.
    pub concurrency: u32,
    /// Client instances: threads with connections of their own, among which the requests are divided.
    #[serde(default = "one")]
    pub clients: u32,
    /// Puts are uploads in parts of this size.
    #[serde(default)]
    pub part_size_bytes: Option<u64>,
    #[serde(default = "all")]
    pub operations: Vec<Operation>,
    /// How long phases that do not remove last; when absent, every object is asked for once.
    #[serde(default)]
    pub runtime_ns: Option<u64>,
    /// Listings in a phase of fixed count; when absent, ten, or one for each request in flight.
    #[serde(default)]
    pub listings: Option<u64>,
    /// How often a request that failed for the moment is made again.
    #[serde(default)]
    pub retries: u32,
    /// After which a request counts as failed.
    #[serde(default = "minute")]
    pub timeout_ns: u64,
    #[serde(default)]
    pub seed: u64,
    /// Whether hosts elsewhere take part: each phase then begins at a line on standard input.
    #[serde(default)]
    pub external_barriers: bool,
}

fn one() -> u32 {
    1
}

fn all() -> Vec<Operation> {
    Operation::ALL.to_vec()
}

fn minute() -> u64 {
    60_000_000_000
}

impl Workload for ObjectLoad {
    type Outcome = ObjectLoadOutcome;

    fn perform(&self) -> Result<ObjectLoadOutcome, Refusal> {
        self.check()?;
        let content = Content::new(self.object_size_bytes, self.seed);
        let clients = (0..self.clients)
            .map(|_| self.store.operator().map(|operator| self.client(operator, content.clone())))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(ObjectLoadOutcome {
            scheme: self.store.scheme.clone(),
            object_size_bytes: self.object_size_bytes,
            objects: self.objects,
            part_size_bytes: self.part_size_bytes,
            concurrency: self.concurrency,
            clients: self.clients,
            phases: self.all_phases(clients)?,
        })
    }
}

impl ObjectLoad {
    fn client(&self, operator: Operator, content: Content) -> Client {
        Client {
            operator,
            folder: self.folder.clone(),
            content,
            object_size_bytes: self.object_size_bytes,
            part_size_bytes: self.part_size_bytes,
            timeout: Duration::from_nanos(self.timeout_ns),
        }
    }

    fn all_phases(&self, clients: Vec<Client>) -> Result<Vec<ObjectPhase>, Refusal> {
        let phases: Vec<Phase> = self.operations.iter().map(|&operation| self.phase(operation)).collect();
        let shared = Shared {
            phases,
            retries: self.retries,
            barrier: Barrier::new(clients.len() + usize::from(self.external_barriers)),
            made: self.objects.into(),
            has_company: self.external_barriers,
            given_up: AtomicBool::new(false),
        };
        let mut met = Ok(());
        let shares: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = clients
                .into_iter()
                .zip(0..)
                .map(|(client, number)| {
                    let (shared, workers) = (&shared, self.workers_of(number));
                    scope.spawn(move || run_phases(shared, &client, workers))
                })
                .collect();
            if self.external_barriers {
                let (mut answers, mut questions) = (BufReader::new(io::stdin()), io::stdout());
                let company = Company { answers: &mut answers, questions: &mut questions };
                met = keep_company(&shared, company);
            }
            running.into_iter().map(|thread| thread.join().expect("timed work does not panic")).collect()
        });
        met?;
        let shares = shares.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(ObjectPhase::merge(&shared.phases, shares))
    }

    fn phase(&self, operation: Operation) -> Phase {
        let once_each = operation == Operation::Delete || self.runtime_ns.is_none();
        let count = match operation {
            Operation::List => self.listings.unwrap_or(u64::from(self.concurrency).max(10)),
            _ => self.objects,
        };
        Phase::new(operation, self.objects, once_each.then_some(count), self.runtime_ns)
    }

    /// Requests in flight of one client: as even as can be.
    fn workers_of(&self, client: u32) -> u32 {
        self.concurrency / self.clients + u32::from(client < self.concurrency % self.clients)
    }

    fn check(&self) -> Result<(), Refusal> {
        refuse_unless(is_folder(&self.folder), || {
            format!("folder is {:?}: it is not one of leadline's own", self.folder)
        })?;
        refuse_unless((1..=LARGEST_OBJECT_BYTES).contains(&self.object_size_bytes), || {
            format!("object_size_bytes is {}: give a size from 1 byte to 1 GiB", self.object_size_bytes)
        })?;
        refuse_unless((1..=MOST_OBJECTS).contains(&self.objects), || {
            format!("objects is {}: give a number from 1 to {MOST_OBJECTS}", self.objects)
        })?;
        self.check_concurrency()?;
        refuse_unless(self.runtime_ns.is_none() || self.objects >= self.concurrency.into(), || {
            format!(
                "objects is {}, and {} requests are in flight: two at once would put one object; give at least {1}",
                self.objects, self.concurrency
            )
        })?;
        refuse_unless(self.part_size_bytes != Some(0), || "part_size_bytes is 0: give a size".to_owned())?;
        refuse_unless(self.runtime_ns != Some(0) && self.timeout_ns > 0, || {
            "runtime_ns or timeout_ns is 0: give a time".to_owned()
        })
    }

    fn check_concurrency(&self) -> Result<(), Refusal> {
        refuse_unless((1..=MOST_CONCURRENCY).contains(&self.concurrency), || {
            format!("concurrency is {}: give a number from 1 to {MOST_CONCURRENCY}", self.concurrency)
        })?;
        refuse_unless((1..=MOST_CLIENTS.min(self.concurrency)).contains(&self.clients), || {
            format!(
                "clients is {}: give a number from 1 to {MOST_CLIENTS}, and no more than concurrency",
                self.clients
            )
        })
    }
}
