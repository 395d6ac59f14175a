//! Formats answers of the operator surface as text.

use serde_json::Value;

use crate::output::{field, table};

/// The fields of an object, one a line.
pub(super) fn fields(value: &Value) -> String {
    let Value::Object(object) = value else {
        return value.to_string();
    };
    let rows: Vec<Vec<String>> = object
        .keys()
        .map(|name| vec![name.clone(), field(value, name)])
        .collect();
    table(&rows)
}

/// `GET /markets`
pub(super) fn markets(value: &Value) -> String {
    columns(
        &value["markets"],
        &["conditionId", "slug", "status", "tick", "question"],
    )
}

/// `GET /keys`
pub(super) fn keys(value: &Value) -> String {
    columns(&value["keys"], &["apiKey", "nonce", "status", "readOnly"])
}

/// `GET /operators`
pub(super) fn operators(value: &Value) -> String {
    let columns_shown = ["number", "name", "role", "added", "revoked"];
    columns(&value["operators"], &columns_shown)
}

/// `GET /withdrawals`
pub(super) fn held(value: &Value) -> String {
    let columns_shown = ["wallet", "amount", "asked_by", "asked_at", "reference"];
    columns(&value["withdrawals"], &columns_shown)
}

/// `GET /review`
pub(super) fn review(value: &Value) -> String {
    let mut text = String::from("proposals\n");
    let proposals = value["proposals"].as_array().into_iter().flatten();
    let rows: Vec<Value> = proposals
        .map(|row| {
            let mut row = row.clone();
            let counter = field(&row["dispute"], "counter_outcome");
            row["disputed"] = match row["dispute"].is_null() {
                true => "no".into(),
                false => format!("by {}, {counter}", field(&row["dispute"], "disputed_by")).into(),
            };
            row
        })
        .collect();
    let shown = [
        "slug",
        "outcome",
        "proposal",
        "proposed_by",
        "challenge_ends",
        "challenge_over",
        "disputed",
        "source",
    ];
    text.push_str(&columns(&Value::Array(rows), &shown));
    text.push_str("\nclosed, no proposal\n");
    let closed = value["closed"].as_array().into_iter().flatten();
    let rows: Vec<Value> = closed
        .map(|row| {
            let mut row = row.clone();
            row["waits"] = age(&row["closed_seconds"]).into();
            row
        })
        .collect();
    let shown = ["slug", "closed_at", "waits", "condition_id"];
    text.push_str(&columns(&Value::Array(rows), &shown));
    text
}

/// `GET /markets/{condition}`, with its row of `GET /markets` and the policy that it follows
pub(super) fn market(value: &Value) -> String {
    let row = &value["registered"];
    let mut text = named(
        value,
        &[
            ("question", "question"),
            ("status", "status"),
            ("condition", "condition_id"),
            ("slug", "market_slug"),
            ("accepting orders", "accepting_orders"),
            ("neg-risk", "neg_risk"),
            ("ends", "end_date_iso"),
            ("archived", "archived"),
        ],
    );
    for (title, part, names) in TERMS {
        let (title, part) = match (*part, &row["policy"]) {
            ("policy", Value::Null) => ("policy of the site", &value["site_policy"]),
            ("", _) => (*title, row),
            (part, _) => (*title, &row[part]),
        };
        text.push_str(&format!("\n{title}\n{}", named(part, names)));
    }
    text.push('\n');
    text.push_str(&columns(
        &value["tokens"],
        &["outcome", "price", "winner", "token_id"],
    ));
    text
}

/// Title, part of a market's row, labels and fields.
type Term = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// The terms of a market.
const TERMS: &[Term] = &[
    (
        "orders",
        "",
        &[("tick", "tick"), ("minimum, shares", "minimumSize")],
    ),
    (
        "taker fee",
        "fee",
        &[("rate, ppm", "ratePpm"), ("exponent", "exponent")],
    ),
    (
        "clock, delay, rebate",
        "terms",
        &[
            ("opens at", "opens_at"),
            ("closes at", "closes_at"),
            ("game starts", "game_start_time"),
            ("clears the book then", "clear_book_on_start"),
            ("taker delay, ms", "taker_delay_ms"),
            ("maker rebate, ppm", "rebate_ppm"),
        ],
    ),
    (
        "policy of the market",
        "policy",
        &[
            ("proposers", "proposers"),
            ("disputers", "disputers"),
            ("shortest window, s", "minimum_window_seconds"),
            ("second person", "second_person"),
            ("by time", "by_time"),
        ],
    ),
];

/// `GET /accounts/{wallet}`
pub(super) fn account(value: &Value) -> String {
    let mut text = named(
        value,
        &[
            ("wallet", "wallet"),
            ("kind", "kind"),
            ("owner", "owner"),
            ("free collateral", "free"),
            ("reserved collateral", "reserved"),
            ("live orders", "live_orders"),
            ("closed-only", "closed_only"),
        ],
    );
    if has_items(&value["positions"]) {
        text.push_str("\nshares\n");
        text.push_str(&columns(
            &value["positions"],
            &["condition_id", "outcome_index", "free", "reserved"],
        ));
    }
    text
}

