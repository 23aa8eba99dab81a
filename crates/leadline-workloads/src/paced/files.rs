//! The files under load, and one read or write of them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::aligned_buffer::AlignedBuffer;
use crate::failures::Failure;
use crate::paced::access::{Direction, Operation};
use crate::paced::serve::PerformOperation;
use crate::Refusal;

/// All files of a step as one row of blocks, shared by its threads.
pub struct OpenedFiles {
    files: Vec<File>,
    /// Position of each file's first block in the row; ascending, the first is 0.
    first_blocks: Vec<u64>,
    blocks: u64,
    block_size_bytes: u64,
}

impl OpenedFiles {
    /// Opens what exists, and refuses everything but regular files: a slip in a path must never create a file
    /// nor write on a block device.
    pub fn open(
        paths: &[PathBuf],
        block_size_bytes: u64,
        writes: bool,
        direct: bool,
    ) -> Result<Self, Refusal> {
        Refusal::unless(!paths.is_empty(), || "files is empty: name at least one file".to_owned())?;
        let mut opened = Self { files: Vec::new(), first_blocks: Vec::new(), blocks: 0, block_size_bytes };
        for path in paths {
            let (file, size_bytes) = open_regular(path, writes, direct)?;
            Refusal::unless(size_bytes >= block_size_bytes, || {
                format!(
                    "{} holds {size_bytes} bytes, less than one block of {block_size_bytes}: lay it out first",
                    path.display()
                )
            })?;
            opened.files.push(file);
            opened.first_blocks.push(opened.blocks);
            opened.blocks += size_bytes / block_size_bytes;
        }
        Ok(opened)
    }

    /// Blocks in all files together, at least one.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    #[inline]
    fn locate(&self, block: u64) -> (&File, u64) {
        let file = self.first_blocks.partition_point(|&first| first <= block) - 1;
        (&self.files[file], (block - self.first_blocks[file]) * self.block_size_bytes)
    }
}

fn open_regular(path: &Path, writes: bool, direct: bool) -> Result<(File, u64), Refusal> {
    Refusal::unless(path.is_absolute(), || {
        format!("{} is not an absolute path: write it out from the root", path.display())
    })?;
    // Looked at before it is opened, because opening a pipe or a device can itself do something, and again
    // afterwards, because the path may meanwhile name another file.
    let metadata = path.metadata().map_err(|error| cannot("use", path, &error))?;
    let regular = || format!("{} is not a regular file: nothing else is read or written", path.display());
    Refusal::unless(metadata.is_file(), regular)?;
    let flags = if direct { OFlag::O_DIRECT.bits() } else { 0 };
    let file = OpenOptions::new().read(true).write(writes).custom_flags(flags).open(path);
    let file = file.map_err(|error| match error.raw_os_error() {
        Some(errno) if direct && errno == nix::errno::Errno::EINVAL as i32 => Refusal(format!(
            "{} does not open with O_DIRECT: its filesystem refuses direct I/O, so set direct to false",
            path.display()
        )),
        _ => cannot("open", path, &error),
    })?;
    let metadata = file.metadata().map_err(|error| cannot("use", path, &error))?;
    Refusal::unless(metadata.is_file(), regular)?;
    Ok((file, metadata.len()))
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Refusal {
    Refusal(format!("cannot {verb} {}: {error}; files must be laid out before", path.display()))
}

/// One thread's hands: the shared files and a buffer of its own.
pub struct FileOperations<'files> {
    files: &'files OpenedFiles,
    buffer: AlignedBuffer,
}

impl<'files> FileOperations<'files> {
    pub fn new(files: &'files OpenedFiles, seed: u64) -> Self {
        Self { files, buffer: AlignedBuffer::filled(files.block_size_bytes as usize, seed) }
    }
}

