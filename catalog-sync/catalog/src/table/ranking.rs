//! Rows sorted by one column.

/// Rows sorted by a value, ties by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranking {
    /// Rows, smallest first; equal values by lower id.
    sorted: Vec<u32>,
    /// By row: the number of distinct smaller values.
    ranks: Vec<u32>,
}

impl Ranking {
    /// The rows, the smallest first.
    pub(super) fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    /// Ranks compare like the values; equal values have equal ranks.
    pub(super) fn rank(&self, row: u32) -> u32 {
        self.ranks[row as usize]
    }

    /// The rank of the first row that `is_less` does not hold for, or the number of ranks. `is_less`
    /// holds for rows up to some place.
    ///
    /// # Errors
    /// That of `is_less`.
    pub(super) fn rank_where<E>(
        &self,
        mut is_less: impl FnMut(u32) -> Result<bool, E>,
    ) -> Result<u32, E> {
        let (mut low, mut high) = (0, self.sorted.len());
        while low < high {
            let middle = low.midpoint(high);
            match is_less(self.sorted[middle])? {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(match (self.sorted.get(low), self.sorted.last()) {
            (Some(row), _) => self.rank(*row),
            (None, Some(last)) => self.rank(*last) + 1,
            (None, None) => 0,
        })
    }

    /// The ranking after some rows changed or were added. Unchanged rows keep their order and are
    /// not compared again. Without `ids`, all values must differ.
    pub(super) fn with<V: Ord>(
        &self,
        mut changed: Vec<u32>,
        values: &[V],
        ids: Option<&[i64]>,
    ) -> Self {
        let id = |row: u32| ids.map_or(0, |ids| ids[row as usize]);
        let key = |row: u32| (&values[row as usize], id(row));
        changed.sort_unstable_by(|one, other| key(*one).cmp(&key(*other)));
        changed.dedup();
        let mut stays = vec![true; values.len()];
        for row in &changed {
            stays[*row as usize] = false;
        }
        let stay = |row: &u32| stays[*row as usize];
        let kept: Vec<u32> = self.sorted.iter().copied().filter(stay).collect();
        let sorted = merged(&kept, &changed, |one, other| key(one) < key(other));
        let same = |one: u32, other: u32| match stays[one as usize] && stays[other as usize] {
            true => self.rank(one) == self.rank(other),
            false => values[one as usize] == values[other as usize],
        };
        let (mut ranks, mut rank) = (vec![0; values.len()], 0);
        for pair in sorted.windows(2) {
            rank += u32::from(!same(pair[0], pair[1]));
            ranks[pair[1] as usize] = rank;
        }
        Self { sorted, ranks }
    }
}

/// Merges two ascending lists; the second is short, or the only one.
fn merged(long: &[u32], short: &[u32], is_less: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut merged = Vec::with_capacity(long.len() + short.len());
    let mut rest = long;
    for row in short {
        let before = rest.partition_point(|other| is_less(*other, *row));
        let (less, greater) = rest.split_at(before);
        merged.extend_from_slice(less);
        merged.push(*row);
        rest = greater;
    }
    merged.extend_from_slice(rest);
    merged
}
