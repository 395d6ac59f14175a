//! A mock upstream's lists in memory, served page by page, and a temporary catalog to sync them to.

use std::sync::Arc;
use std::time::Duration;

use foretell_catalog::query::{EventsQuery, MarketsQuery};
use foretell_catalog::{Catalog, Sites, SyncStatus};
use foretell_catalog_sync::difference::Policy;
use foretell_catalog_sync::exchange::Exchange;
use foretell_catalog_sync::limits::Limits;
use foretell_catalog_sync::sync::{PullReport, SyncError};
use foretell_catalog_sync::upstream::{Backoff, Bounds};
use foretell_catalog_sync::{Progress, Service, Settings};
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mock::{Asked, NoWait, Reply};

/// An event with two markets and an `updatedAt` in this second of the day.
pub(crate) fn event(id: u64, second: u64) -> Value {
    let time = format!(
        "2026-02-08T{:02}:{:02}:{:02}Z",
        second / 3_600,
        second / 60 % 60,
        second % 60
    );
    let market = |place: u64| {
        let number = id * 10 + place;
        json!({
            "id": number.to_string(), "question": format!("Question {number}?"),
            "slug": format!("market-{number}"), "conditionId": format!("0x{number:064x}"),
            "outcomes": "[\"Yes\", \"No\"]", "updatedAt": time, "active": true, "closed": false,
            "clobTokenIds": format!("[\"{number}1\", \"{number}2\"]"), "volume": "12.5",
        })
    };
    json!({
        "id": id.to_string(), "slug": format!("event-{id}"), "title": format!("Event {id}"),
        "ticker": format!("event-{id}"), "updatedAt": time, "active": true, "closed": false,
        "tags": [{"id": "1", "label": "Weather", "slug": "weather"}],
        "markets": [market(1), market(2)],
    })
}

/// A page of these events from an upstream without pages by cursor.
pub(crate) fn page(events: &[Value], asked: &Asked) -> Reply {
    Family::default().page(events, asked)
}

/// How an upstream of the family differs from another.
#[derive(Clone, Default)]
pub(crate) struct Family {
    /// It has pages by cursor.
    pub(crate) keyset: bool,
    /// It answers 422 to higher offsets.
    pub(crate) last_offset: Option<usize>,
    /// It lists only records with this `closed` unless asked for the others.
    pub(crate) default_closed: Option<bool>,
    /// It sends the first page whatever the offset or the cursor.
    pub(crate) repeats: bool,
    /// Most rows of a page.
    pub(crate) rows: Option<usize>,
    /// It answers requests by condition with all markets.
    pub(crate) ignores_conditions: bool,
    /// Status of every answer at a path.
    pub(crate) failing: Vec<(&'static str, u16)>,
}

impl Family {
    /// A page of these events, or of their markets, in the requested order.
    pub(crate) fn page(&self, events: &[Value], asked: &Asked) -> Reply {
        let failing = self.failing.iter().find(|(path, _)| *path == asked.path);
        if let Some((_, status)) = failing {
            return Reply::Status(*status, "", String::new());
        }
        let (path, is_keyset) = match asked.path.strip_suffix("/keyset") {
            Some(_) if !self.keyset => return Reply::Status(404, "", String::new()),
            Some(path) => (path, true),
            None => (asked.path.as_str(), false),
        };
        let rows = self.rows(events, path, asked);
        let skipped = match asked.values("after_cursor").last() {
            Some(last) => rows
                .iter()
                .position(|row| row["id"] == *last)
                .map_or(0, |at| at + 1),
            None => asked.number("offset"),
        };
        if self
            .last_offset
            .is_some_and(|last| !is_keyset && skipped > last)
        {
            return Reply::Status(422, "", String::new());
        }
        let skipped = if self.repeats { 0 } else { skipped };
        let limit = asked.number("limit").min(self.rows.unwrap_or(usize::MAX));
        let page: Vec<Value> = rows.iter().skip(skipped).take(limit).cloned().collect();
        let has_more = skipped + page.len() < rows.len();
        Reply::Json(match (is_keyset, page.last().filter(|_| has_more)) {
            (false, _) => Value::from(page).to_string(),
            (true, None) => json!({ &path[1..]: page }).to_string(),
            (true, Some(last)) => {
                json!({ "next_cursor": last["id"], &path[1..]: page }).to_string()
            }
        })
    }

