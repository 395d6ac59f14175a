//! The identity of a market: what its words leave out, from its registration on.

use foretell_model::{ConditionId, EventId};
use foretell_wire::operator::{EventDescription, EventSummary, MarketDescription};

use crate::catalog::own_catalog::ids::{self, slug_of};

/// The words of a market's registration; of an own one with its ids and its event, which is `group`, or
/// its own where it is in none.
pub(crate) fn described(
    words: &[u8],
    condition: &ConditionId,
    group: Option<(EventId, &[u8])>,
) -> MarketDescription {
    let mut market = MarketDescription::from_words(words).unwrap_or_default();
    let is_own = market.market_id == 0;
    identify(&mut market, condition);
    if is_own {
        market.event = Some(match group {
            Some((id, words)) => event_of_group(id, words),
            None => event_of_market(condition, &market),
        });
        if let Some((id, _)) = group {
            identify_question(&mut market, ids::event_record(id.0));
        }
    }
    market
}

/// Sets the ids that the words leave out: an own market's in the catalog, and that of a question without
/// one, which clients of the family refuse.
pub(crate) fn identify(market: &mut MarketDescription, condition: &ConditionId) {
    if market.market_id == 0 {
        market.market_id = ids::market_id(condition);
    }
    if market.question_id.is_empty() {
        market.question_id = ids::question(condition);
    }
}

/// Sets the ids of a question in a neg-risk event, by the catalog's id of the event: its request is the
/// question itself.
pub(crate) fn identify_question(market: &mut MarketDescription, event_record: u64) {
    market.neg_risk_market_id = ids::neg_risk_market(event_record);
    market.neg_risk_request_id.clone_from(&market.question_id);
}

/// The event that shows a plain own market.
pub(crate) fn event_of_market(condition: &ConditionId, market: &MarketDescription) -> EventSummary {
    EventSummary {
        id: Some(ids::event_of_market(condition)),
        slug: market.slug.clone(),
        title: market.question.clone(),
        ticker: market.slug.clone(),
        description: market.description.clone(),
    }
}

/// The event of an own event group.
pub(crate) fn event_of_group(id: EventId, words: &[u8]) -> EventSummary {
    let words = EventDescription::from_words(words).unwrap_or_default();
    EventSummary {
        id: Some(ids::event_record(id.0)),
        slug: match words.slug.is_empty() {
            true => slug_of(&words.title),
            false => words.slug,
        },
        title: words.title,
        ticker: words.ticker,
        description: words.description,
    }
}
