//! One operation of one client on one object: the row that everything else in this crate is about.

use serde::{Deserialize, Serialize};

/// The end of an operation whose answer never came: it may take effect at any later time, or not at all.
pub const NEVER: i64 = i64::MAX;

/// The value of an object that nobody has written yet, and of a name that leads nowhere.
pub const NOTHING: u64 = 0;

/// "No such file or directory", as Linux numbers it on every processor that leadline runs on.
pub const ENOENT: i16 = 2;

/// "File exists".
pub const EEXIST: i16 = 17;

/// Makes an enumeration that is stored as one byte and knows all its members.
macro_rules! stored_as_byte {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $member:ident = $code:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum $name { $($(#[$note])* $member = $code),+ }

        impl $name {
            /// All members, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$member),+];

            /// The member that is stored as this byte.
            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$member),)+ _ => None }
            }
        }
    };
}

stored_as_byte! {
    /// What an object is. The kind decides which actions it knows and how its histories are checked.
    Kind {
        /// One block of a file: written and read whole, with the value repeated through it.
        Register = 1,
        /// Mode, time stamp or extended attribute that carries a value.
        Attribute = 2,
        /// A whole file, written and read between open and close.
        SessionFile = 3,
        /// A file that grows by records of one size.
        AppendLog = 4,
        /// A name that leads to a value or to nothing: a symbolic link, created at once with what it says.
        Entry = 5,
        /// Two names, of which exactly one leads to the object at any time. It begins at name 1.
        NamePair = 6,
        /// A directory whose names are never used twice.
        Directory = 7,
        /// A number that is read, raised by one and written back under a lock. It begins at 0.
        LockedCounter = 8,
    }
}

stored_as_byte! {
    /// What a client wanted of an object.
    Action {
        /// Replaces the value: `value_in`.
        Write = 1,
        /// Reads the value into `value_out`; an append log into the list. A name pair's name is `value_in` (1 or 2).
        Read = 2,
        /// Adds the record `value_in` at the end.
        Append = 3,
        /// Asks for the number of records, which goes into `value_out`.
        Length = 4,
        /// Makes the name and its value `value_in` at once; fails with EEXIST where there is one.
        Create = 5,
        /// Renames something new, `value_in`, over the name, whether it exists or not.
        Replace = 6,
        /// Removes the name; fails with ENOENT where there is none. In a directory, the name `value_in`.
        Remove = 7,
        /// Asks only whether the name exists: `value_out` is 1 or 0.
        Exists = 8,
        /// Renames to the name `value_in` (1 or 2) from the other one; fails with ENOENT when it is not there.
        Move = 9,
        /// Lists the directory into the list.
        List = 10,
        /// Takes the lock, reads `value_out`, writes `value_in`, gives the lock back.
        Increment = 11,
    }
}

stored_as_byte! {
    /// How an operation ended.
    Outcome {
        /// It was acknowledged.
        Ok = 0,
        /// It was refused, and certainly did not happen.
        Fail = 1,
        /// Nobody knows: EIO, ETIMEDOUT, EINTR, or the client died. It has no end.
        Doubt = 2,
    }
}

stored_as_byte! {
    /// In what state the bytes came that a read returned.
    Content {
        /// One value, whole.
        Whole = 0,
        /// Parts of two values in one block.
        Torn = 1,
        /// Zeros where something was written.
        ZeroFilled = 2,
        /// Bytes that nobody wrote.
        Damaged = 3,
    }
}

stored_as_byte! {
    /// In which part of a run an operation was made.
    Moment {
        /// While clients change objects.
        During = 0,
        /// Afterwards, by the same clients, when every cache has had time to expire.
        Settled = 1,
        /// At the very end, by a client that was mounted anew and can have nothing cached.
        Final = 2,
    }
}

