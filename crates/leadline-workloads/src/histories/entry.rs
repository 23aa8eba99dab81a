//! Entries: a name that leads to a value or to nothing. What a name leads to is complete before the name leads to it, so that each
//! change is one system call.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{symlink, FileExt};
use std::path::Path;

use leadline_history::{Action, Content};

use crate::histories::content::{fill, value_in, UNIT_BYTES};
use crate::histories::flavour::Flavour;
use crate::histories::objects::Object;
use crate::histories::recorder::{timed, Timed, Told};
use crate::histories::whole_file::write_whole;
use crate::histories::worker::Worker;
use crate::visibility::files::close;

const VALUE_BYTES: usize = UNIT_BYTES as usize;

/// A file that always exists is published a first time.
pub fn make(worker: &mut Worker, object: &Object) -> io::Result<()> {
    let value = worker.token();
    let own = worker.own_name(value);
    write_file(&own, value)?;
    let done = timed(|| fs::rename(&own, &object.path));
    let refused = done.answer.as_ref().err().and_then(io::Error::raw_os_error);
    worker.note(object, Action::Replace, value, done.map(|()| Told::NOTHING));
    refused.map_or(Ok(()), |number| Err(io::Error::from_raw_os_error(number)))
}

pub fn act(worker: &mut Worker, object: &Object, action: Action) {
    match action {
        Action::Create | Action::Replace => bring(worker, object, action),
        Action::Remove => {
            let done = timed(|| fs::remove_file(&object.path)).map(|()| Told::NOTHING);
            worker.note(object, action, 0, done);
        }
        Action::Exists => {
            let done = timed(|| fs::symlink_metadata(&object.path)).map(|_| Told::value(1));
            worker.note(object, action, 0, done);
        }
        _ => {
            let done = read(worker, object);
            worker.note(object, Action::Read, 0, done);
        }
    }
}

fn bring(worker: &mut Worker, object: &Object, action: Action) {
    if worker.objects.next_change(object).is_none() {
        return;
    }
    let value = worker.token();
    let own = worker.own_name(value);
    let links = object.flavour == Flavour::SymbolicLink;
    let needs_own = !(links && action == Action::Create);
    let made = match (needs_own, links) {
        (false, _) => Ok(()),
        (true, true) => symlink(text_of(value), &own),
        (true, false) => write_file(&own, value),
    };
    if made.is_err() {
        return; // nothing was done to the object
    }
    let done = timed(|| match (action, links) {
        (Action::Replace, _) => fs::rename(&own, &object.path),
        (_, true) => symlink(text_of(value), &object.path),
        (_, false) => fs::hard_link(&own, &object.path),
    });
    let moved_away = action == Action::Replace && done.answer.is_ok();
    worker.note(object, action, value, done.map(|()| Told::NOTHING));
    if needs_own && !moved_away {
        let _ = fs::remove_file(&own); // what stays behind goes with the folder
    }
}

fn read(worker: &mut Worker, object: &Object) -> Timed<Told> {
    if object.flavour == Flavour::SymbolicLink {
        return timed(|| fs::read_link(&object.path)).map(|text| told_by(&text));
    }
    let done = timed(|| {
        let file = File::open(&object.path)?;
        let count = file.read_at(&mut worker.buffer, 0)?;
        close(file)?;
        Ok(count)
    });
    // A file under this name was complete before it got the name: an empty one is a part of it.
    done.map(|count| match value_in(&worker.buffer[..count], VALUE_BYTES) {
        (value, Content::Damaged) if count < VALUE_BYTES => {
            Told { content: Content::Torn, ..Told::value(value) }
        }
        (value, content) => Told { content, size_bytes: count as u64, ..Told::value(value) },
    })
}

fn write_file(path: &Path, value: u64) -> io::Result<()> {
    let mut bytes = [0; VALUE_BYTES];
    fill(value, &mut bytes);
    let file = File::create_new(path)?;
    write_whole(&file, &bytes)?;
    close(file)
}

fn text_of(value: u64) -> String {
    format!("{value:016x}")
}

fn told_by(text: &Path) -> Told {
    let value =
        text.to_str().filter(|text| text.len() == 16).and_then(|text| u64::from_str_radix(text, 16).ok());
    value.map_or(Told { content: Content::Damaged, ..Told::NOTHING }, Told::value)
}
