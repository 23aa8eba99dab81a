//! Random numbers for tests: SplitMix64, so that a seed repeats a history on every machine.

/// A stream of random numbers.
pub struct Dice(u64);

#[allow(dead_code, reason = "each test binary uses what it needs")]
impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x9E37_79B9_7F4A_7C15)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A whole number below the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.word() % limit
    }

    /// A whole number from the first to the last.
    pub fn between(&mut self, first: i64, last: i64) -> i64 {
        first + self.below((last - first + 1) as u64) as i64
    }

    pub fn chance(&mut self, of_a_thousand: u64) -> bool {
        self.below(1000) < of_a_thousand
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