    fn rows(&self, events: &[Value], path: &str, asked: &Asked) -> Vec<Value> {
        let of = |event: &Value| event["markets"].as_array().cloned().unwrap_or_default();
        let mut rows: Vec<Value> = match path {
            "/events" => events.to_vec(),
            "/markets" => events.iter().flat_map(of).collect(),
            "/tags" => vec![json!({"id": "1", "label": "Weather", "slug": "weather"})],
            _ => Vec::new(),
        };
        let closed = asked.values("closed").last().map(|text| text == "true");
        if let Some(closed) = closed.or(self.default_closed) {
            rows.retain(|row| row["closed"].as_bool().is_none_or(|it| it == closed));
        }
        let conditions = asked.values("condition_ids");
        if !conditions.is_empty() && !self.ignores_conditions {
            rows.retain(|row| conditions.iter().any(|it| row["conditionId"] == *it));
        }
        if asked.query.contains("order=updatedAt") {
            let updated = |row: &Value| row["updatedAt"].as_str().map(str::to_owned);
            rows.sort_by_key(|row| std::cmp::Reverse(updated(row)));
        }
        rows
    }
}

/// A catalog that is synchronized with one upstream.
pub(crate) struct World {
    directory: TempDir,
    base: String,
    clock: Arc<NoWait>,
    bounds: Bounds,
    limits: Limits,
}

impl World {
    /// An empty catalog.
    pub(crate) fn new(base: &str, clock: &Arc<NoWait>) -> Self {
        Self {
            directory: tempfile::tempdir().expect("a fixture of ours"),
            base: base.to_owned(),
            clock: Arc::clone(clock),
            bounds: Bounds {
                backoff: Backoff {
                    attempts: 4,
                    ..Backoff::default()
                },
                ..Bounds::default()
            },
            limits: Limits::default(),
        }
    }

    /// Changes the bounds.
    pub(crate) fn bounded(mut self, change: impl FnOnce(&mut Bounds)) -> Self {
        change(&mut self.bounds);
        self
    }

    /// Changes the limits of a round.
    pub(crate) fn limited(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Bytes of the catalog's files.
    pub(crate) fn bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.directory.path()).expect("a fixture of ours");
        let length = |file: std::io::Result<std::fs::DirEntry>| {
            file.and_then(|file| file.metadata())
                .expect("a fixture of ours")
                .len()
        };
        files.map(length).sum()
    }

    /// One round in a newly started process.
    pub(crate) async fn pull(&self) -> Result<PullReport, SyncError> {
        let mut service = self.service(None);
        service.round().await.pulled.expect("a fixture of ours")
    }

    /// A service for the upstream, with or without an exchange.
    pub(crate) fn service(&self, exchange: Option<Arc<Exchange>>) -> Service {
        let settings = Settings {
            catalog: self.directory.path().join("catalog.db"),
            upstream: Some(self.base.clone()),
            bounds: self.bounds,
            limits: self.limits,
            exchange,
            policy: Policy::default(),
            every: Duration::from_secs(60),
            full_every: Duration::from_secs(3_600),
            clock: self.clock.clone(),
            progress: Progress::hidden(),
        };
        Service::new(settings).expect("a fixture of ours")
    }

    fn catalog(&self) -> Catalog {
        let path = self.directory.path().join("catalog.db");
        Catalog::open(&path, Sites::default()).expect("a fixture of ours")
    }

    /// How far the catalog has the upstream.
    pub(crate) fn status(&self) -> SyncStatus {
        let status = self.catalog().sync_status().expect("a fixture of ours");
        status.unwrap_or_default()
    }

    /// Number of the catalog's open markets.
    pub(crate) fn count_open_markets(&self) -> usize {
        let catalog = self.catalog();
        let page = |offset: usize| {
            let offset = offset.to_string();
            let pairs = [("limit", "500"), ("closed", "false"), ("offset", &offset)];
            let query = MarketsQuery::read(&pairs.into_iter().collect::<Query<'_>>());
            let page = catalog.markets(&query.expect("a fixture of ours"));
            ids(&page.expect("a fixture of ours")).len()
        };
        (0..)
            .step_by(500)
            .map(page)
            .take_while(|rows| *rows > 0)
            .sum()
    }

    /// Ids of the catalog's events, ascending, up to five hundred.
    pub(crate) fn events(&self) -> Vec<u64> {
        let pairs = [("limit", "500"), ("ascending", "true")];
        let query = EventsQuery::read(&pairs.into_iter().collect::<Query<'_>>())
            .expect("a fixture of ours");
        ids(&self.catalog().events(&query).expect("a fixture of ours"))
    }

    /// Ids of the catalog's markets, ascending, up to five hundred.
    pub(crate) fn markets(&self) -> Vec<u64> {
        let pairs = [("limit", "500"), ("ascending", "true")];
        let query = MarketsQuery::read(&pairs.into_iter().collect::<Query<'_>>())
            .expect("a fixture of ours");
        ids(&self.catalog().markets(&query).expect("a fixture of ours"))
    }
}

fn ids(rows: &str) -> Vec<u64> {
    let rows: Vec<Value> = serde_json::from_str(rows).expect("a fixture of ours");
    rows.iter()
        .map(|row| {
            row["id"]
                .as_str()
                .expect("a fixture of ours")
                .parse()
                .expect("a fixture of ours")
        })
        .collect()
}
