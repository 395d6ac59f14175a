//! The text of a market or an event: the one place where what the source had meets what the exchange
//! knows.

use std::borrow::Cow;

use foretell_model::ConditionId;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::error::CatalogError;
use crate::render::{self, Array};
use crate::trading::{EventFigures, Exchange, Figures, Trading};

/// Columns of [`MarketText::of_row`].
const MARKET_COLUMNS: &str = "json, trading, condition, closed, updated_at, event_id";

/// Renders records of one database snapshot.
#[derive(Clone, Copy)]
pub(super) struct RecordTexts<'c> {
    pub(super) connection: &'c Connection,
    /// `None` where no exchange is asked: records are their source's.
    pub(super) exchange: Option<&'c dyn Exchange>,
}

/// A market without its event.
pub(super) struct MarketText {
    pub(super) text: String,
    pub(super) event: Option<i64>,
    figures: Option<Figures>,
    /// Whether its source has closed it.
    closed: bool,
}

impl RecordTexts<'_> {
    /// A shown market.
    pub(super) fn market(&self, id: i64) -> Result<Option<MarketText>, CatalogError> {
        let statement = format!(
            "SELECT {MARKET_COLUMNS} FROM market_texts JOIN markets USING (id)
             WHERE id = ?1 AND hidden = 0"
        );
        Ok(self
            .connection
            .prepare_cached(&statement)?
            .query_row([id], |row| self.market_text(row))
            .optional()?)
    }

    /// The shown markets of an event, by id.
    fn markets_of(&self, event: i64) -> Result<Vec<MarketText>, CatalogError> {
        let statement = format!(
            "SELECT {MARKET_COLUMNS} FROM markets JOIN market_texts USING (id)
             WHERE event_id = ?1 AND hidden = 0 ORDER BY markets.id"
        );
        let mut statement = self.connection.prepare_cached(&statement)?;
        let rows = statement.query_map([event], |row| self.market_text(row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn market_text(&self, row: &Row<'_>) -> rusqlite::Result<MarketText> {
        let [json, source] =
            [row.get_ref(0)?, row.get_ref(1)?].map(|it| it.as_str().unwrap_or("{}"));
        let trading = self.trading(row.get(2)?);
        let fields = match &trading {
            Some(trading) => Cow::Owned(with_update(trading, row.get(4)?)),
            None => Cow::Borrowed(source),
        };
        Ok(MarketText {
            text: render::joined(json, &fields),
            event: row.get(5)?,
            figures: trading.map(|trading| trading.figures),
            closed: row.get(3)?,
        })
    }

    fn trading(&self, condition: Option<[u8; 32]>) -> Option<Trading> {
        self.exchange?.trading(&ConditionId(condition?))
    }

    /// The full summary of a shown event, without its markets.
    pub(super) fn full_event(&self, id: i64) -> Result<Option<String>, CatalogError> {
        let statement = "SELECT condition, closed FROM markets WHERE event_id = ?1 AND hidden = 0";
        let mut statement = self.connection.prepare_cached(statement)?;
        let markets = statement.query_map([id], |row| {
            let trading = self.trading(row.get(0)?);
            Ok((trading.map(|trading| trading.figures), row.get(1)?))
        })?;
        let markets: Vec<_> = markets.collect::<Result<_, _>>()?;
        self.event_text("base", id, &EventFigures::of(markets))
    }

    /// A shown event with tags, markets, series and metadata.
    pub(super) fn whole_event(&self, id: i64) -> Result<Option<String>, CatalogError> {
        let markets = self.markets_of(id)?;
        let figures = EventFigures::of(markets.iter().map(|it| (it.figures, it.closed)));
        let Some(event) = self.event_text("whole", id, &figures)? else {
            return Ok(None);
        };
        let mut array = Array::of(markets.len());
        markets.iter().for_each(|market| array.push(&market.text));
        Ok(Some(render::with_fields(
            &event,
            &[("markets", &array.end())],
        )))
    }

    fn event_text(
        &self,
        column: &'static str,
        id: i64,
        figures: &EventFigures,
    ) -> Result<Option<String>, CatalogError> {
        let statement = format!(
            "SELECT {column}, trading, active, closed, archived
             FROM event_texts JOIN events USING (id) WHERE id = ?1 AND hidden = 0"
        );
        let read = |row: &Row<'_>| {
            let [text, source] =
                [row.get_ref(0)?, row.get_ref(1)?].map(|it| it.as_str().unwrap_or("{}"));
            let fields = match figures.trades {
                true => Cow::Owned(figures.fields([row.get(2)?, row.get(3)?, row.get(4)?])),
                false => Cow::Borrowed(source),
            };
            Ok(render::joined(text, &fields))
        };
        Ok(self
            .connection
            .prepare_cached(&statement)?
            .query_row(params![id], read)
            .optional()?)
    }
}

/// The fields of the exchange, with the later of the source's update and the last step of life.
fn with_update(trading: &Trading, updated_at: Option<i64>) -> String {
    let changed_at = trading.figures.changed_at.max(updated_at.unwrap_or(0));
    match Timestamp::from_microsecond(changed_at) {
        Ok(time) => render::with_fields(&trading.fields, &[("updatedAt", &format!("\"{time}\""))]),
        Err(_) => trading.fields.clone(),
    }
}
