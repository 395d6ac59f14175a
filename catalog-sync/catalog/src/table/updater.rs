//! Keeps the table up to date with the database.

use std::sync::Arc;

use foretell_model::{ConditionId, WalletAddress};
use rusqlite::{Connection, Params, Row};

use super::columns::{AFTER_COLUMNS, EVENT_COLUMNS, MARKET_COLUMNS, Number, SortColumns};
use super::exchange_figures::ExchangeFigures;
use super::rows::{Flags, set};
use super::{NO_CREATOR, NO_EVENT, NO_WORD, RowSet, Table, WordColumn};
use crate::error::CatalogError;
use crate::sort_key::sortable;
use crate::trading::{EventFigures, Figures};

/// The newest table and the sort columns that the next one needs.
#[derive(Debug, Default)]
pub(crate) struct TableUpdater {
    newest: Arc<Table>,
    markets: SortColumns,
    events: SortColumns,
    exchange: ExchangeFigures,
}

impl TableUpdater {
    /// The table of the snapshot of `connection`, whose transaction must not have read before.
    /// Costs in proportion to the changes since the last call.
    ///
    /// The caller must have exclusive access from before the transaction's first read. Then its
    /// snapshot is never older than the table.
    pub(crate) fn table(&mut self, connection: &Connection) -> Result<Arc<Table>, CatalogError> {
        let last: i64 = connection
            .prepare_cached("SELECT last FROM changes")?
            .query_row([], |row| row.get(0))?;
        if last != self.newest.change || self.exchange.has_changes() {
            let updated = TableUpdate::of(self, connection).apply(last);
            if updated.is_err() {
                // Discard the partial update; the next call reads everything again.
                *self = Self {
                    exchange: std::mem::take(&mut self.exchange).afresh(),
                    ..Self::default()
                };
            }
            updated?;
        }
        Ok(Arc::clone(&self.newest))
    }

    /// Uses these figures of registered markets from the next table on.
    pub(crate) fn take_figures(&mut self, changed: Vec<(ConditionId, Figures)>) {
        self.exchange.take(changed);
    }
}

/// The flag columns of a record, which follow its sort columns.
const FLAGS: &str = "active, closed, archived, featured, cyom, hidden";
/// Index of the first selected value after the flags.
const AFTER_FLAGS: usize = AFTER_COLUMNS + 6;

fn flags(found: &Row<'_>) -> rusqlite::Result<Flags> {
    let mut flags = Flags::default();
    for (at, flag) in flags.iter_mut().enumerate() {
        *flag = found.get(AFTER_COLUMNS + at)?;
    }
    Ok(flags)
}

/// The row of a new record.
fn next_row(columns: &SortColumns) -> u32 {
    u32::try_from(columns.ids().len()).expect("a catalog has fewer records than 2^32")
}

/// The current links of changed events.
#[derive(Default)]
struct NewLinks {
    tags: Vec<(i64, u32)>,
    series: Vec<(i64, u32)>,
    creators: Vec<(i64, u32)>,
}

/// The next table during an update.
struct TableUpdate<'k> {
    updater: &'k mut TableUpdater,
    connection: &'k Connection,
    table: Table,
    changed: RowSet,
    links: NewLinks,
}

impl<'k> TableUpdate<'k> {
    fn of(updater: &'k mut TableUpdater, connection: &'k Connection) -> Self {
        Self {
            table: Table::clone(&updater.newest),
            updater,
            connection,
            changed: RowSet::default(),
            links: NewLinks::default(),
        }
    }

    /// Applies all changes up to `last`.
    fn apply(mut self, last: i64) -> Result<(), CatalogError> {
        let seen = self.table.change;
        self.take_events(seen)?;
        self.take_markets(
            "FROM markets m WHERE m.change > ?1 AND m.event_id IS NULL",
            [seen],
            NO_EVENT,
        )?;
        self.take_figures();
        self.update_rankings();
        self.table.change = last;
        self.updater.newest = Arc::new(self.table);
        Ok(())
    }

