//! Mixed reads and writes against answers that are known: closed networks of several classes whose solution has product
//! form, open disks shared by two classes, and the Markov chain of a small network that has no such form.

mod described;

use std::collections::HashMap;

use described::mean_value_analysis::{throughput_and_residences, Kind};
use described::{assert_near, disks_only, mean_ms, outcome_of, AT_ONCE};
use leadline_simulator::description::{Service, Simulate, Way};
use leadline_simulator::SimulateOutcome;
use leadline_workloads::distribution::Distribution;
use proptest::prelude::*;

/// Writes take so many times as long on a disk, at any number of requests: that is what product form wants.
const WRITES_LONGER: f64 = 2.5;

fn shape(number: usize) -> f64 {
    [800.0, 1400.0, 1800.0, 2000.0][number.min(4) - 1]
}

fn mixed(step: &mut Simulate, read_share: f64, reads: Vec<(u32, f64)>, writes: Vec<(u32, f64)>) {
    (step.load.direction, step.load.read_share) = (Way::Mixed, Some(read_share));
    (step.storage.disk_rates, step.storage.disk_write_rates) = (reads, writes);
}

/// One client, whole messages, exponential service; 0.8 ms of delay.
fn product_form(nodes: u32, disks_per_node: u32, in_flight: u32, read_share: f64) -> Simulate {
    let mut step = disks_only(nodes, disks_per_node, in_flight);
    // Deep enough that none waits in line: there all wait alike, whatever they need.
    let curve =
        |slower: f64| [1, 2, 3, 4, 1000].map(|number| (number, shape(number as usize) / slower)).to_vec();
    mixed(&mut step, read_share, curve(1.0), curve(WRITES_LONGER));
    step.storage.service = Service::Exponential;
    step.storage.nic_bytes_per_second = step.load.request_bytes as f64 * 2500.0;
    step.clients.nic_bytes_per_second = step.load.request_bytes as f64 * 5000.0;
    step.network.round_trip_ns = 400_000.0;
    step.clients.delay_ns = 300_000.0;
    step.storage.delay_ns = 100_000.0;
    step
}

/// Requests a second, and the mean latency of reads and of writes. One chain of customers that change their class with
/// each round: for the disks a mix of two services, of which each class has its own share (Baskett et al. 1975).
fn known(step: &Simulate) -> (f64, [f64; 2]) {
    let reads = step.load.read_share.expect("a mix");
    let longer = [1.0, WRITES_LONGER];
    let mean = reads + (1.0 - reads) * WRITES_LONGER;
    let bytes = step.load.request_bytes as f64;
    let disk = move |number: usize| shape(number) / mean;
    let storage = |_: usize| step.storage.nic_bytes_per_second / bytes;
    let client = |_: usize| step.clients.nic_bytes_per_second / bytes;
    let nodes = f64::from(step.storage.nodes);
    let kinds = [
        Kind { count: nodes * f64::from(step.storage.disks_per_node), visits: 1.0, rate: &disk },
        Kind { count: nodes, visits: reads, rate: &storage },
        Kind { count: 1.0, visits: reads, rate: &client },
        Kind { count: nodes, visits: 1.0 - reads, rate: &storage },
        Kind { count: 1.0, visits: 1.0 - reads, rate: &client },
    ];
    let in_flight = step.clients.requests_in_flight as usize;
    let (per_second, residences) = throughput_and_residences(&kinds, 800e-6, in_flight);
    let of_visit = |kind: usize| residences[kind] / kinds[kind].visits;
    let latency = |way: usize| {
        800e-6 + residences[0] * longer[way] / mean + of_visit(1 + 2 * way) + of_visit(2 + 2 * way)
    };
    (per_second, [latency(0), latency(1)])
}

fn mean_seconds(way: &Option<Distribution>) -> f64 {
    way.as_ref().and_then(|way| way.mean_ns).expect("a mix") / 1e9
}

fn assert_known(step: &Simulate, tolerance: f64) {
    let (outcome, (per_second, latencies)) = (outcome_of(step), known(step));
    assert_near(outcome.operations_per_second, per_second, tolerance);
    assert_near(mean_seconds(&outcome.read_latency), latencies[0], tolerance);
    assert_near(mean_seconds(&outcome.write_latency), latencies[1], tolerance);
}

