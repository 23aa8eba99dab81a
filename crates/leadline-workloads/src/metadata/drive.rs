//! What a driver is asked to do, and the choice between the two drivers.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metadata::calls::Calls;
use crate::metadata::phases::{Action, Kind, Phase};
use crate::metadata::pointer::{Naming, Share};
use crate::metadata::recorder::Recorder;
use crate::metadata::ring::Ring;
use crate::Refusal;

/// Permissions of what is created, as mdtest has them; the umask takes its part.
pub const FILE_MODE: u32 = 0o664;
pub const DIRECTORY_MODE: u32 = 0o775;

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriverName {
    /// One system call after the other, as mdtest does.
    #[default]
    Calls,
    /// io_uring with `iodepth` operations in flight for each rank. Ordinary file descriptors: closing a direct
    /// one tells a network filesystem nothing, and would be a cheaper operation.
    IoUring,
}

/// One kind of operation on one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    CreateFile,
    CreateDirectory,
    Stat,
    ReadFile,
    RemoveFile,
    RemoveDirectory,
}

impl Operation {
    /// What a phase does to each item. Renaming depends on its order, and is not one of these.
    pub fn of(phase: Phase) -> Option<Self> {
        match (phase.kind, phase.action) {
            (_, Action::Rename) => None,
            (Kind::File, Action::Create) => Some(Self::CreateFile),
            (_, Action::Create) => Some(Self::CreateDirectory),
            (_, Action::Stat) => Some(Self::Stat),
            (_, Action::Read) => Some(Self::ReadFile),
            (Kind::File, Action::Remove) => Some(Self::RemoveFile),
            (_, Action::Remove) => Some(Self::RemoveDirectory),
        }
    }
}

/// Bytes that belong to a file's creation and to its reading, in one call each; 0: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfers {
    pub write_size_bytes: usize,
    pub read_size_bytes: usize,
}

impl Transfers {
    /// Marks what is written with the item's position, lest a target that removes duplicates stores one file.
    #[inline]
    pub fn mark(buffer: &mut [u8], position: u64) {
        let mark = position.to_le_bytes();
        let length = mark.len().min(buffer.len());
        buffer[..length].copy_from_slice(&mark[..length]);
    }
}

/// Either of the two.
pub enum Driver {
    Calls(Box<Calls>),
    Ring(Box<Ring>),
}

impl Driver {
    pub fn new(
        name: DriverName,
        iodepth: u32,
        naming: Naming,
        transfers: Transfers,
        seed: u64,
    ) -> Result<Self, Refusal> {
        Ok(match name {
            DriverName::Calls => Self::Calls(Box::new(Calls::new(naming, transfers, seed))),
            DriverName::IoUring => Self::Ring(Box::new(Ring::new(iodepth, naming, transfers, seed)?)),
        })
    }

    /// Performs one operation on each item, until the last or until the time is up; returns the position behind
    /// the last one.
    pub fn run(
        &mut self,
        operation: Operation,
        share: &Share<'_>,
        positions: Range<u64>,
        until_ns: u64,
        recorder: &mut Recorder<'_>,
    ) -> u64 {
        match self {
            Self::Calls(calls) => calls.run(operation, share, positions, until_ns, recorder),
            Self::Ring(ring) => ring.run(operation, share, positions, until_ns, recorder),
        }
    }

