//! The fold: applies one frame, that is one whole command, to all parts of the view.

mod delay;
mod money;
mod people;
mod placing;
mod positions;
mod quotes;
mod registry;
mod resolution;
mod shares;
mod trading;
mod withdrawals;

use std::panic::{AssertUnwindSafe, catch_unwind};

use foretell_model::evidence::OrderEvidence;
use foretell_model::{Command, Event, Fill, FrameRef, OrderNumber, Outcome, Sequence, TimeNs};

use crate::error::{FoldError, Impossible};
use crate::observer::Observer;
use crate::rows::midpoints::{Midpoint, minute_of};
use crate::rows::order::Order;
use crate::rows::profiles;
use crate::view::View;

/// The frame being folded.
struct FoldStep<'a> {
    frame: &'a FrameRef<'a>,
    /// Time of the state after the frame: never before the time of the previous state.
    now: TimeNs,
}

impl FoldStep<'_> {
    fn at(&self) -> (Sequence, TimeNs) {
        (self.frame.sequence, self.now)
    }

    /// The fills of the frame's order.
    fn fills(&self) -> impl Iterator<Item = &Fill> {
        self.frame.events.iter().filter_map(|event| match event {
            Event::Fill(fill) => Some(fill),
            _ => None,
        })
    }

    /// The evidence of the frame's command.
    fn evidence(&self) -> &[u8] {
        self.frame.act().own
    }
}

impl View {
    /// Folds the next frame of the journal. The cost is bounded by the number of its events.
    ///
    /// # Errors
    /// [`FoldError`] when the frame cannot follow those before it; no correct exchange writes such
    /// a frame. The view is unusable afterwards and rejects every later frame. A panic is caught
    /// and returned as such an error, so no frame ends the process that folds it.
    pub fn apply(&mut self, frame: &FrameRef<'_>) -> Result<(), FoldError> {
        self.apply_observed(frame, &mut ())
    }

