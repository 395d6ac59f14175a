//! More resting orders than one command may touch: the core and its twin must stop at the same
//! order, leave the same work, and finish it in the same way.

mod market_life;
mod quotes;

use foretell_fixtures::{market, order_id, trader};
use foretell_model::command::{
    BindWallet, CancelAll, CancelMarketOrders, Merge, RevokeKey, SetClosedOnly, Split,
};
use foretell_model::event::OrderClosed;
use foretell_model::limits::{MAX_VISITED_ORDERS, REFERENCES_PER_ACCOUNT, REQUEST_MEMORY_NS};
use foretell_model::{
    AccountNumber, CloseReason, Command, CommandOutcome, CommandStamp, Event, KeyNumber, Lots,
    MarketNumber, Micros, OrderResult, OrderStatus, OrderType, Outcome, PlaceOrder, Price,
    Reference, RejectionReason, Sequence, Settings, Side, TimeMs, TimeNs, TimeSeconds, Verdict,
    WalletAddress, WalletKind,
};
use foretell_view::OrderState;

use crate::properties::twin_agrees::pair::Pair;

const NOW_SECONDS: u64 = 1_700_000_000;
const MAKER: AccountNumber = AccountNumber(0);
const TAKER: AccountNumber = AccountNumber(1);
/// A safe owned by the maker.
const SAFE: AccountNumber = AccountNumber(2);
const MARKET: MarketNumber = MarketNumber(0);
const BOUND: u64 = MAX_VISITED_ORDERS as u64;

/// A pair with one market, funded accounts and a high cap on live orders.
struct Crowd {
    pair: Pair,
    now: TimeNs,
    orders: u64,
}

impl Crowd {
    fn new() -> Self {
        let mut crowd = Self {
            pair: Pair::roomy(),
            now: TimeSeconds(NOW_SECONDS).start(),
            orders: 0,
        };
        crowd.applied(Command::ChangeSettings {
            settings: Settings {
                marketable_minimum: Micros::ZERO,
                live_orders_per_account: 20_000,
                gtd_safety_seconds: 0,
                ..Settings::default()
            }
            .into(),
        });
        for account in 0..3 {
            crowd.applied(trader(account).deposit(1_000_000));
        }
        crowd.applied(Command::BindWallet(BindWallet {
            owner: trader(MAKER.0).wallet,
            wallet: trader(SAFE.0).wallet,
            kind: WalletKind::Safe,
        }));
        for owner in 0..2 {
            crowd.applied(trader(owner).register_key());
        }
        for command in market(0).refines().fee(20_000).open() {
            crowd.applied(command);
        }
        crowd
    }

    /// Sends a command to both and compares the responses and events.
    fn send(&mut self, command: Command) -> Verdict {
        self.send_stamped(command, CommandStamp::at(self.now))
    }

    fn send_stamped(&mut self, command: Command, stamp: CommandStamp) -> Verdict {
        self.send_beside(command, &[], stamp)
    }

    fn send_beside(&mut self, command: Command, beside: &[u8], stamp: CommandStamp) -> Verdict {
        let verdict = self.pair.step_quickly(&command, beside, stamp);
        verdict.unwrap_or_else(|difference| panic!("{command:?}: {difference}"))
    }

    /// A command that changes something.
    fn applied(&mut self, command: Command) -> CommandOutcome {
        match self.send(command) {
            Verdict::Applied(outcome) => outcome,
            other => panic!("{command:?}: {other:?}"),
        }
    }

    fn refused(&mut self, command: Command) -> RejectionReason {
        match self.send(command) {
            Verdict::Rejected(refusal) => refusal.reason,
            other => panic!("{command:?}: {other:?}"),
        }
    }

    fn cancelled(&mut self, command: Command) -> u64 {
        match self.applied(command) {
            CommandOutcome::Cancelled { orders } => u64::from(orders),
            other => panic!("{command:?}: {other:?}"),
        }
    }

    /// Compares the whole states.
    fn compare(&mut self) {
        self.pair
            .compare_states()
            .unwrap_or_else(|difference| panic!("{difference}"));
    }

    fn place(&mut self, account: AccountNumber, wish: Wish) -> OrderResult {
        self.place_touched(account, wish, 0)
    }

