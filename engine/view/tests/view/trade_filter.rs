//! Candidates of a filter are read in parts: they contain all matches, each once, and are no more
//! than the shortest lists hold.

use crate::scene;

use foretell_model::command::BindWallet;
use foretell_model::event::WalletBound;
use foretell_model::{
    AccountNumber, Command, Event, MarketNumber, MatchKind, OrderNumber, Outcome, TimeNs,
    WalletKind,
};
use foretell_view::{BuilderFilter, TradeFilter, TradeSlot, View};
use proptest::prelude::*;
use scene::*;

const OTHER_MARKET: MarketNumber = MarketNumber(1);
/// A market without trades.
const NO_MARKET: MarketNumber = MarketNumber(2);

/// Taker, maker, the taker's outcome, the market, and the builders of both; 0 is none.
type Mint = (AccountNumber, AccountNumber, Outcome, MarketNumber, [u8; 2]);

fn account() -> impl Strategy<Value = AccountNumber> {
    prop::sample::select(vec![ALICE, BOB, CAROL])
}

fn market() -> impl Strategy<Value = MarketNumber> {
    prop::sample::select(vec![MARKET, OTHER_MARKET])
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![YES, NO])
}

fn mint() -> impl Strategy<Value = Mint> {
    let builders = [0..3_u8, 0..3_u8];
    (account(), account(), outcome(), market(), builders)
        .prop_filter("nobody trades with itself", |mint| mint.0 != mint.1)
}

