//! A map from values to positions. Values are distinct numbers that nobody chooses to do harm, so that one
//! multiplication is hash enough, and millions of look-ups cost what memory costs.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// From value to position.
pub(crate) type TokenMap = HashMap<u64, u32, BuildHasherDefault<Mixing>>;

/// Multiplies by the golden ratio and folds the high half into the low one, from which the table takes its bits.
#[derive(Default)]
pub(crate) struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// An empty map with room for this many.
pub(crate) fn with_room_for(count: usize) -> TokenMap {
    TokenMap::with_capacity_and_hasher(count, BuildHasherDefault::default())
}
