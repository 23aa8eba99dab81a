//! What holds of any cluster: no byte is lost, Little's law, no resource above what it can do, the same step the same
//! outcome.

mod described;

use described::{assert_near, carried, disks_only, mean_ms, outcome_of, MIB};
use leadline_simulator::description::{
    Protection, Reads, Service, Simulate, Transfer, Way, Writes, WritesToAFile,
};
use leadline_simulator::SimulateOutcome;
use leadline_workloads::distribution::Distribution;
use leadline_workloads::Workload;
use proptest::prelude::*;

fn any_protection() -> impl Strategy<Value = (Protection, Writes)> {
    let replicas = (1u32..4).prop_map(Protection::Replicas);
    let code = (1u32..4, 1u32..3).prop_map(|(data, parity)| Protection::ErasureCode { data, parity });
    let any = prop_oneof![Just(Writes::Chain), Just(Writes::Primary), Just(Writes::FanOut)];
    let coded = prop_oneof![Just(Writes::Primary), Just(Writes::FanOut)];
    prop_oneof![(replicas, any), (code, coded)]
}

/// One way, or both.
fn any_step() -> impl Strategy<Value = Simulate> {
    prop_oneof![2 => any_step_of_one_way(), 1 => any_mixed_step()]
}

fn any_mixed_step() -> impl Strategy<Value = Simulate> {
    (any_step_of_one_way(), 0.05f64..0.95, 100.0f64..3000.0, 1u32..20).prop_map(
        |(mut step, share, rate, deepest)| {
            step.load.direction = Way::Mixed;
            step.load.read_share = Some(share);
            step.storage.disk_write_rates = vec![(1, rate), (deepest + 1, rate * 2.5)];
            step
        },
    )
}

fn any_step_of_one_way() -> impl Strategy<Value = Simulate> {
    let counts = (1u32..4, 1u32..9, 5u32..12, 1u32..4, 1u32..3, 1u32..5);
    let sizes = (1u64..5, 1u64..4, prop::option::of(1u32..6));
    let ways = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<u64>(), 0u32..3);
    (counts, sizes, any_protection(), ways).prop_map(|(counts, sizes, (protection, writes), ways)| {
        let mut step = disks_only(counts.2, counts.3, counts.1);
        step.clients.count = counts.0;
        step.clients.files = counts.4;
        step.storage.nics = counts.4;
        step.storage.nic_bytes_per_second = 3e8;
        step.clients.nic_bytes_per_second = 5e8;
        step.storage.disk_rates = vec![(1, 500.0), (counts.5 + 1, 1500.0)];
        step.network.round_trip_ns = 50_000.0;
        step.network.switch_bytes_per_second = ways.3.then_some(2e9);
        step.network.transfer = if ways.0 { Transfer::CutThrough } else { Transfer::StoreAndForward };
        step.load.direction = if ways.1 { Way::Read } else { Way::Write };
        step.load.random = ways.2;
        step.load.seed = ways.4;
        step.load.request_bytes = sizes.0 * 300_000;
        step.layout.chunk_bytes = sizes.1 * 250_000;
        (step.layout.stripe, step.layout.protection, step.layout.writes) = (sizes.2, protection, writes);
        step.storage.service = if ways.3 { Service::Exponential } else { Service::Constant };
        (step.load.operations, step.load.warm_up_operations) = (2000, 200);
        step.clients.writes_to_a_file =
            if ways.5 == 1 { WritesToAFile::OneAtATime } else { WritesToAFile::SideBySide };
        step.trouble.stragglers = ways.5.min(1);
        step.trouble.straggler_factor = 3.0;
        step
    })
}

/// Bytes of the parts of one request, as one of its disks or nodes gets them.
fn part_bytes(step: &Simulate) -> u64 {
    let (request, chunk) = (step.load.request_bytes, step.layout.chunk_bytes);
    let pieces = (0..request.div_ceil(chunk)).map(|piece| chunk.min(request - piece * chunk));
    pieces.map(|bytes| step.layout.protection.part_bytes(bytes)).sum()
}

