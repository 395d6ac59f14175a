//! The status as text.

use foretell_link::ClockState;
use serde_json::Value;

use super::show::{age, columns, has_items, named};
use crate::output::{field, table};

/// `GET /status`
pub(super) fn status(value: &Value) -> String {
    let catalog = catalog(&value["catalog"]);
    let engine = match &value["engine"] {
        Value::Null => {
            "engine unavailable: no new orders; figures show the last state\n".to_owned()
        }
        engine => of_engine(engine) + &books(&value["books"]),
    };
    [
        of_exchange(&value["exchange"]) + &catalog,
        processes(value) + &webhooks(&value["webhooks"]) + &alarms(value),
        engine,
    ]
    .join("\n")
}

fn of_exchange(exchange: &Value) -> String {
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
    if exchange["outward_closed"] == true {
        text += "\noutward         closed since a restore: no withdrawal, webhook, sync or oracle; reconcile, then \
                 `foretell withdrawals open`\n";
    }
    let unpaid = field(exchange, "unpaid_markets");
    if !matches!(unpaid.as_str(), "0" | "-") {
        let oldest = age(&exchange["oldest_unpaid_seconds"]);
        text += &format!(
            "\nclosed without a payout: {unpaid} markets, the oldest for {oldest}: `foretell market review`\n"
        );
    }
    text
}

fn of_engine(engine: &Value) -> String {
    let figures = named(
        engine,
        &[
            ("commands waiting", "ring"),
            ("answered busy", "busy"),
            ("disk low", "diskLow"),
            ("clock alarms", "clockAlarms"),
            ("clock", "clock"),
            ("clock difference ms", "clockDifferenceMs"),
            ("newest snapshot", "snapshotSequence"),
            ("snapshot failed", "snapshotFailed"),
            ("publisher lag", "publisherLag"),
        ],
    );
    let latencies = columns(
        &engine["stages"],
        &["stage", "count", "p50", "p99", "p999", "max"],
    );
    format!("{figures}\nlatency by stage, in microseconds\n{latencies}")
}

fn books(books: &Value) -> String {
    if !has_items(books) {
        return String::new();
    }
    let names = ["bestBid", "bestAsk", "liveOrders", "status", "question"];
    format!("\nbooks, most orders first\n{}", columns(books, &names))
}

/// How far the catalog has its upstream, in one line; nothing while no sync has run.
fn catalog(sync: &Value) -> String {
    if sync.is_null() {
        return String::new();
    }
    let changes = match sync["ageSeconds"].as_u64() {
        Some(age) => format!("changes read {age} s ago"),
        None => "changes never read".to_owned(),
    };
    let complete = sync["complete"].as_i64();
    let complete = complete.and_then(|at| jiff::Timestamp::from_second(at).ok());
    let complete = complete.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let mut text = format!("catalog         {changes}; complete {complete}");
    let names = |list: &str| -> Vec<&str> {
        let names = sync[list].as_array().into_iter().flatten();
        names.filter_map(Value::as_str).collect()
    };
    let (failed, vanished) = (names("failedLists"), names("vanished").len());
    if !failed.is_empty() {
        text += &format!("; lists not read to their end: {}", failed.join(", "));
    }
    if vanished > 0 {
        text += &format!("; {vanished} markets vanished upstream");
    }
    text + "\n"
}

/// How far the webhooks have come, in one line; nothing without webhooks.
fn webhooks(report: &Value) -> String {
    if report.is_null() {
        return String::new();
    }
    let [delivered, failed, sequence] =
        ["delivered", "failedAttempts", "sequence"].map(|name| field(report, name));
    let mut text = format!(
        "webhooks        {delivered} notices delivered, up to sequence {sequence}; {failed} failed attempts\n"
    );
    if let Some(waiting) = report["waitingSequence"].as_u64() {
        let (seconds, reason) = (field(report, "waitingSeconds"), field(report, "reason"));
        text += &format!(
            "\nALARM: the webhook of sequence {waiting} has failed for {seconds} s, and every later one waits: {reason}\n"
        );
    }
    text
}

/// The processes of `foretell up` that do not run.
fn ended_processes(supervised: &Value) -> String {
    let processes = supervised.as_array().into_iter().flatten();
    let missing = processes.filter(|process| process["ready"] == false);
    let line = |process: &Value| {
        let (name, ended) = (field(process, "name"), field(process, "ended"));
        let what = match process["finalEnd"] == true {
            true => "is not restarted",
            false => "is being restarted",
        };
        format!("\nALARM: {name} ended ({ended}) and {what}: see its log\n")
    };
    missing.map(line).collect()
}

/// Conditions that need an operator's action.
fn alarms(value: &Value) -> String {
    let alarm = |(process, costs): (&str, &str)| {
        let at = value[process]["viewStopped"]
            .as_u64()
            .filter(|at| *at > 0)?;
        Some(format!(
            "\nALARM: the view of this {process} cannot follow the journal at sequence {at}: {costs}\n"
        ))
    };
    let processes = [
        ("engine", "no snapshots are written; the exchange continues"),
        (
            "gateway",
            "it answers no reads; cancels, orders and commands are taken",
        ),
    ];
    let views: String = processes.into_iter().filter_map(alarm).collect();
    let others = value["gateways"].as_array().into_iter().flatten();
    let silent = others.filter(|other| other["up"] == false);
    let silent = silent.map(|other| {
        let number = field(other, "number");
        format!("\nALARM: gateway-{number} does not answer: see its log\n")
    });
    let views = silent.fold(views, |text, line| text + &line);
    views + &ended_processes(&value["supervised"]) + &clock_alarms(value)
}

