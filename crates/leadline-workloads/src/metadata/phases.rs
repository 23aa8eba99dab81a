//! What is done to which kind of thing, and in which order: the phases of one iteration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The directories that items lie in.
    Tree,
    /// Items that are empty directories.
    Directory,
    /// Items that are files.
    File,
}

/// What is done to each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// File: openat with O_CREAT and O_EXCL, a write if one was asked for, close. Directory: mkdirat.
    Create,
    /// fstatat, or statx through io_uring.
    Stat,
    /// Files only: openat for reading, a read if one was asked for, close.
    Read,
    /// Directories only: each takes the name of the one before it.
    Rename,
    /// unlinkat.
    Remove,
}

/// One part of an iteration: all ranks start it together, and none goes on before the last has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    pub kind: Kind,
    pub action: Action,
}

impl Action {
    /// How many times the owner of the names has moved on since they were created (mdtest's -N). Renaming works
    /// on the names that were read last.
    pub fn shifts(self) -> u32 {
        match self {
            Self::Create => 0,
            Self::Stat => 1,
            Self::Read | Self::Rename => 2,
            Self::Remove => 3,
        }
    }

    /// Whether the rank that has just touched an item could answer from its own cache.
    pub fn may_be_answered_from_cache(self) -> bool {
        matches!(self, Self::Stat | Self::Read)
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = format!("{:?} {:?}", self.kind, self.action);
        formatter.write_str(&words.to_lowercase())
    }
}

/// The phases of one iteration, in mdtest's order. Trees stand and fall with the items: they are made when items
/// are created and removed when items are.
pub fn in_order(directories: bool, files: bool, actions: &[Action]) -> Vec<Phase> {
    use Action::{Create, Read, Remove, Rename, Stat};
    let all = [
        (true, Kind::Tree, &[Create][..]),
        (directories, Kind::Directory, &[Create, Stat, Rename, Remove]),
        (files, Kind::File, &[Create, Stat, Read, Remove]),
        (true, Kind::Tree, &[Remove]),
    ];
    let wanted = |action: &Action| actions.is_empty() || actions.contains(action);
    let of_kind = |(_, kind, possible): (bool, Kind, &'static [Action])| {
        possible.iter().copied().filter(wanted).map(move |action| Phase { kind, action })
    };
    all.into_iter().filter(|&(chosen, ..)| chosen).flat_map(of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(directories: bool, files: bool, actions: &[Action]) -> Vec<String> {
        in_order(directories, files, actions).iter().map(Phase::to_string).collect()
    }

    #[test]
    fn without_a_choice_all_phases_run_in_the_order_of_mdtest() {
        let expected = [
            "tree create",
            "directory create",
            "directory stat",
            "directory rename",
            "directory remove",
            "file create",
            "file stat",
            "file read",
            "file remove",
            "tree remove",
        ];
        assert_eq!(words(true, true, &[]), expected);
    }

    #[test]
    fn a_tree_is_made_with_the_items_and_removed_with_them() {
        assert_eq!(words(false, true, &[Action::Create]), ["tree create", "file create"]);
        assert_eq!(words(false, true, &[Action::Stat, Action::Read]), ["file stat", "file read"]);
        assert_eq!(words(true, false, &[Action::Remove]), ["directory remove", "tree remove"]);
    }
}
