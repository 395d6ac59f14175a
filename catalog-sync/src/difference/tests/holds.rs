//! What stops upstream is held here, and not everything at once.

use super::*;

#[test]
fn an_obstacle_or_a_contradiction_is_no_way_around_a_hold() {
    let obstacle = with(1, |_, terms| {
        terms.obstacle = Some(NotTradable::NoOrderBook)
    });
    let stopped = with(1, |_, terms| {
        (terms.accepting_orders, terms.tokens) = (false, tokens(2));
    });
    let active = [registered(1, MarketState::Active)];
    for market in [obstacle, stopped] {
        let plan = plan_of(None, &[market], &active, Policy::default());
        assert_eq!(told(&plan), ["pause"]);
        assert_eq!(plan.notes[0].finding.kind(), FindingKind::Error);
    }
    let held = RegisteredMarket {
        holds: HoldSet::NONE.with(Hold::Upstream),
        ..registered(1, MarketState::Paused)
    };
    let goes_on = with(1, |_, terms| terms.tokens = tokens(2));
    let plan = plan_of(None, &[goes_on], &[held], Policy::default());
    assert_eq!(told(&plan), ["resume"]);
}

#[test]
fn what_stops_upstream_is_held_here() {
    let held = RegisteredMarket {
        holds: HoldSet::NONE.with(Hold::Upstream),
        ..registered(1, MarketState::Paused)
    };
    let stops: [fn(&mut CatalogMarket, &mut TradingTerms); 6] = [
        |_, terms| terms.accepting_orders = false,
        |market, _| market.flags.active = false,
        |market, _| market.flags.archived = true,
        |market, _| market.answer = Answer::Proposed,
        |market, _| market.answer = Answer::Known,
        |market, _| market.payout = Some(Payout::Yes),
    ];
    for stop in stops {
        let stopped = with(1, stop);
        let active = registered(1, MarketState::Active);
        let plan = plan_of(
            None,
            std::slice::from_ref(&stopped),
            &[active],
            Policy::default(),
        );
        assert_eq!(told(&plan), ["pause"]);
        let plan = plan_of(
            None,
            &[stopped],
            std::slice::from_ref(&held),
            Policy::default(),
        );
        assert_eq!(plan, Plan::default());
    }
    let plan = plan_of(None, &[listed(1)], &[held], Policy::default());
    assert_eq!(told(&plan), ["resume"]);
    // The operator's hold is not the upstream's.
    let paused = RegisteredMarket {
        holds: HoldSet::NONE.with(Hold::Operator),
        ..registered(1, MarketState::Paused)
    };
    let plan = plan_of(None, &[listed(1)], &[paused], Policy::default());
    assert_eq!(plan, Plan::default());
}

#[test]
fn an_upstream_does_not_stop_everything_at_once() {
    let stopped = |id| with(id, |_, terms| terms.accepting_orders = false);
    let state = ExchangeState::of((1..=20).map(|id| registered(id, MarketState::Active)));
    let mut allowance = allowance(Policy::default());
    let (mut held, mut waiting) = (0, 0);
    for id in 1..=20 {
        let group = MarketGroup {
            is_whole: true,
            event: None,
            markets: vec![stopped(id)],
        };
        let plan = difference(&group, &state, &mut allowance);
        held += told(&plan).len();
        waiting += plan
            .notes
            .iter()
            .filter(|it| it.finding == Finding::StopsMany)
            .count();
    }
    // A fifth of 20 markets is four; at least five may be held.
    assert_eq!((held, waiting), (5, 15));
    // A known answer does not count.
    let group = MarketGroup {
        is_whole: true,
        event: None,
        markets: vec![with(20, |market, _| market.payout = Some(Payout::No))],
    };
    assert_eq!(told(&difference(&group, &state, &mut allowance)), ["pause"]);
}

/// What an earlier comparison holds counts in a later one.
#[test]
fn an_upstream_does_not_stop_everything_in_parts() {
    let mut allowance = allowance(Policy::default());
    let mut compare = |id, stops: bool, here: RegisteredMarket| {
        let market = with(id, |_, terms| terms.accepting_orders = !stops);
        let group = MarketGroup {
            is_whole: true,
            event: None,
            markets: vec![market],
        };
        let plan = difference(&group, &ExchangeState::of([here]), &mut allowance);
        (told(&plan).join(", "), allowance.stops.waiting.len())
    };
    let active = |id| registered(id, MarketState::Active);
    let held = |id| RegisteredMarket {
        holds: HoldSet::NONE.with(Hold::Upstream),
        ..registered(id, MarketState::Paused)
    };
    for id in 1..=5 {
        assert_eq!(compare(id, true, active(id)), ("pause".to_owned(), 0));
    }
    assert_eq!(compare(6, true, active(6)), (String::new(), 1));
    assert_eq!(compare(7, true, active(7)), (String::new(), 2));
    assert_eq!(compare(7, true, active(7)), (String::new(), 2), "once");
    assert_eq!(compare(1, true, held(1)), (String::new(), 2));
    // One goes on, so that another may stop; one that waited goes on.
    assert_eq!(compare(1, false, held(1)), ("resume".to_owned(), 2));
    assert_eq!(compare(6, true, active(6)), ("pause".to_owned(), 1));
    assert_eq!(compare(7, false, active(7)), (String::new(), 0));
    // One that waited ended here: it waits no more.
    assert_eq!(compare(8, true, active(8)), (String::new(), 1));
    let over = registered(8, MarketState::Closed);
    assert_eq!(compare(8, true, over), (String::new(), 0));
    // Nor does one that the operator holds.
    assert_eq!(compare(9, true, active(9)), (String::new(), 1));
    let paused = RegisteredMarket {
        holds: HoldSet::NONE.with(Hold::Operator),
        ..registered(9, MarketState::Paused)
    };
    assert_eq!(compare(9, true, paused), (String::new(), 0));
}

#[test]
fn a_vanished_market_is_held_by_policy() {
    let state = ExchangeState::of([registered(1, MarketState::Active)]);
    let group = MarketGroup {
        is_whole: true,
        event: None,
        markets: vec![listed(1)],
    };
    for (hold_vanished, expected) in [(true, 1), (false, 0)] {
        let policy = Policy {
            hold_vanished,
            ..Policy::default()
        };
        let mut allowance = Allowance {
            vanished: BTreeSet::from([condition(1)]),
            ..allowance(policy)
        };
        let plan = difference(&group, &state, &mut allowance);
        assert_eq!(told(&plan).len(), expected);
    }
}

#[test]
fn a_known_winner_that_may_not_close_yet_is_held() {
    let closed = with(1, |market, _| {
        (market.flags.closed, market.payout) = (true, Some(Payout::Yes));
    });
    let policy = Policy {
        early_close_percent: 0,
        hold_percent: 0,
        ..resolving()
    };
    let active = registered(1, MarketState::Active);
    let plan = plan_of(None, &[closed], &[active], policy);
    assert_eq!(told(&plan), ["pause"]);
    assert_eq!(plan.notes[0].finding, Finding::ClosesEarly);
}
