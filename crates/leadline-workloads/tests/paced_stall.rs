//! The paced load sees a stall as its users would; a closed loop does not.
//!
//! The scenario is one that fio's rated mode gets wrong by five orders of magnitude: 1,000 reads a second for
//! ten seconds, each of 3 us, and one that stalls for a second. fio prints a p99 of 8 us. Here time is virtual,
//! so the test takes milliseconds and yields the same figures everywhere.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;

use leadline_workloads::arrivals::{schedule, Arrival};
use leadline_workloads::clock::{Clock, Waking};
use leadline_workloads::distribution::Distribution;
use leadline_workloads::failures::Failure;
use leadline_workloads::paced::access::{Access, Operation, Pattern};
use leadline_workloads::paced::serve::{serve, PerformOperation, Served, Timetable};

const SECOND_NS: u64 = 1_000_000_000;
const SERVICE_NS: u64 = 3_000;
const STALLED_OPERATION: u64 = 5_000;

/// Time that passes only when someone waits or works.
struct VirtualClock(Cell<u64>);

impl Clock for VirtualClock {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }

    fn wait_until(&self, due_ns: u64) -> Waking {
        let waited = self.0.get() < due_ns;
        self.0.set(self.0.get().max(due_ns));
        Waking { now_ns: self.0.get(), waited }
    }
}

/// A disk with a known service time for each operation.
struct FakeDisk<'clock, Service: Fn(u64) -> u64> {
    clock: &'clock VirtualClock,
    service_ns: Service,
}

impl<Service: Fn(u64) -> u64> PerformOperation for FakeDisk<'_, Service> {
    fn prepare(&mut self, _: Operation) {}

    fn perform(&mut self, operation: Operation) -> Result<(), Failure> {
        self.clock.0.set(self.clock.0.get() + (self.service_ns)(operation.index));
        Ok(())
    }
}

fn one_stall(index: u64) -> u64 {
    if index == STALLED_OPERATION {
        SECOND_NS
    } else {
        SERVICE_NS
    }
}

fn timetable(arrival: Arrival, ramp_ns: u64, window_ns: u64, drain_ns: u64) -> Timetable {
    Timetable {
        due_ns: schedule(arrival, 1000.0, ramp_ns + window_ns, 11).unwrap(),
        window_start_ns: ramp_ns,
        window_end_ns: ramp_ns + window_ns,
        give_up_ns: ramp_ns + window_ns + drain_ns,
    }
}

fn serve_alone(timetable: &Timetable, service_ns: impl Fn(u64) -> u64) -> Served {
    let clock = VirtualClock(Cell::new(0));
    let access = Access::new(Pattern::Randread, None, 100, 1);
    let mut served = Served::over(timetable.window_end_ns - timetable.window_start_ns);
    let mut disk = FakeDisk { clock: &clock, service_ns };
    serve(timetable, &access, &AtomicU64::new(0), &clock, &mut disk, &mut served);
    served
}

/// Latencies of a queue with one server, by Lindley's recursion: written without the code under test.
fn true_latencies_ns(due_ns: &[u64], service_ns: impl Fn(u64) -> u64) -> Vec<u64> {
    let mut free_ns = 0u64;
    let mut latencies_ns: Vec<u64> = Vec::new();
    for (&due_ns, index) in due_ns.iter().zip(0..) {
        free_ns = free_ns.max(due_ns) + service_ns(index);
        latencies_ns.push(free_ns - due_ns);
    }
    latencies_ns.sort_unstable();
    latencies_ns
}

fn assert_within_5_percent(measured: &Distribution, truth_ns: &[u64], fraction: f64) {
    let rank = (fraction * truth_ns.len() as f64).ceil() as usize;
    let (measured_ns, true_ns) = (measured.quantile_ns(fraction).unwrap(), truth_ns[rank - 1]);
    let error = measured_ns as f64 / true_ns as f64 - 1.0;
    assert!(error.abs() < 0.05, "p{}: measured {measured_ns}, truth {true_ns}", fraction * 100.0);
}

#[test]
fn a_stall_is_charged_to_everyone_who_queued_behind_it() {
    for arrival in [Arrival::Constant, Arrival::Poisson] {
        let timetable = timetable(arrival, 0, 10 * SECOND_NS, SECOND_NS);
        let served = serve_alone(&timetable, one_stall);
        let truth_ns = true_latencies_ns(&timetable.due_ns, one_stall);
        let latency = served.reads.latency.distribution();
        for fraction in [0.5, 0.9, 0.95, 0.99, 0.999] {
            assert_within_5_percent(&latency, &truth_ns, fraction);
        }
        assert!(latency.quantile_ns(0.99).unwrap() > 850_000_000, "the published truth is about 0.9 s");
        assert_eq!(latency.max_ns, truth_ns.last().copied());
    }
}

