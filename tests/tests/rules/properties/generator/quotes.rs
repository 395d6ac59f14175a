//! Sets of quotes around the touch, renewals and limits of their groups (docs/verify/rules.md §32).

use std::collections::VecDeque;

use foretell_model::command::{RenewQuotes, SetQuoteLimits, SetQuotes, SetTerms};
use foretell_model::limits::{MAX_ORDER_LOTS, MAX_QUOTE_VALIDITY_MS, MAX_QUOTES, QUOTE_GROUPS};
use foretell_model::quote::{Quote, QuoteLimits, QuoteWord};
use foretell_model::tail::Tail;
use foretell_model::{
    AccountNumber, Command, KeyNumber, Lots, MarketNumber, MarketState, Micros, OrderId, Outcome,
    Price, Sequence, Side, TermsUpdate, TimeMs,
};

use super::Generator;
use crate::properties::placements::{key_for, timestamp};
use crate::properties::style::{Flavour, Kind};

const ONE: u16 = 10_000;

/// A set as it is made: its markets, and its quotes by index into them.
#[derive(Default)]
struct Draft {
    markets: Vec<MarketNumber>,
    quotes: Vec<Quote>,
}

impl Generator {
    /// Limits of some accounts, and delays of some markets.
    pub(super) fn prelude_of_quotes(&mut self, prelude: &mut VecDeque<Command>) {
        let has_delays = self.rng.percent(40);
        for market in (1..5).map(MarketNumber).filter(|_| has_delays) {
            let terms = TermsUpdate {
                taker_delay_ms: Some(self.rng.pick(&[1, 1_000, 3_000])),
                ..TermsUpdate::default()
            };
            prelude.push_back(Command::SetTerms(SetTerms { market, terms }));
        }
        for account in 0..u32::try_from(self.style.wallets).expect("few wallets") {
            let account = AccountNumber(account);
            if self.rng.percent(60) {
                prelude.push_back(Command::SetQuoteLimits(SetQuoteLimits {
                    account,
                    key: KeyNumber(account.0),
                    group: 0,
                    limits: self.quote_limits(account, 0),
                    reset: false,
                }));
            }
        }
    }

    pub(super) fn quotes_command(&mut self, kind: Kind) -> Command {
        let (account, group) = self.group_to_quote(kind);
        let key = key_for(&mut self.rng, &self.style, &self.world, account);
        match kind {
            Kind::SetQuotes => Command::SetQuotes(self.set_quotes(account, group)),
            Kind::RenewQuotes => Command::RenewQuotes(RenewQuotes {
                account,
                key,
                group,
                revision: {
                    let last = self.last_revision(account, group);
                    self.rng.pick(&[last, last, last, last, last + 1, 0])
                },
            }),
            _ => Command::SetQuoteLimits(SetQuoteLimits {
                account,
                key,
                group,
                limits: self.quote_limits(account, group),
                reset: self.rng.percent(50),
            }),
        }
    }

    /// The tail of a set of quotes; empty for other commands.
    pub(super) fn tail_of(&self, command: &Command) -> Vec<u8> {
        match command {
            Command::SetQuotes(set) => self.tails.get(&set.digest).cloned().unwrap_or_default(),
            Command::RegisterMarket(market) if market.has_details => {
                let details = self.details.get(&market.condition).copied();
                let mut tail = Vec::new();
                Tail::append(&[details.unwrap_or_default()], &mut tail);
                tail
            }
            _ => Vec::new(),
        }
    }

    /// The same set with a change, under a digest of its own.
    pub(super) fn alter_set(&mut self, set: &mut SetQuotes) {
        let mut tail = self.tails.get(&set.digest).cloned().unwrap_or_default();
        let last = self.last_revision(set.account, set.group);
        match self.rng.below(6) {
            // The revision of another set.
            0 => {}
            1 => set.group = set.group.wrapping_add(1),
            2 => set.seen = Sequence(self.rng.below(self.world.sequence.0 + 1)),
            3 => set.key.0 = set.key.0.wrapping_add(1),
            _ => {
                set.revision = last.saturating_add(1);
                set.valid_until = self.quotes_valid_until();
            }
        }
        if self.rng.percent(10) {
            self.damage(set, &mut tail);
        }
        set.digest = self.new_digest();
        self.tails.insert(set.digest, tail);
    }

