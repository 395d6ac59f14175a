//! What a key can do on the trading surface.

use polymarket_client_sdk_v2::auth::state::Unauthenticated;
use polymarket_client_sdk_v2::clob::Client;
use polymarket_client_sdk_v2::clob::types::request::{
    BalanceAllowanceRequest, DeleteNotificationsRequest, OrdersRequest, TradesRequest, UserRewardsEarningRequest,
};
use polymarket_client_sdk_v2::types::{B256, NaiveDate};

use super::{Trader, condition, of_market, rested, signed, signer, terms, trader};
use crate::facts::Facts;
use crate::method::{ALWAYS_EMPTY, ALWAYS_FALSE, ANSWERED, BUILDER_KEYS, LOCAL, Method, Outcome, REWARDS, method};

pub fn methods(visitor: &'static Client<Unauthenticated>, trader: &'static Trader, facts: &'static Facts) -> Vec<Method> {
    let mut methods = orders(trader, facts);
    methods.extend(account(trader, facts));
    methods.extend(keys(visitor, trader, facts));
    methods.extend(builders(trader, facts));
    methods.extend(rewards(trader, facts));
    methods
}

fn orders(c: &'static Trader, facts: &'static Facts) -> Vec<Method> {
    let id = &*facts.market.condition;
    let orders = move || OrdersRequest::builder().market(condition(facts)).build();
    let mut all = Vec::new();
    method!(all, "clob.sign", Outcome::Answered("reads whether the market is neg-risk"), ["signature"], async {
        let direct = trader(facts, &facts.direct).await?;
        c.sign(&signer(facts), terms(&direct, facts).await?).await
    });
    method!(all, "clob.post_order", ANSWERED, ["live"], async { c.post_order(signed(facts).await?).await });
    method!(all, "clob.post_orders", ANSWERED, ["live"], async { c.post_orders(vec![signed(facts).await?]).await });
    method!(all, "clob.order", ANSWERED, [id, "live"], async { c.order(&rested(facts).await?).await });
    method!(all, "clob.orders", ANSWERED, [id, "live"], async {
        rested(facts).await?;
        c.orders(&orders(), None).await
    });
    method!(all, "clob.cancel_order", ANSWERED, ["canceled: [\"0x"], async { c.cancel_order(&rested(facts).await?).await });
    method!(all, "clob.cancel_orders", ANSWERED, ["canceled: [\"0x"], async { c.cancel_orders(&[&rested(facts).await?]).await });
    method!(all, "clob.cancel_market_orders", ANSWERED, ["canceled: [\"0x"], async {
        rested(facts).await?;
        c.cancel_market_orders(&of_market(facts)).await
    });
    method!(all, "clob.cancel_all_orders", ANSWERED, ["canceled: [\"0x"], async {
        rested(facts).await?;
        c.cancel_all_orders().await
    });
    method!(all, "clob.is_order_scoring", ALWAYS_FALSE, ["false"], async { c.is_order_scoring(&rested(facts).await?).await });
    method!(all, "clob.are_orders_scoring", ALWAYS_FALSE, ["false"], async {
        c.are_orders_scoring(&[&rested(facts).await?]).await
    });
    method!(all, "clob.pre_migration_orders", ALWAYS_EMPTY, ["[]"], c.pre_migration_orders(None));
    all
}

fn account(c: &'static Trader, facts: &'static Facts) -> Vec<Method> {
    let trades = move || TradesRequest::builder().market(condition(facts)).build();
    let mut all = Vec::new();
    method!(all, "clob.trades", ANSWERED, [facts.market.condition], async move { c.trades(&trades(), None).await });
    method!(all, "clob.notifications", ALWAYS_EMPTY, ["[]"], c.notifications());
    method!(all, "clob.delete_notifications", ANSWERED, [], async {
        let one = DeleteNotificationsRequest::builder().notification_ids(vec!["1".to_owned()]).build();
        c.delete_notifications(&one).await
    });
    method!(
        all,
        "clob.balance_allowance",
        ANSWERED,
        ["allowances: {0x"],
        c.balance_allowance(BalanceAllowanceRequest::default())
    );
    method!(all, "clob.update_balance_allowance", ANSWERED, [], c.update_balance_allowance(BalanceAllowanceRequest::default()));
    method!(all, "clob.closed_only_mode", ANSWERED, ["false"], c.closed_only_mode());
    method!(all, "clob.post_heartbeat", ANSWERED, ["heartbeat_id"], c.post_heartbeat(None));
    all
}

