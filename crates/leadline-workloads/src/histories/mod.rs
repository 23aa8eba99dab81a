//! One free-running client of many: workers that change and read small shared objects at random, and write down every operation.
//!
//! Where this stands in the flow: `leadline-engine run` performs one step of this workload on every mount at once;
//! whoever started them answers the barriers between making the objects, working on them, and the last looks. Each
//! client writes its records into a file of its own when all is over, and `leadline-engine check` judges the files together.
//!
//! [`flavour`] says what objects there are, [`objects`] which of them exist and when they are worked on, [`worker`]
//! is the life of a thread, [`recorder`] the buffer that it writes into, [`ending`] what an error means. [`content`]
//! is what lies in files; `whole_file`, `append_log`, `entry`, `name_pair`, `attribute`, `directory` and
//! `counter` are what can be done to objects.
//!
//! Nothing is scripted. That a client looks before another changes, which is what makes caches answer wrongly, comes from
//! the mix of actions alone: few objects at a time, and more looks than changes.

mod append_log;
mod attribute;
mod content;
mod counter;
mod directory;
mod ending;
mod entry;
pub mod flavour;
mod name_pair;
mod objects;
pub mod outcome;
mod recorder;
mod whole_file;
mod worker;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicU16;
use std::time::Duration;

use leadline_history::Moment;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock::{self, Clock, MonotonicClock};
use crate::metadata::company::Company;
use crate::together::start_together;
use crate::{Refusal, Workload};

use flavour::Flavour;
use objects::Objects;
use outcome::HistoriesOutcome;
use recorder::{Recorder, Work};
use worker::Worker;

/// Beyond it, the object numbers of a step would not fit what the checker was tried with.
const MOST_CLIENTS: u16 = 64;
const MOST_WORKERS: u16 = 256;

/// Changes and reads small shared objects at random with several workers, beside other clients that do the same.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Histories {
    /// Absolute path of an existing directory, the same one on every mount; empty before the first client makes the objects.
    pub directory: PathBuf,
    /// File on a local disk that the records are written to when all is over.
    pub history: PathBuf,
    /// Which client this is, from 0. The first one makes the objects. A witness has the number after the last.
    pub client: u16,
    /// How many clients change objects.
    pub clients: u16,
    /// Threads of this client.
    pub workers: u16,
    /// Only look at every object once, as a client that has looked at nothing before: the final state.
    #[serde(default)]
    pub witness: bool,
    /// How long objects are changed.
    pub runtime_ns: u64,
    /// The rest after the last change, before everybody looks again: twice the longest cache time, or more.
    #[serde(default)]
    pub settle_ns: u64,
    /// What sorts of objects; none named: all.
    #[serde(default)]
    pub flavours: Vec<Flavour>,
    /// Objects of each sort that are worked on at a time.
    #[serde(default = "two")]
    pub objects_at_a_time: u32,
    /// After so long, other objects are worked on.
    #[serde(default = "slot")]
    pub slot_ns: u64,
    /// How long a worker rests between two operations, on average; the rests are drawn at random.
    #[serde(default = "rest")]
    pub rest_ns: u64,
    /// Bytes of a register and of a whole file, a multiple of 16. Longer ones are torn under a concurrent read even by ext4,
    /// which does not lock readers out.
    #[serde(default = "block")]
    pub block_size_bytes: u32,
    /// Whether other clients are waited for: `barrier NUMBER GREATEST` is then written to standard output, and
    /// `go NUMBER GREATEST` read from standard input.
    #[serde(default)]
    pub external_barriers: bool,
    /// Which run the records are of.
    #[serde(default)]
    pub run: u32,
    /// What has to be added to this host's clock to get the clock of the run.
    #[serde(default)]
    pub clock_offset_ns: i64,
    /// How far the result may be off; 0 on the host that keeps the clock.
    #[serde(default)]
    pub clock_error_ns: u32,
    /// Decides what is done to which object, and when.
    #[serde(default)]
    pub seed: u64,
}

fn two() -> u32 {
    2
}

fn slot() -> u64 {
    2_500_000_000
}

fn rest() -> u64 {
    1_000_000
}

fn block() -> u32 {
    64
}

impl Workload for Histories {
    type Outcome = HistoriesOutcome;

    fn perform(&self) -> Result<HistoriesOutcome, Refusal> {
        self.check()?;
        clock::wake_this_thread_on_time();
        let objects = Objects::of(self);
        let work = if self.witness { self.look(&objects, Moment::Final)? } else { self.take_part(&objects)? };
        work.write(self)?;
        Ok(HistoriesOutcome::of(self, &objects, &work))
    }
}

