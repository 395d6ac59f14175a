//! Sort columns, and the incremental update of their rankings.

use std::sync::Arc;

use rusqlite::Row;

use super::ranking::Ranking;

/// A missing value, which sorts first.
const MISSING: i64 = i64::MIN;

/// The columns that statements about markets select, in this order.
pub(super) const MARKET_COLUMNS: &str = "id, slug, question, start_date, end_date, created_at,
                                         updated_at, volume, liquidity";
/// The columns of events: those of markets and one more.
pub(super) const EVENT_COLUMNS: &str = "id, slug, title, start_date, end_date, created_at,
                                        updated_at, volume, liquidity, creation_date";
/// Number columns that are amounts and not times.
const AMOUNTS: std::ops::Range<usize> = 4..6;
/// Columns before the number columns.
const BEFORE_NUMBERS: usize = 3;

/// The sort columns of markets or of events.
#[derive(Debug)]
pub(super) struct SortColumns {
    id: SortColumn<i64>,
    slug: SortColumn<Box<str>>,
    title: SortColumn<Box<str>>,
    numbers: Vec<SortColumn<i64>>,
}

impl SortColumns {
    /// Columns with `count` number columns.
    pub(super) fn with_numbers(count: usize) -> Self {
        Self {
            id: SortColumn::default(),
            slug: SortColumn::default(),
            title: SortColumn::default(),
            numbers: (0..count).map(|_| SortColumn::default()).collect(),
        }
    }

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
            let value = match AMOUNTS.contains(&place) {
                true => found.get::<_, Option<f64>>(at)?.map(sortable),
                false => found.get(at)?,
            };
            column.set(row, value.unwrap_or(MISSING));
        }
        Ok(())
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

/// Values of one column by row, their ranking, and the rows that changed since.
#[derive(Debug)]
struct SortColumn<V> {
    values: Vec<V>,
    changed: Vec<u32>,
    ranking: Arc<Ranking>,
}

impl<V> Default for SortColumn<V> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            changed: Vec::new(),
            ranking: Arc::default(),
        }
    }
}

impl<V: Ord> SortColumn<V> {
    /// Sets the value of a row; the row may be the next new one.
    fn set(&mut self, row: u32, value: V) {
        match self.values.get_mut(row as usize) {
            Some(known) if *known == value => return,
            Some(known) => *known = value,
            None => self.values.push(value),
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

/// Maps an amount to an integer with the same order.
fn sortable(amount: f64) -> i64 {
    // -0.0 and 0.0 are equal.
    let bits = (amount + 0.0).to_bits().cast_signed();
    bits ^ (bits >> 63).cast_unsigned().wrapping_shr(1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_order() {
        let amounts = [
            f64::MIN,
            -2.5,
            -1.0,
            -f64::MIN_POSITIVE,
            0.0,
            1e-9,
            1.0,
            3.5,
            f64::MAX,
        ];
        assert!(amounts.is_sorted_by(|one, other| sortable(*one) < sortable(*other)));
        assert!(MISSING < sortable(f64::MIN));
        assert_eq!(sortable(-0.0), sortable(0.0));
    }
}
