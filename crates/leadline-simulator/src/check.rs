//! Steps that describe no cluster are refused, in one sentence each.

use leadline_workloads::Refusal;

use crate::description::{Protection, Service, Simulate, Way, Writes};

/// Places in a calendar are numbered with 30 bits.
const MOST_IN_FLIGHT: u64 = 1 << 28;
const MOST_DISKS: u64 = 1 << 24;
const DEEPEST: u32 = 1 << 16;
const MOST_PORTS: u32 = 64;
/// More than any chunk is cut into; keeps loops over parts short.
const WIDEST: u32 = 256;

pub fn check(step: &Simulate) -> Result<(), Refusal> {
    counts(step)?;
    rates(step)?;
    disk(step)?;
    layout(step)?;
    trouble(step)
}

fn counts(step: &Simulate) -> Result<(), Refusal> {
    let counted = [
        ("clients.count", step.clients.count),
        ("clients.requests_in_flight", step.clients.requests_in_flight),
        ("clients.files", step.clients.files),
        ("storage.nodes", step.storage.nodes),
        ("storage.disks_per_node", step.storage.disks_per_node),
    ];
    for (name, count) in counted {
        unless(count > 0, || format!("{name} is 0: give at least 1"))?;
    }
    for (name, nics) in [("clients.nics", step.clients.nics), ("storage.nics", step.storage.nics)] {
        unless((1..=MOST_PORTS).contains(&nics), || format!("{name} is {nics}: give 1 to {MOST_PORTS}"))?;
    }
    let disks = u64::from(step.storage.nodes) * u64::from(step.storage.disks_per_node);
    unless(disks <= MOST_DISKS, || format!("{disks} disks: this simulates up to {MOST_DISKS}"))?;
    let pieces = step.load.request_bytes.div_ceil(step.layout.chunk_bytes.max(1));
    let parts = pieces.saturating_mul(u64::from(step.layout.protection.width().max(1)));
    let flying = u64::from(step.clients.count) * u64::from(step.clients.requests_in_flight);
    unless(flying.saturating_mul(parts) <= MOST_IN_FLIGHT, || {
        format!(
            "{flying} requests in flight in {parts} parts each: this simulates up to {MOST_IN_FLIGHT} parts"
        )
    })?;
    unless(step.load.operations > 0, || "load.operations is 0: give requests to count".to_owned())
}

fn rates(step: &Simulate) -> Result<(), Refusal> {
    let required = [
        ("clients.nic_bytes_per_second", Some(step.clients.nic_bytes_per_second)),
        ("storage.nic_bytes_per_second", Some(step.storage.nic_bytes_per_second)),
        ("clients.most_requests_per_second", step.clients.most_requests_per_second),
        ("storage.most_requests_per_second", step.storage.most_requests_per_second),
        ("network.switch_bytes_per_second", step.network.switch_bytes_per_second),
        ("load.arrivals_per_second", step.load.arrivals_per_second),
    ];
    for (name, rate) in required {
        unless(rate.is_none_or(|rate| rate.is_finite() && rate > 0.0), || {
            format!("{name} is {}: give a rate above 0", rate.unwrap_or_default())
        })?;
    }
    let delays = [
        ("clients.delay_ns", step.clients.delay_ns),
        ("storage.delay_ns", step.storage.delay_ns),
        ("network.round_trip_ns", step.network.round_trip_ns),
    ];
    for (name, delay) in delays {
        unless((0.0..=1e12).contains(&delay), || format!("{name} is {delay}: give 0 to 1000 seconds"))?;
    }
    Ok(())
}

fn disk(step: &Simulate) -> Result<(), Refusal> {
    disk_rates("storage.disk_rates", &step.storage.disk_rates)?;
    mix(step)?;
    let measured = step.storage.service == Service::Measured;
    let weight: f64 = step.storage.service_times.iter().map(|bin| bin.0 as f64 * bin.1 as f64).sum();
    unless(!measured || weight > 0.0, || {
        "storage.service is measured, and storage.service_times holds no duration".to_owned()
    })
}

