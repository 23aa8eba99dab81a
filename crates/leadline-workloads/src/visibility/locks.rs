//! Both families of exclusive locks. Neither call waits: a lock that somebody else holds is an answer.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use nix::libc;

use crate::visibility::files::succeeded;
use crate::visibility::instruction::LockKind;

/// What a lock that was got is called.
pub const GRANTED: &str = "granted";

pub fn lock(file: &File, by: LockKind) -> io::Result<String> {
    match by {
        LockKind::Fcntl => set(file, libc::F_WRLCK),
        // SAFETY: takes numbers only.
        LockKind::Flock => succeeded(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }),
    }
    .map(|()| GRANTED.to_owned())
}

pub fn unlock(file: &File, by: LockKind) -> io::Result<()> {
    match by {
        LockKind::Fcntl => set(file, libc::F_UNLCK),
        // SAFETY: takes numbers only.
        LockKind::Flock => succeeded(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) }),
    }
}

/// The whole file, for this process: any descriptor of the file that the process closes takes the lock with it (fcntl(2)).
fn set(file: &File, kind: libc::c_int) -> io::Result<()> {
    let wish = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: the structure is whole and outlives the call.
    let answer = succeeded(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &wish) });
    // Both mean that somebody else holds it, and filesystems choose (fcntl(2)); one name makes them one answer.
    answer.map_err(|error| match error.raw_os_error() {
        Some(libc::EACCES) => io::Error::from_raw_os_error(libc::EAGAIN),
        _ => error,
    })
}
