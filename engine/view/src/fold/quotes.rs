//! Quotes: those that a set places. Those that it ends or reduces are folded as any order.

use foretell_model::event::QuotePlaced;
use foretell_model::evidence::QuotesEvidence;
use foretell_model::{Command, Event};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::view::View;

impl View {
    /// Rests a quote of the frame's set.
    pub(super) fn place_quote(
        &mut self,
        step: &FoldStep<'_>,
        placed: &QuotePlaced,
    ) -> Result<(), Impossible> {
        let Command::SetQuotes(set) = step.frame.command else {
            return Err(mismatch(&Event::QuotePlaced(*placed)));
        };
        let (number, beside) = (placed.order, step.frame.evidence);
        let order = set.order(beside, placed);
        let order = order.filter(|_| number.sequence() == step.frame.sequence);
        let order = order.ok_or(Impossible::OrderDiffers(number))?;
        let evidence = set.lists(beside).map(|lists| lists.evidence);
        let evidence = evidence.and_then(QuotesEvidence::decode);
        let builder = evidence.map(|evidence| evidence.builder);
        let order = self.place(step, &order, number, builder)?;
        self.enter_book(step, order, placed.lots)
    }
}
