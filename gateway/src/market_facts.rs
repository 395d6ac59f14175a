//! Converts a market of the view for the wire.

use foretell_model::{MarketNumber, Outcome};
use foretell_view::{Proposal, View};
use foretell_wire::Decimal;
use foretell_wire::market::MarketFacts;
use foretell_wire::market_life::{MarketLife, ProposalFacts, ProposalJson, SettlementJson};
use foretell_wire::operator::hold_words;

/// The exchange's facts about a market.
pub(crate) fn market_facts(view: &View, number: MarketNumber) -> Option<MarketFacts> {
    let market = view.markets().get(number)?;
    let price = |outcome| {
        let price = view.current_price(number, outcome)?;
        // In half price units of 0.00005.
        Some(Decimal::new(i128::from(price.half_units()) * 5, 5))
    };
    Some(MarketFacts {
        condition: market.condition,
        tokens: market.tokens,
        state: market.state,
        archived: market.archived,
        tick: market.tick,
        minimum_size: market.minimum_size,
        fee: market.fee,
        terms: market.terms,
        neg_risk: market.is_neg_risk(),
        payout: market.payout,
        prices: [price(Outcome::Yes)?, price(Outcome::No)?],
        accepting_since: market.activated,
        mode: view.system().mode,
    })
}

/// The life of a market.
pub(crate) fn market_life(view: &View, number: MarketNumber) -> Option<MarketLife> {
    let market = view.markets().get(number)?;
    let resolutions = view.resolutions();
    let (proposal, dispute) = (resolutions.proposal(number), resolutions.dispute(number));
    let mut life = MarketLife::new(market.state, &market.terms);
    life.holds = hold_words(market.holds);
    if market.settled.is_some() {
        life.stage = "settled";
    } else if proposal.is_some() {
        life.stage = match dispute {
            Some(_) => "disputed",
            None => "proposed",
        };
    }
    let facts = |proposal: &Proposal| {
        ProposalJson::new(&ProposalFacts {
            payout: proposal.payout,
            proposed_at: proposal.time.millis(),
            challenge_ends: proposal.challenge_ends.millis(),
            by_time: proposal.by_time,
            source: &proposal.source,
            evidence: proposal.evidence,
            dispute: dispute.map(|dispute| dispute.counter),
        })
    };
    let shown = proposal.or_else(|| resolutions.finalised(number));
    life.proposal = shown.map(facts);
    let settlement = view.background().settlement_of(number);
    life.settlement = settlement.map(|task| SettlementJson {
        accounts_done: task.next.0,
        accounts: task.end.0,
        paid: task.paid,
    });
    life.settled_at = market.settled.map(|time| time.millis().0);
    Some(life)
}