#[test]
fn closed_networks_of_reads_and_writes_answer_as_exact_mean_value_analysis_says() {
    for (nodes, disks_per_node, in_flight, share) in
        [(1, 1, 1, 0.7), (1, 1, 8, 0.7), (3, 1, 6, 0.3), (3, 2, 24, 0.5), (8, 4, 40, 0.9)]
    {
        let mut step = product_form(nodes, disks_per_node, in_flight, share);
        step.load.operations = 150_000;
        assert_known(&step, 0.02);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn any_mix_on_a_network_of_product_form_is_met(
        nodes in 1u32..6, disks_per_node in 1u32..4, in_flight in 1u32..24, share in 0.1f64..0.9, seed: u64,
    ) {
        let mut step = product_form(nodes, disks_per_node, in_flight, share);
        (step.load.seed, step.load.operations) = (seed, 100_000);
        let (outcome, (per_second, latencies)) = (outcome_of(&step), known(&step));
        let ratio = outcome.operations_per_second / per_second;
        prop_assert!((ratio - 1.0).abs() < 0.03, "{}", ratio);
        let ratio = mean_seconds(&outcome.read_latency) / latencies[0];
        prop_assert!((ratio - 1.0).abs() < 0.08, "reads {}", ratio);
        let ratio = mean_seconds(&outcome.write_latency) / latencies[1];
        prop_assert!((ratio - 1.0).abs() < 0.08, "writes {}", ratio);
    }
}

#[test]
fn requests_of_two_kinds_that_share_a_disk_wait_in_proportion_to_what_they_need() {
    // M/G/1 with processor sharing: each kind takes its service / (1 - load), however services spread.
    for service in [Service::Constant, Service::Exponential] {
        let mut step = disks_only(1, 1, 1);
        mixed(&mut step, 0.75, vec![(1, 2000.0), (60_000, 2000.0)], vec![(1, 500.0), (60_000, 500.0)]);
        step.storage.service = service;
        step.load.arrivals_per_second = Some(800.0);
        step.load.operations = 200_000;
        let left = 1.0 - 0.8 * (0.75 * 0.5 + 0.25 * 2.0);
        let outcome = outcome_of(&step);
        assert_near(mean_seconds(&outcome.read_latency), 0.5e-3 / left, 0.05);
        assert_near(mean_seconds(&outcome.write_latency), 2e-3 / left, 0.05);
    }
}

#[test]
fn a_disk_that_is_kept_busy_serves_the_harmonic_mean_of_its_two_curves() {
    let (reads, writes) = (vec![(1, 1000.0), (4, 3000.0), (16, 5000.0)], vec![(1, 900.0), (4, 1000.0)]);
    for (depth, read_rate, write_rate) in [(1, 1000.0, 900.0), (4, 3000.0, 1000.0), (16, 5000.0, 1000.0)] {
        let mut step = disks_only(1, 1, depth);
        mixed(&mut step, 0.7, reads.clone(), writes.clone());
        let outcome = outcome_of(&step);
        assert_near(outcome.operations_per_second, 1.0 / (0.7 / read_rate + 0.3 / write_rate), 0.01);
        assert_near(mean_ms(&outcome), f64::from(depth) * 1e3 / outcome.operations_per_second, 0.01);
    }
}

/// Reads and writes on the first disk, and on the second.
type State = [[usize; 2]; 2];

/// Requests a second of two disks, a request going to either by chance, from the stationary state of its Markov chain.
fn per_second_of_the_chain(in_flight: usize, share: f64, curves: [&[f64]; 2]) -> f64 {
    let rate = |state: &State, disk: usize, way: usize| {
        let present = state[disk][0] + state[disk][1];
        if present == 0 {
            return 0.0;
        }
        curves[way][present.min(curves[way].len()) - 1] * state[disk][way] as f64 / present as f64
    };
    let shares = [share, 1.0 - share];
    let total = |state: &State| (0..4).map(|place| rate(state, place / 2, place % 2)).sum::<f64>();
    let fastest = 2.0 * curves.iter().flat_map(|curve| curve.iter()).copied().fold(0.0, f64::max);
    let mut chances: HashMap<State, f64> = HashMap::from([([[in_flight, 0], [0, 0]], 1.0)]);
    for _ in 0..800 {
        let mut next: HashMap<State, f64> = HashMap::new();
        for (state, chance) in &chances {
            *next.entry(*state).or_default() += chance * (1.0 - total(state) / fastest);
            for (left, entered) in (0..4).flat_map(|left| (0..4).map(move |entered| (left, entered))) {
                let leaving = rate(state, left / 2, left % 2) / fastest;
                if leaving > 0.0 {
                    let mut after = *state;
                    after[left / 2][left % 2] -= 1;
                    after[entered / 2][entered % 2] += 1;
                    *next.entry(after).or_default() += chance * leaving * shares[entered % 2] / 2.0;
                }
            }
        }
        chances = next;
    }
    chances.iter().map(|(state, chance)| chance * total(state)).sum()
}

#[test]
fn curves_of_different_shape_answer_as_their_markov_chain_says() {
    let (reads, writes) = ([1000.0, 1900.0, 2700.0, 3400.0, 4000.0], [900.0, 1000.0, 950.0, 800.0, 700.0]);
    let curve = |rates: &[f64]| (1u32..).zip(rates.iter().copied()).collect::<Vec<_>>();
    for (in_flight, share) in [(2, 0.5), (4, 0.3), (4, 0.9)] {
        let mut step = disks_only(2, 1, in_flight);
        mixed(&mut step, share, curve(&reads), curve(&writes));
        step.storage.service = Service::Exponential;
        step.load.operations = 150_000;
        let expected = per_second_of_the_chain(in_flight as usize, share, [&reads, &writes]);
        assert_near(outcome_of(&step).operations_per_second, expected, 0.015);
    }
}

fn busiest(outcome: &SimulateOutcome, name: &str) -> f64 {
    described::utilisation(outcome, name)
}

#[test]
fn the_two_ways_of_a_nic_carry_what_goes_their_way() {
    let mut step = disks_only(4, 4, 64);
    mixed(&mut step, 0.75, vec![(1, AT_ONCE / 1e9)], vec![(1, AT_ONCE / 1e9)]);
    step.clients.nic_bytes_per_second = step.load.request_bytes as f64 * 1000.0;
    let outcome = outcome_of(&step);
    // Reads fill the way in; a third as many writes go out beside them.
    assert_near(busiest(&outcome, "client_nic_in"), 1.0, 0.02);
    assert_near(busiest(&outcome, "client_nic_out"), 1.0 / 3.0, 0.05);
    assert_near(outcome.operations_per_second, 1000.0 / 0.75, 0.02);
}
