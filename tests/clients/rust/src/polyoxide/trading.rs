//! The trading surface.

use polyoxide_polymarket::Polymarket;
use polyoxide_polymarket::clob::types::MarketOrderArgs;
use polyoxide_polymarket::clob::{
    BatchPricesHistoryRequest, BookParams, Credentials, OrderKind, OrderSide, PricesHistoryQuery, SignedOrderPayload,
};

use super::{client, rested, terms, with_key};
use crate::facts::Facts;
use crate::method::{ALWAYS_EMPTY, ANSWERED, BUILDER_KEYS, LOCAL, Method, Outcome, REWARDS, method};

pub fn methods(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let mut methods = markets(p, facts);
    methods.extend(lists(p, facts));
    methods.extend(orders(p, facts));
    methods.extend(account(p, facts));
    methods.extend(keys(p, facts));
    methods.extend(rewards(p, facts));
    methods
}

fn sides(facts: &Facts) -> [BookParams; 2] {
    let of = |token: &str, side| BookParams { token_id: token.to_owned(), side: Some(side) };
    [of(&facts.market.yes, OrderSide::Buy), of(&facts.market.no, OrderSide::Sell)]
}

/// Books and prices.
fn markets(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let market = &facts.market;
    let (yes, no, condition) = (&*market.yes, &*market.no, &*market.condition);
    let mut all = Vec::new();
    method!(all, "clob.markets.order_book", ANSWERED, [condition, "0.45"], p.clob.markets().order_book(yes).send());
    method!(all, "clob.markets.order_books", ANSWERED, [yes, no], p.clob.markets().order_books(&sides(facts)));
    method!(
        all,
        "clob.markets.price",
        Outcome::Answered("the best bid"),
        ["0.45"],
        p.clob.markets().price(yes, OrderSide::Buy).send()
    );
    method!(all, "clob.markets.prices", ANSWERED, [yes, no, "0.45", "0.55"], p.clob.markets().prices(&sides(facts)));
    method!(all, "clob.markets.midpoint", ANSWERED, ["0.5"], p.clob.markets().midpoint(yes).send());
    method!(all, "clob.markets.midpoints", ANSWERED, [yes, no, "0.5"], p.clob.markets().midpoints(&sides(facts)));
    method!(all, "clob.markets.spread", ANSWERED, ["0.1"], p.clob.markets().spread(yes).send());
    method!(all, "clob.markets.spreads", ANSWERED, [yes, no, "0.1"], p.clob.markets().spreads(&sides(facts)));
    method!(all, "clob.markets.last_trade_price", ANSWERED, ["0.4"], p.clob.markets().last_trade_price(yes).send());
    method!(all, "clob.markets.last_trade_prices", ANSWERED, ["0.4"], p.clob.markets().last_trade_prices(&sides(facts)));
    method!(
        all,
        "clob.markets.prices_history",
        Outcome::NotOffered("it names no interval; `prices_history_with` does"),
        [],
        p.clob.markets().prices_history(yes).send()
    );
    method!(all, "clob.markets.prices_history_with", ANSWERED, ["0."], async {
        let hour = PricesHistoryQuery { interval: Some("1h".to_owned()), ..PricesHistoryQuery::default() };
        p.clob.markets().prices_history_with(yes, &hour).send().await
    });
    method!(all, "clob.markets.batch_prices_history", ANSWERED, [yes, "0."], async {
        let hour = BatchPricesHistoryRequest {
            markets: vec![yes.to_owned()],
            start_ts: None,
            end_ts: None,
            interval: Some("1h".to_owned()),
            fidelity: None,
        };
        p.clob.markets().batch_prices_history(&hour)?.send().await
    });
    method!(
        all,
        "clob.markets.calculate_price",
        Outcome::NotOffered("`GET /book` has what the price follows from"),
        [],
        p.clob.markets().calculate_price(yes, OrderSide::Buy, "2")
    );
    method!(all, "clob.markets.tick_size", ANSWERED, ["0.01"], p.clob.markets().tick_size(yes).send());
    method!(all, "clob.markets.neg_risk", ANSWERED, ["false"], p.clob.markets().neg_risk(yes).send());
    method!(all, "clob.markets.fee_rate", ANSWERED, ["400"], p.clob.markets().fee_rate(yes).send());
    method!(all, "clob.markets.tick_size_path", ANSWERED, ["0.01"], p.clob.markets().tick_size_path(yes).send());
    method!(all, "clob.markets.neg_risk_path", ANSWERED, ["false"], p.clob.markets().neg_risk_path(yes).send());
    method!(all, "clob.markets.fee_rate_path", ANSWERED, ["400"], p.clob.markets().fee_rate_path(yes).send());
    method!(all, "clob.markets.market_by_token", ANSWERED, [condition, no], p.clob.markets().market_by_token(yes).send());
    method!(all, "clob.markets.clob_market_details", ANSWERED, [yes, no], p.clob.markets().clob_market_details(condition).send());
    method!(
        all,
        "clob.markets.live_activity_market",
        Outcome::Differs("the answer is the market's trades, as the official clients read it"),
        [],
        p.clob.markets().live_activity_market(condition).send()
    );
    method!(
        all,
        "clob.markets.live_activity_bulk",
        Outcome::NotOffered("`GET /markets/live-activity/{id}` has one market"),
        [],
        async { p.clob.markets().live_activity_bulk(vec![condition.to_owned()])?.send().await }
    );
    all
}

