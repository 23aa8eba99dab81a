//! Disks: requests on one are under way at once, and share a rate that depends on how many they are. As many as the
//! deepest rate is given for; the others wait in line, first come, first served.
//!
//! That is what a grid of a local disk says: so many requests kept on it, so many served a second, each of them taking
//! (requests / rate). A disk that is fed a constant number of requests repeats its grid exactly. In the terms of
//! queueing theory this is processor sharing with load-dependent speed: insensitive to how service times spread, so
//! networks of it have exact solutions that the tests use.
//!
//! Where reads and writes are mixed, each request has as large a share of the disk's time as any other, and in its share
//! the disk works at the rate that the curve of its own kind gives for as many requests as there are of both. So a share
//! p of reads is served at 1 / (p / reads' rate + (1 - p) / writes' rate); what the kinds do to each other beyond sharing
//! (a drive's erasing, its cache) is in neither curve and not known here.
//!
//! The trick (that of fair queueing): `served` counts the work that each request present has had since there was last
//! none of its kind. A newcomer is finished when `served` has grown by its own work; so the order of finishing within a
//! kind is known on entry and never changes, and arrivals cost no update of the others.

use std::collections::VecDeque;

/// Work is counted in requests of mean size; a millionth of one is rounding.
const ROUNDING: f64 = 1e-6;
const NEVER_PS: u64 = u64::MAX;
/// Reads and writes.
const KINDS: usize = 2;

/// All disks of a cluster: alike, but for stragglers.
pub struct Disks {
    /// Kinds of requests that occur.
    kinds: usize,
    /// By kind, work a picosecond of one disk with `index + 1` requests on it, if all were of that kind.
    rates: Vec<[f64; KINDS]>,
    /// Of each kind, with any number of requests.
    fastest: [f64; KINDS],
    disks: Vec<Disk>,
}

struct Disk {
    /// When `served` was last brought up to date.
    updated_ps: u64,
    /// The earliest event that was asked for and has not come.
    planned_ps: u64,
    slowness: f64,
    entered: u64,
    /// Requests on the disk, of all kinds.
    present: usize,
    lanes: [Lane; KINDS],
    /// Who waits in line, with kind and work of each.
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    work: f64,
    request: u32,
    kind: usize,
}

/// The requests of one kind on one disk.
#[derive(Default)]
struct Lane {
    served: f64,
    /// Work done for all requests, ever.
    done: f64,
    /// Who is on the disk, and at which `served` each is finished; ascending.
    requests: VecDeque<(f64, u32)>,
}

impl Disks {
    /// `curves`: rates a second as the step has them, of each kind that occurs; `slowness` of each disk.
    pub fn new(curves: &[&[(u32, f64)]], slowness: impl Iterator<Item = f64>) -> Self {
        assert!((1..=KINDS).contains(&curves.len()));
        let deepest = curves.iter().filter_map(|curve| curve.last()).map(|last| last.0).max().unwrap_or(1);
        let at = |depth: u32| {
            let mut rates = [0.0; KINDS];
            rates.iter_mut().zip(curves).for_each(|(rate, curve)| *rate = rate_at(curve, depth) / 1e12);
            rates
        };
        let rates: Vec<[f64; KINDS]> = (1..=deepest).map(at).collect();
        let highest = |kind: usize| rates.iter().map(|rates| rates[kind]).fold(0.0, f64::max);
        let disk = |slowness| Disk {
            updated_ps: 0,
            planned_ps: NEVER_PS,
            slowness,
            entered: 0,
            present: 0,
            lanes: Default::default(),
            waiting: VecDeque::new(),
        };
        let fastest = [highest(0), highest(1)];
        Self { kinds: curves.len(), fastest, rates, disks: slowness.map(disk).collect() }
    }

    /// Puts a request of a kind on a disk. Returns when to look at the disk, unless that is known already.
    #[inline]
    pub fn enter(&mut self, disk: usize, kind: usize, now_ps: u64, request: u32, work: f64) -> Option<u64> {
        self.disks[disk].entered += 1;
        if self.disks[disk].present >= self.rates.len() {
            self.disks[disk].waiting.push_back(Waiting { work, request, kind });
            return None; // a look at those under way is planned
        }
        self.update(disk, now_ps);
        self.disks[disk].admit(kind, work, request);
        self.plan(disk, now_ps)
    }

