//! Keeping a table up to date with the database.

use std::sync::Arc;

use foretell_model::WalletAddress;
use rusqlite::{Connection, Params, Row};

use super::columns::{Columns, EVENT_COLUMNS, MARKET_COLUMNS};
use super::rows::set;
use super::{NO_EVENT, NOBODY, RowSet, Table};
use crate::error::CatalogError;

/// The newest table and what the next one is made with.
#[derive(Debug)]
pub(crate) struct Keeper {
    newest: Arc<Table>,
    markets: Columns,
    events: Columns,
}

impl Default for Keeper {
    fn default() -> Self {
        Self {
            newest: Arc::default(),
            markets: Columns::with_numbers(6),
            events: Columns::with_numbers(7),
        }
    }
}

impl Keeper {
    /// The table of what `connection` sees, in a read transaction that has not read before. Costs
    /// about what changed since the last call.
    ///
    /// Whoever holds the keeper meanwhile sees at least what those before saw, so a table is never
    /// newer than what it is asked for.
    pub(crate) fn table(&mut self, connection: &Connection) -> Result<Arc<Table>, CatalogError> {
        let last: i64 = connection
            .prepare_cached("SELECT last FROM changes")?
            .query_row([], |row| row.get(0))?;
        if last != self.newest.change {
            let renewed = Renewal::of(self, connection).renew(last);
            if renewed.is_err() {
                // What was half taken in is read again, with all the rest.
                *self = Self::default();
            }
            renewed?;
        }
        Ok(Arc::clone(&self.newest))
    }
}

/// The row of a record that was not known before.
fn next_row(columns: &Columns) -> u32 {
    u32::try_from(columns.ids().len()).expect("a catalog has fewer records than 2^32")
}

/// Pairs of links that changed events have now.
#[derive(Default)]
struct NewLinks {
    tags: Vec<(i64, u32)>,
    series: Vec<(i64, u32)>,
    creators: Vec<(i64, u32)>,
}

/// A table in the making.
struct Renewal<'k> {
    keeper: &'k mut Keeper,
    connection: &'k Connection,
    table: Table,
    changed: RowSet,
    links: NewLinks,
}

impl<'k> Renewal<'k> {
    fn of(keeper: &'k mut Keeper, connection: &'k Connection) -> Self {
        Self {
            table: Table::clone(&keeper.newest),
            keeper,
            connection,
            changed: RowSet::default(),
            links: NewLinks::default(),
        }
    }

    /// Takes in what changed up to `last`.
    fn renew(mut self, last: i64) -> Result<(), CatalogError> {
        let seen = self.table.change;
        self.take_events(seen)?;
        self.take_markets(
            "FROM markets m WHERE m.change > ?1 AND m.event_id IS NULL",
            [seen],
            NO_EVENT,
        )?;
        self.settle();
        self.table.change = last;
        self.keeper.newest = Arc::new(self.table);
        Ok(())
    }

    fn take_events(&mut self, seen: i64) -> Result<(), CatalogError> {
        let statement = format!(
            "SELECT {EVENT_COLUMNS}, active, closed, archived FROM events WHERE change > ?1"
        );
        let mut statement = self.connection.prepare_cached(&statement)?;
        let mut rows = statement.query([seen])?;
        while let Some(found) = rows.next()? {
            let id = found.get(0)?;
            let row = self.table.events.row_of(id);
            let row = row.unwrap_or_else(|| next_row(&self.keeper.events));
            self.keeper.events.take(row, found)?;
            let flags = [found.get(10)?, found.get(11)?, found.get(12)?];
            self.table.events.put(row, flags);
            self.changed.insert(row);
            self.take_links(id, row)?;
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

    /// Takes the markets of one event, or some that have none.
    fn take_markets(
        &mut self,
        from: &'static str,
        parameters: impl Params,
        event: u32,
    ) -> Result<(), CatalogError> {
        let statement = format!(
            "SELECT {MARKET_COLUMNS}, active, closed, archived, COALESCE(creator,
               (SELECT e.creator FROM events e WHERE e.id = m.event_id)) {from}"
        );
        let mut statement = self.connection.prepare_cached(&statement)?;
        let mut rows = statement.query(parameters)?;
        while let Some(found) = rows.next()? {
            self.take_market(found, event)?;
        }
        Ok(())
    }

    /// Each market is met once: it has one event, or none.
    fn take_market(&mut self, found: &Row<'_>, event: u32) -> Result<(), CatalogError> {
        let row = self.table.markets.row_of(found.get(0)?);
        let row = row.unwrap_or_else(|| next_row(&self.keeper.markets));
        self.keeper.markets.take(row, found)?;
        let flags = [found.get(9)?, found.get(10)?, found.get(11)?];
        self.table.markets.put(row, flags);
        let creator = self.number(found.get(12)?);
        set(&mut self.table.creator_of, row, creator);
        set(&mut self.table.event_of, row, event);
        Ok(())
    }

    /// The number of a creator, given at its first sight.
    fn number(&mut self, creator: Option<[u8; 20]>) -> u32 {
        let Some(creator) = creator.map(WalletAddress) else {
            return NOBODY;
        };
        if let Some(number) = self.table.numbers.get(&creator) {
            return *number;
        }
        let numbers = Arc::make_mut(&mut self.table.numbers);
        let number = u32::try_from(numbers.len()).expect("a catalog has fewer creators than 2^32");
        numbers.insert(creator, number);
        number
    }

    /// Sorts what changed into its place.
    fn settle(&mut self) {
        let (table, keeper) = (&mut self.table, &mut *self.keeper);
        let sorted = keeper.markets.settle();
        table.markets.settle(keeper.markets.ids(), sorted);
        let sorted = keeper.events.settle();
        table.events.settle(keeper.events.ids(), sorted);
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