/// What one request of a kind puts on: clients' NICs out and in, nodes' NICs in and out (bytes), disks (requests).
fn traffic(step: &Simulate, way: Way) -> [u64; 5] {
    let (bytes, parts, width) =
        (step.load.request_bytes, part_bytes(step), u64::from(step.layout.protection.width()));
    let pieces = bytes.div_ceil(step.layout.chunk_bytes);
    let (data, coded) = match step.layout.protection {
        Protection::Replicas(_) => (1, false),
        Protection::ErasureCode { data, .. } => (u64::from(data), true),
    };
    let sent = width - 1;
    match (way, step.layout.writes) {
        (Way::Write, Writes::Chain) => [bytes, 0, width * bytes, sent * bytes, pieces * width],
        (Way::Write, Writes::Primary) => [bytes, 0, bytes + sent * parts, sent * parts, pieces * width],
        (Way::Write, Writes::FanOut) => [width * parts, 0, width * parts, 0, pieces * width],
        (_, Writes::Primary) if coded => {
            [0, bytes, (data - 1) * parts, bytes + (data - 1) * parts, pieces * data]
        }
        _ => [0, data * parts, 0, data * parts, pieces * data],
    }
}

const CARRIERS: [&str; 5] =
    ["client_nic_out", "client_nic_in", "storage_nic_in", "storage_nic_out", "storage_disk"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_passes_every_resource_on_its_way_as_often_as_the_layout_says(step in any_step()) {
        let outcome = outcome_of(&step);
        let requests = outcome.answered_bytes / step.load.request_bytes;
        let (reading, writing) = (traffic(&step, Way::Read), traffic(&step, Way::Write));
        let reads = carried(&outcome, CARRIERS[1]) / reading[1]; // writes bring nothing back to clients
        match step.load.direction {
            Way::Read => prop_assert_eq!(reads, requests),
            Way::Write => prop_assert_eq!(reads, 0),
            Way::Mixed => prop_assert!(reads > 0 && reads < requests),
        }
        for (place, name) in CARRIERS.into_iter().enumerate() {
            let expected = reads * reading[place] + (requests - reads) * writing[place];
            prop_assert_eq!(carried(&outcome, name), expected, "{}", name);
        }
    }

    #[test]
    fn a_mix_of_reads_alone_or_of_writes_alone_is_no_mix(step in any_step(), reads: bool) {
        let (mut pure, mut mixed) = (step.clone(), step);
        pure.load.direction = if reads { Way::Read } else { Way::Write };
        (pure.load.read_share, pure.storage.disk_write_rates) = (None, Vec::new());
        mixed.load.direction = Way::Mixed;
        mixed.load.read_share = Some(if reads { 1.0 } else { 0.0 });
        let rates = pure.storage.disk_rates.clone();
        let other = vec![(1, 10.0), (1000, 1e6)];
        (mixed.storage.disk_rates, mixed.storage.disk_write_rates) =
            if reads { (rates, other) } else { (other, rates) };
        let (one, other) = (outcome_of(&pure), outcome_of(&mixed));
        prop_assert_eq!((one.events, one.window_ns, &one.latency.bins), (other.events, other.window_ns, &other.latency.bins));
    }

    #[test]
    fn every_answer_of_a_mix_is_a_read_or_a_write_and_as_many_read_as_the_share_says(step in any_mixed_step()) {
        let outcome = outcome_of(&step);
        let counted = |way: &Option<Distribution>| way.as_ref().map_or(0, |way| way.count);
        let (reads, writes) = (counted(&outcome.read_latency), counted(&outcome.write_latency));
        prop_assert_eq!(reads + writes, outcome.operations);
        let share = step.load.read_share.unwrap();
        // Six standard deviations of a count by chance, and what is in flight when the window opens and closes.
        let spread = 6.0 * (2000.0 * share * (1.0 - share)).sqrt() + 2.0 * outcome.mean_in_flight;
        prop_assert!((reads as f64 - 2000.0 * share).abs() <= spread, "{} of 2000, {}", reads, share);
    }

    #[test]
    fn little_was_right_and_nothing_does_more_than_it_can(step in any_step()) {
        let outcome = outcome_of(&step);
        let flying = f64::from(step.clients.count * step.clients.requests_in_flight);
        prop_assert_eq!(outcome.operations, 2000);
        prop_assert!((outcome.mean_in_flight - flying).abs() < 1e-6 * flying, "{}", outcome.mean_in_flight);
        let by_law = outcome.operations_per_second * mean_ms(&outcome) / 1e3;
        // Requests across the window's borders count with their whole latency or not at all.
        prop_assert!((by_law - flying).abs() <= flying * (0.02 + 3.0 * flying / 2000.0), "{} {}", by_law, flying);
        for resource in &outcome.resources {
            prop_assert!(resource.mean_utilisation >= 0.0);
            prop_assert!(resource.highest_utilisation <= 1.0 + 1e-5, "{:?}", resource);
        }
    }

    #[test]
    fn the_same_step_gives_the_same_outcome(step in any_step()) {
        let (one, other) = (outcome_of(&step), outcome_of(&step));
        prop_assert_eq!((one.events, one.window_ns, &one.latency.bins), (other.events, other.window_ns, &other.latency.bins));
    }
}

