//! Records, filters and orders of markets that an exchange knows.

use std::collections::HashMap;
use std::sync::Arc;

use foretell_catalog::query::{EventsQuery, MarketsQuery, OneEventQuery, OneMarketQuery};
use foretell_catalog::{Catalog, Exchange, Figures, Sites, Trading};
use foretell_model::ConditionId;
use foretell_wire::read::query::parameters::Parameters as _;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::common::{Shelf, condition, event, ids, json_of, market, parameters, with};

/// An exchange with these figures.
#[derive(Debug, Default)]
struct Known(Mutex<HashMap<String, Figures>>);

impl Exchange for Known {
    fn trading(&self, condition: &ConditionId) -> Option<Trading> {
        let figures = *self.0.lock().get(&condition.to_string())?;
        let fields = json!({ "active": figures.active, "closed": figures.closed, "archived": figures.archived,
            "volume": figures.volume.to_string(), "outcomePrices": "[\"0.5\",\"0.5\"]" });
        Some(Trading {
            figures,
            fields: fields.to_string(),
        })
    }
}

fn list(catalog: &Catalog, query: &str) -> Vec<u64> {
    let query = MarketsQuery::read(&parameters(query)).unwrap();
    ids(&json_of(catalog.markets(&query)))
}

fn events(catalog: &Catalog, query: &str) -> Vec<u64> {
    let query = EventsQuery::read(&parameters(query)).unwrap();
    ids(&json_of(catalog.events(&query)))
}

/// Three events of a market each; the exchange has the markets 10 and 20.
fn shelf() -> (Shelf, Arc<Known>) {
    let source = json!({ "bestBid": 0.3, "volume24hr": 9, "negRisk": true, "groupItemTitle": "Ten",
        "umaResolutionStatus": "resolved" });
    let records = [10, 20, 30].map(|id| event(id / 10, &[with(market(id), &source)]));
    let mut shelf = Shelf::new(&records);
    let known = Arc::new(Known::default());
    let path = shelf.directory.path().join("catalog.db");
    let catalog = Catalog::open(&path, Sites::new()).unwrap();
    shelf.catalog = catalog.with_exchange(Some(Arc::clone(&known) as Arc<dyn Exchange>));
    (shelf, known)
}

fn tell(shelf: &Shelf, known: &Known, id: u64, figures: Figures) {
    known.0.lock().insert(condition(id), figures);
    let condition: [u8; 32] = hex::decode(&condition(id)[2..])
        .unwrap()
        .try_into()
        .unwrap();
    let told = vec![(ConditionId(condition), figures)];
    shelf.catalog.take_figures(told);
}

const OPEN: Figures = Figures {
    active: true,
    closed: false,
    archived: false,
    resolved: false,
    volume: 1.0,
    volume_24hr: 1.0,
    liquidity: 0.0,
    open_interest: 0.0,
    changed_at: 0,
};

#[test]
fn a_record_is_its_sources_with_the_trading_fields_of_the_exchange() {
    let (shelf, known) = shelf();
    tell(&shelf, &known, 10, OPEN);
    let query = MarketsQuery::read(&parameters("id=10")).unwrap();
    let listed = json_of(shelf.catalog.markets(&query))[0].clone();
    let one = json_of(shelf.catalog.market("10", &OneMarketQuery::default()));
    let event = json_of(shelf.catalog.event(1, &OneEventQuery::default()));
    for shown in [&listed, &one, &event["markets"][0]] {
        assert_eq!(shown["groupItemTitle"], "Ten", "of the source");
        assert_eq!(shown["someUnknownKey"], json!({"a": 1}), "of the source");
        assert_eq!(
            (&shown["volume"], &shown["outcomePrices"]),
            (&json!("1"), &json!("[\"0.5\",\"0.5\"]"))
        );
        for other_venue in [
            "bestBid",
            "volume24hr",
            "liquidity",
            "negRisk",
            "umaResolutionStatus",
        ] {
            assert_eq!(shown[other_venue], Value::Null, "{other_venue}");
        }
    }
    assert_eq!(
        (&event["volume"], &one["events"][0]["volume"]),
        (&json!(1.0), &json!(1.0))
    );
    // One that the exchange does not have is its source's.
    let other = json_of(shelf.catalog.market("30", &OneMarketQuery::default()));
    assert_eq!(
        (&other["bestBid"], &other["volume"]),
        (&json!(0.3), &json!("10.5"))
    );
}

#[test]
fn lists_filter_and_sort_by_what_the_exchange_knows() {
    let (mut shelf, known) = shelf();
    assert_eq!(list(&shelf.catalog, "order=volume24hr"), [30, 20, 10]);
    tell(
        &shelf,
        &known,
        10,
        Figures {
            volume_24hr: 50.0,
            ..OPEN
        },
    );
    tell(&shelf, &known, 20, OPEN);
    assert_eq!(list(&shelf.catalog, "order=volume24hr"), [10, 30, 20]);
    assert_eq!(events(&shelf.catalog, "order=volume24hr"), [1, 2, 3]);
    assert_eq!(list(&shelf.catalog, "uma_resolution_status=resolved"), [30]);
    // Closed here, open at the source; a later record of the source does not open it.
    let closed = Figures {
        closed: true,
        resolved: true,
        changed_at: 1 << 60,
        ..OPEN
    };
    tell(&shelf, &known, 10, closed);
    for _ in 0..2 {
        assert_eq!(list(&shelf.catalog, "closed=true"), [10]);
        assert_eq!(list(&shelf.catalog, "closed=false"), [30, 20]);
        assert_eq!(events(&shelf.catalog, "closed=true"), [1]);
        assert_eq!(
            list(&shelf.catalog, "uma_resolution_status=resolved"),
            [30, 10]
        );
        assert_eq!(list(&shelf.catalog, "order=updatedAt&limit=1"), [10]);
        let event = json_of(shelf.catalog.event(1, &OneEventQuery::default()));
        assert_eq!(
            (&event["closed"], &event["markets"][0]["closed"]),
            (&json!(true), &json!(true))
        );
        let later = json!({ "question": "Again?", "updatedAt": "2026-03-01T00:00:00Z" });
        shelf.put(&[event_of(10, &later)]);
    }
}

fn event_of(id: u64, changes: &Value) -> Value {
    let updated = json!({ "updatedAt": changes["updatedAt"] });
    with(event(id / 10, &[with(market(id), changes)]), &updated)
}

#[test]
fn figures_come_before_records() {
    let (mut shelf, known) = shelf();
    tell(
        &shelf,
        &known,
        40,
        Figures {
            closed: true,
            ..OPEN
        },
    );
    assert_eq!(list(&shelf.catalog, "closed=true"), [0; 0]);
    shelf.put(&[market(40)]);
    assert_eq!(list(&shelf.catalog, "closed=true"), [40]);
}
