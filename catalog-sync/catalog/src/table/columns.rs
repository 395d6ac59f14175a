//! Sort columns, and the incremental update of their rankings.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::ranking::Ranking;
use crate::sort_key::{MISSING, sortable};

/// The columns that statements about markets select, in this order.
pub(super) const MARKET_COLUMNS: &str = "id, slug, question, start_date, end_date, created_at,
    updated_at, volume, liquidity, volume_24hr, competitive, rewards_min_size, created_at";
/// The columns of events, in the same places.
pub(super) const EVENT_COLUMNS: &str = "id, slug, title, start_date, end_date, created_at,
    updated_at, volume, liquidity, volume_24hr, competitive, NULL, creation_date";
/// The number columns that an exchange knows, by their places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    UpdatedAt = 3,
    Volume = 4,
    Liquidity = 5,
    Volume24hr = 6,
}
/// Number columns among them.
const NUMBERS: usize = 10;
/// Index of the first selected value after the columns.
pub(super) const AFTER_COLUMNS: usize = BEFORE_NUMBERS + NUMBERS;
/// Columns before the number columns.
pub(super) const BEFORE_NUMBERS: usize = 3;

/// The sort columns of markets or of events.
#[derive(Debug)]
pub(super) struct SortColumns {
    id: SortColumn<i64>,
    slug: SortColumn<Box<str>>,
    title: SortColumn<Box<str>>,
    numbers: Vec<SortColumn<i64>>,
}

impl Default for SortColumns {
    fn default() -> Self {
        Self {
            id: SortColumn::default(),
            slug: SortColumn::default(),
            title: SortColumn::default(),
            numbers: (0..NUMBERS).map(|_| SortColumn::default()).collect(),
        }
    }
}

impl SortColumns {
    pub(super) fn ids(&self) -> &[i64] {
        &self.id.values
    }

    /// Stores the values of a row.
    pub(super) fn take(&mut self, row: u32, found: &Row<'_>) -> rusqlite::Result<()> {
        self.id.set(row, found.get(0)?);
        self.slug
            .set_text(row, found.get_ref(1)?.as_str().unwrap_or(""));
        self.title
            .set_text(row, found.get_ref(2)?.as_str().unwrap_or(""));
        for (place, column) in self.numbers.iter_mut().enumerate() {
            let at = BEFORE_NUMBERS + place;
            column.set(
                row,
                match found.get_ref(at)? {
                    ValueRef::Integer(time) => time,
                    ValueRef::Real(amount) => sortable(amount),
                    _ => MISSING,
                },
            );
        }
        Ok(())
    }

    /// Sets the value of a number column.
    pub(super) fn set_number(&mut self, row: u32, column: Number, value: i64) {
        self.numbers[column as usize].set(row, value);
    }

    /// The value of a number column.
    pub(super) fn number(&self, row: u32, column: Number) -> i64 {
        self.numbers[column as usize].values[row as usize]
    }

    /// Updates the rankings: by id, slug, title, then the number columns.
    pub(super) fn update_rankings(&mut self) -> Vec<Arc<Ranking>> {
        let mut rankings = vec![
            self.id.update_rankings(None),
            self.slug.update_rankings(Some(&self.id.values)),
            self.title.update_rankings(Some(&self.id.values)),
        ];
        for column in &mut self.numbers {
            rankings.push(column.update_rankings(Some(&self.id.values)));
        }
        rankings
    }
}

impl SortColumns {
    /// The values of the number columns by row.
    pub(super) fn numbers(&self) -> Vec<Arc<Vec<i64>>> {
        let values = |column: &SortColumn<i64>| Arc::clone(&column.values);
        self.numbers.iter().map(values).collect()
    }
}

/// Values of one column by row, their ranking, and the rows that changed since.
#[derive(Debug)]
struct SortColumn<V> {
    /// Shared with tables that filter by them.
    values: Arc<Vec<V>>,
    changed: Vec<u32>,
    ranking: Arc<Ranking>,
}

impl<V> Default for SortColumn<V> {
    fn default() -> Self {
        Self {
            values: Arc::default(),
            changed: Vec::new(),
            ranking: Arc::default(),
        }
    }
}

impl<V: Ord + Clone> SortColumn<V> {
    /// Sets the value of a row; the row may be the next new one.
    fn set(&mut self, row: u32, value: V) {
        match self.values.get(row as usize) {
            Some(known) if *known == value => return,
            Some(_) => Arc::make_mut(&mut self.values)[row as usize] = value,
            None => Arc::make_mut(&mut self.values).push(value),
        }
        self.changed.push(row);
    }

    fn update_rankings(&mut self, ids: Option<&[i64]>) -> Arc<Ranking> {
        if !self.changed.is_empty() {
            let changed = std::mem::take(&mut self.changed);
            self.ranking = Arc::new(self.ranking.with(changed, &self.values, ids));
        }
        Arc::clone(&self.ranking)
    }
}

impl SortColumn<Box<str>> {
    fn set_text(&mut self, row: u32, text: &str) {
        let known = self.values.get(row as usize);
        if known.is_none_or(|known| **known != *text) {
            self.set(row, text.into());
        }
    }
}