/// Lists of markets, and the service.
fn lists(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let market = &facts.market;
    let condition = &*market.condition;
    let mut all = Vec::new();
    method!(all, "clob.markets.get", ANSWERED, [condition, market.yes], p.clob.markets().get(condition).send());
    method!(
        all,
        "clob.markets.get_by_token_ids",
        ANSWERED,
        [condition],
        p.clob.markets().get_by_token_ids(vec![market.yes.clone()]).send()
    );
    method!(all, "clob.markets.list", ANSWERED, [condition], p.clob.markets().list().send());
    method!(all, "clob.markets.simplified", ANSWERED, [condition], p.clob.markets().simplified().send());
    method!(all, "clob.markets.sampling", ANSWERED, [condition], p.clob.markets().sampling().send());
    method!(all, "clob.markets.sampling_simplified", ANSWERED, [condition], p.clob.markets().sampling_simplified().send());
    method!(all, "clob.health.ping", ANSWERED, [], p.clob.health().ping());
    method!(all, "clob.health.server_time", ANSWERED, [], p.clob.health().server_time().send());
    all
}

/// Orders, placed and cancelled.
fn orders(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let signs = Outcome::Answered("signs; reads the market");
    let market_terms = || MarketOrderArgs {
        token_id: facts.market.yes.clone(),
        amount: 2.0,
        side: OrderSide::Buy,
        price: Some(0.6),
        fee_rate_bps: None,
        nonce: None,
        funder: None,
        signature_type: None,
        order_type: Some(OrderKind::Fak),
    };
    let signed = || async {
        let direct = client(facts, &facts.direct).clob;
        direct.sign_order(&direct.create_order(&terms(facts), None).await?).await
    };
    let mut all = Vec::new();
    method!(all, "clob.create_order", signs, ["1100000"], async { p.clob.create_order(&terms(facts), None).await });
    method!(all, "clob.create_market_order", signs, ["2000000"], async {
        p.clob.create_market_order(&market_terms(), None).await
    });
    method!(all, "clob.sign_order", LOCAL, ["signature", "1100000"], async {
        let order = client(facts, &facts.direct).clob.create_order(&terms(facts), None).await?;
        p.clob.sign_order(&order).await
    });
    method!(all, "clob.place_order", ANSWERED, ["live"], async { p.clob.place_order(&terms(facts), None).await });
    method!(all, "clob.place_market_order", ANSWERED, ["matched"], async {
        p.clob.place_market_order(&market_terms(), None).await
    });
    method!(all, "clob.post_order", ANSWERED, ["live"], async {
        p.clob.post_order(&signed().await?, OrderKind::Gtc, false).await
    });
    method!(all, "clob.post_orders", ANSWERED, ["live"], async {
        let order = SignedOrderPayload { order: signed().await?, order_type: OrderKind::Gtc, post_only: false };
        p.clob.post_orders(&[order]).await
    });
    method!(all, "clob.orders.list", ANSWERED, [facts.market.condition, "live"], async {
        rested(facts).await?;
        p.clob.orders()?.list().send().await
    });
    method!(all, "clob.orders.get", ANSWERED, [facts.market.condition, "live"], async {
        let order = rested(facts).await?;
        p.clob.orders()?.get(order).send().await
    });
    method!(all, "clob.orders.is_scoring", Outcome::Differs("always false; the client expects the order's id, too"), [], async {
        let order = rested(facts).await?;
        p.clob.orders()?.is_scoring(order).send().await
    });
    method!(
        all,
        "clob.orders.are_scoring",
        Outcome::NotOffered("it sends GET; `POST /orders-scoring` is the family's"),
        [],
        async { p.clob.orders()?.are_scoring(vec!["0x12".to_owned()]).send().await }
    );
    method!(all, "clob.orders.cancel", ANSWERED, ["canceled: [\"0x"], async {
        let order = rested(facts).await?;
        p.clob.orders()?.cancel(order).send().await
    });
    method!(all, "clob.orders.cancel_many", ANSWERED, ["canceled: [\"0x"], async {
        let order = rested(facts).await?;
        p.clob.orders()?.cancel_many(vec![order]).await
    });
    method!(all, "clob.orders.cancel_market", ANSWERED, ["canceled: [\"0x"], async {
        rested(facts).await?;
        p.clob.orders()?.cancel_market(&facts.market.condition, &facts.market.yes).await
    });
    method!(all, "clob.orders.cancel_all", ANSWERED, ["canceled: [\"0x"], async {
        rested(facts).await?;
        p.clob.orders()?.cancel_all().await
    });
    all
}

