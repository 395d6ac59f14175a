//! Stores one record, depending on whether it is new, different, or older than the stored one.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Map, Value};

use super::dirty_records::DirtyRecords;
use super::{conditions, links, tags, write};
use crate::error::CatalogError;
use crate::ids;
use crate::record::{
    EventRecord, MarketRecord, ParsedRecord, Record, RecordKind, SUPERSEDED_BY, SeriesRecord, Skip,
    SkipReason, TagRecord, read,
};
use crate::report::{PutEffect, Report};

/// Origin of a record, which decides when and how it may replace the stored one.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    dates: Dates,
    /// Part of another record, possibly abridged: fields that it lacks keep their stored values.
    is_part: bool,
}

/// The `updatedAt` that a record needs to replace the stored one.
#[derive(Clone, Copy)]
enum Dates {
    /// Any: the record is what the upstream has now.
    Any,
    /// None, or one that is not older.
    NotOlder,
    /// A newer one.
    Newer,
}

impl Origin {
    /// A record of its own, of unknown age.
    pub(super) const WHOLE: Self = Self {
        dates: Dates::NotOlder,
        is_part: false,
    };
    /// A record of its own that the upstream has now, whatever its date.
    pub(super) const CURRENT: Self = Self {
        dates: Dates::Any,
        is_part: false,
    };
    /// A record inside another that it does not belong to.
    const INSIDE: Self = Self {
        dates: Dates::Newer,
        is_part: true,
    };

    /// A market in the record of its event.
    const fn of_market_inside(self) -> Self {
        Self {
            is_part: true,
            ..self
        }
    }
}

/// The stored version: its time of change, its original text, for a market its event, and whether it is
/// an operator's own.
struct StoredVersion {
    updated_at: Option<i64>,
    raw: String,
    event: Option<u64>,
    own: bool,
}

impl StoredVersion {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            updated_at: row.get(0)?,
            raw: row.get(1)?,
            event: row.get::<_, Option<i64>>(2)?.map(ids::of_row),
            own: row.get(3)?,
        })
    }

    fn find(connection: &Connection, query: &str, id: u64) -> Result<Option<Self>, CatalogError> {
        Ok(connection
            .prepare_cached(query)?
            .query_row([ids::row(id)], Self::of_row)
            .optional()?)
    }

    /// Whether a record with this `updated_at` is older than the stored one.
    fn is_newer_than(&self, updated_at: Option<Timestamp>) -> bool {
        matches!((self.updated_at, updated_at), (Some(stored), Some(new)) if new.as_microsecond() < stored)
    }

    fn is_older_than(&self, updated_at: Option<Timestamp>) -> bool {
        match (self.updated_at, updated_at) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(stored), Some(new)) => new.as_microsecond() > stored,
        }
    }
}

fn effect(
    stored: Option<&StoredVersion>,
    updated_at: Option<Timestamp>,
    raw: &str,
    origin: Origin,
) -> PutEffect {
    let Some(stored) = stored else {
        return PutEffect::Added;
    };
    let ignored = match origin.dates {
        Dates::Any => false,
        Dates::NotOlder => stored.is_newer_than(updated_at),
        Dates::Newer => !stored.is_older_than(updated_at),
    };
    if ignored || stored.raw == raw {
        PutEffect::Unchanged
    } else {
        PutEffect::Changed
    }
}

/// A part with the stored values of the fields that it lacks, or leaves empty; `None` when it stands
/// as it is.
fn completed(
    kind: RecordKind,
    raw: &str,
    stored: Option<&StoredVersion>,
    origin: Origin,
) -> Option<Record> {
    let stored = stored.filter(|stored| origin.is_part && stored.raw != raw)?;
    let mut fields: Map<String, Value> = serde_json::from_str(&stored.raw).ok()?;
    let part: Map<String, Value> = serde_json::from_str(raw).ok()?;
    let is_given = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(entries) => !entries.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    };
    let given = part.into_iter();
    fields.extend(given.filter(|(name, value)| name != "id" && is_given(value)));
    let json = serde_json::to_vec(&fields).ok()?;
    read(Some(kind), &json).ok().map(|read| read.record)
}

/// The record of a market that the upstream gives under the id `by` now, without what makes it tradable;
/// `None` if there is no such market.
pub(super) fn superseded(
    connection: &Connection,
    market: u64,
    by: u64,
) -> Result<Option<ParsedRecord>, CatalogError> {
    let query = "SELECT NULL, raw, NULL, 0 FROM market_texts WHERE id = ?1";
    let stored = StoredVersion::find(connection, query, market)?;
    let fields = stored.and_then(|stored| serde_json::from_str(&stored.raw).ok());
    let Some(mut fields): Option<Map<String, Value>> = fields else {
        return Ok(None);
    };
    for name in ["conditionId", "clobTokenIds"] {
        fields.remove(name);
    }
    fields.insert(SUPERSEDED_BY.to_owned(), by.into());
    for (name, flag) in [("active", false), ("closed", true), ("archived", true)] {
        fields.insert(name.to_owned(), flag.into());
    }
    let json = serde_json::to_vec(&fields).expect("keys are texts");
    Ok(read(Some(RecordKind::Market), &json).ok())
}

