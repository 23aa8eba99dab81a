//! When each request is done: the service model, apart from clocks, files and threads.
//!
//! Since a service takes what is known on arrival, so is its end: the channel that is free first serves it, from then or from now.
//! The end is counted from when the channel was free and not from when somebody woke up, so no lateness adds up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::time::Duration;

/// How long requests take, and how many are served at once.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Of every request, whatever its size; of a flush, too.
    pub latency: Duration,
    /// Requests served at once.
    pub channels: NonZeroUsize,
    /// What each channel moves while it holds a request; `None`: the size does not matter.
    pub channel_bandwidth_bytes_per_second: Option<f64>,
}

impl Model {
    /// How long a request of that many bytes holds a channel.
    pub fn service(&self, bytes: u64) -> Duration {
        let moving = self.channel_bandwidth_bytes_per_second.map_or(0.0, |rate| bytes as f64 / rate);
        self.latency + Duration::from_secs_f64(moving)
    }
}

/// The queue and the channels. Times count from any origin that all calls share, and never go back.
pub struct Timetable {
    model: Model,
    free_at: BinaryHeap<Reverse<Duration>>,
    written_at: Duration,
}

impl Timetable {
    pub fn new(model: Model) -> Self {
        let free_at = (0..model.channels.get()).map(|_| Reverse(Duration::ZERO)).collect();
        Self { model, free_at, written_at: Duration::ZERO }
    }

    /// When a read that arrives now is done.
    pub fn accept_read(&mut self, now: Duration, bytes: u64) -> Duration {
        let Reverse(free_at) = self.free_at.pop().expect("there is a channel, and each is put back");
        let done_at = free_at.max(now) + self.model.service(bytes);
        self.free_at.push(Reverse(done_at));
        done_at
    }

    /// When a write that arrives now is done.
    pub fn accept_write(&mut self, now: Duration, bytes: u64) -> Duration {
        let done_at = self.accept_read(now, bytes);
        self.written_at = self.written_at.max(done_at);
        done_at
    }

    /// When a flush that arrives now is done: all writes that came before it are.
    pub fn accept_flush(&self, now: Duration) -> Duration {
        self.written_at.max(now) + self.model.latency
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn model(channels: usize) -> Model {
        let channels = NonZeroUsize::new(channels).unwrap();
        Model { latency: 4 * MS, channels, channel_bandwidth_bytes_per_second: Some(50e6) }
    }

    #[test]
    fn a_lone_request_takes_the_latency_and_the_time_of_its_bytes() {
        assert_eq!(Timetable::new(model(3)).accept_read(MS, 50_000), 6 * MS);
        let sizeless = Model { channel_bandwidth_bytes_per_second: None, ..model(1) };
        assert_eq!(Timetable::new(sizeless).accept_read(MS, 1 << 20), 5 * MS);
    }

    #[test]
    fn a_flush_waits_for_the_writes_before_it_and_for_no_read() {
        let mut table = Timetable::new(model(2));
        table.accept_read(Duration::ZERO, 500_000); // done after 14 ms
        assert_eq!(table.accept_flush(MS), 5 * MS);
        table.accept_write(MS, 50_000); // done after 6 ms
        assert_eq!(table.accept_flush(2 * MS), 10 * MS);
    }

    #[test]
    fn a_flush_holds_no_channel() {
        let mut table = Timetable::new(model(1));
        table.accept_flush(Duration::ZERO);
        assert_eq!(table.accept_read(Duration::ZERO, 50_000), 5 * MS);
    }

    /// A closed loop: each of `clients` sends its next request when the last is answered.
    fn closed_loop(channels: usize, clients: usize, bytes: u64, requests: usize) -> Duration {
        let mut table = Timetable::new(model(channels));
        let mut idle: BinaryHeap<_> = (0..clients).map(|_| Reverse(Duration::ZERO)).collect();
        let mut last = Duration::ZERO;
        for _ in 0..requests {
            let Reverse(now) = idle.pop().unwrap();
            let done_at = table.accept_read(now, bytes);
            last = last.max(done_at);
            idle.push(Reverse(done_at));
        }
        last
    }

    proptest! {
        #[test]
        fn a_closed_loop_moves_the_smaller_of_clients_and_channels_a_service(
            channels in 1_usize..9, clients in 1_usize..20, bytes in 0_u64..1_000_000, rounds in 1_u32..20,
        ) {
            let at_once = clients.min(channels);
            let took = closed_loop(channels, clients, bytes, at_once * rounds as usize);
            prop_assert_eq!(took, rounds * model(channels).service(bytes));
        }

        #[test]
        fn never_are_more_served_at_once_than_there_are_channels_and_none_is_idle_while_one_waits(
            channels in 1_usize..5, arrivals in prop::collection::vec((0_u64..5_000, 0_u64..500_000), 1..60),
        ) {
            let (mut table, mut now) = (Timetable::new(model(channels)), Duration::ZERO);
            let mut served: Vec<(Duration, Duration)> = Vec::new(); // from, until
            for (pause_us, bytes) in arrivals {
                now += Duration::from_micros(pause_us);
                let until = table.accept_read(now, bytes);
                let from = until - model(channels).service(bytes);
                let busy = |at: Duration| served.iter().filter(|(from, until)| *from <= at && at < *until).count();
                prop_assert!(from >= now && busy(from) < channels);
                prop_assert!(from == now || busy(from - Duration::from_nanos(1)) == channels);
                prop_assert!(served.last().is_none_or(|(earlier, _)| *earlier <= from), "first come, first served");
                served.push((from, until));
            }
        }
    }
}