fn per_second(step: &Simulate) -> f64 {
    outcome_of(step).operations_per_second
}

#[test]
fn one_write_along_a_chain_takes_what_its_legs_add_up_to() {
    let mut step = disks_only(3, 1, 1);
    (step.load.direction, step.layout.protection) = (Way::Write, Protection::Replicas(3));
    (step.clients.nic_bytes_per_second, step.storage.nic_bytes_per_second) = (1e9, 1e9);
    (step.network.round_trip_ns, step.storage.delay_ns, step.clients.delay_ns) = (20_000.0, 7000.0, 5000.0);
    (step.load.operations, step.load.warm_up_operations) = (100, 0);
    let leg_ms = MIB as f64 / 1e9 * 1e3;
    // Client, then 3 x (there, software, disk), then 3 acknowledgements; each leg passes two NICs.
    let whole_messages_ms = 0.005 + 3.0 * (2.0 * leg_ms + 0.010 + 0.007 + 1.0) + 3.0 * 0.010;
    assert_near(mean_ms(&outcome_of(&step)), whole_messages_ms, 1e-5);
    step.network.transfer = Transfer::CutThrough;
    assert_near(mean_ms(&outcome_of(&step)), whole_messages_ms - 3.0 * leg_ms, 1e-5);
}

#[test]
fn a_fan_out_takes_one_leg_and_a_primary_two() {
    let mut step = disks_only(3, 1, 1);
    (step.load.direction, step.layout.protection) = (Way::Write, Protection::Replicas(3));
    step.network.round_trip_ns = 200_000.0;
    (step.load.operations, step.load.warm_up_operations) = (100, 0);
    step.layout.writes = Writes::FanOut;
    assert_near(mean_ms(&outcome_of(&step)), 1.2, 1e-5);
    step.layout.writes = Writes::Primary;
    assert_near(mean_ms(&outcome_of(&step)), 1.4, 1e-5);
}

#[test]
fn a_request_over_several_chunks_waits_for_the_slowest() {
    let mut step = disks_only(50, 4, 1);
    step.layout.chunk_bytes = MIB / 4;
    let alone_ms = mean_ms(&outcome_of(&step));
    assert!((1.0..1.1).contains(&alone_ms), "{alone_ms}"); // now and then two chunks on one disk
    step.storage.service = Service::Exponential;
    // The longest of four exponential times: 1 + 1/2 + 1/3 + 1/4.
    assert_near(mean_ms(&outcome_of(&step)), 25.0 / 12.0, 0.03);
}

#[test]
fn a_file_on_one_group_is_as_fast_as_one_disk() {
    let mut step = disks_only(10, 2, 8);
    step.load.random = false;
    step.layout.stripe = Some(1);
    assert_near(per_second(&step), 1000.0, 1e-3);
    step.layout.stripe = None;
    assert!(per_second(&step) > 4000.0);
}

