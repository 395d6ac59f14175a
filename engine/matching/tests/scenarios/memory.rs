//! What is remembered, for how long, and how it is bounded.

use foretell_model::command::{
    AttestState, CancelAll, CancelMarketOrders, Merge, Redeem, RegisterKey, Split,
};
use foretell_model::event::OrderKilled;
use foretell_model::limits::{ORDER_ID_SHARES, REFERENCES_PER_ACCOUNT};
use foretell_model::{
    ApiKey, Command, CommandOutcome, Event, Lots, Micros, OrderStatus, Outcome, Payout, Rejection,
    RejectionReason, Sequence, Side,
};

use crate::world::{Trader, UNIT, World};

const BUY_YES: (Side, Outcome) = (Side::Buy, Outcome::Yes);
const BUY_NO: (Side, Outcome) = (Side::Buy, Outcome::No);

const fn cancel_all(trader: Trader) -> Command {
    Command::CancelAll(CancelAll {
        owner: trader.account,
        heartbeat: false,
    })
}

const NOTHING_CANCELLED: (u64, u64, CommandOutcome) =
    (0, 0, CommandOutcome::Cancelled { orders: 0 });

#[test]
fn a_cancel_of_everything_acts_every_time_and_leaves_nothing_when_it_ends_nothing() {
    let mut world = World::new();
    let (market, other) = (world.market(), world.market());
    let trader = world.trader(1, 100);
    let one = CommandOutcome::Cancelled { orders: 1 };
    for _ in 0..2 {
        world.rest(trader, market, BUY_YES, 1, 50);
        assert_eq!(world.done(&cancel_all(trader)), one);
        assert_eq!(world.repeated(&cancel_all(trader)), NOTHING_CANCELLED);
    }
    world.rest(trader, market, BUY_YES, 1, 50);
    let in_market = |market| {
        Command::CancelMarketOrders(CancelMarketOrders {
            owner: trader.account,
            market,
            outcome: None,
        })
    };
    assert_eq!(world.repeated(&in_market(other)), NOTHING_CANCELLED);
    assert_eq!(world.done(&in_market(market)), one);
    let heartbeat = Command::CancelAll(CancelAll {
        owner: trader.account,
        heartbeat: true,
    });
    assert_eq!(world.repeated(&heartbeat), NOTHING_CANCELLED);
}

#[test]
fn a_killed_order_says_its_amount_and_the_minimum_then_and_when_it_is_sent_again() {
    let mut world = World::new();
    world.change_settings(|settings| settings.marketable_minimum = Micros(UNIT));
    let market = world.market();
    let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
    world.rest(maker, market, BUY_NO, 10, 50);
    let small = world.limit(taker, market, BUY_YES, 1, 50);
    let reason = RejectionReason::MarketableBelowMinimum;
    let details = [UNIT / 2, UNIT];
    let killed = OrderStatus::Killed(Rejection { reason, details });
    assert_eq!(world.place(small).status, killed);
    assert_eq!(
        world.events,
        [Event::OrderKilled(OrderKilled { reason, details })]
    );
    // The minimum at the time of the kill, not the current one.
    world.change_settings(|settings| settings.marketable_minimum = Micros(2 * UNIT));
    assert_eq!(world.refused(&Command::PlaceOrder(small), reason), details);
}

#[test]
fn an_owner_holds_a_share_of_the_id_memory_and_leaves_the_rest_to_others() {
    let mut world = World::new();
    let share = 2;
    world.change_settings(|settings| settings.remembered_order_ids = share * ORDER_ID_SHARES);
    let market = world.market();
    let (greedy, other) = (world.trader(1, 100), world.trader(2, 100));
    let second_key = world.done(&Command::RegisterKey(RegisterKey {
        owner: greedy.wallet,
        nonce: [1; 32],
        api_key: ApiKey([99; 16]),
        read_only: false,
    }));
    let CommandOutcome::Key(second_key) = second_key else {
        panic!("{second_key:?}");
    };
    for _ in 0..share {
        world.rest(greedy, market, BUY_YES, 1, 1);
        world.done(&cancel_all(greedy));
    }
    for key in [greedy.key, second_key] {
        let order = world.limit(greedy, market, BUY_YES, 1, 1);
        let order = foretell_model::PlaceOrder { key, ..order };
        let too_many = RejectionReason::TooManyOrderIds;
        let details = world.refused(&Command::PlaceOrder(order), too_many);
        assert_eq!(details, [u64::from(share); 2]);
    }
    world.rest(other, market, BUY_YES, 1, 1);
    // Once the oldest id is evictable, there is room again.
    let window_s = world.settings().timestamp_past_ms / 1_000;
    world.wait(window_s + 2);
    world.rest(greedy, market, BUY_YES, 1, 1);
}

#[test]
fn a_full_id_memory_stops_nobody_who_holds_few_ids() {
    let mut world = World::new();
    let share = 2;
    let limit = share * ORDER_ID_SHARES;
    world.change_settings(|settings| settings.remembered_order_ids = limit);
    let market = world.market();
    for name in 0..ORDER_ID_SHARES {
        let trader = world.trader(u8::try_from(100 + name).unwrap(), 1);
        for _ in 0..share {
            world.rest(trader, market, BUY_YES, 1, 1);
            world.done(&cancel_all(trader));
        }
    }
    let honest = world.trader(1, 100);
    for _ in 0..share {
        world.rest(honest, market, BUY_YES, 1, 1);
    }
    let order = world.limit(honest, market, BUY_YES, 1, 1);
    world.refused(&Command::PlaceOrder(order), RejectionReason::Busy);
}

#[test]
fn redeem_and_merge_are_never_refused_for_memory() {
    let mut world = World::new();
    let (market, ending) = (world.market(), world.market());
    let trader = world.trader(1, 10_000);
    world.split(trader, ending, 5);
    for _ in 1..REFERENCES_PER_ACCOUNT {
        world.split(trader, market, 1);
    }
    let split = Command::Split(Split {
        account: trader.account,
        market,
        lots: Lots(100),
        reference: world.reference(),
    });
    let cap = u64::from(REFERENCES_PER_ACCOUNT);
    let details = world.refused(&split, RejectionReason::TooManyReferences);
    assert_eq!(details, [cap, cap]);
    let other = world.trader(2, 10);
    world.split(other, market, 1);

    let merge = Command::Merge(Merge {
        account: trader.account,
        market,
        lots: Lots(100),
        reference: world.reference(),
    });
    world.done(&merge);
    let (first, ..) = world.repeated(&merge);
    assert_eq!(first, world.exchange.sequence().0);
    world.done(&Command::CloseMarket { market: ending });
    world.resolve(ending, Payout::Yes);
    let redeem = Command::Redeem(Redeem {
        account: trader.account,
        market: ending,
        reference: world.reference(),
    });
    let paid = CommandOutcome::Collateral(Micros(5 * UNIT));
    assert_eq!(world.done(&redeem), paid);
    world.wait(100);
    world.done(&split);
}

#[test]
fn a_snapshot_is_attested_up_to_the_last_command() {
    let mut world = World::new();
    let attest = |sequence| {
        Command::AttestState(AttestState {
            sequence,
            state: [1; 32],
            snapshot: [2; 32],
        })
    };
    let last = world.exchange.sequence();
    world.refused(&attest(last.next()), RejectionReason::NotYetApplied);
    assert_eq!(world.done(&attest(last)), CommandOutcome::Done);
    assert_eq!(world.events, [Event::StateAttested]);
    world.done(&attest(Sequence(1)));
}
