//! The loop: what happens next, who is where, and what came of it. Requests are issued and answered (requests.rs), and take their way
//! in between (flow.rs).

use crate::calendar::{Calendar, Event};
use crate::description::{Simulate, WritesToAFile};
use crate::draws::{Draws, Works};
use crate::flow::{Chunk, Part};
use crate::outcome::{ResourceUse, SimulateOutcome};
use crate::pipes::Pipes;
use crate::placement::Placement;
use crate::requests::Operation;
use crate::resources::Resources;
use crate::slab::Slab;
use crate::turns::Turns;
use crate::window::Window;

pub const PS_PER_NS: f64 = 1000.0;

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
    pub client_delay_ps: u64,
    /// Chunks that a request is cut into.
    pub pieces: u64,
    /// Requests issued so far to each file.
    pub positions: Vec<u64>,
    /// None where writes to a file are on their way together.
    pub turns: Option<Turns>,
    /// Whether some requests read and some write.
    pub mixed: bool,
    pub issued: u64,
    finished: Vec<u32>,
    pub window: Window,
    /// Busy picoseconds of everything when the window opened, and when it closed.
    pub busy_at: [Vec<Vec<f64>>; 2],
    pub answered_bytes: u64,
    events: u64,
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
            pieces: step.load.request_bytes.div_ceil(step.layout.chunk_bytes),
            positions: vec![0; if step.load.random { 0 } else { files }],
            turns: (step.clients.writes_to_a_file == WritesToAFile::OneAtATime).then(|| Turns::new(files)),
            mixed: step.is_mixed(),
            issued: 0,
            finished: Vec::new(),
            window: Window::new(step.load.warm_up_operations, step.load.operations, step.is_mixed()),
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

    /// Which of the curves of disks a request is served by: there are two only where both kinds occur.
    #[inline]
    pub fn kind_at_disks(&self, reads: bool) -> usize {
        usize::from(!reads && self.mixed)
    }

    fn look_at_disk(&mut self, disk: u32) {
        let mut finished = std::mem::take(&mut self.finished);
        if let Some(again_ps) = self.resources.disks.look(disk as usize, self.now_ps, &mut finished) {
            self.calendar.enter(again_ps, Event::Disk(disk));
        }
        finished.drain(..).for_each(|part| self.leave_disk(part));
        self.finished = finished;
    }

    pub fn busy(&mut self) -> Vec<Vec<f64>> {
        let (now_ps, disks) = (self.now_ps, &mut self.resources.disks);
        let at_disks = (0..disks.count()).map(|disk| disks.busy_until_ps(disk, now_ps)).collect();
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
            read_latency: window.by_way.as_ref().map(|by_way| by_way[0].distribution()),
            write_latency: window.by_way.as_ref().map(|by_way| by_way[1].distribution()),
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

fn summed_up(name: &str, carried: u64, shares: Vec<f64>) -> ResourceUse {
    ResourceUse {
        name: name.to_owned(),
        count: shares.len() as u64,
        mean_utilisation: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
        highest_utilisation: shares.iter().copied().fold(0.0, f64::max),
        carried,
    }
}

fn picoseconds(duration_ns: f64) -> u64 {
    (duration_ns * PS_PER_NS).round() as u64
}
