//! From the position of an item to what a system call wants: a directory's descriptor and a name.
//!
//! Two namings of the same work, never mixed in one measurement. With full paths (mdtest's way) the kernel walks
//! from the root for every call. Relative to a directory it looks up one name; the descriptor of each directory is
//! opened when the first item in it is due and closed when the last is done, which is part of the phase but of no
//! operation. On a target that asks its server about every directory of a path the two differ severalfold.

use std::ffi::c_char;

use nix::libc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failures::Failure;
use crate::metadata::layout::{item_prefix, Layout, RENAMED_SUFFIX};
use crate::metadata::phases::Kind;
use crate::metadata::rotation::Named;

/// How items are named in system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Naming {
    /// Absolute paths, as mdtest does.
    #[default]
    FullPath,
    /// Names in a directory that is open. Another workload, not a faster tool.
    DirectoryRelative,
}

/// The items that one rank works on in one phase.
#[derive(Clone, Copy)]
pub struct Share<'plan> {
    pub layout: &'plan Layout,
    pub kind: Kind,
    pub iteration: u32,
    /// The rank whose names these are, and the one whose trees they lie in.
    pub owner: u32,
    pub tree_owner: u32,
    /// The directories of a tree in the order in which they are visited; None: by their numbers.
    pub order: Option<&'plan [u32]>,
}

/// Descriptors of the directories that pointers are in, each opened once.
pub struct Directories {
    naming: Naming,
    opened: Vec<Directory>,
}

struct Directory {
    /// Its place in the row of all directories of a share.
    index: u64,
    descriptor: Result<i32, Failure>,
    pointers: u32,
}

impl Directories {
    /// For at most so many pointers.
    pub fn new(naming: Naming, pointers: usize) -> Self {
        Self { naming, opened: Vec::with_capacity(pointers + 1) }
    }

    /// `path` ends with a zero byte.
    fn enter(&mut self, index: u64, path: &[u8]) -> Result<i32, Failure> {
        if self.naming == Naming::FullPath {
            return Ok(libc::AT_FDCWD);
        }
        if let Some(directory) = self.opened.iter_mut().find(|directory| directory.index == index) {
            directory.pointers += 1;
            return directory.descriptor;
        }
        // O_PATH: looked up but not opened, so that no server is asked for a handle that nobody reads from.
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the path ends with a zero byte and outlives the call.
        let descriptor = unsafe { libc::open(path.as_ptr().cast(), flags) };
        let descriptor = if descriptor < 0 { Err(Failure::last()) } else { Ok(descriptor) };
        self.opened.push(Directory { index, descriptor, pointers: 1 });
        descriptor
    }

    fn leave(&mut self, index: u64) {
        let Some(place) = self.opened.iter().position(|directory| directory.index == index) else { return };
        self.opened[place].pointers -= 1;
        if self.opened[place].pointers == 0 {
            if let Ok(descriptor) = self.opened.swap_remove(place).descriptor {
                // SAFETY: opened in `enter`, and the last pointer in it is leaving.
                unsafe { libc::close(descriptor) };
            }
        }
    }
}

/// Points at one item at a time, and moves on cheaply within a directory.
pub struct Pointer {
    naming: Naming,
    /// The directory's path, with a zero byte at its end.
    directory: Vec<u8>,
    /// The item's path, with a zero byte at its end.
    path: Vec<u8>,
    name_at: usize,
    number_at: usize,
    /// Positions that lie in this directory, and the number of the first of them; empty before the first move.
    positions: std::ops::Range<u64>,
    first_number: u64,
    /// The position behind the one that the path names; none where the name has a suffix.
    next: Option<u64>,
    at: Result<i32, Failure>,
}

impl Pointer {
    pub fn new(naming: Naming) -> Self {
        let room = || Vec::with_capacity(libc::PATH_MAX as usize);
        let (directory, path) = (room(), room());
        let at = Ok(libc::AT_FDCWD);
        Self {
            naming,
            directory,
            path,
            name_at: 0,
            number_at: 0,
            positions: 0..0,
            first_number: 0,
            next: None,
            at,
        }
    }

