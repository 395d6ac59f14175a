//! The exchange by its record alone: accounts, money, shares, books and rules, folded from the
//! commands and events of the journal without the matching core.
//!
//! Re-execution proves that the record is what this program's core makes of the commands. It can not
//! find a fault of the core itself. This fold can: it knows the rules of `docs/matching.md` and
//! nothing of the core, and refuses a frame that breaks one.

mod books;
mod broken;
mod evidence;
mod fees;
mod finder;
mod fold;
mod holdings;
mod id_queue;
mod ids;
mod ledger;
mod places;
mod placing;
mod references;
mod registry;
mod same;
mod taker;

use foretell_model::{
    AccountNumber, Command, Event, Fill, FrameRef, MarketNumber, OrderNumber, Sequence, SystemMode,
};

pub(crate) use books::Resting;
pub(crate) use broken::Broken;
pub(crate) use evidence::Claim;
pub(crate) use holdings::Holding;
pub(crate) use ledger::Purse;
pub(crate) use registry::Registry;

use books::Books;
use broken::{Checked, must};
use id_queue::IdQueue;
use ids::OrderIds;
use ledger::Ledger;
use references::References;

/// The state of the exchange as its record tells it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) registry: Registry,
    pub(crate) ledger: Ledger,
    pub(crate) books: Books,
    ids: OrderIds,
    id_queue: IdQueue,
    references: References,
    /// The rules number in force.
    rules: u32,
    mode: SystemMode,
    /// Of the last frame.
    sequence: Option<Sequence>,
    /// `Continue` must come next.
    work_pending: bool,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            registry: Registry::default(),
            ledger: Ledger::default(),
            books: Books::default(),
            ids: OrderIds::default(),
            id_queue: IdQueue::default(),
            references: References::default(),
            rules: 1,
            mode: SystemMode::Running,
            sequence: None,
            work_pending: false,
        }
    }
}

impl Record {
    /// Brings near what frames that come next will ask for. They are gone through together, a step
    /// deeper each time, so that their waits for memory overlap.
    pub(crate) fn foresee<'f>(&self, frames: impl Iterator<Item = FrameRef<'f>> + Clone) {
        for frame in frames.clone() {
            if let Command::PlaceOrder(order) = frame.command {
                self.ids.foresee(order.order);
                self.registry.foresee_key(order.key);
                self.books.foresee_market(order.market);
            }
            if let Some((account, market)) = named_holding(frame.command) {
                self.registry.foresee(account, market);
                self.ledger.foresee(account, market);
            }
            named_orders(&frame).for_each(|order| self.books.foresee_place(order));
        }
        for frame in frames.clone() {
            if let Some((account, market)) = named_holding(frame.command) {
                self.ledger.foresee_shares(account, market);
            }
            if let Command::PlaceOrder(order) = frame.command {
                self.books.foresee_levels(order.market);
            }
            named_orders(&frame).for_each(|order| self.books.foresee(order));
        }
        for frame in frames.clone() {
            if let Command::PlaceOrder(order) = frame.command {
                self.books.foresee_best(order.market);
            }
            let is_placing = matches!(frame.command, Command::PlaceOrder(_));
            for order in named_orders(&frame).filter_map(|order| self.books.foresee_around(order)) {
                // Whose it is matters to who may end it, not to a fill.
                if !is_placing {
                    self.registry.foresee_account(order.account);
                }
                self.ledger.foresee(order.account, order.market);
                self.books.foresee_market(order.market);
            }
        }
        for frame in frames {
            for order in named_orders(&frame).filter_map(|order| self.books.find(order)) {
                self.ledger.foresee_shares(order.account, order.market);
                self.books.foresee_levels(order.market);
            }
        }
    }

    /// Takes in the next frame. For an order that carries evidence: who must have signed it.
    ///
    /// # Errors
    /// The first thing in it that can not be. What the frame changed up to there stays changed: a
    /// broken record is not read on.
    pub(crate) fn apply(&mut self, frame: &FrameRef<'_>) -> Checked<Option<Claim>> {
        self.follow(frame.sequence)?;
        must(
            !self.work_pending || *frame.command == Command::Continue,
            || "another command came before work was done that must go on".to_owned(),
        )?;
        let claim = match frame.command {
            Command::PlaceOrder(order) => {
                let claim = self.claim(frame)?;
                self.place(frame, order)?;
                claim
            }
            _ => None,
        };
        self.references.admit(frame, self.rules)?;
        self.fold(frame)?;
        self.ledger.settle_frame(&self.registry)?;
        Ok(claim)
    }

    /// Whoever reads a journal has seen to this. But lists are as long as sequences are apart, and the file
    /// may be another by now.
    fn follow(&mut self, sequence: Sequence) -> Checked {
        let before = self.sequence.replace(sequence);
        must(
            before.is_none_or(|before| before.0.checked_add(1) == Some(sequence.0)),
            || format!("sequence {sequence} does not follow the one before it"),
        )
    }

    /// Only an order the book refused may come without evidence (protocol 9).
    fn claim(&self, frame: &FrameRef<'_>) -> Checked<Option<Claim>> {
        let Command::PlaceOrder(order) = frame.command else {
            return Ok(None);
        };
        if frame.evidence.is_empty() {
            let is_killed = matches!(frame.events, [Event::OrderKilled { .. }]);
            return if is_killed {
                Ok(None)
            } else {
                Err(Broken::evidence(
                    "an order was executed without evidence that it was signed",
                ))
            };
        }
        evidence::check_evidence(order, frame.evidence, &self.registry).map(Some)
    }
}

/// The account and the market whose shares a command may change; of a conversion none, it has many.
const fn named_holding(command: &Command) -> Option<(AccountNumber, MarketNumber)> {
    match *command {
        Command::PlaceOrder(ref order) => Some((order.account, order.market)),
        Command::Split {
            account, market, ..
        }
        | Command::Merge {
            account, market, ..
        }
        | Command::Redeem {
            account, market, ..
        } => Some((account, market)),
        _ => None,
    }
}

/// The resting orders that the events of a frame fill or close.
fn named_orders(frame: &FrameRef<'_>) -> impl Iterator<Item = OrderNumber> {
    frame.events.iter().filter_map(|event| match *event {
        Event::Fill(Fill { maker_order, .. }) => Some(maker_order),
        Event::OrderClosed { order, .. } => Some(order),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use foretell_bench::audited_journal::{Contents, with_journal};
    use foretell_journal::Scratch;

    use super::*;
    use crate::audit::source::Source;

    #[test]
    fn a_frame_that_is_not_the_next_is_refused_wherever_it_says_it_stands() {
        let run = |journal: &Path| {
            let source = Source::open(journal, false).unwrap();
            for jump in [-1, 1, i64::MAX] {
                let (mut record, mut scratch) = (Record::default(), Scratch::default());
                let mut orders = 0;
                let read = source.each(&mut |frame| {
                    let mut frame = frame.decode(&mut scratch).unwrap();
                    orders += u32::from(matches!(frame.command, Command::PlaceOrder(_)));
                    if orders < 100 {
                        record.apply(&frame).unwrap();
                        return ControlFlow::Continue(());
                    }
                    frame.sequence.0 = frame.sequence.0.saturating_add_signed(jump);
                    let broken = record.apply(&frame).unwrap_err();
                    assert!(broken.text.contains("does not follow"), "{broken}");
                    ControlFlow::Break(())
                });
                assert_eq!(read.unwrap(), None, "{jump}");
            }
        };
        with_journal(&std::env::temp_dir(), 300, Contents::Stream, run).unwrap();
    }
}
