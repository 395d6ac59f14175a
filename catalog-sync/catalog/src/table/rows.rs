//! Markets, or events: their ids, flags and orders.

use std::sync::Arc;

use super::ranking::Ranking;
use crate::query::{Column, FlagFilter};

/// The three flags of a row, one bit each.
const FLAGS: [u8; 3] = [1, 2, 4];

/// All markets, or all events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    ids: Arc<Vec<i64>>,
    flags: Arc<Vec<u8>>,
    /// By id, slug, title, then the numbers.
    rankings: Vec<Arc<Ranking>>,
}

impl Rows {
    /// The number of a row's record.
    pub(crate) fn id(&self, row: u32) -> i64 {
        self.ids[row as usize]
    }

    /// The row of a record.
    pub(crate) fn row_of(&self, id: i64) -> Option<u32> {
        let by_id = self.rankings.first()?.sorted();
        let found = by_id.binary_search_by_key(&id, |row| self.id(*row)).ok()?;
        Some(by_id[found])
    }

    /// Whether a row has the flags that are asked for.
    pub(super) fn has(&self, row: u32, Wanted { mask, flags }: Wanted) -> bool {
        self.flags[row as usize] & mask == flags
    }

    /// The order of a column.
    pub(super) fn ranking(&self, column: Column) -> Option<&Ranking> {
        let place = match column {
            Column::Id => 0,
            Column::Slug => 1,
            Column::Title => 2,
            Column::StartDate => 3,
            Column::EndDate => 4,
            Column::CreatedAt => 5,
            Column::UpdatedAt => 6,
            Column::Volume => 7,
            Column::Liquidity => 8,
            // Markets have none of their own.
            Column::CreationDate if self.rankings.len() <= 9 => 5,
            Column::CreationDate => 9,
        };
        self.rankings.get(place).map(Arc::as_ref)
    }

    /// Puts flags: `active`, `closed`, `archived`.
    pub(super) fn put(&mut self, row: u32, flags: [bool; 3]) {
        let bits = FLAGS.into_iter().zip(flags);
        let bits = bits.map(|(bit, is_set)| if is_set { bit } else { 0 }).sum();
        set(&mut self.flags, row, bits);
    }

    /// Takes what was sorted anew.
    pub(super) fn settle(&mut self, ids: &[i64], rankings: Vec<Arc<Ranking>>) {
        // Ids never change: there are only more of them.
        if ids.len() > self.ids.len() {
            let known = self.ids.len();
            Arc::make_mut(&mut self.ids).extend_from_slice(&ids[known..]);
        }
        self.rankings = rankings;
    }
}

/// Flags that are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    mask: u8,
    flags: u8,
}

impl From<FlagFilter> for Wanted {
    fn from(filter: FlagFilter) -> Self {
        let mut wanted = Self { mask: 0, flags: 0 };
        let asked = [filter.active, filter.closed, filter.archived];
        for (bit, flag) in FLAGS.into_iter().zip(asked) {
            if let Some(flag) = flag {
                wanted.mask |= bit;
                wanted.flags |= if flag { bit } else { 0 };
            }
        }
        wanted
    }
}

/// Gives a row, or the one behind the last, its value: in a copy where others read, unless it has it.
pub(super) fn set<T: Copy + PartialEq>(values: &mut Arc<Vec<T>>, row: u32, value: T) {
    match values.get(row as usize) {
        Some(known) if *known == value => {}
        Some(_) => Arc::make_mut(values)[row as usize] = value,
        None => Arc::make_mut(values).push(value),
    }
}