    /// Mostly a group with quotes; for a new set also one without.
    fn group_to_quote(&mut self, kind: Kind) -> (AccountNumber, u8) {
        let mut known: Vec<_> = self.world.groups.iter().collect();
        let wants_frozen = kind == Kind::SetQuoteLimits && self.rng.percent(50);
        if wants_frozen && known.iter().any(|known| known.group.frozen) {
            known.retain(|known| known.group.frozen);
        }
        let chance = if kind == Kind::SetQuotes { 60 } else { 90 };
        if !known.is_empty() && self.rng.percent(chance) {
            let known = self.rng.pick(&known);
            return (known.group.account, known.group.group);
        }
        let group = match self.rng.below(40) {
            0 => self.rng.pick(&[QUOTE_GROUPS - 1, QUOTE_GROUPS, u8::MAX]),
            1..=10 => 1,
            _ => 0,
        };
        (self.trader(), group)
    }

    fn last_revision(&self, account: AccountNumber, group: u8) -> u64 {
        let known = self.world.group(account, group);
        known.map_or(0, |known| known.group.revision)
    }

    fn set_quotes(&mut self, account: AccountNumber, group: u8) -> SetQuotes {
        let mut draft = Draft {
            markets: self.markets_to_quote(account, group),
            quotes: Vec::new(),
        };
        if self.rng.percent(94) {
            self.quote_again(account, group, &mut draft);
            self.quote_anew(account, &mut draft);
        }
        if self.rng.percent(95) {
            draft.drop_contradictions();
        }
        draft.quotes.truncate(MAX_QUOTES);
        if self.rng.percent(7) {
            self.spoil(&mut draft);
        }
        let mut tail = Vec::new();
        Tail::append(&draft.markets, &mut tail);
        let words: Vec<QuoteWord> = draft.quotes.iter().map(Quote::word).collect();
        Tail::append(&words, &mut tail);
        let timestamp = timestamp(&mut self.rng, &self.world, self.now);
        let mut set = SetQuotes {
            account,
            key: key_for(&mut self.rng, &self.style, &self.world, account),
            digest: self.new_digest(),
            group,
            revision: self.revision(account, group, timestamp),
            seen: self.seen(account, group),
            timestamp,
            valid_until: self.quotes_valid_until(),
            conditions: u8::try_from(draft.markets.len()).expect("few markets"),
            quotes: u8::try_from(draft.quotes.len()).expect("few quotes"),
        };
        if self.rng.percent(3) {
            self.damage(&mut set, &mut tail);
        }
        self.tails.insert(set.digest, tail);
        set
    }

    /// Digests differ before their last byte, where a quote has its index.
    fn new_digest(&mut self) -> OrderId {
        let mut digest = [0xD1; 32];
        digest[16..24].copy_from_slice(&(self.tails.len() as u64).to_be_bytes());
        digest[24..].copy_from_slice(&self.rng.next().to_be_bytes());
        OrderId(digest)
    }

    /// Usually the next one.
    fn revision(&mut self, account: AccountNumber, group: u8, timestamp: TimeMs) -> u64 {
        let last = self.last_revision(account, group);
        match self.rng.below(60) {
            0 => last,
            1 => last.saturating_sub(1),
            2 => timestamp.0.saturating_mul(1_000),
            3 => timestamp.0.saturating_mul(1_000).saturating_add(1),
            4 => self.rng.pick(&[0, u64::MAX]),
            5..=20 => last.saturating_add(1 + self.rng.below(1_000)),
            _ => last.saturating_add(1),
        }
    }

