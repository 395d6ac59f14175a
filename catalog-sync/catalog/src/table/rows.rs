//! Ids, flags and rankings of all markets or all events.

use std::sync::Arc;

use super::columns::{BEFORE_NUMBERS, SortColumns};
use super::ranking::Ranking;
use crate::query::{Column, FlagFilter, Range};
use crate::sort_key::MISSING;

/// Flags of a row: `active`, `closed`, `archived`, `featured`, `cyom`, `hidden`.
pub(super) type Flags = [bool; 6];
/// One bit each.
const FLAGS: [u8; 6] = [1, 2, 4, 8, 16, HIDDEN];
/// No list shows a hidden row.
const HIDDEN: u8 = 32;

/// All markets, or all events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    ids: Arc<Vec<i64>>,
    flags: Arc<Vec<u8>>,
    /// Rankings by id, slug, title, then the number columns.
    rankings: Vec<Arc<Ranking>>,
    /// Values of the number columns by row.
    numbers: Vec<Arc<Vec<i64>>>,
}

impl Rows {
    /// The id of a row's record.
    pub(crate) fn id(&self, row: u32) -> i64 {
        self.ids[row as usize]
    }

    /// The row of a record.
    pub(crate) fn row_of(&self, id: i64) -> Option<u32> {
        let by_id = self.rankings.first()?.sorted();
        let found = by_id.binary_search_by_key(&id, |row| self.id(*row)).ok()?;
        Some(by_id[found])
    }

    /// Whether a row has the wanted flags.
    pub(crate) fn has(&self, row: u32, WantedFlags { mask, flags }: WantedFlags) -> bool {
        self.flags[row as usize] & mask == flags
    }

    /// The ranking of a column.
    pub(super) fn ranking(&self, column: Column) -> Option<&Ranking> {
        self.rankings.get(place_of(column)).map(Arc::as_ref)
    }

    /// The value of a row in a number column.
    pub(super) fn number(&self, column: Column, row: u32) -> i64 {
        let place = place_of(column).checked_sub(BEFORE_NUMBERS);
        let values = place.and_then(|place| self.numbers.get(place));
        values.map_or(MISSING, |values| values[row as usize])
    }

    /// Whether a row's value is in a range; a missing value is in none.
    pub(super) fn is_within(&self, row: u32, range: &Range) -> bool {
        let value = self.number(range.column, row);
        value != MISSING && (range.min..=range.max).contains(&value)
    }

    /// The flags of a row.
    pub(super) fn flags(&self, row: u32) -> Flags {
        FLAGS.map(|bit| self.flags[row as usize] & bit != 0)
    }

    /// Sets the flags.
    pub(super) fn put(&mut self, row: u32, flags: Flags) {
        let bits = FLAGS.into_iter().zip(flags);
        let bits = bits.map(|(bit, is_set)| if is_set { bit } else { 0 }).sum();
        set(&mut self.flags, row, bits);
    }

    /// Stores updated rankings.
    pub(super) fn update_rankings(&mut self, columns: &mut SortColumns) {
        let rankings = columns.update_rankings();
        let ids = columns.ids();
        // Ids never change; rows are only added.
        if ids.len() > self.ids.len() {
            let known = self.ids.len();
            Arc::make_mut(&mut self.ids).extend_from_slice(&ids[known..]);
        }
        self.rankings = rankings;
        self.numbers = columns.numbers();
    }
}

/// The place of a column among the rankings.
const fn place_of(column: Column) -> usize {
    match column {
        Column::Id => 0,
        Column::Slug => 1,
        Column::Title => 2,
        Column::StartDate => 3,
        Column::EndDate => 4,
        Column::CreatedAt => 5,
        Column::UpdatedAt => 6,
        Column::Volume => 7,
        Column::Liquidity => 8,
        Column::Volume24hr => 9,
        Column::Competitive => 10,
        Column::RewardsMinSize => 11,
        Column::CreationDate => 12,
    }
}

/// Wanted flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WantedFlags {
    mask: u8,
    flags: u8,
}

impl From<FlagFilter> for WantedFlags {
    fn from(filter: FlagFilter) -> Self {
        let mut wanted = Self {
            mask: HIDDEN,
            flags: 0,
        };
        let asked = [
            filter.active,
            filter.closed,
            filter.archived,
            filter.featured,
            filter.cyom,
        ];
        for (bit, flag) in FLAGS.into_iter().zip(asked) {
            if let Some(flag) = flag {
                wanted.mask |= bit;
                wanted.flags |= if flag { bit } else { 0 };
            }
        }
        wanted
    }
}

/// Sets the value of a known or the next row. Copies a shared vector only if the value changes.
pub(super) fn set<T: Copy + PartialEq>(values: &mut Arc<Vec<T>>, row: u32, value: T) {
    match values.get(row as usize) {
        Some(known) if *known == value => {}
        Some(_) => Arc::make_mut(values)[row as usize] = value,
        None => Arc::make_mut(values).push(value),
    }
}
