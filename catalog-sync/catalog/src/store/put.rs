//! Stores one record, depending on whether it is new, different, or older than the stored one.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::dirty_records::DirtyRecords;
use super::{conditions, links, tags, write};
use crate::error::CatalogError;
use crate::ids;
use crate::record::{
    EventRecord, MarketRecord, Record, RecordKind, SeriesRecord, Skip, SkipReason, TagRecord,
};
use crate::report::{PutEffect, Report};

/// Origin of a record, which decides when it may replace the stored one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Provenance {
    /// A record of its own, or part of the event it belongs to.
    Own,
    /// Part of another record, possibly abridged: replaces the stored one only when newer.
    Inside,
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
    provenance: Provenance,
) -> PutEffect {
    let Some(stored) = stored else {
        return PutEffect::Added;
    };
    let ignored = match provenance {
        Provenance::Own => stored.is_newer_than(updated_at),
        Provenance::Inside => !stored.is_older_than(updated_at),
    };
    if ignored || stored.raw == raw {
        PutEffect::Unchanged
    } else {
        PutEffect::Changed
    }
}

/// Stores a record and all records inside it; `own` is one of the operator's own.
pub(super) fn record(
    connection: &Connection,
    record: &Record,
    own: bool,
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
        Record::Event(record) => put.event(record, Provenance::Own),
        Record::Market(record) => put.market_with_event(record),
        Record::Series(record) => put.series(record, Provenance::Own),
        Record::Tag(record) => put.tag(record, Provenance::Own).map(|_| ()),
    }
}

struct Put<'b> {
    connection: &'b Connection,
    own: bool,
    dirty: &'b mut DirtyRecords,
    report: &'b mut Report,
}

impl Put<'_> {
    fn event(&mut self, record: &EventRecord, provenance: Provenance) -> Result<(), CatalogError> {
        let stored = StoredVersion::find(
            self.connection,
            "SELECT updated_at, raw, NULL, own FROM events JOIN event_texts USING (id) WHERE id = ?1",
            record.id,
        )?;
        if !self.may_replace(RecordKind::Event, record.id, stored.as_ref()) {
            return Ok(());
        }
        let same = stored.as_ref().filter(|stored| stored.own == self.own);
        let mut effect = effect(same, record.updated_at, &record.raw, provenance);
        if effect != PutEffect::Unchanged {
            write::event(self.connection, record, self.own, stored.is_none())?;
        }
        let trusted = match provenance {
            Provenance::Own => !same.is_some_and(|same| same.is_newer_than(record.updated_at)),
            Provenance::Inside => effect != PutEffect::Unchanged,
        };
        if trusted && self.put_links(record)? && effect == PutEffect::Unchanged {
            effect = PutEffect::Changed;
        }
        for market in &record.markets {
            self.market(market, Some(record.id))?;
        }
        if effect != PutEffect::Unchanged {
            self.dirty.events.insert(record.id);
        }
        self.report.count(RecordKind::Event, effect);
        Ok(())
    }

    /// Stores an event's tags and series; returns whether they changed.
    fn put_links(&mut self, record: &EventRecord) -> Result<bool, CatalogError> {
        let mut differs = false;
        if let Some(tags) = &record.tags {
            let tags = tags.iter().map(|tag| self.tag(tag, Provenance::Inside));
            let tags: Vec<u64> = tags.collect::<Result<_, _>>()?;
            let touched = links::replace(self.connection, links::TAGS, record.id, &tags)?;
            differs |= !touched.is_empty();
            self.dirty.tags.extend(touched);
        }
        if let Some(series) = &record.series {
            for series in series {
                self.series(series, Provenance::Inside)?;
            }
            let series: Vec<u64> = series.iter().map(|series| series.id).collect();
            let touched = links::replace(self.connection, links::SERIES, record.id, &series)?;
            differs |= !touched.is_empty();
        }
        Ok(differs)
    }

    fn market_with_event(&mut self, record: &MarketRecord) -> Result<(), CatalogError> {
        if let Some(event) = &record.event {
            self.event(event, Provenance::Inside)?;
        }
        self.market(record, record.event.as_ref().map(|event| event.id))
    }

    /// Stores a market; without `event` it keeps its stored event.
    fn market(&mut self, record: &MarketRecord, event: Option<u64>) -> Result<(), CatalogError> {
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
        let mut effect = effect(same, record.updated_at, &record.raw, Provenance::Own);
        let stale = same.is_some_and(|same| same.is_newer_than(record.updated_at));
        let event = match event {
            Some(event) if self.may_join(event)? => Some(event),
            _ => None,
        };
        let event = event.filter(|_| !stale).or(known_event);
        if effect == PutEffect::Unchanged && event != known_event {
            effect = PutEffect::Changed;
        }
        if effect != PutEffect::Unchanged {
            self.write_market(record, event, is_new)?;
            self.dirty.events.extend(known_event);
            self.dirty.market(record.id, event);
            if let Err(reason) = &record.terms {
                self.report.not_traded(record.id, reason);
            }
        }
        self.report.count(RecordKind::Market, effect);
        Ok(())
    }

    fn series(
        &mut self,
        record: &SeriesRecord,
        provenance: Provenance,
    ) -> Result<(), CatalogError> {
        let query = "SELECT updated_at, raw, NULL, 0 FROM series WHERE id = ?1";
        let stored = StoredVersion::find(self.connection, query, record.id)?;
        let effect = effect(stored.as_ref(), record.updated_at, &record.raw, provenance);
        if effect != PutEffect::Unchanged {
            write::series(self.connection, record)?;
            let events = links::events_of(self.connection, links::SERIES, record.id)?;
            self.dirty.events.extend(events);
        }
        self.report.count(RecordKind::Series, effect);
        Ok(())
    }

    /// Stores a tag; returns the id of the tag that has its slug.
    fn tag(&mut self, record: &TagRecord, provenance: Provenance) -> Result<u64, CatalogError> {
        if let Some(known) = tags::of_slug(self.connection, record)? {
            return Ok(known);
        }
        let query = "SELECT updated_at, raw, NULL, 0 FROM tags WHERE id = ?1";
        let stored = StoredVersion::find(self.connection, query, record.id)?;
        let effect = effect(stored.as_ref(), record.updated_at, &record.raw, provenance);
        if effect != PutEffect::Unchanged {
            write::tag(self.connection, record)?;
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
