//! Registers and session files: one value in a file, written and read whole.
//!
//! A register is held open by every worker and written in place; a session file is opened and closed each time, as programs do that rely
//! on close-to-open.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use leadline_history::Action;

use crate::histories::content::{fill, value_in};
use crate::histories::objects::Object;
use crate::histories::recorder::{timed, Timed, Told};
use crate::histories::worker::Worker;
use crate::visibility::files::close;

/// Made empty and then written like any other time.
pub fn make(worker: &mut Worker, object: &Object) -> io::Result<()> {
    File::create_new(&object.path).and_then(close)?;
    act(worker, object, Action::Write);
    Ok(())
}

/// Opened, written or read, and closed.
pub fn act(worker: &mut Worker, object: &Object, action: Action) {
    if action == Action::Write {
        let Some(value) = next_value(worker, object) else { return };
        let block = &worker.buffer[..worker.step.block_size_bytes as usize];
        let done = timed(|| {
            let file = OpenOptions::new().write(true).open(&object.path)?;
            write_whole(&file, block)?;
            close(file)
        });
        return worker.note(object, action, value, done.map(|()| Told::NOTHING));
    }
    let expected = worker.step.block_size_bytes as usize;
    let done = read_value(&object.path, &mut worker.buffer, expected);
    worker.note(object, action, 0, done);
}

/// On the file that this worker holds open.
pub fn act_held(worker: &mut Worker, object: &Object, action: Action) {
    let value = if action == Action::Write { next_value(worker, object) } else { None };
    if action == Action::Write && value.is_none() {
        return;
    }
    let size = worker.step.block_size_bytes as usize;
    let file = match worker.held.remove(&object.number).map(Ok).unwrap_or_else(|| open_both(&object.path)) {
        Ok(file) => file,
        // Nothing was done to the object; but that it cannot be opened is to be seen.
        Err(error) => return worker.note(object, Action::Read, 0, timed(|| Err(error))),
    };
    let done = match value {
        Some(_) => timed(|| write_whole(&file, &worker.buffer[..size])).map(|()| Told::NOTHING),
        None => {
            let done = timed(|| file.read_at(&mut worker.buffer, 0));
            done.map(|count| told(&worker.buffer[..count], size))
        }
    };
    if done.answer.is_ok() {
        worker.held.insert(object.number, file);
    }
    worker.note(object, action, value.unwrap_or(0), done);
}

/// A new value, laid into the worker's buffer.
fn next_value(worker: &mut Worker, object: &Object) -> Option<u64> {
    worker.objects.next_change(object)?;
    let value = worker.token();
    let size = worker.step.block_size_bytes as usize;
    fill(value, &mut worker.buffer[..size]);
    Some(value)
}

fn open_both(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// The value in a file of the size that is expected, from open to close.
fn read_value(path: &Path, buffer: &mut [u8], expected: usize) -> Timed<Told> {
    let done = timed(|| {
        let file = File::open(path)?;
        let count = file.read_at(buffer, 0)?;
        close(file)?;
        Ok(count)
    });
    done.map(|count| told(&buffer[..count], expected))
}

/// A file in which nothing was written yet is empty: that is its first value.
fn told(bytes: &[u8], expected: usize) -> Told {
    if bytes.is_empty() {
        return Told::NOTHING;
    }
    let (value, content) = value_in(bytes, expected);
    Told { value, content, size_bytes: bytes.len() as u64 }
}

/// One pwrite(2) at the beginning; a short one leaves open what is there.
pub fn write_whole(file: &File, bytes: &[u8]) -> io::Result<()> {
    match file.write_at(bytes, 0)? {
        count if count == bytes.len() => Ok(()),
        count => Err(io::Error::other(format!("short write of {count} bytes"))),
    }
}