impl Histories {
    fn check(&self) -> Result<(), Refusal> {
        let directory = self.directory.display();
        Refusal::unless(self.directory.is_absolute() && self.directory.is_dir(), || {
            format!("directory {directory} is no directory with an absolute path")
        })?;
        Refusal::unless((1..=MOST_WORKERS).contains(&self.workers), || {
            format!("workers must be 1 to {MOST_WORKERS}, and is {}", self.workers)
        })?;
        Refusal::unless((1..=MOST_CLIENTS).contains(&self.clients), || {
            format!("clients must be 1 to {MOST_CLIENTS}, and is {}", self.clients)
        })?;
        let (own, all) = (self.client, self.clients);
        Refusal::unless(self.witness == (own == all) && own <= all, || {
            format!("client {own} of {all} does not exist: numbers begin at 0, and only the witness has the number {all}")
        })?;
        let size = self.block_size_bytes;
        Refusal::unless(
            size % content::UNIT_BYTES == 0 && (content::UNIT_BYTES..=1 << 20).contains(&size),
            || {
                format!(
                    "block_size_bytes must be a multiple of {} up to 1 MiB, and is {size}",
                    content::UNIT_BYTES
                )
            },
        )?;
        Refusal::unless(self.slot_ns > 0 && self.objects_at_a_time > 0 && self.rest_ns > 0, || {
            "slot_ns, rest_ns and objects_at_a_time must be above 0".to_owned()
        })
    }

    /// Makes the objects (the first client), works on them, waits until caches have expired, and looks at all of them.
    fn take_part(&self, objects: &Objects) -> Result<Work, Refusal> {
        let (mut answers, mut questions) = (io::stdin().lock(), io::stdout());
        let mut company =
            self.external_barriers.then_some(Company { answers: &mut answers, questions: &mut questions });
        let mut meet = |number| company.as_mut().map_or(Ok(0), |company| company.meet(number, 0));
        let mut work = if self.client == 0 { self.make(objects)? } else { Work::default() };
        meet(0)?;
        work.join(self.change(objects)?);
        meet(1)?;
        std::thread::sleep(Duration::from_nanos(self.settle_ns));
        work.join(self.look(objects, Moment::Settled)?);
        Ok(work)
    }

    /// What is there before anybody else looks is written down like everything else.
    fn make(&self, objects: &Objects) -> Result<Work, Refusal> {
        let maker = self.workers; // a number of its own, since the other threads begin to count values anew
        let next_worker = AtomicU16::new(maker + 1);
        let recorder =
            Recorder::new(self, maker, &next_worker, Moment::During, objects.all().len() as u64 + 1);
        let mut worker = Worker::new(self, objects, maker, recorder);
        worker.make_all()?;
        Ok(worker.work())
    }

    fn change(&self, objects: &Objects) -> Result<Work, Refusal> {
        let next_worker = AtomicU16::new(self.workers + 1);
        // A rest is at least a third of its average (Worker::rest), so that no worker can do more than this.
        let most = 3 * (self.runtime_ns / self.rest_ns) + 1;
        let prepare = |thread: u32| {
            clock::wake_this_thread_on_time();
            let thread = thread as u16;
            let recorder = Recorder::new(self, thread, &next_worker, Moment::During, most);
            Worker::new(self, objects, thread, recorder)
        };
        let work = |mut worker: Worker, clock: MonotonicClock| {
            worker.change_until(&clock, clock.now_ns() + self.runtime_ns);
            worker.work()
        };
        start_together(u32::from(self.workers), prepare, work).map(|(parts, _)| Work::of(parts))
    }

    /// Looks at every object, once.
    fn look(&self, objects: &Objects, moment: Moment) -> Result<Work, Refusal> {
        let next_worker = AtomicU16::new(self.workers + 1);
        let each = 2 * objects.all().len() as u64 / u64::from(self.workers) + 2;
        let prepare = |thread: u32| {
            let recorder = Recorder::new(self, thread as u16, &next_worker, moment, each);
            Worker::new(self, objects, thread as u16, recorder)
        };
        let work = |mut worker: Worker, _| {
            worker.look_at_own_share();
            worker.work()
        };
        start_together(u32::from(self.workers), prepare, work).map(|(parts, _)| Work::of(parts))
    }
}
