//! What a share of a registered market means: its question and its labels change by consent alone.

use foretell_wire::operator::{MarketEdit, OperatorCommand as Command};

use super::{CatalogMarket, Finding, Plan};
use crate::exchange::RegisteredMarket;

/// Whether the upstream's question or labels differ from the journaled ones.
pub(super) fn differs(market: &CatalogMarket, here: &RegisteredMarket) -> bool {
    let words = &market.description;
    (&words.question, &words.outcomes) != (&here.question, &here.outcomes)
}

/// Offers the upstream's question and labels where they differ from the journaled ones.
pub(super) fn compare(plan: &mut Plan, market: &CatalogMarket, here: &RegisteredMarket) {
    if !differs(market, here) {
        return;
    }
    let words = &market.description;
    let edit = MarketEdit {
        question: Some(words.question.clone()),
        outcomes: Some(words.outcomes.clone()),
        ..MarketEdit::new(here.condition)
    };
    let finding = Finding::MeaningDiffers {
        question: words.question.clone(),
        outcomes: words.outcomes.clone(),
    };
    plan.hold_back(market, finding, Command::DescribeMarket(Box::new(edit)));
}
