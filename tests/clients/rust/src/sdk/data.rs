//! The data surface.

use polymarket_client_sdk_v2::data::Client;
use polymarket_client_sdk_v2::data::types::MarketFilter;
use polymarket_client_sdk_v2::data::types::request::{
    ActivityRequest, BuilderLeaderboardRequest, BuilderVolumeRequest, ClosedPositionsRequest, HoldersRequest, LiveVolumeRequest,
    OpenInterestRequest, PositionsRequest, TradedRequest, TraderLeaderboardRequest, TradesRequest, ValueRequest,
};

use super::{condition, wallet};
use crate::facts::Facts;
use crate::method::{ANSWERED, Method, method};

pub fn methods(facts: &'static Facts) -> Vec<Method> {
    let client = Client::new(&facts.surfaces.data).expect("an address");
    let client: &'static Client = Box::leak(Box::new(client));
    let mut methods = wallets(client, facts);
    methods.extend(markets(client, facts));
    methods
}

fn wallets(c: &'static Client, facts: &'static Facts) -> Vec<Method> {
    let (id, user) = (&*facts.market.condition, wallet(facts));
    let mut all = Vec::new();
    method!(all, "data.health", ANSWERED, ["OK"], c.health());
    method!(all, "data.positions", ANSWERED, [id, facts.market.no], async move {
        c.positions(&PositionsRequest::builder().user(user).build()).await
    });
    method!(all, "data.closed_positions", ANSWERED, ["[]"], async move {
        c.closed_positions(&ClosedPositionsRequest::builder().user(user).build()).await
    });
    method!(all, "data.activity", ANSWERED, [id, "trade"], async move {
        c.activity(&ActivityRequest::builder().user(user).build()).await
    });
    method!(
        all,
        "data.value",
        ANSWERED,
        [facts.wallet],
        async move { c.value(&ValueRequest::builder().user(user).build()).await }
    );
    method!(
        all,
        "data.traded",
        ANSWERED,
        ["traded: 1"],
        async move { c.traded(&TradedRequest::builder().user(user).build()).await }
    );
    method!(all, "data.leaderboard", ANSWERED, [facts.wallet], async move {
        c.leaderboard(&TraderLeaderboardRequest::builder().user(user).build()).await
    });
    all
}

fn markets(c: &'static Client, facts: &'static Facts) -> Vec<Method> {
    let (id, event) = (&*facts.market.condition, || facts.market.event.parse::<u64>().expect("a number"));
    let mut all = Vec::new();
    method!(all, "data.trades", ANSWERED, [id], async move {
        let of_market = MarketFilter::markets([condition(facts)]);
        c.trades(&TradesRequest::builder().filter(of_market).build()).await
    });
    method!(all, "data.holders", ANSWERED, [facts.market.no, facts.wallet], async move {
        c.holders(&HoldersRequest::builder().markets(vec![condition(facts)]).build()).await
    });
    method!(all, "data.open_interest", ANSWERED, [id], async move {
        c.open_interest(&OpenInterestRequest::builder().markets(vec![condition(facts)]).build()).await
    });
    method!(all, "data.live_volume", ANSWERED, [id], async move {
        c.live_volume(&LiveVolumeRequest::builder().id(event()).build()).await
    });
    method!(all, "data.builder_leaderboard", ANSWERED, ["volume"], async {
        c.builder_leaderboard(&BuilderLeaderboardRequest::default()).await
    });
    method!(all, "data.builder_volume", ANSWERED, ["volume"], async { c.builder_volume(&BuilderVolumeRequest::default()).await });
    all
}
