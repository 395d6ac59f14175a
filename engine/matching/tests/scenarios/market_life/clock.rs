//! Terms of a market, and what falls due.

use foretell_model::command::{PauseMarket, ResumeMarket};
use foretell_model::event::MarketStateSet;
use foretell_model::{
    CloseReason, Command, CommandOutcome, Event, Hold, HoldSet, MarketState, OrderType,
    RejectionReason, SystemMode, TimeMs, TimeSeconds,
};

use super::{BUY_NO, BUY_YES, cancelled, reasons};
use crate::world::World;

#[test]
fn a_market_opens_clears_and_closes_by_itself() {
    let mut world = World::new();
    let description = world.description(None);
    let market = world.register(description);
    let alice = world.trader(1, 100);
    let (ten, twenty, thirty) = (world.after(10), world.after(20), world.after(30));
    let command = world.terms(market, |terms| {
        (terms.opens_at, terms.closes_at) = (ten, TimeMs(ten.0 - 5_000));
    });
    let times = world.refused(&command, RejectionReason::ClockContradicts);
    assert_eq!(times, [ten.0, ten.0 - 5_000]);
    let command = world.terms(market, |terms| {
        (terms.opens_at, terms.closes_at) = (ten, thirty);
        (terms.game_start_time, terms.clear_book_on_start) = (twenty, true);
    });
    world.done(&command);
    world.repeated(&command);
    world.wait(10);
    let order = world.limit(alice, market, BUY_YES, 10, 50);
    world.refused(&Command::PlaceOrder(order), RejectionReason::TimeDue);
    assert_eq!(world.advance(), CommandOutcome::Done);
    let state = MarketState::Active;
    assert_eq!(
        world.events,
        [Event::MarketStateSet(MarketStateSet {
            holds: HoldSet::NONE,
            market,
            state
        })]
    );
    world.rest(alice, market, BUY_YES, 10, 50);
    world.wait(10);
    assert_eq!(world.advance(), cancelled(1));
    assert_eq!(world.events[0], Event::MarketCleared { market });
    assert_eq!(reasons(&world), [CloseReason::Cleared]);
    world.rest(alice, market, BUY_YES, 10, 40);
    world.wait(10);
    assert_eq!(world.advance(), cancelled(1));
    assert_eq!(reasons(&world), [CloseReason::MarketClosed]);
    world.nothing_due();
    assert_eq!(world.money(alice).1, 0);
}

#[test]
fn terms_are_checked_against_the_clock_and_their_ranges() {
    let mut world = World::new();
    let market = world.market();
    let past = TimeMs(world.now.0 / 1_000_000);
    let command = world.terms(market, |terms| terms.closes_at = past);
    let times = world.refused(&command, RejectionReason::ClosesInPast);
    assert_eq!(times, [past.0; 2]);
    let command = world.terms(market, |terms| terms.taker_delay_ms = 60_001);
    world.refused(&command, RejectionReason::InvalidTerms);
    let command = world.terms(market, |terms| terms.rebate_ppm = 1_000_001);
    world.refused(&command, RejectionReason::InvalidTerms);
    world.done(&Command::CloseMarket { market });
    let command = world.terms(market, |terms| terms.rebate_ppm = 1);
    world.refused(&command, RejectionReason::InvalidTransition);
}

#[test]
fn a_clear_of_the_past_is_not_armed_and_other_terms_disarm() {
    let mut world = World::new();
    let (market, alice) = (world.market(), world.trader(1, 100));
    let start = world.after(5);
    world.set_terms(market, |terms| {
        (terms.game_start_time, terms.clear_book_on_start) = (start, true);
    });
    world.set_terms(market, |terms| terms.game_start_time = start);
    world.rest(alice, market, BUY_YES, 1, 50);
    world.wait(5);
    world.nothing_due();
    world.set_terms(market, |terms| {
        (terms.game_start_time, terms.clear_book_on_start) = (start, true);
    });
    world.nothing_due();
}

#[test]
fn at_one_time_things_come_by_rank_and_expiries_together() {
    let mut world = World::new();
    let (market, other, alice) = (world.market(), world.market(), world.trader(1, 100));
    let end = world.after(40);
    for market in [other, market] {
        world.set_terms(market, |terms| terms.closes_at = end);
    }
    for seconds in [100, 90, 101] {
        let mut order = world.limit(alice, market, BUY_YES, 1, 10);
        order.order_type = OrderType::Gtd;
        order.expiration = TimeSeconds(world.now.0 / 1_000_000_000 + seconds);
        world.place(order);
    }
    world.wait(60);
    // 30 s and 40 s expire before the close at 40 s; the third of 41 s is ended by the close.
    assert_eq!(world.advance(), cancelled(2));
    assert_eq!(reasons(&world), [CloseReason::Expired; 2]);
    assert_eq!(world.advance(), cancelled(1), "the lower number first");
    assert_eq!(reasons(&world), [CloseReason::MarketClosed]);
    assert_eq!(world.advance(), cancelled(0));
    world.nothing_due();
}

#[test]
fn a_pause_and_a_mode_keep_delayed_orders_waiting() {
    let mut world = World::new();
    let market = world.market();
    let (alice, bob) = (world.trader(1, 100), world.trader(2, 100));
    world.set_terms(market, |terms| terms.taker_delay_ms = 1_000);
    world.rest(bob, market, BUY_NO, 6, 40);
    let order = world.limit(alice, market, BUY_YES, 10, 60);
    world.delay(order);
    world.done(&Command::PauseMarket(PauseMarket {
        market,
        hold: Hold::Operator,
    }));
    world.wait(2);
    world.nothing_due();
    let mode = SystemMode::CancelOnly;
    world.done(&Command::SetMode { mode });
    world.done(&Command::ResumeMarket(ResumeMarket {
        market,
        hold: Hold::Operator,
    }));
    world.nothing_due();
    let mode = SystemMode::Running;
    world.done(&Command::SetMode { mode });
    world.refused(
        &Command::PauseMarket(PauseMarket {
            market,
            hold: Hold::Operator,
        }),
        RejectionReason::TimeDue,
    );
    world.advance();
    assert_eq!(world.fills().len(), 1);
}
