//! Tags and series of an event, in the order of its record.

use rusqlite::{Connection, params};

use crate::error::CatalogError;
use crate::ids;

/// A table of links and the statements on it.
#[derive(Clone, Copy)]
pub(super) struct Links {
    of_event: &'static str,
    delete: &'static str,
    insert: &'static str,
    events: &'static str,
}

/// `event_tags`.
pub(super) const TAGS: Links = Links {
    of_event: "SELECT tag_id FROM event_tags WHERE event_id = ?1 ORDER BY place",
    delete: "DELETE FROM event_tags WHERE event_id = ?1",
    insert: "INSERT INTO event_tags VALUES (?1, ?2, ?3)",
    events: "SELECT event_id FROM event_tags WHERE tag_id = ?1",
};

/// `event_series`.
pub(super) const SERIES: Links = Links {
    of_event: "SELECT series_id FROM event_series WHERE event_id = ?1 ORDER BY place",
    delete: "DELETE FROM event_series WHERE event_id = ?1",
    insert: "INSERT INTO event_series VALUES (?1, ?2, ?3)",
    events: "SELECT event_id FROM event_series WHERE series_id = ?1",
};

/// The tags or series of an event.
pub(super) fn of_event(
    connection: &Connection,
    links: Links,
    event: u64,
) -> Result<Vec<u64>, CatalogError> {
    ids::list(connection, links.of_event, event)
}

/// The events of a tag or series.
pub(super) fn events_of(
    connection: &Connection,
    links: Links,
    id: u64,
) -> Result<Vec<u64>, CatalogError> {
    ids::list(connection, links.events, id)
}

/// Replaces the links of an event, without duplicates. Returns every id whose link was added,
/// removed or moved; empty when nothing changed.
pub(super) fn replace(
    connection: &Connection,
    links: Links,
    event: u64,
    wanted: &[u64],
) -> Result<Vec<u64>, CatalogError> {
    let mut once = Vec::with_capacity(wanted.len());
    for id in wanted {
        if !once.contains(id) {
            once.push(*id);
        }
    }
    let had = of_event(connection, links, event)?;
    if had == once {
        return Ok(Vec::new());
    }
    connection
        .prepare_cached(links.delete)?
        .execute([ids::row(event)])?;
    let mut insert = connection.prepare_cached(links.insert)?;
    for (place, id) in (0_u32..).zip(&once) {
        insert.execute(params![ids::row(event), place, ids::row(*id)])?;
    }
    once.extend(had);
    once.sort_unstable();
    once.dedup();
    Ok(once)
}
