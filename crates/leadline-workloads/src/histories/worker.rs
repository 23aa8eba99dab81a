//! The life of a thread: choose an object, choose what to do, do it, write it down, rest.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use leadline_history::Action;

use crate::clock::Clock;
use crate::histories::ending::is_not_offered;
use crate::histories::flavour::Flavour;
use crate::histories::objects::{Object, Objects};
use crate::histories::recorder::{Recorder, Timed, Told, Work};
use crate::histories::{append_log, attribute, counter, directory, entry, name_pair, whole_file, Histories};
use crate::randomness::{below, unit_interval, word};
use crate::Refusal;

/// More than any file of this workload holds, but registers that were asked for longer.
const BUFFER_BYTES: usize = 64 << 10;
/// A rest is at most so many times its average.
const LONGEST_REST: f64 = 5.0;

pub struct Worker<'run> {
    pub step: &'run Histories,
    pub objects: &'run Objects,
    thread: u16,
    recorder: Recorder<'run>,
    /// Registers of the current slot, open since this worker first touched them.
    pub held: HashMap<u64, File>,
    /// The directory that was listed last, and what was in it.
    pub listed: (u64, Vec<u64>),
    pub buffer: Vec<u8>,
    tokens: u64,
    seed: u64,
    draws: u64,
}

impl<'run> Worker<'run> {
    pub fn new(step: &'run Histories, objects: &'run Objects, thread: u16, recorder: Recorder<'run>) -> Self {
        let seed = word(step.seed, u64::from(step.client) << 16 | u64::from(thread));
        let buffer = vec![0; BUFFER_BYTES.max(2 * step.block_size_bytes as usize)];
        let (held, listed) = (HashMap::new(), (u64::MAX, Vec::with_capacity(4096)));
        Self { step, objects, thread, recorder, held, listed, buffer, tokens: 0, seed, draws: 0 }
    }

    /// Makes every object, as far as the filesystem has what it needs.
    pub fn make_all(&mut self) -> Result<(), Refusal> {
        for object in self.objects.all() {
            if self.objects.is_withdrawn(object.flavour) {
                continue;
            }
            match self.make(object) {
                Err(error) if is_not_offered(&error) => self.objects.withdraw(object.flavour),
                Err(error) => {
                    let directory = self.step.directory.display();
                    let what = object.flavour;
                    return Err(Refusal(format!(
                        "in {directory} no object of the sort {what:?} can be made: {error}"
                    )));
                }
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn make(&mut self, object: &Object) -> std::io::Result<()> {
        match object.flavour {
            Flavour::Register | Flavour::SessionFile => whole_file::make(self, object),
            Flavour::AppendLog => append_log::make(object),
            Flavour::SymbolicLink | Flavour::LinkedFile => Ok(()),
            Flavour::PublishedFile => entry::make(self, object),
            Flavour::NamePair => name_pair::make(object),
            Flavour::Mode | Flavour::Modified | Flavour::ExtendedAttribute => attribute::make(self, object),
            Flavour::Directory => std::fs::create_dir(&object.path),
            Flavour::CounterFcntl | Flavour::CounterFlock => counter::make(object),
        }
    }

    /// Works on the objects of one slot after the other.
    pub fn change_until(&mut self, clock: &impl Clock, end_ns: u64) {
        let begin_ns = clock.now_ns();
        let mut slot = 0;
        while clock.now_ns() < end_ns && self.recorder.goes_on() {
            let now = self.objects.slot_at(clock.now_ns() - begin_ns);
            if now != slot {
                self.held.clear();
                slot = now;
            }
            self.act_on_one_of(self.objects.within(slot, self.step.client, self.thread));
            self.rest(clock);
        }
        self.held.clear();
    }

    fn act_on_one_of(&mut self, objects: &'run [Object]) {
        if objects.is_empty() {
            return;
        }
        let object = &objects[self.draw(objects.len() as u64) as usize];
        if !self.objects.admits(object) {
            return;
        }
        let mut rest = self.draw(100);
        for (share, action) in object.flavour.mix() {
            if rest < *share {
                return self.act(object, *action);
            }
            rest -= share;
        }
    }

    fn act(&mut self, object: &Object, action: Action) {
        match object.flavour {
            Flavour::Register => whole_file::act_held(self, object, action),
            Flavour::SessionFile => whole_file::act(self, object, action),
            Flavour::AppendLog => append_log::act(self, object, action),
            Flavour::SymbolicLink | Flavour::LinkedFile | Flavour::PublishedFile => {
                entry::act(self, object, action)
            }
            Flavour::NamePair => name_pair::act(self, object, action),
            Flavour::Mode | Flavour::Modified | Flavour::ExtendedAttribute => {
                attribute::act(self, object, action)
            }
            Flavour::Directory => directory::act(self, object, action),
            Flavour::CounterFcntl | Flavour::CounterFlock => counter::act(self, object, action),
        }
    }

    /// Looks once at each object of this thread's share, as a program does that has just been started.
    pub fn look_at_own_share(&mut self) {
        let (thread, threads) = (u64::from(self.thread), u64::from(self.step.workers));
        let own = |object: &&Object| object.number % threads == thread;
        for object in self.objects.all().iter().filter(own) {
            if self.recorder.goes_on() && !self.objects.is_withdrawn(object.flavour) {
                self.look(object);
            }
        }
    }

    fn look(&mut self, object: &Object) {
        match object.flavour {
            Flavour::Directory => directory::act(self, object, Action::List),
            Flavour::NamePair => name_pair::look(self, object),
            Flavour::Register => whole_file::act(self, object, Action::Read),
            _ => self.act(object, Action::Read),
        }
    }

    /// At least a third of the average, and the rest of it drawn as the gaps of random arrivals are.
    fn rest(&mut self, clock: &impl Clock) {
        self.draws += 1;
        let drawn = (-unit_interval(self.seed, self.draws).ln()).min(LONGEST_REST);
        let rest_ns = self.step.rest_ns as f64 * (1.0 + 2.0 * drawn) / 3.0;
        clock.wait_until(clock.now_ns() + rest_ns as u64);
    }

    /// A random number below the limit.
    pub fn draw(&mut self, limit: u64) -> u64 {
        self.draws += 1;
        below(limit, self.seed, self.draws)
    }

    /// A value that nobody else writes anywhere in this run.
    pub fn token(&mut self) -> u64 {
        self.tokens += 1;
        u64::from(self.step.client) << 48 | u64::from(self.thread) << 32 | self.tokens
    }

    /// A name that nobody else uses, for what is not shared yet.
    pub fn own_name(&self, token: u64) -> PathBuf {
        self.step.directory.join(format!("own-{token:016x}"))
    }

    /// Writes an operation down.
    pub fn note(&mut self, object: &Object, action: Action, value_in: u64, done: Timed<Told>) {
        self.note_list(object, action, value_in, done, &[]);
    }

    /// Writes an operation down that read a list.
    pub fn note_list(
        &mut self,
        object: &Object,
        action: Action,
        value_in: u64,
        done: Timed<Told>,
        list: &[u64],
    ) {
        if done.answer.as_ref().is_err_and(is_not_offered) {
            self.objects.withdraw(object.flavour);
        }
        self.recorder.note(object, action, value_in, done, list);
    }

    pub fn work(self) -> Work {
        self.recorder.work()
    }
}
