//! A xorshift generator; the bots need no cryptographic randomness.

use crate::failure::Failure;

pub(super) struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub(super) const fn of(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(super) fn seeded() -> Result<Self, Failure> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|error| Failure::new(format!("no randomness: {error}")))?;
        Ok(Self::of(u64::from_le_bytes(seed)))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    /// From −`most` to `most`.
    pub(super) fn around(&mut self, most: u16) -> i32 {
        let drawn = self.below(2 * u64::from(most) + 1);
        i32::try_from(drawn).unwrap_or(0) - i32::from(most)
    }
}