    fn take_events(&mut self, seen: i64) -> Result<(), CatalogError> {
        let statement = format!("SELECT {EVENT_COLUMNS}, {FLAGS} FROM events WHERE change > ?1");
        let mut statement = self.connection.prepare_cached(&statement)?;
        let mut rows = statement.query([seen])?;
        while let Some(found) = rows.next()? {
            let id = found.get(0)?;
            let row = self.table.events.row_of(id);
            let row = row.unwrap_or_else(|| next_row(&self.updater.events));
            self.updater.events.take(row, found)?;
            let flags = flags(found)?;
            self.table.events.put(row, flags);
            self.updater.exchange.event(row);
            self.changed.insert(row);
            let [.., is_hidden] = flags;
            if !is_hidden {
                self.take_links(id, row)?;
            }
            self.take_markets("FROM markets m WHERE m.event_id = ?1", [id], row)?;
        }
        Ok(())
    }

    fn take_links(&mut self, event: i64, row: u32) -> Result<(), CatalogError> {
        let links = |statement, into: &mut Vec<(i64, u32)>| -> Result<(), CatalogError> {
            let mut statement = self.connection.prepare_cached(statement)?;
            let keys = statement.query_map([event], |found| found.get(0))?;
            for key in keys {
                into.push((key?, row));
            }
            Ok(())
        };
        links(
            "SELECT tag_id FROM event_tags WHERE event_id = ?1",
            &mut self.links.tags,
        )?;
        links(
            "SELECT series_id FROM event_series WHERE event_id = ?1",
            &mut self.links.series,
        )?;
        let mut creators = self
            .connection
            .prepare_cached("SELECT creator FROM event_creators WHERE event_id = ?1")?;
        let mut creators = creators.query([event])?;
        while let Some(found) = creators.next()? {
            let number = self.number(Some(found.get(0)?));
            self.links.creators.push((i64::from(number), row));
        }
        Ok(())
    }

