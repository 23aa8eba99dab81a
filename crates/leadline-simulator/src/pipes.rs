//! Alike servers that take what comes first, first: NICs, the switch, software that passes on so much and no more.
//!
//! Because arrivals come in the order of time, a server needs no queue: when it will be free says all.

/// Some pipes of one kind, each with its own line and so many ports.
pub struct Pipes {
    ports: usize,
    free_ps: Vec<u64>,
    busy_ps: Vec<u64>,
    /// Picoseconds for one unit (a byte, or a request) of each pipe.
    unit_ps: Vec<f64>,
    units: Vec<u64>,
}

/// When the first and the last byte pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    pub start_ps: u64,
    pub end_ps: u64,
}

impl Pipes {
    /// `slowness` of each pipe: 1.0 for one that is as it should be.
    pub fn new(ports: u32, units_per_second: f64, slowness: impl Iterator<Item = f64>) -> Self {
        let unit_ps: Vec<f64> = slowness.map(|factor| 1e12 / units_per_second * factor).collect();
        let (ports, count) = (ports as usize, unit_ps.len());
        Self {
            ports,
            free_ps: vec![0; count * ports],
            busy_ps: vec![0; count],
            unit_ps,
            units: vec![0; count],
        }
    }

    /// Joins the line of one pipe. `work` stretches the time: 1.0 in the mean.
    #[inline]
    pub fn enter(&mut self, pipe: usize, now_ps: u64, units: u64, work: f64) -> Passage {
        let service_ps = (units as f64 * self.unit_ps[pipe] * work).round() as u64;
        let ports = &mut self.free_ps[pipe * self.ports..(pipe + 1) * self.ports];
        let mut port = 0;
        for other in 1..ports.len() {
            if ports[other] < ports[port] {
                port = other;
            }
        }
        let start_ps = ports[port].max(now_ps);
        ports[port] = start_ps + service_ps;
        self.busy_ps[pipe] += service_ps;
        self.units[pipe] += units;
        Passage { start_ps, end_ps: start_ps + service_ps }
    }

    pub fn count(&self) -> usize {
        self.units.len()
    }

    /// How long its ports have been busy until now, added up. What they have promised beyond now does not count: a
    /// port that is not free yet is busy without a gap from now until then.
    pub fn busy_until_ps(&self, pipe: usize, now_ps: u64) -> u64 {
        let ports = &self.free_ps[pipe * self.ports..(pipe + 1) * self.ports];
        self.busy_ps[pipe] - ports.iter().map(|&free_ps| free_ps.saturating_sub(now_ps)).sum::<u64>()
    }

    pub fn ports(&self) -> usize {
        self.ports
    }

    /// Of all pipes, ever.
    pub fn total_units(&self) -> u64 {
        self.units.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(ports: u32) -> Pipes {
        Pipes::new(ports, 1e12, [1.0].into_iter())
    }

    #[test]
    fn who_comes_second_waits_for_the_first() {
        let mut pipes = alone(1);
        assert_eq!(pipes.enter(0, 10, 5, 1.0), Passage { start_ps: 10, end_ps: 15 });
        assert_eq!(pipes.enter(0, 12, 5, 1.0), Passage { start_ps: 15, end_ps: 20 });
        assert_eq!(pipes.enter(0, 30, 5, 1.0), Passage { start_ps: 30, end_ps: 35 });
    }

    #[test]
    fn a_second_port_serves_the_second_at_once() {
        let mut pipes = alone(2);
        assert_eq!(pipes.enter(0, 0, 9, 1.0).end_ps, 9);
        assert_eq!(pipes.enter(0, 0, 5, 1.0).end_ps, 5);
        assert_eq!(pipes.enter(0, 0, 5, 1.0), Passage { start_ps: 5, end_ps: 10 });
    }

    #[test]
    fn what_is_promised_beyond_now_is_not_counted_as_busy_yet() {
        let mut pipes = alone(1);
        pipes.enter(0, 10, 5, 1.0);
        pipes.enter(0, 20, 8, 1.0);
        assert_eq!(pipes.busy_until_ps(0, 22), 5 + 2);
        assert_eq!(pipes.busy_until_ps(0, 100), 13);
    }

    #[test]
    fn a_slow_pipe_takes_so_many_times_as_long() {
        let mut pipes = Pipes::new(1, 1e9, [1.0, 4.0].into_iter());
        assert_eq!(pipes.enter(0, 0, 3, 1.0).end_ps, 3000);
        assert_eq!(pipes.enter(1, 0, 3, 1.0).end_ps, 12_000);
    }
}
