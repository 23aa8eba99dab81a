//! One phase of a load: what all clients share of it, and what each of them counts.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use futures_util::future::join_all;
use leadline_workloads::clock::Moment;
use leadline_workloads::distribution::DurationRecorder;
use leadline_workloads::intervals::Intervals;
use leadline_workloads::metadata::company::Company;
use leadline_workloads::Refusal;
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use nix::time::{clock_gettime, ClockId};

use crate::client::{runtime, Answered, Client};
use crate::failures::{Failure, FailureCounts};
use crate::outcome::{ClientShare, ObjectPhase, Operation, RequestInterval};

/// What all clients of a load share.
pub struct Shared {
    pub phases: Vec<Phase>,
    pub retries: u32,
    pub barrier: Barrier,
    /// Whether hosts elsewhere take part, with a thread of its own at the barrier that speaks with them.
    pub has_company: bool,
    /// Another host did not come: nobody goes on.
    pub given_up: AtomicBool,
    /// Objects that exist: a phase of puts that ran out of time has not come to all of them.
    pub made: AtomicU64,
}

/// One kind of request.
pub struct Phase {
    operation: Operation,
    objects: u64,
    /// None: until the time is over.
    count: Option<u64>,
    runtime_ns: Option<u64>,
    next: AtomicU64,
    /// Objects that a window goes over and that are being put: another put of the same one at once would measure who waits for
    /// whom, and in a directory leaves a file of both.
    being_put: Mutex<BTreeSet<u64>>,
    begin: OnceLock<Begin>,
    /// When the last client was done.
    end: OnceLock<End>,
}

#[derive(Clone, Copy)]
struct End {
    user_ns: u64,
    system_ns: u64,
    made: u64,
}

#[derive(Clone, Copy)]
struct Begin {
    origin: Instant,
    moment: Moment,
    user_ns: u64,
    system_ns: u64,
}

impl Phase {
    pub fn new(operation: Operation, objects: u64, count: Option<u64>, runtime_ns: Option<u64>) -> Self {
        let runtime_ns = runtime_ns.filter(|_| count.is_none());
        Self {
            operation,
            objects,
            count,
            runtime_ns,
            next: AtomicU64::new(0),
            being_put: Mutex::default(),
            begin: OnceLock::new(),
            end: OnceLock::new(),
        }
    }

    /// The number of the next object to ask for, to be told when it was answered; None when the window has closed.
    fn next(&self, now_ns: u64, made: u64) -> Option<u64> {
        if self.runtime_ns.is_some_and(|runtime_ns| now_ns >= runtime_ns) {
            return None;
        }
        let mut being_put = self.objects_being_put();
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let is_wanted = self.planned(made).is_none_or(|count| place < count);
            let number = is_wanted.then(|| place.checked_rem(self.reach(made))).flatten()?;
            if being_put.as_mut().is_none_or(|objects| objects.insert(number)) {
                return Some(number); // there are no fewer objects than requests in flight: one is free
            }
        }
    }

    fn answered(&self, number: u64) {
        if let Some(mut objects) = self.objects_being_put() {
            objects.remove(&number);
        }
    }

    /// None where every object is asked for once, or where it does no harm to ask for one twice at a time.
    fn objects_being_put(&self) -> Option<MutexGuard<'_, BTreeSet<u64>>> {
        let comes_round = self.operation == Operation::Put && self.runtime_ns.is_some();
        comes_round.then(|| self.being_put.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many objects are gone over: none, where no put has come to any.
    fn reach(&self, made: u64) -> u64 {
        match self.operation {
            Operation::Put | Operation::List => self.objects, // a listing is of no object
            _ => made,
        }
    }

    /// How many requests are to be made. Nothing is removed that was never put.
    fn planned(&self, made: u64) -> Option<u64> {
        self.count.map(|count| if self.operation == Operation::Delete { count.min(made) } else { count })
    }

    /// Which objects exist once this phase is over.
    fn made(&self, before: u64) -> u64 {
        match self.operation {
            Operation::Put => self.next.load(Ordering::Relaxed).min(self.objects),
            _ => before,
        }
    }
}

/// What one client counts in one phase.
pub struct Tally {
    latency: DurationRecorder,
    failures: FailureCounts,
    requests: Option<Intervals>,
    bytes: Option<Intervals>,
    size_bytes: u64,
    listed: u64,
    retried: u64,
    ended_ns: u64,
    busy_ns: u64,
}

