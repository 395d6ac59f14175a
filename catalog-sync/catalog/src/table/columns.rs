//! The values that rows are sorted by, kept to sort what changes into its place.

use std::sync::Arc;

use rusqlite::Row;

use super::ranking::Ranking;

/// What a row does not have is smallest.
const NOTHING: i64 = i64::MIN;

/// Columns of a statement about a market or event, in this order.
pub(super) const MARKET_COLUMNS: &str = "id, slug, question, start_date, end_date, created_at,
                                         updated_at, volume, liquidity";
/// The same of an event, with one more.
pub(super) const EVENT_COLUMNS: &str = "id, slug, title, start_date, end_date, created_at,
                                        updated_at, volume, liquidity, creation_date";
/// Of the numbers, those that are no instants.
const AMOUNTS: std::ops::Range<usize> = 4..6;
/// Columns before the numbers.
const BEFORE_NUMBERS: usize = 3;

/// The columns that markets, or events, can be sorted by.
#[derive(Debug)]
pub(super) struct Columns {
    id: Column<i64>,
    slug: Column<Box<str>>,
    title: Column<Box<str>>,
    numbers: Vec<Column<i64>>,
}

impl Columns {
    /// With so many columns of numbers.
    pub(super) fn with_numbers(count: usize) -> Self {
        Self {
            id: Column::default(),
            slug: Column::default(),
            title: Column::default(),
            numbers: (0..count).map(|_| Column::default()).collect(),
        }
    }

    pub(super) fn ids(&self) -> &[i64] {
        &self.id.values
    }

    /// Takes what a statement says of a row.
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
            column.set(row, value.unwrap_or(NOTHING));
        }
        Ok(())
    }

    /// Sorts what changed into its place: rankings by id, slug, title and then the numbers.
    pub(super) fn settle(&mut self) -> Vec<Arc<Ranking>> {
        let mut rankings = vec![
            self.id.settle(None),
            self.slug.settle(Some(&self.id.values)),
            self.title.settle(Some(&self.id.values)),
        ];
        for column in &mut self.numbers {
            rankings.push(column.settle(Some(&self.id.values)));
        }
        rankings
    }
}

/// Values of one column by row, their order, and which of them it does not know yet.
#[derive(Debug)]
struct Column<V> {
    values: Vec<V>,
    changed: Vec<u32>,
    ranking: Arc<Ranking>,
}

impl<V> Default for Column<V> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            changed: Vec::new(),
            ranking: Arc::default(),
        }
    }
}

impl<V: Ord> Column<V> {
    /// Gives a row, or the one behind the last, its value.
    fn set(&mut self, row: u32, value: V) {
        match self.values.get_mut(row as usize) {
            Some(known) if *known == value => return,
            Some(known) => *known = value,
            None => self.values.push(value),
        }
        self.changed.push(row);
    }

    fn settle(&mut self, ids: Option<&[i64]>) -> Arc<Ranking> {
        if !self.changed.is_empty() {
            let changed = std::mem::take(&mut self.changed);
            self.ranking = Arc::new(self.ranking.with(changed, &self.values, ids));
        }
        Arc::clone(&self.ranking)
    }
}

impl Column<Box<str>> {
    fn set_text(&mut self, row: u32, text: &str) {
        let known = self.values.get(row as usize);
        if known.is_none_or(|known| **known != *text) {
            self.set(row, text.into());
        }
    }
}

/// A number whose order among integers is that of the amounts.
fn sortable(amount: f64) -> i64 {
    // The two zeros are one amount.
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
        assert!(NOTHING < sortable(f64::MIN));
        assert_eq!(sortable(-0.0), sortable(0.0));
    }
}
