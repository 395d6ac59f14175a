//! Renders the messages of a frame, once for all receivers, outside of the view's lock.

use foretell_model::{MarketNumber, Outcome, Price, TimeMs};
use foretell_wire::markets::book::BookText;
use foretell_wire::orders::trade::fee_rate_bps;
use foretell_wire::streams::Stamp;
use foretell_wire::streams::extension::system_status;
use foretell_wire::streams::market::{
    BestBidAsk, LastTradePrice, Listing, PriceChange, PriceChangeEntry, TickSizeChange,
    best_or_end, book,
};
use foretell_wire::streams::status::MarketStatus;
use foretell_wire::text::words::mode_word;

use crate::catalog::own_catalog::identity::described;
use crate::policy::limits::{STREAM_HASH_LEVELS, STREAM_LARGE_BOOK_BYTES};
use crate::streams::fan_out::ring::{EncodedFrame, MarketMessage, Scope};
use crate::streams::render::book_copy::{BookCopy, seen_from};
use crate::streams::render::facts::{BookFacts, FrameFacts, Listed, Notice};
use crate::streams::render::price_levels::in_stream_order;
use crate::streams::render::text_frame::text_frame;
use crate::streams::render::user_encoder::{confirmations, user_messages};

/// Bounds of rendered messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeLimits {
    /// Levels of a book up to which `price_change` carries its hash.
    pub(crate) hash_levels: usize,
    /// Length of a book's text above which it is sent at intervals.
    pub(crate) large_book: usize,
}

impl Default for EncodeLimits {
    fn default() -> Self {
        Self {
            hash_levels: STREAM_HASH_LEVELS,
            large_book: STREAM_LARGE_BOOK_BYTES,
        }
    }
}

/// Renders the frames of a journal.
#[derive(Debug)]
pub(crate) struct Encoder {
    limits: EncodeLimits,
}

impl Encoder {
    pub(crate) const fn new(limits: EncodeLimits) -> Self {
        Self { limits }
    }

    /// The messages of a frame, written at `server_time`.
    pub(crate) fn encode(&self, facts: &FrameFacts, server_time: TimeMs) -> EncodedFrame {
        let stamp = |prev_sequence| Stamp {
            sequence: facts.sequence,
            prev_sequence,
            stream_id: &facts.stream_id,
            server_time,
        };
        let mut market = Vec::new();
        for book in &facts.books {
            let part = MarketPart {
                facts,
                book,
                stamp: stamp(Some(book.previous)),
                limits: self.limits,
                texts: [const { None }; 2],
                out: &mut market,
            };
            part.encode();
        }
        for notice in &facts.notices {
            market.push(notice_message(notice, facts.time, stamp(None)));
        }
        let stamp = stamp(None);
        EncodedFrame {
            market: market.into(),
            user: user_messages(facts, &stamp).into(),
            confirmations: confirmations(facts, &stamp).into(),
            revoked: facts.user.revoked.as_slice().into(),
            ..EncodedFrame::empty(facts.sequence, facts.time)
        }
    }
}

fn notice_message(notice: &Notice, time: TimeMs, stamp: Stamp<'_>) -> MarketMessage {
    let (scope, text) = match notice {
        Notice::New(listed) => {
            let text = listing(listed, time, |listing| listing.new_market(&stamp));
            (Scope::CustomAll, text)
        }
        Notice::Resolved(listed, payout) => {
            let linked = Stamp {
                prev_sequence: Some(listed.previous),
                ..stamp
            };
            let text = listing(listed, time, |listing| {
                listing.market_resolved(*payout, &linked)
            });
            (Scope::CustomAll, text)
        }
        Notice::Status(listed, stage) => {
            let status = MarketStatus {
                market: listed.condition,
                stage: *stage,
                time,
            };
            (Scope::ExtendedMarket(listed.market), status.json(&stamp))
        }
        Notice::Mode(mode) => (Scope::ExtendedAll, system_status(mode_word(*mode), &stamp)),
    };
    MarketMessage {
        scope,
        frame: text_frame(&text),
    }
}

fn listing(listed: &Listed, time: TimeMs, text: impl FnOnce(&Listing<'_>) -> String) -> String {
    let group = listed.group.as_ref().map(|(id, words)| (*id, &**words));
    let description = described(&listed.description, &listed.condition, group);
    text(&Listing {
        market: listed.condition,
        tokens: listed.tokens,
        description: &description,
        tick: listed.tick,
        neg_risk: listed.neg_risk,
        time,
    })
}

/// The messages of one market's book.
struct MarketPart<'a> {
    facts: &'a FrameFacts,
    book: &'a BookFacts,
    stamp: Stamp<'a>,
    limits: EncodeLimits,
    /// Texts of `[Yes, No]`, once rendered.
    texts: [Option<BookText>; 2],
    out: &'a mut Vec<MarketMessage>,
}

