//! The upstream's hold on a market: what stops there stops here (docs/operate/catalog.md).

use foretell_catalog::record::{Answer, TradingTerms};
use foretell_model::{Hold, HoldSet, MarketState};
use foretell_wire::operator::{HoldChange, OperatorCommand as Command};

use super::{Allowance, CatalogMarket, Finding, Plan};
use crate::exchange::RegisteredMarket;

/// Puts or lifts the hold of a market that is open on both sides.
pub(super) fn follow(
    plan: &mut Plan,
    (market, terms, here): (&CatalogMarket, &TradingTerms, &RegisteredMarket),
    allowance: &mut Allowance,
) {
    let is_vanished =
        allowance.policy.hold_vanished && allowance.vanished.contains(&here.condition);
    if market.is_stopped(terms) || is_vanished {
        hold(plan, market, here, allowance);
        return;
    }
    allowance.stops.forget(&here.condition);
    if here.holds.contains(Hold::Upstream) {
        plan.push(vec![Command::ResumeMarket(change(here))]);
    }
}

/// Holds a market that trades here. Of an answer that is known nobody may trade; else the markets that are
/// held already count.
pub(super) fn hold(
    plan: &mut Plan,
    market: &CatalogMarket,
    here: &RegisteredMarket,
    allowance: &mut Allowance,
) {
    allowance.stops.waiting.remove(&here.condition);
    let is_answered = market.answer == Answer::Known;
    if is_answered {
        allowance.stops.forget(&here.condition);
    }
    let trades = matches!(here.status, MarketState::Active | MarketState::Paused);
    if !trades || here.holds.contains(Hold::Upstream) {
        return;
    }
    let command = Command::PauseMarket(change(here));
    if is_answered || allowance.holds(here.condition) {
        plan.push(vec![command]);
    } else if here.holds == HoldSet::NONE {
        allowance.stops.waiting.insert(here.condition);
        plan.hold_back(market, Finding::StopsMany, command);
    }
}

const fn change(here: &RegisteredMarket) -> HoldChange {
    HoldChange {
        condition_id: here.condition,
        hold: None,
    }
}