    /// Every fill so far, one that is not the last, or no word about it.
    fn seen(&mut self, account: AccountNumber, group: u8) -> Sequence {
        let known = self.world.group(account, group);
        let last = known.and_then(|known| known.fills.last()).copied();
        let last = last.unwrap_or_default();
        match self.rng.below(20) {
            0..=6 => Sequence(u64::MAX),
            7..=11 => self.world.sequence,
            12..=15 => last,
            16..=17 => Sequence(last.0.saturating_sub(1)),
            18 => Sequence(self.rng.below(self.world.sequence.0 + 1)),
            _ => Sequence(0),
        }
    }

    fn quotes_valid_until(&mut self) -> TimeMs {
        let now = self.now.millis().0;
        let ahead = match self.rng.below(50) {
            0 => self.rng.pick(&[0, MAX_QUOTE_VALIDITY_MS + 2]),
            1 => MAX_QUOTE_VALIDITY_MS + 1,
            2..=5 => 1 + self.rng.below(2_000),
            6..=12 => 1_000 + self.rng.below(30_000),
            _ => 3_600_000,
        };
        TimeMs(now.saturating_add(ahead))
    }

    /// Mostly few active ones, those of live quotes among them.
    fn markets_to_quote(&mut self, account: AccountNumber, group: u8) -> Vec<MarketNumber> {
        let mut markets = Vec::new();
        let quoted: Vec<_> = self.world.quotes_of(account, group).collect();
        let quoted: Vec<_> = quoted.into_iter().map(|order| order.market).collect();
        for market in quoted {
            if !markets.contains(&market) && self.rng.percent(80) {
                markets.push(market);
            }
        }
        let active = self.world.markets_in(&[MarketState::Active]);
        let more = 1 + self.rng.below(3);
        for _ in 0..more {
            let is_any = active.is_empty() || self.rng.percent(self.style.unknown);
            let market = match self.rng.below(4) {
                _ if is_any => self.market(),
                0 => self.rng.pick(&active),
                // Where most orders go.
                _ => active[self.rng.index(active.len().min(2))],
            };
            if !markets.contains(&market) && markets.len() < MAX_QUOTES {
                markets.push(market);
            }
        }
        markets.sort_unstable();
        markets
    }

    /// Live quotes of the markets: as they are, smaller, larger, or not at all.
    fn quote_again(&mut self, account: AccountNumber, group: u8, draft: &mut Draft) {
        let live: Vec<_> = self.world.quotes_of(account, group).copied().collect();
        let drops = self.rng.pick(&[0, 0, 20, 60]);
        for order in &live {
            let condition = draft.markets.iter().position(|it| *it == order.market);
            let Some(condition) = condition.and_then(|at| u16::try_from(at).ok()) else {
                continue;
            };
            let key = (order.market, order.outcome, order.side, order.price);
            let pieces = live
                .iter()
                .filter(|other| (other.market, other.outcome, other.side, other.price) == key);
            let lots: u64 = pieces.map(|piece| piece.lots.0).sum();
            let minimum = self.world.market(order.market).minimum_size.0;
            let lots = match self.rng.below(100) {
                chance if chance < drops => continue,
                0..=74 => lots,
                75..=84 => 1 + self.rng.below(lots),
                85..=87 => minimum.min(lots).saturating_sub(1).max(1),
                _ => lots + self.rng.pick(&self.style.lots),
            };
            draft.quotes.push(Quote {
                condition,
                outcome: order.outcome,
                side: order.side,
                price: order.price,
                lots: Lots(lots),
                grow_tail: self.rng.percent(60),
            });
        }
    }

    /// Quotes on both sides of a price of the style, mostly of one that nothing crosses.
    fn quote_anew(&mut self, account: AccountNumber, draft: &mut Draft) {
        for condition in 0..draft.markets.len() {
            let market = draft.markets[condition];
            // Bids end at the price of the style, or asks begin there: orders at that price meet them.
            let tick = self.world.market(market).tick.units();
            let middle = self.rng.pick(&self.style.prices) / tick * tick;
            let middle = match self.rng.percent(50) {
                true => middle,
                false => middle.saturating_sub(tick),
            };
            let most = self.rng.pick(&[2, 4, 6, 20]);
            for _ in 0..self.rng.below(most) {
                let quote = self.new_quote(account, market, middle);
                draft.quotes.push(Quote {
                    condition: u16::try_from(condition).expect("few markets"),
                    ..quote
                });
            }
        }
    }

