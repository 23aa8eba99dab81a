//! The sorts of objects: what the checker's kinds are realised by in a filesystem.

use leadline_history::{Action, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an object lies in the filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flavour {
    /// One block of a file that every worker holds open.
    Register,
    /// A whole file, written and read between open and close.
    SessionFile,
    /// A file that is opened for appending, written once, and closed.
    AppendLog,
    /// A symbolic link that is made, replaced by rename, read and removed.
    SymbolicLink,
    /// A file that appears by link(2) with its content, is replaced by rename, opened and read, and removed.
    LinkedFile,
    /// A file that always exists: written under another name and renamed over it, as checkpoints are published.
    PublishedFile,
    /// A file that is renamed to and fro between two names.
    NamePair,
    /// The permission bits of a file.
    Mode,
    /// The time of its last change, in whole seconds.
    Modified,
    /// An extended attribute.
    ExtendedAttribute,
    /// A directory in which names appear and vanish once.
    Directory,
    /// A number in a file, raised under a lock by fcntl(2).
    CounterFcntl,
    /// The same under a lock by flock(2).
    CounterFlock,
}

/// An action, and in how many of a hundred cases it is chosen.
pub type Mix = &'static [(u64, Action)];

impl Flavour {
    pub const ALL: [Self; 13] = [
        Self::Register,
        Self::SessionFile,
        Self::AppendLog,
        Self::SymbolicLink,
        Self::LinkedFile,
        Self::PublishedFile,
        Self::NamePair,
        Self::Mode,
        Self::Modified,
        Self::ExtendedAttribute,
        Self::Directory,
        Self::CounterFcntl,
        Self::CounterFlock,
    ];

    /// What the checker takes it for.
    pub fn kind(self) -> Kind {
        match self {
            Self::Register => Kind::Register,
            Self::SessionFile => Kind::SessionFile,
            Self::AppendLog => Kind::AppendLog,
            Self::SymbolicLink | Self::LinkedFile | Self::PublishedFile => Kind::Entry,
            Self::NamePair => Kind::NamePair,
            Self::Mode | Self::Modified | Self::ExtendedAttribute => Kind::Attribute,
            Self::Directory => Kind::Directory,
            Self::CounterFcntl | Self::CounterFlock => Kind::LockedCounter,
        }
    }

    /// What is done to it, and how often. Looks prevail, so that most clients know an object when another changes it.
    pub fn mix(self) -> Mix {
        use Action::{Append, Create, Exists, Increment, Length, List, Move, Read, Remove, Replace, Write};
        match self {
            Self::Register | Self::SessionFile => &[(35, Write), (65, Read)],
            Self::Mode | Self::Modified | Self::ExtendedAttribute => &[(30, Write), (70, Read)],
            Self::AppendLog => &[(35, Append), (35, Read), (30, Length)],
            Self::SymbolicLink | Self::LinkedFile => {
                &[(15, Create), (15, Replace), (15, Remove), (30, Read), (25, Exists)]
            }
            Self::PublishedFile => &[(25, Replace), (75, Read)],
            Self::NamePair => &[(35, Move), (65, Read)],
            Self::Directory => &[(25, Create), (20, Remove), (55, List)],
            Self::CounterFcntl | Self::CounterFlock => &[(60, Increment), (40, Read)],
        }
    }

    /// How many changes an object takes, of all clients together. Permission bits are few, and what is read whole must stay small;
    /// beyond 10,000 operations the search of the checker takes long.
    pub fn most_changes(self) -> u32 {
        match self {
            Self::Mode => 0o777,
            Self::AppendLog => 512,
            _ => 3000,
        }
    }
}

/// How many operations one object sees at most, of all clients together.
pub const MOST_OPERATIONS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mix_has_only_actions_of_its_kind_and_sums_up_to_a_hundred() {
        for flavour in Flavour::ALL {
            assert_eq!(flavour.mix().iter().map(|(share, _)| share).sum::<u64>(), 100, "{flavour:?}");
            let known = flavour.kind().actions();
            assert!(flavour.mix().iter().all(|(_, action)| known.contains(action)), "{flavour:?}");
        }
    }
}
