use rusqlite::Connection;

use super::*;
use crate::query::SearchQuery;
use crate::read::{Catalog, Sites};
use crate::record::read;
use crate::store::Writer;

/// A file with schema version 1 and one searchable event.
fn of_version_one(path: &std::path::Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(STEPS[0]).unwrap();
    connection
        .execute_batch(
            "INSERT INTO events VALUES (7, 'rain', 'Rain', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               1, 0, 0, NULL, 1);
             INSERT INTO event_texts VALUES (7, '{\"id\":\"7\"}', '{\"id\":\"7\"}', '{}', '{}', '{}',
               char(2, 2) || 'rain' || char(3));
             INSERT INTO search (rowid, text) VALUES (7, char(2, 2) || 'rain' || char(3));
             INSERT INTO search_prefixes (rowid, text) VALUES (7, '72 7261');
             UPDATE changes SET last = 1;
             PRAGMA user_version = 1;",
        )
        .unwrap();
}

fn found(catalog: &Catalog, term: &str) -> String {
    let query = SearchQuery::of(&[("q", term)].into_iter().collect()).unwrap();
    catalog.search(&query).unwrap()
}

#[test]
fn a_file_of_the_first_version_is_brought_up_to_date() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("catalog.db");
    of_version_one(&path);
    let mut writer = Writer::open(&path).unwrap();
    let catalog = Catalog::open(&path, Sites::new()).unwrap();
    for term in ["rain", "ra", "ain"] {
        let found = found(&catalog, term);
        assert!(found.contains(r#""id":"7""#), "{term}: {found}");
    }
    let mut batch = writer.begin().unwrap();
    let snow = br#"{"id": 7, "slug": "snow", "title": "Snow"}"#;
    batch.put(&read(None, snow).unwrap()).unwrap();
    batch.commit().unwrap();
    assert!(found(&catalog, "rain").contains(r#""totalResults":0"#));
    assert!(found(&catalog, "snow").contains(r#""totalResults":1"#));
}