    /// Moves to an item of the share; returns whether that was in another directory.
    #[inline]
    pub fn move_to(&mut self, item: Named, share: &Share<'_>, directories: &mut Directories) -> bool {
        let elsewhere = !self.positions.contains(&item.position);
        if elsewhere {
            self.change_directory(item.position, share, directories);
        } else if self.next == Some(item.position) && !item.parked && self.count_up() {
            self.next = Some(item.position + 1);
            return false;
        }
        self.next = (!item.parked).then_some(item.position + 1);
        self.path.truncate(self.number_at);
        append_decimal(&mut self.path, self.first_number + (item.position - self.positions.start));
        if item.parked {
            self.path.extend_from_slice(RENAMED_SUFFIX);
        }
        self.path.push(0);
        elsewhere
    }

    /// Raises the number at the end of the path by one, which costs a tenth of writing it anew; false where it would need another
    /// digit, and then it is to be written anew.
    #[inline]
    fn count_up(&mut self) -> bool {
        let end = self.path.len() - 1; // of the zero byte
        for digit in self.path[self.number_at..end].iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return true;
            }
            *digit = b'0';
        }
        false
    }

    #[cold]
    fn change_directory(&mut self, position: u64, share: &Share<'_>, directories: &mut Directories) {
        self.leave(share, directories);
        let layout = share.layout;
        let (items, holders) = (layout.items_per_directory, u64::from(layout.holders()));
        let index = position / items;
        let (tree, visit) = (index / holders, (index % holders) as usize);
        let holder = share.order.map_or(visit as u32, |order| order[visit]);
        self.directory.clear();
        layout.write_holder(&mut self.directory, share.iteration, tree as u32, share.tree_owner, holder);
        self.path.clear();
        self.path.extend_from_slice(&self.directory);
        self.path.push(b'/');
        self.name_at = self.path.len();
        self.path.extend_from_slice(&item_prefix(share.kind, share.owner));
        self.number_at = self.path.len();
        self.directory.push(0);
        self.positions = index * items..(index + 1) * items;
        self.first_number = u64::from(holder) * items;
        self.at = directories.enter(index, &self.directory);
    }

    /// Leaves the directory it is in; to be called before another share.
    pub fn leave(&mut self, share: &Share<'_>, directories: &mut Directories) {
        if !self.positions.is_empty() {
            directories.leave(self.positions.start / share.layout.items_per_directory);
            self.positions = 0..0;
        }
    }

    /// Where the kernel looks up the name, and the name. It stays as it is until the next move.
    #[inline]
    pub fn target(&self) -> Result<(i32, *const c_char), Failure> {
        let from = match self.naming {
            Naming::FullPath => 0,
            Naming::DirectoryRelative => self.name_at,
        };
        self.at.map(|at| (at, self.path[from..].as_ptr().cast()))
    }
}