/// The account and its notifications.
fn account(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let condition = &*facts.market.condition;
    let mut all = Vec::new();
    method!(all, "clob.account_api.usdc_balance", ANSWERED, ["balance", "0x"], async {
        p.clob.account_api()?.usdc_balance().send().await
    });
    method!(all, "clob.account_api.balance_allowance", ANSWERED, ["50000000"], async {
        p.clob.account_api()?.balance_allowance(&facts.market.no).send().await
    });
    method!(all, "clob.account_api.update_balance_allowance", ANSWERED, [], async {
        p.clob.account_api()?.update_balance_allowance("COLLATERAL", None, None).await
    });
    method!(all, "clob.account_api.trades", ANSWERED, [condition], async {
        p.clob.account_api()?.trades(&facts.wallet).send().await
    });
    method!(all, "clob.account_api.builder_trades", ANSWERED, [condition], async {
        p.clob.account_api()?.builder_trades(&facts.builder).send().await
    });
    method!(all, "clob.account_api.heartbeat", ANSWERED, [], async { p.clob.account_api()?.heartbeat().await });
    method!(all, "clob.account_api.heartbeat_v1", ANSWERED, ["heartbeat_id"], async {
        p.clob.account_api()?.heartbeat_v1().await
    });
    method!(
        all,
        "clob.account_api.list_session_signers",
        Outcome::NotOffered("session signers authorize on-chain wallets; use API keys or read-only keys"),
        [],
        async { p.clob.account_api()?.list_session_signers().await }
    );
    method!(all, "clob.account_api.rate_limit_tier", Outcome::NotOffered("limits have no tiers"), [], async {
        p.clob.account_api()?.rate_limit_tier().send().await
    });
    method!(all, "clob.notifications.list", ALWAYS_EMPTY, ["[]"], async { p.clob.notifications()?.list().send().await });
    method!(all, "clob.notifications.drop", ANSWERED, [], async { p.clob.notifications()?.drop(vec![1]).await });
    all
}