impl MarketPart<'_> {
    fn encode(mut self) {
        let begin = self.out.len();
        self.last_trade_prices();
        self.best_bid_asks();
        self.price_changes();
        self.tick_size_changes();
        // A frame that changed the book has a message about it: every link of the chain is sent.
        let is_silent = self.out.len() == begin;
        self.books(is_silent);
    }

    fn market(&self) -> MarketNumber {
        self.book.market
    }

    fn copy(&self) -> &BookCopy {
        &self.book.book
    }

    /// The tokens, that of the frame's order first.
    fn outcomes(&self) -> [Outcome; 2] {
        let first = self.book.first.unwrap_or(Outcome::Yes);
        [first, first.opposite()]
    }

    fn push(&mut self, scope: Scope, text: &str) {
        self.out.push(MarketMessage {
            scope,
            frame: text_frame(text),
        });
    }

    fn text(&mut self, outcome: Outcome) -> &BookText {
        let copy = &self.book.book;
        self.texts[outcome.index()].get_or_insert_with(|| copy.text(outcome))
    }

    fn last_trade_prices(&mut self) {
        let market = self.market();
        for print in &self.book.prints {
            let own = LastTradePrice {
                market: self.copy().condition(),
                asset_id: self.copy().token(print.outcome),
                price: print.price,
                side: print.side,
                size: print.lots,
                fee_rate_bps: fee_rate_bps(print.fee, print.lots.value_at(print.price)),
                transaction_hash: self.facts.receipt,
                timestamp: self.facts.time,
            };
            let other = print.outcome.opposite();
            let mirrored = LastTradePrice {
                asset_id: self.copy().token(other),
                price: print.price.complement(),
                side: print.side.opposite(),
                ..own
            };
            let [own, mirrored] = [own, mirrored].map(|it| it.json(&self.stamp));
            self.push(Scope::Token(market, print.outcome), &own);
            self.push(Scope::OnlyToken(market, other), &mirrored);
        }
    }

    fn best_bid_asks(&mut self) {
        if self.copy().best() == self.book.best_before {
            return;
        }
        for outcome in self.outcomes() {
            let [best_bid, best_ask] = best_of(self.copy(), outcome);
            let message = BestBidAsk {
                market: self.copy().condition(),
                asset_id: self.copy().token(outcome),
                best_bid,
                best_ask,
                spread: Price(best_ask.0.saturating_sub(best_bid.0)),
                timestamp: self.facts.time,
            };
            let text = message.json(&self.stamp);
            self.push(Scope::CustomToken(self.market(), outcome), &text);
        }
    }

    fn price_changes(&mut self) {
        let levels = in_stream_order(&self.book.levels);
        if levels.is_empty() {
            return;
        }
        let hashes = match self.copy().levels() <= self.limits.hash_levels {
            true => [Outcome::Yes, Outcome::No].map(|outcome| self.text(outcome).hash.clone()),
            false => Default::default(),
        };
        let copy = self.copy();
        let entry = |level: &foretell_view::LevelChange, outcome: Outcome| {
            let [best_bid, best_ask] = best_of(copy, outcome);
            PriceChangeEntry {
                asset_id: copy.token(outcome),
                price: level.price(outcome),
                size: level.after,
                side: level.side(outcome),
                hash: &hashes[outcome.index()],
                best_bid,
                best_ask,
            }
        };
        let entries = levels.iter().flat_map(|level| {
            let first = self.book.first.unwrap_or(level.outcome);
            [first, first.opposite()].map(|outcome| entry(level, outcome))
        });
        let entries: Vec<_> = entries.collect();
        let message = PriceChange {
            market: copy.condition(),
            price_changes: &entries,
            timestamp: self.facts.time,
        };
        let text = message.json(&self.stamp);
        self.push(Scope::Market(self.market()), &text);
    }

    fn tick_size_changes(&mut self) {
        for &(old, new) in &self.book.ticks {
            for outcome in self.outcomes() {
                let message = TickSizeChange {
                    market: self.copy().condition(),
                    asset_id: self.copy().token(outcome),
                    old_tick_size: old,
                    new_tick_size: new,
                    timestamp: self.facts.time,
                };
                let text = message.json(&self.stamp);
                self.push(Scope::Token(self.market(), outcome), &text);
            }
        }
    }

    /// After trades, after a tick change, after a change of the minimum size.
    fn books(&mut self, is_silent: bool) {
        let is_always = is_silent || !self.book.ticks.is_empty();
        let is_traded = !self.book.prints.is_empty();
        if !is_always && !is_traded && !self.book.large_due {
            return;
        }
        for outcome in self.outcomes() {
            let (due, limit) = (self.book.large_due, self.limits.large_book);
            let text = self.text(outcome);
            let is_sent = match text.json.len() > limit {
                true => is_always || due,
                false => is_always || is_traded,
            };
            if is_sent {
                let json = text.json.clone();
                let text = book(&json, &self.stamp);
                self.push(Scope::Token(self.market(), outcome), &text);
            }
        }
    }
}

/// The best bid and ask of an outcome's token as streams show them.
fn best_of(copy: &BookCopy, outcome: Outcome) -> [Price; 2] {
    let [bid, ask] = copy.best();
    let seen = |price| seen_from(outcome, price);
    match outcome {
        Outcome::Yes => best_or_end(bid, ask),
        Outcome::No => best_or_end(ask.map(seen), bid.map(seen)),
    }
}