    fn new_quote(&mut self, account: AccountNumber, market: MarketNumber, middle: u16) -> Quote {
        let known = self.world.market(market);
        let tick = known.tick.units();
        let is_bid = self.rng.percent(50);
        let away = tick * self.rng.pick(&[0, 0, 1, 2, 3]);
        let wish = match is_bid {
            true => middle.saturating_sub(away),
            false => middle + tick + away,
        };
        let wish = match self.rng.percent(85) {
            true => self.beside_the_touch(market, is_bid, wish, tick),
            false => wish,
        };
        let yes = wish.clamp(tick, ONE - tick);
        let shares = self.world.shares(account, market);
        let (outcome, price) = match self.rng.percent(50) {
            true => (Outcome::Yes, yes),
            false => (Outcome::No, ONE - yes),
        };
        let side = match (outcome == Outcome::Yes) == is_bid {
            true => Side::Buy,
            false => Side::Sell,
        };
        // The other token where there is nothing to sell.
        let has_none = side == Side::Sell && shares[outcome.index()] == 0;
        let (outcome, side, price) = match has_none && self.rng.percent(95) {
            true => (outcome.opposite(), Side::Buy, ONE - price),
            false => (outcome, side, price),
        };
        let most = match side {
            Side::Sell => shares[outcome.index()],
            Side::Buy => self.world.free(account) / u64::from(price),
        };
        let least = known.minimum_size.0;
        let liked = self.rng.pick(&self.style.lots) * (1 + self.rng.below(3));
        let lots = match self.rng.below(100) {
            0..=4 => liked,
            5..=9 => most + self.rng.below(2),
            10..=12 => least.saturating_sub(1),
            _ => liked.max(least).min(most),
        };
        Quote {
            condition: 0,
            outcome,
            side,
            price: Price(price),
            lots: Lots(lots.clamp(1, MAX_ORDER_LOTS.0)),
            grow_tail: self.rng.percent(60),
        }
    }

    /// The wish, or the nearest price to it that nothing crosses.
    fn beside_the_touch(&self, market: MarketNumber, is_bid: bool, wish: u16, tick: u16) -> u16 {
        let others = self.world.resting.iter();
        let others = others.filter(|order| order.market == market);
        let opposite = others
            .filter(|order| {
                ((order.outcome == Outcome::Yes) == (order.side == Side::Buy)) != is_bid
            })
            .map(|order| match order.outcome {
                Outcome::Yes => order.price.0,
                Outcome::No => ONE - order.price.0,
            });
        match is_bid {
            true => opposite
                .min()
                .map_or(wish, |ask| wish.min(ask.saturating_sub(tick) / tick * tick)),
            false => opposite
                .max()
                .map_or(wish, |bid| wish.max((bid + tick) / tick * tick)),
        }
    }

    /// A mistake that the whole set is refused for.
    fn spoil(&mut self, draft: &mut Draft) {
        let closed = self.world.markets_in(&[
            MarketState::Registered,
            MarketState::Paused,
            MarketState::Closed,
            MarketState::Resolved,
        ]);
        let conditions = draft.markets.len();
        if draft.quotes.is_empty() {
            return;
        }
        let at = self.rng.index(draft.quotes.len());
        let quote = &mut draft.quotes[at];
        match self.rng.below(8) {
            0 => quote.price.0 += 1,
            1 => quote.lots = Lots::ZERO,
            2 => quote.lots = self.rng.pick(&[Lots(MAX_ORDER_LOTS.0 + 1), Lots(u64::MAX)]),
            3 => quote.condition = u16::try_from(conditions).expect("few markets"),
            4 => draft.markets[0] = MarketNumber(self.rng.pick(&[0, 999, u32::MAX])),
            5 if !closed.is_empty() => {
                let market = usize::from(quote.condition);
                draft.markets[market] = self.rng.pick(&closed);
            }
            6 if conditions > 1 => draft.markets[1] = draft.markets[0],
            7 if draft.quotes.len() < MAX_QUOTES => {
                let quote = draft.quotes[at];
                let twin = match self.rng.percent(50) {
                    true => quote,
                    false => Quote {
                        side: quote.side.opposite(),
                        ..quote
                    },
                };
                draft.quotes.push(twin);
            }
            _ => {}
        }
    }

