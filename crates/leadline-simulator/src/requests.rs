//! Requests: issued by clients, cut into chunks, and answered when the last of these is back.

use leadline_workloads::randomness;

use crate::calendar::Event;
use crate::draws::reduced;
use crate::simulation::Simulation;
use crate::window::Border;

/// Where so many requests of an open load are under way, it is more than can be served, and more of it says nothing.
const MOST_WAITING: u64 = 1 << 20;

/// Keeps places apart from the requests' chance.
const PLACES: u64 = 0x706c_6163_6573;
/// And the copies that files are read from.
const COPIES: u64 = 0x636f_7069_6573;
/// And the choice between reading and writing apart from all.
const WAYS: u64 = 0x7761_7973;

/// One request of one client.
pub struct Operation {
    issued_ps: u64,
    pub client: u32,
    pub file: u32,
    /// Chunks that are not answered yet.
    pub remaining: u32,
    /// Number of the first in its file.
    first_chunk: u64,
    pub reads: bool,
    pub failed: bool,
}

impl Simulation<'_> {
    /// What is under way from the start, or the first arrival.
    pub fn begin(&mut self) {
        if self.step.load.arrivals_per_second.is_some() {
            return self.expect_arrival();
        }
        for client in 0..self.step.clients.count {
            for slot in 0..self.step.clients.requests_in_flight {
                self.issue(client, slot % self.step.clients.files);
            }
        }
    }

    fn expect_arrival(&mut self) {
        let rate = self.step.load.arrivals_per_second.expect("an open load");
        let wait_ps = (1e12 / rate * self.draws.exponential()).round() as u64;
        self.calendar.enter(self.now_ps + wait_ps, Event::Arrival);
    }

    pub fn arrive(&mut self) {
        if self.window.in_flight() >= MOST_WAITING && !self.window.is_closed() {
            self.window.give_up(self.now_ps);
            self.busy_at[1] = self.busy();
        }
        if self.window.is_closed() {
            return;
        }
        let client = self.draws.below(self.step.clients.count);
        let file = self.draws.below(self.step.clients.files);
        self.issue(client, file);
        self.expect_arrival();
    }

    fn issue(&mut self, client: u32, file: u32) {
        self.window.issue(self.now_ps);
        let reads = self.next_reads();
        let (issued_ps, first_chunk) = (self.now_ps, self.first_chunk(client, file));
        let remaining = self.pieces as u32;
        let operation = Operation { issued_ps, client, file, remaining, first_chunk, reads, failed: false };
        let number = self.operations.insert(operation);
        if self.is_its_turn(number) {
            self.pass_client_software(number);
        }
    }

    fn is_its_turn(&mut self, number: u32) -> bool {
        let Operation { client, file, reads, .. } = self.operations[number];
        let file = self.file_index(client, file);
        reads || self.turns.as_mut().is_none_or(|turns| turns.take(file, number))
    }

    /// With the whole request, or with its next chunk where they go one at a time.
    pub fn pass_client_software(&mut self, number: u32) {
        let client = self.operations[number].client;
        let mut leaves_ps = self.now_ps;
        if let Some(software) = &mut self.resources.client_software {
            let work = self.pipe_works.draw(&mut self.draws);
            leaves_ps = software.enter(client as usize, self.now_ps, 1, work).end_ps;
        }
        self.calendar.enter(leaves_ps + self.client_delay_ps, Event::Launch(number));
    }

    /// By chance of its own, so that a mix of nothing but reads takes the same course as reads.
    fn next_reads(&mut self) -> bool {
        self.issued += 1;
        let share = self.step.load.share_of_reads();
        match self.mixed {
            true => randomness::unit_interval(self.step.load.seed ^ WAYS, self.issued) < share,
            false => share == 1.0,
        }
    }

    /// Sends the chunks of a request on their way, or the next one.
    pub fn launch(&mut self, number: u32) {
        let Operation { client, file, first_chunk, remaining, reads, .. } = self.operations[number];
        let (request, chunk) = (self.step.load.request_bytes, self.step.layout.chunk_bytes);
        let begun = self.pieces - u64::from(remaining);
        let until = if self.goes_by_turns(reads) { begun + 1 } else { self.pieces };
        for piece in begun..until {
            let place = self.placement.place(self.key(client, file, first_chunk.wrapping_add(piece)));
            self.begin_chunk(number, place, chunk.min(request - piece * chunk));
        }
    }

    /// Whether a request's chunks wait for each other, and it for others to its file.
    pub fn goes_by_turns(&self, reads: bool) -> bool {
        !reads && self.turns.is_some()
    }

    /// The number of the chunk in its file at which the next request begins.
    fn first_chunk(&mut self, client: u32, file: u32) -> u64 {
        if self.step.load.random {
            return self.draws.word() / 2;
        }
        let index = self.file_index(client, file);
        let requests = self.positions[index];
        self.positions[index] += 1;
        let requests_per_chunk = (self.step.layout.chunk_bytes / self.step.load.request_bytes).max(1);
        requests / requests_per_chunk * self.pieces
    }

    /// A file's number among all.
    fn file_index(&self, client: u32, file: u32) -> usize {
        client as usize * self.step.clients.files as usize + file as usize
    }

    /// What a chunk's place follows from: chunks of a file take turns on the groups of its stripe.
    fn key(&self, client: u32, file: u32, chunk: u64) -> u64 {
        let group = self.step.layout.stripe.map_or(chunk, |stripe| chunk % u64::from(stripe));
        randomness::word(randomness::word(self.step.load.seed ^ PLACES, whose(client, file)), group)
    }

    /// The copy that all of a file is read from, of so many.
    pub fn copy_of_file(&self, client: u32, file: u32, copies: u32) -> u32 {
        reduced(randomness::word(self.step.load.seed ^ COPIES, whose(client, file)), copies)
    }

    /// All chunks of a request are answered, or cannot be.
    pub fn answer(&mut self, number: u32) {
        let Operation { issued_ps, client, file, reads, failed, .. } = self.operations[number];
        self.operations.remove(number);
        self.pass_turn_on(client, file, reads);
        if !failed {
            self.answered_bytes += self.step.load.request_bytes;
        }
        match self.window.answer(self.now_ps, issued_ps, reads, failed) {
            Border::None => {}
            Border::Opened => self.busy_at[0] = self.busy(),
            Border::Closed => self.busy_at[1] = self.busy(),
        }
        if self.step.load.arrivals_per_second.is_none() && !self.window.is_closed() {
            self.issue(client, file);
        }
    }

    fn pass_turn_on(&mut self, client: u32, file: u32, reads: bool) {
        let file = self.file_index(client, file);
        let turns = self.turns.as_mut().filter(|_| !reads);
        if let Some(next) = turns.and_then(|turns| turns.pass_on(file)) {
            self.pass_client_software(next);
        }
    }
}

/// A file's number, the same however many files a client has.
fn whose(client: u32, file: u32) -> u64 {
    (u64::from(client) << 32) | u64::from(file)
}
