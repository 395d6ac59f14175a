//! Answers with one record.

use foretell_model::WalletAddress;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::Catalog;
use super::scope::Scope;
use crate::error::{CatalogError, NotFound};
use crate::query::OneQuery;
use crate::table::Table;

/// What differs between markets, events and tags.
pub(super) struct Kind {
    /// Whether a record belongs to one of these wallets.
    pub(super) belongs: fn(&Table, &[WalletAddress], i64) -> bool,
    /// Its JSON.
    pub(super) text: fn(&Connection, i64) -> Result<Option<String>, CatalogError>,
}

impl Catalog {
    /// The record whose number `find` finds, if it is in scope.
    pub(super) fn one(
        &self,
        kind: &Kind,
        query: &OneQuery,
        nothing: NotFound,
        find: impl FnOnce(&Connection) -> Result<Option<i64>, CatalogError>,
    ) -> Result<String, CatalogError> {
        let record = |connection: &Connection, id: Option<i64>| {
            let text = id.map(|id| (kind.text)(connection, id)).transpose()?;
            text.flatten().ok_or(CatalogError::NotFound(nothing))
        };
        match self.scope(query.creator.as_deref()) {
            Scope::All => self
                .pool
                .with(|connection| record(connection, find(connection)?)),
            Scope::Creators(creators) => self.with_table(|connection, table| {
                let belongs = |id: &i64| (kind.belongs)(table, &creators, *id);
                record(connection, find(connection)?.filter(belongs))
            }),
        }
    }
}

/// Of several records of a table with one slug, the newest.
pub(super) fn newest_of_slug(
    connection: &Connection,
    table: &'static str,
    slug: &str,
) -> Result<Option<i64>, CatalogError> {
    let statement = format!("SELECT id FROM {table} WHERE slug = ?1 ORDER BY id DESC LIMIT 1");
    first(connection, &statement, Value::Text(slug.to_owned()))
}

/// The number that a statement finds for a value.
pub(super) fn first(
    connection: &Connection,
    statement: &str,
    value: Value,
) -> Result<Option<i64>, CatalogError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row([value], |row| row.get(0))
        .optional()?)
}

/// The text of a record that stands in one column.
pub(super) fn text_of(
    connection: &Connection,
    statement: &str,
    id: i64,
) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row([id], |row| row.get(0))
        .optional()?)
}
