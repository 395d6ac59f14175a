//! The twin's messages: those of a frame in order, and the market channel's.

use std::collections::BTreeMap;

use foretell_gateway::{StreamFold, StreamMessage, StreamReceiver};
use foretell_model::event::{
    Disputed, FeeSet, MarketRegistered, MarketResolved, MarketSettled, MarketStateSet, Proposed,
    TermsSet,
};
use foretell_model::{
    Event, MarketNumber, MarketState, Outcome, Payout, Sequence, Side, SystemMode, Tick, TimeMs,
    TimeNs,
};
use serde_json::Value;

use crate::naive::book::{Changed, of_token};
use crate::naive::{BookStory, Group, Leg, Market, Story, Told, Trade};
use crate::properties::journal::Frame;
use crate::properties::stream_agrees::Twin;
use crate::properties::text::{array, decimal, hex32, lots, object, price, quoted, sha1};

const BOTH: [Outcome; 2] = [Outcome::Yes, Outcome::No];

pub(crate) fn side_text(side: Side) -> String {
    quoted(if side == Side::Buy { "BUY" } else { "SELL" })
}

fn other(outcome: Outcome) -> Outcome {
    BOTH[1 - outcome.index()]
}

pub(crate) fn millis(time: TimeNs) -> String {
    quoted(time.0 / 1_000_000)
}

pub(crate) fn fee_rate(fee: i128, value: i128) -> String {
    let fee = fee * 10_000;
    let rate = (2 * fee + value).checked_div(2 * value).unwrap_or(0);
    quoted(rate)
}

/// What all messages of a frame share.
pub(crate) struct FrameWriter<'a> {
    twin: &'a Twin,
    sequence: Sequence,
    pub(crate) receipt: [u8; 32],
    written: TimeMs,
    out: Vec<StreamMessage>,
}

impl FrameWriter<'_> {
    pub(crate) fn send(
        &mut self,
        receiver: StreamReceiver,
        event: &str,
        fields: &[(&str, String)],
        previous: Option<Sequence>,
    ) {
        let mut all = vec![("event_type", quoted(event))];
        all.extend(fields.iter().cloned());
        all.push(("sequence", quoted(self.sequence.0)));
        all.extend(previous.map(|previous| ("prev_sequence", quoted(previous.0))));
        all.push((
            "stream_id",
            quoted(hex::encode(&self.twin.naive.genesis[..8])),
        ));
        all.push(("server_ts_ms", quoted(self.written.0)));
        self.out.push(StreamMessage {
            receiver,
            text: object(&all),
        });
    }
}

impl Twin {
    /// The messages of the next frame.
    pub(crate) fn frame(
        &mut self,
        frame: &Frame,
        receipt: [u8; 32],
        written: TimeMs,
    ) -> Vec<StreamMessage> {
        let story = self.naive.fold(frame);
        self.messages(frame, &story, receipt, written)
    }

    fn messages(
        &self,
        frame: &Frame,
        story: &Story,
        receipt: [u8; 32],
        written: TimeMs,
    ) -> Vec<StreamMessage> {
        let mut to = FrameWriter {
            twin: self,
            sequence: frame.sequence,
            receipt,
            written,
            out: Vec::new(),
        };
        for book in &story.books {
            self.book_messages(&mut to, book, story);
        }
        for notice in &story.notices {
            self.notice(&mut to, notice, story);
        }
        let fills = story.told.iter().filter_map(|step| match step {
            Told::Trade(fill) => Some(&**fill),
            _ => None,
        });
        let fills: Vec<&Trade> = fills.collect();
        for step in &story.told {
            match step {
                Told::Order(order, event, state) => self.order(&mut to, order, event, state),
                Told::Trade(fill) if fill.index == 0 => self.trade(&mut to, &fills, "MATCHED"),
                Told::Trade(_) => {}
                Told::Withdrawal(changed) => self.withdrawal(&mut to, changed),
            }
        }
        if !fills.is_empty() {
            self.trade(&mut to, &fills, "CONFIRMED");
        }
        to.out
    }

    /// The books that are asked for at the end are the twin's as well.
    pub(crate) fn is_whole(&self, fold: &StreamFold) {
        for (market, _) in (0..).map(MarketNumber).zip(&self.naive.markets) {
            if self.naive.is_outside(market) {
                continue;
            }
            for outcome in BOTH {
                let book = fold.book(market, outcome).expect("a market");
                let (json, _) = self.book(market, outcome);
                let fields = &json[1..json.len() - 1];
                assert!(book.contains(fields), "{book}\nis not\n{json}");
            }
        }
    }

