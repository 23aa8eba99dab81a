//! The tree of directories that items lie in: a shape, before it has names.
//!
//! Nodes are numbered as mdtest numbers them: the root is 0, the children of node k are b*k+1 .. b*k+b. Every
//! node but the deepest has exactly b children, so that level l begins where a tree of depth l-1 ends.

use crate::Refusal;

/// Node numbers and their orders are held in memory, once for each process.
const MOST_DIRECTORIES: u64 = 1 << 24;
/// Each level takes at least the 14 bytes of "/mdtest_tree.0", and a path has 4095 at most.
const DEEPEST: u32 = 4095 / 14;

/// A complete tree of the given depth, in which every directory above the deepest has the same number of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    branching_factor: u32,
    directories: u32,
    /// The deepest level begins here.
    first_leaf: u32,
}

impl Tree {
    /// Depth 0 is a single directory. Refuses what no memory would hold.
    pub fn new(depth: u32, branching_factor: u32) -> Result<Self, Refusal> {
        Refusal::unless(branching_factor >= 1, || {
            "branching_factor is 0: give how many children each directory has, at least 1".to_owned()
        })?;
        Refusal::unless(depth <= DEEPEST, || {
            format!("depth is {depth}: below level {DEEPEST} no path fits into the 4095 bytes of Linux")
        })?;
        let mut directories: u64 = 1;
        let (mut level, mut first_leaf) = (1u64, 0);
        for _ in 0..depth {
            first_leaf = directories;
            level = level.saturating_mul(branching_factor.into());
            directories = directories.saturating_add(level);
            Refusal::unless(directories <= MOST_DIRECTORIES, || {
                format!(
                    "depth {depth} with branching_factor {branching_factor} makes more than \
                     {MOST_DIRECTORIES} directories a tree: lower one of them"
                )
            })?;
        }
        Ok(Self { branching_factor, directories: directories as u32, first_leaf: first_leaf as u32 })
    }

    pub fn directories(&self) -> u32 {
        self.directories
    }

    /// The number of the first directory of the deepest level; all from here on are leaves.
    pub fn first_leaf(&self) -> u32 {
        self.first_leaf
    }

    pub fn parent(&self, node: u32) -> Option<u32> {
        node.checked_sub(1).map(|before| before / self.branching_factor)
    }

    /// All nodes, parents before their children and each child's descendants before its next sibling.
    pub fn depth_first(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.directories as usize);
        let mut waiting = vec![0];
        while let Some(node) = waiting.pop() {
            order.push(node);
            if node < self.first_leaf {
                let first_child = self.branching_factor * node + 1;
                waiting.extend((first_child..first_child + self.branching_factor).rev());
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nodes_are_numbered_level_by_level_and_visited_depth_first() {
        let tree = Tree::new(2, 3).unwrap();
        assert_eq!((tree.directories(), tree.first_leaf()), (13, 4));
        assert_eq!(tree.depth_first(), [0, 1, 4, 5, 6, 2, 7, 8, 9, 3, 10, 11, 12]);
        assert_eq!(
            [0, 1, 3, 4, 12].map(|node| tree.parent(node)),
            [None, Some(0), Some(0), Some(1), Some(3)]
        );
    }

    #[test]
    fn a_tree_of_depth_zero_is_one_directory_that_is_its_own_leaf() {
        let tree = Tree::new(0, 5).unwrap();
        assert_eq!((tree.directories(), tree.first_leaf(), tree.depth_first()), (1, 0, vec![0]));
    }

    #[test]
    fn a_tree_beyond_all_memory_is_refused_in_words() {
        assert!(Tree::new(40, 10).unwrap_err().0.contains("depth 40"));
        assert!(Tree::new(u32::MAX, 1).unwrap_err().0.contains("no path fits"));
        assert!(Tree::new(1, 0).unwrap_err().0.contains("branching_factor is 0"));
    }

    proptest! {
        #[test]
        fn the_count_is_the_geometric_sum(depth in 0u32..7, branching_factor in 1u32..6) {
            let tree = Tree::new(depth, branching_factor).unwrap();
            let level = |level: u32| u64::from(branching_factor).pow(level);
            prop_assert_eq!(u64::from(tree.directories()), (0..=depth).map(level).sum::<u64>());
            prop_assert_eq!(u64::from(tree.directories() - tree.first_leaf()), level(depth));
        }

        #[test]
        fn every_node_is_visited_once_and_after_its_parent(depth in 0u32..6, branching_factor in 1u32..6) {
            let tree = Tree::new(depth, branching_factor).unwrap();
            let order = tree.depth_first();
            let mut place = vec![usize::MAX; tree.directories() as usize];
            order.iter().enumerate().for_each(|(index, &node)| place[node as usize] = index);
            prop_assert!(place.iter().all(|&index| index != usize::MAX));
            prop_assert_eq!(order.len(), place.len());
            for node in 1..tree.directories() {
                let parent = tree.parent(node).unwrap();
                prop_assert!(place[parent as usize] < place[node as usize]);
            }
        }
    }
}