#[test]
fn a_file_that_is_read_from_one_copy_is_as_fast_as_one_disk_and_many_files_reach_all() {
    let with_files = |files: u32, reads: Reads| {
        let mut step = disks_only(3, 1, 64);
        (step.layout.protection, step.layout.reads) = (Protection::Replicas(3), reads);
        (step.layout.stripe, step.clients.files) = (Some(1), files);
        per_second(&step)
    };
    assert_near(with_files(1, Reads::OneCopy), 1000.0, 1e-3);
    assert!(with_files(1, Reads::AnyCopy) > 2800.0);
    // All three disks hold some of 64 files, and the one that holds most of them is the slowest for its own.
    assert!(with_files(64, Reads::OneCopy) > 2500.0);
}

#[test]
fn where_a_client_writes_to_a_file_one_at_a_time_only_files_add_up_and_chunks_come_one_after_the_other() {
    let by_turns = |direction: Way, files: u32, chunks: u64| {
        let mut step = disks_only(64, 1, 8);
        (step.load.direction, step.clients.files) = (direction, files);
        step.clients.writes_to_a_file = WritesToAFile::OneAtATime;
        step.storage.disk_rates = vec![(1, 1000.0), (8, 8000.0)]; // whoever comes is served at once
        step.layout.chunk_bytes = MIB / chunks;
        per_second(&step)
    };
    assert_near(by_turns(Way::Write, 1, 1), 1000.0, 1e-3);
    assert_near(by_turns(Way::Write, 4, 1), 4000.0, 1e-3);
    assert_near(by_turns(Way::Write, 4, 8), 500.0, 1e-3);
    assert_near(by_turns(Way::Read, 1, 8), 8000.0, 1e-3);
}

#[test]
fn who_waits_for_its_turn_is_in_flight() {
    let mut step = disks_only(64, 1, 8);
    (step.load.direction, step.clients.writes_to_a_file) = (Way::Write, WritesToAFile::OneAtATime);
    assert_near(mean_ms(&outcome_of(&step)), 8.0, 1e-3);
}

#[test]
fn a_mix_reads_past_the_writes_that_wait_for_each_other() {
    let mixed = |writes_to_a_file: WritesToAFile| {
        let mut step = disks_only(64, 1, 8);
        (step.load.direction, step.load.read_share) = (Way::Mixed, Some(0.5));
        step.clients.writes_to_a_file = writes_to_a_file;
        step.storage.disk_rates = vec![(1, 1000.0), (8, 8000.0)];
        step.storage.disk_write_rates = step.storage.disk_rates.clone();
        let outcome = outcome_of(&step);
        let mean_ms =
            |way: &Option<Distribution>| way.as_ref().and_then(|way| way.mean_ns).expect("a mix") / 1e6;
        (mean_ms(&outcome.read_latency), mean_ms(&outcome.write_latency))
    };
    let (reads, writes) = mixed(WritesToAFile::SideBySide);
    assert_near(reads, 1.0, 1e-3);
    assert_near(writes, 1.0, 1e-3);
    let (reads, writes) = mixed(WritesToAFile::OneAtATime);
    assert_near(reads, 1.0, 1e-3);
    assert!(writes > 3.0, "{writes}");
}

#[test]
fn twice_the_nodes_with_twice_the_load_do_twice_as_much() {
    let rates = [4u32, 8, 16].map(|nodes| per_second(&disks_only(nodes, 4, nodes * 16)));
    assert_near(rates[1] / rates[0], 2.0, 0.02);
    assert_near(rates[2] / rates[1], 2.0, 0.02);
}

#[test]
fn more_in_flight_never_makes_it_slower() {
    let rates = [1, 2, 4, 8, 16, 32, 64].map(|in_flight| per_second(&disks_only(4, 2, in_flight)));
    assert!(rates.windows(2).all(|pair| pair[1] > pair[0] * 0.999), "{rates:?}");
    assert!(rates[6] <= 8000.0 && rates[6] > 0.9 * 8000.0, "{rates:?}");
}

