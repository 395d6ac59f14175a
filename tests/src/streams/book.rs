//! Books folded from the messages of one market, as `docs/api/streams.md` says.

use std::collections::BTreeMap;

use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::{number, sequence};

/// Prices are whole numbers of this part of a unit.
const PRICE_SCALE: u32 = 10_000;
/// Fields of a book that its hash covers, in order.
const HASHED: [&str; 10] = [
    "market",
    "asset_id",
    "timestamp",
    "hash",
    "bids",
    "asks",
    "min_order_size",
    "tick_size",
    "neg_risk",
    "last_trade_price",
];

/// The books of the two tokens of a market.
#[derive(Clone, Debug, Default)]
pub struct Books {
    tokens: BTreeMap<String, Book>,
    /// Highest sequence of a message of the market.
    last: u64,
    /// Sequences of the changes of each token with the proved hash, ascending.
    proved: BTreeMap<String, Vec<(u64, String)>>,
}

#[derive(Clone, Debug)]
struct Book {
    fields: Value,
    /// Price to size.
    bids: BTreeMap<u32, String>,
    asks: BTreeMap<u32, String>,
}

impl Books {
    /// Folds a message of the market; proves the hash of every book that it changes.
    ///
    /// # Panics
    /// A message is missing before it, a book is crossed, or a hash differs.
    pub fn fold(&mut self, message: &Value) {
        if message["market"].is_null() || message["event_type"] == "market_status" {
            return;
        }
        let at = sequence(message);
        if !message["prev_sequence"].is_null() {
            let previous = number(message, "prev_sequence");
            assert!(previous < at, "{message}");
            // A subscription takes effect between two frames: only later messages are a chain.
            assert!(
                self.last == 0 || previous <= self.last,
                "messages are missing between {} and {previous}: {message}",
                self.last
            );
        }
        match message["event_type"].as_str().expect("a type") {
            "book" => self.replace(message),
            "price_change" => self.change(message),
            "last_trade_price" => self.trade(message),
            _ => {}
        }
        assert!(at >= self.last, "{message} after {}", self.last);
        self.last = at;
    }

    /// The proved hash of a token's book at a sequence, if there is one.
    #[must_use]
    pub fn hash_at(&self, token: &str, sequence: u64) -> Option<&str> {
        let mut proved = self.proved.get(token)?.iter().rev();
        let at = proved.find(|(proved, _)| *proved <= sequence)?;
        Some(&at.1)
    }

    /// Number of hashes that were proved.
    #[must_use]
    pub fn hashes(&self) -> usize {
        self.proved.values().map(Vec::len).sum()
    }

    fn replace(&mut self, message: &Value) {
        let token = text(message, "asset_id").to_owned();
        let book = Book::new(message);
        if let Some(folded) = self.tokens.get(&token)
            && !message["prev_sequence"].is_null()
        {
            // A book of a frame says what the changes before it said.
            assert_eq!(
                (&folded.bids, &folded.asks),
                (&book.bids, &book.asks),
                "{message}"
            );
        }
        self.tokens.insert(token.clone(), book);
        self.prove(&token, text(message, "hash"), sequence(message));
    }

    fn change(&mut self, message: &Value) {
        let mut tops = BTreeMap::new();
        for change in message["price_changes"].as_array().expect("changes") {
            let token = text(change, "asset_id");
            // A connection may have one of the two tokens.
            let Some(book) = self.tokens.get_mut(token) else {
                continue;
            };
            book.set(change, &message["timestamp"]);
            assert!(!book.is_crossed(), "{message}");
            tops.insert(token.to_owned(), change.clone());
        }
        for (token, change) in tops {
            let book = &self.tokens[&token];
            let top = [book.bids.last_key_value(), book.asks.first_key_value()];
            let shown = ["best_bid", "best_ask"].map(|field| price(&change[field]));
            assert_eq!(top[0].map_or(0, |level| *level.0), shown[0], "{message}");
            assert_eq!(
                top[1].map_or(PRICE_SCALE, |level| *level.0),
                shown[1],
                "{message}"
            );
            self.prove(&token, text(&change, "hash"), sequence(message));
        }
    }

