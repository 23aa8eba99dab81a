//! What is in the directory before the ranks start: leavings of an earlier run, and room for what is to be made.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::{statvfs, FsFlags, Statvfs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::plan::Plan;
use crate::metadata::Metadata;
use crate::Refusal;

/// Where the kernel is told to forget what it has cached.
pub const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// What to do with test directories of an earlier run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// Say so, and do nothing.
    #[default]
    Refuse,
    /// Remove them first, if nothing is in them that this workload would not have made.
    Remove,
}

/// The test directory of one tree of one iteration.
pub fn test_directory(plan: &Plan, iteration: u32, tree: u32) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&plan.layout.test_directory(iteration, tree)))
}

/// Refuses what cannot work, and removes leavings if that was asked for. The host of rank 0 does it for all.
pub fn make_ready(step: &Metadata, plan: &Plan) -> Result<(), Refusal> {
    let directory = &step.directory;
    let is_directory = directory.metadata().map(|metadata| metadata.is_dir());
    Refusal::unless(is_directory.unwrap_or(false), || format!("{} is not a directory", directory.display()))?;
    check_cache_dropping(step)?;
    if step.rank_offset > 0 {
        return Ok(());
    }
    let room = statvfs(directory).map_err(|error| cannot("ask for room in", directory, &error.into()))?;
    check_writable(step, plan, &room)?;
    for iteration in 0..step.iterations {
        for tree in 0..plan.layout.trees {
            make_place_ready(step, plan, &test_directory(plan, iteration, tree))?;
        }
    }
    if plan.creates() {
        check_room(step, plan, &room)?;
    }
    Ok(())
}

/// What exists can be looked at and read wherever it lies.
fn check_writable(step: &Metadata, plan: &Plan, room: &Statvfs) -> Result<(), Refusal> {
    let changes = plan.phases.iter().any(|phase| !phase.action.may_be_answered_from_cache());
    let read_only = room.flags().contains(FsFlags::ST_RDONLY);
    Refusal::unless(!(changes && read_only), || {
        format!(
            "{} is mounted read-only: mount it for writing, or run the actions stat and read only",
            step.directory.display()
        )
    })
}

fn check_cache_dropping(step: &Metadata) -> Result<(), Refusal> {
    let writable = || fs::OpenOptions::new().write(true).open(DROP_CACHES).is_ok();
    Refusal::unless(!step.drop_caches || writable(), || {
        format!("drop_caches needs root ({DROP_CACHES} cannot be written): leave it out, or use rank_shift")
    })
}

fn make_place_ready(step: &Metadata, plan: &Plan, path: &Path) -> Result<(), Refusal> {
    let exists = path.symlink_metadata().is_ok();
    match (plan.creates(), exists, step.leftovers) {
        (true, false, _) | (false, true, _) => Ok(()),
        (false, false, _) => Err(Refusal(format!(
            "{} is not there: nothing was created to work on, so run the action create first",
            path.display()
        ))),
        (true, true, Leftovers::Refuse) => Err(Refusal(format!(
            "{} was left behind by an earlier run: remove it, or set leftovers to \"remove\"",
            path.display()
        ))),
        (true, true, Leftovers::Remove) => clear(path),
    }
}

/// Removes a test directory, after having seen that everything in it has a name of ours.
fn clear(path: &Path) -> Result<(), Refusal> {
    let mut unknown = None;
    walk(path, &mut |entry, kind| {
        if kind == Found::Foreign && unknown.is_none() {
            unknown = Some(entry.path());
        }
        Ok(())
    })
    .map_err(|error| cannot("look into", path, &error))?;
    Refusal::unless(unknown.is_none(), || {
        let unknown = unknown.unwrap_or_default();
        format!("{} is nothing that leadline makes: {} is left as it is", unknown.display(), path.display())
    })?;
    let removed = walk(path, &mut |entry, kind| match kind {
        Found::File => fs::remove_file(entry.path()),
        _ => fs::remove_dir(entry.path()),
    });
    removed.and_then(|()| fs::remove_dir(path)).map_err(|error| cannot("remove", path, &error))
}

/// What lies in a test directory, by its name and type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Tree,
    Directory,
    File,
    Foreign,
}

impl Found {
    fn of(entry: &DirEntry) -> io::Result<Self> {
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let begins = |prefix: &[u8]| name.as_bytes().starts_with(prefix);
        Ok(match (kind.is_dir(), kind.is_file()) {
            (true, _) if begins(b"mdtest_tree.") => Self::Tree,
            (true, _) if begins(b"dir.mdtest.") => Self::Directory,
            (_, true) if begins(b"file.mdtest.") => Self::File,
            _ => Self::Foreign,
        })
    }
}

/// Visits everything below a directory, what lies in a directory before the directory.
fn walk(path: &Path, visit: &mut impl FnMut(&DirEntry, Found) -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()? {
        let found = Found::of(&entry)?;
        if matches!(found, Found::Tree | Found::Directory) {
            walk(&entry.path(), visit)?;
        }
        visit(&entry, found)?;
    }
    Ok(())
}

/// Refuses what the filesystem says it cannot hold. One that does not say (no count of inodes) is believed.
fn check_room(step: &Metadata, plan: &Plan, room: &Statvfs) -> Result<(), Refusal> {
    let ranks = u64::from(step.all_ranks());
    let kinds = u64::from(step.directories) + u64::from(step.files);
    // Items that are removed again make room for the next ones.
    let (kinds, rounds) = if plan.removes() { (1, 1) } else { (kinds, u64::from(step.iterations)) };
    let items = plan.layout.items_per_rank().saturating_mul(ranks);
    let trees = u64::from(plan.layout.trees) * if step.unique_trees { ranks } else { 1 };
    let directories = u64::from(plan.layout.tree.directories()).saturating_mul(trees);
    let inodes = items.saturating_mul(kinds).saturating_add(directories).saturating_mul(rounds);
    let free = room.files_available();
    Refusal::unless(room.files() == 0 || inodes <= free, || {
        format!(
            "{} has {free} inodes left, and the step needs {inodes}: lower the items",
            step.directory.display()
        )
    })?;
    let block = room.fragment_size().max(1);
    let file_bytes = if step.files { step.write_size_bytes.div_ceil(block) * block } else { 0 };
    let bytes = items.saturating_mul(file_bytes).saturating_mul(rounds);
    let free = room.blocks_available().saturating_mul(block);
    Refusal::unless(bytes <= free, || {
        format!(
            "{} has {free} bytes left, and the step writes {bytes}: lower the items",
            step.directory.display()
        )
    })
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Refusal {
    Refusal(format!("cannot {verb} {}: {error}", path.display()))
}
