//! Tables of single markets, and random event groups against a model of the exchange that stops at
//! any point and is compared again.

use std::collections::BTreeSet;

use foretell_model::{FeeSchedule, Hold, HoldSet, Lots, MarketTerms as MarketClock, Tick, TokenId};
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::exchange::command_name;

const EVENT: u64 = 77;
const NOON: &str = "2026-02-08T12:00:00Z";

fn condition(market: u64) -> ConditionId {
    let mut bytes = [0xcc; 32];
    bytes[..8].copy_from_slice(&market.to_be_bytes());
    ConditionId(bytes)
}

fn tokens(market: u64) -> [TokenId; 2] {
    [1, 2].map(|outcome| {
        let mut bytes = condition(market).0;
        bytes[31] = outcome;
        TokenId(bytes)
    })
}

fn terms(market: u64) -> TradingTerms {
    TradingTerms {
        index: None,
        obstacle: None,
        is_other: false,
        condition: condition(market),
        tokens: tokens(market),
        outcomes: ["Yes".into(), "No".into()],
        tick: Tick::Hundredth,
        minimum_size: Lots(500),
        clock: MarketClock::default(),
        fee: FeeSchedule::default(),
        neg_risk: false,
        question_order: market,
        accepting_orders: true,
    }
}

fn listed(market: u64) -> CatalogMarket {
    CatalogMarket {
        answer: Answer::Open,
        id: market,
        slug: format!("m{market}"),
        condition: Some(condition(market)),
        flags: Flags {
            active: true,
            closed: false,
            archived: false,
        },
        payout: None,
        terms: Ok(terms(market)),
        description: MarketDescription::default(),
    }
}

fn with(market: u64, change: impl FnOnce(&mut CatalogMarket, &mut TradingTerms)) -> CatalogMarket {
    let (mut listed, mut terms) = (listed(market), terms(market));
    change(&mut listed, &mut terms);
    if listed.payout.is_some() {
        listed.answer = Answer::Known;
    }
    listed.terms = Ok(terms);
    listed
}

fn registered(market: u64, status: MarketState) -> RegisteredMarket {
    let terms = terms(market);
    RegisteredMarket {
        question: MarketDescription::default().question,
        outcomes: MarketDescription::default().outcomes,
        holds: HoldSet::NONE,
        index: None,
        condition: terms.condition,
        tokens: terms.tokens,
        status,
        tick: terms.tick,
        minimum_size: terms.minimum_size,
        fee: terms.fee,
        clock: terms.clock,
        event: None,
        event_frozen: false,
        payout: None,
        own: false,
        end_date: None,
    }
}

fn event() -> EventRegistration {
    EventRegistration {
        event_id: EVENT,
        title: "T".into(),
        slug: "t".into(),
        ticker: String::new(),
        description: String::new(),
        tags: Vec::new(),
    }
}

fn plan_of(
    event: Option<EventRegistration>,
    markets: &[CatalogMarket],
    here: &[RegisteredMarket],
    policy: Policy,
) -> Plan {
    let group = MarketGroup {
        is_whole: true,
        event,
        markets: markets.to_vec(),
    };
    let state = ExchangeState::of(here.iter().cloned());
    difference(&group, &state, &mut allowance(policy))
}

/// Noon of a day without closings so far.
fn allowance(policy: Policy) -> Allowance {
    Allowance {
        stops: Stops::default(),
        vanished: Default::default(),
        policy,
        now: NOON.parse().unwrap(),
        new_markets: u64::MAX,
        live: 20,
        early_closed: 0,
    }
}

fn opens(market: &MarketRegistration) -> bool {
    market.terms.activate == Some(true)
}

/// The commands and findings of a plan as texts.
fn told(plan: &Plan) -> Vec<String> {
    let name = |command: &Command| match command {
        Command::RegisterMarket(market) if opens(market) => "register open".to_owned(),
        other => command_name(other).to_owned(),
    };
    plan.steps
        .iter()
        .map(|steps| steps.iter().map(name).collect::<Vec<_>>().join(", "))
        .collect()
}

fn found(plan: &Plan) -> Vec<String> {
    plan.notes
        .iter()
        .map(|note| note.finding.to_string())
        .collect()
}

#[rstest]
#[case::new(listed(1), None, "register open")]
#[case::not_yet_open(with(1, |m, _| m.flags.active = false), None, "register market")]
#[case::not_taking_orders(with(1, |_, t| t.accepting_orders = false), None, "register market")]
#[case::the_same(listed(1), Some(registered(1, MarketState::Active)), "")]
#[case::opens_later(listed(1), Some(registered(1, MarketState::Registered)), "activate")]
#[case::stays_paused(listed(1), Some(registered(1, MarketState::Paused)), "")]
#[case::closed(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Active)), "close")]
#[case::closed_while_paused(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Paused)), "close")]
#[case::closed_before_it_opened(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Registered)), "close")]
#[case::is_closed(with(1, |m, _| m.flags.closed = true), Some(registered(1, MarketState::Closed)), "")]
#[case::tick(with(1, |_, t| t.tick = Tick::Thousandth), Some(registered(1, MarketState::Active)), "tick")]
#[case::minimum(with(1, |_, t| t.minimum_size = Lots(1)), Some(registered(1, MarketState::Paused)), "minimum size")]
#[case::fee(with(1, |_, t| t.fee.rate_ppm = 9), Some(registered(1, MarketState::Registered)), "fee, activate")]
#[case::everything(
    with(1, |_, t| (t.tick, t.minimum_size, t.fee.rate_ppm) = (Tick::Thousandth, Lots(7), 1)),
    Some(registered(1, MarketState::Active)), "tick, minimum size, fee"
)]
#[case::rules_of_a_closed_one_rest(
    with(1, |m, t| (m.flags.closed, t.tick) = (true, Tick::Thousandth)),
    Some(registered(1, MarketState::Closed)), ""
)]
fn a_plain_market(
    #[case] market: CatalogMarket,
    #[case] here: Option<RegisteredMarket>,
    #[case] expected: &str,
) {
    let here: Vec<_> = here.into_iter().collect();
    let plan = plan_of(None, &[market], &here, Policy::default());
    assert_eq!(told(&plan).join(", "), expected);
    assert_eq!(plan.notes, []);
}

