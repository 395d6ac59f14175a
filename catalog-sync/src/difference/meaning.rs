//! What a share of a registered market means: its question and its labels change by consent alone.

use foretell_wire::operator::{MarketEdit, OperatorCommand as Command};

use super::{CatalogMarket, Finding, Plan};
use crate::exchange::RegisteredMarket;

/// Offers the upstream's question and labels where they differ from the journaled ones.
pub(super) fn compare(plan: &mut Plan, market: &CatalogMarket, here: &RegisteredMarket) {
    let words = &market.description;
    let differs = (&words.question, &words.outcomes) != (&here.question, &here.outcomes);
    if !differs {
        return;
    }
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