    /// As [`Self::apply`]; `observer` watches. What it saw of a rejected frame is meaningless.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn apply_observed(
        &mut self,
        frame: &FrameRef<'_>,
        observer: &mut impl Observer,
    ) -> Result<(), FoldError> {
        let folded = if self.broken {
            Err(Impossible::AfterError)
        } else {
            // Partial results of a panic are never shown: the view is marked broken.
            catch_unwind(AssertUnwindSafe(|| self.fold(frame, observer)))
                .unwrap_or(Err(Impossible::Panicked))
        };
        folded.map_err(|what| {
            self.broken = true;
            FoldError {
                sequence: frame.sequence,
                what,
            }
        })
    }

    fn fold(
        &mut self,
        frame: &FrameRef<'_>,
        observer: &mut impl Observer,
    ) -> Result<(), Impossible> {
        let expected = self.system.sequence.next();
        if frame.sequence != expected {
            return Err(Impossible::OutOfOrder { expected });
        }
        let step = FoldStep {
            frame,
            now: frame.time.max(self.system.time),
        };
        // The frame's own order, until one of its four endings follows.
        let mut placed = match frame.command {
            Command::PlaceOrder(order) => {
                let evidence = OrderEvidence::decode(frame.evidence);
                let builder = evidence.map(|evidence| *evidence.builder());
                let number = OrderNumber::of(frame.sequence, 0);
                Some(self.place(&step, order, number, builder)?)
            }
            _ => None,
        };
        observer.begin(self, frame, placed.as_ref());
        self.system.work_pending = false;
        if frame.sequence == Sequence(1) {
            self.people.begin(step.now);
        }
        for event in frame.events {
            observer.before(self, placed.as_ref(), event);
            self.fold_event(&step, &mut placed, event)?;
            observer.after(self, placed.as_ref(), event);
        }
        if placed.is_some() {
            return Err(Impossible::PlacementUnfinished);
        }
        self.note_step(frame);
        self.note_midpoints(step.now)?;
        self.system.sequence = frame.sequence;
        self.system.time = self.system.time.max(step.now);
        observer.end(self);
        Ok(())
    }

    /// A step that did not end its work looked at further accounts.
    fn note_step(&mut self, frame: &FrameRef<'_>) {
        let ended = matches!(
            frame.events.last(),
            Some(Event::MarketSettled(_) | Event::RebatePaymentEnded { .. })
        );
        if matches!(frame.command, Command::Step) && !ended {
            self.background.advance();
        }
    }

    /// Records midpoints of open markets. Price history only sees books after a whole command.
    fn note_midpoints(&mut self, now: TimeNs) -> Result<(), Impossible> {
        while let Some(market) = self.books.pop_touched() {
            let closed = self
                .markets
                .get(market)
                .is_some_and(|it| it.closed.is_some());
            let book = self.books.get(market).map(|book| book.of(Outcome::Yes));
            let Some(book) = book.filter(|_| !closed) else {
                continue;
            };
            let sides = book.best_bid().zip(book.best_ask());
            let midpoint = sides.map(|(bid, ask)| Midpoint::between(bid, ask));
            self.midpoints.note(market, minute_of(now), midpoint)?;
        }
        Ok(())
    }

    fn fold_event(
        &mut self,
        step: &FoldStep<'_>,
        placed: &mut Option<Order>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match event {
            Event::Fill(_)
            | Event::OrderRested(_)
            | Event::OrderCompleted
            | Event::OrderClosed(_)
            | Event::OrderKilled(_)
            | Event::OrderDecreased(_) => self.fold_order(step, placed, event),

            Event::QuotePlaced(placed) => self.place_quote(step, placed),

            Event::AccountOpened(_)
            | Event::Deposited(_)
            | Event::Withdrawn(_)
            | Event::FeesWithdrawn { .. }
            | Event::WalletBound(_)
            | Event::WalletUnbound(_)
            | Event::ClosedOnlySet(_)
            | Event::HeartbeatSet(_) => self.fold_account(step, event),

            Event::Split(_) | Event::Merged(_) | Event::Redeemed(_) | Event::Converted(_) => {
                self.fold_shares(step, event)
            }

            Event::KeyRegistered(_) | Event::KeyRevoked { .. } => self.fold_key(step, event),

            Event::EventRegistered(_)
            | Event::EventFrozen { .. }
            | Event::EventDescribed { .. } => self.fold_question_list(step, event),

            Event::MarketRegistered(_)
            | Event::MarketStateSet(_)
            | Event::MarketArchived(_)
            | Event::MarketDescribed { .. } => self.fold_market(step, event),

            Event::TickSet(_)
            | Event::MinimumSizeSet(_)
            | Event::FeeSet(_)
            | Event::TermsSet(_)
            | Event::MarketCleared { .. } => self.fold_rules(step, event),

            Event::ModeSet { .. }
            | Event::SettingsChanged
            | Event::RulesSwitched { .. }
            | Event::DivergenceAccepted
            | Event::DomainRegistered { .. }
            | Event::WorkPending
            | Event::StateAttested
            | Event::Begun
            | Event::ClockMoved { .. }
            | Event::Restored { .. }
            | Event::WithdrawalsOpened
            | Event::Reopened { .. } => self.fold_system(step, event),

            // Leases and limits show in the quotes that they end.
            Event::QuotesSet(_)
            | Event::QuoteRefused(_)
            | Event::QuotesRenewed(_)
            | Event::QuoteLimitsSet(_)
            | Event::QuotesFrozen(_) => Ok(()),

            Event::OrderDelayed(_) | Event::OrderReleased(_) | Event::CancelRequested(_) => {
                self.fold_delay(step, placed, event)
            }

            Event::WithdrawalRequested(_)
            | Event::WithdrawalReleased(_)
            | Event::WithdrawalClaimed { .. } => self.fold_withdrawal(step, event),

            Event::RebatePaymentStarted { .. }
            | Event::RebatePaid(_)
            | Event::RebatePaymentEnded { .. } => self.fold_rebates(step, event),

            Event::Proposed(_)
            | Event::Disputed(_)
            | Event::ProposalWithdrawn { .. }
            | Event::MarketResolved(_)
            | Event::SettlementStarted(_)
            | Event::MarketSettled(_) => self.fold_resolution(step, event),

            Event::PolicySet(_) | Event::PolicyCleared { .. } | Event::WalletListed(_) => {
                self.fold_policy(event)
            }

            Event::PaymentsSet { .. }
            | Event::OperatorAdded { .. }
            | Event::OperatorRevoked { .. } => self.fold_people(step, event),

            Event::WalletDescribed { wallet } => {
                let (edit, sequence) = (step.evidence(), step.frame.sequence);
                profiles::edit(&mut self.profiles, *wallet, edit, sequence);
                Ok(())
            }
        }
    }
}

/// The error for an event that the frame's command cannot cause.
fn mismatch(event: &Event) -> Impossible {
    Impossible::NotOfCommand { code: event.code() }
}