    /// Applies the markets of one event, or changed markets without an event.
    fn take_markets(
        &mut self,
        from: &'static str,
        parameters: impl Params,
        event: u32,
    ) -> Result<(), CatalogError> {
        let statement = format!(
            "SELECT {MARKET_COLUMNS}, {FLAGS}, sports_type, uma_status, COALESCE(creator,
               (SELECT e.creator FROM events e WHERE e.id = m.event_id)), condition {from}"
        );
        let mut statement = self.connection.prepare_cached(&statement)?;
        let mut rows = statement.query(parameters)?;
        while let Some(found) = rows.next()? {
            self.take_market(found, event)?;
        }
        Ok(())
    }

    /// Applies a market. Each market occurs once, because it has at most one event.
    fn take_market(&mut self, found: &Row<'_>, event: u32) -> Result<(), CatalogError> {
        let row = self.table.markets.row_of(found.get(0)?);
        let row = row.unwrap_or_else(|| next_row(&self.updater.markets));
        self.updater.markets.take(row, found)?;
        let flags = flags(found)?;
        self.table.markets.put(row, flags);
        for column in [0, 1] {
            let word = self.word(found.get_ref(AFTER_FLAGS + column)?.as_str().unwrap_or(""));
            set(&mut self.table.words_of[column], row, word);
        }
        let creator = self.number(found.get(AFTER_FLAGS + 2)?);
        set(&mut self.table.creator_of, row, creator);
        set(&mut self.table.event_of, row, event);
        let [.., is_hidden] = flags;
        let condition: Option<[u8; 32]> = found.get(AFTER_FLAGS + 3)?;
        let condition = condition.map(ConditionId).filter(|_| !is_hidden);
        self.updater.exchange.market(row, condition, event);
        Ok(())
    }

    /// Applies what the exchange knows of changed markets, and of their events.
    fn take_figures(&mut self) {
        let event_of = |row: u32| self.table.event_of[row as usize];
        let (markets, events) = self.updater.exchange.changes(event_of);
        for (row, figures) in markets {
            self.take_market_figures(row, &figures);
        }
        for event in events {
            self.take_event_figures(event);
        }
    }

    fn take_event_figures(&mut self, event: u32) {
        let (table, exchange) = (&self.table, &self.updater.exchange);
        let markets = exchange
            .markets_of(event)
            .iter()
            .copied()
            .filter_map(|row| {
                let [_, closed, .., hidden] = table.markets.flags(row);
                let is_of_event = !hidden && table.event_of[row as usize] == event;
                is_of_event.then(|| (exchange.of_row(row), closed))
            });
        let sums = EventFigures::of(markets);
        if !sums.trades {
            return;
        }
        let [active, closed, rest @ ..] = table.events.flags(event);
        let [archived, featured, cyom, hidden] = rest;
        let [active, closed] = [active || sums.active, closed || sums.closed];
        let flags = [active, closed, archived, featured, cyom, hidden];
        self.table.events.put(event, flags);
        for (column, value) in [
            (Number::Volume, sums.volume),
            (Number::Volume24hr, sums.volume_24hr),
            (Number::Liquidity, sums.liquidity),
        ] {
            let columns = &mut self.updater.events;
            columns.set_number(event, column, sortable(value));
        }
    }

    fn take_market_figures(&mut self, row: u32, figures: &Figures) {
        let [_, _, _, featured, cyom, hidden] = self.table.markets.flags(row);
        let flags = [
            figures.active,
            figures.closed,
            figures.archived,
            featured,
            cyom,
            hidden,
        ];
        self.table.markets.put(row, flags);
        let columns = &mut self.updater.markets;
        let updated_at = columns
            .number(row, Number::UpdatedAt)
            .max(figures.changed_at);
        for (column, value) in [
            (Number::UpdatedAt, updated_at),
            (Number::Volume, sortable(figures.volume)),
            (Number::Volume24hr, sortable(figures.volume_24hr)),
            (Number::Liquidity, sortable(figures.liquidity)),
        ] {
            columns.set_number(row, column, value);
        }
        let word = self.word(if figures.resolved { "resolved" } else { "" });
        set(
            &mut self.table.words_of[WordColumn::UmaStatus as usize],
            row,
            word,
        );
    }

    /// The number of a word; a new word gets the next number.
    fn word(&mut self, word: &str) -> u32 {
        if word.is_empty() {
            return NO_WORD;
        }
        if let Some(number) = self.table.words.get(word) {
            return *number;
        }
        let words = Arc::make_mut(&mut self.table.words);
        let number = u32::try_from(words.len()).expect("a catalog has fewer words than 2^32");
        words.insert(word.into(), number);
        number
    }

    /// The number of a creator; a new creator gets the next number.
    fn number(&mut self, creator: Option<[u8; 20]>) -> u32 {
        let Some(creator) = creator.map(WalletAddress) else {
            return NO_CREATOR;
        };
        if let Some(number) = self.table.numbers.get(&creator) {
            return *number;
        }
        let numbers = Arc::make_mut(&mut self.table.numbers);
        let number = u32::try_from(numbers.len()).expect("a catalog has fewer creators than 2^32");
        numbers.insert(creator, number);
        number
    }

    /// Updates the rankings and links.
    fn update_rankings(&mut self) {
        let (table, updater) = (&mut self.table, &mut *self.updater);
        table.markets.update_rankings(&mut updater.markets);
        table.events.update_rankings(&mut updater.events);
        let links = std::mem::take(&mut self.links);
        for (known, new) in [
            (&mut table.tags, links.tags),
            (&mut table.series, links.series),
            (&mut table.creators, links.creators),
        ] {
            if let Some(links) = known.with(&self.changed, new) {
                *known = Arc::new(links);
            }
        }
    }
}
