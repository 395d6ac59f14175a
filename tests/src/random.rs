//! A seeded random generator: tests print the seed, and the same seed gives the same choices.

/// xorshift64*.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds must not give neighbouring streams, and 0 is a fixed point.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The seed from an environment variable, else a fresh one; printed for the log of a failure.
    #[must_use]
    pub fn seed(variable: &str) -> u64 {
        let given = std::env::var(variable)
            .ok()
            .and_then(|text| text.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            since.map_or(1, |since| u64::from(since.subsec_nanos()) ^ since.as_secs())
        });
        println!("{variable}={seed}");
        seed
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`, which is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.draw() >> 8) % bound
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let index = self.below(items.len().max(1) as u64);
        &items[usize::try_from(index).unwrap_or(0)]
    }
}
