//! Own markets and profiles in the catalog: their records follow from the view, so that the catalog of
//! any host can be derived from the journal and the upstream.

pub(crate) mod identity;
pub(crate) mod ids;
mod profiles;
mod records;

use std::collections::{BTreeSet, HashMap};

use foretell_catalog::record::{RecordKind, read};
use foretell_catalog::{CatalogError, Writer};
use foretell_model::{EventNumber, MarketNumber, Sequence};
use foretell_view::{EventGroup, Market, View};
use foretell_wire::operator::registered_market_id;
use parking_lot::Mutex;
use serde_json::Value;

use crate::catalog::catalog_pool::CatalogPool;
use crate::view::shared_view::SharedView;
use profiles::changed_profiles;
use records::{group_event, plain_event};

/// Whether the operator owns the words of a market: it has no id of an upstream's catalog.
pub(crate) fn is_own(market: &Market) -> bool {
    registered_market_id(&market.description) == 0
}

/// The writer of own records, on a gateway with the operator surface.
#[derive(Default)]
pub(crate) struct OwnCatalog {
    progress: Mutex<Progress>,
}

/// What the catalog has of the view.
#[derive(Default)]
struct Progress {
    writer: Option<Writer>,
    /// Changes up to here are written.
    written: Sequence,
    /// Words of the event groups as written.
    groups: HashMap<EventNumber, Box<[u8]>>,
}

impl Progress {
    fn writer(&mut self, pool: &CatalogPool) -> Result<&mut Writer, CatalogError> {
        Ok(match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::open(pool.file())?),
        })
    }
}

impl OwnCatalog {
    /// Writes every own record that changed since the last call. Blocks.
    ///
    /// # Errors
    /// The catalog cannot be written; the next call writes the same records.
    pub(crate) fn write(
        &self,
        shared_view: &SharedView,
        pool: &CatalogPool,
    ) -> Result<(), CatalogError> {
        let mut progress = self.progress.lock();
        let (records, profiles, sequence, groups) = {
            let state = shared_view.read();
            let view = &state.view;
            let groups = changed_groups(view, &progress);
            let records = changed_records(view, &progress, &groups);
            let profiles = changed_profiles(view, progress.written);
            (records, profiles, view.sequence(), groups)
        };
        if !records.is_empty() {
            put(progress.writer(pool)?, &records)?;
        }
        if !profiles.is_empty() {
            profiles::put(progress.writer(pool)?, pool, &profiles)?;
        }
        progress.written = sequence;
        progress.groups.extend(groups);
        Ok(())
    }
}

fn put(writer: &mut Writer, records: &[Value]) -> Result<(), CatalogError> {
    let mut batch = writer.begin()?;
    for record in records {
        match read(Some(RecordKind::Event), record.to_string().as_bytes()) {
            Ok(record) => batch.put_own(&record)?,
            Err(skip) => batch.skip(skip),
        }
    }
    batch.commit()?;
    Ok(())
}

/// Own event groups whose words differ from the written ones.
fn changed_groups(view: &View, progress: &Progress) -> HashMap<EventNumber, Box<[u8]>> {
    let changed = view.events().iter().filter(|(number, group)| {
        progress.groups.get(number) != Some(&group.description) && is_own_group(view, group)
    });
    changed
        .map(|(number, group)| (number, group.description.clone()))
        .collect()
}

/// A group belongs to the operator when it has questions, and all of them do.
fn is_own_group(view: &View, group: &EventGroup) -> bool {
    let own = |number: &MarketNumber| view.markets().get(*number).is_some_and(is_own);
    !group.questions.is_empty() && group.questions.iter().all(own)
}

/// A record for each event with an own market that changed.
fn changed_records(
    view: &View,
    progress: &Progress,
    groups: &HashMap<EventNumber, Box<[u8]>>,
) -> Vec<Value> {
    let mut events: BTreeSet<EventNumber> = groups.keys().copied().collect();
    let mut records = Vec::new();
    let changed = view
        .markets()
        .iter()
        .filter(|(_, market)| market.changed > progress.written && is_own(market));
    for (number, market) in changed {
        match market.question {
            Some((event, _)) => {
                events.insert(event);
            }
            None => records.push(plain_event(view, number, market)),
        }
    }
    let group = |number| view.events().get(number);
    let own = events.into_iter().filter_map(group);
    records.extend(
        own.filter(|it| is_own_group(view, it))
            .map(|it| group_event(view, it)),
    );
    records
}
