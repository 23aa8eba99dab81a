//! Append logs: opened for appending, one record written, closed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use leadline_history::Action;

use crate::histories::content::{record, records_in, RECORD_BYTES};
use crate::histories::objects::Object;
use crate::histories::recorder::{timed, Told};
use crate::histories::worker::Worker;
use crate::visibility::files::close;

pub fn make(object: &Object) -> io::Result<()> {
    File::create_new(&object.path).and_then(close)
}

pub fn act(worker: &mut Worker, object: &Object, action: Action) {
    match action {
        Action::Append => append(worker, object),
        Action::Length => {
            let done = timed(|| fs::symlink_metadata(&object.path)).map(|found| Told {
                size_bytes: found.len(),
                ..Told::value(found.len() / RECORD_BYTES as u64)
            });
            worker.note(object, action, 0, done);
        }
        _ => read(worker, object),
    }
}

fn append(worker: &mut Worker, object: &Object) {
    let Some(number) = worker.objects.next_change(object) else { return };
    let value = worker.token();
    let bytes = record(value, number);
    let done = timed(|| {
        let mut file = OpenOptions::new().append(true).open(&object.path)?;
        match file.write(&bytes)? {
            RECORD_BYTES => close(file),
            count => Err(io::Error::other(format!("short write of {count} bytes"))),
        }
    });
    worker.note(
        object,
        Action::Append,
        value,
        done.map(|()| Told { size_bytes: RECORD_BYTES as u64, ..Told::NOTHING }),
    );
}

fn read(worker: &mut Worker, object: &Object) {
    let done = timed(|| {
        let file = File::open(&object.path)?;
        let count = file.read_at(&mut worker.buffer, 0)?;
        close(file)?;
        Ok(count)
    });
    let mut values = Vec::new();
    let done = done.map(|count| {
        let content = records_in(&worker.buffer[..count], &mut values);
        Told { content, size_bytes: count as u64, ..Told::NOTHING }
    });
    worker.note_list(object, Action::Read, 0, done, &values);
}