    /// Gives each directory the name of the one before it.
    pub fn rename(&mut self, share: &Share<'_>, positions: Range<u64>, recorder: &mut Recorder<'_>) {
        match self {
            Self::Calls(calls) => calls.rename(share, positions, recorder),
            Self::Ring(ring) => ring.rename(share, positions, recorder),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::FailureCount;
    use crate::metadata::layout::Layout;
    use crate::metadata::stopwatch::Pace;
    use crate::metadata::tree::Tree;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    const ITEMS: u64 = 14;
    const WRITTEN_BYTES: usize = 100;

    /// One rank, a tree of two directories that are there, and a driver.
    struct Stage {
        temporary: tempfile::TempDir,
        layout: Layout,
        driver: Driver,
    }

    impl Stage {
        fn new(name: DriverName, iodepth: u32, naming: Naming, read_size_bytes: usize) -> Self {
            let temporary = tempfile::tempdir().unwrap();
            let layout = Layout::new(temporary.path(), Tree::new(1, 1).unwrap(), 1, false, false, ITEMS / 2);
            fs::create_dir_all(temporary.path().join("test-dir.0-0/mdtest_tree.0/mdtest_tree.1")).unwrap();
            let transfers = Transfers { write_size_bytes: WRITTEN_BYTES, read_size_bytes };
            Self { temporary, layout, driver: Driver::new(name, iodepth, naming, transfers, 1).unwrap() }
        }

        fn root(&self) -> std::path::PathBuf {
            self.temporary.path().join("test-dir.0-0/mdtest_tree.0")
        }

        /// Operations that succeeded, and the errors.
        fn run(&mut self, kind: Kind, action: Action) -> (u64, Vec<(String, u64)>) {
            let share =
                Share { layout: &self.layout, kind, iteration: 0, owner: 0, tree_owner: 0, order: None };
            let progress = AtomicU64::new(0);
            let mut recorder = Recorder::new(&progress, Pace::of_kernel());
            recorder.start(crate::clock::monotonic_ns());
            match Operation::of(Phase { kind, action }) {
                Some(operation) => {
                    let end = self.driver.run(operation, &share, 0..ITEMS, u64::MAX, &mut recorder);
                    assert_eq!(end, ITEMS);
                }
                None => self.driver.rename(&share, 0..ITEMS, &mut recorder),
            }
            let told = |error: FailureCount| (error.name, error.count);
            let recorded = recorder.close();
            (recorded.latency.count(), recorded.failures.occurred().into_iter().map(told).collect())
        }
    }

    fn on_every_driver(read_size_bytes: usize, act: impl Fn(&mut Stage)) {
        for naming in [Naming::FullPath, Naming::DirectoryRelative] {
            act(&mut Stage::new(DriverName::Calls, 1, naming, read_size_bytes));
            for iodepth in [1, 4, 32] {
                act(&mut Stage::new(DriverName::IoUring, iodepth, naming, read_size_bytes));
            }
        }
    }

    fn names(path: &Path) -> BTreeSet<String> {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn all_done() -> (u64, Vec<(String, u64)>) {
        (ITEMS, Vec::new())
    }

    fn all_failed(name: &str) -> (u64, Vec<(String, u64)>) {
        (0, vec![(name.to_owned(), ITEMS)])
    }

    #[test]
    fn files_are_created_with_what_is_written_and_are_gone_when_removed() {
        on_every_driver(WRITTEN_BYTES, |stage| {
            assert_eq!(stage.run(Kind::File, Action::Create), all_done());
            let last = stage.root().join("mdtest_tree.1/file.mdtest.0.13");
            let content = fs::read(last).unwrap();
            assert_eq!((content.len(), content[0]), (WRITTEN_BYTES, 13));
            assert_eq!(names(&stage.root()).len() as u64, ITEMS / 2 + 1);
            assert_eq!(stage.run(Kind::File, Action::Stat), all_done());
            assert_eq!(stage.run(Kind::File, Action::Read), all_done());
            assert_eq!(stage.run(Kind::File, Action::Remove), all_done());
            assert_eq!(names(&stage.root()), BTreeSet::from(["mdtest_tree.1".to_owned()]));
        });
    }

    #[test]
    fn directories_keep_their_names_when_they_are_renamed_in_turn() {
        on_every_driver(0, |stage| {
            assert_eq!(stage.run(Kind::Directory, Action::Create), all_done());
            fs::write(stage.root().join("dir.mdtest.0.1/mark"), "").unwrap();
            let before = names(&stage.root());
            assert_eq!(stage.run(Kind::Directory, Action::Rename), all_done());
            assert_eq!(names(&stage.root()), before);
            assert!(!stage.root().join("dir.mdtest.0.1/mark").exists(), "the directory kept its place");
            let mut marked = before.iter().map(|name| stage.root().join(name).join("mark"));
            let marked = marked.find(|mark| mark.exists()).expect("moved, not lost");
            fs::remove_file(marked).unwrap();
            assert_eq!(stage.run(Kind::Directory, Action::Stat), all_done());
            assert_eq!(stage.run(Kind::Directory, Action::Remove), all_done());
        });
    }

    #[test]
    fn what_exists_is_not_created_again() {
        on_every_driver(0, |stage| {
            stage.run(Kind::File, Action::Create);
            stage.run(Kind::Directory, Action::Create);
            assert_eq!(stage.run(Kind::File, Action::Create), all_failed("EEXIST"));
            assert_eq!(stage.run(Kind::Directory, Action::Create), all_failed("EEXIST"));
        });
    }

    #[test]
    fn what_is_missing_fails_every_operation() {
        on_every_driver(0, |stage| {
            for action in [Action::Stat, Action::Read, Action::Remove] {
                assert_eq!(stage.run(Kind::File, action), all_failed("ENOENT"));
            }
            assert_eq!(stage.run(Kind::Directory, Action::Rename), all_failed("ENOENT"));
        });
    }

    #[test]
    fn a_file_shorter_than_what_is_read_is_a_failure() {
        on_every_driver(WRITTEN_BYTES + 1, |stage| {
            stage.run(Kind::File, Action::Create);
            assert_eq!(stage.run(Kind::File, Action::Read), all_failed("short_transfer"));
        });
    }

    #[test]
    fn no_descriptor_is_left_open() {
        let open = || fs::read_dir("/proc/self/fd").unwrap().count();
        on_every_driver(WRITTEN_BYTES + 1, |stage| {
            stage.run(Kind::File, Action::Create);
            let before = open();
            for _ in 0..200 {
                stage.run(Kind::File, Action::Read);
            }
            // Other tests open files meanwhile, but not thousands: 14 leaks in each of 200 rounds would show.
            assert!(open() < before + 1000, "{} descriptors", open());
        });
    }
}