/// One operation. Times are of one clock, taken right before and right after the one system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// When it was called.
    pub start_ns: i64,
    /// When it answered; [`NEVER`] when in doubt.
    pub end_ns: i64,
    /// Which object.
    pub object: u64,
    /// What was written, or as [`Action`] says.
    pub value_in: u64,
    /// What was read, or as [`Action`] says.
    pub value_out: u64,
    /// Running number within its worker.
    pub sequence: u64,
    /// How many bytes were moved or reported.
    pub size_bytes: u64,
    /// The inode number that was seen; evidence only, never identity (they are used again).
    pub inode: u64,
    /// After how long the probe was to come, for staleness by delay; negative when it was not planned.
    pub planned_delay_ns: i64,
    /// Where its list begins in the values of the history.
    pub values_from: u64,
    /// How long its list is.
    pub values_count: u32,
    /// How far its times may be from the clock of the run; 0 on the host that keeps it.
    pub clock_error_ns: u32,
    /// Which open ... close it belongs to; 0 for none.
    pub session: u32,
    /// Which mount it went through.
    pub client: u16,
    /// Which thread of the client; a new number after a doubt.
    pub worker: u16,
    /// The error number of a refused or doubtful operation.
    pub errno: i16,
    /// What kind the object is.
    pub kind: Kind,
    /// What was asked for.
    pub action: Action,
    /// How it ended.
    pub outcome: Outcome,
    /// In what state the bytes came.
    pub content: Content,
    /// In which part of the run.
    pub moment: Moment,
    /// Whether the client had been made to cache the object before.
    pub primed: bool,
}

impl Operation {
    /// An acknowledged operation with nothing special about it.
    pub fn new(kind: Kind, object: u64, client: u16, action: Action, span_ns: (i64, i64)) -> Self {
        Self {
            start_ns: span_ns.0,
            end_ns: span_ns.1,
            object,
            value_in: NOTHING,
            value_out: NOTHING,
            sequence: 0,
            size_bytes: 0,
            inode: 0,
            planned_delay_ns: -1,
            values_from: 0,
            values_count: 0,
            clock_error_ns: 0,
            session: 0,
            client,
            worker: 0,
            errno: 0,
            kind,
            action,
            outcome: Outcome::Ok,
            content: Content::Whole,
            moment: Moment::During,
            primed: false,
        }
    }

    /// The same, having written this.
    pub fn giving(self, value: u64) -> Self {
        Self { value_in: value, ..self }
    }

    /// The same, having read this.
    pub fn getting(self, value: u64) -> Self {
        Self { value_out: value, ..self }
    }

    /// The same, refused with this error number.
    pub fn refused(self, errno: i16) -> Self {
        Self { outcome: Outcome::Fail, errno, ..self }
    }

    /// The same, without an answer.
    pub fn in_doubt(self) -> Self {
        Self { outcome: Outcome::Doubt, end_ns: NEVER, ..self }
    }

    /// The same, made in another part of the run.
    pub fn at(self, moment: Moment) -> Self {
        Self { moment, ..self }
    }

    /// Whether it can change its object: acknowledged, or in doubt.
    pub fn may_change(&self) -> bool {
        self.outcome != Outcome::Fail && self.action.changes()
    }

    /// Whether it was acknowledged.
    pub fn acknowledged(&self) -> bool {
        self.outcome == Outcome::Ok
    }
}

impl Action {
    /// Whether it is meant to change an object.
    pub fn changes(self) -> bool {
        !matches!(self, Self::Read | Self::Length | Self::Exists | Self::List)
    }

    /// Whether it brings a value that nobody brought before.
    pub fn brings_value(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::Create | Self::Replace)
    }
}

impl Kind {
    /// The actions that objects of this kind know.
    pub fn actions(self) -> &'static [Action] {
        use Action::{Append, Create, Exists, Increment, Length, List, Move, Read, Remove, Replace, Write};
        match self {
            Self::Register | Self::Attribute | Self::SessionFile => &[Write, Read],
            Self::AppendLog => &[Append, Read, Length],
            Self::Entry => &[Create, Replace, Remove, Read, Exists],
            Self::NamePair => &[Move, Read],
            Self::Directory => &[Create, Remove, List],
            Self::LockedCounter => &[Increment, Read],
        }
    }
}