/// `POST` of a command
pub(super) fn applied(value: &Value) -> String {
    let done = if value["duplicate"] == Value::Bool(true) {
        "done before, nothing changed\n".to_owned()
    } else {
        format!("done at sequence {}\n", field(value, "sequence"))
    };
    // People know the object by its address or condition, not by the exchange's number.
    let known = ["success", "sequence", "duplicate", "number"];
    let more: Vec<Vec<String>> = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, _)| vec![name.clone(), field(value, name)])
        .collect();
    done + &table(&more)
}

/// `GET /status`
pub(super) fn status(value: &Value) -> String {
    let (engine, exchange) = (&value["engine"], &value["exchange"]);
    let mut text = named(
        exchange,
        &[
            ("mode", "mode"),
            ("durability", "durability"),
            ("markets", "markets"),
            ("accounts", "accounts"),
            ("live orders", "live_orders"),
            ("collateral", "collateral"),
            ("fees collected", "fees"),
        ],
    );
    let unpaid = field(exchange, "unpaid_markets");
    if !matches!(unpaid.as_str(), "0" | "-") {
        let oldest = age(&exchange["oldest_unpaid_seconds"]);
        text.push_str(&format!(
            "\nclosed without a payout: {unpaid} markets, the oldest for {oldest}: `foretell market review`\n"
        ));
    }
    text.push_str(&catalog(&value["catalog"]));
    text.push('\n');
    text.push_str(&processes(value));
    text.push_str(&alarms(value));
    if engine.is_null() {
        text.push_str("\nengine unavailable: no new orders; figures show the last state\n");
        return text;
    }
    text.push('\n');
    text.push_str(&named(
        engine,
        &[
            ("commands waiting", "ring"),
            ("answered busy", "busy"),
            ("disk low", "diskLow"),
            ("clock alarms", "clockAlarms"),
            ("newest snapshot", "snapshotSequence"),
            ("snapshot failed", "snapshotFailed"),
            ("publisher lag", "publisherLag"),
        ],
    ));
    text.push_str("\nlatency by stage, in microseconds\n");
    text.push_str(&columns(
        &engine["stages"],
        &["stage", "count", "p50", "p99", "p999", "max"],
    ));
    if has_items(&value["books"]) {
        text.push_str("\nbooks, most orders first\n");
        text.push_str(&columns(
            &value["books"],
            &["bestBid", "bestAsk", "liveOrders", "status", "question"],
        ));
    }
    text
}

