//! The loop, and who is where: requests are issued, take their way (flow.rs), and are answered.

use leadline_workloads::randomness;

use crate::calendar::{Calendar, Event};
use crate::description::{Simulate, Way};
use crate::disks::Disks;
use crate::draws::{Draws, Works};
use crate::flow::{Chunk, Part};
use crate::outcome::{ResourceUse, SimulateOutcome};
use crate::pipes::Pipes;
use crate::placement::Placement;
use crate::slab::Slab;
use crate::window::{Border, Window};

pub const PS_PER_NS: f64 = 1000.0;
/// Where so many requests of an open load are under way, it is more than can be served, and more of it says nothing.
const MOST_WAITING: u64 = 1 << 20;

/// One request of one client.
pub struct Operation {
    issued_ps: u64,
    pub client: u32,
    file: u32,
    /// Chunks that are not answered yet.
    pub remaining: u32,
    pub failed: bool,
}

/// Everything that there is while a step is simulated.
pub struct Simulation<'step> {
    pub step: &'step Simulate,
    pub now_ps: u64,
    pub calendar: Calendar,
    pub draws: Draws,
    pub disk_works: Works,
    pub pipe_works: Works,
    pub placement: Placement,
    pub operations: Slab<Operation>,
    pub chunks: Slab<Chunk>,
    pub parts: Slab<Part>,
    pub resources: Resources,
    pub half_trip_ps: u64,
    pub storage_delay_ps: u64,
    client_delay_ps: u64,
    /// Requests issued so far to each file.
    positions: Vec<u64>,
    finished: Vec<u32>,
    window: Window,
    /// Busy picoseconds of everything when the window opened, and when it closed.
    busy_at: [Vec<Vec<f64>>; 2],
    answered_bytes: u64,
    events: u64,
}

/// What can be busy.
pub struct Resources {
    pub client_software: Option<Pipes>,
    pub client_out: Pipes,
    pub client_in: Pipes,
    pub switch: Option<Pipes>,
    pub storage_in: Pipes,
    pub storage_software: Option<Pipes>,
    pub storage_out: Pipes,
    pub disks: Disks,
}

impl<'step> Simulation<'step> {
    pub fn new(step: &'step Simulate) -> Self {
        let files = step.clients.count as usize * step.clients.files as usize;
        Self {
            step,
            now_ps: 0,
            calendar: Calendar::default(),
            draws: Draws::new(step.load.seed),
            disk_works: Works::of_disks(&step.storage),
            pipe_works: Works::of_pipes(&step.storage),
            placement: Placement::new(step),
            operations: Slab::new(),
            chunks: Slab::new(),
            parts: Slab::new(),
            resources: Resources::new(step),
            half_trip_ps: picoseconds(step.network.round_trip_ns / 2.0),
            storage_delay_ps: picoseconds(step.storage.delay_ns),
            client_delay_ps: picoseconds(step.clients.delay_ns),
            positions: vec![0; if step.load.random { 0 } else { files }],
            finished: Vec::new(),
            window: Window::new(step.load.warm_up_operations, step.load.operations),
            busy_at: [Vec::new(), Vec::new()],
            answered_bytes: 0,
            events: 0,
        }
    }

    /// Until everything that was issued is answered: then every byte can be accounted for.
    pub fn run(mut self) -> SimulateOutcome {
        self.busy_at[0] = self.busy();
        self.begin();
        while let Some((time_ps, event)) = self.calendar.next() {
            self.now_ps = time_ps;
            self.events += 1;
            match event {
                Event::Part(part) => self.advance(part),
                Event::Disk(disk) => self.look_at_disk(disk),
                Event::Launch(operation) => self.launch(operation),
                Event::Arrival => self.arrive(),
            }
        }
        self.outcome()
    }

