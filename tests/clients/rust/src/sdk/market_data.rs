//! Reads of the trading surface that need no key.

use polymarket_client_sdk_v2::auth::state::Unauthenticated;
use polymarket_client_sdk_v2::clob::Client;
use polymarket_client_sdk_v2::clob::types::request::{
    LastTradePriceRequest, MidpointRequest, OrderBookSummaryRequest, PriceHistoryRequest, PriceRequest, SpreadRequest,
};
use polymarket_client_sdk_v2::clob::types::{Amount, Interval, OrderType, Side, TimeRange};
use polymarket_client_sdk_v2::types::Decimal;

use super::token;
use crate::facts::Facts;
use crate::method::{ANSWERED, Method, Outcome, method};

type Visitor = Client<Unauthenticated>;

pub fn methods(c: &'static Visitor, facts: &'static Facts) -> Vec<Method> {
    let mut methods = prices(c, facts);
    methods.extend(markets(c, facts));
    methods
}

fn prices(c: &'static Visitor, facts: &'static Facts) -> Vec<Method> {
    let (yes, no) = (token(&facts.market.yes), token(&facts.market.no));
    let (yes_id, no_id, condition) = (&facts.market.yes, &facts.market.no, &facts.market.condition);
    let middle = move |token_id| MidpointRequest::builder().token_id(token_id).build();
    let price = move |token_id, side| PriceRequest::builder().token_id(token_id).side(side).build();
    let spread = move |token_id| SpreadRequest::builder().token_id(token_id).build();
    let book = move |token_id| OrderBookSummaryRequest::builder().token_id(token_id).build();
    let last = move |token_id| LastTradePriceRequest::builder().token_id(token_id).build();
    let mut all = Vec::new();
    method!(all, "clob.midpoint", ANSWERED, ["0.5"], async move { c.midpoint(&middle(yes)).await });
    method!(
        all,
        "clob.midpoints",
        ANSWERED,
        [yes_id, no_id, "0.5"],
        async move { c.midpoints(&[middle(yes), middle(no)]).await }
    );
    method!(all, "clob.price", Outcome::Answered("the best bid"), ["0.45"], async move { c.price(&price(yes, Side::Buy)).await });
    method!(all, "clob.prices", ANSWERED, [yes_id, no_id, "0.45", "0.55"], async move {
        c.prices(&[price(yes, Side::Buy), price(no, Side::Sell)]).await
    });
    method!(all, "clob.price_history", ANSWERED, ["p: 0."], async move {
        let hour = TimeRange::from_interval(Interval::OneHour);
        c.price_history(&PriceHistoryRequest::builder().market(yes).time_range(hour).build()).await
    });
    method!(all, "clob.spread", ANSWERED, ["0.1"], async move { c.spread(&spread(yes)).await });
    method!(all, "clob.spreads", Outcome::Answered("the client drops what the family answers"), ["none"], async move {
        c.spreads(&[spread(yes), spread(no)]).await
    });
    method!(all, "clob.order_book", ANSWERED, [condition, "0.45"], async move { c.order_book(&book(yes)).await });
    method!(all, "clob.order_books", ANSWERED, [yes_id, no_id], async move { c.order_books(&[book(yes), book(no)]).await });
    method!(all, "clob.last_trade_price", ANSWERED, ["0.4"], async move { c.last_trade_price(&last(yes)).await });
    method!(all, "clob.last_trades_prices", ANSWERED, [yes_id, "0.4"], async move {
        c.last_trades_prices(&[last(yes), last(no)]).await
    });
    method!(all, "clob.calculate_market_price", ANSWERED, ["0.55"], async move {
        c.calculate_market_price(yes, Side::Buy, Amount::usdc(Decimal::from(2))?, OrderType::FOK).await
    });
    all
}

fn markets(c: &'static Visitor, facts: &'static Facts) -> Vec<Method> {
    let yes = token(&facts.market.yes);
    let condition = &*facts.market.condition;
    let mut all = Vec::new();
    method!(all, "clob.ok", ANSWERED, ["OK"], c.ok());
    method!(all, "clob.server_time", ANSWERED, [], c.server_time());
    method!(all, "clob.version", ANSWERED, ["2"], c.version());
    method!(all, "clob.check_geoblock", Outcome::NotOffered("an operator decides who is served"), [], c.check_geoblock());
    method!(all, "clob.tick_size", ANSWERED, ["hundredth"], c.tick_size(yes));
    method!(all, "clob.neg_risk", ANSWERED, ["false"], c.neg_risk(yes));
    method!(all, "clob.fee_rate_bps", ANSWERED, ["base_fee: 400"], c.fee_rate_bps(yes));
    method!(all, "clob.fee_exponent", ANSWERED, [], c.fee_exponent(yes));
    method!(all, "clob.market", ANSWERED, [condition, facts.market.yes], c.market(condition));
    method!(all, "clob.markets", ANSWERED, [condition], c.markets(None));
    method!(all, "clob.sampling_markets", ANSWERED, [condition], c.sampling_markets(None));
    method!(all, "clob.simplified_markets", ANSWERED, [condition], c.simplified_markets(None));
    method!(all, "clob.sampling_simplified_markets", ANSWERED, [condition], c.sampling_simplified_markets(None));
    method!(all, "clob.clob_market_info", ANSWERED, [condition, facts.market.no], c.clob_market_info(condition));
    method!(all, "clob.market_by_token", ANSWERED, [condition, facts.market.no], c.market_by_token(yes));
    method!(all, "clob.market_trades_events", ANSWERED, [condition], c.market_trades_events(condition));
    all
}
