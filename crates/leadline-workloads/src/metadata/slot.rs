//! One operation in flight through io_uring: its calls one after the other, and the memory they need meanwhile.

use io_uring::opcode;
use io_uring::squeue::Entry;
use io_uring::types::{self, Fd};
use nix::libc;

use crate::aligned_buffer::AlignedBuffer;
use crate::failures::Failure;
use crate::metadata::drive::{Operation, Transfers, DIRECTORY_MODE, FILE_MODE};
use crate::metadata::pointer::{Directories, Naming, Pointer, Share};
use crate::metadata::ring::Then;
use crate::metadata::rotation::{Named, Renaming};

/// The call that was submitted last.
#[derive(Clone, Copy)]
enum Pending {
    /// Its answer is that of the operation.
    Only,
    OpenToWrite,
    OpenToRead,
    Write(i32),
    Read(i32),
    /// With what became of the data.
    Close(Result<(), Failure>),
}

/// Names and buffers stay where they are while a call is in flight: all of them are on the heap.
pub struct Slot {
    from: Pointer,
    to: Pointer,
    transfers: Transfers,
    written: AlignedBuffer,
    read: AlignedBuffer,
    attributes: Box<libc::statx>,
    pending: Pending,
    started_ns: u64,
}

impl Slot {
    pub fn new(naming: Naming, transfers: Transfers, seed: u64) -> Self {
        // SAFETY: all zeroes is a value of this struct of integers.
        let attributes = Box::new(unsafe { std::mem::zeroed() });
        Self {
            from: Pointer::new(naming),
            to: Pointer::new(naming),
            transfers,
            written: AlignedBuffer::filled(transfers.write_size_bytes.max(1), seed),
            read: AlignedBuffer::filled(transfers.read_size_bytes.max(1), 0),
            attributes,
            pending: Pending::Only,
            started_ns: 0,
        }
    }

    pub fn point_at(&mut self, item: Named, share: &Share<'_>, directories: &mut Directories) {
        self.from.move_to(item, share, directories);
    }

    pub fn point_from_to(&mut self, renaming: Renaming, share: &Share<'_>, directories: &mut Directories) {
        self.from.move_to(renaming.from, share, directories);
        self.to.move_to(renaming.to, share, directories);
    }

    pub fn leave(&mut self, share: &Share<'_>, directories: &mut Directories) {
        self.from.leave(share, directories);
        self.to.leave(share, directories);
    }

    /// When its operation was begun.
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// The first call of an operation on the item that the slot points at.
    pub fn begin(&mut self, operation: Operation, position: u64, now_ns: u64) -> Then {
        self.started_ns = now_ns;
        let (directory, name) = match self.from.target() {
            Ok((at, name)) => (types::Fd(at), name),
            Err(failure) => return Then::Finished(Err(failure)),
        };
        let (pending, entry) = match operation {
            Operation::CreateFile => {
                Transfers::mark(&mut self.written, position);
                let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_CLOEXEC;
                (
                    Pending::OpenToWrite,
                    opcode::OpenAt::new(directory, name).flags(flags).mode(FILE_MODE).build(),
                )
            }
            Operation::ReadFile => {
                let flags = libc::O_RDONLY | libc::O_CLOEXEC;
                (Pending::OpenToRead, opcode::OpenAt::new(directory, name).flags(flags).build())
            }
            Operation::Stat => (Pending::Only, self.statx(directory, name)),
            Operation::CreateDirectory => {
                (Pending::Only, opcode::MkDirAt::new(directory, name).mode(DIRECTORY_MODE).build())
            }
            Operation::RemoveFile => (Pending::Only, opcode::UnlinkAt::new(directory, name).build()),
            Operation::RemoveDirectory => {
                (Pending::Only, opcode::UnlinkAt::new(directory, name).flags(libc::AT_REMOVEDIR).build())
            }
        };
        self.pending = pending;
        Then::Submit(entry)
    }

    fn statx(&mut self, directory: Fd, name: *const libc::c_char) -> Entry {
        let room: *mut libc::statx = &mut *self.attributes;
        opcode::Statx::new(directory, name, room.cast()).mask(libc::STATX_BASIC_STATS).build()
    }

    /// The only call of a rename between the two items that the slot points at.
    pub fn begin_rename(&mut self, now_ns: u64) -> Then {
        self.started_ns = now_ns;
        self.pending = Pending::Only;
        match (self.from.target(), self.to.target()) {
            (Ok((from_at, from)), Ok((to_at, to))) => {
                Then::Submit(opcode::RenameAt::new(types::Fd(from_at), from, types::Fd(to_at), to).build())
            }
            (Err(failure), _) | (_, Err(failure)) => Then::Finished(Err(failure)),
        }
    }

    /// What follows from the answer to the call that was in flight.
    pub fn answered(&mut self, answer: i32) -> Then {
        let answered = if answer < 0 { Err(Failure::from_errno(-answer)) } else { Ok(answer) };
        match (self.pending, answered) {
            (Pending::Only, _) => Then::Finished(answered.map(drop)),
            (Pending::OpenToWrite | Pending::OpenToRead, Err(failure)) => Then::Finished(Err(failure)),
            (Pending::OpenToWrite, Ok(file)) if self.transfers.write_size_bytes > 0 => self.write(file),
            (Pending::OpenToRead, Ok(file)) if self.transfers.read_size_bytes > 0 => self.read(file),
            (Pending::OpenToWrite | Pending::OpenToRead, Ok(file)) => self.close(file, Ok(())),
            (Pending::Write(file), _) => self.close(file, moved(answered, self.transfers.write_size_bytes)),
            (Pending::Read(file), _) => self.close(file, moved(answered, self.transfers.read_size_bytes)),
            (Pending::Close(data), _) => Then::Finished(data.and(answered.map(drop))),
        }
    }

    fn write(&mut self, file: i32) -> Then {
        self.pending = Pending::Write(file);
        let length = self.transfers.write_size_bytes as u32;
        Then::Submit(opcode::Write::new(types::Fd(file), self.written.as_ptr(), length).build())
    }

    fn read(&mut self, file: i32) -> Then {
        self.pending = Pending::Read(file);
        let length = self.transfers.read_size_bytes as u32;
        Then::Submit(opcode::Read::new(types::Fd(file), self.read.as_mut_ptr(), length).build())
    }

    /// Always, whatever went before: a network filesystem tells here what became of the data.
    fn close(&mut self, file: i32, data: Result<(), Failure>) -> Then {
        self.pending = Pending::Close(data);
        Then::Submit(opcode::Close::new(types::Fd(file)).build())
    }
}

fn moved(answered: Result<i32, Failure>, wanted_bytes: usize) -> Result<(), Failure> {
    match answered?.cmp(&(wanted_bytes as i32)) {
        std::cmp::Ordering::Equal => Ok(()),
        _ => Err(Failure::SHORT_TRANSFER),
    }
}