    /// Looks at a disk: hands over who is finished, and returns when to look again.
    #[inline]
    pub fn look(&mut self, disk: usize, now_ps: u64, finished: &mut Vec<u32>) -> Option<u64> {
        if self.disks[disk].planned_ps != now_ps {
            return None; // an earlier look was asked for meanwhile
        }
        self.disks[disk].planned_ps = NEVER_PS;
        self.update(disk, now_ps);
        let it = &mut self.disks[disk];
        for lane in &mut it.lanes[..self.kinds] {
            it.present -= lane.release(finished);
        }
        while it.present < self.rates.len() && !it.waiting.is_empty() {
            let Waiting { work, request, kind } = it.waiting.pop_front().expect("it is not empty");
            it.admit(kind, work, request);
        }
        self.plan(disk, now_ps)
    }

    #[inline]
    fn update(&mut self, disk: usize, now_ps: u64) {
        let rates = self.rates(disk);
        let it = &mut self.disks[disk];
        if it.present > 0 {
            let share_ps = (now_ps - it.updated_ps) as f64 / it.present as f64;
            for (lane, rate) in it.lanes[..self.kinds].iter_mut().zip(rates) {
                let work = share_ps * rate;
                lane.served += work;
                lane.done += work * lane.requests.len() as f64;
            }
        }
        it.updated_ps = now_ps;
    }

    /// A look that comes too early asks for the next; one that would come too late is replaced here.
    #[inline]
    fn plan(&mut self, disk: usize, now_ps: u64) -> Option<u64> {
        let rates = self.rates(disk);
        let it = &mut self.disks[disk];
        let mut wait_ps = f64::INFINITY;
        for (lane, rate) in it.lanes[..self.kinds].iter().zip(rates) {
            if let Some(first) = lane.requests.front() {
                wait_ps = wait_ps.min((first.0 - lane.served) * it.present as f64 / rate);
            }
        }
        if it.present == 0 {
            return None;
        }
        let due_ps = now_ps + (wait_ps.ceil() as u64).max(1);
        (due_ps < it.planned_ps).then(|| {
            it.planned_ps = due_ps;
            due_ps
        })
    }

    #[inline]
    fn rates(&self, disk: usize) -> [f64; KINDS] {
        let it = &self.disks[disk];
        self.rates[it.present.clamp(1, self.rates.len()) - 1].map(|rate| rate / it.slowness)
    }

    pub fn count(&self) -> usize {
        self.disks.len()
    }

    /// How long it would have taken for what it has done until now, at its fastest with each kind.
    pub fn busy_until_ps(&mut self, disk: usize, now_ps: u64) -> f64 {
        self.update(disk, now_ps);
        let it = &self.disks[disk];
        let lanes = it.lanes[..self.kinds].iter().zip(self.fastest);
        lanes.map(|(lane, fastest)| lane.done / fastest * it.slowness).sum()
    }

    /// Requests that were put on any disk, ever.
    pub fn total_entered(&self) -> u64 {
        self.disks.iter().map(|disk| disk.entered).sum()
    }
}

impl Disk {
    #[inline]
    fn admit(&mut self, kind: usize, work: f64, request: u32) {
        self.present += 1;
        self.lanes[kind].admit(work, request);
    }
}

impl Lane {
    #[inline]
    fn admit(&mut self, work: f64, request: u32) {
        let finished = self.served + work;
        match self.requests.back() {
            Some(last) if last.0 > finished => {
                let place = self.requests.partition_point(|other| other.0 <= finished);
                self.requests.insert(place, (finished, request));
            }
            _ => self.requests.push_back((finished, request)),
        }
    }

    /// Hands over who is finished, and returns how many they are.
    #[inline]
    fn release(&mut self, finished: &mut Vec<u32>) -> usize {
        let mut released = 0;
        while self.requests.front().is_some_and(|first| first.0 <= self.served + ROUNDING) {
            finished.extend(self.requests.pop_front().map(|first| first.1));
            released += 1;
        }
        if self.requests.is_empty() {
            self.served = 0.0; // keeps it small, and with it exact
        }
        released
    }
}

