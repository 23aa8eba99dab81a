//! What can be wrong, by its kind. Stale and lost are never put under one heading: the first passes.

use serde::{Deserialize, Serialize};

/// What a witness shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anomaly {
    /// A value was read that nobody wrote.
    Invented,
    /// A write was refused, and was read nevertheless.
    RefusedButHappened,
    /// A read had ended before the write of its value began.
    FromTheFuture,
    /// Parts of two values came in one block.
    Torn,
    /// Zeros came where something was written.
    ZeroFilled,
    /// Bytes came that nobody wrote.
    Damaged,
    /// Something was seen that had been replaced before.
    Stale,
    /// A name that had been seen did not exist for a while, although nobody removed it.
    Vanished,
    /// A client saw something older than it had seen before.
    WentBack,
    /// A client did not see what it had written itself.
    OwnWriteMissing,
    /// Something acknowledged is not there in the end.
    Lost,
    /// Two increments began with the same number: one of them is lost.
    LostUpdate,
    /// Something removed is there in the end.
    Resurrected,
    /// Something is there twice.
    Duplicated,
    /// Records lie in another order than that in which they were appended.
    Reordered,
    /// A read returned what is no beginning of the final log: what it saw was overwritten.
    Forked,
    /// Two clients succeeded where only one can.
    NotExclusive,
    /// A rename was seen half done: under both names, or under none.
    HalfRenamed,
    /// Clients still see different things after everything has settled.
    Diverged,
    /// No order of the operations explains what was seen, and none of the above is the reason alone.
    NoOrder,
}

impl Anomaly {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Invented,
        Self::RefusedButHappened,
        Self::FromTheFuture,
        Self::Torn,
        Self::ZeroFilled,
        Self::Damaged,
        Self::Stale,
        Self::Vanished,
        Self::WentBack,
        Self::OwnWriteMissing,
        Self::Lost,
        Self::LostUpdate,
        Self::Resurrected,
        Self::Duplicated,
        Self::Reordered,
        Self::Forked,
        Self::NotExclusive,
        Self::HalfRenamed,
        Self::Diverged,
        Self::NoOrder,
    ];
}