fn resolved(payout: Payout) -> CatalogMarket {
    with(1, |market, _| {
        (market.flags.closed, market.payout) = (true, Some(payout))
    })
}

fn paid(payout: Payout) -> RegisteredMarket {
    RegisteredMarket {
        payout: Some(payout),
        ..registered(1, MarketState::Resolved)
    }
}

#[rstest]
#[case::closed_at_first(with(1, |m, _| m.flags.closed = true), None, "closed or archived before it was registered")]
#[case::archived_at_first(with(1, |m, _| m.flags.archived = true), None, "closed or archived before it was registered")]
#[case::other_tokens(with(1, |_, t| t.tokens = tokens(2)), Some(registered(1, MarketState::Active)), "registered with other tokens")]
#[case::swapped_tokens(with(1, |_, t| t.tokens.reverse()), Some(registered(1, MarketState::Active)), "registered with other tokens")]
#[case::other_event(
    listed(1), Some(RegisteredMarket { event: Some(3), ..registered(1, MarketState::Active) }),
    "registered under event 3, upstream says no neg-risk event"
)]
#[case::reopened(
    listed(1),
    Some(registered(1, MarketState::Closed)),
    "closed here and open upstream: a closed market does not open again"
)]
#[case::coarser(
    listed(1), Some(RegisteredMarket { tick: Tick::Thousandth, ..registered(1, MarketState::Active) }),
    "tick 0.001 here, 0.01 upstream"
)]
#[case::due(
    resolved(Payout::No),
    Some(registered(1, MarketState::Closed)),
    "resolved no upstream"
)]
#[case::paid(resolved(Payout::No), Some(paid(Payout::No)), "")]
#[case::paid_otherwise(
    resolved(Payout::No),
    Some(paid(Payout::Yes)),
    "paid out yes here, upstream says no"
)]
fn a_finding(
    #[case] market: CatalogMarket,
    #[case] here: Option<RegisteredMarket>,
    #[case] expected: &str,
) {
    let here: Vec<_> = here.into_iter().collect();
    let plan = plan_of(None, &[market], &here, Policy::default());
    assert_eq!(found(&plan).join(", "), expected);
    assert_eq!(told(&plan), [""; 0]);
}

/// An upstream that names the condition of an operator's own market changes nothing of it.
#[rstest]
#[case::rules(with(1, |_, t| {
    t.tick = Tick::Thousandth;
    t.minimum_size = Lots(100);
    t.fee = FeeSchedule { rate_ppm: 1, exponent: 1 };
    t.clock.taker_delay_ms = 1_000;
    t.clock.rebate_ppm = 1;
    t.clock.clear_book_on_start = true;
}))]
#[case::opens(listed(1))]
#[case::payout(resolved(Payout::No))]
#[case::other_tokens(with(1, |_, t| t.tokens.reverse()))]
#[case::untradable(CatalogMarket { terms: Err(NotTradable::NoOrderBook), ..resolved(Payout::No) })]
fn an_own_market_follows_no_upstream(
    #[case] market: CatalogMarket,
    #[values(MarketState::Registered, MarketState::Active, MarketState::Closed)]
    status: MarketState,
) {
    let own = RegisteredMarket {
        own: true,
        ..registered(1, status)
    };
    let plan = plan_of(None, &[market], &[own], resolving());
    assert_eq!(
        (told(&plan), found(&plan)),
        (vec![], vec![Finding::Own.to_string()])
    );
}

