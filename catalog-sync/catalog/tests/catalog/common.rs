//! A catalog in a temporary directory, and records to store in it.

use foretell_catalog::record::read;
use foretell_catalog::{Catalog, CatalogError, Report, Sites, Writer};
use foretell_wire::read::query::Query;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Shelf {
    pub(crate) writer: Writer,
    pub(crate) catalog: Catalog,
    pub(crate) directory: TempDir,
}

impl Shelf {
    pub(crate) fn new(records: &[Value]) -> Self {
        Self::with_sites(records, Sites::new())
    }

    pub(crate) fn with_sites(records: &[Value], sites: Sites) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("catalog.db");
        let writer = Writer::open(&path).unwrap();
        let catalog = Catalog::open(&path, sites).unwrap();
        let mut shelf = Self {
            writer,
            catalog,
            directory,
        };
        shelf.put(records);
        shelf
    }

    /// Stores records that the upstream has now in one batch.
    pub(crate) fn put_current(&mut self, records: &[Value]) -> Report {
        let mut batch = self.writer.begin().unwrap();
        for record in records {
            let read = read(None, record.to_string().as_bytes()).unwrap();
            batch.put_current(&read).unwrap();
        }
        batch.commit().unwrap()
    }

    /// Stores records in one batch.
    pub(crate) fn put(&mut self, records: &[Value]) -> Report {
        let mut batch = self.writer.begin().unwrap();
        for record in records {
            batch
                .put(&read(None, record.to_string().as_bytes()).unwrap())
                .unwrap();
        }
        batch.commit().unwrap()
    }
}

/// The parameters of a query string without encoding.
pub(crate) fn parameters(text: &str) -> Query<'_> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .collect()
}

/// An answer as JSON.
pub(crate) fn json_of(answer: Result<String, CatalogError>) -> Value {
    serde_json::from_str(&answer.unwrap()).unwrap()
}

/// The `id`s of an array, as numbers.
pub(crate) fn ids(array: &Value) -> Vec<u64> {
    let id = |record: &Value| record["id"].as_str().unwrap().parse().unwrap();
    array.as_array().unwrap().iter().map(id).collect()
}

pub(crate) fn condition(id: u64) -> String {
    format!("0x{id:064x}")
}

pub(crate) fn address(id: u64) -> String {
    format!("0x{id:040x}")
}

/// A market with every field of the interface.
pub(crate) fn market(id: u64) -> Value {
    json!({
        "id": id.to_string(), "question": format!("Will {id} happen?"), "conditionId": condition(id),
        "slug": format!("will-{id}-happen"), "resolutionSource": "https://example.com/source",
        "startDate": "2026-01-01T00:00:00Z", "endDate": "2026-02-01 12:00:00+00",
        "image": "https://example.com/image.png", "icon": "https://example.com/icon.png",
        "description": "How it resolves.", "outcomes": "[\"Yes\", \"No\"]",
        "clobTokenIds": format!("[\"{}\", \"{}\"]", id * 2, id * 2 + 1),
        "active": true, "closed": false, "archived": false,
        "createdAt": "2025-12-01T00:00:00.5Z", "updatedAt": "2025-12-02T00:00:00Z",
        "questionID": "0xabc", "volume": "10.5", "liquidity": 7, "someUnknownKey": {"a": 1},
    })
}

/// An event with every field of the interface.
pub(crate) fn event(id: u64, markets: &[Value]) -> Value {
    json!({
        "id": id.to_string(), "ticker": format!("event-{id}"), "slug": format!("event-{id}"),
        "title": format!("Event {id}"), "description": "What it is about.",
        "resolutionSource": "", "startDate": "2026-01-01T00:00:00Z",
        "creationDate": "2025-12-31T00:00:00Z", "endDate": "2026-02-01T00:00:00Z",
        "image": "https://example.com/event.png", "icon": "https://example.com/event-icon.png",
        "active": true, "closed": false, "archived": false,
        "createdAt": "2025-12-01T00:00:00Z", "updatedAt": "2025-12-02T00:00:00Z",
        "tags": [tag(1)], "series": [series(1)], "markets": markets,
        "eventMetadata": {"context": "more"}, "volume": 100,
    })
}

pub(crate) fn tag(id: u64) -> Value {
    json!({
        "id": id.to_string(), "label": format!("Tag {id}"), "slug": format!("tag-{id}"),
        "createdAt": "2024-01-01T00:00:00Z", "updatedAt": "2024-01-02T00:00:00Z",
        "requiresTranslation": false, "forceShow": false,
    })
}

pub(crate) fn series(id: u64) -> Value {
    json!({
        "id": id.to_string(), "ticker": format!("series-{id}"), "slug": format!("series-{id}"),
        "title": format!("Series {id}"), "seriesType": "single", "recurrence": "daily",
        "image": "", "icon": "", "active": true, "closed": false, "archived": false,
        "createdAt": "2024-01-01T00:00:00Z", "updatedAt": "2024-01-02T00:00:00Z",
    })
}

/// A record with some fields replaced; null removes one.
pub(crate) fn with(mut record: Value, changes: &Value) -> Value {
    let fields = record.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            fields.remove(name);
        } else {
            fields.insert(name.clone(), value.clone());
        }
    }
    record
}
