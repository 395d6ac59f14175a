//! Recorded pages of a real upstream, if available.

use std::collections::BTreeSet;
use std::io::Read as _;

use serde_json::Value;

use crate::mock::{Mock, NoWait, Reply};
use crate::run;
use crate::world::World;

fn recorded(name: &str) -> Option<Vec<Value>> {
    let path = foretell_fixtures::recorded(&format!("gamma/{name}"))?;
    let file = std::fs::File::open(path).expect("a fixture of ours");
    let mut text = String::new();
    match name.ends_with(".zst") {
        true => zstd::Decoder::new(file)
            .expect("a fixture of ours")
            .read_to_string(&mut text)
            .expect("a fixture of ours"),
        false => std::io::BufReader::new(file)
            .read_to_string(&mut text)
            .expect("a fixture of ours"),
    };
    Some(serde_json::from_str(&text).expect("a fixture of ours"))
}

#[test]
fn recorded_pages_are_read_to_the_last_record() {
    let (Some(events), Some(markets), Some(tags)) = (
        recorded("events-20-202503.json.zst"),
        recorded("markets-600-20260208.json.zst"),
        recorded("tags-100.json"),
    ) else {
        return;
    };
    let inside = events
        .iter()
        .flat_map(|event| event["markets"].as_array().expect("a fixture of ours"));
    let ids: BTreeSet<String> = inside
        .chain(&markets)
        .map(|market| market["id"].to_string())
        .collect();
    run(async {
        let mock = Mock::start(move |asked| {
            let mut rows = match asked.path.as_str() {
                "/events" => events.clone(),
                "/markets" => markets.clone(),
                "/tags" => tags.clone(),
                _ => Vec::new(),
            };
            if asked.query.contains("order=updatedAt") {
                rows.sort_by_key(|row| std::cmp::Reverse(row["updatedAt"].to_string()));
            }
            let rows = rows
                .into_iter()
                .skip(asked.number("offset"))
                .take(asked.number("limit"));
            Reply::Json(rows.collect::<Value>().to_string())
        })
        .await;
        let world = World::new(&mock.base, &NoWait::at("2026-02-09T00:00:00Z"));
        let pulled = world.pull().await.expect("a fixture of ours");
        assert_eq!(
            pulled.records.markets.added,
            ids.len() as u64,
            "{:?}",
            pulled.records.skips
        );
        assert!(pulled.records.skipped <= 1, "{:?}", pulled.records.skips);
        assert!(
            !world
                .pull()
                .await
                .expect("a fixture of ours")
                .records
                .changed_anything()
        );
    });
}
