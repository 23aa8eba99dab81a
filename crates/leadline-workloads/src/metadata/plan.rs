//! What follows from a step before anything is touched: whether it makes sense, and how many items there are.

use nix::libc;

use crate::metadata::drive::{DriverName, Transfers};
use crate::metadata::layout::Layout;
use crate::metadata::phases::{in_order, Action, Phase};
use crate::metadata::tree::Tree;
use crate::metadata::Metadata;
use crate::Refusal;

const MOST_RANKS: u32 = 4096;
const MOST_IN_FLIGHT: u32 = 4096;
/// Each operation in flight has buffers of its own.
const LARGEST_TRANSFER_BYTES: u64 = 16 << 20;
/// Counts stay exact in every format they are written to.
const MOST_ITEMS: u64 = 1 << 48;

/// A step that makes sense.
pub struct Plan {
    pub layout: Layout,
    /// The phases of one iteration.
    pub phases: Vec<Phase>,
    /// All directories of a tree, and those that hold items, as a depth-first walk meets them.
    pub nodes_depth_first: Vec<u32>,
    pub holders_depth_first: Vec<u32>,
}

impl Plan {
    pub fn of(step: &Metadata) -> Result<Self, Refusal> {
        check_ranks(step)?;
        check_work(step)?;
        check_driver(step)?;
        let layout = layout_of(step)?;
        let phases = in_order(step.directories, step.files, &step.actions);
        check_paths(step, &layout)?;
        let nodes_depth_first = layout.tree.depth_first();
        let holders_depth_first = layout.holders_depth_first();
        Ok(Self { layout, phases, nodes_depth_first, holders_depth_first })
    }

    pub fn creates(&self) -> bool {
        self.phases.iter().any(|phase| phase.action == Action::Create)
    }

    pub fn removes(&self) -> bool {
        self.phases.iter().any(|phase| phase.action == Action::Remove)
    }
}

impl Metadata {
    /// The sizes as system calls take them.
    pub fn transfers(&self) -> Transfers {
        let size = |bytes: u64| usize::try_from(bytes).expect("checked to be small");
        Transfers {
            write_size_bytes: size(self.write_size_bytes),
            read_size_bytes: size(self.read_size_bytes),
        }
    }
}

impl Metadata {
    /// Whose items a rank works on, and in whose tree they lie, after as many shifts as the action has seen. In
    /// trees of their own, ranks begin one shift away from their own tree, and items stay where they were created.
    pub fn owners(&self, rank: u32, action: Action) -> (u32, u32) {
        let ranks = u64::from(self.all_ranks());
        let shifted =
            |times: u32| ((u64::from(rank) + u64::from(self.rank_shift) * u64::from(times)) % ranks) as u32;
        let tree_owner = if self.unique_trees { shifted(action.shifts() + 1) } else { 0 };
        (shifted(action.shifts()), tree_owner)
    }
}

fn check_ranks(step: &Metadata) -> Result<(), Refusal> {
    Refusal::unless((1..=MOST_RANKS).contains(&step.ranks), || {
        format!("ranks is {}: give a number from 1 to {MOST_RANKS}", step.ranks)
    })?;
    let here = u64::from(step.rank_offset) + u64::from(step.ranks);
    Refusal::unless(here <= u64::from(step.all_ranks()), || {
        format!(
            "rank_offset {} and {} ranks go beyond ranks_total, {}: raise it or start fewer",
            step.rank_offset,
            step.ranks,
            step.all_ranks()
        )
    })?;
    Refusal::unless(step.external_barriers || step.ranks == step.all_ranks(), || {
        "ranks_total says that other hosts take part: set external_barriers, or nobody waits for them"
            .to_owned()
    })
}

fn check_work(step: &Metadata) -> Result<(), Refusal> {
    Refusal::unless(step.iterations >= 1, || "iterations is 0: give at least 1".to_owned())?;
    let phases = in_order(step.directories, step.files, &step.actions);
    Refusal::unless(step.directories || step.files, || {
        "directories and files are both off: leave at least one of them on".to_owned()
    })?;
    Refusal::unless(!phases.is_empty(), || {
        format!(
            "actions {:?} do nothing here: only files are read, and only directories renamed",
            step.actions
        )
        .to_lowercase()
    })?;
    let creates_files = step.files && phases.iter().any(|phase| phase.action == Action::Create);
    Refusal::unless(!creates_files || step.read_size_bytes <= step.write_size_bytes, || {
        format!(
            "read_size_bytes is {}, and files are created with write_size_bytes {} only: write as much as is read",
            step.read_size_bytes, step.write_size_bytes
        )
    })?;
    let largest = step.read_size_bytes.max(step.write_size_bytes);
    Refusal::unless(largest <= LARGEST_TRANSFER_BYTES, || {
        format!("{largest} bytes for a file are more than {LARGEST_TRANSFER_BYTES}: this measures metadata, use fio")
    })?;
    check_stonewall(step, creates_files)
}