    /// Bytes that are no tail of the set, or counts of another one.
    fn damage(&mut self, set: &mut SetQuotes, tail: &mut Vec<u8>) {
        match self.rng.below(6) {
            0 => set.conditions = self.rng.pick(&[0, 65, u8::MAX]),
            1 => set.quotes = self.rng.pick(&[65, u8::MAX]),
            2 => {
                tail.pop();
            }
            // The evidence follows.
            3 => tail.extend([0xE5; 40]),
            _ if !tail.is_empty() => {
                let at = self.rng.index(tail.len());
                tail[at] = tail[at].wrapping_add(1);
            }
            _ => {}
        }
    }

    /// Small limits, so that few fills reach them; often those that the group has.
    fn quote_limits(&mut self, account: AccountNumber, group: u8) -> QuoteLimits {
        let known = self.world.group(account, group);
        if let Some(known) = known
            && self.rng.percent(25)
        {
            return known.group.limits;
        }
        let bad = self.rng.percent(5);
        let rng = &mut self.rng;
        let lease_ms = rng.pick(&[0, 0, 0, 500, 1_000, 5_000, 60_000, 60_000]);
        let is_limited = rng.percent(75) || self.style.flavour == Flavour::Quotes;
        let lots = rng.pick(&self.style.lots) * rng.pick(&[1, 2, 4, 10]);
        let mut chosen = |limit: u64| if rng.percent(50) { limit } else { 0 };
        let (all, value, net) = match is_limited {
            true => (chosen(lots), chosen(lots * 5_000), chosen(lots / 2 + 1)),
            false => (0, 0, 0),
        };
        let has_limit = all > 0 || value > 0 || net > 0;
        let window_ms = rng.pick(&[100, 1_000, 10_000, 60_000]);
        let mut limits = QuoteLimits {
            lease_ms,
            window_ms: if has_limit { window_ms } else { 0 },
            lots: Lots(all),
            value: Micros(value),
            net_lots: Lots(net),
        };
        if bad {
            match rng.below(4) {
                0 => limits.lease_ms = rng.pick(&[1, 499, 60_001, u32::MAX]),
                1 => limits.window_ms = rng.pick(&[1, 99, 60_001, u32::MAX]),
                2 => limits.window_ms = if has_limit { 0 } else { 100 },
                _ => limits.lots = Lots(u64::MAX),
            }
        }
        limits
    }
}

impl Draft {
    /// Keeps each quote whose key or price contradicts none before it.
    fn drop_contradictions(&mut self) {
        let mut kept: Vec<Quote> = Vec::new();
        for quote in &self.quotes {
            if !kept.iter().any(|other| contradict(quote, other)) {
                kept.push(*quote);
            }
        }
        self.quotes = kept;
    }
}

/// Whether two quotes of one market have one key or cross.
fn contradict(one: &Quote, other: &Quote) -> bool {
    let place = |quote: &Quote| match quote.outcome {
        Outcome::Yes => (quote.side == Side::Buy, quote.price.0),
        Outcome::No => (quote.side == Side::Sell, ONE.saturating_sub(quote.price.0)),
    };
    let ((one_bids, at), (other_bids, other_at)) = (place(one), place(other));
    let is_same = (one.outcome, one.side, one.price) == (other.outcome, other.side, other.price);
    let crosses = match (one_bids, other_bids) {
        (true, false) => at >= other_at,
        (false, true) => other_at >= at,
        _ => false,
    };
    one.condition == other.condition && (is_same || crosses)
}
