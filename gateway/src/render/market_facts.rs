//! Converts a market of the view for the wire.

use foretell_catalog::Figures;
use foretell_model::{Lots, MarketNumber, Micros, Outcome, Price, TimeNs};
use foretell_view::{Level, Market, Proposal, View};
use foretell_wire::Decimal;
use foretell_wire::catalog::CatalogTrading;
use foretell_wire::markets::market::MarketFacts;
use foretell_wire::markets::market_life::{
    MarketLife, ProposalFacts, ProposalJson, SettlementJson,
};
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
        question_index: market.question_index(),
        payout: market.payout,
        prices: [price(Outcome::Yes)?, price(Outcome::No)?],
        accepting_since: market.activated,
        mode: view.system().mode,
    })
}

/// What a market's book and trades add to its facts; the day's volume is counted elsewhere.
pub(crate) fn catalog_trading(view: &View, number: MarketNumber) -> Option<CatalogTrading> {
    let market = view.markets().get(number)?;
    let yes = view.books().get(number)?.of(Outcome::Yes);
    let value = |price: Price, lots: Lots| u64::from(price.0).saturating_mul(lots.0);
    let bids = yes.bids().map(|Level { price, lots }| value(price, lots));
    let asks = yes
        .asks()
        .map(|Level { price, lots }| value(price.complement(), lots));
    Some(CatalogTrading {
        best: [yes.best_bid(), yes.best_ask()],
        last: yes.last_trade().map(|last| last.price),
        volume: view.volume().value_in(number),
        volume_24hr: Micros::ZERO,
        // A price unit times a lot is a micro.
        liquidity: Micros(bids.chain(asks).fold(0, u64::saturating_add)),
        open_interest: market.locked(),
        closed: market.closed,
    })
}

/// The trading fields of a market's record, without the day's volume.
pub(crate) fn catalog_fields(view: &View, number: MarketNumber) -> Option<String> {
    let facts = market_facts(view, number)?;
    Some(facts.catalog_fields(&catalog_trading(view, number)?, None))
}

/// The values that the catalog filters and sorts a market by; `changed` is its last step.
pub(crate) fn catalog_figures(
    facts: &MarketFacts,
    trading: &CatalogTrading,
    changed: TimeNs,
) -> Figures {
    let amount = |micros: Micros| {
        Decimal::from(micros)
            .to_string()
            .parse()
            .unwrap_or_default()
    };
    Figures {
        active: facts.is_active(),
        closed: facts.is_closed(),
        archived: facts.archived,
        resolved: facts.payout.is_some(),
        volume: amount(trading.volume),
        volume_24hr: amount(trading.volume_24hr),
        liquidity: amount(trading.liquidity),
        open_interest: amount(trading.open_interest),
        changed_at: i64::try_from(changed.0 / 1_000).unwrap_or(i64::MAX),
    }
}

/// When a market last went a step in its life.
pub(crate) fn last_step(market: &Market) -> TimeNs {
    let steps = [
        market.activated,
        market.closed,
        market.resolved,
        market.cleared,
        market.settled,
    ];
    let last = steps.into_iter().flatten().max();
    last.map_or(market.registered, |last| last.max(market.registered))
}

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
