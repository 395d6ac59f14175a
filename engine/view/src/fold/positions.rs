//! Positions (docs/verify/rules.md §18): effects of trades, splits, merges, redeems and converts on
//! cost, fees and profit.

use foretell_model::event::{self, Converted, Merged, Redeemed};
use foretell_model::{
    AccountNumber, Event, EventNumber, Lots, MarketNumber, Micros, Outcome, QuestionSet, Side,
};

use super::trading::Leg;
use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::actions::{Action, ActionKind};
use crate::rows::holdings::HoldingSlot;
use crate::rows::position::{Basis, Conversion, NotHeld, Position};
use crate::view::View;

impl From<NotHeld> for Impossible {
    fn from(_: NotHeld) -> Self {
        Self::AmountOutOfRange
    }
}

impl View {
    /// Applies one side of a trade of these lots.
    pub(super) fn trade_position(
        &mut self,
        step: &FoldStep<'_>,
        leg: &Leg,
        lots: Lots,
    ) -> Result<(), Impossible> {
        let owner = (leg.account, leg.holding);
        let (value, fee) = (leg.value, leg.fee);
        self.change_held(step, owner, (leg.market, leg.outcome), |position| {
            match leg.side {
                Side::Buy => {
                    let [cost, fees] = [value, fee].map(|amount| amount.0.into());
                    position.buy(lots, Basis { cost, fees });
                }
                Side::Sell => position.sell(lots, value, fee)?,
            }
            Ok(())
        })
    }

    /// Applies an account action to its positions and stores its row.
    pub(super) fn note_action(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        let (account, kind, market, lots, collateral) = match *event {
            Event::Split(event::Split {
                account,
                market,
                lots,
            }) => {
                self.each_outcome(step, account, market, |position| {
                    position.split(lots);
                    Ok(())
                })?;
                (account, ActionKind::Split, market, lots, lots.full_value())
            }
            Event::Merged(Merged {
                account,
                market,
                lots,
            }) => {
                self.each_outcome(step, account, market, |position| position.merge(lots))?;
                (account, ActionKind::Merge, market, lots, lots.full_value())
            }
            Event::Redeemed(redeemed) => return self.redeem(step, event, redeemed),
            Event::Converted(Converted {
                account,
                event: number,
                questions,
                lots,
                collateral,
            }) => {
                let first = self.convert_positions(step, account, number, questions, lots)?;
                let first = first.ok_or_else(|| mismatch(event))?;
                (account, ActionKind::Convert, first, lots, collateral)
            }
            _ => return Err(mismatch(event)),
        };
        self.list_action(step, account, (kind, market, None), (lots, collateral))
    }

    /// Applies a redeem and stores a row for each token of which shares were held.
    fn redeem(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
        redeemed: Redeemed,
    ) -> Result<(), Impossible> {
        let (account, market) = (redeemed.account, redeemed.market);
        let resolved = self.markets.get_mut(market)?;
        let (is_shown, payout) = (resolved.is_shown(), resolved.payout);
        let payout = payout.ok_or_else(|| mismatch(event))?;
        for (&outcome, lots) in Outcome::ALL.iter().zip(redeemed.lots) {
            if lots.is_zero() {
                continue;
            }
            let mut paid = Micros::ZERO;
            self.change_position(step, account, (market, outcome), |position| {
                paid = position.redeem(lots, payout, outcome)?;
                Ok(())
            })?;
            if is_shown {
                let row = (ActionKind::Redeem, market, Some(outcome));
                self.list_action(step, account, row, (lots, paid))?;
            }
        }
        Ok(())
    }

    /// Stores the row of an account's action.
    pub(super) fn list_action(
        &mut self,
        step: &FoldStep<'_>,
        account: AccountNumber,
        (kind, market, outcome): (ActionKind, MarketNumber, Option<Outcome>),
        (lots, collateral): (Lots, Micros),
    ) -> Result<(), Impossible> {
        let (sequence, time) = step.at();
        let action = Action {
            kind,
            market,
            outcome,
            lots,
            collateral,
            time,
            sequence,
            place: step.frame.place,
        };
        self.actions.push(account, &action)
    }

    /// Moves cost and fees of the given No to the received Yes. Returns the market of the first question
    /// given.
    fn convert_positions(
        &mut self,
        step: &FoldStep<'_>,
        account: AccountNumber,
        event: EventNumber,
        given: QuestionSet,
        lots: Lots,
    ) -> Result<Option<MarketNumber>, Impossible> {
        let questions = self.events.get_mut(event)?.questions.clone();
        let (mut no, mut yes) = (Vec::new(), Vec::new());
        for (index, market) in (0..).zip(questions) {
            if given.contains(index) {
                no.push(market);
            } else if self.markets.get_mut(market)?.is_open() {
                yes.push(market);
            }
        }
        let mut removed = Basis::default();
        for &market in &no {
            let held = self.holdings.open(account, market, Outcome::No);
            let mut held = held.ok_or(Impossible::AmountOutOfRange)?;
            removed += held.position.give(lots)?;
        }
        let count = |markets: &[MarketNumber]| u32::try_from(markets.len());
        let (given, others) = count(&no)
            .and_then(|no| Ok((no, count(&yes)?)))
            .map_err(|_| Impossible::Full)?;
        let conversion = Conversion::new(lots, removed, given, given.saturating_add(others));
        for (nth, &market) in (0..).zip(&no) {
            self.change_position(step, account, (market, Outcome::No), |position| {
                position.give(lots)?;
                position.realize(conversion.no_profit(nth));
                Ok(())
            })?;
        }
        for (nth, &market) in (0..).zip(&yes) {
            self.change_position(step, account, (market, Outcome::Yes), |position| {
                position.buy(lots, conversion.yes_basis(nth));
                Ok(())
            })?;
        }
        // It carries no cost, so nothing changes when a listed question wins.
        let outside = self.events.get_mut(event)?.outside;
        self.change_position(step, account, (outside, Outcome::Yes), |position| {
            position.buy(lots, Basis::default());
            Ok(())
        })?;
        Ok(no.first().copied())
    }

    fn each_outcome(
        &mut self,
        step: &FoldStep<'_>,
        account: AccountNumber,
        market: MarketNumber,
        change: impl Fn(&mut Position) -> Result<(), NotHeld>,
    ) -> Result<(), Impossible> {
        for &outcome in Outcome::ALL {
            self.change_position(step, account, (market, outcome), |position| {
                Ok(change(position)?)
            })?;
        }
        Ok(())
    }

    fn change_position(
        &mut self,
        step: &FoldStep<'_>,
        account: AccountNumber,
        token: (MarketNumber, Outcome),
        change: impl FnOnce(&mut Position) -> Result<(), Impossible>,
    ) -> Result<(), Impossible> {
        let slot = self.holdings.slot_of(account, token.0)?;
        self.change_held(step, (account, slot), token, change)
    }

    fn change_held(
        &mut self,
        step: &FoldStep<'_>,
        (account, slot): (AccountNumber, HoldingSlot),
        token: (MarketNumber, Outcome),
        change: impl FnOnce(&mut Position) -> Result<(), Impossible>,
    ) -> Result<(), Impossible> {
        let holding = self.holdings.at(slot);
        let profit = (self.positions).change(holding, (account, token), step.at(), change)?;
        self.standings.earn(account, step.now, profit)
    }
}
