//! One market for a condition: which record has it, and which are hidden.

use foretell_model::ConditionId;
use rusqlite::{Connection, OptionalExtension, params};

use super::dirty_records::DirtyRecords;
use crate::error::CatalogError;
use crate::ids;

/// The shown market of a condition.
pub(super) struct Holder {
    id: u64,
    event: Option<u64>,
    pub(super) own: bool,
}

/// The shown market of a condition other than `but`.
pub(super) fn holder(
    connection: &Connection,
    condition: &ConditionId,
    but: u64,
) -> Result<Option<Holder>, CatalogError> {
    let statement = "SELECT id, event_id, own FROM markets
                     WHERE condition = ?1 AND hidden = 0 AND id <> ?2";
    found(connection, statement, condition, but)
}

/// Hides a market.
pub(super) fn hide(
    connection: &Connection,
    holder: &Holder,
    dirty: &mut DirtyRecords,
) -> Result<(), CatalogError> {
    set_hidden(connection, holder, true, dirty)
}

/// Before a market gets `next` as its condition: another record of its present one is shown.
pub(super) fn release(
    connection: &Connection,
    market: u64,
    next: Option<ConditionId>,
    dirty: &mut DirtyRecords,
) -> Result<(), CatalogError> {
    let present: Option<[u8; 32]> = connection
        .prepare_cached(
            "SELECT condition FROM markets
             WHERE id = ?1 AND hidden = 0 AND condition IS NOT NULL",
        )?
        .query_row([ids::row(market)], |row| row.get(0))
        .optional()?;
    let Some(present) = present.map(ConditionId).filter(|it| Some(*it) != next) else {
        return Ok(());
    };
    connection
        .prepare_cached("UPDATE markets SET hidden = 1 WHERE id = ?1")?
        .execute([ids::row(market)])?;
    let statement = "SELECT id, event_id, own FROM markets
                     WHERE condition = ?1 AND hidden = 1 AND id <> ?2 ORDER BY own DESC, id";
    match found(connection, statement, &present, market)? {
        Some(other) => set_hidden(connection, &other, false, dirty),
        None => Ok(()),
    }
}

fn found(
    connection: &Connection,
    statement: &str,
    condition: &ConditionId,
    but: u64,
) -> Result<Option<Holder>, CatalogError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row(params![condition.0, ids::row(but)], |row| {
            Ok(Holder {
                id: ids::of_row(row.get(0)?),
                event: row.get::<_, Option<i64>>(1)?.map(ids::of_row),
                own: row.get(2)?,
            })
        })
        .optional()?)
}

fn set_hidden(
    connection: &Connection,
    market: &Holder,
    hidden: bool,
    dirty: &mut DirtyRecords,
) -> Result<(), CatalogError> {
    connection
        .prepare_cached("UPDATE markets SET hidden = ?2 WHERE id = ?1")?
        .execute(params![ids::row(market.id), hidden])?;
    dirty.market(market.id, market.event);
    Ok(())
}
