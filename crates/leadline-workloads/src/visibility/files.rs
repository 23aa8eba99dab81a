//! Calls on open files: each is one system call, and what it answers is what the application would get.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::libc;

use crate::aligned_buffer::AlignedBuffer;
use crate::visibility::content;
use crate::visibility::instruction::Flag;

/// More than any file of the grid holds; a multiple of every block size, as direct I/O asks for.
const READ_BYTES: usize = 64 * 1024;

pub fn open(path: &Path, flags: &[Flag]) -> io::Result<File> {
    let has = |flag| flags.contains(&flag);
    let mut further = 0;
    for (flag, bits) in [(Flag::Synchronous, libc::O_SYNC), (Flag::Direct, libc::O_DIRECT)] {
        further |= if has(flag) { bits } else { 0 };
    }
    OpenOptions::new()
        .read(has(Flag::Read))
        .write(has(Flag::Write))
        .append(has(Flag::Append))
        .create(has(Flag::Create) && !has(Flag::Exclusive))
        .create_new(has(Flag::Exclusive))
        .custom_flags(further)
        .mode(0o644)
        .open(path)
}

/// As close(2) answers: a network filesystem tells here what became of the data, and dropping a [`File`] would not say it.
pub fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor is the file's own, which is given up with it.
    succeeded(unsafe { libc::close(file.into_raw_fd()) })
}

/// One write(2); a short one is an error, since no file of the grid is large.
pub fn write(mut file: &File, text: &str, size_bytes: usize) -> io::Result<()> {
    let content = content::written(text, size_bytes);
    let mut buffer = AlignedBuffer::filled(content.len().max(1), 0);
    buffer[..content.len()].copy_from_slice(&content);
    let moved = file.write(&buffer[..content.len()])?;
    if moved == content.len() {
        Ok(())
    } else {
        Err(io::Error::other(format!("short write of {moved} bytes")))
    }
}

/// One pread(2) at the beginning, as words.
pub fn read(file: &File) -> io::Result<String> {
    let mut buffer = AlignedBuffer::filled(READ_BYTES, 0);
    let moved = file.read_at(&mut buffer, 0)?;
    Ok(content::words(&buffer[..moved]))
}

/// The position of the end, as lseek(2) has it.
pub fn end(mut file: &File) -> io::Result<String> {
    file.seek(SeekFrom::End(0)).map(|position| position.to_string())
}

pub fn drop_pages(file: &File) -> io::Result<()> {
    // SAFETY: takes numbers only.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
        0 => Ok(()),
        number => Err(io::Error::from_raw_os_error(number)),
    }
}

/// What a call says that answers with a number below zero when it failed.
pub fn succeeded(answer: i32) -> io::Result<()> {
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
