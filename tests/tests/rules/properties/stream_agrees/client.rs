//! Clients: what a reader may rely on. Each token has a reader who folds `price_change` into its
//! book, each key one who keeps what it was told.

use std::collections::{BTreeMap, BTreeSet};

use foretell_gateway::{StreamFold, StreamMessage, StreamReceiver};
use foretell_model::{KeyNumber, MarketNumber, Outcome};
use serde_json::Value;

use crate::properties::text::{array, object, quoted, sha1};

/// A reader of one token.
struct BookReader {
    /// The fields of the last `book`, and what later messages say of them.
    fields: BTreeMap<&'static str, String>,
    /// Price in units of 0.0001, and the texts of price and size.
    bids: BTreeMap<u64, (String, String)>,
    asks: BTreeMap<u64, (String, String)>,
    last_seen: u64,
    asset: Value,
}

/// All readers.
#[derive(Default)]
pub(crate) struct Clients {
    books: BTreeMap<(u32, usize), BookReader>,
    /// Status and id of each trade, by key.
    trades: BTreeSet<(u32, String, String)>,
}

fn units(price: &str) -> u64 {
    let (whole, part) = price.split_once('.').unwrap_or((price, ""));
    format!("{whole}{part:0<4}").parse().expect("a price")
}

fn text<'a>(message: &'a Value, field: &str) -> &'a str {
    message[field].as_str().expect("a text")
}

const RULES: [&str; 4] = [
    "min_order_size",
    "tick_size",
    "neg_risk",
    "last_trade_price",
];

impl BookReader {
    fn new(book: &Value) -> Self {
        let mut reader = Self {
            fields: BTreeMap::new(),
            bids: BTreeMap::new(),
            asks: BTreeMap::new(),
            last_seen: text(book, "sequence").parse().expect("a number"),
            asset: book["asset_id"].clone(),
        };
        reader.replace(book);
        reader
    }

    fn replace(&mut self, book: &Value) {
        let level = |level: &Value| {
            let (price, size) = (text(level, "price"), text(level, "size"));
            (units(price), (price.to_owned(), size.to_owned()))
        };
        let side = |name: &str| {
            let levels = book[name].as_array().expect("levels").iter();
            levels.map(level).collect()
        };
        (self.bids, self.asks) = (side("bids"), side("asks"));
        for field in ["market", "asset_id", "timestamp"].into_iter().chain(RULES) {
            self.fields.insert(field, book[field].to_string());
        }
    }

    /// The hash of the folded book.
    fn hash(&self) -> String {
        let level = |(price, size): &(String, String)| {
            object(&[("price", quoted(price)), ("size", quoted(size))])
        };
        let mut fields = vec![
            ("market", self.fields["market"].clone()),
            ("asset_id", self.fields["asset_id"].clone()),
            ("timestamp", self.fields["timestamp"].clone()),
            ("hash", quoted("")),
            ("bids", array(self.bids.values().map(level))),
            ("asks", array(self.asks.values().rev().map(level))),
        ];
        fields.extend(RULES.map(|field| (field, self.fields[field].clone())));
        sha1(&object(&fields))
    }

    fn change(&mut self, entry: &Value) -> Result<(), String> {
        let (price, size) = (text(entry, "price"), text(entry, "size"));
        let side = match text(entry, "side") {
            "BUY" => &mut self.bids,
            _ => &mut self.asks,
        };
        match size {
            "0" => side.remove(&units(price)),
            _ => side.insert(units(price), (price.to_owned(), size.to_owned())),
        };
        let (bid, ask) = (self.bids.last_key_value(), self.asks.first_key_value());
        if let Some(((bid, _), (ask, _))) = bid.zip(ask)
            && bid >= ask
        {
            return Err(format!("crossed after {entry}: {bid} and {ask}"));
        }
        Ok(())
    }

    /// Checks the chain.
    fn follow(&mut self, message: &Value) -> Result<(), String> {
        let number = |field| text(message, field).parse::<u64>().expect("a number");
        let (sequence, previous) = (number("sequence"), number("prev_sequence"));
        if sequence == self.last_seen || previous <= self.last_seen && sequence > self.last_seen {
            self.last_seen = sequence;
            return Ok(());
        }
        Err(format!("a gap after {}: {message}", self.last_seen))
    }

