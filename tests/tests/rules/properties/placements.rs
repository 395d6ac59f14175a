//! Orders to place: mostly ones that cross, some at the limit of every check, some beyond it.

use foretell_model::{
    AccountNumber, KeyNumber, MarketNumber, OrderId, OrderType, Outcome, PlaceOrder, Side, TimeMs,
    TimeNs, TimeSeconds,
};

use crate::properties::rng::Rng;
use crate::properties::style::Style;
use crate::properties::world::World;

const LOT: u64 = 10_000;
const ONE: u64 = 10_000;

/// Amounts from the ends of the integers' range.
pub(crate) const EXTREMES: &[u64] = &[
    0,
    1,
    9_999,
    10_000,
    10_001,
    999_999_999_990_000,
    1_000_000_000_000_000,
    1_000_000_000_000_001,
    1_000_000_000_010_000,
    u64::MAX - 1,
    u64::MAX,
];

/// An order of this account in this market.
pub(crate) fn placement(
    rng: &mut Rng,
    style: &Style,
    world: &World,
    account: AccountNumber,
    market: MarketNumber,
    now: TimeNs,
) -> PlaceOrder {
    let outcome = rng.pick(Outcome::ALL);
    let has_shares = world.shares(account, market)[outcome as usize] > 0;
    let side = if has_shares || rng.percent(10) {
        rng.pick(Side::ALL)
    } else {
        Side::Buy
    };
    let order_type = rng.pick(&[
        OrderType::Gtc,
        OrderType::Gtc,
        OrderType::Gtc,
        OrderType::Gtd,
        OrderType::Gtd,
        OrderType::Fok,
        OrderType::Fak,
    ]);
    let price = own_price(rng, style, world, market, outcome, side, order_type);
    let (maker_amount, taker_amount) = if rng.percent(style.extreme) {
        (rng.pick(EXTREMES), rng.pick(EXTREMES))
    } else {
        let most = match side {
            Side::Sell => world.shares(account, market)[outcome as usize],
            Side::Buy => affordable(world, account, market, price),
        };
        let least = world.market(market).minimum_size.0;
        let lots = size(rng, style, order_type, least, most);
        amounts(rng, order_type, side, price, lots)
    };
    PlaceOrder {
        order: fresh_id(rng),
        account,
        key: key_for(rng, style, world, account),
        market,
        outcome,
        side,
        order_type,
        post_only: if order_type.may_rest() {
            rng.percent(15)
        } else {
            rng.percent(1)
        },
        maker_amount,
        taker_amount,
        expiration: expiration(rng, world, order_type, now),
        timestamp: timestamp(rng, world, now),
    }
}

/// Ids may differ in one word only: an index must not mix them up.
fn fresh_id(rng: &mut Rng) -> OrderId {
    let mut id = [0; 32];
    let word = rng.pick(&[0, 8, 16, 24]);
    id[word..word + 8].copy_from_slice(&rng.next().to_be_bytes());
    OrderId(id)
}

/// One of the style's prices, usually on the market's grid. A market order often takes the one that
/// crosses most.
fn own_price(
    rng: &mut Rng,
    style: &Style,
    world: &World,
    market: MarketNumber,
    outcome: Outcome,
    side: Side,
    order_type: OrderType,
) -> u64 {
    let tick = u64::from(world.market(market).tick.units());
    let bids = (outcome == Outcome::Yes) == (side == Side::Buy);
    let (furthest, crosses_most) = if bids {
        (ONE - tick, style.prices.iter().max())
    } else {
        (tick, style.prices.iter().min())
    };
    let wish = match (rng.below(100), crosses_most) {
        // At any price: the fee at the limit is then far below the fee of the fills.
        (0..=29, _) if !order_type.may_rest() => furthest,
        (30..=69, Some(price)) if !order_type.may_rest() => u64::from(*price),
        _ => u64::from(rng.pick(&style.prices)),
    };
    let off_grid = rng.percent(style.extreme);
    let yes = if off_grid {
        wish
    } else {
        (wish / tick * tick).clamp(tick, ONE - tick)
    };
    match outcome {
        Outcome::Yes => yes,
        Outcome::No => ONE - yes,
    }
}

