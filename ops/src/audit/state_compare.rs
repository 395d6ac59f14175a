//! The end of an audit: the money and shares of the fold, compared with the state that re-execution
//! reached.

use foretell_model::state::{self, StateRecord};
use foretell_model::{AccountNumber, Lots, Micros};

use super::conservation::Conservation;
use super::violation::{Check, ensure};

/// A comparison under way, record by record of the state.
#[derive(Debug)]
pub(super) struct StateCompare<'f> {
    own: &'f Conservation,
    /// The first difference.
    result: Check,
    holdings: usize,
}

impl<'f> StateCompare<'f> {
    pub(super) const fn new(own: &'f Conservation) -> Self {
        Self {
            own,
            result: Ok(()),
            holdings: 0,
        }
    }

    /// Compares the next record of the state.
    pub(super) fn take(&mut self, record: &StateRecord) {
        self.holdings += usize::from(matches!(record, StateRecord::Position(_)));
        if self.result.is_ok() {
            self.result = self.compare(record);
        }
    }

    /// Once all records were taken.
    ///
    /// # Errors
    /// The first that differs, or is on one side alone.
    pub(super) fn finish(self) -> Check {
        self.result?;
        let own = self.own.count_holdings();
        ensure(own == self.holdings, || {
            format!(
                "{own} holdings by the record, {} re-executed",
                self.holdings
            )
        })
    }

    fn compare(&self, record: &StateRecord) -> Check {
        match *record {
            StateRecord::System(state::System {
                collateral, fees, ..
            }) => {
                let own = [self.own.collateral, self.own.fees].map(Micros);
                ensure(own == [collateral, fees], || {
                    format!(
                        "the exchange's collateral and its fees are {own:?} by the record, {:?} re-executed",
                        [collateral, fees]
                    )
                })
            }
            StateRecord::Account(state::Account {
                account,
                free,
                reserved,
                ..
            }) => self.compare_cash(account, free + reserved),
            StateRecord::Market(state::Market { market, supply, .. }) => {
                let own = self.own.supply(market).map(Lots);
                ensure(own == supply, || {
                    format!("market {market} has {own:?} by the record, {supply:?} re-executed")
                })
            }
            StateRecord::Position(state::Position {
                account,
                market,
                free,
                reserved,
            }) => {
                let own = self.own.holding(account, market).map(Lots);
                let held = [free[0] + reserved[0], free[1] + reserved[1]];
                ensure(own == held, || {
                    format!(
                        "account {account} holds {own:?} of market {market} by the record, {held:?} re-executed"
                    )
                })
            }
            _ => Ok(()),
        }
    }

    fn compare_cash(&self, account: AccountNumber, executed: Micros) -> Check {
        let own = Micros(self.own.cash_of(account));
        ensure(own == executed, || {
            format!("account {account} has {own:?} by the record, {executed:?} re-executed")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use foretell_bench::workloads::journals::{Contents, with_journal};
    use foretell_journal::Scratch;
    use foretell_matching::{Capacity, Exchange, Replay};

    use super::*;
    use crate::audit::fold::Fold;
    use crate::audit::source::Source;

    /// What the fold and re-execution come to.
    fn both(journal: &Path) -> (Fold, Vec<StateRecord>) {
        let mut fold = Fold::default();
        let mut replay = Replay::new(Exchange::new(Capacity::NONE, 0));
        let (mut scratch, mut state) = (Scratch::default(), Vec::new());
        let source = Source::open(journal, false).unwrap();
        let read = source.each(&mut |frame| {
            let frame = frame.decode(&mut scratch).unwrap();
            fold.apply(&frame).unwrap();
            replay.execute(&frame).unwrap();
            ControlFlow::Continue(())
        });
        assert!(read.unwrap().is_some());
        let exchange = &replay.exchange;
        exchange.visit_state(&mut |record| state.push(*record));
        (fold, state)
    }

    fn compared(fold: &Fold, state: &[StateRecord]) -> Check {
        let mut comparison = StateCompare::new(&fold.conservation);
        state.iter().for_each(|record| comparison.take(record));
        comparison.finish()
    }

    #[test]
    fn a_balance_that_differs_is_found_wherever_it_stands() {
        let run = |journal: &Path| {
            let (fold, state) = both(journal);
            compared(&fold, &state).expect("they are the same");
            let (mut altered, mut left_out) = (0, 0);
            for index in 0..state.len() {
                let mut state = state.clone();
                match &mut state[index] {
                    StateRecord::System(state::System { fees, .. }) => fees.0 += 1,
                    StateRecord::Account(state::Account { reserved, .. }) => reserved.0 += 1,
                    StateRecord::Market(state::Market { supply, .. }) => supply[1].0 += 1,
                    StateRecord::Position(state::Position { free, .. }) => free[0].0 += 1,
                    _ => continue,
                }
                altered += 1;
                assert!(compared(&fold, &state).is_err(), "{index}");
                if matches!(state[index], StateRecord::Position(_)) {
                    left_out += 1;
                    state.remove(index);
                    assert!(compared(&fold, &state).is_err(), "{index}");
                }
            }
            assert!(altered > 60 && left_out > 20, "{altered} {left_out}");
        };
        with_journal(&std::env::temp_dir(), 300, Contents::Stream, run).unwrap();
    }
}