    fn trade(&mut self, message: &Value) {
        let traded = price(&message["price"]);
        for (token, book) in &mut self.tokens {
            let same = *token == text(message, "asset_id");
            let price = if same { traded } else { PRICE_SCALE - traded };
            book.fields["last_trade_price"] = Value::from(price_text(price));
        }
    }

    fn prove(&mut self, token: &str, hash: &str, at: u64) {
        let book = self.tokens[token].shown();
        assert_eq!(book_hash(&book), hash, "at {at}: {book}");
        let proved = self.proved.entry(token.to_owned()).or_default();
        proved.push((at, hash.to_owned()));
    }
}

impl Book {
    fn new(message: &Value) -> Self {
        let side = |name: &str| {
            let levels = message[name].as_array().expect("levels").iter();
            levels
                .map(|level| (price(&level["price"]), text(level, "size").to_owned()))
                .collect()
        };
        let (bids, asks) = (side("bids"), side("asks"));
        let mut fields = message.clone();
        fields
            .as_object_mut()
            .expect("an object")
            .retain(|name, _| HASHED.contains(&name.as_str()));
        Self { fields, bids, asks }
    }

    fn set(&mut self, change: &Value, timestamp: &Value) {
        let side = match text(change, "side") {
            "BUY" => &mut self.bids,
            "SELL" => &mut self.asks,
            other => panic!("a side: {other}"),
        };
        let (level, size) = (price(&change["price"]), text(change, "size"));
        if size == "0" {
            let gone = side.remove(&level);
            assert!(gone.is_some(), "a level that was there: {change}");
        } else {
            side.insert(level, size.to_owned());
        }
        self.fields["timestamp"] = timestamp.clone();
    }

    fn is_crossed(&self) -> bool {
        let (bid, ask) = (self.bids.last_key_value(), self.asks.first_key_value());
        bid.zip(ask).is_some_and(|(bid, ask)| bid.0 >= ask.0)
    }

    /// The book as `GET /book` shows it.
    fn shown(&self) -> Value {
        let level = |(price, size): (&u32, &String)| -> Value {
            serde_json::json!({ "price": price_text(*price), "size": size })
        };
        let mut shown = self.fields.clone();
        shown["bids"] = self.bids.iter().map(level).collect();
        shown["asks"] = self.asks.iter().rev().map(level).collect();
        shown
    }
}

/// SHA-1 of a book's ten fields as compact JSON in their order, with an empty hash.
///
/// # Panics
/// A field is missing.
#[must_use]
pub fn book_hash(book: &Value) -> String {
    let fields: Vec<String> = HASHED
        .iter()
        .map(|name| {
            let value = match *name {
                "hash" => "\"\"".to_owned(),
                "bids" | "asks" => levels_text(&book[*name]),
                _ => book[*name].to_string(),
            };
            assert_ne!(value, "null", "{name} of {book}");
            format!("\"{name}\":{value}")
        })
        .collect();
    let text = format!("{{{}}}", fields.join(","));
    hex::encode(Sha1::digest(text))
}

fn levels_text(levels: &Value) -> String {
    let levels: Vec<String> = levels
        .as_array()
        .expect("levels")
        .iter()
        .map(|level| {
            format!(
                "{{\"price\":{},\"size\":{}}}",
                level["price"], level["size"]
            )
        })
        .collect();
    format!("[{}]", levels.join(","))
}

fn text<'a>(message: &'a Value, field: &str) -> &'a str {
    let text = message[field].as_str();
    text.unwrap_or_else(|| panic!("no {field} in {message}"))
}

/// A price in parts of a unit.
fn price(text: &Value) -> u32 {
    let text = text.as_str().expect("a price");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = format!("{part:0<4}");
    assert_eq!(part.len(), 4, "a price of at most four decimals: {text}");
    let digits = |text: &str| -> u32 { text.parse().expect("digits") };
    digits(whole) * PRICE_SCALE + digits(&part)
}

fn price_text(price: u32) -> String {
    let text = format!("{}.{:04}", price / PRICE_SCALE, price % PRICE_SCALE);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