    fn begin(&mut self) {
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

    fn arrive(&mut self) {
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
        let operation = Operation { issued_ps: self.now_ps, client, file, remaining: 0, failed: false };
        let number = self.operations.insert(operation);
        let mut leaves_ps = self.now_ps;
        if let Some(software) = &mut self.resources.client_software {
            let work = self.pipe_works.draw(&mut self.draws);
            leaves_ps = software.enter(client as usize, self.now_ps, 1, work).end_ps;
        }
        self.calendar.enter(leaves_ps + self.client_delay_ps, Event::Launch(number));
    }

    /// Cuts a request into chunks and sends each on its way.
    fn launch(&mut self, number: u32) {
        let Operation { client, file, .. } = self.operations[number];
        let (request, chunk) = (self.step.load.request_bytes, self.step.layout.chunk_bytes);
        let pieces = request.div_ceil(chunk);
        let first = self.first_chunk(client, file, pieces);
        self.operations[number].remaining = pieces as u32;
        for piece in 0..pieces {
            let place = self.placement.place(self.key(client, file, first.wrapping_add(piece)));
            self.begin_chunk(number, place, chunk.min(request - piece * chunk));
        }
    }

    /// The number of the chunk in its file at which the next request begins.
    fn first_chunk(&mut self, client: u32, file: u32, pieces: u64) -> u64 {
        if self.step.load.random {
            return self.draws.word() / 2;
        }
        let index = client as usize * self.step.clients.files as usize + file as usize;
        let requests = self.positions[index];
        self.positions[index] += 1;
        let requests_per_chunk = (self.step.layout.chunk_bytes / self.step.load.request_bytes).max(1);
        requests / requests_per_chunk * pieces
    }

    /// What a chunk's place follows from: chunks of a file take turns on the groups of its stripe.
    fn key(&self, client: u32, file: u32, chunk: u64) -> u64 {
        let group = self.step.layout.stripe.map_or(chunk, |stripe| chunk % u64::from(stripe));
        let whose = (u64::from(client) << 32) | u64::from(file);
        randomness::word(randomness::word(self.step.load.seed ^ PLACES, whose), group)
    }

    fn look_at_disk(&mut self, disk: u32) {
        let mut finished = std::mem::take(&mut self.finished);
        if let Some(again_ps) = self.resources.disks.look(disk as usize, self.now_ps, &mut finished) {
            self.calendar.enter(again_ps, Event::Disk(disk));
        }
        finished.drain(..).for_each(|part| self.leave_disk(part));
        self.finished = finished;
    }

    /// All chunks of a request are answered, or cannot be.
    pub fn answer(&mut self, number: u32) {
        let Operation { issued_ps, client, file, failed, .. } = self.operations[number];
        self.operations.remove(number);
        if !failed {
            self.answered_bytes += self.step.load.request_bytes;
        }
        match self.window.answer(self.now_ps, issued_ps, failed) {
            Border::None => {}
            Border::Opened => self.busy_at[0] = self.busy(),
            Border::Closed => self.busy_at[1] = self.busy(),
        }
        if self.step.load.arrivals_per_second.is_none() && !self.window.is_closed() {
            self.issue(client, file);
        }
    }

    fn busy(&mut self) -> Vec<Vec<f64>> {
        let (now_ps, disks) = (self.now_ps, &mut self.resources.disks);
        let at_disks = (0..disks.count()).map(|disk| disks.done_until(disk, now_ps) / disks.fastest(disk));
        let at_disks = at_disks.collect();
        let of = |(_, pipes): (_, &Pipes)| {
            let one = |pipe| pipes.busy_until_ps(pipe, now_ps) as f64 / pipes.ports() as f64;
            (0..pipes.count()).map(one).collect()
        };
        let mut busy: Vec<Vec<f64>> = self.resources.pipes().map(of).collect();
        busy.push(at_disks);
        busy
    }

    fn outcome(mut self) -> SimulateOutcome {
        let resources = self.uses();
        let window = &self.window;
        let seconds = window.length_ps() as f64 / 1e12;
        let operations_per_second = window.operations as f64 / seconds;
        SimulateOutcome {
            operations: window.operations,
            failed_operations: window.failed,
            window_ns: window.length_ps() as f64 / PS_PER_NS,
            first_half_share: window.first_half_share(),
            operations_per_second,
            bytes_per_second: operations_per_second * self.step.load.request_bytes as f64,
            mean_in_flight: window.mean_in_flight(),
            latency: window.latency.distribution(),
            resources,
            answered_bytes: self.answered_bytes,
            events: self.events,
            wall_ns: 0,
            peak_memory_bytes: None,
        }
    }

    fn uses(&mut self) -> Vec<ResourceUse> {
        let [opened, closed] = std::mem::take(&mut self.busy_at);
        let length_ps = self.window.length_ps() as f64;
        let pipes = self.resources.pipes().map(|(name, pipes)| (name, pipes.total_units()));
        let carried: Vec<_> = pipes.chain([("storage_disk", self.resources.disks.total_entered())]).collect();
        let share = |(before, after): (&f64, &f64)| (after - before) / length_ps;
        let kinds = carried.into_iter().zip(opened.iter().zip(&closed));
        kinds
            .map(|((name, carried), (before, after))| {
                let shares = before.iter().zip(after).map(share).skip(self.failed_of(name));
                summed_up(name, carried, shares.collect())
            })
            .collect()
    }

    /// How many of a kind are on failed nodes; they come first.
    fn failed_of(&self, name: &str) -> usize {
        let nodes = self.step.trouble.failed_nodes as usize;
        match name {
            "storage_disk" => nodes * self.step.storage.disks_per_node as usize,
            name if name.starts_with("storage") => nodes,
            _ => 0,
        }
    }
}

/// Keeps places apart from the requests' chance.
const PLACES: u64 = 0x706c_6163_6573;

fn summed_up(name: &str, carried: u64, shares: Vec<f64>) -> ResourceUse {
    ResourceUse {
        name: name.to_owned(),
        count: shares.len() as u64,
        mean_utilisation: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
        highest_utilisation: shares.iter().copied().fold(0.0, f64::max),
        carried,
    }
}

impl Resources {
    fn new(step: &Simulate) -> Self {
        let (clients, storage, trouble) = (&step.clients, &step.storage, &step.trouble);
        let slow = trouble.failed_nodes..trouble.failed_nodes + trouble.stragglers;
        let slowness = move |node: u32| if slow.contains(&node) { trouble.straggler_factor } else { 1.0 };
        let as_should_be = || (0..clients.count).map(|_| 1.0);
        let each_node = || (0..storage.nodes).map(&slowness);
        let each_disk =
            (0..storage.nodes * storage.disks_per_node).map(|disk| slowness(disk / storage.disks_per_node));
        Self {
            client_software: clients.most_requests_per_second.map(|rate| Pipes::new(1, rate, as_should_be())),
            client_out: Pipes::new(clients.nics, clients.nic_bytes_per_second, as_should_be()),
            client_in: Pipes::new(clients.nics, clients.nic_bytes_per_second, as_should_be()),
            switch: step.network.switch_bytes_per_second.map(|rate| Pipes::new(1, rate, [1.0].into_iter())),
            storage_in: Pipes::new(storage.nics, storage.nic_bytes_per_second, each_node()),
            storage_software: storage.most_requests_per_second.map(|rate| Pipes::new(1, rate, each_node())),
            storage_out: Pipes::new(storage.nics, storage.nic_bytes_per_second, each_node()),
            disks: Disks::new(&storage.disk_rates, each_disk),
        }
    }

    /// All that are there, in the order of a request's way.
    fn pipes(&self) -> impl Iterator<Item = (&'static str, &Pipes)> {
        [
            ("client_software", self.client_software.as_ref()),
            ("client_nic_out", Some(&self.client_out)),
            ("client_nic_in", Some(&self.client_in)),
            ("switch", self.switch.as_ref()),
            ("storage_nic_in", Some(&self.storage_in)),
            ("storage_software", self.storage_software.as_ref()),
            ("storage_nic_out", Some(&self.storage_out)),
        ]
        .into_iter()
        .filter_map(|(name, pipes)| Some((name, pipes?)))
    }
}

impl Simulate {
    pub(crate) fn reads(&self) -> bool {
        self.load.direction == Way::Read
    }
}

fn picoseconds(duration_ns: f64) -> u64 {
    (duration_ns * PS_PER_NS).round() as u64
}