    pub(crate) fn condition(&self, market: MarketNumber) -> String {
        quoted(&self.naive.markets[market.0 as usize].condition)
    }

    pub(crate) fn token(&self, market: MarketNumber, outcome: Outcome) -> String {
        quoted(&self.naive.markets[market.0 as usize].tokens[outcome.index()])
    }

    /// The book's text and its hash.
    pub(crate) fn book(&self, market: MarketNumber, outcome: Outcome) -> (String, String) {
        let ladder = self.naive.ladder(market);
        let listed = &self.naive.markets[market.0 as usize];
        let level = |(units, total): (i128, i128)| {
            object(&[("price", price(units)), ("size", lots(total))])
        };
        let of = |side: &BTreeMap<i128, i128>, is_rising: bool| {
            let levels = side
                .iter()
                .map(|(yes, total)| (of_token(outcome, *yes), *total));
            let mut levels: Vec<_> = levels.collect();
            levels.sort_unstable();
            if !is_rising {
                levels.reverse();
            }
            array(levels.into_iter().map(level))
        };
        let (bids, asks) = match outcome {
            Outcome::Yes => (&ladder.bids, &ladder.asks),
            Outcome::No => (&ladder.asks, &ladder.bids),
        };
        let last = listed
            .last_trade
            .map(|(yes, _)| decimal(of_token(outcome, yes), 4));
        let text = |hash: &str| {
            object(&[
                ("market", self.condition(market)),
                ("asset_id", self.token(market, outcome)),
                ("timestamp", millis(listed.changed.1)),
                ("hash", quoted(hash)),
                ("bids", of(bids, true)),
                ("asks", of(asks, false)),
                ("min_order_size", lots(listed.rules.minimum_size.0)),
                ("tick_size", quoted(tick_text(listed.rules.tick.units()))),
                ("neg_risk", listed.rules.event.is_some().to_string()),
                ("last_trade_price", quoted(last.as_deref().unwrap_or(""))),
            ])
        };
        let hash = sha1(&text(""));
        (text(&hash), hash)
    }

    fn book_messages(&self, to: &mut FrameWriter<'_>, book: &BookStory, story: &Story) {
        let (market, previous) = (book.market, Some(book.previous.0));
        let mut own = story.own.iter();
        let own = own.find(|own| own.market == market).map(|own| own.outcome);
        let first = own.unwrap_or(Outcome::Yes);
        let tokens = [first, other(first)];
        let begin = to.out.len();
        let trades = story.told.iter().filter_map(|step| match step {
            Told::Trade(trade) if trade.market == market.0 as usize => Some(&**trade),
            _ => None,
        });
        let trades: Vec<_> = trades.collect();
        for level in trades.chunk_by(|one, next| one.yes_price == next.yes_price) {
            let trade = level[0];
            let order = trade.legs[0].order;
            let sum = |of: fn(&Leg) -> i128| level.iter().map(|fill| of(&fill.legs[0])).sum();
            let (size, value, fee) = (
                sum(|leg| leg.lots),
                sum(|leg| leg.value),
                sum(|leg| leg.fee),
            );
            let taker = order.outcome;
            for outcome in [taker, other(taker)] {
                let side = match (outcome == taker, order.side) {
                    (true, side) => side,
                    (false, Side::Buy) => Side::Sell,
                    (false, Side::Sell) => Side::Buy,
                };
                let fields = [
                    ("market", self.condition(market)),
                    ("asset_id", self.token(market, outcome)),
                    ("price", price(of_token(outcome, trade.yes_price))),
                    ("side", side_text(side)),
                    ("size", lots(size)),
                    ("fee_rate_bps", fee_rate(fee, value)),
                    ("transaction_hash", hex32(&to.receipt)),
                    ("timestamp", millis(self.naive.now)),
                ];
                let receiver = match outcome == taker {
                    true => StreamReceiver::Token(market, outcome),
                    false => StreamReceiver::OnlyToken(market, outcome),
                };
                to.send(receiver, "last_trade_price", &fields, previous);
            }
        }
        for outcome in tokens {
            let (bid, ask) = self.naive.ladder(market).best(outcome);
            if (bid, ask) != book.before.best(outcome) {
                let fields = [
                    ("market", self.condition(market)),
                    ("asset_id", self.token(market, outcome)),
                    ("best_bid", price(bid)),
                    ("best_ask", price(ask)),
                    ("spread", price(ask - bid)),
                    ("timestamp", millis(self.naive.now)),
                ];
                let receiver = StreamReceiver::CustomToken(market, outcome);
                to.send(receiver, "best_bid_ask", &fields, previous);
            }
        }
        self.price_change(to, own, book);
        for (old, new) in &book.ticks {
            for outcome in tokens {
                let fields = [
                    ("market", self.condition(market)),
                    ("asset_id", self.token(market, outcome)),
                    ("old_tick_size", quoted(tick_text(*old))),
                    ("new_tick_size", quoted(tick_text(*new))),
                    ("timestamp", millis(self.naive.now)),
                ];
                let receiver = StreamReceiver::Token(market, outcome);
                to.send(receiver, "tick_size_change", &fields, previous);
            }
        }
        let is_always = to.out.len() == begin || !book.ticks.is_empty();
        for outcome in tokens {
            let (json, _) = self.book(market, outcome);
            let is_sent = is_always
                || match json.len() > self.limits.1 {
                    true => self.is_large_due(book, !trades.is_empty()),
                    false => !trades.is_empty(),
                };
            if is_sent {
                let whole: serde_json::Value = serde_json::from_str(&json).expect("JSON");
                assert!(whole.is_object());
                let text = json[1..json.len() - 1].to_owned();
                let (name, rest) = text.split_once(':').expect("a field");
                // The first field's name, and the rest of the text as its value.
                let fields = [(name.trim_matches('"'), rest.to_owned())];
                let receiver = StreamReceiver::Token(market, outcome);
                to.send(receiver, "book", &fields, previous);
            }
        }
    }

