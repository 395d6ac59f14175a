//! What the audit folds of every frame without the core: numbers and their names, evidence, money.

use foretell_model::{Command, Event, FrameRef, OperatorNumber};

use crate::finding::{Check, Violation};
use crate::prove::conservation::Conservation;
use crate::prove::evidence::{Claim, check_order, check_quotes, check_withdrawal};
use crate::prove::registry::Registry;

/// The journal so far, by its commands and events alone.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    pub(crate) registry: Registry,
    pub(crate) conservation: Conservation,
}

impl Fold {
    /// Takes in the next frame. For a command that carries a signature: who must have signed it.
    ///
    /// # Errors
    /// The first violation. What the frame changed up to there stays changed.
    pub(crate) fn apply(&mut self, frame: &FrameRef<'_>) -> Check<Option<Claim>> {
        let claim = self.claim(frame)?;
        for event in frame.events {
            self.registry.fold(frame, event)?;
            self.conservation.fold(frame, event, &self.registry)?;
        }
        self.conservation.check(&self.registry)?;
        Ok(claim)
    }

    /// Only an order that the book refused may come without evidence (docs/verify/rules.md §8), and in a sandbox
    /// that of an operator (§33).
    fn claim(&self, frame: &FrameRef<'_>) -> Check<Option<Claim>> {
        let order = match frame.command {
            Command::PlaceOrder(_) if frame.operator != OperatorNumber::NONE => {
                let text = "an operator's order, which nobody signed, outside a sandbox";
                let refused = || Violation::evidence(text);
                return self
                    .registry
                    .begin
                    .sandbox
                    .then_some(None)
                    .ok_or_else(refused);
            }
            Command::PlaceOrder(order) => order,
            Command::RequestWithdrawal(asked) => {
                return check_withdrawal(asked, frame.evidence, &self.registry).map(Some);
            }
            Command::SetQuotes(set) => {
                return check_quotes(set, frame.evidence, &self.registry).map(Some);
            }
            _ => return Ok(None),
        };
        if !frame.evidence.is_empty() {
            return check_order(order, frame.evidence, &self.registry).map(Some);
        }
        if matches!(frame.events, [Event::OrderKilled(_)]) {
            return Ok(None);
        }
        let text = "an order was executed without evidence that it was signed";
        Err(Violation::evidence(text))
    }
}
