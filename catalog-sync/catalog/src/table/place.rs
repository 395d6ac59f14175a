//! A place in an order, for pages that follow a row.

use super::ranking::Ranking;
use super::rows::Rows;
use crate::query::{Column, Cursor, MAX_TEXT_BYTES, Order, SortValue};

/// The place of a row in an order, as its values and its id once were.
#[derive(Debug)]
pub(crate) struct Place {
    /// By ranking: the rank of the first row whose value is not less, and of the first one whose
    /// value is greater.
    ranks: Vec<[u32; 2]>,
}

impl Rows {
    /// The cursor after a row. `text` reads the present text of a row.
    ///
    /// # Errors
    /// That of `text`.
    pub(crate) fn cursor<E>(
        &self,
        order: &Order,
        row: u32,
        text: impl Fn(Column, u32) -> Result<String, E>,
    ) -> Result<Cursor, E> {
        let value = |column: Column| {
            if !column.is_text() {
                return Ok(SortValue::Number(self.number(column, row)));
            }
            let text = text(column, row)?;
            Ok(match text.len() <= MAX_TEXT_BYTES {
                true => SortValue::Text(text),
                false => SortValue::OfRow,
            })
        };
        let values = order.before_id().map(value).collect::<Result<_, E>>()?;
        Ok(Cursor::new(order, values, self.id(row)))
    }

    /// The place of a cursor that was made for this order.
    ///
    /// # Errors
    /// That of `text`, which reads the present text of a row.
    pub(crate) fn place<E>(
        &self,
        order: &Order,
        cursor: &Cursor,
        text: impl Fn(Column, u32) -> Result<String, E>,
    ) -> Result<Place, E> {
        let mut ranks = Vec::new();
        for (column, value) in order.before_id().zip(&cursor.values) {
            let Some(ranking) = self.ranking(column) else {
                break;
            };
            let own;
            let value = match (value, self.row_of(cursor.id)) {
                (SortValue::OfRow, Some(row)) => {
                    own = SortValue::Text(text(column, row)?);
                    &own
                }
                _ => value,
            };
            let compared = |row: u32| {
                Ok(match value {
                    SortValue::Number(number) => self.number(column, row).cmp(number),
                    SortValue::Text(known) => text(column, row)?.as_str().cmp(known),
                    // No row has the id of the cursor.
                    SortValue::OfRow => std::cmp::Ordering::Less,
                })
            };
            ranks.push([
                ranking.rank_where(|row| compared(row).map(std::cmp::Ordering::is_lt))?,
                ranking.rank_where(|row| compared(row).map(std::cmp::Ordering::is_le))?,
            ]);
        }
        if let Some(ranking) = self.ranking(Column::Id) {
            ranks.push([
                ranking.rank_where(|row| Ok(self.id(row) < cursor.id))?,
                ranking.rank_where(|row| Ok(self.id(row) <= cursor.id))?,
            ]);
        }
        Ok(Place { ranks })
    }

    /// Whether a row comes after a place in the order of these rankings.
    pub(super) fn is_after(
        &self,
        row: u32,
        place: &Place,
        by: &[&Ranking],
        ascending: bool,
    ) -> bool {
        for (ranking, [first, next]) in by.iter().zip(&place.ranks) {
            let rank = ranking.rank(row);
            if rank < *first {
                return !ascending;
            }
            if rank >= *next {
                return ascending;
            }
        }
        false
    }
}
