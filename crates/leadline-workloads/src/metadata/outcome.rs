//! What all ranks of this host did, phase by phase, in the words of the seam.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Moment;
use crate::distribution::Distribution;
use crate::failures::FailureCount;
use crate::metadata::counters::Counts;
use crate::metadata::drive::DriverName;
use crate::metadata::phases::{Action, Kind, Phase};
use crate::metadata::plan::Plan;
use crate::metadata::pointer::Naming;
use crate::metadata::rank::{PhaseRecord, RankReport};
use crate::metadata::series::Series;
use crate::metadata::Metadata;
use crate::Refusal;

/// The step as it was carried out on this host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MetadataOutcome {
    #[serde(flatten)]
    pub start: Moment,
    /// Ranks on this host; the first has the number `rank_offset` of `ranks_total`.
    pub ranks: u32,
    pub rank_offset: u32,
    pub ranks_total: u32,
    /// Directories of one tree, and how many of them hold items.
    pub directories_per_tree: u32,
    pub directories_with_items: u32,
    /// Trees in which one rank works in a single phase.
    pub trees: u32,
    pub items_per_directory: u64,
    /// Of each kind. Less than was asked for where that is not a multiple of the directories.
    pub items_per_rank: u64,
    /// In the order in which they ran.
    pub phases: Vec<PhaseOutcome>,
    /// Test directories that could not be removed at the end, because something in them could not.
    pub left_behind: Vec<String>,
}

/// One phase of one iteration.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PhaseOutcome {
    pub iteration: u32,
    pub kind: Kind,
    pub action: Action,
    /// Phases of different naming, driver or depth are different workloads. Trees are always made and removed
    /// by full paths, one call at a time.
    pub naming: Naming,
    pub driver: DriverName,
    pub iodepth: u32,
    /// When the barrier opened: all times below count from here.
    #[serde(flatten)]
    pub start: Moment,
    /// Operations that were to be done, by all ranks of this host.
    pub planned: u64,
    /// Those that succeeded. Only these are in rates, series and latencies.
    pub operations: u64,
    pub failed: u64,
    pub errors: Vec<FailureCount>,
    /// When the first rank had done its part: while all were at work. Null when there was nothing to do.
    pub first_done: Option<Progress>,
    /// When the last rank had. Its rate is mdtest's.
    pub last_done: Progress,
    /// When the time for creating files was up: sums over ranks, and when the last of them noticed.
    pub stonewall: Option<Progress>,
    pub series: Vec<CompletedInterval>,
    /// What the filesystem itself counted from before the phase to after it, by the names in `counters_file`; only
    /// what grew, and without what reading the file caused. Null when nothing was named or it could not be read.
    pub requests: Option<Counts>,
    pub ranks: Vec<RankOutcome>,
}

/// How far the ranks together were at some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    pub at_ns: u64,
    pub operations: u64,
    /// Null when nothing had succeeded.
    pub rate_per_second: Option<f64>,
}

/// Operations that ended, with success, since the end of the interval before. Intervals are a second long, or
/// shorter in a phase of less than two minutes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompletedInterval {
    pub end_ns: u64,
    pub operations: u64,
}

/// One rank in one phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RankOutcome {
    pub rank: u32,
    pub operations: u64,
    pub failed: u64,
    pub errors: Vec<FailureCount>,
    /// When it woke at the barrier, and when its last operation had ended.
    pub started_ns: u64,
    pub ended_ns: u64,
    /// Of one operation with all its calls, such as open and close. One call at a time: from the end of the one
    /// before, so with the few nanoseconds in which the next name is made. In io_uring: from its submission.
    pub latency: Distribution,
    /// Processor time of this rank's process, in user and in kernel mode.
    pub user_ns: u64,
    pub system_ns: u64,
}

impl Progress {
    pub fn new(at_ns: u64, operations: u64) -> Self {
        let rate_per_second = (at_ns > 0 && operations > 0).then(|| operations as f64 * 1e9 / at_ns as f64);
        Self { at_ns, operations, rate_per_second }
    }
}

