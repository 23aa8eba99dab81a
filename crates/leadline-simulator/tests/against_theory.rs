//! The simulator against answers that are known: textbook queues and closed networks of product form.
//!
//! Simulations repeat exactly, so a test that passes once passes always; tolerances are what chance leaves of
//! 100,000 to 400,000 requests.

mod described;

use described::mean_value_analysis::{throughput_and_residences, Kind};
use described::{assert_near, disks_only, mean_ms, outcome_of, AT_ONCE};
use leadline_simulator::description::{Service, Simulate};
use proptest::prelude::*;

/// One server that takes 1 ms a request in the mean, at a load of 0.7: a NIC, first come, first served.
fn one_nic(service: Service, nics: u32) -> Simulate {
    let mut step = disks_only(1, 1, 1);
    step.storage.disk_rates = vec![(1, 1e12)];
    step.storage.service = service;
    step.storage.nics = nics;
    step.storage.nic_bytes_per_second = step.load.request_bytes as f64 * 1000.0;
    step.load.arrivals_per_second = Some(700.0 * f64::from(nics));
    step.load.operations = 400_000;
    step
}

#[test]
fn one_server_with_exponential_service_waits_as_in_the_textbook() {
    let outcome = outcome_of(&one_nic(Service::Exponential, 1));
    assert_near(mean_ms(&outcome), 1.0 / (1.0 - 0.7), 0.03); // M/M/1: 1 / (mu - lambda)
    let p99_ms = outcome.latency.quantile_ns(0.99).unwrap() as f64 / 1e6;
    assert_near(p99_ms, 100f64.ln() / (1.0 - 0.7), 0.05); // and it is exponential
}

#[test]
fn one_server_with_constant_service_waits_half_as_long() {
    let outcome = outcome_of(&one_nic(Service::Constant, 1));
    assert_near(mean_ms(&outcome) - 1.0, 0.7 / (2.0 * (1.0 - 0.7)), 0.03); // M/D/1
}

#[test]
fn two_servers_with_one_line_wait_as_erlang_said() {
    let outcome = outcome_of(&one_nic(Service::Exponential, 2));
    // M/M/2: 1 / (mu (1 - rho^2)).
    assert_near(mean_ms(&outcome), 1.0 / (1.0 - 0.7f64.powi(2)), 0.03);
}

#[test]
fn a_disk_does_not_care_how_service_times_spread() {
    // M/G/1 with processor sharing: the mean depends on the mean of the service times only.
    for service in [Service::Constant, Service::Exponential, Service::Measured] {
        let mut step = disks_only(1, 1, 1);
        step.storage.service = service;
        step.storage.disk_rates = vec![(1, 1000.0), (60_000, 1000.0)]; // shared, however many there are
        step.storage.service_times = vec![(100, 9), (9100, 1)];
        step.load.arrivals_per_second = Some(700.0);
        step.load.operations = 400_000;
        assert_near(mean_ms(&outcome_of(&step)), 1.0 / (1.0 - 0.7), 0.04);
    }
}

#[test]
fn a_disk_with_one_place_is_a_line_like_any_other() {
    let mut step = disks_only(1, 1, 1);
    step.load.arrivals_per_second = Some(700.0);
    step.load.operations = 400_000;
    assert_near(mean_ms(&outcome_of(&step)) - 1.0, 0.7 / (2.0 * (1.0 - 0.7)), 0.03);
    // M/D/1
}

#[test]
fn a_disk_that_is_kept_busy_repeats_the_grid_it_came_from() {
    for (depth, rate) in [(1, 1000.0), (4, 3000.0), (16, 5000.0), (64, 5000.0)] {
        let mut step = disks_only(1, 1, depth);
        step.storage.disk_rates = vec![(1, 1000.0), (4, 3000.0), (16, 5000.0)];
        let outcome = outcome_of(&step);
        assert_near(outcome.operations_per_second, rate, 1e-3); // the window cuts a round of 64 in two
        assert_near(mean_ms(&outcome), f64::from(depth) * 1000.0 / rate, 1e-3);
    }
}

fn throughput(kinds: &[Kind], delay_seconds: f64, customers: usize) -> f64 {
    throughput_and_residences(kinds, delay_seconds, customers).0
}

