//! An upstream on a free port with changeable events.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};

/// A running upstream.
pub(crate) struct Upstream {
    /// Its base URL.
    pub(crate) base: String,
    /// Its events, with their markets.
    pub(crate) events: Arc<Mutex<Vec<Value>>>,
    asked: Arc<AtomicUsize>,
}

impl Upstream {
    /// Starts one without events.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let events = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::new(AtomicUsize::new(0));
        let (served, counted) = (Arc::clone(&events), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                counted.fetch_add(1, Ordering::Relaxed);
                // The client may have been killed.
                let _ = answer(&stream, &served);
            }
        });
        Self {
            base,
            events,
            asked,
        }
    }

    /// Requests so far.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn answer(stream: &TcpStream, events: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut line) = (String::new(), String::new());
    reader.read_line(&mut first)?;
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let target = first.split(' ').nth(1).unwrap_or_default();
    let number = |name: &str| -> usize {
        let found = target
            .split(['?', '&'])
            .find_map(|pair| pair.strip_prefix(name));
        found
            .and_then(|value| value.trim_start_matches('=').parse().ok())
            .unwrap_or(0)
    };
    let mut rows = rows(target, &events.lock());
    if target.contains("order=updatedAt") {
        rows.sort_by_key(|row| std::cmp::Reverse(row["updatedAt"].to_string()));
    }
    let page: Value = rows
        .into_iter()
        .skip(number("offset"))
        .take(number("limit"))
        .collect();
    let body = page.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let mut stream = stream;
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len())
}

fn rows(target: &str, events: &[Value]) -> Vec<Value> {
    if target.starts_with("/events") {
        return events.to_vec();
    }
    if !target.starts_with("/markets") {
        return Vec::new();
    }
    let of = |event: &Value| event["markets"].as_array().cloned().unwrap_or_default();
    events.iter().flat_map(of).collect()
}

/// An event in the upstream's format; `minute` is the time of its last change.
pub(crate) fn event(id: u64, neg_risk: bool, questions: u64, minute: u64) -> Value {
    let time = format!(
        "2026-01-{:02}T{:02}:{:02}:00Z",
        1 + minute / 1_440,
        minute / 60 % 24,
        minute % 60
    );
    let market = |place: u64| {
        let number = id * 100 + place;
        json!({
            "id": number.to_string(), "question": format!("Question {number}?"),
            "slug": format!("market-{number}"), "description": format!("How {number} resolves."),
            "conditionId": format!("0x{number:064x}"), "outcomes": "[\"Yes\", \"No\"]",
            "clobTokenIds": format!("[\"{number}001\", \"{number}002\"]"),
            "orderPriceMinTickSize": 0.01, "orderMinSize": 5, "negRisk": neg_risk,
            "groupItemThreshold": place.to_string(), "enableOrderBook": true,
            "acceptingOrders": true, "active": true, "closed": false, "updatedAt": time,
            // Long past: catalog-sync closes such a market as soon as the upstream does.
            "endDate": "2021-01-01T00:00:00Z",
        })
    };
    json!({
        "id": id.to_string(), "slug": format!("event-{id}"), "title": format!("Event {id}"),
        "ticker": format!("event-{id}"), "negRisk": neg_risk, "active": true, "closed": false,
        "updatedAt": time, "markets": (0..questions).map(market).collect::<Value>(),
    })
}