fn keys(visitor: &'static Client<Unauthenticated>, c: &'static Trader, facts: &'static Facts) -> Vec<Method> {
    let key = &*facts.api.key;
    let mut all = Vec::new();
    method!(all, "clob.create_api_key", ANSWERED, ["key"], async { visitor.create_api_key(&signer(facts), Some(17)).await });
    method!(all, "clob.derive_api_key", ANSWERED, [key], async { visitor.derive_api_key(&signer(facts), Some(0)).await });
    method!(all, "clob.create_or_derive_api_key", ANSWERED, ["key"], async {
        visitor.create_or_derive_api_key(&signer(facts), Some(18)).await
    });
    method!(all, "clob.authenticate", ANSWERED, ["authenticated"], async {
        let visitor = super::visitor(facts, &facts.surfaces);
        visitor.authentication_builder(&signer(facts)).nonce(17).authenticate().await
    });
    method!(all, "clob.deauthenticate", LOCAL, ["unauthenticated"], async {
        trader(facts, &facts.direct).await?.deauthenticate().await
    });
    method!(all, "clob.api_keys", ANSWERED, [key], c.api_keys());
    method!(all, "clob.create_readonly_api_key", ANSWERED, ["api_key"], c.create_readonly_api_key());
    method!(
        all,
        "clob.readonly_api_keys",
        Outcome::Differs("an array, as the other official clients read it; this one expects an object"),
        [],
        c.readonly_api_keys()
    );
    method!(all, "clob.delete_readonly_api_key", ANSWERED, [], async {
        let direct = trader(facts, &facts.direct).await?;
        let key = direct.create_readonly_api_key().await?.api_key;
        c.delete_readonly_api_key(&key).await
    });
    method!(all, "clob.delete_api_key", ANSWERED, ["String(\"OK\")"], async {
        let direct = super::visitor(facts, &facts.direct);
        let spare = direct.authentication_builder(&signer(facts)).nonce(19).authenticate().await?;
        let credentials = spare.credentials().clone();
        let visitor = super::visitor(facts, &facts.surfaces);
        let spare = visitor.authentication_builder(&signer(facts)).credentials(credentials).authenticate().await?;
        spare.delete_api_key().await
    });
    all
}

fn builders(c: &'static Trader, facts: &'static Facts) -> Vec<Method> {
    let builder = || facts.builder.parse::<B256>().expect("a builder's code");
    let mut all = Vec::new();
    method!(all, "clob.builder_fee_rate", Outcome::Answered("always 0"), ["fee_rate_bps: 0"], async move {
        c.builder_fee_rate(builder()).await
    });
    method!(
        all,
        "clob.builder_trades",
        Outcome::Differs("the client reads only builders of 20 bytes, and codes have 32"),
        [],
        async move { c.builder_trades(builder(), &TradesRequest::default(), None).await }
    );
    method!(all, "clob.create_builder_api_key", BUILDER_KEYS, [], c.create_builder_api_key());
    method!(all, "clob.builder_api_keys", BUILDER_KEYS, [], c.builder_api_keys());
    method!(all, "clob.revoke_builder_api_key", BUILDER_KEYS, [], c.revoke_builder_api_key());
    all
}

fn rewards(c: &'static Trader, facts: &'static Facts) -> Vec<Method> {
    let day = || facts.day.parse::<NaiveDate>().expect("a day");
    let mut all = Vec::new();
    method!(all, "clob.earnings_for_user_for_day", REWARDS, [], c.earnings_for_user_for_day(day(), None));
    method!(all, "clob.total_earnings_for_user_for_day", REWARDS, [], c.total_earnings_for_user_for_day(day()));
    method!(all, "clob.user_earnings_and_markets_config", REWARDS, [], async move {
        let request = UserRewardsEarningRequest::builder().date(day()).build();
        c.user_earnings_and_markets_config(&request, None).await
    });
    method!(all, "clob.reward_percentages", REWARDS, [], c.reward_percentages());
    method!(all, "clob.current_rewards", REWARDS, [], c.current_rewards(None));
    method!(all, "clob.raw_rewards_for_market", REWARDS, [], c.raw_rewards_for_market(&facts.market.condition, None));
    all
}
