//! Writes the rows of one record.
//!
//! The caller has checked whether the record exists: a new record is inserted, an existing one
//! updated. An upsert, or a statement that may touch several rows and fail, makes SQLite journal
//! every page before its change and flushes the search index's buffer. Avoiding that saves a third
//! of an import's time.

use jiff::Timestamp;
use rusqlite::{Connection, Params, params};

use crate::error::CatalogError;
use crate::record::{EventRecord, MarketRecord, SeriesRecord, TagRecord, token_texts};
use crate::search_text::normalised;
use crate::{ids, render};

/// An insert and an update statement with the same parameters.
struct Row {
    insert: &'static str,
    update: &'static str,
}

impl Row {
    fn write(
        &self,
        connection: &Connection,
        is_new: bool,
        values: impl Params,
    ) -> Result<(), CatalogError> {
        let statement = if is_new { self.insert } else { self.update };
        connection.prepare_cached(statement)?.execute(values)?;
        Ok(())
    }
}

const EVENT: Row = Row {
    insert: "INSERT INTO events VALUES
               (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 0,
                ?15, ?16, ?17, ?18, ?19, ?20, 0, 0)",
    update: "UPDATE events SET slug = ?2, title = ?3, start_date = ?4, end_date = ?5,
               creation_date = ?6, created_at = ?7, updated_at = ?8, volume = ?9, liquidity = ?10,
               active = ?11, closed = ?12, archived = ?13, creator = ?14,
               featured = ?15, cyom = ?16, volume_24hr = ?17, competitive = ?18, game_id = ?19,
               own = ?20
             WHERE id = ?1",
};
const EVENT_TEXTS: Row = Row {
    insert: "INSERT INTO event_texts VALUES (?1, ?2, ?3, '', ?4, ?5, ?6)",
    update: "UPDATE event_texts SET short = ?2, base = ?3, metadata = ?4, raw = ?5, trading = ?6
             WHERE id = ?1",
};
const MARKET: Row = Row {
    insert: "INSERT INTO markets VALUES
               (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 0,
                ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)",
    update: "UPDATE markets SET event_id = ?2, slug = ?3, question = ?4, condition = ?5,
               start_date = ?6, end_date = ?7, created_at = ?8, updated_at = ?9, volume = ?10,
               liquidity = ?11, active = ?12, closed = ?13, archived = ?14, creator = ?15,
               featured = ?16, cyom = ?17, volume_24hr = ?18, competitive = ?19,
               rewards_min_size = ?20, question_id = ?21, market_maker = ?22, game_id = ?23,
               sports_type = ?24, uma_status = ?25, own = ?26, hidden = ?27
             WHERE id = ?1",
};
const MARKET_TEXTS: Row = Row {
    insert: "INSERT INTO market_texts VALUES (?1, ?2, ?3, ?4)",
    update: "UPDATE market_texts SET json = ?2, raw = ?3, trading = ?4 WHERE id = ?1",
};

/// Writes an event; the end of the batch renders the complete event.
pub(super) fn event(
    connection: &Connection,
    record: &EventRecord,
    own: bool,
    is_new: bool,
) -> Result<(), CatalogError> {
    let values = params![
        ids::row(record.id),
        record.slug,
        record.title,
        micros(record.start_date),
        micros(record.end_date),
        micros(record.creation_date),
        micros(record.created_at),
        micros(record.updated_at),
        record.volume,
        record.liquidity,
        record.flags.active,
        record.flags.closed,
        record.flags.archived,
        record.creator.map(|creator| creator.0),
        record.featured,
        record.cyom,
        record.volume_24hr,
        record.competitive,
        record.game_id,
        own,
    ];
    EVENT.write(connection, is_new, values)?;
    let metadata = serde_json::to_string(&record.metadata).expect("keys are texts");
    let full = render::full_event(record);
    let texts = params![
        ids::row(record.id),
        render::short_event(record),
        full.json,
        metadata,
        record.raw,
        full.trading,
    ];
    EVENT_TEXTS.write(connection, is_new, texts)
}

/// Notes that an event came as a record of its own with its markets; returns whether that is new.
pub(super) fn full_record(connection: &Connection, event: u64) -> Result<bool, CatalogError> {
    let mut statement = connection
        .prepare_cached("UPDATE events SET full_record = 1 WHERE id = ?1 AND full_record = 0")?;
    Ok(statement.execute([ids::row(event)])? > 0)
}

/// Where a market's row belongs.
#[derive(Clone, Copy)]
pub(super) struct MarketPlace {
    pub(super) event: Option<u64>,
    pub(super) own: bool,
    /// Whether another record has its condition.
    pub(super) hidden: bool,
}

/// Writes a market, with or without an event.
pub(super) fn market(
    connection: &Connection,
    record: &MarketRecord,
    place: MarketPlace,
    is_new: bool,
) -> Result<(), CatalogError> {
    let id = ids::row(record.id);
    let values = params![
        id,
        place.event.map(ids::row),
        record.slug,
        record.question,
        ids::condition(&record.condition_id).map(|condition| condition.0),
        micros(record.start_date),
        micros(record.end_date),
        micros(record.created_at),
        micros(record.updated_at),
        record.volume,
        record.liquidity,
        record.flags.active,
        record.flags.closed,
        record.flags.archived,
        record.creator.map(|creator| creator.0),
        record.featured,
        record.cyom,
        record.volume_24hr,
        record.competitive,
        record.rewards_min_size,
        record.question_id.to_ascii_lowercase(),
        record.market_maker.to_ascii_lowercase(),
        record.game_id,
        record.sports_type,
        record.uma_status,
        place.own,
        place.hidden,
    ];
    MARKET.write(connection, is_new, values)?;
    let rendered = render::market(record);
    let texts = params![id, rendered.json, record.raw, rendered.trading];
    MARKET_TEXTS.write(connection, is_new, texts)?;
    if !is_new {
        connection
            .prepare_cached("DELETE FROM market_tokens WHERE market_id = ?1")?
            .execute([id])?;
    }
    let mut insert =
        connection.prepare_cached("INSERT OR IGNORE INTO market_tokens VALUES (?1, ?2)")?;
    for token in token_texts(&record.clob_token_ids) {
        insert.execute(params![token, id])?;
    }
    Ok(())
}

/// Upserts a series; series are few.
pub(super) fn series(connection: &Connection, record: &SeriesRecord) -> Result<(), CatalogError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO series VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            ids::row(record.id),
            record.slug,
            micros(record.updated_at),
            render::series(record),
            record.raw,
        ])?;
    Ok(())
}

/// Upserts a tag; tags are few.
pub(super) fn tag(connection: &Connection, record: &TagRecord) -> Result<(), CatalogError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO tags VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7)")?
        .execute(params![
            ids::row(record.id),
            record.slug,
            record.label,
            normalised(&record.label),
            micros(record.updated_at),
            render::tag(record),
            record.raw,
        ])?;
    Ok(())
}

fn micros(instant: Option<Timestamp>) -> Option<i64> {
    instant.map(Timestamp::as_microsecond)
}
