//! The worked flow: a live exchange sends exactly its messages, ids, times and hashes apart.

use std::collections::BTreeMap;

use foretell_model::{Side, TokenId};
use foretell_ops::trader::{Sets, SignedOrder, Terms, Trader, token};
use foretell_tests::operator;
use foretell_tests::streams::{Books, Connection, sequence};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Market, Site};

/// Receiver and message of each line; `…` stands for the fields that end every message.
const FLOW: &str = include_str!("../../../rules/properties/stream_agrees/worked_flow.txt");
const PEOPLE: [&str; 4] = ["alice", "bob", "carol", "dave"];
/// Values that are ids or times of one run, and fields that the registration decides.
const TIMES: [&str; 4] = ["timestamp", "created_at", "match_time", "last_update"];
const OTHERS: [&str; 9] = [
    "hash",
    "stream_id",
    "server_ts_ms",
    "id",
    "question",
    "slug",
    "tags",
    "description",
    "event_message",
];
/// Sequence of the first book of the flow.
const FIRST: u64 = 100;
/// The flow leaves out what the maker of this frame reads.
const MAKER_LEFT_OUT: (&str, u64) = ("carol", 104);

#[tokio::test]
async fn a_live_exchange_sends_the_worked_flow() {
    let site = Site::two_gateways().await;
    let market = site.market(1).await;
    let [yes, no] = [0, 1].map(|index| token(&market.tokens[index]).expect("a token"));
    let sets = Sets {
        condition: &market.condition,
        lots: 12_000,
        reference: "before the flow",
    };
    site.traders[2].split(&sets).await.expect("an answer");
    site.shown(&market.tokens[0]).await;

    let subscription = json!({ "type": "market", "assets_ids": [market.tokens[0]], "custom_feature_enabled": true });
    let mut public = site.connect(&subscription).await;
    let mut read = public.until_type("book").await;
    let mut own = Vec::new();
    for person in 0..PEOPLE.len() {
        let mut connection = site.connect(&site.own(person)).await;
        connection.until_type("subscribed").await;
        own.push(connection);
    }

    let orders = trade(&site, [yes, no]).await;
    let condition = json!({ "condition_id": market.condition });
    for (path, fields) in [
        ("/markets/tick", json!({ "tick_size": "0.001" })),
        ("/markets/close", json!({})),
        ("/markets/resolve", json!({ "payout": "yes" })),
    ] {
        let mut body = condition.clone();
        body.as_object_mut()
            .expect("an object")
            .extend(fields.as_object().expect("fields").clone());
        operator::done(&site.exchange, path, &body).await;
    }
    read.extend(public.until_type("market_resolved").await);
    let end = sequence(read.last().expect("a message"));
    let mut books = Books::default();
    read.iter().for_each(|message| books.fold(message));

    let mut streams = BTreeMap::from([("market".to_owned(), read)]);
    for (person, connection) in PEOPLE.iter().zip(&mut own) {
        streams.insert((*person).to_owned(), records(connection, end).await);
    }
    let names = Names::learn(&site, &market, &orders, &streams);
    compare(&names, &streams);
    assert!(site.exchange.stop().success());
}

/// The orders of the flow, and the cancel.
async fn trade(site: &Site, [yes, no]: [TokenId; 2]) -> Vec<SignedOrder> {
    let mut orders = Vec::new();
    for (person, token, side, lots, price, order_type) in [
        (0, yes, Side::Buy, 10_000, 4_000, "GTC"),
        (1, no, Side::Buy, 5_000, 5_500, "GTC"),
        (2, yes, Side::Sell, 12_000, 4_000, "GTC"),
        // A FAK BUY of the interface is a budget; the flow's is of shares, and completes.
        (3, yes, Side::Buy, 3_000, 4_500, "GTC"),
    ] {
        let terms = Terms {
            order_type,
            ..Terms::limit(token, false, side, lots, price)
        };
        let trader: &Trader = &site.traders[person];
        let order = trader.sign(&terms).expect("a signature");
        let (status, answer) = trader.place(&order).await.expect("an answer");
        assert_eq!(status, 200, "{answer}");
        orders.push(order);
    }
    let cancel = json!({ "orderID": orders[1].id.to_string() }).to_string();
    let (status, answer) = site.traders[1]
        .signed(Method::DELETE, "/order", "", &cancel)
        .await
        .expect("an answer");
    assert_eq!(status, 200, "{answer}");
    orders
}

/// The own orders and trades of a connection up to a sequence.
async fn records(connection: &mut Connection, end: u64) -> Vec<Value> {
    let read = connection
        .until(|message| message["event_type"] == "heartbeat" && sequence(message) >= end)
        .await;
    let records = read.into_iter();
    let mut records: Vec<_> = records
        .filter(|message| matches!(message["event_type"].as_str(), Some("order" | "trade")))
        .collect();
    // Confirmations come later than the next frames.
    records.sort_by_key(sequence);
    records
}

/// What stands for the ids and sequences of this run in the flow.
struct Names {
    texts: BTreeMap<String, String>,
    sequences: BTreeMap<String, String>,
}

