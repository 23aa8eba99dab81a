//! What the kernel asks, answered by the directory below. Locks, links and extended attributes are not offered.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{symlink, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use nix::fcntl::readlinkat;
use nix::sys::stat::{utimensat, UtimensatFlags};
use nix::sys::time::TimeSpec;

use crate::names::{kind_of, Names, Times};

/// The filesystem.
pub struct Passthrough {
    names: Names,
    times: Times,
    open: Mutex<HashMap<u64, Arc<File>>>,
    next: AtomicU64,
}

impl Passthrough {
    pub fn of(directory: &Path, times: Times) -> io::Result<Self> {
        let (open, next) = (Mutex::default(), AtomicU64::new(1));
        Ok(Self { names: Names::of(directory)?, times, open, next })
    }

    fn note_open(&self, file: File) -> FileHandle {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.open.lock().expect("nobody panics with the open files in hand").insert(number, Arc::new(file));
        FileHandle(number)
    }

    fn opened(&self, handle: FileHandle) -> io::Result<Arc<File>> {
        let open = self.open.lock().expect("nobody panics with the open files in hand");
        open.get(&handle.0).cloned().ok_or(io::Error::from(io::ErrorKind::InvalidInput))
    }

    /// Answers with what a directory has under a name.
    fn tell(&self, parent: INodeNo, name: &OsStr, made: io::Result<()>, reply: ReplyEntry) {
        match made.and_then(|()| self.names.tell(parent, name)) {
            Ok(found) => {
                reply.entry_with_ttls(&self.times.attribute, &self.times.entry, &found, Generation(0));
            }
            Err(error) => reply.error(error.into()),
        }
    }

    fn change(&self, ino: INodeNo, change: &Change) -> io::Result<FileAttr> {
        let path = self.names.path(ino)?;
        if let Some(mode) = change.mode {
            fs::set_permissions(&path, Permissions::from_mode(mode & 0o7777))?;
        }
        if let Some(size) = change.size {
            OpenOptions::new().write(true).open(&path)?.set_len(size)?;
        }
        if change.times.iter().any(Option::is_some) {
            let [read, written] = change.times.map(time_spec);
            utimensat(nix::fcntl::AT_FDCWD, &path, &read, &written, UtimensatFlags::FollowSymlink)?;
        }
        self.names.attributes(ino)
    }

    fn list(&self, ino: INodeNo) -> io::Result<Vec<(u64, FileType, std::ffi::OsString)>> {
        use std::os::unix::fs::DirEntryExt;
        let mut found = vec![
            (ino.0, FileType::Directory, ".".into()),
            (INodeNo::ROOT.0, FileType::Directory, "..".into()),
        ];
        for each in fs::read_dir(self.names.path(ino)?)? {
            let each = each?;
            let kind = each.metadata().map_or(FileType::RegularFile, |metadata| kind_of(&metadata));
            found.push((each.ino(), kind, each.file_name()));
        }
        Ok(found)
    }
}

/// What is to be changed of a file's attributes.
struct Change {
    mode: Option<u32>,
    size: Option<u64>,
    times: [Option<TimeOrNow>; 2],
}

fn time_spec(wanted: Option<TimeOrNow>) -> TimeSpec {
    match wanted {
        None => TimeSpec::UTIME_OMIT,
        Some(TimeOrNow::Now) => TimeSpec::UTIME_NOW,
        Some(TimeOrNow::SpecificTime(time)) => {
            TimeSpec::from_duration(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO))
        }
    }
}

/// Opens for what is asked. Never to append: the kernel has chosen the place already, by the size that it knows.
fn open_below(path: &Path, flags: OpenFlags, made_with: Option<u32>) -> io::Result<File> {
    let writes = flags.acc_mode() != OpenAccMode::O_RDONLY;
    let mut options = OpenOptions::new();
    options.read(true).write(writes || made_with.is_some());
    if let Some(mode) = made_with {
        options.create(true).mode(mode);
    }
    options.open(path)
}

fn answer(done: io::Result<()>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error.into()),
    }
}

impl Filesystem for Passthrough {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let missing = self.names.within(parent, name).and_then(fs::symlink_metadata);
        let absent = missing.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if absent && !self.times.negative.is_zero() {
            // Number 0 says that there is none, and for how long that may be believed.
            let Ok(of_parent) = self.names.attributes(parent) else { return reply.error(Errno::ENOENT) };
            let nothing = FileAttr { ino: INodeNo(0), ..of_parent };
            return reply.entry_with_ttls(&Duration::ZERO, &self.times.negative, &nothing, Generation(0));
        }
        self.tell(parent, name, Ok(()), reply);
    }

    fn forget(&self, _: &Request, ino: INodeNo, times: u64) {
        self.names.forget(ino, times);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.names.attributes(ino) {
            Ok(found) => reply.attr(&self.times.attribute, &found),
            Err(error) => reply.error(error.into()),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.change(ino, &Change { mode, size, times: [atime, mtime] }) {
            Ok(found) => reply.attr(&self.times.attribute, &found),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        use std::os::unix::ffi::OsStrExt;
        // An empty name stands for the link itself that is held.
        let held = self.names.held(ino);
        match held.and_then(|link| Ok(readlinkat(&link, "")?)) {
            Ok(leads_to) => reply.data(leads_to.as_bytes()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        use std::os::unix::fs::DirBuilderExt;
        let make = |path| fs::DirBuilder::new().mode(mode & !umask).create(path);
        self.tell(
            parent,
            name,
            self.names.within(parent, name).and_then(|path: std::path::PathBuf| make(path)),
            reply,
        );
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(self.names.within(parent, name).and_then(fs::remove_file), reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer(self.names.within(parent, name).and_then(fs::remove_dir), reply);
    }

    fn symlink(&self, _: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let made = self.names.within(parent, name).and_then(|path| symlink(target, path));
        self.tell(parent, name, made, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if !flags.is_empty() {
            return reply.error(Errno::EINVAL);
        }
        let from = self.names.within(parent, name);
        let to = self.names.within(newparent, newname);
        answer(from.and_then(|from| fs::rename(from, to?)), reply);
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.names.path(ino).and_then(|path| open_below(&path, flags, None)) {
            Ok(file) => reply.opened(self.note_open(file), FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let path = self.names.within(parent, name);
        let made = path.and_then(|path| open_below(&path, OpenFlags(flags), Some(mode & !umask)));
        match made.and_then(|file| Ok((file, self.names.tell(parent, name)?))) {
            Ok((file, found)) => {
                let shortest = self.times.attribute.min(self.times.entry);
                let handle = self.note_open(file);
                reply.created(&shortest, &found, Generation(0), handle, FopenFlags::empty());
            }
            Err(error) => reply.error(error.into()),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut bytes = vec![0; size as usize];
        match self.opened(fh).and_then(|file| file.read_at(&mut bytes, offset)) {
            Ok(count) => reply.data(&bytes[..count]),
            Err(error) => reply.error(error.into()),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.opened(fh).and_then(|file| file.write_all_at(data, offset)) {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(error.into()),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.open.lock().expect("nobody panics with the open files in hand").remove(&fh.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, fh: FileHandle, _: bool, reply: ReplyEmpty) {
        answer(self.opened(fh).and_then(|file| file.sync_all()), reply);
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let listed = match self.list(ino) {
            Ok(listed) => listed,
            Err(error) => return reply.error(error.into()),
        };
        for (place, (number, kind, name)) in (1..).zip(listed).skip(offset as usize) {
            if reply.add(INodeNo(number), place, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
