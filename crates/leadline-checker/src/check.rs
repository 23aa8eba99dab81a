//! The whole check: objects are judged in parallel, each alone, and their findings put together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use leadline_history::{first_flaw, Flaw, History, Kind, Object, Objects};

use crate::findings::Findings;
use crate::judge::judge;
use crate::report::{Gathered, Report};
use crate::view::{Clocks, View};

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

/// Judges a history. Refuses one that does not fulfil what [`first_flaw`] asks.
pub fn check(history: &History, limits: &Limits) -> Result<Report, Flaw> {
    if let Some(flaw) = first_flaw(history) {
        return Err(flaw);
    }
    let objects = history.objects();
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = limits.threads.unwrap_or_else(processors).clamp(1, objects.all().len().max(1));
    let next = AtomicUsize::new(0);
    let work = || judge_some(history, &objects, limits, &next);
    let parts: Vec<Gathered> = thread::scope(|scope| {
        if threads == 1 {
            return vec![work()];
        }
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a judging thread does not panic")).collect()
    });
    let mut gathered = Gathered::new(limits.staleness_bound_ns());
    parts.into_iter().for_each(|part| gathered.join(part));
    Ok(gathered.report(history))
}

/// Takes one object after the other until none is left.
fn judge_some(history: &History, objects: &Objects, limits: &Limits, next: &AtomicUsize) -> Gathered {
    let mut gathered = Gathered::new(limits.staleness_bound_ns());
    while let Some(object) = objects.all().get(next.fetch_add(1, Ordering::Relaxed)) {
        gathered.add(object.kind, &judge_one(history, objects, object, limits));
    }
    gathered
}

fn judge_one(history: &History, objects: &Objects, object: &Object, limits: &Limits) -> Findings {
    let (members, kind): (&[u32], Kind) = (objects.members_of(object), object.kind);
    judge(&View { history, members, kind, clocks: Clocks::Doubted }, limits)
}
