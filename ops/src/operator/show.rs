//! Answers of the operator's surface as text.

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
        &["conditionId", "status", "tick", "question"],
    )
}

/// `GET /keys`
pub(super) fn keys(value: &Value) -> String {
    columns(&value["keys"], &["apiKey", "nonce", "status", "readOnly"])
}

/// `GET /accounts/{wallet}`
pub(super) fn account(value: &Value) -> String {
    let mut text = String::new();
    let plain: Vec<Vec<String>> = value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, inner)| !inner.is_array())
        .map(|(name, _)| vec![name.clone(), field(value, name)])
        .collect();
    text.push_str(&table(&plain));
    for (list, names) in [
        ("wallets", &["wallet", "kind"][..]),
        (
            "positions",
            &["conditionId", "outcome", "shares", "reserved"][..],
        ),
    ] {
        if value[list]
            .as_array()
            .is_some_and(|items| !items.is_empty())
        {
            text.push('\n');
            text.push_str(&columns(&value[list], names));
        }
    }
    text
}

/// `GET /status`
pub(super) fn status(value: &Value) -> String {
    let engine = &value["engine"];
    let mut rows = Vec::new();
    for (title, name) in [
        ("mode", "mode"),
        ("durability", "durability"),
        ("sequence", "sequence"),
        ("durable", "durableSequence"),
        ("epoch", "epoch"),
        ("markets", "markets"),
        ("accounts", "accounts"),
        ("live orders", "liveOrders"),
        ("gateway connections", "connections"),
        ("ring", "ring"),
        ("disk low", "diskLow"),
    ] {
        rows.push(vec![title.to_owned(), field(engine, name)]);
    }
    let gateway = &value["gateway"];
    rows.push(vec![
        "gateway sequence".to_owned(),
        field(gateway, "sequence"),
    ]);
    let mut text = table(&rows);
    if engine["stages"].is_array() {
        text.push_str("\nlatency by stage\n");
        text.push_str(&columns(
            &engine["stages"],
            &["stage", "count", "p50", "p99", "p999", "max"],
        ));
    }
    if value["books"].is_array() {
        text.push_str("\nbooks\n");
        text.push_str(&columns(
            &value["books"],
            &["bid", "ask", "orders", "question"],
        ));
    }
    text
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
        let value = json!({ "markets": [{ "conditionId": "0x1", "status": "active", "tick": "0.01", "question": "Q?" }] });
        assert_eq!(
            markets(&value),
            "conditionId  status  tick  question\n0x1          active  0.01  Q?\n"
        );
    }
}
