//! Threads that prepare alone and start as one.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread::{self, Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use crate::clock::{Moment, MonotonicClock};
use crate::Refusal;

/// Runs `prepare` and then `work` in each of `threads` threads. Time begins once the slowest has prepared, so
/// that no page fault of an allocation falls into the measured time. Returns what the threads made, in their
/// order, and the moment at which time began.
pub fn start_together<Prepared, Made: Send>(
    threads: u32,
    prepare: impl Fn(u32) -> Prepared + Sync,
    work: impl Fn(Prepared, MonotonicClock) -> Made + Sync,
) -> Result<(Vec<Made>, Moment), Refusal> {
    let run = |number, ready: Sender<()>, begin: Receiver<MonotonicClock>| {
        let prepared = prepare(number);
        let _ = ready.send(());
        drop(ready);
        begin.recv().ok().map(|clock| work(prepared, clock))
    };
    thread::scope(|scope| {
        let (ready, prepared) = channel();
        // Whenever this returns early, the senders in `starts` go, and every thread that waits for one ends.
        let mut starts = Vec::new();
        let mut running = Vec::new();
        for number in 0..threads {
            let (start, begin) = channel();
            let (run, ready) = (&run, ready.clone());
            running.push(spawn(scope, move || run(number, ready, begin))?);
            starts.push(start);
        }
        drop(ready); // from here on, a thread that panics while it prepares shortens the count below
        let all_prepared = prepared.iter().count() == threads as usize;
        let (clock, moment) = (MonotonicClock { origin: Instant::now() }, Moment::now());
        for start in starts.into_iter().filter(|_| all_prepared) {
            let _ = start.send(clock);
        }
        Ok((running.into_iter().map(made_by).collect(), moment))
    })
}

fn spawn<'scope, Made: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    run: impl FnOnce() -> Made + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, Made>, Refusal> {
    Builder::new().spawn_scoped(scope, run).map_err(|error| {
        Refusal(format!("this machine does not start as many threads as threads asks: {error}"))
    })
}

fn made_by<Made>(thread: ScopedJoinHandle<'_, Option<Made>>) -> Made {
    thread.join().expect("timed work does not panic").expect("a thread that prepared was started")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn no_thread_works_before_the_last_has_prepared() {
        let prepared = AtomicU32::new(0);
        let (seen, _) = start_together(
            4,
            |number| {
                prepared.fetch_add(1, Ordering::SeqCst);
                number
            },
            |number, clock| (number, prepared.load(Ordering::SeqCst), clock.now_ns() < 10_000_000_000),
        )
        .unwrap();
        assert_eq!(seen, [0, 1, 2, 3].map(|number| (number, 4, true)));
    }

    #[test]
    #[should_panic]
    fn a_thread_that_fails_to_prepare_does_not_leave_the_others_waiting() {
        let _ = start_together(3, |number| assert_ne!(number, 1), |(), _| ());
    }
}
