//! Putting one record: is it new, is it different, is it older than what is known?

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row};

use super::batch::Dirty;
use super::{links, write};
use crate::error::CatalogError;
use crate::ids;
use crate::record::{EventRecord, Kind, MarketRecord, Record, SeriesRecord, TagRecord};
use crate::report::{Effect, Report};

/// How much a record is believed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It came as a record of its own, or as part of the event it belongs to.
    Own,
    /// It came inside another record, possibly abridged: it must be newer to replace.
    Inside,
}

/// What is known of a record: when it changed, its text as it came, and of a market its event.
struct Known {
    updated_at: Option<i64>,
    raw: String,
    event: Option<u64>,
}

impl Known {
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

    /// Whether a record that says `updated_at` is older than this one.
    fn is_newer_than(&self, updated_at: Option<Timestamp>) -> bool {
        matches!((self.updated_at, updated_at), (Some(known), Some(new)) if new.as_microsecond() < known)
    }

    fn is_older_than(&self, updated_at: Option<Timestamp>) -> bool {
        match (self.updated_at, updated_at) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(known), Some(new)) => new.as_microsecond() > known,
        }
    }
}

fn effect(
    known: Option<&Known>,
    updated_at: Option<Timestamp>,
    raw: &str,
    standing: Standing,
) -> Effect {
    let Some(known) = known else {
        return Effect::Added;
    };
    let ignored = match standing {
        Standing::Own => known.is_newer_than(updated_at),
        Standing::Inside => !known.is_older_than(updated_at),
    };
    if ignored || known.raw == raw {
        Effect::Unchanged
    } else {
        Effect::Changed
    }
}

/// Puts a record and everything inside it.
pub(super) fn record(
    connection: &Connection,
    record: &Record,
    dirty: &mut Dirty,
    report: &mut Report,
) -> Result<(), CatalogError> {
    let mut put = Put {
        connection,
        dirty,
        report,
    };
    match record {
        Record::Event(record) => put.event(record, Standing::Own),
        Record::Market(record) => put.market_with_event(record),
        Record::Series(record) => put.series(record, Standing::Own),
        Record::Tag(record) => put.tag(record, Standing::Own),
    }
}

struct Put<'b> {
    connection: &'b Connection,
    dirty: &'b mut Dirty,
    report: &'b mut Report,
}

impl Put<'_> {
    fn event(&mut self, record: &EventRecord, standing: Standing) -> Result<(), CatalogError> {
        let known = Known::find(
            self.connection,
            "SELECT updated_at, raw, NULL FROM events JOIN event_texts USING (id) WHERE id = ?1",
            record.id,
        )?;
        let mut effect = effect(known.as_ref(), record.updated_at, &record.raw, standing);
        if effect != Effect::Unchanged {
            write::event(self.connection, record, known.is_none())?;
        }
        let believed = match standing {
            Standing::Own => !known.is_some_and(|known| known.is_newer_than(record.updated_at)),
            Standing::Inside => effect != Effect::Unchanged,
        };
        if believed && self.put_links(record)? && effect == Effect::Unchanged {
            effect = Effect::Changed;
        }
        for market in &record.markets {
            self.market(market, Some(record.id))?;
        }
        if effect != Effect::Unchanged {
            self.dirty.events.insert(record.id);
        }
        self.report.count(Kind::Event, effect);
        Ok(())
    }

    /// Puts an event's tags and series, and says whether it has others than before.
    fn put_links(&mut self, record: &EventRecord) -> Result<bool, CatalogError> {
        let mut differs = false;
        if let Some(tags) = &record.tags {
            for tag in tags {
                self.tag(tag, Standing::Inside)?;
            }
            let tags: Vec<u64> = tags.iter().map(|tag| tag.id).collect();
            let touched = links::replace(self.connection, links::TAGS, record.id, &tags)?;
            differs |= !touched.is_empty();
            self.dirty.tags.extend(touched);
        }
        if let Some(series) = &record.series {
            for series in series {
                self.series(series, Standing::Inside)?;
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
            self.event(event, Standing::Inside)?;
        }
        self.market(record, record.event.as_ref().map(|event| event.id))
    }

    /// Puts a market; without an event it keeps the one it has.
    fn market(&mut self, record: &MarketRecord, event: Option<u64>) -> Result<(), CatalogError> {
        let known = Known::find(
            self.connection,
            "SELECT updated_at, raw, event_id FROM markets JOIN market_texts USING (id) WHERE id = ?1",
            record.id,
        )?;
        let is_new = known.is_none();
        let known_event = known.as_ref().and_then(|known| known.event);
        let mut effect = effect(
            known.as_ref(),
            record.updated_at,
            &record.raw,
            Standing::Own,
        );
        let stale = known.is_some_and(|known| known.is_newer_than(record.updated_at));
        let event = event.filter(|_| !stale).or(known_event);
        if effect == Effect::Unchanged && event != known_event {
            effect = Effect::Changed;
        }
        if effect != Effect::Unchanged {
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
        self.report.count(Kind::Market, effect);
        Ok(())
    }

    fn series(&mut self, record: &SeriesRecord, standing: Standing) -> Result<(), CatalogError> {
        let query = "SELECT updated_at, raw, NULL FROM series WHERE id = ?1";
        let known = Known::find(self.connection, query, record.id)?;
        let effect = effect(known.as_ref(), record.updated_at, &record.raw, standing);
        if effect != Effect::Unchanged {
            write::series(self.connection, record)?;
            self.dirty.series.insert(record.id);
            let events = links::events_of(self.connection, links::SERIES, record.id)?;
            self.dirty.events.extend(events);
        }
        self.report.count(Kind::Series, effect);
        Ok(())
    }

    fn tag(&mut self, record: &TagRecord, standing: Standing) -> Result<(), CatalogError> {
        let query = "SELECT updated_at, raw, NULL FROM tags WHERE id = ?1";
        let known = Known::find(self.connection, query, record.id)?;
        let effect = effect(known.as_ref(), record.updated_at, &record.raw, standing);
        if effect != Effect::Unchanged {
            write::tag(self.connection, record)?;
            self.dirty.tags.insert(record.id);
            let events = links::events_of(self.connection, links::TAGS, record.id)?;
            self.dirty.events.extend(events);
        }
        self.report.count(Kind::Tag, effect);
        Ok(())
    }
}