impl Tally {
    fn over(phase: &Phase) -> Self {
        Self {
            latency: DurationRecorder::new(),
            failures: FailureCounts::default(),
            requests: phase.runtime_ns.map(Intervals::over),
            bytes: phase.runtime_ns.map(Intervals::over),
            size_bytes: 0,
            listed: 0,
            retried: 0,
            ended_ns: 0,
            busy_ns: 0,
        }
    }

    fn succeeded(&mut self, started_ns: u64, ended_ns: u64, answered: Answered) {
        self.latency.record(ended_ns - started_ns);
        self.size_bytes += answered.size_bytes;
        self.listed += answered.listed;
        if let (Some(requests), Some(bytes)) = (&mut self.requests, &mut self.bytes) {
            requests.add(ended_ns, 1);
            bytes.add(ended_ns, answered.size_bytes);
        }
    }
}

/// Performs all phases as one of the clients; a client that cannot begin lets none of the others wait.
pub fn run_phases(shared: &Shared, client: &Client, workers: u32) -> Result<Vec<Tally>, Refusal> {
    let runtime = runtime();
    let mut tallies = Vec::new();
    for phase in &shared.phases {
        let tally = RefCell::new(Tally::over(phase));
        shared.barrier.wait();
        if shared.is_left_alone() {
            break;
        }
        let begin = *phase.begin.get_or_init(Begin::now);
        shared.barrier.wait(); // whoever is late to look would begin after the others
        let busy_ns = thread_time_ns();
        if let Ok(runtime) = &runtime {
            let work = (0..workers).map(|_| worker(shared, phase, client, begin.origin, &tally));
            runtime.block_on(join_all(work));
        }
        let mut tally = tally.into_inner();
        tally.busy_ns = thread_time_ns() - busy_ns;
        tallies.push(tally);
        shared.barrier.wait();
        phase.end.get_or_init(|| End::of(phase, &shared.made));
    }
    runtime.map(|_| tallies)
}

impl Shared {
    /// Where hosts elsewhere take part, waits until they are there or will not come.
    fn is_left_alone(&self) -> bool {
        if self.has_company {
            self.barrier.wait();
        }
        self.given_up.load(Ordering::Relaxed)
    }
}

/// The part of the thread that speaks for all clients of this host: before each phase it meets the other hosts.
pub fn keep_company(shared: &Shared, mut company: Company) -> Result<(), Refusal> {
    for number in 1..=shared.phases.len() as u64 {
        shared.barrier.wait();
        let met = company.meet(number, 0);
        shared.given_up.store(met.is_err(), Ordering::Relaxed);
        shared.barrier.wait();
        met?;
        shared.barrier.wait(); // begun
        shared.barrier.wait(); // ended
    }
    Ok(())
}

async fn worker(shared: &Shared, phase: &Phase, client: &Client, origin: Instant, tally: &RefCell<Tally>) {
    let now_ns = || origin.elapsed().as_nanos() as u64;
    let mut started_ns = now_ns();
    let made = shared.made.load(Ordering::Relaxed);
    while let Some(number) = phase.next(started_ns, made) {
        let (answer, retried) = with_retries(shared.retries, client, phase.operation, number).await;
        let ended_ns = now_ns();
        phase.answered(number);
        let answer = answer.and_then(|answer| match client.fault(number, &answer) {
            Some(failure) => Err(failure),
            None => Ok(answer.answered),
        });
        let mut tally = tally.borrow_mut();
        tally.ended_ns = ended_ns.max(tally.ended_ns);
        tally.retried += u64::from(retried);
        match answer {
            Ok(answered) => tally.succeeded(started_ns, ended_ns, answered),
            Err(failure) => tally.failures.record(failure),
        }
        drop(tally);
        started_ns = now_ns();
    }
}

/// The answer, and how often the request was made again for it.
async fn with_retries(
    retries: u32,
    client: &Client,
    operation: Operation,
    number: u64,
) -> (Result<crate::client::Answer, Failure>, u32) {
    for retried in 0..retries {
        match client.ask(operation, number).await {
            Err(failure) if failure.temporary => {}
            answer => return (answer, retried),
        }
    }
    (client.ask(operation, number).await, retries)
}

impl Begin {
    fn now() -> Self {
        let (user_ns, system_ns) = process_time_ns();
        Self { origin: Instant::now(), moment: Moment::now(), user_ns, system_ns }
    }
}

impl End {
    fn of(phase: &Phase, made: &AtomicU64) -> Self {
        let (user_ns, system_ns) = process_time_ns();
        let now_made = phase.made(made.load(Ordering::Relaxed));
        made.store(now_made, Ordering::Relaxed);
        Self { user_ns, system_ns, made: now_made }
    }
}