    /// The first trade of a tenth of a second, or the first change after the one with the last
    /// trades.
    fn is_large_due(&self, book: &BookStory, is_traded: bool) -> bool {
        let tenth = |time: TimeNs| time.0 / 100_000_000;
        let (now, last_change) = (tenth(self.naive.now), tenth(book.previous.1));
        match book.last_trade_before.map(tenth) {
            None => is_traded,
            Some(last_trade) => {
                (is_traded && last_trade != now) || (last_change < now && last_change == last_trade)
            }
        }
    }

    fn price_change(&self, to: &mut FrameWriter<'_>, own: Option<Outcome>, book: &BookStory) {
        let market = book.market;
        let changed = self.naive.changed(book);
        let (shrunk, grown): (Vec<_>, Vec<_>) =
            changed.iter().partition(|level| level.after < level.before);
        let mut ordered: Vec<&Changed> = Vec::new();
        for mut levels in [shrunk, grown] {
            levels.sort_by_key(|level| level.yes_price);
            ordered.extend(levels.iter().rev().filter(|level| level.is_bid));
            ordered.extend(levels.iter().filter(|level| !level.is_bid));
        }
        if ordered.is_empty() {
            return;
        }
        let ladder = self.naive.ladder(market);
        let is_hashed = ladder.bids.len() + ladder.asks.len() <= self.limits.0;
        let books = BOTH.map(|outcome| {
            let hash = is_hashed.then(|| self.book(market, outcome).1);
            (hash.unwrap_or_default(), ladder.best(outcome))
        });
        let entries = ordered.iter().flat_map(|level| {
            let first = own.unwrap_or(level.first);
            [first, other(first)].map(|outcome| {
                let is_bid = level.is_bid == (outcome == Outcome::Yes);
                let (hash, (bid, ask)) = &books[outcome.index()];
                object(&[
                    ("asset_id", self.token(market, outcome)),
                    ("price", price(of_token(outcome, level.yes_price))),
                    ("size", lots(level.after)),
                    (
                        "side",
                        side_text(if is_bid { Side::Buy } else { Side::Sell }),
                    ),
                    ("hash", quoted(hash)),
                    ("best_bid", price(*bid)),
                    ("best_ask", price(*ask)),
                ])
            })
        });
        let fields = [
            ("market", self.condition(market)),
            ("price_changes", array(entries.collect::<Vec<_>>())),
            ("timestamp", millis(self.naive.now)),
        ];
        let previous = Some(book.previous.0);
        to.send(
            StreamReceiver::Market(market),
            "price_change",
            &fields,
            previous,
        );
    }

