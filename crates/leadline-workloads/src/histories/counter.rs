//! Locked counters: lock, read, write one more, unlock. Who reads without raising it takes the lock as well.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use leadline_history::{Action, Content};
use nix::libc;

use crate::histories::content::{fill, value_in, UNIT_BYTES};
use crate::histories::flavour::Flavour;
use crate::histories::objects::Object;
use crate::histories::recorder::{timed, Timed, Told};
use crate::histories::whole_file::write_whole;
use crate::histories::worker::Worker;
use crate::visibility::files::close;
use crate::visibility::instruction::LockKind;
use crate::visibility::locks::{lock, unlock};

const VALUE_BYTES: usize = UNIT_BYTES as usize;
/// A lock that is not granted in this many tries is given up: nothing was done.
const TRIES: u32 = 100;
const BETWEEN_TRIES: Duration = Duration::from_micros(500);

pub fn make(object: &Object) -> io::Result<()> {
    let file = File::create_new(&object.path)?;
    write_whole(&file, &number(0))?;
    close(file)
}

pub fn act(worker: &mut Worker, object: &Object, action: Action) {
    let Some(_hold) = object.hold() else { return };
    if action == Action::Increment && worker.objects.next_change(object).is_none() {
        return;
    }
    let done = under_lock(object, action == Action::Increment);
    if done.answer.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EAGAIN)) {
        return; // another had the lock all the time
    }
    let raised = matches!(&done.answer, Ok(found) if found.content == Content::Whole);
    match (action, raised) {
        (Action::Increment, true) => {
            let next = done.answer.as_ref().map_or(0, |found| found.value + 1);
            worker.note(object, action, next, done);
        }
        // What is no number was not raised; that it was read is to be seen.
        (Action::Increment, false) if done.answer.is_ok() => worker.note(object, Action::Read, 0, done),
        _ => worker.note(object, action, 0, done),
    }
}

/// From the first try of the lock to the close of the file; what was read.
fn under_lock(object: &Object, raise: bool) -> Timed<Told> {
    let by = if object.flavour == Flavour::CounterFcntl { LockKind::Fcntl } else { LockKind::Flock };
    timed(|| {
        let file = OpenOptions::new().read(true).write(true).open(&object.path)?;
        granted(&file, by)?;
        let mut bytes = [0; VALUE_BYTES];
        let count = file.read_at(&mut bytes, 0)?;
        let (value, content) = value_in(&bytes[..count], VALUE_BYTES);
        if raise && content == Content::Whole {
            write_whole(&file, &number(value + 1)).map_err(doubtful)?;
        }
        let given_back = unlock(&file, by).and_then(|()| close(file));
        given_back.map_err(|error| if raise { doubtful(error) } else { error })?;
        Ok(Told { value, content, size_bytes: count as u64 })
    })
}

/// Once something was written under a lock, no error says that it did not happen.
fn doubtful(error: io::Error) -> io::Error {
    io::Error::other(error)
}

fn granted(file: &File, by: LockKind) -> io::Result<()> {
    for _ in 1..TRIES {
        match lock(file, by) {
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => std::thread::sleep(BETWEEN_TRIES),
            other => return other.map(|_| ()),
        }
    }
    lock(file, by).map(|_| ())
}

fn number(value: u64) -> [u8; VALUE_BYTES] {
    let mut bytes = [0; VALUE_BYTES];
    fill(value, &mut bytes);
    bytes
}
