//! The bounds of quotes: a full group, fills that are forgotten, markets that are not counted, and quotes
//! that end in steps.

use foretell_model::command::{RenewQuotes, SetQuoteLimits, SetQuotes, SetTick};
use foretell_model::event::QuotesFrozen;
use foretell_model::limits::MAX_QUOTES;
use foretell_model::quote::{Quote, QuoteLimits, QuoteWord, QuotesResult, quote_id};
use foretell_model::tail::Tail;
use foretell_model::{OrderId, OrderNumber, Tick};

use super::*;

const SECOND: u64 = 1_000_000_000;

/// The group of an account whose owner has the first key.
#[derive(Clone, Copy)]
struct Group(AccountNumber, u8);

const GROUP: Group = Group(MAKER, 0);

/// A set of quotes by market. Each market is listed once.
struct Set {
    seen: Sequence,
    quotes: Vec<(MarketNumber, Quote)>,
}

/// What the maker quotes: a BUY of each token, at 0.40.
const BUY_YES: Quote = Quote {
    condition: 0,
    outcome: Outcome::Yes,
    side: Side::Buy,
    price: Price(4_000),
    lots: Lots(1),
    grow_tail: false,
};
const BUY_NO: Quote = Quote {
    outcome: Outcome::No,
    ..BUY_YES
};

/// These quotes in each of the markets from the first to before the last one.
fn in_markets(markets: std::ops::Range<u32>, quotes: &[Quote]) -> Set {
    let markets = markets.map(MarketNumber);
    let quotes = markets.flat_map(|market| quotes.iter().map(move |quote| (market, *quote)));
    Set {
        seen: Sequence(u64::MAX),
        quotes: quotes.collect(),
    }
}

/// Quotes of the first market at prices from 0.40 down.
fn ladder(quotes: u16) -> Set {
    let at = |step: u16| Quote {
        price: Price(4_000 - 10 * step),
        ..BUY_YES
    };
    let quotes: Vec<_> = (0..quotes).map(at).collect();
    in_markets(0..1, &quotes)
}

impl Crowd {
    fn with_fine_ticks() -> Self {
        let mut crowd = Self::new();
        crowd.applied(Command::SetTick(SetTick {
            market: MARKET,
            tick: Tick::Thousandth,
        }));
        crowd
    }

    /// Opens the markets up to this number; the first one is open.
    fn open_markets(&mut self, markets: u32) {
        for number in 1..markets {
            for command in market(number).refines().open() {
                self.applied(command);
            }
        }
    }

    /// The digest of the next set.
    fn digest(&mut self) -> OrderId {
        self.orders += 1;
        let mut digest = [0xD1; 32];
        digest[..8].copy_from_slice(&self.orders.to_be_bytes());
        OrderId(digest)
    }