impl Names {
    fn learn(
        site: &Site,
        market: &Market,
        orders: &[SignedOrder],
        streams: &BTreeMap<String, Vec<Value>>,
    ) -> Self {
        let mut texts = BTreeMap::from([
            (market.condition.clone(), "<M>".to_owned()),
            (market.tokens[0].clone(), "<YES>".to_owned()),
            (market.tokens[1].clone(), "<NO>".to_owned()),
            (
                "00000000-0000-0000-0000-000000000000".to_owned(),
                "<zero>".to_owned(),
            ),
        ]);
        for (person, trader) in PEOPLE.iter().zip(site.traders.iter()) {
            texts.insert(trader.api_key().to_owned(), format!("<{person}.key>"));
            texts.insert(
                trader.address().to_lowercase(),
                format!("<{person}.wallet>"),
            );
        }
        for (name, order) in ["<A1>", "<B1>", "<C1>", "<D1>"].iter().zip(orders) {
            texts.insert(order.id.to_string(), (*name).to_owned());
        }
        let public = &streams["market"];
        let trades = ["alice", "dave"]
            .map(|person| &streams[person])
            .into_iter()
            .flatten();
        let ids =
            trades.filter(|message| message["status"] == "MATCHED" && message["type"] == "TRADE");
        for (name, message) in ["<t1>", "<t2>"].iter().zip(ids) {
            texts.insert(text(&message["id"]), (*name).to_owned());
        }
        // Sequences of the flow follow one another; here other frames may come between them.
        let mut sequences = BTreeMap::from([(sequence(&public[0]), FIRST)]);
        let (mut frames, mut number) =
            (public[1..].iter().map(sequence).collect::<Vec<_>>(), FIRST);
        frames.dedup();
        for frame in frames {
            // The close has no message, and its sequence none either.
            number += if number == 106 { 2 } else { 1 };
            sequences.insert(frame, number);
        }
        for message in public
            .iter()
            .filter(|message| message["event_type"] == "last_trade_price")
        {
            let frame = format!("<receipt{}>", sequences[&sequence(message)]);
            texts.insert(text(&message["transaction_hash"]), frame);
        }
        let texts_of = |(live, flow): (u64, u64)| (live.to_string(), flow.to_string());
        Self {
            texts,
            sequences: sequences.into_iter().map(texts_of).collect(),
        }
    }

    /// A message of this run in the words of the flow.
    fn translate(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::from(self.texts.get(text).unwrap_or(text).clone()),
            Value::Array(items) => items.iter().map(|item| self.translate(item)).collect(),
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), self.translate(value)));
                Value::Object(fields.collect())
            }
            other => other.clone(),
        }
    }

    fn message(&self, message: &Value) -> Value {
        let mut translated = self.translate(message);
        let fields = translated.as_object_mut().expect("an object");
        for name in ["sequence", "prev_sequence"] {
            if let Some(Value::String(number)) = fields.get_mut(name) {
                // The market's last frame before the flow is another one here.
                let before = (name == "prev_sequence").then(|| FIRST.to_string());
                let known = self.sequences.get(number).cloned().or(before);
                *number = known.unwrap_or_else(|| panic!("{name} of {message}"));
            }
        }
        translated
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Checks the times of a message, and removes what differs from run to run.
fn without_run(mut message: Value) -> Value {
    let is_record = message["event_type"] == "order" || message["event_type"] == "trade";
    let seconds = text(&message["timestamp"]);
    let seconds = &seconds[..seconds.len() - 3];
    for name in ["match_time", "last_update"] {
        assert!(
            message[name].is_null() || message[name] == seconds,
            "{name} of {message}"
        );
    }
    if message["type"] == "PLACEMENT" {
        assert_eq!(message["created_at"], seconds, "{message}");
    }
    let fields = message.as_object_mut().expect("an object");
    for name in TIMES {
        fields.remove(name);
    }
    for name in OTHERS {
        if !(is_record && name == "id") {
            fields.remove(name);
        }
    }
    for change in fields
        .get_mut("price_changes")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        change.as_object_mut().expect("an object").remove("hash");
    }
    message
}

fn compare(names: &Names, streams: &BTreeMap<String, Vec<Value>>) {
    let mut flow: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in FLOW.lines() {
        let (receiver, message) = line.split_once(' ').expect("a receiver");
        let message = message.trim().replace('…', "").replace("FAK", "GTC");
        let message = serde_json::from_str(&message).expect("a message");
        flow.entry(receiver.to_owned())
            .or_default()
            .push(without_run(message));
    }
    assert_eq!(flow.values().map(Vec::len).sum::<usize>(), 36);
    for (receiver, expected) in flow {
        let mut sent: Vec<_> = streams[&receiver]
            .iter()
            .map(|message| without_run(names.message(message)))
            .collect();
        if receiver == MAKER_LEFT_OUT.0 {
            let (before, rest): (Vec<_>, Vec<_>) = sent
                .into_iter()
                .partition(|message| sequence(message) < MAKER_LEFT_OUT.1);
            let kinds: Vec<_> = rest
                .iter()
                .map(|message| (text(&message["event_type"]), text(&message["status"])))
                .collect();
            let expected = [
                ("trade", "MATCHED"),
                ("order", "MATCHED"),
                ("trade", "CONFIRMED"),
            ];
            assert_eq!(
                kinds,
                expected.map(|(kind, status)| (kind.to_owned(), status.to_owned()))
            );
            sent = before;
        }
        for (index, message) in expected.iter().enumerate() {
            assert_eq!(
                sent.get(index),
                Some(message),
                "message {index} of {receiver}"
            );
        }
        assert_eq!(sent.len(), expected.len(), "{receiver}: {:?}", sent.last());
    }
}