#[test]
fn own_questions_and_those_of_an_upstream_do_not_mix() {
    let own = RegisteredMarket {
        own: true,
        event: Some(EVENT),
        ..registered(9, MarketState::Registered)
    };
    // The number of the operator's event group is also that of an event upstream.
    let plan = plan_of(
        Some(event()),
        &[question(1)],
        std::slice::from_ref(&own),
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding, Finding::OwnEvent(EVENT));
    // A question of the upstream is the operator's own market, and may win outside of the list.
    let own = RegisteredMarket { event: None, ..own };
    let plan = plan_of(
        Some(event()),
        &[question(1), question(9)],
        &[own],
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    let incomplete = Finding::Incomplete("m9".into());
    assert!(plan.notes.iter().any(|it| it.finding == incomplete));
}

#[test]
fn what_another_record_owns_is_no_outside_question() {
    let taken = |market, of: u64, holder| CatalogMarket {
        condition: (of > 0).then(|| condition(of)),
        terms: Err(NotTradable::Taken(holder)),
        ..question(market)
    };
    let own = RegisteredMarket {
        own: true,
        ..registered(9, MarketState::Active)
    };
    let incomplete = Finding::Incomplete("m2".into());
    for here in [vec![own], vec![]] {
        let markets = [question(1), taken(2, 9, 9)];
        let plan = plan_of(Some(event()), &markets, &here, Policy::default());
        assert_eq!(told(&plan), [""; 0]);
        assert!(plan.notes.iter().any(|it| it.finding == incomplete));
    }
    // The old record of a question with a new id is no question more, and answers nothing.
    for of in [0, 1] {
        let old = CatalogMarket {
            payout: Some(Payout::Yes),
            ..taken(2, of, 1)
        };
        let plan = plan_of(Some(event()), &[question(1), old], &[], Policy::default());
        assert_eq!(told(&plan), ["register event, register market, activate"]);
    }
}

/// Another record has the condition: this one neither updates nor closes the market.
#[test]
fn a_condition_follows_one_record() {
    let doubled = CatalogMarket {
        terms: Err(NotTradable::Taken(3)),
        ..resolved(Payout::No)
    };
    let here = registered(1, MarketState::Active);
    let plan = plan_of(None, &[doubled], &[here], resolving());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(
        found(&plan),
        ["conditionId is that of market 3, which has it first"]
    );
}

#[test]
fn what_cannot_trade_is_told_and_its_end_is_taken_over() {
    let three = |closed| CatalogMarket {
        terms: Err(NotTradable::Outcomes(3)),
        flags: Flags {
            closed,
            ..listed(1).flags
        },
        ..listed(1)
    };
    let plan = plan_of(None, &[three(false)], &[], Policy::default());
    assert_eq!(plan.notes[0].finding.kind(), FindingKind::NotTradable);
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(None, &[three(false)], &here, Policy::default());
    assert_eq!(
        (plan.notes[0].finding.kind(), told(&plan).len()),
        (FindingKind::Error, 0)
    );
    assert_eq!(
        told(&plan_of(None, &[three(true)], &here, Policy::default())),
        ["close"]
    );
}

#[test]
fn the_operator_decides_who_resolves() {
    let automatic = resolving();
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(None, &[resolved(Payout::Half)], &here, automatic);
    assert_eq!(told(&plan), ["close, resolve"]);
    let plan = plan_of(None, &[resolved(Payout::Half)], &here, Policy::default());
    assert_eq!(told(&plan), ["close"]);
    assert_eq!(plan.notes[0].finding, Finding::ResolutionDue(Payout::Half));
}

fn resolving() -> Policy {
    Policy {
        resolve: true,
        ..Policy::default()
    }
}

/// Changes to a trading market that need the operator's consent, and the command for each.
#[rstest]
#[case::fee(
    with(1, |_, t| t.fee = FeeSchedule { rate_ppm: 1_000_000, exponent: 1 }),
    "fee 1000000 ppm, exponent 1 upstream, above catalog.max_fee_ppm: foretell market fee C 1000000 1"
)]
#[case::minimum(
    with(1, |_, t| t.minimum_size = Lots(100_000_000_000)),
    "minimum order upstream above catalog.max_minimum_shares: foretell market minimum-size C 1000000000"
)]
#[case::tick(
    with(1, |_, t| t.tick = Tick::TenThousandth),
    "tick 0.0001 upstream, finer than catalog.finest_tick: foretell market tick C 0.0001"
)]
#[case::clearing(
    with(1, |_, t| t.clock.clear_book_on_start = true),
    "clears its book at the game start upstream: true; here as registered: foretell market terms C --clear-book-on-start true"
)]
#[case::delay(
    with(1, |_, t| t.clock.taker_delay_ms = 10_001),
    "delay 10001 ms upstream, above catalog.max_taker_delay_ms: foretell market terms C --taker-delay-ms 10001"
)]
#[case::rebate(
    with(1, |_, t| t.clock.rebate_ppm = 500_001),
    "rebate 500001 ppm upstream, above catalog.max_rebate_ppm: foretell market terms C --rebate-ppm 500001"
)]
fn a_change_beyond_the_policy_is_held_back(#[case] market: CatalogMarket, #[case] expected: &str) {
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(
        None,
        std::slice::from_ref(&market),
        &here,
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    let expected = expected.replace('C', &condition(1).to_string());
    assert_eq!(plan.notes[0].text(), expected);
    assert_eq!(plan.notes[0].finding.kind(), FindingKind::HeldBack);
    // The allowed changes of the same record are applied.
    let mut both = market;
    if let Ok(terms) = &mut both.terms {
        terms.minimum_size = terms.minimum_size.max(Lots(501));
        terms.fee.rate_ppm = terms.fee.rate_ppm.max(1);
    }
    let plan = plan_of(None, &[both], &here, Policy::default());
    assert_eq!((plan.steps.len(), plan.notes.len()), (1, 1));
}

#[test]
fn a_tick_that_does_not_divide_blocks_no_other_change() {
    let market = with(1, |_, terms| {
        (terms.tick, terms.fee.rate_ppm) = (Tick::Thousandth, 9);
    });
    let here = RegisteredMarket {
        tick: Tick::QuarterHundredth,
        ..registered(1, MarketState::Active)
    };
    let plan = plan_of(None, &[market], &[here], Policy::default());
    assert_eq!(told(&plan), ["fee"]);
    assert_eq!(found(&plan), ["tick 0.0025 here, 0.001 upstream"]);
}

#[test]
fn consent_ends_the_waiting() {
    let fee = FeeSchedule {
        rate_ppm: 900_000,
        exponent: 1,
    };
    let market = with(1, |_, terms| terms.fee = fee);
    let here = RegisteredMarket {
        fee,
        ..registered(1, MarketState::Active)
    };
    let plan = plan_of(None, &[market], &[here], Policy::default());
    assert_eq!(plan, Plan::default());
}

/// The upstream closes all markets at once. Those with a past registered end date close, and a few
/// more; the others wait for the operator.
#[test]
fn not_all_markets_are_closed_at_once() {
    let closed = |id| {
        with(id, |market, _| {
            (market.flags.closed, market.payout) = (true, Some(Payout::Yes));
        })
    };
    let markets: Vec<_> = (1..=20).map(closed).collect();
    let ends = |id| RegisteredMarket {
        end_date: Some(
            if id <= 8 {
                NOON
            } else {
                "2026-02-08T12:00:01Z"
            }
            .parse()
            .unwrap(),
        ),
        ..registered(id, MarketState::Active)
    };
    let here: Vec<_> = (1..=20).map(ends).collect();
    let plan = plan_of(None, &markets, &here, resolving());
    assert_eq!(
        told(&plan),
        [["close, resolve"; 13].as_slice(), &["pause"; 7]].concat(),
        "8 have ended, 5 are let through, the others are held: their answer is known"
    );
    assert_eq!(plan.notes.len(), 7);
    assert_eq!(
        plan.notes[0].text(),
        format!(
            "closed upstream before its end date, beyond catalog.early_close_percent: \
             foretell market close {}",
            condition(14)
        )
    );
    // The same holds for markets whose record became invalid.
    let broken = |market: &CatalogMarket| CatalogMarket {
        terms: Err(NotTradable::Tokens),
        ..market.clone()
    };
    let broken: Vec<_> = markets.iter().map(broken).collect();
    let plan = plan_of(None, &broken, &here, resolving());
    assert_eq!(
        told(&plan),
        [["close"; 13].as_slice(), &["pause"; 7]].concat()
    );
}

fn question(market: u64) -> CatalogMarket {
    with(market, |_, terms| terms.neg_risk = true)
}

fn answered(market: u64, payout: Payout) -> CatalogMarket {
    with(market, |listed, terms| {
        terms.neg_risk = true;
        (listed.flags.closed, listed.payout) = (true, Some(payout));
    })
}

#[test]
fn an_event_is_registered_whole_before_its_first_question_opens() {
    let waits = with(3, |market, terms| {
        (market.flags.active, terms.neg_risk) = (false, true)
    });
    let markets = [
        question(2),
        answered(4, Payout::No),
        question(1),
        waits,
        listed(9),
    ];
    let plan = plan_of(Some(event()), &markets, &[], Policy::default());
    let list =
        "register event, register market, register market, register market, activate, activate";
    assert_eq!(told(&plan), ["register open", list]);
    let order: Vec<_> = plan.steps[1]
        .iter()
        .filter_map(|command| match command {
            Command::RegisterMarket(market) => {
                Some((market.terms.condition_id, market.terms.event_id))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        order,
        [1, 2, 3].map(|market| (condition(market), Some(EVENT)))
    );
    assert_eq!(
        found(&plan),
        ["closed or archived before it was registered"]
    );
}

#[test]
fn a_question_that_comes_late_is_reported() {
    let known = RegisteredMarket {
        event: Some(EVENT),
        event_frozen: true,
        ..registered(1, MarketState::Active)
    };
    let plan = plan_of(
        Some(event()),
        &[question(1), question(2)],
        std::slice::from_ref(&known),
        Policy::default(),
    );
    assert_eq!(found(&plan), ["its event's list of questions is final"]);
    assert_eq!(told(&plan), [""; 0]);
    // A list that is not final yet may grow.
    let known = RegisteredMarket {
        event_frozen: false,
        status: MarketState::Registered,
        ..known
    };
    let plan = plan_of(
        Some(event()),
        &[question(1), question(2)],
        &[known],
        Policy::default(),
    );
    assert_eq!(told(&plan), ["register market, activate, activate"]);
}

/// Reading only the named markets gives the same plan as reading all, also with duplicates.
#[test]
fn what_a_group_names_is_all_it_is_compared_with() {
    let of_event = |market| RegisteredMarket {
        event: Some(EVENT),
        ..registered(market, MarketState::Registered)
    };
    let frozen = RegisteredMarket {
        event_frozen: true,
        ..of_event(8)
    };
    let many: Vec<RegisteredMarket> = (20..=147).map(of_event).collect();
    for of_the_event in [vec![], vec![of_event(1)], vec![frozen], many] {
        let mut whole = vec![
            registered(5, MarketState::Active),
            registered(6, MarketState::Closed),
        ];
        whole.extend(of_the_event);
        let group = MarketGroup {
            is_whole: true,
            event: Some(event()),
            markets: vec![question(1), question(2), listed(5), listed(9)],
        };
        let (conditions, event) = group.names();
        let conditions: Vec<_> = conditions.collect();
        let named = whole.iter().filter(|market| {
            conditions.contains(&market.condition) || (event.is_some() && market.event == event)
        });
        let named: Vec<RegisteredMarket> = named.cloned().collect();
        let twice = ExchangeState::of(named.iter().chain(&named).cloned());
        let plan = |state| difference(&group, &state, &mut allowance(Policy::default()));
        assert_eq!(plan(twice), plan(ExchangeState::of(whole)));
    }
}

#[test]
fn a_question_that_contradicts_its_registration_does_not_open() {
    let here = RegisteredMarket {
        tokens: tokens(2),
        ..of_event(1, MarketState::Registered)
    };
    let plan = plan_of(Some(event()), &[question(1)], &[here], Policy::default());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(found(&plan), [Finding::TokensDiffer.to_string()]);
}

/// What the exchange refuses of one question stops no other.
#[test]
fn after_the_yes_each_payout_stands_alone() {
    let mut here: Vec<_> = (1..=3).map(closed_question).collect();
    (here[0].status, here[0].payout) = (MarketState::Resolved, Some(Payout::Yes));
    let markets = [answered(1, Payout::Yes), lost(2), lost(3)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    assert_eq!(told(&plan), ["resolve", "resolve"]);
    here[0] = closed_question(1);
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    assert_eq!(told(&plan), ["resolve, resolve, resolve"]);
}

#[test]
fn lists_that_cannot_resolve_are_not_made() {
    let decided = [question(1), answered(2, Payout::Yes)];
    let plan = plan_of(Some(event()), &decided, &[], Policy::default());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[1].finding, Finding::Decided);

    // Beside a listed Other nobody could tell whom a winner without ids pays.
    let untradable = CatalogMarket {
        terms: Err(NotTradable::Outcomes(3)),
        ..question(2)
    };
    let other = with(1, |_, terms| {
        (terms.neg_risk, terms.is_other) = (true, true)
    });
    let plan = plan_of(
        Some(event()),
        &[other, untradable.clone()],
        &[],
        Policy::default(),
    );
    assert_eq!(told(&plan), [""; 0]);
    let incomplete = Finding::Incomplete("m2".into());
    assert!(
        plan.notes
            .iter()
            .any(|it| (it.market, &it.finding) == (1, &incomplete))
    );
    // One that was answered No cannot win any more.
    let lost = CatalogMarket {
        payout: Some(Payout::No),
        ..untradable
    };
    for outside in [lost, answered(2, Payout::No)] {
        let plan = plan_of(
            Some(event()),
            &[question(1), outside],
            &[],
            Policy::default(),
        );
        assert_eq!(told(&plan).len(), 1);
    }

    let plan = plan_of(None, &[question(1)], &[], Policy::default());
    assert_eq!(plan.notes[0].finding, Finding::NoEvent);

    let many: Vec<_> = (1..=129).map(question).collect();
    let plan = plan_of(Some(event()), &many, &[], Policy::default());
    assert_eq!((told(&plan).len(), plan.notes.len()), (0, 129));
    let plan = plan_of(Some(event()), &many[..128], &[], Policy::default());
    assert_eq!((told(&plan).len(), plan.notes.len()), (1, 0));
}

#[test]
fn a_list_waits_for_the_event_itself() {
    let mut group = MarketGroup {
        event: Some(event()),
        is_whole: false,
        markets: vec![question(1), question(2)],
    };
    let mut compare = |is_whole, here: Vec<_>| {
        group.is_whole = is_whole;
        let mut allowance = allowance(Policy::default());
        difference(&group, &ExchangeState::of(here), &mut allowance)
    };
    let plan = compare(false, vec![]);
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding, Finding::EventUnread(EVENT));
    assert_eq!(told(&compare(true, vec![])).len(), 1);
    // A final list is as it is.
    let here = [MarketState::Active, MarketState::Registered];
    let here = (1..)
        .zip(here)
        .map(|(market, status)| of_event(market, status));
    assert_eq!(told(&compare(false, here.collect())), ["activate"]);
}

fn of_event(market: u64, status: MarketState) -> RegisteredMarket {
    RegisteredMarket {
        event: Some(EVENT),
        event_frozen: true,
        ..registered(market, status)
    }
}

#[test]
fn what_cannot_trade_is_registered_and_never_opens() {
    let obstacle = NotTradable::Delay("90".into());
    let untraded = with(2, |_, terms| {
        (terms.neg_risk, terms.obstacle) = (true, Some(obstacle.clone()));
    });
    let over = with(3, |market, terms| {
        (market.flags.closed, terms.neg_risk) = (true, true);
    });
    let archived = with(4, |market, terms| {
        (market.flags.archived, terms.neg_risk) = (true, true);
    });
    // Without two outcomes: whom it makes win, the outside question pays.
    let outside = CatalogMarket {
        terms: Err(NotTradable::Outcomes(3)),
        ..question(5)
    };
    let markets = [question(1), untraded, over, archived, outside];
    let plan = plan_of(Some(event()), &markets, &[], Policy::default());
    assert_eq!(
        told(&plan),
        [
            "register event, register market, register market, register market, register market, close, activate"
        ]
    );
    let named: BTreeSet<_> = plan.notes.iter().map(|note| note.market).collect();
    assert_eq!(named, BTreeSet::from([2, 3, 4, 5]), "a finding names each");
    // A plain market that cannot trade is not registered.
    let plain = with(2, |_, terms| terms.obstacle = Some(obstacle));
    let plan = plan_of(None, &[plain], &[], Policy::default());
    assert_eq!((told(&plan).len(), plan.notes.len()), (0, 1));
}

#[test]
fn indexes_are_those_of_the_family_or_of_nobody() {
    let indexed = |market: u64, index| {
        with(market, |_, terms| {
            (terms.neg_risk, terms.index) = (true, index);
        })
    };
    let index = |plan: &Plan| -> Vec<_> {
        let registered = plan.steps.iter().flatten().filter_map(|it| match it {
            Command::RegisterMarket(market) => Some(market.terms.question_index),
            _ => None,
        });
        registered.collect()
    };
    let (seven, nine) = (Some(QuestionIndex(7)), Some(QuestionIndex(9)));
    for (given, expected) in [
        ([seven, nine], [seven, nine]),
        ([seven, seven], [None, None]),
        ([seven, None], [None, None]),
    ] {
        let markets = [indexed(1, given[0]), indexed(2, given[1])];
        let plan = plan_of(Some(event()), &markets, &[], Policy::default());
        assert_eq!(index(&plan), expected, "{given:?}");
    }
    // The first question decided.
    let known = RegisteredMarket {
        event_frozen: false,
        ..of_event(1, MarketState::Registered)
    };
    let markets = [indexed(1, seven), indexed(2, nine)];
    let plan = plan_of(Some(event()), &markets, &[known], Policy::default());
    assert_eq!(index(&plan), [None]);
}

/// What the comparison sends and offers when an event is decided.
#[test]
fn payouts_of_an_event_come_in_order() {
    let here: Vec<_> = (1..=3)
        .map(|it| of_event(it, MarketState::Active))
        .collect();
    let other = |payout| {
        with(3, |market, terms| {
            (terms.neg_risk, terms.is_other) = (true, true);
            (market.flags.closed, market.payout) = (true, payout);
        })
    };
    let lost = |market| answered(market, Payout::No);
    let won = |market| answered(market, Payout::Yes);
    let policy = Policy {
        early_close_percent: 100,
        ..resolving()
    };
    let payouts = |plan: &Plan| -> Vec<(ConditionId, String)> {
        let steps = plan.steps.iter().flatten().filter_map(|it| match it {
            Command::ResolveMarket(it) => Some((it.condition_id, it.payout.text().to_owned())),
            _ => None,
        });
        steps.collect()
    };
    let paid = |market, payout: &str| (condition(market), payout.to_owned());
    for (markets, expected, offered) in [
        // The Yes comes first.
        (
            vec![lost(1), won(2), lost(3)],
            vec![paid(2, "first"), paid(1, "second"), paid(3, "second")],
            None,
        ),
        // Every listed question lost: the last one waits, with the payout of the outside question.
        (
            vec![lost(1), lost(2), lost(3)],
            vec![paid(1, "second"), paid(2, "second")],
            Some("outside"),
        ),
        // A late question won: it pays Other, first, whatever the upstream says of it.
        (
            vec![lost(1), lost(2), other(Some(Payout::No)), won(9)],
            vec![paid(3, "first"), paid(1, "second"), paid(2, "second")],
            None,
        ),
        // A late question may still win: Other waits.
        (
            vec![lost(1), lost(2), other(Some(Payout::No)), question(9)],
            vec![paid(1, "second"), paid(2, "second")],
            None,
        ),
        // Nobody listed or late won: Other is offered.
        (
            vec![lost(1), lost(2), other(Some(Payout::No)), lost(9)],
            vec![paid(1, "second"), paid(2, "second")],
            Some("first"),
        ),
        // Without a listed Other a late winner is paid by the outside question.
        (
            vec![lost(1), lost(2), lost(3), won(9)],
            vec![paid(1, "second"), paid(2, "second")],
            Some("outside"),
        ),
    ] {
        let plan = plan_of(Some(event()), &markets, &here, policy);
        assert_eq!(payouts(&plan), expected, "{plan:?}");
        assert_eq!(plan.steps.len(), 1, "one after the other");
        let waits = plan.notes.iter().find_map(|note| match &note.consent {
            Some(Command::ResolveMarket(it)) => Some(it.payout.text().to_owned()),
            _ => None,
        });
        assert_eq!(waits.as_deref(), offered, "{plan:?}");
    }
}

fn lost(market: u64) -> CatalogMarket {
    answered(market, Payout::No)
}

fn lost_other(market: u64) -> CatalogMarket {
    with(market, |listed, terms| {
        (terms.neg_risk, terms.is_other) = (true, true);
        (listed.flags.closed, listed.payout) = (true, Some(Payout::No));
    })
}

/// The payouts that the comparison sends, and those that it offers.
fn paid_and_offered(plan: &Plan) -> (Vec<String>, Vec<String>) {
    let text = |command: &Command| match command {
        Command::ResolveMarket(it) => {
            let id = u64::from_be_bytes(it.condition_id.0[..8].try_into().unwrap());
            Some(format!("{id} {}", it.payout.text()))
        }
        _ => None,
    };
    let steps = plan.steps.iter().flatten().filter_map(text).collect();
    let offers = plan.notes.iter().filter_map(|note| note.consent.as_ref());
    (steps, offers.filter_map(text).collect())
}

fn closed_question(market: u64) -> RegisteredMarket {
    of_event(market, MarketState::Closed)
}

#[test]
fn a_contradicted_question_is_closed_and_paid_by_consent_alone() {
    let other_tokens = RegisteredMarket {
        tokens: tokens(9),
        ..of_event(1, MarketState::Active)
    };
    let other_event = RegisteredMarket {
        event: Some(3),
        ..of_event(1, MarketState::Active)
    };
    for here in [other_tokens, other_event] {
        let markets = [answered(1, Payout::Yes), lost(2)];
        let here = [here, closed_question(2)];
        let plan = plan_of(Some(event()), &markets, &here, resolving());
        assert!(told(&plan)[0].starts_with("close"), "{plan:?}");
        let (sent, offered) = paid_and_offered(&plan);
        assert_eq!(offered[0], "1 first");
        assert!(!sent.contains(&"1 first".to_owned()), "{plan:?}");
    }
}

#[test]
fn a_contradicted_market_is_paid_by_consent_alone() {
    let here = RegisteredMarket {
        tokens: tokens(2),
        ..registered(1, MarketState::Closed)
    };
    let plan = plan_of(None, &[resolved(Payout::Yes)], &[here], resolving());
    let offered = (vec![], vec!["1 first".to_owned()]);
    assert_eq!(paid_and_offered(&plan), offered);
}

#[test]
fn a_payout_is_named_by_a_word_that_no_label_contradicts() {
    for (labels, word) in [
        (["Yes", "No"], "1 second"),
        (["No", "Yes"], "1 second"),
        (["Second", "First"], "1 no"),
    ] {
        let outcomes = labels.map(str::to_owned);
        let market = CatalogMarket {
            description: MarketDescription {
                outcomes: outcomes.clone(),
                ..MarketDescription::default()
            },
            ..resolved(Payout::No)
        };
        let here = RegisteredMarket {
            outcomes,
            ..registered(1, MarketState::Closed)
        };
        let plan = plan_of(None, &[market], &[here], resolving());
        assert_eq!(paid_and_offered(&plan).0, [word]);
    }
}

/// The record of a listed question changed so that the event has it no more.
#[test]
fn a_listed_question_counts_whatever_its_record_says() {
    let lost_flag = with(1, |market, _| {
        (market.flags.closed, market.payout) = (true, Some(Payout::Yes));
    });
    let broken = CatalogMarket {
        terms: Err(NotTradable::Tokens),
        ..answered(1, Payout::Yes)
    };
    let here: Vec<_> = (1..=3).map(closed_question).collect();
    for (changed, offers) in [
        (lost_flag, &["1 first", "3 second"][..]),
        (broken, &["3 second"]),
    ] {
        let markets = [changed, lost(2), lost_other(3)];
        let plan = plan_of(Some(event()), &markets, &here, resolving());
        let (sent, offered) = paid_and_offered(&plan);
        assert_eq!(
            (sent, offered),
            (
                vec!["2 second".to_owned()],
                offers.iter().map(|it| (*it).to_owned()).collect()
            )
        );
    }
    // Paid, it decides.
    let mut here = here;
    (here[0].status, here[0].payout) = (MarketState::Resolved, Some(Payout::Yes));
    let markets = [lost(2), lost_other(3)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let sent = ["2 second", "3 second"].map(str::to_owned).to_vec();
    assert_eq!(paid_and_offered(&plan), (sent, vec![]));
}

#[test]
fn labels_that_change_with_the_closing_hold_the_payout_back() {
    let swap = |market: CatalogMarket| CatalogMarket {
        description: MarketDescription {
            outcomes: ["No".into(), "Yes".into()],
            ..MarketDescription::default()
        },
        ..market
    };
    let plan = plan_of(
        None,
        &[swap(resolved(Payout::Yes))],
        &[registered(1, MarketState::Active)],
        resolving(),
    );
    assert_eq!(told(&plan), ["close"]);
    assert_eq!(paid_and_offered(&plan).1, ["1 first"]);
    let differs = |plan: &Plan| {
        let mut findings = plan.notes.iter().map(|note| &note.finding);
        findings.any(|it| matches!(it, Finding::MeaningDiffers { .. }))
    };
    assert!(differs(&plan));
    // Also for a question; the other questions are paid.
    let markets = [swap(answered(1, Payout::Yes)), lost(2)];
    let here = [closed_question(1), closed_question(2)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let expected = (vec!["2 second".to_owned()], vec!["1 first".to_owned()]);
    assert_eq!(paid_and_offered(&plan), expected);
    assert!(differs(&plan));
    // What is paid stays paid.
    let plan = plan_of(
        None,
        &[swap(resolved(Payout::Yes))],
        &[paid(Payout::Yes)],
        resolving(),
    );
    assert_eq!(plan, Plan::default());
}

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
fn an_obstacle_does_not_stop_the_payout() {
    let market = with(1, |market, terms| {
        (market.flags.closed, market.payout) = (true, Some(Payout::No));
        terms.obstacle = Some(NotTradable::NoOrderBook);
    });
    let here = [registered(1, MarketState::Active)];
    let plan = plan_of(None, std::slice::from_ref(&market), &here, resolving());
    assert_eq!(told(&plan), ["close, resolve"]);
    let plan = plan_of(None, &[market], &here, Policy::default());
    assert_eq!(paid_and_offered(&plan).1, ["1 second"]);
}

#[test]
fn a_listed_winner_ends_the_waiting_of_other() {
    let here: Vec<_> = (1..=3).map(closed_question).collect();
    // The late question 9 may still win.
    let markets = [
        answered(1, Payout::Yes),
        lost(2),
        lost_other(3),
        question(9),
    ];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let (sent, _) = paid_and_offered(&plan);
    assert_eq!(sent, ["1 first", "2 second", "3 second"]);
    let markets = [lost(1), lost(2), lost_other(3), question(9)];
    let plan = plan_of(Some(event()), &markets, &here, resolving());
    let waits = Finding::OtherWaits("m9".into());
    assert!(
        plan.notes
            .iter()
            .any(|it| (it.market, &it.finding) == (3, &waits))
    );
}

#[test]
fn a_question_that_never_opens_is_closed_once_and_no_error() {
    let by_design = |closed| {
        with(1, |market, terms| {
            (market.flags.closed, terms.neg_risk) = (closed, true);
            terms.obstacle = Some(NotTradable::NoOrderBook);
        })
    };
    let here = [of_event(1, MarketState::Registered)];
    for closed in [false, true] {
        let plan = plan_of(Some(event()), &[by_design(closed)], &here, resolving());
        assert_eq!(told(&plan).len(), usize::from(closed), "{plan:?}");
        let kinds: Vec<_> = plan.notes.iter().map(|it| it.finding.kind()).collect();
        assert_eq!(kinds, [FindingKind::NotTradable]);
    }
    // A contradiction does not close it twice either.
    let here = RegisteredMarket {
        tokens: tokens(2),
        ..of_event(1, MarketState::Active)
    };
    let plan = plan_of(Some(event()), &[lost(1)], &[here], resolving());
    assert_eq!(told(&plan), ["close"]);
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

#[test]
fn a_contradiction_does_not_stop_the_close() {
    let closed = with(1, |market, _| {
        (market.flags.closed, market.payout) = (true, Some(Payout::Yes));
    });
    let lost_flag = of_event(1, MarketState::Active);
    let other_tokens = RegisteredMarket {
        tokens: tokens(2),
        ..registered(1, MarketState::Active)
    };
    for here in [lost_flag, other_tokens] {
        let plan = plan_of(None, std::slice::from_ref(&closed), &[here], resolving());
        assert_eq!(told(&plan), ["close"]);
        assert_eq!(plan.notes[0].finding.kind(), FindingKind::Error);
    }
}

#[test]
fn meaning_changes_by_consent_alone() {
    let swapped = CatalogMarket {
        description: MarketDescription {
            outcomes: ["No".into(), "Yes".into()],
            ..MarketDescription::default()
        },
        ..listed(1)
    };
    let active = registered(1, MarketState::Active);
    let plan = plan_of(None, &[swapped], &[active], Policy::default());
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding.kind(), FindingKind::HeldBack);
    assert!(matches!(
        plan.notes[0].consent,
        Some(Command::DescribeMarket(_))
    ));
}

#[test]
fn a_question_never_pays_a_half() {
    let known = RegisteredMarket {
        event: Some(EVENT),
        event_frozen: true,
        ..registered(1, MarketState::Closed)
    };
    let plan = plan_of(
        Some(event()),
        &[answered(1, Payout::Half)],
        &[known],
        resolving(),
    );
    assert_eq!(told(&plan), [""; 0]);
    assert_eq!(plan.notes[0].finding, Finding::HalfOfQuestion);
}

/// The rules of docs/verify/rules.md §11, §12 that concern the sync.
#[derive(Default)]
struct Model {
    markets: HashMap<ConditionId, RegisteredMarket>,
    frozen: bool,
    questions: BTreeSet<ConditionId>,
    registrations: usize,
}

impl Model {
    fn state(&self) -> ExchangeState {
        ExchangeState::of(self.markets.values().cloned())
    }

    fn give(&mut self, command: &Command) {
        match command {
            Command::RegisterEvent(_) => {}
            Command::RegisterMarket(market) => self.register(market),
            Command::ActivateMarket(market) => self.open(&market.condition_id),
            Command::CloseMarket(closed) => {
                let market = self.market(&closed.condition_id);
                assert!(!market.is_over());
                (market.status, market.holds) = (MarketState::Closed, HoldSet::NONE);
            }
            Command::PauseMarket(change) => {
                let market = self.market(&change.condition_id);
                let trades = [MarketState::Active, MarketState::Paused];
                assert!(trades.contains(&market.status) && market.holds == HoldSet::NONE);
                market.status = MarketState::Paused;
                market.holds = market.holds.with(Hold::Upstream);
            }
            Command::ResumeMarket(change) => {
                let market = self.market(&change.condition_id);
                assert!(market.holds.contains(Hold::Upstream));
                (market.status, market.holds) = (MarketState::Active, HoldSet::NONE);
            }
            Command::SetTick(change) => {
                let tick = change.tick_size;
                let market = self.market(&change.condition_id);
                assert!(tick.units() < market.tick.units() && !market.is_over());
                market.tick = tick;
            }
            Command::SetMinimumSize(change) => {
                self.market(&change.condition_id).minimum_size = change.minimum_order_size;
            }
            Command::SetFee(change) => self.market(&change.condition_id).fee = change.fee(),
            Command::ResolveMarket(resolution) => {
                let labels = MarketDescription::default().outcomes;
                let payout = resolution.payout.among("payout", &labels);
                self.resolve(&resolution.condition_id, payout.expect("a place"));
            }
            other => panic!("the sync does not send {other:?}"),
        }
        let frozen = self.frozen;
        for market in self
            .markets
            .values_mut()
            .filter(|market| market.event.is_some())
        {
            market.event_frozen = frozen;
        }
    }

    fn market(&mut self, condition: &ConditionId) -> &mut RegisteredMarket {
        self.markets
            .get_mut(condition)
            .expect("only registered markets are changed")
    }

    fn register(&mut self, market: &MarketRegistration) {
        let terms = &market.terms;
        if self.markets.contains_key(&terms.condition_id) {
            panic!("registered twice");
        }
        self.registrations += 1;
        if terms.event_id.is_some() {
            assert!(!self.frozen, "the list is final");
            self.questions.insert(terms.condition_id);
        }
        let status = if opens(market) {
            MarketState::Active
        } else {
            MarketState::Registered
        };
        assert!(!(opens(market) && terms.event_id.is_some()));
        let here = RegisteredMarket {
            question: market.description.question.clone(),
            outcomes: market.description.outcomes.clone(),
            holds: HoldSet::NONE,
            index: terms.question_index,
            condition: terms.condition_id,
            tokens: terms.token_ids,
            status,
            tick: terms.tick(),
            minimum_size: terms.minimum(),
            fee: terms.fee.unwrap_or_default(),
            clock: terms.clock(None).applied_to(MarketClock::default()),
            event: terms.event_id,
            event_frozen: false,
            payout: None,
            own: false,
            end_date: None,
        };
        self.markets.insert(terms.condition_id, here);
    }

    fn open(&mut self, condition: &ConditionId) {
        let market = self.market(condition);
        assert_eq!(market.status, MarketState::Registered);
        market.status = MarketState::Active;
        self.frozen |= market.event.is_some();
    }

    fn resolve(&mut self, condition: &ConditionId, payout: Payout) {
        let market = self.market(condition);
        assert_eq!(market.status, MarketState::Closed);
        let is_question = market.event.is_some();
        assert!(payout != Payout::Half || !is_question);
        (market.status, market.payout) = (MarketState::Resolved, Some(payout));
        let questions = self.markets.values().filter(|it| it.event.is_some());
        let payouts: Vec<_> = questions.map(|it| it.payout).collect();
        let yes = payouts.iter().filter(|it| **it == Some(Payout::Yes));
        let leaves_none = payouts.iter().all(|it| *it == Some(Payout::No));
        assert!(!is_question || (yes.count() <= 1 && !leaves_none));
    }
}

fn any_market(id: u64) -> impl Strategy<Value = CatalogMarket> {
    let life = prop_oneof![
        4 => Just((true, false, None)),
        1 => Just((false, false, None)),
        1 => Just((true, true, None)),
        2 => prop_oneof![Just(Payout::Yes), Just(Payout::No), Just(Payout::Half)].prop_map(|paid| (true, true, Some(paid))),
    ];
    let ticks = prop_oneof![Just(Tick::Hundredth), Just(Tick::Thousandth)];
    (life, any::<[bool; 3]>(), ticks, 1..900_u64, 0..3_u32).prop_map(
        move |((active, closed, payout), [neg_risk, accepting, binary], tick, minimum, rate)| {
            let mut market = with(id, |market, terms| {
                (market.flags.active, market.flags.closed) = (active, closed);
                (terms.neg_risk, terms.accepting_orders) = (neg_risk, accepting);
                (terms.tick, terms.minimum_size) = (tick, Lots(minimum));
                (terms.fee.rate_ppm, market.payout) = (rate, payout);
            });
            if !binary && id.is_multiple_of(3) {
                market.terms = Err(NotTradable::Outcomes(5));
            }
            market
        },
    )
}

fn any_markets() -> impl Strategy<Value = Vec<CatalogMarket>> {
    (0..9_u64).prop_flat_map(|count| (0..count).map(any_market).collect::<Vec<_>>())
}

proptest! {
    /// With any number of crashes of either side, finally nothing is left to do, nothing was
    /// registered twice, and no rule of the exchange was broken.
    #[test]
    fn any_interruption_ends_in_agreement(
        versions in prop::collection::vec((any_markets(), 0..6_usize), 1..5),
        resolve in any::<bool>(),
    ) {
        let policy = Policy { resolve, early_close_percent: 100, ..Policy::default() };
        let mut allowance = Allowance { live: 1_000_000, ..allowance(policy) };
        let mut model = Model::default();
        let last = versions.last().map(|(markets, _)| markets.clone()).unwrap_or_default();
        let rounds = versions.into_iter();
        // A list that opens in a round pays in the next one.
        let rounds = rounds.chain([(last.clone(), usize::MAX), (last.clone(), usize::MAX)]);
        for (markets, commands) in rounds {
            let group = MarketGroup { event: Some(event()), is_whole: true, markets };
            let plan = difference(&group, &model.state(), &mut allowance);
            for command in plan.steps.iter().flatten().take(commands) {
                model.give(command);
            }
        }
        let group = MarketGroup { event: Some(event()), is_whole: true, markets: last };
        let plan = difference(&group, &model.state(), &mut allowance);
        prop_assert_eq!(told(&plan), [""; 0]);
        prop_assert_eq!(model.registrations, model.markets.len());
    }
}
