//! The data surface, version 1.

#![expect(deprecated, reason = "what the family has retired is still in the client")]

use polyoxide_polymarket::data::DataApi;

use crate::facts::Facts;
use crate::method::{ANSWERED, COMBOS, Method, Outcome, method};

/// Its hosts of profits and of rankings are others in the family.
fn client(facts: &Facts) -> DataApi {
    DataApi::builder()
        .base_url(&facts.surfaces.data)
        .pnl_base_url(&facts.absent)
        .rankings_base_url(&facts.absent)
        .build()
        .expect("addresses")
}

pub fn methods(facts: &'static Facts) -> Vec<Method> {
    let data: &'static DataApi = Box::leak(Box::new(client(facts)));
    let mut methods = wallets(data, facts);
    methods.extend(markets(data, facts));
    methods.extend(others(data, facts));
    methods
}

fn wallets(data: &'static DataApi, facts: &'static Facts) -> Vec<Method> {
    let (wallet, market) = (&*facts.wallet, &facts.market);
    let mut all = Vec::new();
    method!(all, "data.user.list_positions", ANSWERED, [market.no, "50"], data.user(wallet).list_positions().send());
    method!(all, "data.user.positions_value", ANSWERED, [wallet], data.user(wallet).positions_value().send());
    method!(all, "data.user.closed_positions", ANSWERED, ["[]"], data.user(wallet).closed_positions().send());
    method!(all, "data.user.trades", ANSWERED, [market.condition], data.user(wallet).trades().send());
    method!(all, "data.user.activity", ANSWERED, [market.condition, "trade"], data.user(wallet).activity().send());
    method!(all, "data.user.traded", ANSWERED, ["traded: 1"], async { data.user(wallet).traded().await });
    method!(all, "data.traded.get", ANSWERED, ["traded: 1"], data.traded(wallet).get());
    method!(all, "data.combos.positions", COMBOS, [], data.combos().positions(wallet).send());
    method!(all, "data.combos.activity", COMBOS, [], data.combos().activity(wallet).send());
    method!(all, "data.accounting.snapshot", Outcome::NotOffered("use the reads of the data surface"), [], async {
        data.accounting().snapshot(wallet).await
    });
    method!(
        all,
        "data.approvals.get",
        Outcome::NotOffered("a ledger needs no approval"),
        [],
        data.approvals().get(wallet).send()
    );
    method!(
        all,
        "data.pnl.history",
        Outcome::NotOffered("positions have profits; there is no series of them"),
        [],
        data.pnl().history(wallet).send()
    );
    all
}

fn markets(data: &'static DataApi, facts: &'static Facts) -> Vec<Method> {
    let market = &facts.market;
    let condition = &*market.condition;
    let event = || market.event.parse::<u64>().expect("a number");
    let mut all = Vec::new();
    method!(all, "data.trades.list", ANSWERED, [market.condition], data.trades().list().market([condition]).send());
    method!(all, "data.holders.list", ANSWERED, [market.no, facts.wallet], data.holders().list([condition]).send());
    method!(all, "data.open_interest.get", ANSWERED, [condition], data.open_interest().get().market([condition]).send());
    method!(all, "data.live_volume.get", ANSWERED, [condition], async move { data.live_volume().get(event()).await });
    method!(
        all,
        "data.market_positions.list",
        Outcome::NotOffered("`GET /v2/positions` has the positions of a market"),
        [],
        data.market_positions().list(condition).send()
    );
    method!(
        all,
        "data.misc.other_size",
        Outcome::NotOffered("positions have these sizes"),
        [],
        data.misc().other_size(event(), &facts.wallet).send()
    );
    method!(
        all,
        "data.misc.revisions",
        Outcome::NotOffered("rules are not revised"),
        [],
        data.misc().revisions(condition).send()
    );
    all
}

fn others(data: &'static DataApi, facts: &'static Facts) -> Vec<Method> {
    let rankings = Outcome::NotOffered("`GET /v1/leaderboard` ranks by volume and profit");
    let mut all = Vec::new();
    method!(all, "data.builders.leaderboard", ANSWERED, ["volume"], data.builders().leaderboard().send());
    method!(all, "data.builders.volume", ANSWERED, ["volume"], data.builders().volume().send());
    method!(all, "data.leaderboard.get", ANSWERED, ["rank"], data.leaderboard().get().user(&facts.wallet).send());
    method!(all, "data.rankings.volume", rankings, [], data.rankings().volume().send());
    method!(all, "data.rankings.profit", rankings, [], data.rankings().profit().send());
    method!(all, "data.health.check", ANSWERED, ["OK"], async { data.health().check().await });
    method!(all, "data.health.ping", ANSWERED, [], async { data.health().ping().await });
    all
}
