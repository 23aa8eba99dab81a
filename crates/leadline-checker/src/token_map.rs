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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::Hasher;

    use super::Mixing;

    fn hash_of(token: u64) -> u64 {
        let mut hasher = Mixing::default();
        hasher.write_u64(token);
        hasher.finish()
    }

    /// The table takes its place from the low bits and seven more from the high ones.
    #[test]
    fn values_that_clients_count_up_are_spread_over_the_table() {
        let tokens = (0..8u64).flat_map(|client| (1..=512).map(move |number| client << 48 | number));
        let hashes: Vec<u64> = tokens.map(hash_of).collect();
        let distinct = |bits: fn(u64) -> u64| hashes.iter().map(|hash| bits(*hash)).collect::<BTreeSet<_>>();
        assert!(distinct(|hash| hash & 0xF_FFFF).len() > 4000, "of 4096");
        assert_eq!(distinct(|hash| hash >> 57).len(), 128);
    }

    #[test]
    fn what_is_written_in_parts_is_told_apart_by_every_part() {
        let of_parts = |parts: &[u8]| {
            let mut hasher = Mixing::default();
            hasher.write(parts);
            hasher.finish()
        };
        let hashes = [of_parts(&[1, 2]), of_parts(&[2, 1]), of_parts(&[1, 3]), of_parts(&[0, 2])];
        assert_eq!(hashes.iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