fn filter() -> impl Strategy<Value = TradeFilter> {
    fn maybe<T: Clone + std::fmt::Debug>(
        of: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = Option<T>> {
        prop::option::weighted(0.25, of)
    }
    let builder = prop_oneof![
        Just(BuilderFilter::Any),
        (1..4_u8).prop_map(|code| BuilderFilter::Code([code; 32])),
    ];
    let moment = || (0..120_u64).prop_map(|second| TimeNs(second * 1_000_000_000));
    let markets = prop::sample::select(vec![MARKET, OTHER_MARKET, NO_MARKET]);
    let who = (
        maybe(account()),
        maybe(account()),
        maybe(account()),
        maybe(account()),
    );
    let what = (maybe(builder), maybe(markets), maybe((market(), outcome())));
    let when = (maybe(moment()), maybe(moment()));
    (who, what, when).prop_map(|(who, what, when)| TradeFilter {
        owner: who.0,
        taker: who.1,
        maker: who.2,
        wallet: who.3,
        builder: what.0,
        market: what.1,
        token: what.2,
        after: when.0,
        before: when.1,
    })
}

/// Bob owns Carol's wallet; they trade with each other and with Alice.
fn traded(mints: &[Mint]) -> Scene {
    let mut scene = Scene::trading();
    scene.market(OTHER_MARKET, None, 0);
    scene.activate(OTHER_MARKET);
    let (owner, kind) = (wallet(BOB), WalletKind::Proxy);
    let bound = Event::WalletBound(WalletBound {
        owner: BOB,
        wallet: CAROL,
        kind,
    });
    let wallet = wallet(CAROL);
    scene.step(
        Command::BindWallet(BindWallet {
            owner,
            wallet,
            kind,
        }),
        &[bound],
    );
    for &(taker, maker, outcome, market, builders) in mints {
        let price = |outcome| if outcome == YES { 6_000 } else { 4_000 };
        let other = if outcome == YES { NO } else { YES };
        let order = |account, outcome| {
            let mut order = limit(account, outcome, BUY, 1, price(outcome));
            order.market = market;
            order
        };
        let rest = [rested(1, price(other))];
        let resting = scene.place_with(
            order(maker, other),
            &rest,
            &evidence_of_builder(builders[1]),
        );
        let fill = fill((resting, maker), MatchKind::Mint, 6_000, 1, 0);
        let taken = [Event::Fill(fill), Event::OrderCompleted];
        scene.place_with(
            order(taker, outcome),
            &taken,
            &evidence_of_builder(builders[0]),
        );
    }
    scene
}

fn plainly(view: &View, filter: &TradeFilter) -> Vec<TradeSlot> {
    let trades = view.trades().slots().rev();
    let meant = trades.filter(|slot| filter.matches(view, &view.trade(*slot).unwrap()));
    meant.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_looked_at_in_parts_is_all_that_is_meant(
        mints in prop::collection::vec(mint(), 0..40),
        filters in prop::collection::vec(filter(), 20),
        looks in 1..7_usize,
    ) {
        let scene = traded(&mints);
        let view = &scene.view;
        for filter in &filters {
            let (mut found, mut looked_at, mut older_than) = (vec![], 0, None);
            loop {
                let part = view.trade_candidates(filter, older_than).take(looks);
                let part: Vec<_> = part.collect();
                let Some(last) = part.last() else {
                    break;
                };
                // Converted through the number that cursors contain.
                older_than = Some(TradeSlot::at(last.place()));
                looked_at += part.len();
                found.extend(part.into_iter().filter(|slot| filter.matches(view, &view.trade(*slot).unwrap())));
            }
            prop_assert_eq!(found, plainly(view, filter), "{:?}", filter);
            let trades = view.trades();
            for wallet in [filter.taker, filter.maker, filter.wallet].into_iter().flatten() {
                prop_assert!(looked_at <= trades.of_account(wallet).len(), "{:?}", filter);
            }
            if let Some(market) = filter.market {
                prop_assert!(looked_at <= trades.of_market(market).len(), "{:?}", filter);
                for wallet in [filter.taker, filter.maker, filter.wallet].into_iter().flatten() {
                    prop_assert!(looked_at <= view.trades_of_account_in(wallet, market).len(), "{:?}", filter);
                }
            }
            if let Some((market, _)) = filter.token {
                prop_assert!(looked_at <= trades.of_market(market).len(), "{:?}", filter);
            }
            if filter.builder.is_some() {
                prop_assert!(looked_at <= trades.with_builder().len(), "{:?}", filter);
            }
        }
    }
}

#[test]
fn a_wallet_that_traded_once_is_found_at_a_look() {
    let mut mints = vec![(BOB, CAROL, YES, MARKET, [1, 1]); 100];
    mints[3] = (ALICE, BOB, YES, MARKET, [1, 1]);
    let scene = traded(&mints);
    for filter in [
        TradeFilter {
            taker: Some(ALICE),
            ..TradeFilter::default()
        },
        TradeFilter {
            taker: Some(ALICE),
            owner: Some(BOB),
            ..TradeFilter::default()
        },
        TradeFilter {
            wallet: Some(ALICE),
            builder: Some(BuilderFilter::Any),
            ..TradeFilter::default()
        },
        TradeFilter {
            wallet: Some(BOB),
            market: Some(NO_MARKET),
            ..TradeFilter::default()
        },
    ] {
        let looked_at = scene.view.trade_candidates(&filter, None).count();
        assert!(looked_at <= 1, "{filter:?} looked at {looked_at}");
    }
}

#[test]
fn live_orders_go_on_from_a_number() {
    let mut scene = traded(&[]);
    let mut of_bob: Vec<OrderNumber> = Vec::new();
    for account in [CAROL, BOB, ALICE, CAROL, CAROL, BOB] {
        let number = scene.rest(account, YES, BUY, 1, 4_000);
        if account != ALICE {
            of_bob.push(number);
        }
    }
    for first in 0..=of_bob[4].0 + 1 {
        let first = OrderNumber(first);
        let orders = scene.view.live_orders_from(BOB, first);
        let found: Vec<_> = orders.map(|order| order.number).collect();
        let from = of_bob.partition_point(|number| *number < first);
        assert_eq!(found, of_bob[from..]);
    }
}
