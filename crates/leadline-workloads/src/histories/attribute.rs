//! Attributes that carry a value: permission bits, the time of the last change, an extended attribute. Values are small and count up, since
//! permission bits are few and some filesystems keep whole seconds only.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use leadline_history::{Action, Content};

use crate::histories::flavour::Flavour;
use crate::histories::objects::Object;
use crate::histories::recorder::{timed, Timed, Told};
use crate::histories::worker::Worker;
use crate::visibility::files::close;
use crate::visibility::names::{attribute, set_attribute, set_modified};

const KEY: &str = "user.leadline";
/// A time that no file has by itself (2001); values are added to it.
const FIRST_SECOND: i64 = 1_000_000_000;
const PERMISSIONS: u32 = 0o777;

pub fn make(worker: &mut Worker, object: &Object) -> io::Result<()> {
    File::create_new(&object.path).and_then(close)?;
    let Some(value) = worker.objects.next_change(object) else { return Ok(()) };
    let done = set(object, value);
    let refused = done.answer.as_ref().err().and_then(io::Error::raw_os_error);
    worker.note(object, Action::Write, value, done);
    refused.map_or(Ok(()), |number| Err(io::Error::from_raw_os_error(number)))
}

pub fn act(worker: &mut Worker, object: &Object, action: Action) {
    if action == Action::Read {
        let done = get(object);
        return worker.note(object, action, 0, done);
    }
    if let Some(value) = worker.objects.next_change(object) {
        let done = set(object, value);
        worker.note(object, action, value, done);
    }
}

fn set(object: &Object, value: u64) -> Timed<Told> {
    let path = &object.path;
    let done = match object.flavour {
        Flavour::Mode => timed(|| fs::set_permissions(path, Permissions::from_mode(value as u32))),
        Flavour::Modified => timed(|| set_modified(path, FIRST_SECOND + value as i64)),
        _ => timed(|| set_attribute(path, KEY, &value.to_string())),
    };
    done.map(|()| Told::NOTHING)
}

fn get(object: &Object) -> Timed<Told> {
    let path = &object.path;
    match object.flavour {
        Flavour::Mode => timed(|| fs::symlink_metadata(path))
            .map(|found| Told::value(u64::from(found.mode() & PERMISSIONS))),
        Flavour::Modified => timed(|| fs::symlink_metadata(path)).map(|found| {
            carried(found.mtime().checked_sub(FIRST_SECOND).and_then(|value| value.try_into().ok()))
        }),
        _ => timed(|| attribute(path, KEY)).map(|text| carried(text.parse().ok())),
    }
}

/// What is no value was written by nobody.
fn carried(value: Option<u64>) -> Told {
    value.map_or(Told { content: Content::Damaged, ..Told::NOTHING }, Told::value)
}
