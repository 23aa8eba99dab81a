//! Directories in which every name is used once.

use std::fs::{self, File};

use leadline_history::{Action, Content};

use crate::histories::objects::Object;
use crate::histories::recorder::{timed, Told};
use crate::histories::worker::Worker;
use crate::visibility::files::close;

/// Listings stay short, and removals have something to remove.
const MOST_NAMES: usize = 48;

pub fn act(worker: &mut Worker, object: &Object, action: Action) {
    let known = worker.listed.0 == object.number;
    let full = known && worker.listed.1.len() >= MOST_NAMES;
    match action {
        Action::Create if known && !full => add(worker, object),
        Action::Create | Action::Remove if known && !worker.listed.1.is_empty() => remove(worker, object),
        _ => list(worker, object),
    }
}

fn add(worker: &mut Worker, object: &Object) {
    if worker.objects.next_change(object).is_none() {
        return;
    }
    let value = worker.token();
    let path = object.path.join(format!("{value:016x}"));
    let done = timed(|| File::create_new(&path).and_then(close)).map(|()| Told::NOTHING);
    worker.note(object, Action::Create, value, done);
    worker.listed.1.push(value);
}

/// One of the names that were listed last, whoever made it.
fn remove(worker: &mut Worker, object: &Object) {
    let place = worker.draw(worker.listed.1.len() as u64) as usize;
    let value = worker.listed.1.swap_remove(place);
    let path = object.path.join(format!("{value:016x}"));
    let done = timed(|| fs::remove_file(&path)).map(|()| Told::NOTHING);
    worker.note(object, Action::Remove, value, done);
}

fn list(worker: &mut Worker, object: &Object) {
    let mut names = Vec::new();
    let done = timed(|| {
        for entry in fs::read_dir(&object.path)? {
            names.push(entry?.file_name());
        }
        Ok(())
    });
    // NFS and FUSE keep removed files that are still open under names of their own, which begin with a dot.
    names.retain(|name| !name.as_encoded_bytes().starts_with(b"."));
    let values: Vec<u64> =
        names.iter().filter_map(|name| u64::from_str_radix(name.to_str()?, 16).ok()).collect();
    let content = if values.len() == names.len() { Content::Whole } else { Content::Damaged };
    worker.note_list(object, Action::List, 0, done.map(|()| Told { content, ..Told::NOTHING }), &values);
    worker.listed = (object.number, values);
}
