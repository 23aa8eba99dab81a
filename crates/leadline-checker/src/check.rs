//! The whole check: objects are judged in parallel, each alone, and their findings put together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use leadline_history::{first_flaw_between, first_flaw_of_one, Flaw, History, Object, Objects};

use crate::beside::both;
use crate::findings::Findings;
use crate::judge::judge;
use crate::report::{Gathered, Report};
use crate::view::View;

/// How much may be spent, and what was promised.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many configurations the search may visit on one object before it is undecided.
    pub configurations: u64,
    /// How old what is seen may be, where that was promised.
    pub staleness_ns: Option<i64>,
    /// How many threads; None for as many as there are processors.
    pub threads: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { configurations: 2_000_000, staleness_ns: None, threads: None }
    }
}

impl Limits {
    /// How old what is seen may be: as old as it likes, where nothing was promised.
    pub(crate) fn staleness_bound_ns(&self) -> i64 {
        self.staleness_ns.unwrap_or(i64::MAX)
    }
}

/// An object shorter than this is judged sooner than a second thread begins.
const WORTH_SHARING: usize = 50_000;

/// Judges a history. Refuses one that does not fulfil what [`leadline_history::first_flaw`] asks.
pub fn check(history: &History, limits: &Limits) -> Result<Report, Flaw> {
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = limits.threads.unwrap_or_else(processors).max(1);
    let may_share = threads > 1 && history.operations.len() > WORTH_SHARING;
    let (objects, flaw) = both(may_share, || history.objects(), || first_flaw_of_one(history));
    if let Some(flaw) = flaw.or_else(|| first_flaw_between(history, &objects)) {
        return Err(flaw);
    }
    Ok(judge_all(history, &objects, limits, threads).report(history))
}

/// Judges every object, on so many threads.
fn judge_all(history: &History, objects: &Objects, limits: &Limits, threads: usize) -> Gathered {
    let next = AtomicUsize::new(0);
    let work = || judge_some(history, objects, (limits, threads), &next);
    let useful = threads.min(objects.all().len());
    if useful <= 1 {
        return work();
    }
    let parts: Vec<Gathered> = thread::scope(|scope| {
        let threads: Vec<_> = (0..useful).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a judging thread does not panic")).collect()
    });
    let mut gathered = Gathered::new(limits.staleness_bound_ns());
    parts.into_iter().for_each(|part| gathered.join(part));
    gathered
}

/// Takes one object after the other until none is left.
fn judge_some(
    history: &History,
    objects: &Objects,
    (limits, threads): (&Limits, usize),
    next: &AtomicUsize,
) -> Gathered {
    let mut gathered = Gathered::new(limits.staleness_bound_ns());
    while let Some(object) = objects.all().get(next.fetch_add(1, Ordering::Relaxed)) {
        gathered.add(object.kind, &judge_one(history, objects, object, (limits, threads)));
    }
    gathered
}

fn judge_one(
    history: &History,
    objects: &Objects,
    object: &Object,
    (limits, threads): (&Limits, usize),
) -> Findings {
    let members = objects.members_of(object);
    let outlasts_others = members.len() > WORTH_SHARING.max(history.operations.len() / 2);
    judge(&View::of(history, members, object.kind, threads > 1 && outlasts_others), limits)
}
