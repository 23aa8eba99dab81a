//! The way of a chunk's parts: from the client to nodes, from node to node, through disks, and back.
//!
//! A read sends its request ahead (it weighs nothing) and its bytes come back: node, switch, client. A write sends its
//! bytes and gets an acknowledgement back, which weighs nothing. Node to node goes the same way as node to client.

use crate::calendar::Event;
use crate::description::{Protection, Reads, Transfer, Writes};
use crate::pipes::{Passage, Pipes};
use crate::placement::Place;
use crate::requests::Operation;
use crate::simulation::Simulation;

/// What a request wants of one chunk.
pub struct Chunk {
    operation: u32,
    place: Place,
    bytes: u64,
    reads: bool,
    /// Parts that are not joined yet.
    remaining: u32,
    /// The disk whose node gathers or spreads the parts.
    primary: u32,
    /// The gathered whole is on its way.
    gathered: bool,
}

/// What goes through the cluster.
pub struct Part {
    chunk: u32,
    /// Number in its chunk's place.
    index: u32,
    /// The disk it goes to or comes from.
    disk: u32,
    /// Nodes it has been written on, in a chain.
    hops: u32,
    bytes: u64,
    /// When its last byte comes to where its first is now.
    tail_ps: u64,
    reads: bool,
    stage: Stage,
    /// Where the switch lets it go.
    beyond: Stage,
}

/// Where a part comes to with its next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The bytes, to the switch.
    Switch,
    /// The bytes, to the NIC of the node of its disk.
    Node,
    /// A request for bytes, or the last of the bytes, to a node's software.
    Software,
    /// To the disk.
    Disk,
    /// The bytes, to the NIC of the node that gathers.
    Gatherer,
    /// The bytes, to the NIC of the client.
    Client,
    /// All of it, to whom it was for.
    Joined,
}

