//! A step to vary: what all tests of the simulator start from.

#[allow(dead_code)] // not every test file asks
pub mod mean_value_analysis;

use leadline_simulator::description::{
    Clients, Layout, Load, Network, Protection, Reads, Service, Simulate, Storage, Transfer, Trouble, Way,
    Writes, WritesToAFile,
};
use leadline_simulator::SimulateOutcome;
use leadline_workloads::Workload;

/// So fast that it does not count.
pub const AT_ONCE: f64 = 1e18;
pub const MIB: u64 = 1 << 20;

/// One client reads at random from nodes whose disks alone take time: 1 ms a request, one at a time.
pub fn disks_only(nodes: u32, disks_per_node: u32, in_flight: u32) -> Simulate {
    Simulate {
        clients: Clients {
            count: 1,
            requests_in_flight: in_flight,
            files: 1,
            delay_ns: 0.0,
            most_requests_per_second: None,
            nics: 1,
            nic_bytes_per_second: AT_ONCE,
            writes_to_a_file: WritesToAFile::SideBySide,
        },
        network: Network {
            round_trip_ns: 0.0,
            switch_bytes_per_second: None,
            transfer: Transfer::StoreAndForward,
        },
        storage: Storage {
            nodes,
            disks_per_node,
            nics: 1,
            nic_bytes_per_second: AT_ONCE,
            delay_ns: 0.0,
            most_requests_per_second: None,
            disk_rates: vec![(1, 1000.0)],
            disk_write_rates: Vec::new(),
            service: Service::Constant,
            service_times: Vec::new(),
        },
        layout: Layout {
            chunk_bytes: MIB,
            stripe: None,
            protection: Protection::Replicas(1),
            writes: Writes::Chain,
            reads: Reads::AnyCopy,
        },
        load: Load {
            direction: Way::Read,
            read_share: None,
            random: true,
            request_bytes: MIB,
            operations: 100_000,
            warm_up_operations: 10_000,
            arrivals_per_second: None,
            seed: 1,
        },
        trouble: Trouble::default(),
    }
}

pub fn outcome_of(step: &Simulate) -> SimulateOutcome {
    step.perform().unwrap_or_else(|refusal| panic!("{refusal}"))
}

pub fn mean_ms(outcome: &SimulateOutcome) -> f64 {
    outcome.latency.mean_ns.expect("requests were answered") / 1e6
}

/// What a kind of resource carried, or 0 where there is none.
#[allow(dead_code)] // not every test file asks
pub fn carried(outcome: &SimulateOutcome, name: &str) -> u64 {
    outcome.resources.iter().find(|resource| resource.name == name).map_or(0, |resource| resource.carried)
}

#[allow(dead_code)]
pub fn utilisation(outcome: &SimulateOutcome, name: &str) -> f64 {
    outcome.resources.iter().find(|resource| resource.name == name).map_or(0.0, |it| it.mean_utilisation)
}

/// Within a share of what is expected.
pub fn assert_near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "found {found}, expected {expected} within {share}");
}
