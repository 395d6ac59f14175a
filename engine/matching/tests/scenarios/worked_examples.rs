//! Protocol 17: the worked examples.

use foretell_model::command::{Convert, Redeem, RegisterMarket};
use foretell_model::event::OrderRested;
use foretell_model::{
    Command, CommandOutcome, Event, FeeSchedule, Lots, MatchKind, Micros, OrderStatus, OrderType,
    Outcome, Payout, Price, QuestionSet, RejectionReason, Side,
};

use crate::world::{UNIT, World};

const BUY_YES: (Side, Outcome) = (Side::Buy, Outcome::Yes);
const BUY_NO: (Side, Outcome) = (Side::Buy, Outcome::No);
const SELL_YES: (Side, Outcome) = (Side::Sell, Outcome::Yes);

#[test]
fn example_1_a_budget_buy_with_fees() {
    let mut world = World::new();
    let market = world.market_with(|market: &mut RegisterMarket| {
        market.fee = FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1,
        };
    });
    let seller = world.trader(1, 1_000);
    world.split(seller, market, 60);
    world.rest(seller, market, SELL_YES, 10, 33);
    world.rest(seller, market, SELL_YES, 50, 34);

    // One micro less than admission requires.
    let poor = world.trader(2, 10);
    let mut order = world.limit(poor, market, BUY_YES, 0, 34);
    order.order_type = OrderType::Fak;
    (order.maker_amount, order.taker_amount) = (10 * UNIT, 29_411_764);
    let details = world.refused(
        &Command::PlaceOrder(order),
        RejectionReason::NotEnoughCollateral,
    );
    assert_eq!(details, [10_263_980, 10_000_000]);

    let buyer = world.trader(3, 11);
    (order.account, order.key) = (buyer.account, buyer.key);
    let result = world.place(order);
    assert_eq!(result.status, OrderStatus::Matched);
    assert_eq!(result.lots, Lots(2_970));
    assert_eq!(result.value, Micros(9_998_000));
    assert_eq!(result.fee, Micros(265_260));
    let fills: Vec<_> = world
        .fills()
        .iter()
        .map(|fill| (fill.lots.0, fill.yes_price.0, fill.fee.0))
        .collect();
    assert_eq!(fills, [(1_000, 3_300, 88_440), (1_970, 3_400, 176_820)]);
    assert_eq!(world.events.last(), Some(&Event::OrderCompleted));
    assert_eq!(world.money(buyer), (11 * UNIT - 9_998_000 - 265_260, 0));
}

#[test]
fn example_2_a_mint_a_trade_and_a_rest() {
    let mut world = World::new();
    let market = world.market();
    let (minter, seller, taker) = (
        world.trader(1, 24),
        world.trader(2, 30),
        world.trader(3, 62),
    );
    world.split(seller, market, 30);
    let supply = world.supply(market);
    let buy_no = world.rest(minter, market, BUY_NO, 60, 40);
    let sell_yes = world.rest(seller, market, SELL_YES, 30, 61);
    assert_eq!(world.money(minter), (0, 24 * UNIT));

    let order = world.limit(taker, market, BUY_YES, 100, 62);
    let result = world.place(order);
    assert_eq!((result.status, result.fills), (OrderStatus::Matched, 2));
    assert_eq!(result.value, Micros(36 * UNIT + 18_300_000));
    let fills: Vec<_> = world
        .fills()
        .iter()
        .map(|fill| (fill.maker_order.0, fill.kind, fill.lots.0, fill.yes_price.0))
        .collect();
    let expected = [
        (buy_no, MatchKind::Mint, 6_000, 6_000),
        (sell_yes, MatchKind::Complementary, 3_000, 6_100),
    ];
    assert_eq!(fills, expected);
    let rested = Event::OrderRested(OrderRested {
        lots: Lots(1_000),
        price: Price(6_200),
    });
    assert_eq!(world.events.last(), Some(&rested));
    assert_eq!(world.money(taker), (1_500_000, 6_200_000));
    assert_eq!(world.money(minter), (0, 0));
    assert_eq!(world.money(seller), (18_300_000, 0));
    assert_eq!(world.supply(market), supply.map(|lots| lots + 6_000));
    assert_eq!(world.shares(taker, market), [9_000, 0]);
    assert_eq!(world.shares(minter, market), [0, 6_000]);
}

#[test]
fn example_3_a_conversion() {
    let mut world = World::new();
    let trader = world.trader(1, 10);
    let (event, markets) = world.neg_risk(3);
    for market in &markets[..2] {
        world.split(trader, *market, 5);
    }
    let reference = world.reference();
    let outcome = world.done(&Command::Convert(Convert {
        account: trader.account,
        event,
        questions: QuestionSet::default().with(0).with(1),
        lots: Lots(500),
        reference,
    }));
    assert_eq!(outcome, CommandOutcome::Collateral(Micros(5 * UNIT)));
    assert_eq!(world.money(trader), (5 * UNIT, 0));
    for market in &markets {
        assert_eq!(world.shares(trader, *market), [500, 0]);
    }
    for market in &markets {
        world.done(&Command::CloseMarket { market: *market });
    }
    world.resolve(markets[2], Payout::Yes);
    let reference = world.reference();
    let outcome = world.done(&Command::Redeem(Redeem {
        account: trader.account,
        market: markets[2],
        reference,
    }));
    assert_eq!(outcome, CommandOutcome::Collateral(Micros(5 * UNIT)));
    assert_eq!(world.money(trader), (10 * UNIT, 0));
}