impl Simulation<'_> {
    pub fn begin_chunk(&mut self, operation: u32, place: Place, bytes: u64) {
        let alive = self.placement.alive(place, 0).count() as u32;
        let needed = match self.step.layout.protection {
            Protection::Replicas(_) => 1,
            Protection::ErasureCode { data, .. } => data,
        };
        let first = self.placement.alive(place, 0).next().unwrap_or(0);
        let primary = self.placement.disk(place, first);
        let reads = self.operations[operation].reads;
        let chunk = Chunk { operation, place, bytes, reads, remaining: 1, primary, gathered: false };
        let chunk = self.chunks.insert(chunk);
        if alive < needed {
            return self.refuse(chunk);
        }
        if reads {
            self.begin_read(chunk, alive, needed);
        } else {
            self.begin_write(chunk, first, alive);
        }
    }

    /// The client finds out by asking.
    fn refuse(&mut self, chunk: u32) {
        let operation = self.chunks[chunk].operation;
        self.operations[operation].failed = true;
        let part = self.new_part(chunk, 0, 0);
        self.come(part, Stage::Joined, self.now_ps + (2 * self.half_trip_ps).max(1));
    }

    fn begin_read(&mut self, chunk: u32, alive: u32, needed: u32) {
        let place = self.chunks[chunk].place;
        let (skipped, taken) = match self.step.layout.protection {
            Protection::Replicas(_) => (self.copy_read(chunk, alive), 1),
            Protection::ErasureCode { .. } => (0, needed),
        };
        self.chunks[chunk].remaining = taken;
        let mut from = 0;
        for count in 0..skipped + taken {
            let index = self.placement.alive(place, from).next().expect("counted before");
            from = index + 1;
            if count >= skipped {
                let part = self.new_part(chunk, index, self.part_bytes(chunk));
                self.come(part, Stage::Software, self.now_ps + self.half_trip_ps);
            }
        }
    }

    /// Which of the copies that answer.
    fn copy_read(&mut self, chunk: u32, alive: u32) -> u32 {
        match self.step.layout.reads {
            Reads::AnyCopy => self.draws.below(alive),
            Reads::OneCopy => {
                let Operation { client, file, .. } = self.operations[self.chunks[chunk].operation];
                self.copy_of_file(client, file, alive)
            }
        }
    }

    fn begin_write(&mut self, chunk: u32, first: u32, alive: u32) {
        let client = self.client_of(chunk);
        match self.step.layout.writes {
            Writes::Chain => {
                let part = self.new_part(chunk, first, self.chunks[chunk].bytes);
                self.send_from_client(part, client);
            }
            Writes::Primary => {
                self.chunks[chunk].remaining = alive;
                let part = self.new_part(chunk, first, self.chunks[chunk].bytes);
                self.send_from_client(part, client);
            }
            Writes::FanOut => {
                self.chunks[chunk].remaining = alive;
                self.for_each_alive(chunk, 0, |simulation, part| simulation.send_from_client(part, client));
            }
        }
    }

    fn for_each_alive(&mut self, chunk: u32, from: u32, mut then: impl FnMut(&mut Self, u32)) {
        let place = self.chunks[chunk].place;
        let mut next = self.placement.alive(place, from).next();
        while let Some(index) = next {
            let part = self.new_part(chunk, index, self.part_bytes(chunk));
            then(self, part);
            next = self.placement.alive(place, index + 1).next();
        }
    }

    /// An event of a part has come: on from where it is.
    pub fn advance(&mut self, part: u32) {
        match self.parts[part].stage {
            Stage::Switch => self.pass_switch(part),
            Stage::Node => self.enter_node(part, self.parts[part].disk, Stage::Software),
            Stage::Gatherer => {
                let gatherer = self.chunks[self.parts[part].chunk].primary;
                self.enter_node(part, gatherer, Stage::Joined);
            }
            Stage::Software => self.pass_software(part),
            Stage::Disk => self.enter_disk(part),
            Stage::Client => self.enter_client(part),
            Stage::Joined => self.join(part),
        }
    }

    fn pass_software(&mut self, part: u32) {
        let node = self.placement.node(self.parts[part].disk) as usize;
        let mut leaves_ps = self.now_ps;
        if let Some(software) = &mut self.resources.storage_software {
            let work = self.pipe_works.draw(&mut self.draws);
            leaves_ps = software.enter(node, self.now_ps, 1, work).end_ps;
        }
        leaves_ps += self.storage_delay_ps;
        if leaves_ps > self.now_ps {
            self.come(part, Stage::Disk, leaves_ps);
        } else {
            self.enter_disk(part);
        }
    }

    fn enter_disk(&mut self, part: u32) {
        if self.spreads(part) {
            self.spread(part);
        }
        let Part { disk, reads, .. } = self.parts[part];
        let kind = self.kind_at_disks(reads);
        let work = self.disk_works.draw(&mut self.draws);
        if let Some(look_ps) = self.resources.disks.enter(disk as usize, kind, self.now_ps, part, work) {
            self.calendar.enter(look_ps, Event::Disk(disk));
        }
    }

    /// Whether it came from the client to the node that passes it on to all others.
    fn spreads(&self, part: u32) -> bool {
        let Part { chunk, disk, reads, .. } = self.parts[part];
        !reads && self.step.layout.writes == Writes::Primary && disk == self.chunks[chunk].primary
    }

    fn spread(&mut self, part: u32) {
        let Part { chunk, index, .. } = self.parts[part];
        self.for_each_alive(chunk, index + 1, |simulation, other| {
            simulation.send_from_node(other, simulation.chunks[chunk].primary, Stage::Node);
        });
    }

    /// The disk is done with it.
    pub fn leave_disk(&mut self, part: u32) {
        if self.parts[part].reads {
            self.return_bytes(part);
        } else {
            self.acknowledge(part);
        }
    }

    fn return_bytes(&mut self, part: u32) {
        let Part { chunk, disk, .. } = self.parts[part];
        match self.gathers() {
            true if disk == self.chunks[chunk].primary => self.join(part),
            true => self.send_from_node(part, disk, Stage::Gatherer),
            false => self.send_from_node(part, disk, Stage::Client),
        }
    }

    fn gathers(&self) -> bool {
        let coded = matches!(self.step.layout.protection, Protection::ErasureCode { .. });
        coded && self.step.layout.writes == Writes::Primary
    }

    fn acknowledge(&mut self, part: u32) {
        let Part { chunk, index, disk, .. } = self.parts[part];
        self.parts[part].hops += 1;
        let trips = match self.step.layout.writes {
            Writes::Chain => {
                let place = self.chunks[chunk].place;
                let next = self.placement.alive(place, index + 1).next();
                if let Some(next) = next {
                    self.parts[part].index = next;
                    self.parts[part].disk = self.placement.disk(place, next);
                    return self.send_from_node(part, disk, Stage::Node);
                }
                self.parts[part].hops
            }
            Writes::Primary if disk != self.chunks[chunk].primary => 2,
            Writes::Primary | Writes::FanOut => 1,
        };
        self.come(part, Stage::Joined, self.now_ps + u64::from(trips) * self.half_trip_ps);
    }

    fn join(&mut self, part: u32) {
        let number = self.parts[part].chunk;
        self.parts.remove(part);
        let chunk = &mut self.chunks[number];
        chunk.remaining -= 1;
        if chunk.remaining > 0 {
            return;
        }
        let Chunk { operation, reads, gathered, .. } = *chunk;
        if reads && self.gathers() && !gathered && !self.operations[operation].failed {
            return self.return_whole(number);
        }
        self.chunks.remove(number);
        let whose = &mut self.operations[operation];
        whose.remaining -= 1;
        if whose.remaining == 0 {
            self.answer(operation);
        } else if self.goes_by_turns(reads) {
            self.pass_client_software(operation);
        }
    }

    fn return_whole(&mut self, number: u32) {
        let chunk = &mut self.chunks[number];
        chunk.gathered = true;
        chunk.remaining = 1;
        let (primary, bytes) = (chunk.primary, chunk.bytes);
        let part = self.new_part(number, 0, bytes);
        self.send_from_node(part, primary, Stage::Client);
    }

    fn send_from_client(&mut self, part: u32, client: u32) {
        let (bytes, work) = (self.parts[part].bytes, self.pipe_works.draw(&mut self.draws));
        let passage = self.resources.client_out.enter(client as usize, self.now_ps, bytes, work);
        self.travel(part, passage, Stage::Node);
    }

    /// From the node of a disk. What stays on that node does not pass its NIC.
    fn send_from_node(&mut self, part: u32, from_disk: u32, to: Stage) {
        let from = self.placement.node(from_disk);
        let stays = match to {
            Stage::Node => self.placement.node(self.parts[part].disk) == from,
            Stage::Gatherer => self.placement.node(self.chunks[self.parts[part].chunk].primary) == from,
            _ => false,
        };
        if stays {
            let at = if to == Stage::Node { Stage::Software } else { Stage::Joined };
            return self.come(part, at, self.now_ps);
        }
        let (bytes, work) = (self.parts[part].bytes, self.pipe_works.draw(&mut self.draws));
        let passage = self.resources.storage_out.enter(from as usize, self.now_ps, bytes, work);
        self.travel(part, passage, to);
    }

    /// Half a round trip from one NIC to the other.
    fn travel(&mut self, part: u32, passage: Passage, to: Stage) {
        let tail_ps = passage.end_ps + self.half_trip_ps;
        let head_ps = self.head(passage.start_ps + self.half_trip_ps, tail_ps);
        let switched = self.resources.switch.is_some();
        let it = &mut self.parts[part];
        it.tail_ps = tail_ps;
        it.beyond = to;
        self.come(part, if switched { Stage::Switch } else { to }, head_ps);
    }

    fn pass_switch(&mut self, part: u32) {
        let Part { bytes, tail_ps, beyond, .. } = self.parts[part];
        let work = self.pipe_works.draw(&mut self.draws);
        let switch = self.resources.switch.as_mut().expect("it was sent there");
        let passage = switch.enter(0, self.now_ps, bytes, work);
        let tail_ps = passage.end_ps.max(tail_ps);
        self.parts[part].tail_ps = tail_ps;
        self.come(part, beyond, self.head(passage.start_ps, tail_ps));
    }

    fn head(&self, first_byte_ps: u64, last_byte_ps: u64) -> u64 {
        match self.step.network.transfer {
            Transfer::CutThrough => first_byte_ps,
            Transfer::StoreAndForward => last_byte_ps,
        }
    }

    fn enter_node(&mut self, part: u32, disk: u32, then: Stage) {
        let node = self.placement.node(disk) as usize;
        let work = self.pipe_works.draw(&mut self.draws);
        receive(&mut self.resources.storage_in, node, &mut self.parts[part], self.now_ps, work);
        self.come(part, then, self.parts[part].tail_ps);
    }

    fn enter_client(&mut self, part: u32) {
        let client = self.client_of(self.parts[part].chunk) as usize;
        let work = self.pipe_works.draw(&mut self.draws);
        receive(&mut self.resources.client_in, client, &mut self.parts[part], self.now_ps, work);
        self.come(part, Stage::Joined, self.parts[part].tail_ps);
    }

    fn come(&mut self, part: u32, stage: Stage, time_ps: u64) {
        self.parts[part].stage = stage;
        self.calendar.enter(time_ps, Event::Part(part));
    }

    fn new_part(&mut self, chunk: u32, index: u32, bytes: u64) -> u32 {
        let disk = self.placement.disk(self.chunks[chunk].place, index);
        let reads = self.chunks[chunk].reads;
        let (stage, beyond) = (Stage::Software, Stage::Joined);
        self.parts.insert(Part { chunk, index, disk, hops: 0, bytes, tail_ps: 0, reads, stage, beyond })
    }

    fn part_bytes(&self, chunk: u32) -> u64 {
        self.step.layout.protection.part_bytes(self.chunks[chunk].bytes)
    }

    /// The client that the chunk is for.
    fn client_of(&self, chunk: u32) -> u32 {
        self.operations[self.chunks[chunk].operation].client
    }
}

/// Through the NIC of the receiver; it is through when its last byte has come and has passed.
fn receive(nics: &mut Pipes, nic: usize, part: &mut Part, now_ps: u64, work: f64) {
    part.tail_ps = nics.enter(nic, now_ps, part.bytes, work).end_ps.max(part.tail_ps);
}
