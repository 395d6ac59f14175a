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
pub(super) fn withdrawals(value: &Value) -> String {
    let columns_shown = [
        "withdrawal",
        "status",
        "wallet",
        "amount",
        "destination",
        "reference",
        "requested_at",
        "claimed_by",
        "payment",
    ];
    let mut rows = columns(&value["withdrawals"], &columns_shown);
    let shown = value["withdrawals"].as_array().map_or(0, Vec::len);
    if value["next"].is_string() {
        let waiting = &value["waiting"];
        rows.push_str(&format!(
            "\n{shown} rows, more follow; {waiting} withdrawals wait: --limit takes up to 500"
        ));
    }
    match value["shut"] == Value::Bool(true) {
        true => format!(
            "withdrawals are shut since a restore, and nothing else goes outward: reconcile, then \
             `foretell withdrawals open`\n{rows}"
        ),
        false => rows,
    }
}

/// `GET /review`
pub(super) fn review(value: &Value) -> String {
    let disputed = |row: &Value| match &row["dispute"] {
        Value::Null => "no".to_owned(),
        dispute => {
            let [by, counter] = ["disputed_by", "counter_outcome"].map(|name| field(dispute, name));
            format!("by {by}, {counter}")
        }
    };
    let proposals = columns(
        &with(&value["proposals"], "disputed", disputed),
        &[
            "slug",
            "outcome",
            "proposal",
            "proposed_by",
            "challenge_ends",
            "challenge_over",
            "disputed",
            "source",
        ],
    );
    let waits = |row: &Value| age(&row["closed_seconds"]);
    let closed = columns(
        &with(&value["closed"], "waits", waits),
        &["slug", "closed_at", "waits", "condition_id"],
    );
    format!("proposals\n{proposals}\nclosed, no proposal\n{closed}")
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

/// Seconds as people say them.
pub(super) fn age(seconds: &Value) -> String {
    match seconds.as_u64().unwrap_or_default() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// Selected fields with labels, one a line.
pub(super) fn named(value: &Value, names: &[(&str, &str)]) -> String {
    let row = |(title, name): &(&str, &str)| vec![(*title).to_owned(), field(value, name)];
    table(&names.iter().map(row).collect::<Vec<_>>())
}

/// Selected fields of a list's items, below their names.
pub(super) fn columns(items: &Value, names: &[&str]) -> String {
    let head = names.iter().map(|name| (*name).to_owned()).collect();
    let items = items.as_array().into_iter().flatten();
    let rows = items.map(|item| names.iter().map(|name| field(item, name)).collect());
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// A list's items, each with one more field.
fn with(items: &Value, name: &str, text: impl Fn(&Value) -> String) -> Value {
    let items = items.as_array().into_iter().flatten();
    let extended = items.map(|item| {
        let mut item = item.clone();
        item[name] = text(&item).into();
        item
    });
    extended.collect()
}

pub(super) fn has_items(list: &Value) -> bool {
    list.as_array().is_some_and(|items| !items.is_empty())
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