#[test]
fn a_straggler_holds_everybody_up_in_a_closed_loop() {
    let healthy = disks_only(10, 1, 64);
    let mut step = healthy.clone();
    (step.trouble.stragglers, step.trouble.straggler_factor) = (1, 10.0);
    let outcome = outcome_of(&step);
    // Every tenth request goes there, so all together are as fast as it: 100 a second, ten times.
    assert_near(outcome.operations_per_second, 1000.0, 0.04); // 10,000 of 100,000, by chance
    assert!(per_second(&healthy) > 7000.0);
    let disks = outcome.resources.iter().find(|resource| resource.name == "storage_disk").unwrap();
    assert!(disks.highest_utilisation > 0.99 && disks.mean_utilisation < 0.25, "{disks:?}");
}

fn with_failed_nodes(protection: Protection, direction: Way, failed_nodes: u32) -> SimulateOutcome {
    let mut step = disks_only(10, 2, 32);
    (step.layout.protection, step.layout.writes) = (protection, Writes::FanOut);
    (step.load.direction, step.trouble.failed_nodes, step.load.operations) =
        (direction, failed_nodes, 20_000);
    outcome_of(&step)
}

#[test]
fn copies_answer_for_failed_nodes() {
    for direction in [Way::Read, Way::Write] {
        let outcome = with_failed_nodes(Protection::Replicas(3), direction, 2);
        assert_eq!((outcome.operations, outcome.failed_operations), (20_000, 0));
    }
    let code = Protection::ErasureCode { data: 4, parity: 2 };
    assert_eq!(with_failed_nodes(code, Way::Read, 2).failed_operations, 0);
    assert!(with_failed_nodes(code, Way::Read, 3).failed_operations > 0);
}

#[test]
fn what_nobody_else_holds_fails_with_its_node() {
    let outcome = with_failed_nodes(Protection::Replicas(1), Way::Read, 1);
    let share = outcome.failed_operations as f64 / (outcome.operations + outcome.failed_operations) as f64;
    assert_near(share, 0.1, 0.1);
}

#[test]
fn more_arrivals_than_can_be_served_come_to_an_end() {
    for rate in [20_000.0, 1e12] {
        let mut step = disks_only(4, 1, 1);
        step.load.arrivals_per_second = Some(rate);
        (step.load.operations, step.load.warm_up_operations) = (3000, 500);
        let outcome = outcome_of(&step);
        assert!(outcome.operations_per_second < 4001.0, "{}", outcome.operations_per_second);
    }
}

#[test]
fn impossible_clusters_are_refused_in_one_sentence() {
    let refused = |change: &dyn Fn(&mut Simulate)| {
        let mut step = disks_only(3, 2, 4);
        change(&mut step);
        step.perform().unwrap_err().0
    };
    assert!(
        refused(&|step| step.layout.protection = Protection::Replicas(4)).contains("4 replicas on 3 nodes")
    );
    assert!(refused(&|step| step.storage.disks_per_node = 0).contains("disks_per_node is 0"));
    assert!(refused(&|step| step.storage.nic_bytes_per_second = f64::NAN).contains("nic_bytes_per_second"));
    assert!(refused(&|step| step.storage.disk_rates.clear()).contains("disk_rates"));
    assert!(refused(&|step| step.trouble.failed_nodes = 3).contains("3 of 3 nodes failed"));
    assert!(refused(&|step| step.clients.requests_in_flight = u32::MAX).contains("in flight"));
    assert!(refused(&|step| step.load.read_share = Some(0.5))
        .contains("read_share belongs to the direction mixed"));
    let mixed = |step: &mut Simulate, share, rates| {
        (step.load.direction, step.load.read_share, step.storage.disk_write_rates) =
            (Way::Mixed, Some(share), rates);
    };
    assert!(refused(&|step| mixed(step, 1.5, vec![(1, 1.0)])).contains("read_share is 1.5"));
    assert!(refused(&|step| mixed(step, 0.5, Vec::new())).contains("disk_write_rates must begin"));
    let code = Protection::ErasureCode { data: 5, parity: 2 };
    assert!(refused(&|step| step.layout.protection = code).contains("7 parts on 6 disks"));
}
