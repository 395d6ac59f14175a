//! Quotes: those that a set places. Those that it ends or reduces are folded as any order.

use foretell_model::event::QuotePlaced;
use foretell_model::evidence::QuotesEvidence;
use foretell_model::quote::quote_id;
use foretell_model::{Command, Event, Lots, Micros, OrderType, Sequence, TimeSeconds};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::order::{Order, OrderState};
use crate::view::View;

impl View {
    /// Rests a quote of the frame's set.
    pub(super) fn place_quote(
        &mut self,
        step: &FoldStep<'_>,
        placed: &QuotePlaced,
    ) -> Result<(), Impossible> {
        let differs = Impossible::OrderDiffers(placed.order);
        let Command::SetQuotes(set) = step.frame.command else {
            return Err(mismatch(&Event::QuotePlaced(*placed)));
        };
        let index = placed.order.index();
        let lists = set.lists(step.frame.evidence).ok_or(differs)?;
        let (market, quote) = lists.quote(index).ok_or(differs)?;
        let id = quote_id(&set.digest, index);
        if self.orders.is_live(&id) {
            return Err(Impossible::DuplicateName);
        }
        if placed.order.sequence() != step.frame.sequence || placed.lots > quote.lots {
            return Err(differs);
        }
        let kind = self.accounts.get_mut(set.account)?.kind;
        let builder = match QuotesEvidence::decode(lists.evidence) {
            Some(evidence) => self.builders.intern(&evidence.builder)?,
            None => None,
        };
        let order = Order {
            id,
            number: placed.order,
            account: set.account,
            key: set.key,
            market,
            outcome: quote.outcome,
            side: quote.side,
            order_type: OrderType::Gtc,
            post_only: true,
            signature_type: kind,
            price: quote.price,
            state: OrderState::Completed,
            size: placed.lots.micro_shares(),
            expiration: TimeSeconds(0),
            left: Lots::ZERO,
            matched: Lots::ZERO,
            value: Micros::ZERO,
            fee: Micros::ZERO,
            arrival: Sequence(0),
            created: step.now,
            updated: step.now,
            place: step.frame.place,
            builder,
            first_taken: self.trades.next_slot(),
            taken: 0,
            last_made: None,
        };
        self.enter_book(step, order, placed.lots)
    }
}
