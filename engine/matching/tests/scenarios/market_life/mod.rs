//! Clocks, delays, rebates, resolution, people (docs/verify/rules.md §21 to §28).

mod clock;
mod delay;
mod people;
mod rebates;
mod resolution;

use foretell_model::command::{AddOperator, SetTerms};
use foretell_model::state::{self, StateRecord};
use foretell_model::{
    CloseReason, Command, CommandOutcome, FeeSchedule, MarketNumber, MarketTerms, Micros,
    OperatorName, OperatorNumber, OperatorRole, OrderStatus, Outcome, PlaceOrder, RejectionReason,
    Side, TimeMs,
};

use crate::world::{Trader, World};

const BUY_YES: (Side, Outcome) = (Side::Buy, Outcome::Yes);
const BUY_NO: (Side, Outcome) = (Side::Buy, Outcome::No);
const SELL_YES: (Side, Outcome) = (Side::Sell, Outcome::Yes);
const FEE: FeeSchedule = FeeSchedule {
    rate_ppm: 40_000,
    exponent: 1,
};

const fn cancelled(orders: u32) -> CommandOutcome {
    CommandOutcome::Cancelled { orders }
}

impl World {
    fn terms(&mut self, market: MarketNumber, change: impl FnOnce(&mut MarketTerms)) -> Command {
        let mut terms = MarketTerms::default();
        change(&mut terms);
        Command::SetTerms(SetTerms {
            market,
            terms: terms.into(),
        })
    }

    fn set_terms(&mut self, market: MarketNumber, change: impl FnOnce(&mut MarketTerms)) {
        let command = self.terms(market, change);
        self.done(&command);
    }

    /// The time in some seconds.
    const fn after(&self, seconds: u64) -> TimeMs {
        TimeMs(self.now.0 / 1_000_000 + seconds * 1_000)
    }

    #[track_caller]
    fn advance(&mut self) -> CommandOutcome {
        self.done(&Command::AdvanceTime)
    }

    #[track_caller]
    fn nothing_due(&mut self) {
        self.refused(&Command::AdvanceTime, RejectionReason::NothingDue);
    }

    #[track_caller]
    fn step(&mut self) -> u64 {
        match self.done(&Command::Step) {
            CommandOutcome::Collateral(paid) => paid.0,
            other => panic!("{other:?}"),
        }
    }

    /// Adds an operator as the first admin.
    fn operator(&mut self, name: &str, role: OperatorRole) -> OperatorNumber {
        let mut token = [1; 32];
        token[..name.len()].copy_from_slice(name.as_bytes());
        let command = Command::AddOperator(AddOperator {
            role,
            name: OperatorName::new(name).unwrap(),
            token,
        });
        let before = std::mem::replace(&mut self.operator, OperatorNumber::FIRST_ADMIN);
        let outcome = self.done(&command);
        self.operator = before;
        match outcome {
            CommandOutcome::Operator(operator) => operator,
            other => panic!("{other:?}"),
        }
    }

    /// Runs some commands as an operator.
    fn by<T>(&mut self, operator: OperatorNumber, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.operator, operator);
        let result = run(self);
        self.operator = before;
        result
    }

    #[track_caller]
    fn delay(&mut self, order: PlaceOrder) -> u64 {
        assert_eq!(self.place(order).status, OrderStatus::Delayed);
        self.exchange.sequence().0
    }

    fn accrued(&self, trader: Trader) -> Micros {
        let mut found = Micros::ZERO;
        self.exchange.visit_state(&mut |record| match record {
            StateRecord::Accrued(state::Accrued { account, amount })
                if *account == trader.account =>
            {
                found = *amount;
            }
            _ => {}
        });
        found
    }

    fn fees(&self) -> Micros {
        let mut found = Micros::ZERO;
        self.exchange.visit_state(&mut |record| {
            if let StateRecord::System(state::System { fees, .. }) = record {
                found = *fees;
            }
        });
        found
    }
}

/// Reasons of closed orders, in order.
fn reasons(world: &World) -> Vec<CloseReason> {
    world
        .closed()
        .into_iter()
        .map(|(_, reason)| reason)
        .collect()
}
