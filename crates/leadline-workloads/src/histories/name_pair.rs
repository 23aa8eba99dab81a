//! Name pairs: a file that is renamed to and fro; whoever looks finds it under exactly one of the names.

use std::fs::{self, File};
use std::io;

use leadline_history::Action;

use crate::histories::objects::Object;
use crate::histories::recorder::{timed, Told};
use crate::histories::worker::Worker;
use crate::visibility::files::close;

pub fn make(object: &Object) -> io::Result<()> {
    File::create_new(&object.path).and_then(close)
}

pub fn act(worker: &mut Worker, object: &Object, action: Action) {
    let name = 1 + worker.draw(2);
    if action == Action::Read {
        return look_at(worker, object, name);
    }
    if worker.objects.next_change(object).is_none() {
        return;
    }
    let (from, to) = if name == 1 { (&object.other, &object.path) } else { (&object.path, &object.other) };
    let done = timed(|| fs::rename(from, to)).map(|()| Told::NOTHING);
    worker.note(object, Action::Move, name, done);
}

/// Looks at both names.
pub fn look(worker: &mut Worker, object: &Object) {
    look_at(worker, object, 1);
    look_at(worker, object, 2);
}

fn look_at(worker: &mut Worker, object: &Object, name: u64) {
    let path = if name == 1 { &object.path } else { &object.other };
    let done = timed(|| fs::symlink_metadata(path)).map(|_| Told::value(1));
    worker.note(object, Action::Read, name, done);
}
