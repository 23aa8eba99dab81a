//! Calls by name.

use std::ffi::CString;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::Path;

use nix::libc;

use crate::visibility::files::succeeded;
use crate::visibility::instruction::{Call, Field};

const ATTRIBUTE_BYTES: usize = 256;

/// Makes a call that needs nothing but names below a directory.
pub fn make(directory: &Path, call: &Call) -> io::Result<String> {
    let at = |name: &str| directory.join(name);
    match call {
        Call::Stat { name, field } => {
            return fs::symlink_metadata(at(name)).map(|found| told(&found, *field))
        }
        Call::List { name } => return list(&at(name)),
        Call::ReadLink { name } => {
            return fs::read_link(at(name)).map(|text| text.to_string_lossy().into_owned())
        }
        Call::GetAttribute { name, key } => return attribute(&at(name), key),
        Call::Access { name } => access(&at(name)),
        Call::SetAttribute { name, key, text } => set_attribute(&at(name), key, text),
        Call::MakeDirectory { name } => fs::create_dir(at(name)),
        Call::RemoveDirectory { name } => fs::remove_dir(at(name)),
        Call::Unlink { name } => fs::remove_file(at(name)),
        Call::Rename { name, to } => fs::rename(at(name), at(to)),
        Call::Link { name, to } => fs::hard_link(at(name), at(to)),
        Call::SymbolicLink { name, text } => symlink(text, at(name)),
        Call::ChangeMode { name, mode } => fs::set_permissions(at(name), Permissions::from_mode(*mode)),
        Call::SetModified { name, unix_seconds } => set_modified(&at(name), *unix_seconds),
        Call::Truncate { name, size_bytes } => truncate(&at(name), *size_bytes),
        _ => unreachable!("calls on open files are made elsewhere"),
    }
    .map(|()| String::new())
}

/// One attribute in words.
pub fn told(found: &Metadata, field: Field) -> String {
    match field {
        Field::Kind => kind(found).to_owned(),
        Field::Size => found.size().to_string(),
        Field::Mode => format!("{:o}", found.mode() & 0o7777),
        Field::Links => found.nlink().to_string(),
        Field::Modified => found.mtime().to_string(),
        Field::Device => found.dev().to_string(),
    }
}

fn kind(found: &Metadata) -> &'static str {
    let kind = found.file_type();
    match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
        (true, ..) => "file",
        (_, true, _) => "directory",
        (_, _, true) => "link",
        _ => "other",
    }
}

fn list(path: &Path) -> io::Result<String> {
    let read: io::Result<Vec<_>> =
        fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let mut names = read?;
    names.sort();
    Ok(names.join(" "))
}

fn access(path: &Path) -> io::Result<()> {
    let path = words(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends with a zero byte and outlives the call.
    succeeded(unsafe { libc::access(path.as_ptr(), libc::F_OK) })
}

fn truncate(path: &Path, size_bytes: u64) -> io::Result<()> {
    let path = words(path.as_os_str().as_bytes())?;
    // SAFETY: the path ends with a zero byte and outlives the call.
    succeeded(unsafe { libc::truncate(path.as_ptr(), size_bytes as libc::off_t) })
}

pub fn set_modified(path: &Path, unix_seconds: i64) -> io::Result<()> {
    let path = words(path.as_os_str().as_bytes())?;
    let time = libc::timespec { tv_sec: unix_seconds, tv_nsec: 0 };
    let times = [time, time];
    // SAFETY: the path ends with a zero byte, there are two times, and all outlive the call.
    succeeded(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), 0) })
}

pub fn attribute(path: &Path, key: &str) -> io::Result<String> {
    let (path, key) = (words(path.as_os_str().as_bytes())?, words(key.as_bytes())?);
    let mut room = [0_u8; ATTRIBUTE_BYTES];
    // SAFETY: both words end with a zero byte, and there is as much room as said.
    let size =
        unsafe { libc::getxattr(path.as_ptr(), key.as_ptr(), room.as_mut_ptr().cast(), ATTRIBUTE_BYTES) };
    let size = usize::try_from(size).map_err(|_| io::Error::last_os_error())?;
    Ok(String::from_utf8_lossy(&room[..size]).into_owned())
}

pub fn set_attribute(path: &Path, key: &str, text: &str) -> io::Result<()> {
    let (path, key) = (words(path.as_os_str().as_bytes())?, words(key.as_bytes())?);
    // SAFETY: both words end with a zero byte, and the text is as long as said.
    succeeded(unsafe { libc::setxattr(path.as_ptr(), key.as_ptr(), text.as_ptr().cast(), text.len(), 0) })
}

fn words(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(io::Error::other)
}
