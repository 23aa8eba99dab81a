//! How directories are renamed: each takes the name of the one before it, so that the same names are there
//! afterwards. The first makes room by taking a name of its own for the while (mdtest's "-XX").

use std::ops::Range;

/// An item by its position, under its own name or under the one it was parked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub position: u64,
    pub parked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renaming {
    pub from: Named,
    pub to: Named,
}

/// As many renames as there are items; two for a single one. Each depends on the one before it.
///
/// The last item keeps its name, as mdtest has it: the parked one takes the last but one.
pub struct Rotation {
    items: Range<u64>,
    done: u64,
}

impl Rotation {
    pub fn of(items: Range<u64>) -> Self {
        Self { items, done: 0 }
    }

    /// Rotations that do not depend on each other, over all items. Each has at least three (if there are three):
    /// with fewer, nothing changes places.
    pub fn side_by_side(items: Range<u64>, most: u32) -> Vec<Self> {
        let count = items.end - items.start;
        let lanes = u64::from(most).min(count / 3).max(1);
        let bound = |lane: u64| items.start + count * lane / lanes;
        (0..lanes).map(|lane| Self::of(bound(lane)..bound(lane + 1))).collect()
    }

    /// How many renames there are.
    pub fn length(&self) -> u64 {
        match self.items.end - self.items.start {
            1 => 2,
            count => count,
        }
    }
}

impl Iterator for Rotation {
    type Item = Renaming;

    fn next(&mut self) -> Option<Renaming> {
        let (first, step) = (self.items.start, self.done);
        let length = self.length();
        if step == length {
            return None;
        }
        self.done += 1;
        let named = |position, parked| Named { position, parked };
        Some(match step {
            0 => Renaming { from: named(first, false), to: named(first, true) },
            _ if step == length - 1 => {
                let freed = (first + length - 2).min(self.items.end - 1);
                Renaming { from: named(first, true), to: named(freed, false) }
            }
            _ => Renaming { from: named(first + step, false), to: named(first + step - 1, false) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_takes_the_name_of_the_one_before() {
        let told: Vec<_> = Rotation::of(0..4)
            .map(|renaming| {
                (renaming.from.position, renaming.from.parked, renaming.to.position, renaming.to.parked)
            })
            .collect();
        assert_eq!(
            told,
            [(0, false, 0, true), (1, false, 0, false), (2, false, 1, false), (0, true, 2, false)]
        );
    }

    proptest! {
        #[test]
        fn no_name_is_lost_or_overwritten(start in 0u64..100, count in 0u64..60, most in 1u32..20) {
            let items = start..start + count;
            let mut names: BTreeSet<(u64, bool)> = items.clone().map(|position| (position, false)).collect();
            let before = names.clone();
            let mut renames = 0;
            for renaming in Rotation::side_by_side(items, most).into_iter().flatten() {
                prop_assert!(names.remove(&(renaming.from.position, renaming.from.parked)));
                prop_assert!(names.insert((renaming.to.position, renaming.to.parked)));
                renames += 1;
            }
            prop_assert_eq!(names, before);
            prop_assert_eq!(renames, if count == 1 { 2 } else { count });
        }
    }
}
