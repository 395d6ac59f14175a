//! Sets of rows as bit sets, for frequent lookups of small numbers.

/// A set of rows or other small numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowSet {
    words: Vec<u64>,
}

impl RowSet {
    pub(crate) fn of(rows: impl IntoIterator<Item = u32>) -> Self {
        let mut set = Self::default();
        for row in rows {
            set.insert(row);
        }
        set
    }

    pub(super) fn insert(&mut self, row: u32) {
        let (word, bit) = place(row);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= bit;
    }

    pub(crate) fn contains(&self, row: u32) -> bool {
        let (word, bit) = place(row);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    /// All of them, ascending.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.words).flat_map(|(word, bits)| {
            let is_set = move |bit: &u32| bits & (1 << bit) != 0;
            (0..64).filter(is_set).map(move |bit| word * 64 + bit)
        })
    }
}

/// The word of a row and its bit in the word.
const fn place(row: u32) -> (usize, u64) {
    (row as usize / 64, 1 << (row % 64))
}
