//! Which objects there are, where they lie, and who works on them when.
//!
//! Time is cut into slots, each with objects of its own, so that none gathers more operations than the checker can search. Workers
//! form teams of at most [`TEAM`], all clients in each, and a team has its objects for itself: no more operations than that overlap.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::histories::flavour::{Flavour, MOST_OPERATIONS};
use crate::histories::Histories;

/// Beyond about 8 overlapping operations on one name the search for an order becomes slow (concepts/consistency_checking.md).
const TEAM: u16 = 8;

/// One object, as this client knows it.
pub struct Object {
    pub number: u64,
    pub flavour: Flavour,
    /// Its name; of a pair, the first.
    pub path: PathBuf,
    /// The second name of a pair.
    pub other: PathBuf,
    changes: AtomicU32,
    operations: AtomicU32,
    held: AtomicBool,
}

/// All objects of a step, the same ones for every client.
pub struct Objects {
    all: Vec<Object>,
    flavours: usize,
    at_a_time: usize,
    teams: Teams,
    slot_ns: u64,
    client: u32,
    clients: u32,
    withdrawn: Vec<AtomicBool>,
}

/// How many teams there are, and who is in which.
struct Teams {
    of_clients: u16,
    of_threads: u16,
    threads_in_team: u16,
}

impl Teams {
    fn of(clients: u16, workers: u16) -> Self {
        let of_clients = clients.div_ceil(TEAM);
        let threads_in_team = (TEAM / clients.div_ceil(of_clients)).max(1);
        Self { of_clients, of_threads: workers.div_ceil(threads_in_team), threads_in_team }
    }

    fn count(&self) -> usize {
        usize::from(self.of_clients) * usize::from(self.of_threads)
    }

    fn of_thread(&self, client: u16, thread: u16) -> usize {
        let own = usize::from(client % self.of_clients) * usize::from(self.of_threads);
        own + usize::from(thread / self.threads_in_team)
    }
}

impl Objects {
    pub fn of(step: &Histories) -> Self {
        let flavours = if step.flavours.is_empty() { Flavour::ALL.to_vec() } else { step.flavours.clone() };
        let teams = Teams::of(step.clients, step.workers);
        let slots = step.runtime_ns.div_ceil(step.slot_ns).max(1) as usize;
        let at_a_time = step.objects_at_a_time as usize;
        let count = slots * teams.count() * at_a_time * flavours.len();
        let object = |index: usize| Object::new(step, index as u64, flavours[index % flavours.len()]);
        let all = (0..count).map(object).collect();
        let withdrawn = Flavour::ALL.map(|_| AtomicBool::new(false)).into();
        let (client, clients) = (u32::from(step.client), u32::from(step.clients));
        let flavours = flavours.len();
        Self { all, flavours, at_a_time, teams, slot_ns: step.slot_ns, client, clients, withdrawn }
    }

    pub fn all(&self) -> &[Object] {
        &self.all
    }

    /// The slot of a time since the beginning.
    pub fn slot_at(&self, elapsed_ns: u64) -> usize {
        (elapsed_ns / self.slot_ns) as usize
    }

    /// What a thread may work on during a slot.
    pub fn within(&self, slot: usize, client: u16, thread: u16) -> &[Object] {
        let each = self.at_a_time * self.flavours;
        let place = slot * self.teams.count() + self.teams.of_thread(client, thread);
        self.all.chunks_exact(each).nth(place).unwrap_or(&[])
    }

    /// Whether this client may work on it once more: its share of what an object takes is not used up.
    pub fn admits(&self, object: &Object) -> bool {
        !self.is_withdrawn(object.flavour)
            && object.operations.fetch_add(1, Relaxed) < MOST_OPERATIONS / self.clients
    }

    /// A number for a change that no other change of the object has, from 1; None when this client's share is used up.
    pub fn next_change(&self, object: &Object) -> Option<u64> {
        let own = object.changes.fetch_add(1, Relaxed);
        let admitted = own < object.flavour.most_changes() / self.clients;
        admitted.then(|| u64::from(own * self.clients + self.client + 1))
    }

    /// The filesystem does not have what this flavour needs: nobody tries it again.
    pub fn withdraw(&self, flavour: Flavour) {
        self.withdrawn[flavour as usize].store(true, Relaxed);
    }

    pub fn is_withdrawn(&self, flavour: Flavour) -> bool {
        self.withdrawn[flavour as usize].load(Relaxed)
    }
}

impl Object {
    fn new(step: &Histories, number: u64, flavour: Flavour) -> Self {
        let path = step.directory.join(format!("{number:06}"));
        let other = step.directory.join(format!("{number:06}-2"));
        let (changes, operations) = (AtomicU32::new(0), AtomicU32::new(0));
        Self { number, flavour, path, other, changes, operations, held: AtomicBool::new(false) }
    }

    /// Keeps the other threads of this client away until it is given back. A lock by fcntl(2) belongs to the whole process, and any thread
    /// that closes the file takes it away.
    pub fn hold(&self) -> Option<Hold<'_>> {
        (!self.held.swap(true, std::sync::atomic::Ordering::Acquire)).then_some(Hold(self))
    }
}

pub struct Hold<'object>(&'object Object);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.held.store(false, std::sync::atomic::Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_has_at_most_eight_workers_and_every_client_in_it_as_long_as_there_are_no_more() {
        for (clients, workers) in [(2, 4), (2, 9), (3, 4), (8, 2), (9, 2), (20, 3), (1, 16)] {
            let teams = Teams::of(clients, workers);
            let mut members = vec![Vec::new(); teams.count()];
            for client in 0..clients {
                (0..workers).for_each(|thread| members[teams.of_thread(client, thread)].push(client));
            }
            for mut team in members {
                assert!((1..=8).contains(&team.len()), "{clients} x {workers}: {team:?}");
                team.dedup();
                assert!(
                    clients > TEAM || team.len() == usize::from(clients),
                    "{clients} x {workers}: {team:?}"
                );
            }
        }
    }
}