    /// `refines`: whether a message of this frame tells of another tick.
    fn read(&mut self, message: &Value, refines: bool) -> Result<(), String> {
        self.follow(message)?;
        let asset = self.asset.clone();
        match text(message, "event_type") {
            "book" => {
                let known = (self.bids.clone(), self.asks.clone());
                self.replace(message);
                if known != (self.bids.clone(), self.asks.clone()) {
                    return Err(format!("folded {known:?}, but the book is {message}"));
                }
                self.is_hashed(text(message, "hash"))?;
            }
            "last_trade_price" if message["asset_id"] == asset => {
                let price = message["price"].to_string();
                self.fields.insert("last_trade_price", price);
            }
            "tick_size_change" => {
                let tick = message["new_tick_size"].to_string();
                self.fields.insert("tick_size", tick);
            }
            "price_change" => {
                self.fields
                    .insert("timestamp", message["timestamp"].to_string());
                let entries = message["price_changes"].as_array().expect("entries");
                let own = |entry: &&Value| entry["asset_id"] == asset;
                for entry in entries.iter().filter(own) {
                    self.change(entry)?;
                }
                let last = entries.iter().rfind(own).ok_or("both tokens are told of")?;
                // The tick may have changed in the same frame, which is told next.
                let hash = text(last, "hash");
                if !hash.is_empty() && !refines {
                    self.is_hashed(hash)?;
                }
                let best = |level: Option<(&u64, _)>, end: u64| level.map_or(end, |it| *it.0);
                let bid = best(self.bids.last_key_value(), 0);
                let ask = best(self.asks.first_key_value(), 10_000);
                if (units(text(last, "best_bid")), units(text(last, "best_ask"))) != (bid, ask) {
                    return Err(format!("best prices {bid} and {ask}, but {last}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn is_hashed(&self, hash: &str) -> Result<(), String> {
        let own = self.hash();
        match own == hash {
            true => Ok(()),
            false => Err(format!("the folded book's hash is {own}, told is {hash}")),
        }
    }
}

impl Clients {
    /// Reads the messages of a frame.
    pub(crate) fn read(&mut self, fold: &StreamFold, sent: &[StreamMessage]) -> Result<(), String> {
        let refines = |it: &StreamMessage| it.text.contains(r#""event_type":"tick_size_change""#);
        let refines = sent.iter().any(refines);
        for message in sent {
            let parsed: Value = serde_json::from_str(&message.text).expect("JSON");
            match message.receiver {
                StreamReceiver::Token(market, outcome)
                | StreamReceiver::OnlyToken(market, outcome)
                | StreamReceiver::CustomToken(market, outcome) => {
                    self.book_of((market, outcome), &parsed, refines)?;
                }
                StreamReceiver::Market(market) => {
                    for outcome in [Outcome::Yes, Outcome::No] {
                        self.book_of((market, outcome), &parsed, refines)?;
                    }
                }
                StreamReceiver::Key(key, _) => self.told(fold, key, message, &parsed)?,
                StreamReceiver::CustomAll
                | StreamReceiver::ExtendedMarket(_)
                | StreamReceiver::ExtendedAll => {}
            }
        }
        self.subscribe(fold);
        self.agree(fold)
    }

    fn book_of(
        &mut self,
        (market, outcome): (MarketNumber, Outcome),
        message: &Value,
        refines: bool,
    ) -> Result<(), String> {
        match self.books.get_mut(&(market.0, outcome.index())) {
            Some(reader) => reader.read(message, refines),
            None => Ok(()),
        }
    }

    /// Subscribes to tokens not yet subscribed: No some frames after Yes.
    fn subscribe(&mut self, fold: &StreamFold) {
        for (market, _) in fold.view().markets().iter() {
            for outcome in [Outcome::Yes, Outcome::No] {
                let is_late =
                    outcome == Outcome::No && !fold.view().sequence().0.is_multiple_of(16);
                let key = (market.0, outcome.index());
                if is_late || self.books.contains_key(&key) {
                    continue;
                }
                let book = fold.book(market, outcome).expect("a market");
                let book = serde_json::from_str(&book).expect("JSON");
                self.books.insert(key, BookReader::new(&book));
            }
        }
    }

    /// Every folded book is the one that is shown.
    fn agree(&self, fold: &StreamFold) -> Result<(), String> {
        for (&(market, outcome), reader) in &self.books {
            let book = fold
                .view()
                .books()
                .get(MarketNumber(market))
                .expect("a book");
            if book.changed() != fold.view().sequence() {
                continue;
            }
            let outcome = [Outcome::Yes, Outcome::No][outcome];
            let shown = fold.book(MarketNumber(market), outcome).expect("a book");
            let shown: Value = serde_json::from_str(&shown).expect("JSON");
            reader.is_hashed(text(&shown, "hash"))?;
        }
        Ok(())
    }

    /// A message of the user channel: each trade once a status, and nothing of another owner.
    fn told(
        &mut self,
        fold: &StreamFold,
        key: KeyNumber,
        message: &StreamMessage,
        parsed: &Value,
    ) -> Result<(), String> {
        let keys = fold.view().keys();
        let known = keys.get(key).expect("a key");
        let others = (0..u32::try_from(keys.count()).expect("few keys")).map(KeyNumber);
        for other in others.filter_map(|other| keys.get(other)) {
            let text = crate::properties::text::uuid(other.api_key.0);
            // Random commands register the zero key, which stands for every other owner's.
            let is_zero = other.api_key.0 == [0; 16];
            if !is_zero && other.owner != known.owner && message.text.contains(&text) {
                return Err(format!("key {key:?} was told of key {text}: {parsed}"));
            }
        }
        let accounts = fold.view().accounts();
        let is_own = |wallet: &Value| {
            let wallet = foretell_wire::text::ids::address(wallet.as_str().expect("a wallet"));
            let (_, account) = accounts.by_wallet(&wallet.expect("a wallet")).expect("one");
            account.owner == known.owner
        };
        let kind = text(parsed, "event_type");
        if kind == "withdrawal" {
            let told = format!("not of key {key:?}'s owner: {parsed}");
            return is_own(&parsed["wallet"]).then_some(()).ok_or(told);
        }
        let taker = is_own(&parsed["maker_address"]);
        match kind {
            "order" if taker => Ok(()),
            "trade" if taker || is_own(&parsed["maker_orders"][0]["maker_address"]) => {
                let (id, status) = (text(parsed, "id"), text(parsed, "status"));
                let told = (key.0, id.to_owned(), status.to_owned());
                match self.trades.insert(told) {
                    true => Ok(()),
                    false => Err(format!("told twice: {parsed}")),
                }
            }
            _ => Err(format!("not of key {key:?}'s owner: {parsed}")),
        }
    }
}
