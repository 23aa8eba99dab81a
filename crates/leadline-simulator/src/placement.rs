//! Where the copies or parts of a chunk lie: anywhere, but never two on one node as long as there are nodes.
//!
//! A chunk's key gives a first node and a stride that shares no divisor with the number of nodes; walking by it meets
//! every node once. So a place is twelve bytes, however wide, and every node holds as much as any other.

use leadline_workloads::randomness;

use crate::description::Simulate;
use crate::draws::reduced;

const STRIDES: u32 = 1024;

pub struct Placement {
    disks_per_node: u32,
    /// Nodes, or disks where parts are more than nodes.
    spots: u32,
    on_nodes: bool,
    strides: Vec<u32>,
    width: u32,
    failed_nodes: u32,
}

/// Of one chunk.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    first: u32,
    stride: u32,
    key: u64,
}

impl Placement {
    pub fn new(step: &Simulate) -> Self {
        let (nodes, disks_per_node) = (step.storage.nodes, step.storage.disks_per_node);
        let width = step.layout.protection.width();
        let on_nodes = width <= nodes;
        let spots = if on_nodes { nodes } else { nodes * disks_per_node };
        let failed_nodes = step.trouble.failed_nodes;
        Self { disks_per_node, spots, on_nodes, strides: strides(spots), width, failed_nodes }
    }

    #[inline]
    pub fn place(&self, key: u64) -> Place {
        let first = reduced(randomness::word(key, 0), self.spots);
        let stride = self.strides[reduced(randomness::word(key, 1), self.strides.len() as u32) as usize];
        Place { first, stride, key }
    }

    /// The disk that holds copy or part number `index`, counted over the cluster.
    #[inline]
    pub fn disk(&self, place: Place, index: u32) -> u32 {
        let walked = u64::from(place.first) + u64::from(index) * u64::from(place.stride);
        let spot = (walked % u64::from(self.spots)) as u32;
        if !self.on_nodes {
            return spot;
        }
        let within = reduced(randomness::word(place.key, 2 + u64::from(index)), self.disks_per_node);
        spot * self.disks_per_node + within
    }

    #[inline]
    pub fn node(&self, disk: u32) -> u32 {
        disk / self.disks_per_node
    }

    /// Numbers of the copies or parts on nodes that answer, from `from` on.
    #[inline]
    pub fn alive(&self, place: Place, from: u32) -> impl Iterator<Item = u32> + '_ {
        let all = self.failed_nodes == 0;
        (from..self.width).filter(move |&index| all || self.answers(self.node(self.disk(place, index))))
    }

    /// Failed nodes are the first ones: places are drawn by chance, so numbers mean nothing.
    #[inline]
    pub fn answers(&self, node: u32) -> bool {
        node >= self.failed_nodes
    }
}

/// Strides that share no divisor with the number of spots, spread over all that there are.
fn strides(spots: u32) -> Vec<u32> {
    let pace = (spots / STRIDES).max(1) as usize;
    let candidates = (1..spots.max(2)).step_by(pace);
    let coprime = |candidate: u32| (candidate..).find(|&stride| divisor(stride, spots) == 1);
    let mut found: Vec<u32> = candidates.filter_map(coprime).map(|stride| stride % spots).collect();
    found.dedup();
    found
}

fn divisor(one: u32, other: u32) -> u32 {
    if other == 0 {
        one
    } else {
        divisor(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn placement(nodes: u32, disks_per_node: u32, width: u32, failed_nodes: u32) -> Placement {
        let on_nodes = width <= nodes;
        let spots = if on_nodes { nodes } else { nodes * disks_per_node };
        Placement { disks_per_node, spots, on_nodes, strides: strides(spots), width, failed_nodes }
    }

    proptest! {
        #[test]
        fn copies_lie_on_nodes_of_their_own(nodes in 1u32..3000, disks in 1u32..20, wanted in 1u32..12, key: u64) {
            let width = wanted.min(nodes);
            let placement = placement(nodes, disks, width, 0);
            let place = placement.place(key);
            let mut on: Vec<u32> = (0..width).map(|index| placement.disk(place, index) / disks).collect();
            on.sort_unstable();
            on.dedup();
            prop_assert_eq!(on.len(), width as usize);
            prop_assert!(on.iter().all(|&node| node < nodes));
        }

        #[test]
        fn parts_beyond_the_nodes_lie_on_disks_of_their_own(nodes in 1u32..8, disks in 2u32..20, key: u64) {
            let width = nodes * disks;
            let placement = placement(nodes, disks, width, 0);
            let place = placement.place(key);
            let mut on: Vec<u32> = (0..width).map(|index| placement.disk(place, index)).collect();
            on.sort_unstable();
            on.dedup();
            prop_assert_eq!(on.len(), width as usize);
        }
    }

    #[test]
    fn every_disk_holds_as_much_as_any_other() {
        let placement = placement(12, 4, 3, 0);
        let mut held = [0u32; 48];
        for key in 0..48_000 {
            let place = placement.place(key);
            (0..3).for_each(|index| held[placement.disk(place, index) as usize] += 1);
        }
        // 3,000 each; five standard deviations of a binomial count are 270.
        assert!(held.iter().all(|&chunks| chunks.abs_diff(3000) < 270), "{held:?}");
    }

    #[test]
    fn failed_nodes_hold_nothing_that_answers() {
        let placement = placement(5, 2, 3, 2);
        for key in 0..100 {
            let place = placement.place(key);
            let alive: Vec<u32> = placement.alive(place, 0).collect();
            assert!(!alive.is_empty() && alive.len() <= 3);
            assert!(alive.iter().all(|&index| placement.node(placement.disk(place, index)) >= 2));
        }
    }
}