fn disk_rate(number: usize) -> f64 {
    [800.0, 1400.0, 1800.0, 2000.0][number.min(4) - 1]
}

/// A cluster whose queueing network has product form: exponential service, one client, whole messages.
fn product_form(nodes: u32, disks_per_node: u32, in_flight: u32) -> Simulate {
    let mut step = disks_only(nodes, disks_per_node, in_flight);
    step.storage.service = Service::Exponential;
    step.storage.disk_rates = (1..=4).map(|number| (number, disk_rate(number as usize))).collect();
    step.storage.nic_bytes_per_second = step.load.request_bytes as f64 * 2500.0;
    step.clients.nic_bytes_per_second = step.load.request_bytes as f64 * 5000.0;
    step.network.round_trip_ns = 400_000.0;
    step.clients.delay_ns = 300_000.0;
    step.storage.delay_ns = 100_000.0;
    step
}

fn known_throughput(step: &Simulate) -> f64 {
    let bytes = step.load.request_bytes as f64;
    let storage_nic = |_| step.storage.nic_bytes_per_second / bytes;
    let client_nic = |_| step.clients.nic_bytes_per_second / bytes;
    let nodes = f64::from(step.storage.nodes);
    let kinds = [
        Kind { count: nodes * f64::from(step.storage.disks_per_node), visits: 1.0, rate: &disk_rate },
        Kind { count: nodes, visits: 1.0, rate: &storage_nic },
        Kind { count: 1.0, visits: 1.0, rate: &client_nic },
    ];
    throughput(&kinds, 800e-6, step.clients.requests_in_flight as usize)
}

#[test]
fn closed_networks_answer_as_exact_mean_value_analysis_says() {
    for (nodes, disks_per_node, in_flight) in [(1, 1, 1), (1, 1, 8), (3, 1, 6), (3, 2, 24), (8, 4, 40)] {
        let step = product_form(nodes, disks_per_node, in_flight);
        let outcome = outcome_of(&step);
        assert_near(outcome.operations_per_second, known_throughput(&step), 0.012);
        let known_ms = f64::from(in_flight) / known_throughput(&step) * 1e3;
        assert_near(mean_ms(&outcome), known_ms, 0.012);
    }
}

#[test]
fn software_that_passes_on_so_much_is_a_station_like_any_other() {
    let mut step = product_form(2, 1, 10);
    (step.clients.nic_bytes_per_second, step.storage.nic_bytes_per_second) = (AT_ONCE, AT_ONCE);
    step.clients.most_requests_per_second = Some(1500.0);
    step.storage.most_requests_per_second = Some(1100.0);
    let kinds = [
        Kind { count: 2.0, visits: 1.0, rate: &disk_rate },
        Kind { count: 1.0, visits: 1.0, rate: &|_| 1500.0 },
        Kind { count: 2.0, visits: 1.0, rate: &|_| 1100.0 },
    ];
    assert_near(outcome_of(&step).operations_per_second, throughput(&kinds, 800e-6, 10), 0.012);
}

#[test]
fn the_switch_is_one_station_for_all() {
    let mut step = product_form(4, 1, 12);
    (step.clients.nic_bytes_per_second, step.storage.nic_bytes_per_second) = (AT_ONCE, AT_ONCE);
    step.network.switch_bytes_per_second = Some(step.load.request_bytes as f64 * 3000.0);
    let kinds = [
        Kind { count: 4.0, visits: 1.0, rate: &disk_rate },
        Kind { count: 1.0, visits: 1.0, rate: &|_| 3000.0 },
    ];
    assert_near(outcome_of(&step).operations_per_second, throughput(&kinds, 800e-6, 12), 0.012);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_network_of_product_form_is_met(
        nodes in 1u32..6, disks_per_node in 1u32..4, in_flight in 1u32..24, seed: u64,
    ) {
        let mut step = product_form(nodes, disks_per_node, in_flight);
        step.load.seed = seed;
        step.load.operations = 60_000;
        let ratio = outcome_of(&step).operations_per_second / known_throughput(&step);
        prop_assert!((ratio - 1.0).abs() < 0.025, "{}", ratio);
    }
}