impl PerformOperation for FileOperations<'_> {
    /// Marks the block with the operation's number, lest a target that removes duplicates finds one block
    /// written a million times.
    #[inline]
    fn prepare(&mut self, operation: Operation) {
        if operation.direction == Direction::Write {
            let mark = operation.index.to_le_bytes();
            let length = mark.len().min(self.buffer.len());
            self.buffer[..length].copy_from_slice(&mark[..length]);
        }
    }

    #[inline]
    fn perform(&mut self, operation: Operation) -> Result<(), Failure> {
        let (file, offset_bytes) = self.files.locate(operation.block);
        let moved = match operation.direction {
            Direction::Read => file.read_at(&mut self.buffer, offset_bytes),
            Direction::Write => file.write_at(&self.buffer, offset_bytes),
        };
        match moved {
            Ok(size_bytes) if size_bytes == self.buffer.len() => Ok(()),
            Ok(_) => Err(Failure::SHORT_TRANSFER),
            Err(error) => Err(Failure::from(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn lay_out(directory: &Path, name: &str, size_bytes: usize) -> PathBuf {
        let path = directory.join(name);
        fs::write(&path, vec![0; size_bytes]).unwrap();
        path
    }

    fn refusal(path: &Path) -> String {
        OpenedFiles::open(&[path.to_owned()], 4096, true, false).err().expect("a refusal").0
    }

    #[test]
    fn a_missing_file_is_refused_and_not_created() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("missing");
        assert!(refusal(&path).contains("No such file"));
        assert!(!path.exists());
    }

    #[test]
    fn only_absolute_paths_of_regular_files_are_opened() {
        let directory = tempfile::tempdir().unwrap();
        assert!(refusal(Path::new("/dev/null")).contains("not a regular file"));
        assert!(refusal(directory.path()).contains("not a regular file"));
        assert!(refusal(Path::new("data")).contains("not an absolute path"));
    }

    #[test]
    fn a_block_device_is_refused() {
        let is_block_device = |path: &PathBuf| {
            use std::os::unix::fs::FileTypeExt;
            path.metadata().is_ok_and(|metadata| metadata.file_type().is_block_device())
        };
        let mut devices = fs::read_dir("/dev").unwrap().map(|entry| entry.unwrap().path());
        if let Some(device) = devices.find(is_block_device) {
            assert!(refusal(&device).contains("not a regular file"));
        }
    }

    #[test]
    fn a_file_smaller_than_one_block_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = lay_out(directory.path(), "small", 4095);
        assert!(refusal(&path).contains("4095 bytes"));
    }

    #[test]
    fn files_form_one_row_of_blocks_without_their_incomplete_ends() {
        let directory = tempfile::tempdir().unwrap();
        let paths = [lay_out(directory.path(), "a", 2 * 4096 + 100), lay_out(directory.path(), "b", 4096)];
        let files = OpenedFiles::open(&paths, 4096, true, false).unwrap();
        assert_eq!(files.blocks(), 3);
        let mut operations = FileOperations::new(&files, 9);
        for block in 0..3 {
            let operation = Operation { index: 7 + block, direction: Direction::Write, block };
            operations.prepare(operation);
            assert_eq!(operations.perform(operation), Ok(()));
        }
        let marks =
            |path: &Path| -> Vec<u8> { fs::read(path).unwrap().chunks(4096).map(|block| block[0]).collect() };
        assert_eq!(marks(&paths[0]), [7, 8, 0]);
        assert_eq!(marks(&paths[1]), [9]);
    }

    #[test]
    fn a_file_that_shrank_yields_short_transfers() {
        let directory = tempfile::tempdir().unwrap();
        let path = lay_out(directory.path(), "shrinking", 8192);
        let files = OpenedFiles::open(std::slice::from_ref(&path), 8192, false, false).unwrap();
        fs::write(&path, [0; 100]).unwrap();
        let operation = Operation { index: 0, direction: Direction::Read, block: 0 };
        assert_eq!(FileOperations::new(&files, 0).perform(operation), Err(Failure::SHORT_TRANSFER));
    }
}