/// Seconds as people say them.
fn age(seconds: &Value) -> String {
    match seconds.as_u64().unwrap_or_default() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// How far the catalog has its upstream, in one line; nothing while no sync has run.
fn catalog(sync: &Value) -> String {
    if sync.is_null() {
        return String::new();
    }
    let names = |list: &Value| -> Vec<String> {
        let names = list.as_array().into_iter().flatten();
        names
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    let time = |at: &Value| {
        let at = at
            .as_i64()
            .and_then(|at| jiff::Timestamp::from_second(at).ok());
        at.map_or_else(|| "never".to_owned(), |at| at.to_string())
    };
    let mut parts = vec![match sync["ageSeconds"].as_u64() {
        Some(age) => format!("changes read {age} s ago"),
        None => "changes never read".to_owned(),
    }];
    parts.push(format!("complete {}", time(&sync["complete"])));
    let failed = names(&sync["failedLists"]);
    if !failed.is_empty() {
        parts.push(format!(
            "lists not read to their end: {}",
            failed.join(", ")
        ));
    }
    match names(&sync["vanished"]).len() {
        0 => {}
        count => parts.push(format!("{count} markets vanished upstream")),
    }
    format!("catalog         {}\n", parts.join("; "))
}

/// Conditions that need an operator's action.
fn alarms(value: &Value) -> String {
    let stopped = |process: &str| value[process]["viewStopped"].as_u64().unwrap_or_default();
    let mut text = String::new();
    for (process, costs) in [
        ("engine", "no snapshots are written; the exchange continues"),
        (
            "gateway",
            "it answers no reads; cancels, orders and commands are taken",
        ),
    ] {
        let at = stopped(process);
        if at > 0 {
            text.push_str(&format!(
                "\nALARM: the view of this {process} cannot follow the journal at sequence {at}: {costs}\n"
            ));
        }
    }
    text
}

/// The engine and the gateway that answers.
fn processes(value: &Value) -> String {
    let names = ["pid", "sequence", "durableSequence", "epoch", "connections"];
    let mut rows = vec![
        [
            "process",
            "pid",
            "sequence",
            "durable",
            "epoch",
            "connections",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for process in ["engine", "gateway"] {
        let mut row = vec![process.to_owned()];
        row.extend(names.map(|name| field(&value[process], name)));
        rows.push(row);
    }
    table(&rows)
}

/// Selected fields with labels, one a line.
fn named(value: &Value, names: &[(&str, &str)]) -> String {
    let rows: Vec<Vec<String>> = names
        .iter()
        .map(|(title, name)| vec![(*title).to_owned(), field(value, name)])
        .collect();
    table(&rows)
}

fn has_items(list: &Value) -> bool {
    list.as_array().is_some_and(|items| !items.is_empty())
}

fn columns(items: &Value, names: &[&str]) -> String {
    let mut rows = vec![
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>(),
    ];
    for item in items.as_array().into_iter().flatten() {
        rows.push(names.iter().map(|name| field(item, name)).collect());
    }
    table(&rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_becomes_a_table_with_its_head() {
        let value = json!({ "markets": [{ "conditionId": "0x1", "slug": "q", "status": "active", "tick": "0.01", "question": "Q?" }] });
        assert_eq!(
            markets(&value),
            "conditionId  slug  status  tick  question\n0x1          q     active  0.01  Q?\n"
        );
    }

    #[test]
    fn a_market_shows_all_of_its_terms() {
        let mut value = json!({
            "question": "Q?", "tokens": [{ "outcome": "Yes", "price": 0.4 }],
            "registered": {
                "tick": "0.01", "minimumSize": "5", "fee": { "ratePpm": 40_000, "exponent": 1 },
                "terms": { "closes_at": "2027-09-01T18:00:00.000Z", "game_start_time": "",
                    "clear_book_on_start": true, "taker_delay_ms": 3_000, "rebate_ppm": 250_000 },
            },
            "site_policy": { "proposers": ["admin", "resolver"], "minimum_window_seconds": 60 },
        });
        let text = market(&value);
        for line in [
            "tick             0.01\n",
            "minimum, shares  5\n",
            "rate, ppm  40000\n",
            "closes at             2027-09-01T18:00:00.000Z\n",
            "clears the book then  true\n",
            "taker delay, ms       3000\n",
            "maker rebate, ppm     250000\n",
            "policy of the site\n",
            "shortest window, s  60\n",
        ] {
            assert!(text.contains(line), "{line:?} in {text}");
        }
        value["registered"]["policy"] = json!({ "second_person": true });
        let text = market(&value);
        assert!(text.contains("policy of the market\n"), "{text}");
        assert!(text.contains("second person       true\n"), "{text}");
    }

    #[test]
    fn the_status_reads_without_an_engine_too() {
        let gateway =
            json!({ "pid": 7, "sequence": 4, "durableSequence": 5, "epoch": 2, "connections": 1 });
        let exchange = json!({ "mode": "running", "durability": "disk", "live_orders": 3 });
        let mut value = json!({ "engine": null, "gateway": gateway, "exchange": exchange });
        let text = status(&value);
        assert!(!text.contains("without a payout"), "{text}");
        assert!(text.contains("live orders     3\n"), "{text}");
        assert!(
            text.contains("engine   -    -         -        -      -\n"),
            "{text}"
        );
        assert!(
            text.contains("gateway  7    4         5        2      1\n"),
            "{text}"
        );
        assert!(text.contains("engine unavailable"), "{text}");
        value["exchange"]["unpaid_markets"] = 2.into();
        value["exchange"]["oldest_unpaid_seconds"] = 93_600.into();
        value["engine"] = json!({ "pid": 6, "sequence": 5, "durableSequence": 5, "epoch": 2, "connections": 1,
            "ring": "0/8", "stages": [{ "stage": "apply", "count": 9, "p50": 1.5, "p99": 2.0, "p999": 3.0, "max": 4.0 }] });
        value["books"] = json!([{ "bestBid": "0.4", "bestAsk": "", "liveOrders": 3, "status": "active", "question": "Q?" }]);
        let text = status(&value);
        assert!(
            text.contains("engine   6    5         5        2      1\n"),
            "{text}"
        );
        let unpaid = "closed without a payout: 2 markets, the oldest for 26 h";
        assert!(text.contains(unpaid), "{text}");
        assert!(
            text.contains("apply  9      1.5  2.0  3.0   4.0\n"),
            "{text}"
        );
        assert!(
            text.contains("0.4               3           active  Q?\n"),
            "{text}"
        );
    }

    #[test]
    fn the_sync_of_the_catalog_is_one_line() {
        assert_eq!(catalog(&Value::Null), "");
        let mut sync = json!({ "ageSeconds": 35, "complete": 1_770_000_000, "failedLists": [], "vanished": [] });
        assert_eq!(
            catalog(&sync),
            "catalog         changes read 35 s ago; complete 2026-02-02T02:40:00Z\n"
        );
        sync = json!({ "failedLists": ["open events", "tags"], "vanished": ["0x1"] });
        assert_eq!(
            catalog(&sync),
            "catalog         changes never read; complete never; \
             lists not read to their end: open events, tags; 1 markets vanished upstream\n"
        );
    }

    #[test]
    fn a_repeated_command_says_so() {
        let mut value =
            json!({ "success": true, "sequence": 0, "duplicate": true, "reference": "r" });
        assert_eq!(
            applied(&value),
            "done before, nothing changed\nreference  r\n"
        );
        value["duplicate"] = json!(false);
        value["sequence"] = json!(12);
        assert_eq!(applied(&value), "done at sequence 12\nreference  r\n");
    }
}