/// A clock that is wrong, with the way out.
fn clock_alarms(value: &Value) -> String {
    let (engine, host) = (&value["engine"], field(&value["cluster"], "clock"));
    let is_named = |state: &&ClockState| engine["clock"] == state.name();
    let state = ClockState::ALL.iter().find(is_named);
    let way_out = state.and_then(|state| state.way_out());
    let mut text = String::new();
    if let Some(way_out) = way_out {
        let by = field(engine, "clockDifferenceMs");
        text +=
            &format!("\nALARM: engine time differs from the wall clock by {by} ms: {way_out}\n");
    }
    if !matches!(host.as_str(), "" | "-") {
        text += &format!("\nALARM: {host}\n");
    }
    text
}

/// The engine and all gateways, the one that answers first.
fn processes(value: &Value) -> String {
    let names = [
        ("process", ""),
        ("pid", "pid"),
        ("sequence", "sequence"),
        ("durable", "durableSequence"),
        ("epoch", "epoch"),
        ("connections", "connections"),
    ];
    let row = |process: &str, figures: &Value| {
        names
            .map(|(_, name)| match name {
                "" => process.to_owned(),
                name => field(figures, name),
            })
            .to_vec()
    };
    let head = names.map(|(title, _)| title.to_owned()).to_vec();
    let mut rows = vec![head, row("engine", &value["engine"])];
    let others = value["gateways"].as_array().map_or(&[][..], Vec::as_slice);
    let name = |gateway: &Value| format!("gateway-{}", field(gateway, "number"));
    let gateway = &value["gateway"];
    rows.push(match others.is_empty() {
        true => row("gateway", gateway),
        false => row(&name(gateway), gateway),
    });
    rows.extend(others.iter().map(|other| row(&name(other), other)));
    table(&rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_status_reads_without_an_engine_too() {
        let gateway =
            json!({ "pid": 7, "sequence": 4, "durableSequence": 5, "epoch": 2, "connections": 1 });
        let exchange = json!({ "mode": "running", "durability": "disk", "live_orders": 3 });
        let mut value = json!({ "engine": null, "gateway": gateway, "exchange": exchange });
        let text = status(&value);
        assert!(!text.contains("without a payout"), "{text}");
        assert!(!text.contains("outward"), "{text}");
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
        value["gateway"]["number"] = 1.into();
        value["gateways"] = json!([{ "number": 2, "pid": 8, "sequence": 3, "durableSequence": 5, "epoch": 2,
            "connections": 4, "up": true }, { "number": 3, "pid": null, "up": false }]);
        let text = status(&value);
        assert!(
            text.contains("gateway-2  8    3         5        2      4\n"),
            "{text}"
        );
        assert!(text.contains("ALARM: gateway-3 does not answer"), "{text}");
        value["gateways"] = json!([]);
        value["exchange"]["outward_closed"] = true.into();
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
        assert!(
            text.contains("outward         closed since a restore"),
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
    fn webhooks_and_processes_that_fail_are_alarms() {
        assert_eq!(webhooks(&Value::Null), "");
        let mut report = json!({ "delivered": 4, "failedAttempts": 0, "sequence": 9, "waitingSequence": null,
            "waitingSeconds": 0, "reason": "" });
        let line = "webhooks        4 notices delivered, up to sequence 9; 0 failed attempts\n";
        assert_eq!(webhooks(&report), line);
        report["waitingSequence"] = 10.into();
        report["waitingSeconds"] = 61.into();
        report["reason"] = "the receiver answered 500".into();
        let alarm = "ALARM: the webhook of sequence 10 has failed for 61 s, and every later one waits: the receiver answered 500\n";
        assert!(webhooks(&report).ends_with(alarm), "{}", webhooks(&report));
        let processes = json!([
            { "name": "engine", "ready": true, "ended": "", "finalEnd": false },
            { "name": "webhooks", "ready": false, "ended": "exit status: 78", "finalEnd": true },
        ]);
        assert_eq!(
            ended_processes(&processes),
            "\nALARM: webhooks ended (exit status: 78) and is not restarted: see its log\n"
        );
    }

    #[test]
    fn a_wrong_clock_is_an_alarm_with_the_way_out() {
        let value = json!({
            "engine": { "clock": "ahead", "clockDifferenceMs": 1_200_000 },
            "cluster": { "clock": "the clock differs from that of host b by 9000 ms: set both by NTP" },
        });
        let text = clock_alarms(&value);
        let way_out = ClockState::Ahead.way_out().expect("it is wrong");
        let engine =
            format!("ALARM: engine time differs from the wall clock by 1200000 ms: {way_out}");
        assert!(text.contains(&engine), "{text}");
        assert!(text.contains("by 9000 ms: set both by NTP\n"), "{text}");
        let right = json!({ "engine": { "clock": "right" }, "cluster": { "clock": "" } });
        assert_eq!(clock_alarms(&right), "");
        assert_eq!(clock_alarms(&json!({ "engine": null })), "");
    }
}
