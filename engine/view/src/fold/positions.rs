//! Positions (docs/verify/rules.md §18): effects of trades, splits, merges, redeems and converts on
//! cost, fees and profit.

use foretell_model::{AccountNumber, Lots, MarketNumber, Micros, Outcome, Side};

use super::FoldStep;
use super::trading::Leg;
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

    /// Moves cost and fees of the given No to the received Yes.
    pub(super) fn convert_positions(
        &mut self,
        step: &FoldStep<'_>,
        account: AccountNumber,
        (no, yes, outside): (&[MarketNumber], &[MarketNumber], MarketNumber),
        lots: Lots,
    ) -> Result<(), Impossible> {
        let mut removed = Basis::default();
        for &market in no {
            let held = self.holdings.open(account, market, Outcome::No);
            let mut held = held.ok_or(Impossible::AmountOutOfRange)?;
            removed += held.position.give(lots)?;
        }
        let count = |markets: &[MarketNumber]| u32::try_from(markets.len());
        let (given, others) = count(no)
            .and_then(|no| Ok((no, count(yes)?)))
            .map_err(|_| Impossible::Full)?;
        let conversion = Conversion::new(lots, removed, given, given.saturating_add(others));
        for (nth, &market) in (0..).zip(no) {
            self.change_position(step, account, (market, Outcome::No), |position| {
                position.give(lots)?;
                position.realize(conversion.no_profit(nth));
                Ok(())
            })?;
        }
        for (nth, &market) in (0..).zip(yes) {
            self.change_position(step, account, (market, Outcome::Yes), |position| {
                position.buy(lots, conversion.yes_basis(nth));
                Ok(())
            })?;
        }
        // It carries no cost, so nothing changes when a listed question wins.
        self.change_position(step, account, (outside, Outcome::Yes), |position| {
            position.buy(lots, Basis::default());
            Ok(())
        })
    }

    pub(super) fn each_outcome(
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

    pub(super) fn change_position(
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