/// Linear between the depths that are given.
fn rate_at(rates: &[(u32, f64)], depth: u32) -> f64 {
    let above = rates.partition_point(|rate| rate.0 < depth);
    let (upper_depth, upper) = rates[above.min(rates.len() - 1)];
    if upper_depth <= depth || above == 0 {
        return upper;
    }
    let (lower_depth, lower) = rates[above - 1];
    lower + (upper - lower) * f64::from(depth - lower_depth) / f64::from(upper_depth - lower_depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every request's end when all enter at once, all of one kind.
    fn ends_ps(disks: &mut Disks, works: &[f64]) -> Vec<(u32, u64)> {
        let alike: Vec<(usize, f64)> = works.iter().map(|&work| (0, work)).collect();
        ends_of_kinds_ps(disks, &alike)
    }

    /// Every request's end when all enter at once, each of its kind.
    fn ends_of_kinds_ps(disks: &mut Disks, requests: &[(usize, f64)]) -> Vec<(u32, u64)> {
        let mut looks: Vec<u64> = requests
            .iter()
            .enumerate()
            .filter_map(|(number, &(kind, work))| disks.enter(0, kind, 0, number as u32, work))
            .collect();
        let (mut ends, mut finished) = (Vec::new(), Vec::new());
        while let Some(now_ps) = looks.iter().copied().min() {
            looks.retain(|&look| look != now_ps);
            looks.extend(disks.look(0, now_ps, &mut finished));
            ends.extend(finished.drain(..).map(|request| (request, now_ps)));
        }
        ends
    }

    #[test]
    fn requests_that_are_there_together_share_the_rate_of_their_number() {
        // 2 requests: 1.5 a second, so each takes 2 / 1.5 seconds.
        let mut disks = Disks::new(&[&[(1, 1.0), (2, 1.5)]], [1.0].into_iter());
        let ends = ends_ps(&mut disks, &[1.0, 1.0]);
        assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), [0, 1]);
        assert!(ends.iter().all(|end| end.1.abs_diff(1_333_333_333_333) <= 2), "{ends:?}");
    }

    #[test]
    fn the_smaller_request_overtakes_and_leaves_the_disk_to_the_other() {
        // Sharing 1 a second: the half request is done at 1 s, the whole one has had a half by then.
        let mut disks = Disks::new(&[&[(1, 1.0), (2, 1.0)]], [1.0].into_iter());
        let ends = ends_ps(&mut disks, &[1.0, 0.5]);
        assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), [1, 0]);
        assert!(ends[0].1.abs_diff(1_000_000_000_000) <= 2 && ends[1].1.abs_diff(1_500_000_000_000) <= 4);
        assert!((disks.busy_until_ps(0, 2_000_000_000_000) - 1.5e12).abs() < 1e7);
    }

    #[test]
    fn who_comes_when_all_places_are_taken_waits_for_one() {
        let mut disks = Disks::new(&[&[(1, 1.0)]], [1.0].into_iter());
        let ends = ends_ps(&mut disks, &[1.0, 0.5, 1.0]);
        assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(ends[1].1.abs_diff(1_500_000_000_000) <= 4 && ends[2].1.abs_diff(2_500_000_000_000) <= 6);
    }

    #[test]
    fn kinds_share_the_time_and_each_is_served_at_its_own_rate() {
        // Two on the disk: the read has half of the time at 2 a second, the write half of it at 1, then all of it.
        let mut disks = Disks::new(&[&[(1, 1.0), (2, 2.0)], &[(1, 0.5), (2, 1.0)]], [1.0].into_iter());
        let ends = ends_of_kinds_ps(&mut disks, &[(1, 1.0), (0, 1.0)]);
        assert_eq!(ends.iter().map(|end| end.0).collect::<Vec<_>>(), [1, 0]);
        assert!(
            ends[0].1.abs_diff(1_000_000_000_000) <= 2 && ends[1].1.abs_diff(2_000_000_000_000) <= 4,
            "{ends:?}"
        );
        // A read at 2 a second at best and a write at 1: half a second and a whole one.
        assert!((disks.busy_until_ps(0, 3_000_000_000_000) - 1.5e12).abs() < 1e7);
    }

    #[test]
    fn a_straggler_takes_its_factor_longer() {
        let mut disks = Disks::new(&[&[(1, 1.0)]], [3.0].into_iter());
        assert!(ends_ps(&mut disks, &[1.0])[0].1.abs_diff(3_000_000_000_000) <= 2);
    }

    #[test]
    fn rates_between_measured_depths_are_linear_and_level_beyond() {
        let rates = [(1, 100.0), (4, 400.0), (8, 500.0)];
        let found = [1, 2, 4, 6, 8, 50].map(|depth| rate_at(&rates, depth));
        assert_eq!(found, [100.0, 200.0, 400.0, 450.0, 500.0, 500.0]);
    }
}