impl MetadataOutcome {
    /// Refuses if a rank did.
    pub fn merge(
        step: &Metadata,
        plan: &Plan,
        start: Moment,
        reports: Vec<RankReport>,
    ) -> Result<Self, Refusal> {
        refuse_if_a_rank_did(&reports)?;
        let left_behind = reports.iter().flat_map(|report| report.left_behind.clone()).collect();
        let mut by_rank: Vec<_> = reports.into_iter().map(|report| report.phases.into_iter()).collect();
        let rounds = (0..step.iterations)
            .flat_map(|iteration| plan.phases.iter().map(move |&phase| (iteration, phase)));
        let phases = rounds
            .map(|(iteration, phase)| {
                let records =
                    by_rank.iter_mut().map(|rank| rank.next().expect("every rank was in every phase"));
                PhaseOutcome::merge(step, iteration, phase, start, records.collect())
            })
            .collect();
        Ok(Self {
            start,
            ranks: step.ranks,
            rank_offset: step.rank_offset,
            ranks_total: step.all_ranks(),
            directories_per_tree: plan.layout.tree.directories(),
            directories_with_items: plan.layout.holders(),
            trees: plan.layout.trees,
            items_per_directory: plan.layout.items_per_directory,
            items_per_rank: plan.layout.items_per_rank(),
            phases,
            left_behind,
        })
    }
}

fn refuse_if_a_rank_did(reports: &[RankReport]) -> Result<(), Refusal> {
    let refusals: Vec<&String> = reports.iter().filter_map(|report| report.refusal.as_ref()).collect();
    Refusal::unless(refusals.is_empty(), || {
        let elsewhere = || "another host refused the step: its own sentence says why".to_owned();
        refusals.into_iter().find(|sentence| !sentence.is_empty()).cloned().unwrap_or_else(elsewhere)
    })
}

impl PhaseOutcome {
    fn merge(
        step: &Metadata,
        iteration: u32,
        phase: Phase,
        start: Moment,
        records: Vec<PhaseRecord>,
    ) -> Self {
        let (naming, driver, iodepth) = match phase.kind {
            Kind::Tree => (Naming::FullPath, DriverName::Calls, 1),
            _ => (step.naming, step.driver, step.iodepth),
        };
        let opened_ns = records.iter().map(|record| record.opened_ns).max().unwrap_or(0);
        let end_ns = records.iter().map(|record| record.ended_ns).max().unwrap_or(0);
        let operations = records.iter().map(|record| record.latency.count).sum();
        let errors = sum_of_errors(&records);
        Self {
            iteration,
            kind: phase.kind,
            action: phase.action,
            naming,
            driver,
            iodepth,
            start: start.plus(opened_ns.saturating_sub(start.start_monotonic_ns)),
            planned: records.iter().map(|record| record.planned).sum(),
            operations,
            failed: errors.iter().map(|error| error.count).sum(),
            errors,
            first_done: records.iter().find_map(|record| record.first_done.clone()),
            last_done: Progress::new(end_ns, operations),
            stonewall: sum_of_stonewalls(&records),
            series: sum_of_series(&records, end_ns),
            requests: records.iter().find_map(|record| record.requests.clone()),
            ranks: records
                .into_iter()
                .zip(step.rank_offset..)
                .map(|(record, rank)| RankOutcome::of(rank, record))
                .collect(),
        }
    }
}

impl RankOutcome {
    fn of(rank: u32, record: PhaseRecord) -> Self {
        Self {
            rank,
            operations: record.latency.count,
            failed: record.errors.iter().map(|error| error.count).sum(),
            errors: record.errors,
            started_ns: record.started_ns,
            ended_ns: record.ended_ns,
            latency: record.latency,
            user_ns: record.user_ns,
            system_ns: record.system_ns,
        }
    }
}

fn sum_of_errors(records: &[PhaseRecord]) -> Vec<FailureCount> {
    let mut sums: Vec<FailureCount> = Vec::new();
    for error in records.iter().flat_map(|record| &record.errors) {
        match sums.iter_mut().find(|sum| sum.errno == error.errno) {
            Some(sum) => sum.count += error.count,
            None => sums.push(error.clone()),
        }
    }
    sums.sort_by_key(|sum| sum.errno);
    sums
}

fn sum_of_stonewalls(records: &[PhaseRecord]) -> Option<Progress> {
    let stonewalls = || records.iter().filter_map(|record| record.stonewall.as_ref());
    let at_ns = stonewalls().map(|progress| progress.at_ns).max()?;
    Some(Progress::new(at_ns, stonewalls().map(|progress| progress.operations).sum()))
}

fn sum_of_series(records: &[PhaseRecord], end_ns: u64) -> Vec<CompletedInterval> {
    let mut sum: Option<Series> = None;
    for record in records {
        match &mut sum {
            Some(sum) => sum.merge(&record.series),
            None => sum = Some(record.series.clone()),
        }
    }
    let intervals = sum.iter().flat_map(|sum| sum.ends_and_totals(end_ns).collect::<Vec<_>>());
    intervals.map(|(end_ns, operations)| CompletedInterval { end_ns, operations }).collect()
}