/// Stores a record and all records inside it; `own` is one of the operator's own.
pub(super) fn record(
    connection: &Connection,
    record: &Record,
    (origin, own): (Origin, bool),
    dirty: &mut DirtyRecords,
    report: &mut Report,
) -> Result<(), CatalogError> {
    let mut put = Put {
        connection,
        own,
        dirty,
        report,
    };
    match record {
        Record::Event(record) => put.event(record, origin),
        Record::Market(record) => put.market_with_event(record, origin),
        Record::Series(record) => put.series(record, origin),
        Record::Tag(record) => put.tag(record, origin).map(|_| ()),
    }
}

struct Put<'b> {
    connection: &'b Connection,
    own: bool,
    dirty: &'b mut DirtyRecords,
    report: &'b mut Report,
}

impl Put<'_> {
    fn event(&mut self, record: &EventRecord, origin: Origin) -> Result<(), CatalogError> {
        let stored = StoredVersion::find(
            self.connection,
            "SELECT updated_at, raw, NULL, own FROM events JOIN event_texts USING (id) WHERE id = ?1",
            record.id,
        )?;
        if !self.may_replace(RecordKind::Event, record.id, stored.as_ref()) {
            return Ok(());
        }
        let same = stored.as_ref().filter(|stored| stored.own == self.own);
        let whole = completed(RecordKind::Event, &record.raw, same, origin);
        let written = match &whole {
            Some(Record::Event(whole)) => whole,
            _ => record,
        };
        let mut effect = effect(same, record.updated_at, &written.raw, origin);
        if effect != PutEffect::Unchanged {
            write::event(self.connection, written, self.own, stored.is_none())?;
        }
        let is_trusted = match origin.dates {
            Dates::Any => true,
            Dates::NotOlder => !same.is_some_and(|same| same.is_newer_than(record.updated_at)),
            Dates::Newer => effect != PutEffect::Unchanged,
        };
        if is_trusted && self.put_links(record, origin)? && effect == PutEffect::Unchanged {
            effect = PutEffect::Changed;
        }
        let is_full = is_trusted && !origin.is_part && record.has_all_markets;
        if is_full
            && write::full_record(self.connection, record.id)?
            && effect == PutEffect::Unchanged
        {
            effect = PutEffect::Changed;
        }
        for market in &record.markets {
            self.market(market, Some(record.id), origin.of_market_inside())?;
        }
        if effect != PutEffect::Unchanged {
            self.dirty.events.insert(record.id);
        }
        self.report.count(RecordKind::Event, effect);
        Ok(())
    }

    /// Stores an event's tags and series; returns whether they changed.
    fn put_links(&mut self, record: &EventRecord, origin: Origin) -> Result<bool, CatalogError> {
        let tags = match &record.tags {
            Some(tags) => {
                let tags = tags.iter().map(|tag| self.tag(tag, Origin::INSIDE));
                Some(tags.collect::<Result<Vec<u64>, _>>()?)
            }
            None => None,
        };
        for series in record.series.iter().flatten() {
            self.series(series, Origin::INSIDE)?;
        }
        let tags = self.link(links::TAGS, record.id, tags, origin)?;
        let series = record.series.iter().flatten().map(|series| series.id);
        let series = record.series.as_ref().map(|_| series.collect());
        let series = self.link(links::SERIES, record.id, series, origin)?;
        let changed = !tags.is_empty() || !series.is_empty();
        self.dirty.tags.extend(tags);
        Ok(changed)
    }

    /// Replaces the links of an event by `ids`, if there are any; a part replaces none. Returns
    /// what was linked anew or no longer is.
    fn link(
        &self,
        links: links::Links,
        event: u64,
        ids: Option<Vec<u64>>,
        origin: Origin,
    ) -> Result<Vec<u64>, CatalogError> {
        let Some(ids) = ids else {
            return Ok(Vec::new());
        };
        if origin.is_part && !links::of_event(self.connection, links, event)?.is_empty() {
            return Ok(Vec::new());
        }
        links::replace(self.connection, links, event, &ids)
    }

    fn market_with_event(
        &mut self,
        record: &MarketRecord,
        origin: Origin,
    ) -> Result<(), CatalogError> {
        if let Some(event) = &record.event {
            self.event(event, Origin::INSIDE)?;
        }
        let event = record.event.as_ref().map(|event| event.id);
        self.market(record, event, origin)
    }

    /// Stores a market; without `event` it keeps its stored event.
    fn market(
        &mut self,
        record: &MarketRecord,
        event: Option<u64>,
        origin: Origin,
    ) -> Result<(), CatalogError> {
        let stored = StoredVersion::find(
            self.connection,
            "SELECT updated_at, raw, event_id, own FROM markets JOIN market_texts USING (id) WHERE id = ?1",
            record.id,
        )?;
        if !self.may_replace(RecordKind::Market, record.id, stored.as_ref()) {
            return Ok(());
        }
        let is_new = stored.is_none();
        let known_event = stored.as_ref().and_then(|stored| stored.event);
        // An own record is neither older than another one nor equal to it.
        let same = stored.as_ref().filter(|stored| stored.own == self.own);
        let whole = completed(RecordKind::Market, &record.raw, same, origin);
        let written = match &whole {
            Some(Record::Market(whole)) => whole,
            _ => record,
        };
        let mut effect = effect(same, record.updated_at, &written.raw, origin);
        let is_stale = matches!(origin.dates, Dates::NotOlder)
            && same.is_some_and(|same| same.is_newer_than(record.updated_at));
        let event = match event {
            Some(event) if self.may_join(event)? => Some(event),
            _ => None,
        };
        let event = event.filter(|_| !is_stale).or(known_event);
        if effect == PutEffect::Unchanged && event != known_event {
            effect = PutEffect::Changed;
        }
        if effect != PutEffect::Unchanged {
            self.write_market(written, event, is_new)?;
            self.dirty.events.extend(known_event);
            self.dirty.market(record.id, event);
            if let Some(reason) = written.obstacle() {
                self.report.not_traded(record.id, reason);
            }
        }
        self.report.count(RecordKind::Market, effect);
        Ok(())
    }

    fn series(&mut self, record: &SeriesRecord, origin: Origin) -> Result<(), CatalogError> {
        let query = "SELECT updated_at, raw, NULL, 0 FROM series WHERE id = ?1";
        let stored = StoredVersion::find(self.connection, query, record.id)?;
        let whole = completed(RecordKind::Series, &record.raw, stored.as_ref(), origin);
        let written = match &whole {
            Some(Record::Series(whole)) => whole,
            _ => record,
        };
        let effect = effect(stored.as_ref(), record.updated_at, &written.raw, origin);
        if effect != PutEffect::Unchanged {
            write::series(self.connection, written)?;
            let events = links::events_of(self.connection, links::SERIES, record.id)?;
            self.dirty.events.extend(events);
        }
        self.report.count(RecordKind::Series, effect);
        Ok(())
    }

    /// Stores a tag; returns the id of the tag that has its slug.
    fn tag(&mut self, record: &TagRecord, origin: Origin) -> Result<u64, CatalogError> {
        if let Some(known) = tags::of_slug(self.connection, record)? {
            return Ok(known);
        }
        let query = "SELECT updated_at, raw, NULL, 0 FROM tags WHERE id = ?1";
        let stored = StoredVersion::find(self.connection, query, record.id)?;
        let whole = completed(RecordKind::Tag, &record.raw, stored.as_ref(), origin);
        let written = match &whole {
            Some(Record::Tag(whole)) => whole,
            _ => record,
        };
        let effect = effect(stored.as_ref(), record.updated_at, &written.raw, origin);
        if effect != PutEffect::Unchanged {
            write::tag(self.connection, written)?;
            self.dirty.tags.insert(record.id);
            let events = links::events_of(self.connection, links::TAGS, record.id)?;
            self.dirty.events.extend(events);
            tags::replace_generated(self.connection, record, self.dirty)?;
        }
        self.report.count(RecordKind::Tag, effect);
        Ok(record.id)
    }

    /// Whether this record may replace the stored one: no other record replaces an own one.
    fn may_replace(&mut self, kind: RecordKind, id: u64, stored: Option<&StoredVersion>) -> bool {
        let is_refused = !self.own && stored.is_some_and(|stored| stored.own);
        if is_refused {
            self.report.skip(Skip {
                kind: Some(kind),
                id: id.to_string(),
                reason: SkipReason::OwnId(id),
            });
        }
        !is_refused
    }

    /// Whether a market may be in an event: others do not join own ones.
    fn may_join(&self, event: u64) -> Result<bool, CatalogError> {
        let own: Option<bool> = self
            .connection
            .prepare_cached("SELECT own FROM events WHERE id = ?1")?
            .query_row([ids::row(event)], |row| row.get(0))
            .optional()?;
        Ok(self.own || own != Some(true))
    }

    /// Writes a market and decides who has its condition.
    fn write_market(
        &mut self,
        record: &MarketRecord,
        event: Option<u64>,
        is_new: bool,
    ) -> Result<(), CatalogError> {
        let condition = ids::condition(&record.condition_id);
        let (connection, own) = (self.connection, self.own);
        conditions::release(connection, record.id, condition, self.dirty)?;
        let holder =
            condition.map(|condition| conditions::holder(connection, &condition, record.id));
        let hidden = match holder.transpose()?.flatten() {
            Some(holder) if own && !holder.own => {
                conditions::hide(connection, &holder, self.dirty)?;
                false
            }
            holder => holder.is_some(),
        };
        let place = write::MarketPlace { event, own, hidden };
        write::market(connection, record, place, is_new)
    }
}