fn disk_rates(name: &str, rates: &[(u32, f64)]) -> Result<(), Refusal> {
    unless(rates.first().is_some_and(|first| first.0 == 1), || {
        format!("{name} must begin with the rate at 1 request")
    })?;
    unless(rates.windows(2).all(|pair| pair[0].0 < pair[1].0), || {
        format!("{name} must ascend in the number of requests")
    })?;
    unless(rates.iter().all(|rate| rate.1.is_finite() && (1e-6..=1e12).contains(&rate.1)), || {
        format!("{name} must be requests a second, from 1e-6 to 1e12")
    })?;
    unless(rates.iter().all(|rate| rate.0 <= DEEPEST), || format!("{name} end at {DEEPEST} requests"))
}

fn mix(step: &Simulate) -> Result<(), Refusal> {
    let (share, mixed) = (step.load.read_share, step.load.direction == Way::Mixed);
    unless(mixed == share.is_some(), || {
        "load.read_share belongs to the direction mixed: give both or neither".to_owned()
    })?;
    unless(share.is_none_or(|share| (0.0..=1.0).contains(&share)), || {
        format!("load.read_share is {}: give 0 (all write) to 1 (all read)", share.unwrap_or_default())
    })?;
    if mixed {
        return disk_rates("storage.disk_write_rates", &step.storage.disk_write_rates);
    }
    unless(step.storage.disk_write_rates.is_empty(), || {
        "storage.disk_write_rates belong to the direction mixed: take them out".to_owned()
    })
}

fn layout(step: &Simulate) -> Result<(), Refusal> {
    let (nodes, protection) = (step.storage.nodes, step.layout.protection);
    let disks = u64::from(nodes) * u64::from(step.storage.disks_per_node);
    unless(step.load.request_bytes > 0 && step.layout.chunk_bytes > 0, || {
        "load.request_bytes and layout.chunk_bytes must be at least 1".to_owned()
    })?;
    unless((1..=WIDEST).contains(&protection.width()), || {
        format!("layout.protection is {} wide: give 1 to {WIDEST}", protection.width())
    })?;
    match protection {
        Protection::Replicas(replicas) => unless(replicas <= nodes, || {
            format!("{replicas} replicas on {nodes} nodes: each lies on a node of its own")
        }),
        Protection::ErasureCode { data, .. } => {
            unless(data > 0, || "an erasure code has at least 1 data part".to_owned())?;
            unless(u64::from(protection.width()) <= disks, || {
                format!("{} parts on {disks} disks: each lies on a disk of its own", protection.width())
            })?;
            unless(step.layout.writes != Writes::Chain, || "an erasure code has no chain".to_owned())
        }
    }?;
    unless(step.layout.stripe != Some(0), || "layout.stripe is 0: give at least 1".to_owned())
}

fn trouble(step: &Simulate) -> Result<(), Refusal> {
    let (trouble, nodes) = (&step.trouble, u64::from(step.storage.nodes));
    unless(u64::from(trouble.failed_nodes) < nodes, || {
        format!("{} of {nodes} nodes failed: nothing is left to simulate", trouble.failed_nodes)
    })?;
    unless(u64::from(trouble.failed_nodes) + u64::from(trouble.stragglers) <= nodes, || {
        format!("{} failed nodes and {} stragglers of {nodes}", trouble.failed_nodes, trouble.stragglers)
    })?;
    unless((1.0..=1e6).contains(&trouble.straggler_factor), || {
        format!("trouble.straggler_factor is {}: give 1 (as fast) or more", trouble.straggler_factor)
    })
}

fn unless(holds: bool, sentence: impl FnOnce() -> String) -> Result<(), Refusal> {
    if holds {
        Ok(())
    } else {
        Err(Refusal(sentence()))
    }
}
