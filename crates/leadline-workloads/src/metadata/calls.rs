//! One call at a time: what mdtest does, and what an application without threads does.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ops::Range;

use nix::libc;

use crate::aligned_buffer::AlignedBuffer;
use crate::failures::Failure;
use crate::metadata::drive::{Operation, Transfers, DIRECTORY_MODE, FILE_MODE};
use crate::metadata::pointer::{Directories, Naming, Pointer, Share};
use crate::metadata::recorder::Recorder;
use crate::metadata::rotation::{Named, Rotation};

/// What a rank needs to make calls, kept over all phases.
pub struct Calls {
    directories: Directories,
    from: Pointer,
    to: Pointer,
    hands: Hands,
}

impl Calls {
    pub fn new(naming: Naming, transfers: Transfers, seed: u64) -> Self {
        Self {
            directories: Directories::new(naming, 2),
            from: Pointer::new(naming),
            to: Pointer::new(naming),
            hands: Hands::new(transfers, seed),
        }
    }

    /// Performs one operation on each item in turn, until the last or until the time is up; returns the position
    /// behind the last one.
    pub fn run(
        &mut self,
        operation: Operation,
        share: &Share<'_>,
        positions: Range<u64>,
        until_ns: u64,
        recorder: &mut Recorder<'_>,
    ) -> u64 {
        // One loop an operation, so that nothing is left to decide between two calls.
        let hands = &mut self.hands;
        let mut each = Each { pointer: &mut self.from, directories: &mut self.directories, share, recorder };
        let reached = match operation {
            Operation::CreateFile => {
                each.item(positions, until_ns, |at, name, position| hands.create_file(at, name, position))
            }
            Operation::CreateDirectory => {
                each.item(positions, until_ns, |at, name, _| create_directory(at, name))
            }
            Operation::Stat => each.item(positions, until_ns, |at, name, _| stat(at, name)),
            Operation::ReadFile => each.item(positions, until_ns, |at, name, _| hands.read_file(at, name)),
            Operation::RemoveFile => each.item(positions, until_ns, |at, name, _| remove(at, name, 0)),
            Operation::RemoveDirectory => {
                each.item(positions, until_ns, |at, name, _| remove(at, name, libc::AT_REMOVEDIR))
            }
        };
        self.from.leave(share, &mut self.directories);
        reached
    }

    /// Gives each directory the name of the one before it.
    pub fn rename(&mut self, share: &Share<'_>, positions: Range<u64>, recorder: &mut Recorder<'_>) {
        for renaming in Rotation::of(positions) {
            let elsewhere = self.from.move_to(renaming.from, share, &mut self.directories);
            if self.to.move_to(renaming.to, share, &mut self.directories) || elsewhere {
                recorder.now_ns();
            }
            let ends = self.from.target().and_then(|from| self.to.target().map(|to| (from, to)));
            recorder.done(ends.and_then(|(from, to)| rename(from, to)));
        }
        self.from.leave(share, &mut self.directories);
        self.to.leave(share, &mut self.directories);
    }
}

/// The loop around every call.
struct Each<'run, 'shared> {
    pointer: &'run mut Pointer,
    directories: &'run mut Directories,
    share: &'run Share<'run>,
    recorder: &'run mut Recorder<'shared>,
}

impl Each<'_, '_> {
    #[inline(always)]
    fn item(
        &mut self,
        positions: Range<u64>,
        until_ns: u64,
        mut call: impl FnMut(i32, *const c_char, u64) -> Result<(), Failure>,
    ) -> u64 {
        for position in positions.clone() {
            if self.recorder.last_ns() >= until_ns {
                return position;
            }
            if self.pointer.move_to(Named { position, parked: false }, self.share, self.directories) {
                self.recorder.now_ns();
            }
            let answer = self.pointer.target().and_then(|(at, name)| call(at, name, position));
            self.recorder.done(answer);
        }
        positions.end
    }
}

/// Calls that move data, and the data.
struct Hands {
    transfers: Transfers,
    written: AlignedBuffer,
    read: AlignedBuffer,
}

impl Hands {
    fn new(transfers: Transfers, seed: u64) -> Self {
        let written = AlignedBuffer::filled(transfers.write_size_bytes.max(1), seed);
        Self { transfers, written, read: AlignedBuffer::filled(transfers.read_size_bytes.max(1), 0) }
    }

    #[inline]
    fn create_file(&mut self, at: i32, name: *const c_char, position: u64) -> Result<(), Failure> {
        // O_EXCL: a file that an earlier run left behind is a failure and not a creation.
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: names end with a zero byte and outlive the call.
        let file = succeeded(unsafe { libc::openat(at, name, flags, FILE_MODE) })?;
        let written = match self.transfers.write_size_bytes {
            0 => Ok(()),
            size_bytes => {
                Transfers::mark(&mut self.written, position);
                // SAFETY: the buffer is as long as said.
                moved(unsafe { libc::write(file, self.written.as_ptr().cast(), size_bytes) }, size_bytes)
            }
        };
        written.and(close(file))
    }

    #[inline]
    fn read_file(&mut self, at: i32, name: *const c_char) -> Result<(), Failure> {
        // SAFETY: names end with a zero byte and outlive the call.
        let file = succeeded(unsafe { libc::openat(at, name, libc::O_RDONLY | libc::O_CLOEXEC) })?;
        let read = match self.transfers.read_size_bytes {
            0 => Ok(()),
            size_bytes => {
                let room = self.read.as_mut_ptr().cast();
                // SAFETY: the buffer is as long as said, and nobody else looks at it.
                moved(unsafe { libc::read(file, room, size_bytes) }, size_bytes)
            }
        };
        read.and(close(file))
    }
}

/// Always called, whatever went before: a network filesystem tells here what became of the data.
#[inline]
fn close(file: i32) -> Result<(), Failure> {
    // SAFETY: the descriptor was opened by the caller, who does not use it again.
    succeeded(unsafe { libc::close(file) }).map(drop)
}

#[inline]
fn create_directory(at: i32, name: *const c_char) -> Result<(), Failure> {
    // SAFETY: names end with a zero byte and outlive the call.
    succeeded(unsafe { libc::mkdirat(at, name, DIRECTORY_MODE) }).map(drop)
}

#[inline]
fn stat(at: i32, name: *const c_char) -> Result<(), Failure> {
    let mut attributes = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the name ends with a zero byte, and there is room for what is written.
    succeeded(unsafe { libc::fstatat(at, name, attributes.as_mut_ptr(), 0) }).map(drop)
}

#[inline]
fn remove(at: i32, name: *const c_char, flags: i32) -> Result<(), Failure> {
    // SAFETY: names end with a zero byte and outlive the call.
    succeeded(unsafe { libc::unlinkat(at, name, flags) }).map(drop)
}

#[inline]
fn rename(from: (i32, *const c_char), to: (i32, *const c_char)) -> Result<(), Failure> {
    // SAFETY: names end with a zero byte and outlive the call.
    succeeded(unsafe { libc::renameat(from.0, from.1, to.0, to.1) }).map(drop)
}

#[inline]
fn succeeded(answer: i32) -> Result<i32, Failure> {
    if answer < 0 {
        Err(Failure::last())
    } else {
        Ok(answer)
    }
}

#[inline]
fn moved(answer: isize, wanted_bytes: usize) -> Result<(), Failure> {
    match usize::try_from(answer) {
        Ok(bytes) if bytes == wanted_bytes => Ok(()),
        Ok(_) => Err(Failure::SHORT_TRANSFER),
        Err(_) => Err(Failure::last()),
    }
}