/// A size of the style, at least the market's minimum and at most the affordable one; often exactly
/// the affordable one, so that the last fee decides.
fn size(rng: &mut Rng, style: &Style, order_type: OrderType, least: u64, most: u64) -> u64 {
    let liked = rng.pick(&style.lots) * (1 + rng.below(3));
    let all_in = if order_type.may_rest() { 15 } else { 35 };
    match rng.below(100) {
        // Affordable or not.
        0..=4 => liked,
        chance if chance < 5 + all_in => most + rng.below(2),
        _ => liked.max(least).min(most),
    }
    .clamp(1, 100_000_000_000)
}

/// About as many lots as the free collateral pays for with the fee; rounding decides about the last
/// ones.
fn affordable(world: &World, account: AccountNumber, market: MarketNumber, price: u64) -> u64 {
    let fee = world.market(market).fee;
    let spread = u128::from(price * (ONE - price));
    let exponent = u32::from(fee.exponent);
    let fee_a_lot =
        u128::from(fee.rate_ppm) * spread.pow(exponent) / (100 * 10_u128.pow(8 * exponent));
    let lots = u128::from(world.free(account)) / (u128::from(price) + fee_a_lot);
    u64::try_from(lots).expect("no more than the free micros")
}

/// The signed amounts for `lots` at this price. A market order's need not divide evenly.
fn amounts(rng: &mut Rng, order_type: OrderType, side: Side, price: u64, lots: u64) -> (u64, u64) {
    let price = price.max(1);
    let (shares, value) = (lots * LOT, lots * price);
    match (order_type.may_rest(), side) {
        (true, Side::Buy) => (value, shares),
        (true, Side::Sell) => (shares, value),
        (false, Side::Buy) => {
            let budget = value + rng.below(price) * rng.below(2);
            let least = u128::from(budget) * u128::from(ONE) / u128::from(price);
            let least = u64::try_from(least).expect("at most 10^4 times 10^15");
            // Fewer shares for the budget is a higher limit: rounding must reduce it again.
            (budget, least - least.min(rng.below(40)))
        }
        (false, Side::Sell) => (shares, value - value.min(rng.below(40))),
    }
}

/// Usually a key that may trade for the account.
pub(crate) fn key_for(
    rng: &mut Rng,
    style: &Style,
    world: &World,
    account: AccountNumber,
) -> KeyNumber {
    let keys = world.keys_for(account);
    if keys.is_empty() || rng.percent(style.unknown) {
        let known = u32::try_from(world.keys.len()).expect("few keys");
        KeyNumber(rng.number(known + 2))
    } else {
        rng.pick(&keys)
    }
}

/// Near the moment at which a GTD order is already due.
fn expiration(rng: &mut Rng, world: &World, order_type: OrderType, now: TimeNs) -> TimeSeconds {
    let wild = rng.percent(2);
    match order_type {
        OrderType::Gtd if wild => TimeSeconds(rng.pick(&[0, 1, 59, u64::MAX - 1, u64::MAX])),
        OrderType::Gtd => {
            let after = rng.pick(&[0, 1, 1, 1, 2, 2, 3, 5, 10, 30, 100]);
            TimeSeconds(now.seconds().0 + world.settings.gtd_safety_seconds + after)
        }
        _ => TimeSeconds(u64::from(wild)),
    }
}

/// Usually inside the window, often at its limits.
pub(crate) fn timestamp(rng: &mut Rng, world: &World, now: TimeNs) -> TimeMs {
    let now = now.millis().0;
    let past = world.settings.timestamp_past_ms;
    let future = world.settings.timestamp_future_ms;
    TimeMs(match rng.below(100) {
        0 => rng.pick(&[0, 1, u64::MAX]),
        1 => now.saturating_sub(past + 1),
        2 => now.saturating_add(future + 1),
        3..=10 => now.saturating_sub(past),
        11..=15 => now.saturating_add(future),
        16..=30 => now.saturating_sub(rng.below(past + 1)),
        31..=40 => now.saturating_sub(rng.below(past.min(2_000) + 1)),
        _ => now,
    })
}
