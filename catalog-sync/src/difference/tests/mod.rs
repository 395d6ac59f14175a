//! Tables of single markets, and random event groups against a model of the exchange.

mod groups;
mod holds;
mod markets;
mod model;
mod payouts;

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
        slug: format!("m{market}"),
        question: MarketDescription::default().question,
        outcomes: MarketDescription::default().outcomes,
        slug_taken: false,
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

fn resolving() -> Policy {
    Policy {
        resolve: true,
        ..Policy::default()
    }
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

fn of_event(market: u64, status: MarketState) -> RegisteredMarket {
    RegisteredMarket {
        event: Some(EVENT),
        event_frozen: true,
        ..registered(market, status)
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