    /// As a command of a group that touched so many orders.
    fn place_touched(&mut self, account: AccountNumber, wish: Wish, touched: u16) -> OrderResult {
        self.orders += 1;
        let order = trader(account.0).order(wish.side, Lots(wish.lots));
        let order = order.at(wish.price).of(wish.outcome);
        let order = order.id(order_id(self.orders)).signed(self.now.millis());
        let placed = PlaceOrder {
            key: KeyNumber(u32::from(account == TAKER)),
            order_type: wish.order_type,
            post_only: wish.post_only,
            expiration: wish.expiration,
            ..order.terms()
        };
        let stamp = CommandStamp {
            touched,
            ..CommandStamp::at(self.now)
        };
        match self.send_stamped(Command::PlaceOrder(placed), stamp) {
            Verdict::Applied(CommandOutcome::Order(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    /// Rests `orders` one-lot orders.
    fn crowd(&mut self, account: AccountNumber, wish: Wish, orders: u64) {
        for _ in 0..orders {
            let result = self.place(account, wish);
            assert_eq!(result.status, OrderStatus::Live);
        }
        self.compare();
    }

    fn last_event(&self) -> Event {
        *self
            .pair
            .events()
            .last()
            .expect("an applied command says something")
    }
}

const NOTHING_TO_CANCEL: Verdict = Verdict::Repeated {
    first: Sequence(0),
    last: Sequence(0),
    outcome: CommandOutcome::Cancelled { orders: 0 },
};

/// What an order asks for.
#[derive(Clone, Copy)]
struct Wish {
    outcome: Outcome,
    side: Side,
    order_type: OrderType,
    post_only: bool,
    price: Price,
    lots: u64,
    expiration: TimeSeconds,
}

/// BUY No at 0.40: an ask at 0.60.
const ASK: Wish = Wish {
    outcome: Outcome::No,
    side: Side::Buy,
    order_type: OrderType::Gtc,
    post_only: false,
    price: Price(4_000),
    lots: 1,
    expiration: TimeSeconds(0),
};

/// BUY Yes at 0.60.
const BID: Wish = Wish {
    outcome: Outcome::Yes,
    price: Price(6_000),
    ..ASK
};

/// The same ask, until a second after the start.
const SHORT_ASK: Wish = Wish {
    order_type: OrderType::Gtd,
    expiration: TimeSeconds(NOW_SECONDS + 1),
    ..ASK
};

fn market_buy(order_type: OrderType, lots: u64) -> Wish {
    Wish {
        order_type,
        lots,
        ..BID
    }
}

fn closed_at_the_bound(event: Event, left: u64) -> bool {
    matches!(event, Event::OrderClosed(OrderClosed { lots, reason: CloseReason::TooManyFills, .. }) if lots == Lots(left))
}

#[test]
fn a_taker_stops_at_the_bound() {
    for order_type in [OrderType::Gtc, OrderType::Fak] {
        let mut crowd = Crowd::new();
        crowd.crowd(MAKER, ASK, BOUND + 4);
        let result = crowd.place(TAKER, market_buy(order_type, BOUND + 3));
        assert_eq!(result.status, OrderStatus::Matched);
        assert_eq!(u64::from(result.fills), BOUND);
        // A budget has no unfilled shares to report.
        let left = if order_type == OrderType::Gtc { 3 } else { 0 };
        assert!(closed_at_the_bound(crowd.last_event(), left));
        crowd.compare();
        let view = crowd.pair.view();
        let taker = view.orders().by_id(&order_id(crowd.orders));
        let taker = taker.expect("it was placed");
        assert_eq!(taker.state, OrderState::Closed(CloseReason::TooManyFills));
        assert_eq!(taker.matched, Lots(BOUND));
        assert_eq!(view.trades().of_account(TAKER).len() as u64, BOUND);
    }
}

#[test]
fn a_taker_that_needs_exactly_the_bound_is_filled() {
    for order_type in [OrderType::Gtc, OrderType::Fak, OrderType::Fok] {
        let mut crowd = Crowd::new();
        crowd.crowd(MAKER, ASK, BOUND + 4);
        let result = crowd.place(TAKER, market_buy(order_type, BOUND));
        assert_eq!(u64::from(result.fills), BOUND);
        assert_eq!(crowd.last_event(), Event::OrderCompleted);
        crowd.compare();
    }
}

#[test]
fn a_taker_whose_last_touched_order_was_the_books_last_is_over_too() {
    for order_type in [OrderType::Gtc, OrderType::Fak] {
        let mut crowd = Crowd::new();
        crowd.crowd(MAKER, ASK, BOUND);
        crowd.place(TAKER, market_buy(order_type, BOUND + 3));
        assert!(matches!(
            crowd.last_event(),
            Event::OrderClosed(OrderClosed {
                reason: CloseReason::TooManyFills,
                ..
            })
        ));
        crowd.compare();
    }
}

#[test]
fn a_fok_that_needs_more_than_the_bound_is_killed_and_leaves_everything() {
    let mut crowd = Crowd::new();
    crowd.crowd(MAKER, ASK, BOUND + 4);
    let result = crowd.place(TAKER, market_buy(OrderType::Fok, BOUND + 1));
    assert_eq!(
        result.status,
        OrderStatus::Killed(RejectionReason::FokNotFilled.into())
    );
    assert_eq!(crowd.pair.events().len(), 1);
    crowd.compare();
}

#[test]
fn a_sell_stops_at_the_bound_with_its_rest() {
    let mut crowd = Crowd::new();
    crowd.applied(Command::Split(Split {
        account: TAKER,
        market: MARKET,
        lots: Lots(10_000),
        reference: Reference([9; 32]),
    }));
    crowd.crowd(MAKER, BID, BOUND + 4);
    let sell = Wish {
        side: Side::Sell,
        ..market_buy(OrderType::Fak, BOUND + 2)
    };
    crowd.place(TAKER, sell);
    assert!(closed_at_the_bound(crowd.last_event(), 2));
    crowd.compare();
}

#[test]
fn own_orders_up_to_the_bound_leave_nothing_traded_and_nothing_resting() {
    let mut crowd = Crowd::new();
    crowd.crowd(MAKER, ASK, BOUND + 4);
    let result = crowd.place(MAKER, BID);
    assert_eq!(result.status, OrderStatus::Unmatched);
    assert!(closed_at_the_bound(crowd.last_event(), 1));
    crowd.compare();
    let result = crowd.place(MAKER, market_buy(OrderType::Fak, 10));
    assert_eq!(
        result.status,
        OrderStatus::Killed(RejectionReason::FakNoMatch.into())
    );
    crowd.compare();
}

#[test]
fn what_is_due_beyond_the_bound_is_due_again() {
    let mut crowd = Crowd::new();
    crowd.crowd(MAKER, SHORT_ASK, BOUND + 4);
    crowd.now.0 += 1_000_000_000;
    assert_eq!(crowd.cancelled(Command::AdvanceTime), BOUND);
    crowd.compare();
    assert_eq!(crowd.cancelled(Command::AdvanceTime), 4);
    crowd.compare();
    assert_eq!(
        crowd.refused(Command::AdvanceTime),
        RejectionReason::NothingDue
    );
}

/// Starts work on more orders than the bound, checks that no other command runs in between, and
/// ends it.
fn ends_in_two_steps(crowd: &mut Crowd, start: Command, rest: u64) {
    crowd.applied(start);
    assert_eq!(crowd.last_event(), Event::WorkPending);
    crowd.compare();
    for between in [start, Command::AdvanceTime] {
        assert_eq!(crowd.refused(between), RejectionReason::WorkPending);
    }
    crowd.now.0 += 1;
    let first = crowd.pair.view().sequence();
    assert_eq!(crowd.cancelled(Command::Continue), rest);
    crowd.compare();
    let orders = crowd.pair.view().orders();
    let ended = |last| orders.ended_between(first, last).count() as u64;
    assert_eq!((ended(first), ended(first.next())), (BOUND, BOUND + rest));
    assert_eq!(
        crowd.refused(Command::Continue),
        RejectionReason::NothingPending
    );
}

#[test]
fn cancel_all_goes_on_over_the_wallets_of_the_owner() {
    let mut crowd = Crowd::new();
    crowd.crowd(SAFE, ASK, 20);
    crowd.crowd(MAKER, ASK, BOUND - 10);
    crowd.crowd(TAKER, ASK, 1);
    let cancel = trader(MAKER.0).cancel_all();
    ends_in_two_steps(&mut crowd, cancel, 10);
    assert_eq!(crowd.send(cancel), NOTHING_TO_CANCEL);
    crowd.compare();
}

#[test]
fn work_of_three_steps_is_done_in_three() {
    let mut crowd = Crowd::new();
    crowd.crowd(MAKER, ASK, 2 * BOUND + 1);
    let cancel = Command::CancelMarketOrders(CancelMarketOrders {
        owner: MAKER,
        market: MARKET,
        outcome: Some(Outcome::No),
    });
    assert_eq!(crowd.cancelled(cancel), BOUND);
    assert_eq!(crowd.cancelled(Command::Continue), BOUND);
    assert_eq!(crowd.last_event(), Event::WorkPending);
    assert_eq!(crowd.cancelled(Command::Continue), 1);
    crowd.compare();
}

#[test]
fn exactly_the_bound_leaves_no_work() {
    let mut crowd = Crowd::new();
    crowd.crowd(MAKER, ASK, BOUND);
    let cancel = Command::CancelAll(CancelAll {
        owner: MAKER,
        heartbeat: true,
    });
    assert_eq!(crowd.cancelled(cancel), BOUND);
    assert_eq!(
        crowd.refused(Command::Continue),
        RejectionReason::NothingPending
    );
    crowd.compare();
}

#[test]
fn a_revoked_keys_orders_go_in_steps() {
    let mut crowd = Crowd::new();
    crowd.crowd(MAKER, ASK, BOUND + 4);
    let revoke = Command::RevokeKey(RevokeKey {
        key: KeyNumber(0),
        cancel_orders: true,
    });
    ends_in_two_steps(&mut crowd, revoke, 4);
}

#[test]
fn a_closed_market_empties_bids_first() {
    let mut crowd = Crowd::new();
    crowd.crowd(MAKER, ASK, 10);
    let low_bid = Wish {
        price: Price(3_000),
        ..BID
    };
    crowd.crowd(MAKER, low_bid, BOUND / 2);
    let bid = Wish {
        price: Price(5_000),
        ..BID
    };
    crowd.crowd(TAKER, bid, BOUND / 2);
    ends_in_two_steps(&mut crowd, Command::CloseMarket { market: MARKET }, 10);
}

#[test]
fn a_closed_only_account_loses_its_buys_in_steps() {
    let mut crowd = Crowd::new();
    crowd.applied(Command::Split(Split {
        account: MAKER,
        market: MARKET,
        lots: Lots(100),
        reference: Reference([9; 32]),
    }));
    let sell = Wish {
        side: Side::Sell,
        price: Price(7_000),
        ..BID
    };
    crowd.crowd(MAKER, sell, 10);
    crowd.crowd(MAKER, ASK, BOUND + 4);
    let closed_only = Command::SetClosedOnly(SetClosedOnly {
        wallet: trader(MAKER.0).wallet,
        closed_only: true,
    });
    ends_in_two_steps(&mut crowd, closed_only, 4);
}

fn numbered(number: u32) -> Reference {
    let mut reference = [0; 32];
    reference[..4].copy_from_slice(&number.to_le_bytes());
    Reference(reference)
}

fn split(account: AccountNumber, number: u32) -> Command {
    Command::Split(Split {
        account,
        market: MARKET,
        lots: Lots(1),
        reference: numbered(number),
    })
}

fn merge(account: AccountNumber, number: u32) -> Command {
    Command::Merge(Merge {
        account,
        market: MARKET,
        lots: Lots(1),
        reference: numbered(number),
    })
}

#[test]
fn the_oldest_references_of_an_account_give_way_once_their_requests_are_over() {
    let mut crowd = Crowd::new();
    for number in 0..REFERENCES_PER_ACCOUNT {
        crowd.applied(split(MAKER, number));
    }
    let next = split(MAKER, REFERENCES_PER_ACCOUNT);
    assert_eq!(crowd.refused(next), RejectionReason::TooManyReferences);
    let repeated = |verdict| matches!(verdict, Verdict::Repeated { .. });
    assert!(repeated(crowd.send(split(MAKER, 0))));
    crowd.applied(split(TAKER, 0));
    // A merge is never rejected; it evicts the oldest.
    crowd.applied(merge(MAKER, 1_000));
    assert!(repeated(crowd.send(merge(MAKER, 1_000))));
    assert!(repeated(crowd.send(split(MAKER, 1))));
    let oldest = split(MAKER, 0);
    assert_eq!(crowd.refused(oldest), RejectionReason::TooManyReferences);
    crowd.compare();
    crowd.now.0 += REQUEST_MEMORY_NS;
    assert_eq!(crowd.refused(next), RejectionReason::TooManyReferences);
    crowd.now.0 += 1;
    crowd.applied(next);
    crowd.applied(oldest);
    crowd.compare();
    assert!(repeated(crowd.send(split(MAKER, 3))));
    assert!(repeated(crowd.send(split(TAKER, 0))));
}
