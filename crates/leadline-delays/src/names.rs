//! What the kernel knows by number. Every number stands for an open file of the directory below, so that it stays the
//! same file whoever renames or removes it meanwhile, through this mount or another.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo};
use nix::fcntl::OFlag;

/// How long the kernel may believe what it was told.
#[derive(Clone, Copy)]
pub struct Times {
    pub entry: Duration,
    pub attribute: Duration,
    pub negative: Duration,
}

struct Name {
    file: Arc<File>,
    /// How often the kernel was told of it; it says when it forgets.
    told: u64,
}

/// All of them, by the number of the inode below; 1 is the root.
pub struct Names(Mutex<HashMap<u64, Name>>);

impl Names {
    pub fn of(root: &Path) -> io::Result<Self> {
        let root = Name { file: Arc::new(held(root)?), told: 1 };
        Ok(Self(Mutex::new(HashMap::from([(INodeNo::ROOT.0, root)]))))
    }

    /// The file, held but not opened.
    pub fn held(&self, number: INodeNo) -> io::Result<Arc<File>> {
        let names = self.0.lock().expect("nobody panics with the names in hand");
        Ok(Arc::clone(&names.get(&number.0).ok_or(io::ErrorKind::NotFound)?.file))
    }

    /// A way to the file that no rename changes.
    pub fn path(&self, number: INodeNo) -> io::Result<PathBuf> {
        Ok(PathBuf::from(format!("/proc/self/fd/{}", self.held(number)?.as_raw_fd())))
    }

    /// A way to what this directory has under a name.
    pub fn within(&self, directory: INodeNo, name: &OsStr) -> io::Result<PathBuf> {
        Ok(self.path(directory)?.join(name))
    }

    /// Attributes as they are now, also of what has no name any more.
    pub fn attributes(&self, number: INodeNo) -> io::Result<FileAttr> {
        Ok(attributes_of(number, &self.held(number)?.metadata()?))
    }

    /// Looks a name up, and remembers that the kernel was told.
    pub fn tell(&self, directory: INodeNo, name: &OsStr) -> io::Result<FileAttr> {
        let file = Arc::new(held(&self.within(directory, name)?)?);
        let found = file.metadata()?;
        let mut names = self.0.lock().expect("nobody panics with the names in hand");
        names.entry(found.ino()).or_insert(Name { file, told: 0 }).told += 1;
        Ok(attributes_of(INodeNo(found.ino()), &found))
    }

    pub fn forget(&self, number: INodeNo, times: u64) {
        let mut names = self.0.lock().expect("nobody panics with the names in hand");
        let Some(name) = names.get_mut(&number.0) else { return };
        name.told = name.told.saturating_sub(times);
        if name.told == 0 {
            names.remove(&number.0);
        }
    }
}

/// Opens nothing of it but holds it, whatever it is.
fn held(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

fn attributes_of(ino: INodeNo, found: &Metadata) -> FileAttr {
    FileAttr {
        ino,
        size: found.size(),
        blocks: found.blocks(),
        atime: time(found.atime(), found.atime_nsec()),
        mtime: time(found.mtime(), found.mtime_nsec()),
        ctime: time(found.ctime(), found.ctime_nsec()),
        crtime: UNIX_EPOCH,
        kind: kind_of(found),
        perm: (found.mode() & 0o7777) as u16,
        nlink: found.nlink() as u32,
        uid: found.uid(),
        gid: found.gid(),
        rdev: found.rdev() as u32,
        blksize: found.blksize() as u32,
        flags: 0,
    }
}

fn time(seconds: i64, nanoseconds: i64) -> SystemTime {
    UNIX_EPOCH + Duration::new(seconds.max(0) as u64, nanoseconds as u32)
}

pub fn kind_of(found: &Metadata) -> FileType {
    let kind = found.file_type();
    match () {
        () if kind.is_dir() => FileType::Directory,
        () if kind.is_symlink() => FileType::Symlink,
        () if kind.is_fifo() => FileType::NamedPipe,
        () => FileType::RegularFile,
    }
}
