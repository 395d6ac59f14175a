//! The lists of the data surface with decimal token ids, side by side with the default form. Lists of trades
//! have other rows, too, which are compared with the journal.

use foretell_gateway::Compatibility;
use serde_json::Value;

use crate::naive::Naive;
use crate::properties::data_agrees::busy;
use crate::properties::data_agrees::site::Site;
use crate::properties::journal::event_id;

/// The row in the token form, from the row in the default form.
pub(crate) fn in_tokens(plain: &Naive, value: &Value) -> Value {
    match value {
        Value::Array(rows) => rows.iter().map(|row| in_tokens(plain, row)).collect(),
        Value::Object(fields) => {
            let is_open = fields.contains_key("negativeRisk");
            let fields = fields.iter().map(|(name, value)| {
                let value = match (name.as_str(), value.as_str()) {
                    ("asset" | "oppositeAsset" | "token", Some(asset)) => {
                        token(plain, asset).into()
                    }
                    // Closed positions keep the time, as in the family.
                    ("endDate", Some(date)) if is_open => date.split('T').next().into(),
                    _ => in_tokens(plain, value),
                };
                (name.clone(), value)
            });
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// The decimal token id of an asset; actions have no asset.
fn token(plain: &Naive, asset: &str) -> String {
    let Some((condition, outcome)) = asset.split_once(':') else {
        assert_eq!(asset, "");
        return String::new();
    };
    let market = plain
        .markets
        .iter()
        .find(|market| market.condition == condition);
    let outcome: usize = outcome.parse().expect("an index");
    market.expect("a market").tokens[outcome].clone()
}

/// Every list, with a filter in each form of a market's name in place of `MARKET`.
fn paths(plain: &Naive) -> Vec<String> {
    let mut paths: Vec<String> = [
        "/holders?market=MARKET&minBalance=0",
        "/oi",
        "/oi?market=MARKET",
        "/live-volume?market=MARKET",
        "/v1/leaderboard?timePeriod=ALL",
        "/v1/builders/leaderboard?timePeriod=ALL",
        "/v1/builders/volume?timePeriod=ALL",
        "/leaderboard?timePeriod=ALL&orderBy=VOL",
        "/live-volume?id=EVENT",
        "/v2/positions?condition_id=MARKET",
        "/v2/holders?condition_id=MARKET&include_pnl=true",
        "/v2/oi?condition_id=MARKET",
        "/v2/live-volume?event_id=EVENT",
    ]
    .map(str::to_owned)
    .into();
    for user in &plain.wallets {
        for list in [
            "/positions?sizeThreshold=0&limit=500",
            "/positions?sizeThreshold=0&sortBy=RESOLVING&market=MARKET",
            "/closed-positions?limit=50",
            "/closed-positions?limit=50&market=MARKET",
            "/positions?sizeThreshold=0&eventId=EVENT",
            "/closed-positions?limit=50&eventId=EVENT",
            "/value?market=MARKET",
            "/v1/leaderboard?timePeriod=ALL",
            "/v2/positions?condition_id=MARKET",
            "/v2/positions?status=CLOSED",
            "/v2/value?condition_id=MARKET",
            "/v2/leaderboard?time_period=all",
            "/traded?",
        ] {
            paths.push(format!("{list}&user={user}").replace("?&", "?"));
        }
    }
    let event = event_id(1).to_string();
    paths
        .iter()
        .map(|path| path.replace("EVENT", &event))
        .collect()
}

#[test]
fn both_forms_show_the_same_rows_and_take_both_filters() {
    let journal = busy::journal(3);
    let plain = Naive::of(&journal);
    let default = Site::serve_as(&journal, Compatibility::Interface);
    let tokens = Site::serve_as(&journal, Compatibility::Polymarket);
    for (_, market) in plain.shown() {
        for (outcome, token) in market.tokens.iter().enumerate() {
            let prices = [token, &format!("{}:{outcome}", market.condition)].map(|token| {
                let path = format!("/v2/prices-history?interval=max&token_id={token}");
                [&default, &tokens].map(|site| site.get(&path)["data"].clone())
            });
            assert_eq!(prices[0], prices[1], "{token}");
            assert_eq!(prices[0][0], prices[0][1], "{token}");
        }
    }
    let mut differing = 0;
    for path in paths(&plain) {
        let names_market = path.contains("MARKET");
        for (_, market) in plain.shown() {
            let condition = &market.condition;
            let mut answers = Vec::new();
            let assets = [0, 1].map(|outcome| format!("{condition}:{outcome}"));
            let forms = [
                condition,
                &assets[0],
                &assets[1],
                &market.tokens[0],
                &market.tokens[1],
            ];
            for form in forms {
                let path = path.replace("MARKET", form);
                let [shown, as_tokens] = [&default, &tokens].map(|site| site.get(&path));
                assert_eq!(as_tokens, in_tokens(&plain, &shown), "{path}");
                differing += usize::from(as_tokens != shown);
                answers.push(shown);
                if !names_market {
                    break;
                }
            }
            answers.dedup();
            assert_eq!(answers.len(), 1, "{path}");
            if !names_market {
                break;
            }
        }
    }
    assert!(
        differing > 20,
        "{differing} answers differ between the forms"
    );
}
