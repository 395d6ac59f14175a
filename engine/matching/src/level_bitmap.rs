//! Two-level bitmap of the levels that hold orders on one side.

/// Words of the summary: enough for 9,999 levels (157 words of 64).
const SUMMARY: usize = 3;

/// Bit `i` of word `w` is level `64 w + i`; bit `w` of the summary is set when word `w` is not 0. A
/// search reads at most three summary words and two words, whatever the number of levels.
#[derive(Debug)]
pub(crate) struct LevelBitmap {
    summary: [u64; SUMMARY],
    words: Vec<u64>,
}

impl LevelBitmap {
    /// An empty bitmap of `levels` levels, at most 64 × 64 × 3.
    pub(crate) fn new(levels: usize) -> Self {
        let words = levels.div_ceil(64);
        assert!(words <= 64 * SUMMARY, "more levels than the summary covers");
        Self {
            summary: [0; SUMMARY],
            words: vec![0; words],
        }
    }

    pub(crate) fn contains(&self, level: usize) -> bool {
        self.words[level / 64] >> (level % 64) & 1 == 1
    }

    pub(crate) fn set(&mut self, level: usize) {
        self.words[level / 64] |= 1 << (level % 64);
        self.summary[level / 4_096] |= 1 << (level / 64 % 64);
    }

    pub(crate) fn clear(&mut self, level: usize) {
        let word = &mut self.words[level / 64];
        *word &= !(1 << (level % 64));
        if *word == 0 {
            self.summary[level / 4_096] &= !(1 << (level / 64 % 64));
        }
    }

    /// The lowest occupied level at or above `level`.
    pub(crate) fn at_or_above(&self, level: usize) -> Option<usize> {
        let word = level / 64;
        let rest = self.words.get(word)? & (u64::MAX << (level % 64));
        if rest != 0 {
            return Some(word * 64 + lowest(rest));
        }
        let word = lowest_in(&self.summary, word + 1)?;
        Some(word * 64 + lowest(self.words[word]))
    }

    /// The highest occupied level below `level`.
    pub(crate) fn below(&self, level: usize) -> Option<usize> {
        let level = level.checked_sub(1)?;
        let word = level / 64;
        let rest = self.words[word] & (u64::MAX >> (63 - level % 64));
        if rest != 0 {
            return Some(word * 64 + highest(rest));
        }
        let word = highest_in(&self.summary, word)?;
        Some(word * 64 + highest(self.words[word]))
    }
}

const fn lowest(word: u64) -> usize {
    word.trailing_zeros() as usize
}

const fn highest(word: u64) -> usize {
    63 - word.leading_zeros() as usize
}

/// The lowest set bit of the summary at or above `from`.
fn lowest_in(summary: &[u64; SUMMARY], from: usize) -> Option<usize> {
    let mut mask = u64::MAX << (from % 64);
    for (index, word) in summary.iter().enumerate().skip(from / 64) {
        if word & mask != 0 {
            return Some(index * 64 + lowest(word & mask));
        }
        mask = u64::MAX;
    }
    None
}

/// The highest set bit of the summary below `end`.
fn highest_in(summary: &[u64; SUMMARY], end: usize) -> Option<usize> {
    let last = end.checked_sub(1)?;
    let mut mask = u64::MAX >> (63 - last % 64);
    for index in (0..=last / 64).rev() {
        if summary[index] & mask != 0 {
            return Some(index * 64 + highest(summary[index] & mask));
        }
        mask = u64::MAX;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn searches_as_an_ordered_set(
            levels in prop::sample::select(vec![9_usize, 99, 128, 999, 9_999]),
            seeds in prop::collection::vec((any::<usize>(), any::<bool>()), 0..60),
            probes in prop::collection::vec(any::<usize>(), 20),
        ) {
            let mut bits = LevelBitmap::new(levels);
            let mut model = BTreeSet::new();
            for (seed, add) in seeds {
                let level = seed % levels;
                if add {
                    bits.set(level);
                    model.insert(level);
                } else {
                    bits.clear(level);
                    model.remove(&level);
                }
                prop_assert_eq!(bits.contains(level), add);
            }
            for probe in probes.into_iter().map(|probe| probe % (levels + 1)).chain([0, levels]) {
                prop_assert_eq!(bits.at_or_above(probe), model.range(probe..).next().copied());
                prop_assert_eq!(bits.below(probe), model.range(..probe).next_back().copied());
            }
        }
    }
}
