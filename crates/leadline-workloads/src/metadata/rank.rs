//! The life of one rank: phase after phase, until all iterations are done.

use std::fs::{self, File};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::libc;
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::failures::FailureCount;
use crate::metadata::counters::{Counters, Counts, Reading};
use crate::metadata::drive::{Driver, Operation};
use crate::metadata::ground::{test_directory, DROP_CACHES};
use crate::metadata::meeting::Meeting;
use crate::metadata::outcome::Progress;
use crate::metadata::phases::{Action, Kind, Phase};
use crate::metadata::plan::Plan;
use crate::metadata::pointer::Share;
use crate::metadata::ranks::Line;
use crate::metadata::recorder::Recorder;
use crate::metadata::rotation::Rotation;
use crate::metadata::series::Series;
use crate::metadata::stopwatch::Pace;
use crate::metadata::{tree_work, Metadata};
use crate::Refusal;

/// What a rank tells at its end.
#[derive(Serialize, Deserialize)]
pub struct RankReport {
    /// One a phase and iteration, in the order in which they ran.
    pub phases: Vec<PhaseRecord>,
    /// Why it could not go on; empty when that was another rank's reason.
    pub refusal: Option<String>,
    /// Test directories that should have been removed and could not be.
    pub left_behind: Vec<String>,
}

/// What one rank did in one phase. Times count from the moment at which the barrier opened.
#[derive(Serialize, Deserialize)]
pub struct PhaseRecord {
    pub opened_ns: u64,
    pub planned: u64,
    pub started_ns: u64,
    pub ended_ns: u64,
    pub latency: Distribution,
    pub errors: Vec<FailureCount>,
    pub series: Series,
    /// Of all ranks of this host when this one, the first of them, had done its part.
    pub first_done: Option<Progress>,
    /// Of this rank when the time for creating files was up.
    pub stonewall: Option<Progress>,
    pub user_ns: u64,
    pub system_ns: u64,
    /// What the filesystem counted meanwhile; only the first rank of a host looks.
    pub requests: Option<Counts>,
}

/// Lives the life of the rank that has this place on this host.
pub fn live(
    step: &Metadata,
    plan: &Plan,
    pace: Pace,
    counters: Option<&Counters>,
    meeting: &Meeting,
    place: u32,
    line: &mut Line<'_>,
) -> RankReport {
    let mut report = RankReport { phases: Vec::new(), refusal: None, left_behind: Vec::new() };
    let seed = step.seed ^ (u64::from(step.rank_offset + place) << 32);
    let driver = Driver::new(step.driver, step.iodepth, step.naming, step.transfers(), seed);
    let mut rank =
        Rank { step, plan, pace, counters, meeting, line, place, number: step.rank_offset + place, files: 0 };
    let lived = rank.agree(driver).and_then(|mut driver| rank.iterate(&mut driver, &mut report));
    report.refusal = lived.err().map(|refusal| refusal.0);
    report
}

struct Rank<'step, 'line, 'pipe> {
    step: &'step Metadata,
    plan: &'step Plan,
    pace: Pace,
    counters: Option<&'step Counters>,
    meeting: &'step Meeting,
    line: &'line mut Line<'pipe>,
    /// Among the ranks of this host, and among all.
    place: u32,
    number: u32,
    /// Files of each rank: fewer than planned when time for creating them was up.
    files: u64,
}

impl<'step> Rank<'step, '_, '_> {
    fn iterate(&mut self, driver: &mut Driver, report: &mut RankReport) -> Result<(), Refusal> {
        for iteration in 0..self.step.iterations {
            self.files = self.plan.layout.items_per_rank();
            let made = self.make_test_directories(iteration);
            self.agree(made)?;
            let mut kind_before = Kind::Tree;
            for (number, &phase) in self.plan.phases.iter().enumerate() {
                self.rest_before(phase.kind, kind_before);
                kind_before = phase.kind;
                self.meeting.enter_phase(number as u32);
                report.phases.push(self.perform(driver, iteration, phase)?);
            }
            report.left_behind.extend(self.remove_test_directories(iteration));
        }
        Ok(())
    }

    /// All go on, or none does: a rank that cannot would be waited for in vain.
    fn agree<Made>(&mut self, made: Result<Made, Refusal>) -> Result<Made, Refusal> {
        let (refusals, _) = self.line.meet(u64::from(made.is_err()));
        match made {
            Ok(_) if refusals > 0 => Err(Refusal(String::new())),
            made => made,
        }
    }

    fn make_test_directories(&self, iteration: u32) -> Result<(), Refusal> {
        if self.number > 0 || !self.plan.creates() {
            return Ok(());
        }
        let mut paths = (0..self.plan.layout.trees).map(|tree| test_directory(self.plan, iteration, tree));
        paths.try_for_each(|path| {
            fs::create_dir(&path).map_err(|error| Refusal(format!("cannot make {}: {error}", path.display())))
        })
    }

    /// Those that are not empty because something could not be removed stay, and are told.
    fn remove_test_directories(&self, iteration: u32) -> Vec<String> {
        if self.number > 0 || !self.plan.removes() {
            return Vec::new();
        }
        let paths = (0..self.plan.layout.trees).map(|tree| test_directory(self.plan, iteration, tree));
        paths.filter(|path| fs::remove_dir(path).is_err()).map(|path| path.display().to_string()).collect()
    }