#[inline]
fn append_decimal(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::tree::Tree;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::ffi::CStr;
    use std::path::Path;

    fn name(pointer: &Pointer) -> String {
        let (_, name) = pointer.target().unwrap();
        // SAFETY: a pointer's name ends with a zero byte.
        unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned()
    }

    fn visited(share: &Share<'_>, naming: Naming) -> Vec<String> {
        let mut directories = Directories::new(naming, 1);
        let mut pointer = Pointer::new(naming);
        let items = 0..share.layout.items_per_rank();
        items
            .map(|position| {
                pointer.move_to(Named { position, parked: false }, share, &mut directories);
                name(&pointer)
            })
            .collect()
    }

    fn share<'plan>(layout: &'plan Layout, order: Option<&'plan [u32]>) -> Share<'plan> {
        Share { layout, kind: Kind::File, iteration: 0, owner: 2, tree_owner: 5, order }
    }

    #[test]
    fn items_are_visited_directory_by_directory() {
        let layout = Layout::new(Path::new("/mnt"), Tree::new(1, 2).unwrap(), 1, true, false, 2);
        let root = "/mnt/test-dir.0-0/mdtest_tree.5.0";
        let expected = [
            format!("{root}/file.mdtest.2.0"),
            format!("{root}/file.mdtest.2.1"),
            format!("{root}/mdtest_tree.5.1/file.mdtest.2.2"),
            format!("{root}/mdtest_tree.5.1/file.mdtest.2.3"),
            format!("{root}/mdtest_tree.5.2/file.mdtest.2.4"),
            format!("{root}/mdtest_tree.5.2/file.mdtest.2.5"),
        ];
        assert_eq!(visited(&share(&layout, None), Naming::FullPath), expected);
    }

    #[test]
    fn a_parked_item_has_a_name_of_its_own() {
        let layout = Layout::new(Path::new("/mnt"), Tree::new(0, 1).unwrap(), 1, false, false, 2);
        let mut pointer = Pointer::new(Naming::FullPath);
        let parked = Named { position: 1, parked: true };
        pointer.move_to(parked, &share(&layout, None), &mut Directories::new(Naming::FullPath, 1));
        assert!(name(&pointer).ends_with("/file.mdtest.2.1-XX"));
    }

    #[test]
    fn a_directory_that_cannot_be_opened_fails_its_items_and_no_others() {
        let layout = Layout::new(Path::new("/nowhere"), Tree::new(0, 1).unwrap(), 1, false, false, 2);
        let naming = Naming::DirectoryRelative;
        let mut pointer = Pointer::new(naming);
        let item = Named { position: 0, parked: false };
        pointer.move_to(item, &share(&layout, None), &mut Directories::new(naming, 1));
        assert_eq!(pointer.target().unwrap_err(), Failure::from_errno(libc::ENOENT));
    }

    #[test]
    fn one_descriptor_serves_all_pointers_in_a_directory_and_is_closed_by_the_last() {
        let temporary = tempfile::tempdir().unwrap();
        let layout = Layout::new(temporary.path(), Tree::new(1, 1).unwrap(), 1, false, false, 4);
        std::fs::create_dir_all(temporary.path().join("test-dir.0-0/mdtest_tree.0/mdtest_tree.1")).unwrap();
        let share = share(&layout, None);
        let naming = Naming::DirectoryRelative;
        let mut directories = Directories::new(naming, 2);
        let (mut one, mut other) = (Pointer::new(naming), Pointer::new(naming));
        let at = |position| Named { position, parked: false };
        one.move_to(at(0), &share, &mut directories);
        other.move_to(at(1), &share, &mut directories);
        assert_eq!(one.target().unwrap().0, other.target().unwrap().0);
        one.move_to(at(4), &share, &mut directories);
        assert_eq!(directories.opened.len(), 2);
        other.move_to(at(5), &share, &mut directories);
        assert_eq!(directories.opened.len(), 1);
        [one, other].iter_mut().for_each(|pointer| pointer.leave(&share, &mut directories));
        assert!(directories.opened.is_empty());
    }

    proptest! {
        #[test]
        fn every_order_visits_the_same_items_once(
            depth in 0u32..4, branching_factor in 1u32..4, trees in 1u32..3, leaves_only: bool, items in 1u64..4,
        ) {
            let tree = Tree::new(depth, branching_factor).unwrap();
            let layout = Layout::new(Path::new("/mnt"), tree, trees, false, leaves_only, items);
            let order = layout.holders_depth_first();
            let ascending: BTreeSet<String> = visited(&share(&layout, None), Naming::FullPath).into_iter().collect();
            let depth_first: BTreeSet<String> = visited(&share(&layout, Some(&order)), Naming::FullPath).into_iter().collect();
            prop_assert_eq!(ascending.len() as u64, layout.items_per_rank());
            prop_assert_eq!(ascending, depth_first);
        }

        #[test]
        fn a_name_does_not_depend_on_where_the_pointer_was_before(
            first in 0u64..2100, steps in prop::collection::vec((0u64..3, any::<bool>()), 1..40),
        ) {
            let layout = Layout::new(Path::new("/mnt"), Tree::new(1, 1).unwrap(), 1, false, false, 1100);
            let share = share(&layout, None);
            let mut directories = Directories::new(Naming::FullPath, 1);
            let mut moved = Pointer::new(Naming::FullPath);
            let mut position = first;
            for (step, parked) in steps {
                position = (position + step) % layout.items_per_rank();
                let item = Named { position, parked: parked && step == 2 };
                moved.move_to(item, &share, &mut directories);
                let mut fresh = Pointer::new(Naming::FullPath);
                fresh.move_to(item, &share, &mut Directories::new(Naming::FullPath, 1));
                prop_assert_eq!(name(&moved), name(&fresh));
            }
        }

        #[test]
        fn numbers_are_written_as_they_are_spoken(number: u64) {
            let mut text = Vec::new();
            append_decimal(&mut text, number);
            prop_assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
        }
    }
}
