//! Stores one record, depending on whether it is new, different, or older than the stored one.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::dirty_records::DirtyRecords;
use super::{links, write};
use crate::error::CatalogError;
use crate::ids;
use crate::record::{EventRecord, MarketRecord, Record, RecordKind, SeriesRecord, TagRecord};
use crate::report::{PutEffect, Report};

/// Origin of a record, which decides when it may replace the stored one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Provenance {
    /// A record of its own, or part of the event it belongs to.
    Own,
    /// Part of another record, possibly abridged: replaces the stored one only when newer.
    Inside,
}

/// The stored version: its time of change, its original text and, for a market, its event.
struct StoredVersion {
    updated_at: Option<i64>,
    raw: String,
    event: Option<u64>,
}

impl StoredVersion {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            updated_at: row.get(0)?,
            raw: row.get(1)?,
            event: row.get::<_, Option<i64>>(2)?.map(ids::of_row),
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

/// Stores a record and all records inside it.
pub(super) fn record(
    connection: &Connection,
    record: &Record,
    dirty: &mut DirtyRecords,
    report: &mut Report,
) -> Result<(), CatalogError> {
    let mut put = Put {
        connection,
        dirty,
        report,
    };
    match record {
        Record::Event(record) => put.event(record, Provenance::Own),
        Record::Market(record) => put.market_with_event(record),
        Record::Series(record) => put.series(record, Provenance::Own),
        Record::Tag(record) => put.tag(record, Provenance::Own),
    }
}

struct Put<'b> {
    connection: &'b Connection,
    dirty: &'b mut DirtyRecords,
    report: &'b mut Report,
}

impl Put<'_> {
    fn event(&mut self, record: &EventRecord, provenance: Provenance) -> Result<(), CatalogError> {
        let stored = StoredVersion::find(
            self.connection,
            "SELECT updated_at, raw, NULL FROM events JOIN event_texts USING (id) WHERE id = ?1",
            record.id,
        )?;
        let mut effect = effect(stored.as_ref(), record.updated_at, &record.raw, provenance);
        if effect != PutEffect::Unchanged {
            write::event(self.connection, record, stored.is_none())?;
        }
        let trusted = match provenance {
            Provenance::Own => {
                !stored.is_some_and(|stored| stored.is_newer_than(record.updated_at))
            }
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
            for tag in tags {
                self.tag(tag, Provenance::Inside)?;
            }
            let tags: Vec<u64> = tags.iter().map(|tag| tag.id).collect();
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
            self.dirty.series.extend(touched);
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
            "SELECT updated_at, raw, event_id FROM markets JOIN market_texts USING (id) WHERE id = ?1",
            record.id,
        )?;
        let is_new = stored.is_none();
        let known_event = stored.as_ref().and_then(|stored| stored.event);
        let mut effect = effect(
            stored.as_ref(),
            record.updated_at,
            &record.raw,
            Provenance::Own,
        );
        let stale = stored.is_some_and(|stored| stored.is_newer_than(record.updated_at));
        let event = event.filter(|_| !stale).or(known_event);
        if effect == PutEffect::Unchanged && event != known_event {
            effect = PutEffect::Changed;
        }
        if effect != PutEffect::Unchanged {
            write::market(self.connection, record, event, is_new)?;
            self.dirty
                .events
                .extend(known_event.into_iter().chain(event));
            if event.is_none() {
                self.dirty.lone_markets.insert(record.id);
            }
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
        let query = "SELECT updated_at, raw, NULL FROM series WHERE id = ?1";
        let stored = StoredVersion::find(self.connection, query, record.id)?;
        let effect = effect(stored.as_ref(), record.updated_at, &record.raw, provenance);
        if effect != PutEffect::Unchanged {
            write::series(self.connection, record)?;
            self.dirty.series.insert(record.id);
            let events = links::events_of(self.connection, links::SERIES, record.id)?;
            self.dirty.events.extend(events);
        }
        self.report.count(RecordKind::Series, effect);
        Ok(())
    }

    fn tag(&mut self, record: &TagRecord, provenance: Provenance) -> Result<(), CatalogError> {
        let query = "SELECT updated_at, raw, NULL FROM tags WHERE id = ?1";
        let stored = StoredVersion::find(self.connection, query, record.id)?;
        let effect = effect(stored.as_ref(), record.updated_at, &record.raw, provenance);
        if effect != PutEffect::Unchanged {
            write::tag(self.connection, record)?;
            self.dirty.tags.insert(record.id);
            let events = links::events_of(self.connection, links::TAGS, record.id)?;
            self.dirty.events.extend(events);
        }
        self.report.count(RecordKind::Tag, effect);
        Ok(())
    }
}
