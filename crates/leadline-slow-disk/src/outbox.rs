//! Answers that wait for their time. One thread at a time sleeps until the earliest is due; the others are woken one by one to take its
//! place, so that an answer that takes long to hand over delays no other.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

type Answer = Box<dyn FnOnce() + Send>;

/// What is to be said, and when.
#[derive(Default)]
pub struct Outbox {
    inside: Mutex<Inside>,
    /// Wakes whoever watches the earliest answer: an earlier one has come.
    earlier: Condvar,
    /// Wakes one of the others: nobody watches.
    unwatched: Condvar,
}

#[derive(Default)]
struct Inside {
    letters: BinaryHeap<Letter>,
    posted: u64,
    watched: bool,
    closed: bool,
}

struct Letter {
    due: Instant,
    /// Among letters of one time, the first posted goes first.
    number: u64,
    answer: Answer,
}

impl Outbox {
    /// Has it said when it is due.
    pub fn post(&self, due: Instant, answer: impl FnOnce() + Send + 'static) {
        let mut inside = self.open();
        let number = inside.posted;
        inside.posted += 1;
        let earliest = inside.letters.peek().is_none_or(|first| due < first.due);
        inside.letters.push(Letter { due, number, answer: Box::new(answer) });
        drop(inside);
        if earliest {
            self.earlier.notify_one();
        }
    }

    /// What each of the answering threads does.
    pub fn answer_until_closed(&self) {
        while let Some(answer) = self.next() {
            answer();
        }
    }

    /// What is not said yet will not be.
    pub fn close(&self) {
        self.open().closed = true;
        self.earlier.notify_all();
        self.unwatched.notify_all();
    }

    /// Waits for the earliest to be due; `None` when closed.
    fn next(&self) -> Option<Answer> {
        let mut inside = self.open();
        while inside.watched && !inside.closed {
            inside = self.unwatched.wait(inside).expect("nobody panics with the outbox open");
        }
        inside.watched = true;
        while !inside.closed {
            let Some(first) = inside.letters.peek() else {
                inside = self.earlier.wait(inside).expect("nobody panics with the outbox open");
                continue;
            };
            let left = first.due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                inside.watched = false;
                self.unwatched.notify_one();
                return inside.letters.pop().map(|letter| letter.answer);
            }
            inside = self.earlier.wait_timeout(inside, left).expect("nobody panics with the outbox open").0;
        }
        None
    }

    fn open(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("nobody panics with the outbox open")
    }
}

impl Ord for Letter {
    /// The greatest, which a heap gives first, is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.due, other.number).cmp(&(self.due, self.number))
    }
}

impl PartialOrd for Letter {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Letter {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Letter {}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn answers_are_given_in_the_order_of_their_times_and_never_before() {
        let (outbox, (said, heard)) = (Arc::new(Outbox::default()), channel());
        let now = Instant::now();
        for due in [30, 10, 20].map(|ms| now + ms * MS) {
            let said = said.clone();
            outbox.post(due, move || said.send((due, Instant::now())).unwrap());
        }
        thread::scope(|scope| {
            scope.spawn(|| outbox.answer_until_closed());
            let order: Vec<_> = heard.iter().take(3).collect();
            outbox.close();
            assert!(order.is_sorted_by_key(|(due, _)| *due) && order.iter().all(|(due, at)| at >= due));
        });
    }

    #[test]
    fn an_answer_that_takes_long_delays_no_other() {
        let (outbox, (said, heard)) = (Arc::new(Outbox::default()), channel());
        thread::scope(|scope| {
            scope.spawn(|| outbox.answer_until_closed());
            scope.spawn(|| outbox.answer_until_closed());
            let (release, released) = channel::<()>();
            outbox.post(Instant::now(), move || released.recv().unwrap());
            outbox.post(Instant::now() + MS, move || said.send(()).unwrap());
            heard
                .recv_timeout(Duration::from_secs(60))
                .expect("the second is given while the first is not done");
            release.send(()).unwrap();
            outbox.close();
        });
    }
}