fn check_stonewall(step: &Metadata, creates_files: bool) -> Result<(), Refusal> {
    let Some(stonewall_ns) = step.stonewall_ns else { return Ok(()) };
    Refusal::unless(stonewall_ns > 0, || "stonewall_ns is 0: give a time to create files for".to_owned())?;
    Refusal::unless(creates_files, || {
        "stonewall_ns stops the creation of files, and none are created: take it out".to_owned()
    })?;
    // With more children, files would be created in another order than they are read in, and the first so many of
    // one order are not those of the other.
    Refusal::unless(step.branching_factor == 1, || {
        format!("stonewall_ns needs branching_factor 1, not {}", step.branching_factor)
    })
}

fn check_driver(step: &Metadata) -> Result<(), Refusal> {
    Refusal::unless((1..=MOST_IN_FLIGHT).contains(&step.iodepth), || {
        format!("iodepth is {}: give a number from 1 to {MOST_IN_FLIGHT}", step.iodepth)
    })?;
    Refusal::unless(step.driver == DriverName::IoUring || step.iodepth == 1, || {
        format!(
            "iodepth is {}, and driver \"calls\" makes one call at a time: set driver to \"io_uring\"",
            step.iodepth
        )
    })
}

/// Items of a directory and how many trees, from -n and -I as mdtest reads them.
fn layout_of(step: &Metadata) -> Result<Layout, Refusal> {
    let tree = Tree::new(step.depth, step.branching_factor)?;
    let layout =
        |trees, items| Layout::new(&step.directory, tree, trees, step.unique_trees, step.leaves_only, items);
    let holders = u64::from(layout(1, 1).holders());
    let (trees, items_per_directory) = match (step.items_per_rank, step.items_per_directory) {
        (None, None) => {
            return Err(Refusal(
                "items_per_directory or items_per_rank must say how many items there are".to_owned(),
            ))
        }
        (None, Some(items)) => (1, items),
        (Some(items), None) => (1, items / holders),
        (Some(items), Some(in_each)) => (trees_of(step, items, in_each)?, in_each),
    };
    Refusal::unless(items_per_directory >= 1, || {
        format!("{holders} directories leave no item for each: raise items_per_rank or items_per_directory")
    })?;
    let all = items_per_directory.saturating_mul(holders).saturating_mul(u64::from(trees));
    Refusal::unless(all <= MOST_ITEMS, || {
        format!("{all} items for each rank are more than anyone waits for")
    })?;
    Ok(layout(trees, items_per_directory))
}

fn trees_of(step: &Metadata, items_per_rank: u64, items_per_directory: u64) -> Result<u32, Refusal> {
    Refusal::unless(!step.unique_trees, || {
        "items_per_rank and items_per_directory exclude each other with unique_trees: leave one of them out"
            .to_owned()
    })?;
    Refusal::unless(step.depth == 0, || {
        "items_per_rank with items_per_directory means several trees of one directory each: set depth to 0 or leave \
         one of them out"
            .to_owned()
    })?;
    let divides = items_per_directory > 0 && items_per_rank % items_per_directory == 0;
    let trees = if divides { items_per_rank / items_per_directory } else { 0 };
    u32::try_from(trees).ok().filter(|&trees| trees > 0).ok_or_else(|| {
        Refusal(format!(
            "items_per_rank is {items_per_rank}, not a multiple of items_per_directory, {items_per_directory}: choose one"
        ))
    })
}