#[test]
fn service_time_alone_does_not_see_the_stall() {
    let served = serve_alone(&timetable(Arrival::Constant, 0, 10 * SECOND_NS, SECOND_NS), one_stall);
    let service = served.reads.service.distribution();
    assert!(service.quantile_ns(0.999).unwrap().abs_diff(SERVICE_NS) <= SERVICE_NS / 1000);
    assert_eq!(service.max_ns, Some(SECOND_NS));
}

#[test]
fn a_queue_behind_the_stall_is_not_blamed_on_the_generator() {
    let served = serve_alone(&timetable(Arrival::Constant, 0, 10 * SECOND_NS, SECOND_NS), one_stall);
    let (lag, oversleep) = (served.reads.lag.distribution(), served.reads.oversleep.distribution());
    assert!(lag.max_ns.unwrap() > 990_000_000);
    assert_eq!(oversleep.max_ns, Some(0), "this clock wakes on time");
    // 1,000 arrivals queued; working them off takes 3 ms, in which three more arrived late. The first arrival
    // of all was due at the very start, so nobody waited for it either.
    assert_eq!(lag.count - oversleep.count, 1 + 1000 + 3);
}

#[test]
fn latency_is_lag_plus_service() {
    let served = serve_alone(&timetable(Arrival::Poisson, 0, 10 * SECOND_NS, SECOND_NS), one_stall);
    let mean_ns = |tally: Distribution| tally.mean_ns.unwrap();
    let parts_ns = mean_ns(served.reads.lag.distribution()) + mean_ns(served.reads.service.distribution());
    assert!((mean_ns(served.reads.latency.distribution()) - parts_ns).abs() < 1e-3);
}

#[test]
fn what_is_not_started_by_the_drain_limit_stays_unserved() {
    // Two milliseconds of work arrive each millisecond: after ten seconds half is undone, and two more seconds
    // are granted. Starts lie at 0, 2, 4 ... ms and the one at 12 s is too late.
    let timetable = timetable(Arrival::Constant, 0, 10 * SECOND_NS, 2 * SECOND_NS);
    let served = serve_alone(&timetable, |_| 2_000_000);
    assert_eq!(timetable.scheduled(), 10_000);
    assert_eq!(served.reads.performed(), 6_000);
    assert_eq!(served.last_end_ns, 12 * SECOND_NS);
    // Completions at 2, 4 ... 9,998 ms; the one at the very end lies outside.
    assert_eq!(served.read_completions.total(), 4_999);
}

#[test]
fn operations_of_the_ramp_load_the_disk_but_are_not_recorded() {
    let timetable = timetable(Arrival::Constant, SECOND_NS, SECOND_NS, SECOND_NS);
    // The last operation of the ramp stalls: the window inherits its queue.
    let served = serve_alone(&timetable, |index| if index == 999 { SECOND_NS / 2 } else { SERVICE_NS });
    let latency = served.reads.latency.distribution();
    assert_eq!((timetable.scheduled(), latency.count), (1000, 1000));
    assert!(latency.max_ns.unwrap() > 490_000_000);
    assert_eq!(served.reads.service.distribution().max_ns, Some(SERVICE_NS));
    // Throughput belongs to the clock: the stalled one ended in the window and counts there.
    assert_eq!(served.read_completions.total(), 1001);
}

#[test]
fn failed_operations_are_counted_and_leave_no_latency() {
    struct FullDisk;
    impl PerformOperation for FullDisk {
        fn prepare(&mut self, _: Operation) {}
        fn perform(&mut self, _: Operation) -> Result<(), Failure> {
            Err(Failure::from_errno(28))
        }
    }
    let timetable = timetable(Arrival::Constant, 0, SECOND_NS, 0);
    let access = Access::new(Pattern::Write, None, 100, 1);
    let mut served = Served::over(SECOND_NS);
    let clock = VirtualClock(Cell::new(0));
    serve(&timetable, &access, &AtomicU64::new(0), &clock, &mut FullDisk, &mut served);
    assert_eq!(served.writes.performed(), 1000);
    assert_eq!(served.writes.latency.count(), 0);
    assert_eq!(served.writes.failures.occurred()[0].name, "ENOSPC");
    assert_eq!(served.write_completions.total(), 0);
}
