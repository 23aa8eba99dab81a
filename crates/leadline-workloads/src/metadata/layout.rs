//! Where everything lies and what it is called: mdtest's names, so that either can work on what the other made.
//!
//! ```text
//! DIRECTORY/test-dir.<iteration>-<tree>/mdtest_tree.<node>/mdtest_tree.<node>/file.mdtest.<rank>.<item>
//!                                       mdtest_tree.<rank>.<node>/...   when every rank has a tree of its own
//! ```

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::metadata::phases::Kind;
use crate::metadata::tree::Tree;

/// The names of a step: everything about them that does not change while it runs.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The user's directory, without a slash at its end.
    root: Vec<u8>,
    pub tree: Tree,
    /// Trees that one rank goes through one after the other in a single phase.
    pub trees: u32,
    /// Whether every rank has trees of its own.
    pub unique: bool,
    pub items_per_directory: u64,
    /// The first directory of a tree that holds items; all after it do, too.
    first_holder: u32,
}

impl Layout {
    pub fn new(
        root: &Path,
        tree: Tree,
        trees: u32,
        unique: bool,
        leaves_only: bool,
        items_per_directory: u64,
    ) -> Self {
        let root = root.as_os_str().as_bytes();
        let root = root.strip_suffix(b"/").unwrap_or(root).to_vec();
        let first_holder = if leaves_only { tree.first_leaf() } else { 0 };
        Self { root, tree, trees, unique, items_per_directory, first_holder }
    }

    /// Directories of one tree that hold items.
    pub fn holders(&self) -> u32 {
        self.tree.directories() - self.first_holder
    }

    /// The holders of a tree, counted from its first one, in the order in which a depth-first walk meets them.
    pub fn holders_depth_first(&self) -> Vec<u32> {
        self.tree.depth_first().into_iter().filter_map(|node| node.checked_sub(self.first_holder)).collect()
    }

    pub fn items_per_rank(&self) -> u64 {
        self.items_per_directory * u64::from(self.holders()) * u64::from(self.trees)
    }

    /// The directory around one tree, or around the trees of all ranks.
    pub fn test_directory(&self, iteration: u32, tree: u32) -> Vec<u8> {
        let mut path = Vec::new();
        self.write_test_directory(&mut path, iteration, tree);
        path
    }

    fn write_test_directory(&self, path: &mut Vec<u8>, iteration: u32, tree: u32) {
        path.extend_from_slice(&self.root);
        append(path, format_args!("/test-dir.{iteration}-{tree}"));
    }

    /// Appends the path of one directory of a tree; `owner` is the rank whose tree it is. Allocates nothing when
    /// the room is there: this is done within the timed work.
    pub fn write_node(&self, path: &mut Vec<u8>, iteration: u32, tree: u32, owner: u32, node: u32) {
        self.write_test_directory(path, iteration, tree);
        self.write_lineage(path, owner, node);
    }

    /// The same for the directory that is the `holder`-th of a tree to hold items.
    pub fn write_holder(&self, path: &mut Vec<u8>, iteration: u32, tree: u32, owner: u32, holder: u32) {
        self.write_node(path, iteration, tree, owner, self.first_holder + holder);
    }

    fn write_lineage(&self, path: &mut Vec<u8>, owner: u32, node: u32) {
        if let Some(parent) = self.tree.parent(node) {
            self.write_lineage(path, owner, parent);
        }
        match self.unique {
            true => append(path, format_args!("/mdtest_tree.{owner}.{node}")),
            false => append(path, format_args!("/mdtest_tree.{node}")),
        }
    }

    /// Bytes of the longest path that the step will use, if no rank's number is above `highest_rank`.
    pub fn longest_path_bytes(&self, iterations: u32, highest_rank: u32) -> usize {
        let mut node = Vec::new();
        let deepest = self.tree.directories() - 1;
        self.write_node(&mut node, iterations - 1, self.trees - 1, highest_rank, deepest);
        let item = item_prefix(Kind::Directory, highest_rank);
        let last_item = self.items_per_directory * u64::from(self.holders());
        node.len() + 1 + item.len() + last_item.to_string().len() + RENAMED_SUFFIX.len()
    }
}

/// What the first item of a rotation is called while the others move up.
pub const RENAMED_SUFFIX: &[u8] = b"-XX";

/// The name of an item without its number.
pub fn item_prefix(kind: Kind, owner: u32) -> Vec<u8> {
    let word = if kind == Kind::File { "file" } else { "dir" };
    format!("{word}.mdtest.{owner}.").into_bytes()
}

fn append(path: &mut Vec<u8>, part: std::fmt::Arguments<'_>) {
    path.write_fmt(part).expect("memory takes every name");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layout(unique: bool, leaves_only: bool) -> Layout {
        Layout::new(Path::new("/mnt/"), Tree::new(2, 3).unwrap(), 2, unique, leaves_only, 10)
    }

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut path = Vec::new();
        write(&mut path);
        String::from_utf8(path).unwrap()
    }

    #[test]
    fn names_are_those_of_mdtest() {
        let (shared, unique) = (layout(false, false), layout(true, false));
        assert_eq!(
            text(|path| shared.write_holder(path, 1, 0, 7, 9)),
            "/mnt/test-dir.1-0/mdtest_tree.0/mdtest_tree.2/mdtest_tree.9"
        );
        assert_eq!(
            text(|path| unique.write_node(path, 0, 1, 7, 2)),
            "/mnt/test-dir.0-1/mdtest_tree.7.0/mdtest_tree.7.2"
        );
        assert_eq!(item_prefix(Kind::File, 3), b"file.mdtest.3.");
        assert_eq!(item_prefix(Kind::Directory, 3), b"dir.mdtest.3.");
    }

    #[test]
    fn items_fill_every_directory_or_the_leaves_only() {
        assert_eq!((layout(false, false).holders(), layout(false, false).items_per_rank()), (13, 260));
        assert_eq!((layout(false, true).holders(), layout(false, true).items_per_rank()), (9, 180));
        assert_eq!(layout(false, true).holders_depth_first(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(text(|path| layout(false, true).write_holder(path, 0, 0, 0, 0)).ends_with("/mdtest_tree.4"));
    }

    proptest! {
        #[test]
        fn no_path_is_longer_than_foretold(
            depth in 0u32..4, branching_factor in 1u32..4, rank in 0u32..2000, unique: bool,
        ) {
            let tree = Tree::new(depth, branching_factor).unwrap();
            let layout = Layout::new(Path::new("/mnt"), tree, 1, unique, false, 7);
            let length = |holder| text(|path| layout.write_holder(path, 0, 0, rank, holder)).len();
            let longest = (0..layout.holders()).map(length).max();
            let last = format!("/dir.mdtest.{rank}.{}", layout.items_per_rank() - 1).len() + RENAMED_SUFFIX.len();
            prop_assert!(longest.unwrap() + last <= layout.longest_path_bytes(1, rank));
        }
    }
}
