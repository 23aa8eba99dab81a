//! What a client may be told to do.

use serde::Deserialize;

use crate::visibility::answer::Answer;

/// One line: calls that are made one after the other, once or until they answer something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// Comes back with the reply, so that neither can be taken for another.
    pub number: u64,
    /// Made in order; the first that fails is the last. What the last of them tells is the answer.
    pub calls: Vec<Call>,
    /// Make them again and again until they answer this; without it, once.
    #[serde(default)]
    pub until: Option<Answer>,
    /// The pause between two rounds, at the beginning; it grows with what was waited already.
    #[serde(default)]
    pub every_ns: u64,
    /// Give up after this long.
    #[serde(default)]
    pub at_most_ns: u64,
}

/// One system call. Names are relative to the client's directory; handles are words for files that it holds open.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    Stat {
        name: String,
        field: Field,
    },
    Access {
        name: String,
    },
    /// The names in a directory, sorted.
    List {
        name: String,
    },
    ReadLink {
        name: String,
    },
    GetAttribute {
        name: String,
        key: String,
    },
    SetAttribute {
        name: String,
        key: String,
        text: String,
    },
    MakeDirectory {
        name: String,
    },
    RemoveDirectory {
        name: String,
    },
    Unlink {
        name: String,
    },
    Rename {
        name: String,
        to: String,
    },
    Link {
        name: String,
        to: String,
    },
    SymbolicLink {
        name: String,
        text: String,
    },
    ChangeMode {
        name: String,
        mode: u32,
    },
    SetModified {
        name: String,
        unix_seconds: i64,
    },
    Truncate {
        name: String,
        size_bytes: u64,
    },
    Open {
        name: String,
        handle: String,
        flags: Vec<Flag>,
    },
    Close {
        handle: String,
    },
    /// At the file's position, or at its end where it was opened for appending.
    Write {
        handle: String,
        text: String,
        #[serde(default)]
        size_bytes: usize,
    },
    /// From the file's beginning, whatever its position.
    Read {
        handle: String,
    },
    FileStat {
        handle: String,
        field: Field,
    },
    /// Where the end is, by lseek(2).
    SeekEnd {
        handle: String,
    },
    Synchronise {
        handle: String,
    },
    /// Asks the kernel to forget the pages that it has cached of this file.
    DropPages {
        handle: String,
    },
    /// Does not wait for whoever holds it.
    Lock {
        handle: String,
        by: LockKind,
    },
    Unlock {
        handle: String,
        by: LockKind,
    },
    /// Closes all that is open.
    Release,
}

/// What of a file's attributes is asked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// `file`, `directory`, `link` or `other`; links are not followed.
    Kind,
    Size,
    Mode,
    Links,
    /// Time of the last change of content, in whole seconds.
    Modified,
    /// The filesystem's device number.
    Device,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    Read,
    Write,
    Append,
    Create,
    Exclusive,
    Synchronous,
    Direct,
}

/// Which of the two families of locks: they know nothing of each other.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockKind {
    Fcntl,
    Flock,
}
