//! One tag for a slug: a tag whose id was generated from its slug gives way to one of an upstream.

use foretell_model::limits::OWN_CATALOG_IDS;
use rusqlite::{Connection, OptionalExtension, params};

use super::dirty_records::DirtyRecords;
use super::links::{self, TAGS};
use crate::error::CatalogError;
use crate::ids;
use crate::record::TagRecord;

/// The upstream's tag with the slug of a generated one.
pub(super) fn of_slug(
    connection: &Connection,
    tag: &TagRecord,
) -> Result<Option<u64>, CatalogError> {
    if tag.id < OWN_CATALOG_IDS {
        return Ok(None);
    }
    let statement = "SELECT id FROM tags WHERE slug = ?1 AND id < ?2 ORDER BY id LIMIT 1";
    Ok(connection
        .prepare_cached(statement)?
        .query_row(params![tag.slug, ids::row(OWN_CATALOG_IDS)], |row| {
            row.get(0)
        })
        .optional()?
        .map(ids::of_row))
}

/// Puts an upstream's tag in the place of the generated one with its slug.
pub(super) fn replace_generated(
    connection: &Connection,
    tag: &TagRecord,
    dirty: &mut DirtyRecords,
) -> Result<(), CatalogError> {
    if tag.id >= OWN_CATALOG_IDS {
        return Ok(());
    }
    let generated: Option<i64> = connection
        .prepare_cached("SELECT id FROM tags WHERE slug = ?1 AND id >= ?2")?
        .query_row(params![tag.slug, ids::row(OWN_CATALOG_IDS)], |row| {
            row.get(0)
        })
        .optional()?;
    let Some(generated) = generated.map(ids::of_row) else {
        return Ok(());
    };
    for event in links::events_of(connection, TAGS, generated)? {
        let tags = links::of_event(connection, TAGS, event)?;
        let renamed = |id| if id == generated { tag.id } else { id };
        let tags: Vec<u64> = tags.into_iter().map(renamed).collect();
        links::replace(connection, TAGS, event, &tags)?;
        dirty.events.insert(event);
    }
    connection
        .prepare_cached("DELETE FROM tags WHERE id = ?1")?
        .execute([ids::row(generated)])?;
    Ok(())
}
