//! Seeded random numbers: equal seeds give equal work on every machine and with every build.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, Zipf};

/// The generator of all workloads: a portable algorithm, unlike `StdRng`.
pub(crate) type Random = Xoshiro256PlusPlus;

pub(crate) fn seeded(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

/// Bytes that look random and depend on the seed alone.
pub(crate) fn random_bytes<const N: usize>(seed: u64) -> [u8; N] {
    let mut bytes = [0; N];
    seeded(seed).fill_bytes(&mut bytes);
    bytes
}

/// Ranks from 0 by Zipf's law: rank `r` has weight `1 / (r + 1)`.
pub(crate) struct Ranks {
    zipf: Zipf<f64>,
    /// Sum of all weights.
    total: f64,
}

impl Ranks {
    /// `ranks` is at least 1.
    pub(crate) fn new(ranks: u32) -> Self {
        Self {
            zipf: Zipf::new(f64::from(ranks), 1.0).expect("at least one rank"),
            total: (1..=ranks).map(|rank| 1.0 / f64::from(rank)).sum(),
        }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number from 1 to the number of ranks"
        )]
        let rank = self.zipf.sample(random) as u32;
        rank - 1
    }

    /// Share of a rank in `whole`, proportional to its weight, rounded down.
    pub(crate) fn share(&self, rank: u32, whole: u64) -> u64 {
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a part of the whole"
        )]
        let share = (whole as f64 / self.total / f64::from(rank + 1)) as u64;
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_their_weights_and_shares_fit_the_whole() {
        let (ranks, mut random) = (Ranks::new(10), seeded(1));
        let mut counts = [0_u32; 10];
        (0..10_000).for_each(|_| counts[ranks.draw(&mut random) as usize] += 1);
        // Weight 1 of 2.93, and half of it.
        assert!((3_200..3_650).contains(&counts[0]), "{counts:?}");
        assert!((1_550..1_900).contains(&counts[1]), "{counts:?}");
        let shares: u64 = (0..10).map(|rank| ranks.share(rank, 1_000)).sum();
        assert!((980..=1_000).contains(&shares), "{shares}");
    }

    /// Pins the generator: journals and streams depend on it.
    #[test]
    fn seeds_keep_their_bytes() {
        assert_eq!(hex::encode(random_bytes::<8>(7)), "3d91ae2a001a2c0e");
    }
}