    fn notice(&self, to: &mut FrameWriter<'_>, notice: &Event, story: &Story) {
        match *notice {
            Event::MarketRegistered(MarketRegistered { market, .. }) => {
                let fields = self.listing(market, None);
                to.send(StreamReceiver::CustomAll, "new_market", &fields, None);
            }
            Event::MarketResolved(MarketResolved { market, payout }) => {
                let fields = self.listing(market, Some(payout));
                let touched = story.books.iter().find(|book| book.market == market);
                // The Yes of another question ends its orders in the same frame.
                let last = self.naive.markets[market.0 as usize].changed.0;
                let previous = touched.map_or(last, |book| book.previous.0);
                to.send(
                    StreamReceiver::CustomAll,
                    "market_resolved",
                    &fields,
                    Some(previous),
                );
                let payout = ("payout", quoted(payout_text(payout)));
                self.status(to, market, "resolved", &[payout]);
            }
            Event::MarketStateSet(MarketStateSet { market, state, .. }) => {
                self.status(to, market, state_text(state), &[]);
            }
            Event::MarketCleared { market } => {
                let state = self.naive.markets[market.0 as usize].state;
                let cleared = ("cleared", "true".to_owned());
                self.status(to, market, state_text(state), &[cleared]);
            }
            Event::TermsSet(TermsSet { market, .. }) | Event::FeeSet(FeeSet { market, .. }) => {
                let state = self.naive.markets[market.0 as usize].state;
                let terms = ("terms", self.terms(market));
                self.status(to, market, state_text(state), &[terms]);
            }
            Event::Proposed(Proposed {
                market,
                payout,
                challenge_ends,
                ..
            }) => {
                let more = [
                    ("payout", quoted(payout_text(payout))),
                    ("challenge_ends", millis(challenge_ends)),
                ];
                self.status(to, market, "proposed", &more);
            }
            Event::Disputed(Disputed { market, counter }) => {
                let counter = counter.map(|payout| ("counter", quoted(payout_text(payout))));
                let more: Vec<_> = counter.into_iter().collect();
                self.status(to, market, "disputed", &more);
            }
            Event::ProposalWithdrawn { market } => self.status(to, market, "closed", &[]),
            Event::MarketSettled(MarketSettled { market, .. }) => {
                self.status(to, market, "settled", &[])
            }
            Event::ModeSet { mode } => {
                let state = match mode {
                    SystemMode::Running => "running",
                    SystemMode::PostOnly => "post_only",
                    SystemMode::CancelOnly => "cancel_only",
                    SystemMode::Paused => "paused",
                };
                let fields = [("state", quoted(state))];
                to.send(StreamReceiver::ExtendedAll, "system_status", &fields, None);
            }
            _ => unreachable!("no notice"),
        }
    }