    fn quote(&mut self, Group(account, group): Group, set: &Set) -> QuotesResult {
        let mut markets: Vec<MarketNumber> = set.quotes.iter().map(|(market, _)| *market).collect();
        markets.dedup();
        let words = set.quotes.iter().map(|(market, quote)| {
            let condition = markets.iter().position(|listed| listed == market);
            let condition = condition.and_then(|condition| u16::try_from(condition).ok());
            let condition = condition.expect("it is listed");
            Quote {
                condition,
                ..*quote
            }
            .word()
        });
        let words: Vec<QuoteWord> = words.collect();
        let mut tail = Vec::new();
        Tail::append(&markets, &mut tail);
        Tail::append(&words, &mut tail);
        let command = Command::SetQuotes(SetQuotes {
            account,
            key: KeyNumber(0),
            digest: self.digest(),
            group,
            revision: self.orders,
            seen: set.seen,
            timestamp: self.now.millis(),
            valid_until: TimeMs(self.now.millis().0 + 60_000),
            conditions: u8::try_from(markets.len()).expect("few markets"),
            quotes: u8::try_from(words.len()).expect("few quotes"),
        });
        let verdict = self.send_beside(command, &tail, CommandStamp::at(self.now));
        self.compare();
        match verdict {
            Verdict::Applied(CommandOutcome::Quotes(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    fn limit(&mut self, Group(account, group): Group, limits: QuoteLimits) {
        self.applied(Command::SetQuoteLimits(SetQuoteLimits {
            account,
            key: KeyNumber(0),
            group,
            limits,
            reset: true,
        }));
    }

    /// The taker sells one lot of a token at 0.40 in a market; it has it from a split.
    fn sell(&mut self, market: MarketNumber, outcome: Outcome) {
        self.orders += 1;
        let order = trader(TAKER.0).order(Side::Sell, Lots(1));
        let order = order.at(Price(4_000)).of(outcome).id(order_id(self.orders));
        let placed = PlaceOrder {
            market,
            key: KeyNumber(1),
            ..order.signed(self.now.millis()).terms()
        };
        self.applied(Command::PlaceOrder(placed));
    }

    /// The taker splits in the markets before this one.
    fn split_in(&mut self, markets: u32) {
        for number in 0..markets {
            self.applied(Command::Split(Split {
                account: TAKER,
                market: MarketNumber(number),
                lots: Lots(100),
                reference: numbered(5_000 + number),
            }));
        }
    }

    fn closed(&self) -> Vec<(OrderNumber, CloseReason)> {
        let events = self.pair.events().iter();
        let closed = events.filter_map(|event| match event {
            Event::OrderClosed(closed) => Some((closed.order, closed.reason)),
            _ => None,
        });
        closed.collect()
    }
}

fn refused_for(result: &QuotesResult, reason: RejectionReason) -> usize {
    let refusals = result.refusals();
    refusals.filter(|(_, known)| *known == reason).count()
}

const LOTS_LIMIT: QuoteLimits = QuoteLimits {
    lease_ms: 0,
    window_ms: 60_000,
    lots: Lots(1),
    value: Micros::ZERO,
    net_lots: Lots::ZERO,
};

#[test]
fn a_full_group_takes_no_quote_more() {
    let mut crowd = Crowd::with_fine_ticks();
    crowd.open_markets(2);
    let result = crowd.quote(GROUP, &ladder(64));
    assert_eq!(result.placed.iter().count(), MAX_QUOTES);
    let more = in_markets(1..2, &[BUY_YES, BUY_NO]);
    let result = crowd.quote(GROUP, &more);
    assert_eq!(refused_for(&result, RejectionReason::TooManyLiveOrders), 2);
    let result = crowd.quote(Group(MAKER, 1), &more);
    assert_eq!(result.placed.iter().count(), 2);
    // Tails count: 32 heads take one each, and no more.
    let mut grown = ladder(64);
    for (_, quote) in &mut grown.quotes {
        (quote.lots, quote.grow_tail) = (Lots(2), true);
    }
    grown.quotes.truncate(40);
    let result = crowd.quote(GROUP, &grown);
    assert_eq!((result.kept, result.ended), (40, 24));
    assert_eq!(result.placed.iter().count(), 24);
    assert_eq!(refused_for(&result, RejectionReason::TooManyLiveOrders), 16);
}

#[test]
fn fills_beyond_64_tokens_are_forgotten_and_refuse_all_who_have_not_seen_them() {
    let mut crowd = Crowd::with_fine_ticks();
    crowd.open_markets(34);
    crowd.split_in(33);
    crowd.quote(GROUP, &in_markets(0..32, &[BUY_YES, BUY_NO]));
    let mut fills = Vec::new();
    let tokens = (0..32).flat_map(|market| Outcome::ALL.iter().map(move |of| (market, *of)));
    for (market, outcome) in tokens {
        crowd.sell(MarketNumber(market), outcome);
        fills.push(crowd.pair.core.sequence());
    }
    crowd.compare();
    let elsewhere = |seen| Set {
        seen,
        ..in_markets(33..34, &[BUY_YES])
    };
    let result = crowd.quote(GROUP, &elsewhere(Sequence(0)));
    assert_eq!(result.placed.iter().count(), 1);

    crowd.quote(GROUP, &in_markets(32..33, &[BUY_YES]));
    crowd.sell(MarketNumber(32), Outcome::Yes);
    for (seen, placed) in [(Sequence(fills[0].0 - 1), 0), (fills[0], 1)] {
        crowd.quote(GROUP, &elsewhere(Sequence(u64::MAX)));
        let larger = Quote {
            lots: Lots(2),
            ..BUY_YES
        };
        let set = Set {
            seen,
            ..in_markets(33..34, &[larger])
        };
        let result = crowd.quote(GROUP, &set);
        assert_eq!(result.placed.iter().count(), placed);
        assert_eq!(
            refused_for(&result, RejectionReason::FilledSince),
            1 - placed
        );
    }
    // A token that was filled again is the latest.
    for (market, seen, placed) in [(0, fills[62], 0), (1, fills[62], 1)] {
        crowd.quote(GROUP, &in_markets(0..2, &[BUY_YES]));
        if market == 0 {
            crowd.sell(MarketNumber(0), Outcome::Yes);
        }
        let set = Set {
            seen,
            ..in_markets(
                market..market + 1,
                &[Quote {
                    lots: Lots(2),
                    ..BUY_YES
                }],
            )
        };
        let result = crowd.quote(GROUP, &set);
        assert_eq!(result.placed.iter().count(), placed, "{market}");
    }
}

#[test]
fn net_shares_of_a_65th_market_count_as_reaching_the_limit() {
    let mut crowd = Crowd::with_fine_ticks();
    crowd.open_markets(65);
    crowd.split_in(65);
    crowd.limit(
        GROUP,
        QuoteLimits {
            lots: Lots::ZERO,
            net_lots: Lots(1_000),
            ..LOTS_LIMIT
        },
    );
    crowd.quote(GROUP, &in_markets(0..32, &[BUY_YES, BUY_NO]));
    for number in 0..32 {
        crowd.sell(MarketNumber(number), Outcome::Yes);
        crowd.sell(MarketNumber(number), Outcome::No);
    }
    crowd.quote(GROUP, &in_markets(32..65, &[BUY_YES]));
    for number in 32..64 {
        crowd.sell(MarketNumber(number), Outcome::Yes);
        assert_eq!(crowd.last_event(), Event::OrderCompleted);
    }
    crowd.sell(MarketNumber(64), Outcome::Yes);
    let (account, group) = (MAKER, 0);
    let frozen = Event::QuotesFrozen(QuotesFrozen { account, group });
    assert!(crowd.pair.events().contains(&frozen));
    // Its last quote was filled.
    assert_eq!(
        crowd.refused(Command::Continue),
        RejectionReason::NothingPending
    );
    crowd.compare();
}

#[test]
fn frozen_quotes_end_in_steps_between_the_orders_of_a_group() {
    let mut crowd = Crowd::with_fine_ticks();
    crowd.split_in(1);
    crowd.limit(GROUP, LOTS_LIMIT);
    crowd.quote(GROUP, &ladder(4));
    let sell = Wish {
        side: Side::Sell,
        outcome: Outcome::Yes,
        order_type: OrderType::Fak,
        price: Price(3_000),
        lots: 3,
        ..ASK
    };
    let result = crowd.place_touched(TAKER, sell, 4_095);
    assert_eq!((result.status, result.fills), (OrderStatus::Matched, 1));
    assert_eq!(crowd.last_event(), Event::WorkPending);
    crowd.compare();
    let touched = |crowd: &Crowd, touched| CommandStamp {
        touched,
        ..CommandStamp::at(crowd.now)
    };
    for (before, ended, is_pending) in [(4_096, 0, true), (4_095, 1, true), (4_094, 2, false)] {
        let stamp = touched(&crowd, before);
        let verdict = crowd.send_stamped(Command::Continue, stamp);
        let outcome = CommandOutcome::Cancelled { orders: ended };
        assert_eq!(verdict, Verdict::Applied(outcome), "{before}");
        crowd.compare();
        let pending = crowd.pair.events().contains(&Event::WorkPending);
        assert_eq!(pending, is_pending);
        if is_pending {
            let next = trader(TAKER.0).cancel_all();
            assert_eq!(crowd.refused(next), RejectionReason::WorkPending);
        }
    }
}

#[test]
fn groups_that_one_sweep_freezes_end_by_account_group_and_number() {
    let mut crowd = Crowd::with_fine_ticks();
    crowd.split_in(1);
    let groups = [Group(SAFE, 0), Group(MAKER, 3), Group(MAKER, 1)];
    for group in groups {
        crowd.limit(group, LOTS_LIMIT);
        crowd.quote(group, &ladder(3));
    }
    let unlimited = Group(SAFE, 1);
    crowd.quote(unlimited, &ladder(3));
    let sell = Wish {
        side: Side::Sell,
        outcome: Outcome::Yes,
        price: Price(3_990),
        lots: 6,
        ..ASK
    };
    let result = crowd.place(TAKER, sell);
    assert_eq!(result.fills, 6);
    let frozen = crowd.pair.events().iter();
    let frozen = frozen.filter(|event| matches!(event, Event::QuotesFrozen(_)));
    assert_eq!(frozen.count(), 3);
    crowd.compare();
    assert_eq!(crowd.cancelled(Command::Continue), 4);
    crowd.compare();
    let closed = crowd.closed();
    assert!(
        closed
            .iter()
            .all(|(_, reason)| *reason == CloseReason::LimitReached)
    );
    assert_eq!(
        crowd.refused(Command::SetQuoteLimits(SetQuoteLimits {
            account: MAKER,
            key: KeyNumber(0),
            group: 16,
            limits: LOTS_LIMIT,
            reset: true,
        })),
        RejectionReason::InvalidQuotes
    );
}

#[test]
fn leases_of_one_moment_end_group_by_group_after_expiries() {
    let mut crowd = Crowd::with_fine_ticks();
    let lease = QuoteLimits {
        lease_ms: 1_000,
        ..QuoteLimits::default()
    };
    let groups = [Group(SAFE, 0), Group(MAKER, 15), Group(MAKER, 2)];
    for group in groups {
        crowd.limit(group, lease);
        crowd.quote(group, &ladder(2));
    }
    crowd.crowd(TAKER, SHORT_ASK, 3);
    crowd.now.0 += SECOND - 1;
    let renew = Command::RenewQuotes(RenewQuotes {
        account: SAFE,
        key: KeyNumber(0),
        group: 0,
        revision: 2,
    });
    assert_eq!(crowd.refused(renew), RejectionReason::RevisionOutOfRange);
    crowd.now.0 += 1;
    let mut ends = Vec::new();
    for ended in [3, 2, 2, 2] {
        assert_eq!(crowd.cancelled(Command::AdvanceTime), ended);
        crowd.compare();
        ends.extend(crowd.closed());
    }
    assert_eq!(
        crowd.refused(Command::AdvanceTime),
        RejectionReason::NothingDue
    );
    assert_eq!(crowd.refused(renew), RejectionReason::NoLiveQuotes);
    let sets: Vec<_> = ends[3..]
        .iter()
        .map(|(order, _)| order.sequence())
        .collect();
    // The last set first: account and group decide.
    assert!(sets.is_sorted_by(|one, other| one >= other), "{sets:?}");
}

#[test]
fn a_revoked_key_ends_its_quotes_in_all_wallets_and_no_order() {
    let mut crowd = Crowd::with_fine_ticks();
    crowd.quote(Group(SAFE, 0), &ladder(3));
    crowd.quote(Group(MAKER, 1), &ladder(2));
    crowd.crowd(MAKER, ASK, 1);
    let revoke = Command::RevokeKey(RevokeKey {
        key: KeyNumber(0),
        cancel_orders: false,
    });
    assert_eq!(crowd.cancelled(revoke), 5);
    crowd.compare();
    let closed = crowd.closed();
    assert!(
        closed
            .iter()
            .all(|(_, reason)| *reason == CloseReason::KeyRevoked)
    );
}

#[test]
fn the_id_of_a_quote_is_taken_while_it_lives() {
    let mut crowd = Crowd::with_fine_ticks();
    crowd.quote(GROUP, &ladder(2));
    let mut digest = [0xD1; 32];
    digest[..8].copy_from_slice(&crowd.orders.to_be_bytes());
    let id = quote_id(&OrderId(digest), 1);
    let order = trader(MAKER.0).order(Side::Buy, Lots(1));
    let order = order.at(Price(3_990)).id(id).signed(crowd.now.millis());
    let same = PlaceOrder {
        post_only: true,
        ..order.terms()
    };
    let set = crowd.pair.core.sequence();
    let repeated = Verdict::Repeated {
        first: set,
        last: set,
        outcome: CommandOutcome::Done,
    };
    assert_eq!(crowd.send(Command::PlaceOrder(same)), repeated);
    let other = Command::PlaceOrder(order.terms());
    assert_eq!(crowd.refused(other), RejectionReason::Duplicate);
    let cancel = trader(MAKER.0).cancel(id);
    assert_eq!(crowd.cancelled(cancel), 1);
    crowd.applied(other);
    crowd.compare();
}
