//! The guarantees, from weak to strong, and which of them are asked of which kind of object.

use leadline_history::Kind;
use serde::{Deserialize, Serialize};

/// What a filesystem may promise to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guarantee {
    /// G1: what is read was written, and whole.
    NoInventedData,
    /// G2: what was acknowledged is there in the end, once.
    NoLostWrite,
    /// G3: when nothing changes any more, all clients come to see the same.
    Convergence,
    /// G4: what a client sees never goes back to something older.
    MonotonicReads,
    /// G5: a client sees its own acknowledged writes, or something newer.
    ReadYourWrites,
    /// G6: records lie in the order in which they were appended.
    AppendOrder,
    /// G7: who opens after another has closed sees what that one wrote, or something newer.
    CloseToOpen,
    /// G8: what is seen is at most so old (an amount rather than a yes or no).
    BoundedStaleness,
    /// G9: all operations look as if each happened at one instant between its call and its answer.
    Linearizable,
}

impl Guarantee {
    /// All of them, from weak to strong.
    pub const ALL: [Self; 9] = [
        Self::NoInventedData,
        Self::NoLostWrite,
        Self::Convergence,
        Self::MonotonicReads,
        Self::ReadYourWrites,
        Self::AppendOrder,
        Self::CloseToOpen,
        Self::BoundedStaleness,
        Self::Linearizable,
    ];

    /// What is counted when it is checked on an object of this kind.
    pub fn unit(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Self::NoLostWrite, Kind::AppendLog | Kind::Directory | Kind::LockedCounter) => {
                "acknowledged change"
            }
            (Self::NoLostWrite | Self::Convergence | Self::Linearizable, _) => "object",
            (Self::AppendOrder, _) => "append",
            _ => "read",
        }
    }

    /// Whether it is asked of objects of this kind.
    ///
    /// POSIX leaves open what a listing says of names that change meanwhile, so that directories are held to what
    /// was there throughout, as a session, and never to linearizability. Only whole files and appends are made
    /// between open and close, so only they and listings are held to close-to-open.
    pub fn concerns(self, kind: Kind) -> bool {
        use Kind::{AppendLog, Directory, LockedCounter, NamePair, SessionFile};
        match self {
            Self::NoInventedData => kind != NamePair,
            Self::NoLostWrite | Self::Convergence => true,
            Self::MonotonicReads => !matches!(kind, NamePair | Directory | LockedCounter),
            Self::ReadYourWrites => !matches!(kind, NamePair | LockedCounter),
            Self::AppendOrder => kind == AppendLog,
            Self::CloseToOpen => matches!(kind, SessionFile | AppendLog | Directory),
            Self::BoundedStaleness => kind != LockedCounter,
            Self::Linearizable => kind != Directory,
        }
    }
}