fn check_paths(step: &Metadata, layout: &Layout) -> Result<(), Refusal> {
    Refusal::unless(step.directory.is_absolute(), || {
        format!("{} is not an absolute path: write it out from the root", step.directory.display())
    })?;
    let longest = layout.longest_path_bytes(step.iterations, step.all_ranks() - 1);
    Refusal::unless(longest < libc::PATH_MAX as usize, || {
        format!(
            "paths would be {longest} bytes long, and Linux takes {}: lower depth or choose a shorter directory",
            libc::PATH_MAX - 1
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn step(fields: serde_json::Value) -> Metadata {
        let mut all = serde_json::json!({"directory": "/tmp", "ranks": 1, "items_per_directory": 10});
        let changes = fields.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(changes);
        serde_json::from_value(all).unwrap()
    }

    fn refusal(fields: serde_json::Value) -> String {
        Plan::of(&step(fields)).err().expect("a refusal").0
    }

    fn items_per_rank(fields: serde_json::Value) -> u64 {
        Plan::of(&step(fields)).unwrap().layout.items_per_rank()
    }

    #[test]
    fn items_are_counted_as_mdtest_counts_them() {
        use serde_json::json;
        let nothing = json!(null);
        assert_eq!(items_per_rank(json!({"depth": 2, "branching_factor": 3})), 130);
        assert_eq!(items_per_rank(json!({"depth": 2, "branching_factor": 3, "leaves_only": true})), 90);
        // 1000 items on 13 directories are 76 in each.
        let spread = json!({"depth": 2, "branching_factor": 3, "items_per_directory": nothing, "items_per_rank": 1000});
        assert_eq!(items_per_rank(spread), 988);
        let trees = Plan::of(&step(json!({"items_per_rank": 30}))).unwrap().layout;
        assert_eq!((trees.trees, trees.items_per_rank()), (3, 30));
    }

    #[test]
    fn a_step_that_contradicts_itself_is_refused_in_words() {
        use serde_json::json;
        assert!(refusal(json!({"ranks": 0})).contains("ranks is 0"));
        assert!(refusal(json!({"ranks": 2, "ranks_total": 1})).contains("ranks_total"));
        assert!(refusal(json!({"ranks_total": 2})).contains("external_barriers"));
        assert!(refusal(json!({"items_per_directory": null})).contains("how many items"));
        assert!(refusal(json!({"items_per_directory": 0})).contains("no item for each"));
        assert!(refusal(json!({"items_per_rank": 15})).contains("not a multiple"));
        assert!(refusal(json!({"items_per_rank": 20, "unique_trees": true})).contains("exclude each other"));
        assert!(refusal(json!({"items_per_rank": 20, "depth": 1})).contains("set depth to 0"));
        assert!(refusal(json!({"iodepth": 4})).contains("one call at a time"));
        assert!(refusal(json!({"iodepth": 0, "driver": "io_uring"})).contains("iodepth is 0"));
        assert!(refusal(json!({"files": false, "directories": false})).contains("both off"));
        assert!(refusal(json!({"files": false, "actions": ["read"]})).contains("only files are read"));
        assert!(refusal(json!({"read_size_bytes": 1})).contains("write as much"));
        assert!(refusal(json!({"write_size_bytes": 1u64 << 40})).contains("use fio"));
        assert!(refusal(json!({"stonewall_ns": 1, "branching_factor": 2})).contains("branching_factor 1"));
        assert!(refusal(json!({"stonewall_ns": 1, "actions": ["stat"]})).contains("none are created"));
        assert!(refusal(json!({"directory": "data"})).contains("not an absolute path"));
        assert!(refusal(json!({"depth": 280})).contains("bytes long"));
        assert!(refusal(json!({"items_per_directory": 1u64 << 60})).contains("more than anyone waits for"));
    }

    proptest! {
        #[test]
        fn every_rank_gets_other_items_and_items_stay_in_their_tree(
            ranks in 1u32..40, rank_shift in 0u32..100, unique_trees: bool,
        ) {
            let fields = serde_json::json!({"ranks": ranks, "rank_shift": rank_shift, "unique_trees": unique_trees});
            let step = step(fields);
            let mut tree_of_owner = BTreeMap::new();
            for action in [Action::Create, Action::Stat, Action::Read, Action::Rename, Action::Remove] {
                let shares: Vec<_> = (0..ranks).map(|rank| step.owners(rank, action)).collect();
                prop_assert_eq!(shares.iter().map(|share| share.0).collect::<BTreeSet<_>>().len() as u32, ranks);
                for (owner, tree_owner) in shares {
                    prop_assert_eq!(*tree_of_owner.entry(owner).or_insert(tree_owner), tree_owner);
                }
            }
        }
    }
}