/// Keys of the interface.
fn keys(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let key = &*facts.api.key;
    let wallet_signs = Outcome::NotOffered("it signs with the wallet; a key of the interface creates read-only keys");
    let address = || facts.wallet.parse().expect("a wallet");
    let (stamp, text) = (facts.signature.timestamp, &*facts.signature.text);
    let mut all = Vec::new();
    method!(
        all,
        "clob.create_api_key_with_signature",
        ANSWERED,
        [key],
        p.clob.create_api_key_with_signature(address(), stamp, 0, text)
    );
    method!(
        all,
        "clob.derive_api_key_with_signature",
        ANSWERED,
        [key],
        p.clob.derive_api_key_with_signature(address(), stamp, 0, text)
    );
    method!(all, "clob.auth.create_api_key", ANSWERED, ["secret"], async { p.clob.auth()?.create_api_key(7).send().await });
    method!(all, "clob.auth.derive_api_key", ANSWERED, ["secret"], async { p.clob.auth()?.derive_api_key(0).send().await });
    method!(
        all,
        "clob.auth.list_api_keys",
        Outcome::Differs("the answer is an object, as the official clients read it"),
        [],
        async { p.clob.auth()?.list_api_keys().send().await }
    );
    method!(all, "clob.auth.create_readonly_key", wallet_signs, [], async { p.clob.auth()?.create_readonly_key(0).send().await });
    method!(all, "clob.auth.list_readonly_keys", ANSWERED, ["[]"], async { p.clob.auth()?.list_readonly_keys().send().await });
    method!(
        all,
        "clob.auth.delete_readonly_key",
        Outcome::NotOffered("it sends `apiKey`; the official clients send `key`"),
        [],
        async { p.clob.auth()?.delete_readonly_key(key).await }
    );
    method!(
        all,
        "clob.auth.validate_readonly_key",
        Outcome::NotOffered("a read with the key says whether it is valid"),
        [],
        async { p.clob.auth()?.validate_readonly_key(&facts.wallet, key).send().await }
    );
    method!(all, "clob.auth.create_builder_key", BUILDER_KEYS, [], async { p.clob.auth()?.create_builder_key().send().await });
    method!(all, "clob.auth.list_builder_keys", BUILDER_KEYS, [], async { p.clob.auth()?.list_builder_keys().send().await });
    method!(all, "clob.auth.delete_builder_key", BUILDER_KEYS, [], async { p.clob.auth()?.delete_builder_key().send().await });
    method!(all, "clob.auth.delete_api_key", ANSWERED, ["String(\"OK\")"], async {
        let made = client(facts, &facts.direct).clob.auth()?.create_api_key(9).send().await?;
        let credentials = Credentials { key: made.api_key, secret: made.secret, passphrase: made.passphrase };
        with_key(facts, &facts.surfaces, credentials).clob.auth()?.delete_api_key().send().await
    });
    method!(all, "clob.auth.closed_only_status", ANSWERED, ["false"], async { p.clob.auth()?.closed_only_status().send().await });
    all
}

/// Rewards of liquidity, with a key and without one.
fn rewards(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let (day, condition) = (&*facts.day, &*facts.market.condition);
    let mut all = Vec::new();
    method!(all, "clob.rewards.earnings", REWARDS, [], async { p.clob.rewards()?.earnings(day).send().await });
    method!(all, "clob.rewards.total_earnings", REWARDS, [], async { p.clob.rewards()?.total_earnings(day).send().await });
    method!(all, "clob.rewards.percentages", REWARDS, [], async { p.clob.rewards()?.percentages().send().await });
    method!(all, "clob.rewards.market_earnings", REWARDS, [], async { p.clob.rewards()?.market_earnings().send().await });
    method!(all, "clob.rewards.current_markets", REWARDS, [], async { p.clob.rewards()?.current_markets().send().await });
    method!(all, "clob.rewards.market", REWARDS, [], async { p.clob.rewards()?.market(condition).send().await });
    method!(all, "clob.rewards.multi_markets", REWARDS, [], async { p.clob.rewards()?.multi_markets().send().await });
    method!(all, "clob.rewards.current_rebates", ANSWERED, [facts.maker], async {
        p.clob.rewards()?.current_rebates(day, &facts.maker).send().await
    });
    method!(all, "clob.public_rewards.current_markets", REWARDS, [], p.clob.public_rewards().current_markets().send());
    method!(all, "clob.public_rewards.market", REWARDS, [], p.clob.public_rewards().market(condition).send());
    method!(all, "clob.public_rewards.multi_markets", REWARDS, [], p.clob.public_rewards().multi_markets().send());
    method!(
        all,
        "clob.public_rewards.current_rebates",
        ANSWERED,
        [facts.maker],
        p.clob.public_rewards().current_rebates(day, &facts.maker).send()
    );
    all
}