    fn rest_before(&self, kind: Kind, kind_before: Kind) {
        if kind != kind_before && kind != Kind::Tree {
            std::thread::sleep(Duration::from_nanos(self.step.pause_ns));
        }
    }

    fn perform(&mut self, driver: &mut Driver, iteration: u32, phase: Phase) -> Result<PhaseRecord, Refusal> {
        if self.step.drop_caches && phase.action.may_be_answered_from_cache() {
            let dropped = if self.place == 0 { self.drop_caches() } else { Ok(()) };
            self.agree(dropped)?;
        }
        let counted = self.counters.and_then(Counters::read);
        let mut recorder = Recorder::new(self.meeting.progress(self.place), self.pace);
        let before = processor_time_ns();
        let (_, opened_ns) = self.line.meet(0);
        let started_ns = recorder.start(opened_ns);
        let (planned, stonewall) = self.work(driver, iteration, phase, &mut recorder);
        let ended_ns = recorder.last_ns();
        let first = planned > 0 && self.meeting.finish();
        let first_done = first.then(|| Progress::new(ended_ns, self.meeting.operations()));
        let after = processor_time_ns();
        self.line.meet(0); // nobody goes on before the last has ended
        let recorded = recorder.close();
        let requests = counted.and_then(|before| self.requests_since(&before));
        Ok(PhaseRecord {
            opened_ns,
            planned,
            started_ns,
            ended_ns,
            latency: recorded.latency.distribution(),
            errors: recorded.failures.occurred(),
            series: recorded.series,
            first_done,
            stonewall,
            user_ns: after.0 - before.0,
            system_ns: after.1 - before.1,
            requests,
        })
    }

    fn requests_since(&self, before: &Reading) -> Option<Counts> {
        let counters = self.counters?;
        counters.read().map(|after| counters.between(before, &after))
    }

    /// The timed part; returns how many operations were to be done.
    fn work(
        &mut self,
        driver: &mut Driver,
        iteration: u32,
        phase: Phase,
        recorder: &mut Recorder<'_>,
    ) -> (u64, Option<Progress>) {
        let share = self.share(iteration, phase);
        match (phase.kind, Operation::of(phase)) {
            (Kind::Tree, _) => {
                (tree_work::perform(self.plan, iteration, self.number, phase.action, recorder), None)
            }
            (_, None) => {
                let items = 0..self.plan.layout.items_per_rank();
                driver.rename(&share, items.clone(), recorder);
                (self.renames(items), None)
            }
            (Kind::File, Some(Operation::CreateFile)) if self.step.stonewall_ns.is_some() => {
                let stonewall = self.create_until_stonewall(driver, &share, recorder);
                (self.files, Some(stonewall))
            }
            (kind, Some(operation)) => {
                let items = if kind == Kind::File { self.files } else { self.plan.layout.items_per_rank() };
                driver.run(operation, &share, 0..items, u64::MAX, recorder);
                (items, None)
            }
        }
    }

    fn renames(&self, items: Range<u64>) -> u64 {
        Rotation::side_by_side(items, self.step.iodepth).iter().map(Rotation::length).sum()
    }

    /// Each creates until the time is up; then all catch up with the one that has most.
    fn create_until_stonewall(
        &mut self,
        driver: &mut Driver,
        share: &Share<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Progress {
        let until_ns = self.step.stonewall_ns.unwrap_or(u64::MAX);
        let reached = driver.run(Operation::CreateFile, share, 0..self.files, until_ns, recorder);
        let stonewall = Progress::new(recorder.last_ns(), recorder.operations());
        (self.files, _) = self.line.meet(reached);
        recorder.now_ns(); // the wait for the others belongs to no operation
        driver.run(Operation::CreateFile, share, reached..self.files, u64::MAX, recorder);
        stonewall
    }

    fn share(&self, iteration: u32, phase: Phase) -> Share<'step> {
        let plan = self.plan;
        let (owner, tree_owner) = self.step.owners(self.number, phase.action);
        let walks = matches!(phase.action, Action::Create | Action::Remove);
        let order = walks.then_some(&plan.holders_depth_first[..]);
        Share { layout: &plan.layout, kind: phase.kind, iteration, owner, tree_owner, order }
    }

    fn drop_caches(&self) -> Result<(), Refusal> {
        let told = |error: std::io::Error| Refusal(format!("caches could not be dropped: {error}"));
        let directory = File::open(&self.step.directory).map_err(told)?;
        // What is not written back yet cannot be dropped.
        // SAFETY: the descriptor is open.
        unsafe { libc::syncfs(directory.as_raw_fd()) };
        fs::write(DROP_CACHES, "3").map_err(told)
    }
}

/// This process's, in user and in kernel mode; its io_uring workers are threads of it.
fn processor_time_ns() -> (u64, u64) {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask for its own");
    let nanoseconds = |time: nix::sys::time::TimeVal| time.num_nanoseconds() as u64;
    (nanoseconds(usage.user_time()), nanoseconds(usage.system_time()))
}
