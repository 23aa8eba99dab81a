//! The metadata load: directories and files created, looked at, renamed and removed, with mdtest's meaning and names.
//!
//! A step is a sequence of phases. Ranks, which are processes, perform each phase on items of their own and wait
//! for each other in between. What mdtest gets wrong is done differently, and said where it is done: the clock is
//! monotonic, barriers sleep, trees are counted as they are, files are created with O_EXCL and read with O_RDONLY,
//! what an earlier run left behind is refused, and a failed operation is counted under its errno and in no rate.
//!
//! The parts, from the outside in: this module holds the step; [`plan`] checks it and works out what follows from
//! it; [`ground`] looks at what is in the directory already; [`ranks`] starts processes, which meet in [`meeting`]
//! (and through [`company`] with those of other hosts); [`rank`] is the life of one of them. [`phases`] says what is
//! done, [`tree`] and [`layout`] where, [`rotation`] and [`pointer`] to what; [`drive`] chooses between [`calls`],
//! one at a time, and [`ring`] with its [`slot`]s, many in flight. [`recorder`] and [`series`] write down what
//! happened by [`stopwatch`], [`counters`] what the filesystem counted meanwhile, and [`outcome`] adds it up.

pub mod calls;
pub mod company;
pub mod counters;
pub mod drive;
pub mod ground;
pub mod layout;
pub mod meeting;
pub mod outcome;
pub mod phases;
pub mod plan;
pub mod pointer;
pub mod rank;
pub mod ranks;
pub mod recorder;
pub mod ring;
pub mod rotation;
pub mod series;
pub mod slot;
pub mod stopwatch;
pub mod tree;
pub mod tree_work;

use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::clock::Moment;
use crate::{Refusal, Workload};

use company::Company;
use counters::Counters;
use drive::DriverName;
use ground::Leftovers;
use meeting::Meeting;
use outcome::MetadataOutcome;
use phases::Action;
use plan::Plan;
use pointer::Naming;
use rank::{live, RankReport};
use stopwatch::Pace;

/// Creates, looks at, renames and removes files and directories. mdtest's option is named where there is one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Absolute path of an existing directory (-d); everything is made in `test-dir.*` below it.
    pub directory: PathBuf,
    /// Processes on this host.
    pub ranks: u32,
    /// The number of the first rank of this host, where others take part.
    #[serde(default)]
    pub rank_offset: u32,
    /// Ranks on all hosts together; when absent, those of this host.
    #[serde(default)]
    pub ranks_total: Option<u32>,
    /// Whether the ranks of other hosts are waited for, too: `barrier NUMBER GREATEST` is then written to standard
    /// output at each barrier, and `go NUMBER GREATEST` read from standard input, with the greatest of all hosts.
    #[serde(default)]
    pub external_barriers: bool,
    /// Levels of directories below the root of a tree (-z).
    #[serde(default)]
    pub depth: u32,
    /// Children of each directory above the deepest level (-b).
    #[serde(default = "one")]
    pub branching_factor: u32,
    /// Items in each directory of a tree (-I).
    #[serde(default)]
    pub items_per_directory: Option<u64>,
    /// Items of each rank (-n), spread evenly over the directories: rounded down to a multiple of them. With
    /// `items_per_directory`: as many trees of one directory as it takes, one after the other.
    #[serde(default)]
    pub items_per_rank: Option<u64>,
    /// A tree for each rank instead of one for all (-u).
    #[serde(default)]
    pub unique_trees: bool,
    /// Items in the deepest directories only (-L).
    #[serde(default)]
    pub leaves_only: bool,
    /// How far the items of a rank are handed on from phase to phase, so that none works on what it has in its own
    /// caches (-N). Ranks of one host share theirs: across hosts, give the ranks of one host.
    #[serde(default)]
    pub rank_shift: u32,
    /// Whether there are items that are directories (off: -F).
    #[serde(default = "yes")]
    pub directories: bool,
    /// Whether there are items that are files (off: -D).
    #[serde(default = "yes")]
    pub files: bool,
    /// Which phases run (-C create, -T stat, -E read, -U rename, -r remove); none named: all.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// Bytes written to each file when it is created, in one call (-w).
    #[serde(default)]
    pub write_size_bytes: u64,
    /// Bytes read from each file when it is read, in one call (-e).
    #[serde(default)]
    pub read_size_bytes: u64,
    /// How often everything is done (-i).
    #[serde(default = "one")]
    pub iterations: u32,
    /// A rest before the phases on directories and again before those on files (-p).
    #[serde(default)]
    pub pause_ns: u64,
    /// Files are created for this long; then all ranks go on until they have as many as the fastest had (-W).
    #[serde(default)]
    pub stonewall_ns: Option<u64>,
    #[serde(default)]
    pub naming: Naming,
    #[serde(default)]
    pub driver: DriverName,
    /// Operations of each rank in flight; more than 1 only with io_uring.
    #[serde(default = "one")]
    pub iodepth: u32,
    /// Before items are looked at or read, everything is written back and this host's caches of names, attributes
    /// and pages are dropped (for all programs on it; root only).
    #[serde(default)]
    pub drop_caches: bool,
    /// What becomes of what an earlier run left where this one will work.
    #[serde(default)]
    pub leftovers: Leftovers,
    /// A text file in which the filesystem counts its requests, a line `name value` or `name: value` each; the first
    /// rank of this host reads it before and after each phase, outside of what is timed. What reading the file
    /// itself causes is measured at the start and taken off.
    #[serde(default)]
    pub counters_file: Option<PathBuf>,
    /// Of a file in sections, only the one whose first line holds this text.
    #[serde(default)]
    pub counters_section: Option<String>,
    /// Only counters whose names begin with one of these; none given: all that are whole numbers.
    #[serde(default)]
    pub counters_prefixes: Vec<String>,
    /// Decides the bytes that are written.
    #[serde(default)]
    pub seed: u64,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

impl Metadata {
    /// Ranks on all hosts together.
    pub fn all_ranks(&self) -> u32 {
        self.ranks_total.unwrap_or(self.ranks)
    }
}

impl Workload for Metadata {
    type Outcome = MetadataOutcome;

    fn perform(&self) -> Result<MetadataOutcome, Refusal> {
        let plan = Plan::of(self)?;
        ground::make_ready(self, &plan)?;
        let counters = Counters::of(self)?;
        let start = Moment::now();
        let reports = self.run_ranks(&plan, counters.as_ref())?;
        MetadataOutcome::merge(self, &plan, start, reports)
    }
}

impl Metadata {
    fn run_ranks(&self, plan: &Plan, counters: Option<&Counters>) -> Result<Vec<RankReport>, Refusal> {
        let meeting = Meeting::new(self.ranks)?;
        let pace = Pace::find();
        let (mut answers, mut questions) = (io::stdin().lock(), io::stdout());
        let company =
            self.external_barriers.then_some(Company { answers: &mut answers, questions: &mut questions });
        let phase = |number: u32| plan.phases[number as usize].to_string();
        ranks::run_ranks(self.ranks, &meeting, company, phase, |place, line| {
            let counters = counters.filter(|_| place == 0);
            live(self, plan, pace, counters, &meeting, place, line)
        })
    }
}
