//! What the kernel asks of the one file: the root of the mount is the file itself, so there are no names.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyOpen, ReplyWrite, Request, WriteFlags,
};
use nix::fcntl::{fallocate, FallocateFlags};

use crate::outbox::Outbox;
use crate::timetable::{Model, Timetable};

/// What is larger comes as several requests; the kernel allows no more (fs.fuse.max_pages_limit).
const REQUEST_BYTES_AT_MOST: u32 = 1 << 20;
/// More than a loop device has in flight: the only queue is ours.
const IN_FLIGHT_AT_MOST: u16 = 4096;
/// The size never changes.
const ATTRIBUTES_HOLD: Duration = Duration::from_secs(3600);

/// The image as a file whose requests take their time.
pub struct Image {
    file: File,
    attributes: FileAttr,
    timetable: Mutex<Timetable>,
    origin: Instant,
    outbox: Arc<Outbox>,
}

impl Image {
    pub(crate) fn new(file: File, model: Model, outbox: Arc<Outbox>) -> io::Result<Self> {
        let attributes = attributes_of(&file.metadata()?);
        let timetable = Mutex::new(Timetable::new(model));
        Ok(Self { file, attributes, timetable, origin: Instant::now(), outbox })
    }

    /// When a request that arrives now is done: `accept` asks the timetable.
    fn due(&self, accept: impl FnOnce(&mut Timetable, Duration) -> Duration) -> Instant {
        let mut timetable = self.timetable.lock().expect("nobody panics with the timetable in hand");
        let now = self.origin.elapsed(); // under the lock, so that arrivals are in order
        self.origin + accept(&mut timetable, now)
    }
}

impl Filesystem for Image {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |_| io::Error::other("this kernel's FUSE lacks asynchronous direct I/O");
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(refused)?;
        config.set_max_write(REQUEST_BYTES_AT_MOST).expect("fuser takes up to 16 MiB");
        config.set_max_background(IN_FLIGHT_AT_MOST).expect("fuser takes any but 0");
        Ok(())
    }

    fn getattr(&self, _: &Request, _: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&ATTRIBUTES_HOLD, &self.attributes);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let uncached = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), uncached);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let due = self.due(|timetable, now| timetable.accept_read(now, size.into()));
        let mut bytes = vec![0; size as usize];
        let read = read_all(&self.file, &mut bytes, offset);
        self.outbox.post(due, move || match read {
            Ok(count) => reply.data(&bytes[..count]),
            Err(error) => reply.error(error.into()),
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let due = self.due(|timetable, now| timetable.accept_write(now, data.len() as u64));
        let (written, count) = (self.file.write_all_at(data, offset), data.len() as u32);
        self.outbox.post(due, move || match written {
            Ok(()) => reply.written(count),
            Err(error) => reply.error(error.into()),
        });
    }

    /// A flush of the device. Nothing is forced to the medium below: the image is thrown away with the lab.
    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let due = self.due(|timetable, now| timetable.accept_flush(now));
        self.outbox.post(due, move || reply.ok());
    }

    /// Zeroed or discarded ranges: a write that moves no bytes.
    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let due = self.due(|timetable, now| timetable.accept_write(now, 0));
        let how = FallocateFlags::from_bits_truncate(mode);
        let done = fallocate(self.file.as_fd(), how, offset as i64, length as i64);
        self.outbox.post(due, move || match done {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(Errno::from_i32(error as i32)),
        });
    }
}

/// As much as there is: less only at the end of the image.
fn read_all(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        match file.read_at(&mut bytes[count..], offset + count as u64)? {
            0 => break,
            more => count += more,
        }
    }
    Ok(count)
}

fn attributes_of(found: &Metadata) -> FileAttr {
    FileAttr {
        ino: INodeNo::ROOT,
        size: found.size(),
        blocks: found.size().div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind: FileType::RegularFile,
        perm: 0o600,
        nlink: 1,
        uid: found.uid(),
        gid: found.gid(),
        rdev: 0,
        blksize: found.blksize() as u32,
        flags: 0,
    }
}
