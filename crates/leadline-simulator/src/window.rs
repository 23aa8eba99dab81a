//! Which requests count: those that are answered after the warm-up, until there are enough.

use leadline_workloads::distribution::DurationRecorder;

/// What happened to the window when a request was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    None,
    Opened,
    Closed,
}

pub struct Window {
    warm_up: u64,
    last: u64,
    answered: u64,
    in_flight: u64,
    /// Requests in flight times picoseconds.
    area: u128,
    changed_ps: u64,
    pub opened_ps: u64,
    /// When half of what counts was answered.
    pub halfway_ps: u64,
    pub closed_ps: u64,
    pub operations: u64,
    pub failed: u64,
    pub latency: DurationRecorder,
    /// Of reads and of writes, where both occur.
    pub by_way: Option<[DurationRecorder; 2]>,
}

impl Window {
    pub fn new(warm_up: u64, operations: u64, mixed: bool) -> Self {
        Self {
            warm_up,
            last: warm_up + operations,
            answered: 0,
            in_flight: 0,
            area: 0,
            changed_ps: 0,
            opened_ps: 0,
            halfway_ps: 0,
            closed_ps: 0,
            operations: 0,
            failed: 0,
            latency: DurationRecorder::new(),
            by_way: mixed.then(|| [DurationRecorder::new(), DurationRecorder::new()]),
        }
    }

    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Closes it before enough are answered.
    pub fn give_up(&mut self, now_ps: u64) {
        self.pass(now_ps);
        (self.last, self.closed_ps) = (self.answered, now_ps);
    }

    /// Requests are issued until the last one that counts is answered.
    pub fn is_closed(&self) -> bool {
        self.answered >= self.last
    }

    #[inline]
    pub fn issue(&mut self, now_ps: u64) {
        self.pass(now_ps);
        self.in_flight += 1;
    }

    #[inline]
    pub fn answer(&mut self, now_ps: u64, issued_ps: u64, reads: bool, failed: bool) -> Border {
        self.pass(now_ps);
        self.in_flight -= 1;
        if (self.warm_up..self.last).contains(&self.answered) {
            self.count((now_ps - issued_ps + 500) / 1000, reads, failed);
        }
        self.answered += 1;
        self.border(now_ps)
    }

    fn count(&mut self, latency_ns: u64, reads: bool, failed: bool) {
        if failed {
            self.failed += 1;
            return;
        }
        self.operations += 1;
        self.latency.record(latency_ns);
        if let Some(by_way) = &mut self.by_way {
            by_way[usize::from(!reads)].record(latency_ns);
        }
    }

    fn border(&mut self, now_ps: u64) -> Border {
        if self.answered > self.last {
            return Border::None; // what was in flight when it closed
        }
        if self.answered == self.warm_up + (self.last - self.warm_up) / 2 {
            self.halfway_ps = now_ps;
        }
        if self.answered == self.last {
            self.closed_ps = now_ps;
            return Border::Closed;
        }
        if self.answered == self.warm_up {
            self.opened_ps = now_ps;
            self.area = 0;
            return Border::Opened;
        }
        Border::None
    }

    #[inline]
    fn pass(&mut self, now_ps: u64) {
        if !self.is_closed() {
            self.area += u128::from(self.in_flight) * u128::from(now_ps - self.changed_ps);
            self.changed_ps = now_ps;
        }
    }

    pub fn length_ps(&self) -> u64 {
        (self.closed_ps - self.opened_ps).max(1)
    }

    pub fn first_half_share(&self) -> f64 {
        self.halfway_ps.saturating_sub(self.opened_ps) as f64 / self.length_ps() as f64
    }

    pub fn mean_in_flight(&self) -> f64 {
        self.area as f64 / self.length_ps() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_answered_between_the_borders_counts() {
        let mut window = Window::new(1, 2, false);
        (0..4).for_each(|_| window.issue(0));
        let borders = [1000, 3000, 5000, 9000].map(|now_ps| window.answer(now_ps, 0, true, false));
        assert_eq!(borders, [Border::Opened, Border::None, Border::Closed, Border::None]);
        assert_eq!((window.operations, window.length_ps()), (2, 4000));
        // 3 in flight for 2,000 ps, then 2 for 2,000 ps.
        assert_eq!(window.mean_in_flight(), 2.5);
    }
}
