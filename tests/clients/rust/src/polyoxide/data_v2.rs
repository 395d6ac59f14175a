//! The data surface, version 2.

use polyoxide_polymarket::Polymarket;
use polyoxide_polymarket::data::v2::types::{PricesInterval, ResolutionKey, TokenKey};

use crate::facts::Facts;
use crate::method::{ANSWERED, COMBOS, Method, Outcome, method};

const VERSION: Outcome = Outcome::NotOffered("version 2 of the data interface");

pub fn methods(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let mut methods = wallets(p, facts);
    methods.extend(markets(p, facts));
    methods.extend(boards(p, facts));
    methods
}

fn wallets(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let (wallet, condition) = (&*facts.wallet, &*facts.market.condition);
    let mut all = Vec::new();
    method!(
        all,
        "data.v2.positions",
        Outcome::Differs("a position does not say when it was first entered"),
        [],
        p.data.v2().positions(wallet).send()
    );
    method!(all, "data.v2.activity", ANSWERED, [condition], p.data.v2().activity(wallet).send());
    method!(all, "data.v2.value", ANSWERED, ["value"], p.data.v2().value(wallet).send());
    method!(all, "data.v2.user_pnl", VERSION, [], p.data.v2().user_pnl(wallet).send());
    method!(all, "data.v2.user_stats", VERSION, [], p.data.v2().user_stats(wallet).send());
    method!(all, "data.v2.user_volume", VERSION, [], p.data.v2().user_volume(wallet).send());
    method!(
        all,
        "data.v2.approvals",
        Outcome::NotOffered("a ledger needs no approval"),
        [],
        p.data.v2().approvals(wallet).send()
    );
    method!(all, "data.v2.combo_positions", COMBOS, [], p.data.v2().combo_positions(wallet).send());
    method!(all, "data.v2.combo_activity", COMBOS, [], p.data.v2().combo_activity(wallet).send());
    all
}

fn markets(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let market = &facts.market;
    let (yes, condition) = (&*market.yes, &*market.condition);
    let mut all = Vec::new();
    method!(all, "data.v2.trades", ANSWERED, [condition], p.data.v2().trades().send());
    method!(all, "data.v2.holders", ANSWERED, [market.no, facts.wallet], p.data.v2().holders([condition]).send());
    method!(all, "data.v2.live_volume", ANSWERED, [condition], p.data.v2().live_volume([&market.event]).send());
    method!(all, "data.v2.open_interest", ANSWERED, ["global"], p.data.v2().open_interest().send());
    method!(
        all,
        "data.v2.prices_history",
        ANSWERED,
        ["0."],
        p.data.v2().prices_history(yes).interval(PricesInterval::OneHour).send()
    );
    method!(
        all,
        "data.v2.resolutions",
        VERSION,
        [],
        p.data.v2().resolutions(ResolutionKey::Conditions(vec![condition.to_owned()])).send()
    );
    method!(all, "data.v2.tokens", VERSION, [], p.data.v2().tokens(TokenKey::TokenIds(vec![yes.to_owned()])).send());
    method!(all, "data.v2.status", VERSION, [], p.data.v2().status().send());
    all
}

fn boards(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let wallet = &*facts.wallet;
    let mut all = Vec::new();
    method!(all, "data.v2.leaderboard", ANSWERED, ["rank"], p.data.v2().leaderboard().send());
    method!(all, "data.v2.leaderboard_user", ANSWERED, [wallet], p.data.v2().leaderboard_user(wallet).send());
    method!(all, "data.v2.biggest_winners", VERSION, [], p.data.v2().biggest_winners().send());
    method!(all, "data.v2.builders_leaderboard", ANSWERED, ["volume"], p.data.v2().builders_leaderboard().send());
    method!(all, "data.v2.builder_volume", ANSWERED, ["volume"], p.data.v2().builder_volume().send());
    all
}