/// User and system time of all threads: some services (fs) work in threads of the runtime's.
fn process_time_ns() -> (u64, u64) {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may always ask about itself");
    let nanoseconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as u64 * 1000;
    (nanoseconds(usage.user_time()), nanoseconds(usage.system_time()))
}

fn thread_time_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every Linux has this clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

impl ObjectPhase {
    /// Puts the clients' tallies (by client, then by phase) together by phase.
    pub fn merge(phases: &[Phase], mut clients: Vec<Vec<Tally>>) -> Vec<Self> {
        let merged = phases.iter().rev().map(|phase| {
            let tallies: Vec<Tally> = clients.iter_mut().filter_map(Vec::pop).collect();
            Self::of(phase, &tallies)
        });
        let mut all: Vec<Self> = merged.collect();
        all.reverse();
        all
    }

    fn of(phase: &Phase, tallies: &[Tally]) -> Self {
        let begin = phase.begin.get().expect("all phases were begun");
        let end = phase.end.get().expect("all phases were ended");
        Self {
            operation: phase.operation,
            start: begin.moment,
            planned: phase.planned(end.made),
            runtime_ns: tallies.iter().map(|tally| tally.ended_ns).max().unwrap_or(0),
            user_ns: end.user_ns - begin.user_ns,
            system_ns: end.system_ns - begin.system_ns,
            listed_objects: tallies.iter().map(|tally| tally.listed).sum(),
            clients: tallies.iter().zip(0..).map(|(tally, client)| share(client, tally)).collect(),
            series: phase.runtime_ns.map_or_else(Vec::new, |runtime_ns| series(runtime_ns, tallies)),
        }
    }
}

fn share(client: u32, tally: &Tally) -> ClientShare {
    let latency = tally.latency.distribution();
    ClientShare {
        client,
        operations: latency.count,
        size_bytes: tally.size_bytes,
        failed: tally.failures.total(),
        retried: tally.retried,
        ended_ns: tally.ended_ns,
        busy_ns: tally.busy_ns,
        latency,
        errors: tally.failures.occurred(),
    }
}

fn series(runtime_ns: u64, tallies: &[Tally]) -> Vec<RequestInterval> {
    let (mut requests, mut bytes) = (Intervals::over(runtime_ns), Intervals::over(runtime_ns));
    for tally in tallies {
        tally.requests.iter().for_each(|each| requests.merge(each));
        tally.bytes.iter().for_each(|each| bytes.merge(each));
    }
    let both = requests.ends_and_totals().zip(bytes.ends_and_totals());
    both.map(|((end_ns, operations), (_, size_bytes))| RequestInterval { end_ns, operations, size_bytes })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW_NS: u64 = 1000;

    /// The objects that are asked for in turn, until the window closes after `requests`.
    fn asked(operation: Operation, objects: u64, made: u64, requests: u64) -> Vec<u64> {
        let phase = Phase::new(operation, objects, None, Some(WINDOW_NS));
        let now_ns = |request| if request < requests { 0 } else { WINDOW_NS };
        let next = |request| phase.next(now_ns(request), made).inspect(|&number| phase.answered(number));
        (0..).map_while(next).collect()
    }

    #[test]
    fn a_window_of_fixed_time_goes_over_the_objects_that_were_made_again_and_again() {
        assert_eq!(asked(Operation::Put, 3, 0, 7), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(asked(Operation::Get, 3, 2, 5), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn an_object_whose_put_takes_long_is_left_out_until_it_is_answered() {
        let phase = Phase::new(Operation::Put, 3, None, Some(WINDOW_NS));
        let next = || phase.next(0, 0).unwrap();
        assert_eq!([next(), next(), next()], [0, 1, 2]);
        phase.answered(2);
        phase.answered(0);
        assert_eq!([next(), next()], [0, 2]);
        phase.answered(1);
        assert_eq!(next(), 1);
    }

    #[test]
    fn nothing_is_asked_for_where_no_put_came_to_any_object_and_listings_go_on() {
        for operation in [Operation::Get, Operation::Head] {
            assert!(asked(operation, 3, 0, 5).is_empty(), "{operation:?}");
        }
        assert_eq!(asked(Operation::List, 3, 0, 5).len(), 5);
    }

    #[test]
    fn a_fixed_count_ends_by_itself_and_never_removes_what_was_not_made() {
        let counted = |operation, made| {
            let phase = Phase::new(operation, 4, Some(4), None);
            (0..9).map_while(|_| phase.next(0, made)).count()
        };
        assert_eq!(
            (counted(Operation::Put, 0), counted(Operation::Get, 4), counted(Operation::Delete, 2)),
            (4, 4, 2)
        );
    }
}