    fn status(
        &self,
        to: &mut FrameWriter<'_>,
        market: MarketNumber,
        state: &str,
        more: &[(&'static str, String)],
    ) {
        let mut fields = vec![("market", self.condition(market)), ("state", quoted(state))];
        fields.extend_from_slice(more);
        fields.push(("timestamp", millis(self.naive.now)));
        let receiver = StreamReceiver::ExtendedMarket(market);
        to.send(receiver, "market_status", &fields, None);
    }

    fn terms(&self, market: MarketNumber) -> String {
        let Market { terms, rules, .. } = &self.naive.markets[market.0 as usize];
        let mut fields = Vec::new();
        for (name, time) in [
            ("opens_at", terms.opens_at),
            ("closes_at", terms.closes_at),
            ("game_start_time", terms.game_start_time),
        ] {
            if time.0 != 0 {
                fields.push((name, quoted(time.0)));
            }
        }
        let clears = terms.clear_book_on_start.to_string();
        fields.push(("clear_book_on_start", clears));
        fields.push(("taker_delay_ms", quoted(terms.taker_delay_ms)));
        fields.push(("rebate_ppm", quoted(terms.rebate_ppm)));
        fields.push(("fee_rate_ppm", quoted(rules.fee.rate_ppm)));
        fields.push(("fee_exponent", quoted(rules.fee.exponent)));
        object(&fields)
    }

    /// The fields of `new_market`, or with a payout those of `market_resolved`.
    fn listing(&self, market: MarketNumber, payout: Option<Payout>) -> Vec<(&'static str, String)> {
        let listed = &self.naive.markets[market.0 as usize];
        let word = |name: &str| quoted(listed.word(name));
        let tokens = array(BOTH.map(|outcome| self.token(market, outcome)));
        let outcomes = array(BOTH.map(|outcome| quoted(listed.label(outcome.index()))));
        let id = match listed.description["market_id"].as_u64() {
            None | Some(0) => own_id("market", &listed.rules.condition.0),
            Some(id) => id,
        };
        let event = self.event_of(listed);
        let event = event.map(|event| ("event_message", event));
        let Some(payout) = payout else {
            let mut fields = vec![
                ("id", quoted(id)),
                ("question", word("question")),
                ("market", self.condition(market)),
                ("slug", word("slug")),
                ("description", word("description")),
                ("assets_ids", tokens.clone()),
                ("outcomes", outcomes),
            ];
            fields.extend(event);
            fields.extend([
                ("timestamp", millis(self.naive.now)),
                ("tags", "[]".to_owned()),
                ("condition_id", self.condition(market)),
                ("active", "false".to_owned()),
                ("clob_token_ids", tokens),
                (
                    "order_price_min_tick_size",
                    quoted(tick_text(listed.rules.tick.units())),
                ),
                ("group_item_title", quoted("")),
                ("neg_risk", listed.rules.event.is_some().to_string()),
            ]);
            return fields;
        };
        let (winner, label, payouts) = match payout {
            Payout::Yes => (
                self.token(market, Outcome::Yes),
                listed.label(0),
                ["1", "0"],
            ),
            Payout::No | Payout::Outside => {
                (self.token(market, Outcome::No), listed.label(1), ["0", "1"])
            }
            Payout::Half => (quoted(0), String::new(), ["0.5", "0.5"]),
        };
        let mut fields = vec![
            ("id", quoted(id)),
            ("market", self.condition(market)),
            ("assets_ids", tokens),
            ("winning_asset_id", winner),
            ("winning_outcome", quoted(label)),
            ("question", word("question")),
            ("slug", word("slug")),
            ("description", word("description")),
            ("outcomes", outcomes),
        ];
        fields.extend(event);
        fields.extend([
            ("tags", "[]".to_owned()),
            ("payouts", array(payouts.map(quoted))),
            ("timestamp", millis(self.naive.now)),
        ]);
        fields
    }

    /// The event of a market: an upstream's as registered, an own one with the exchange's id.
    fn event_of(&self, listed: &Market) -> Option<String> {
        let words = &listed.description;
        let is_own = words["market_id"].as_u64().unwrap_or(0) == 0;
        let text = |words: &Value, name: &str| words[name].as_str().unwrap_or("").to_owned();
        let (id, words, [slug, title, ticker]) = match (is_own, listed.rules.event) {
            (false, _) => {
                let event = words.get("event")?;
                (
                    event["id"].as_u64().unwrap_or(0),
                    event,
                    ["slug", "title", "ticker"],
                )
            }
            (true, None) => {
                let id = own_id("event of market", &listed.rules.condition.0);
                (id, words, ["slug", "question", "slug"])
            }
            (true, Some(group)) => {
                let Group { id, words, .. } = &self.naive.groups[group.0 as usize];
                (
                    own_id("event record", &id.0.to_be_bytes()),
                    words,
                    ["slug", "title", "ticker"],
                )
            }
        };
        let slug = match text(words, slug) {
            slug if slug.is_empty() && title == "title" && is_own => slug_of(&text(words, title)),
            slug => slug,
        };
        Some(object(&[
            ("id", quoted(id)),
            ("ticker", quoted(text(words, ticker))),
            ("slug", quoted(slug)),
            ("title", quoted(text(words, title))),
            ("description", quoted(text(words, "description"))),
        ]))
    }
}

/// The name in URLs of an event group without one.
fn slug_of(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}

/// A generated id of an own record: 2^50 and the first 48 bits of a hash.
fn own_id(kind: &str, name: &[u8]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("foretell own {kind}").as_bytes());
    hasher.update(&(name.len() as u64).to_be_bytes());
    hasher.update(name);
    let hash = hasher.finalize();
    let bits = hash.as_bytes()[..6]
        .iter()
        .fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    (1 << 50) + bits
}

fn tick_text(units: u16) -> String {
    debug_assert!(Tick::Hundredth.units() == 100);
    decimal(units, 4)
}

const fn state_text(state: MarketState) -> &'static str {
    match state {
        MarketState::Registered => "registered",
        MarketState::Active => "active",
        MarketState::Paused => "paused",
        MarketState::Closed => "closed",
        MarketState::Resolved => "resolved",
    }
}

const fn payout_text(payout: Payout) -> &'static str {
    match payout {
        Payout::Yes => "yes",
        Payout::No => "no",
        Payout::Half => "half",
        Payout::Outside => "outside",
    }
}
