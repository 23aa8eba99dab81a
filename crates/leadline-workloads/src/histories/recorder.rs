//! What a thread writes its operations into: a buffer that was made before, written to disk after the run.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::atomic::{AtomicU16, Ordering};

use leadline_history::{
    write_history, Action, Content, Header, History, Moment, Operation, Outcome, NEVER, NOTHING,
};

use crate::clock::monotonic_ns;
use crate::histories::ending::{number_of, outcome_of};
use crate::histories::objects::Object;
use crate::histories::Histories;
use crate::Refusal;

/// More would be memory that other programs miss; a worker whose buffer is full stops, and says so.
const MOST_RECORDS: u64 = 1 << 20;
const MOST_VALUES: u64 = 1 << 20;
/// No list of an object is longer: 512 records (Flavour::most_changes), a few dozen names (directory.rs).
const LONGEST_LIST: usize = 1024;
/// How long lists are, spread over all operations; one of five or six reads one.
const VALUES_A_RECORD: u64 = 128;
/// Of one worker. A mount that is gone answers at once, and thousands of doubts say no more than these.
const MOST_DOUBTS_IN_A_ROW: u32 = 16;

/// An answer, and when the call was made and came back.
pub struct Timed<Answer> {
    pub start_ns: u64,
    pub end_ns: u64,
    pub answer: io::Result<Answer>,
}

/// Makes a call; time is read immediately around it.
pub fn timed<Answer>(call: impl FnOnce() -> io::Result<Answer>) -> Timed<Answer> {
    let start_ns = monotonic_ns();
    let answer = call();
    Timed { start_ns, end_ns: monotonic_ns(), answer }
}

impl<Answer> Timed<Answer> {
    pub fn map<Other>(self, told: impl FnOnce(Answer) -> Other) -> Timed<Other> {
        Timed { start_ns: self.start_ns, end_ns: self.end_ns, answer: self.answer.map(told) }
    }
}

/// What an acknowledged operation told.
#[derive(Clone, Copy)]
pub struct Told {
    pub value: u64,
    pub content: Content,
    pub size_bytes: u64,
}

impl Told {
    pub const NOTHING: Self = Self::value(NOTHING);

    pub const fn value(value: u64) -> Self {
        Self { value, content: Content::Whole, size_bytes: 0 }
    }
}

pub struct Recorder<'run> {
    work: Work,
    most_records: usize,
    client: u16,
    worker: u16,
    next_worker: &'run AtomicU16,
    moment: Moment,
    clock_offset_ns: i64,
    clock_error_ns: u32,
    doubts_in_a_row: u32,
}

/// What threads did, put together.
#[derive(Default)]
pub struct Work {
    pub history: History,
    /// Workers whose buffer ran full, and workers that met nothing but doubts.
    pub full: u32,
    pub gave_up: u32,
}

impl<'run> Recorder<'run> {
    pub fn new(
        step: &Histories,
        worker: u16,
        next_worker: &'run AtomicU16,
        moment: Moment,
        most: u64,
    ) -> Self {
        let most_records = most.min(MOST_RECORDS) as usize;
        let most_values = most.saturating_mul(VALUES_A_RECORD).min(MOST_VALUES) as usize + LONGEST_LIST;
        let (operations, values) = (Vec::with_capacity(most_records), Vec::with_capacity(most_values));
        let history = History { operations, values, whole: true };
        Self {
            work: Work { history, ..Work::default() },
            most_records,
            client: step.client,
            worker,
            next_worker,
            moment,
            clock_offset_ns: step.clock_offset_ns,
            clock_error_ns: step.clock_error_ns,
            doubts_in_a_row: 0,
        }
    }

    /// Whether there is room for one more operation and the longest list, and any sense in it.
    pub fn goes_on(&self) -> bool {
        let history = &self.work.history;
        let has_room = history.operations.len() < self.most_records
            && history.values.len() + LONGEST_LIST <= history.values.capacity();
        has_room && self.doubts_in_a_row < MOST_DOUBTS_IN_A_ROW
    }

    /// Writes an operation down. After a doubt the worker goes on under another number: its last operation may still take effect.
    pub fn note(&mut self, object: &Object, action: Action, value_in: u64, done: Timed<Told>, list: &[u64]) {
        let span_ns = (self.shifted(done.start_ns), self.shifted(done.end_ns));
        let blank = Operation::new(object.flavour.kind(), object.number, self.client, action, span_ns);
        let blank = Operation {
            value_in,
            worker: self.worker,
            sequence: self.work.history.operations.len() as u64,
            clock_error_ns: self.clock_error_ns,
            moment: self.moment,
            ..blank
        };
        let operation = match done.answer {
            Ok(Told { value, content, size_bytes }) => {
                Operation { value_out: value, content, size_bytes, ..blank }
            }
            Err(error) => ended(blank, &error),
        };
        let acknowledged = operation.acknowledged();
        self.work.history.push_list(operation, if acknowledged { list } else { &[] });
        self.count_doubt(operation.outcome == Outcome::Doubt);
    }

    fn shifted(&self, time_ns: u64) -> i64 {
        time_ns as i64 + self.clock_offset_ns
    }

    fn count_doubt(&mut self, doubtful: bool) {
        self.doubts_in_a_row = if doubtful { self.doubts_in_a_row + 1 } else { 0 };
        if doubtful {
            self.worker = self.next_worker.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn work(mut self) -> Work {
        let given_up = self.doubts_in_a_row >= MOST_DOUBTS_IN_A_ROW;
        self.work.full = u32::from(!given_up && !self.goes_on());
        self.work.gave_up = u32::from(given_up);
        self.work
    }
}

fn ended(operation: Operation, error: &io::Error) -> Operation {
    let outcome = outcome_of(error);
    let end_ns = if outcome == Outcome::Doubt { NEVER } else { operation.end_ns };
    Operation { outcome, end_ns, errno: number_of(error), ..operation }
}

impl Work {
    pub fn of(parts: Vec<Self>) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.join(part));
        all
    }

    pub fn join(&mut self, other: Self) {
        self.history.join(&other.history);
        self.full += other.full;
        self.gave_up += other.gave_up;
    }

    pub fn write(&self, step: &Histories) -> Result<(), Refusal> {
        let mut header = Header::of_run(step.run);
        header.notes.insert("client".to_owned(), step.client.into());
        header.notes.insert("seed".to_owned(), step.seed.into());
        header.notes.insert("directory".to_owned(), step.directory.to_string_lossy().into());
        let written = File::create(&step.history).and_then(|file| {
            let mut file = BufWriter::new(file);
            write_history(&header, &self.history, &mut file)?;
            file.flush()
        });
        written.map_err(|error| {
            Refusal(format!("the history {} cannot be written: {error}", step.history.display()))
        })
    }
}
