//! The end of an audit: what the record added up to, against the state that re-execution reached.

use std::collections::VecDeque;

use foretell_matching::Exchange;
use foretell_model::digest::StateRecord;
use foretell_model::{Lots, Micros, OrderNumber};

use super::{Checked, Holding, Purse, Record, Resting, must};

/// Holdings and orders between the one that is taken and the one that is compared: its counterpart lies
/// anywhere in memory, and is asked for in two steps on the way.
const AHEAD: usize = 16;

/// A comparison under way, record by record of the state that re-execution reached.
#[derive(Debug)]
pub(crate) struct Comparison<'r> {
    own: &'r Record,
    /// Holdings and orders not compared yet: the oldest first. All that is compared at once comes before them
    /// in a state.
    coming: VecDeque<StateRecord>,
    /// The first difference.
    result: Checked,
    orders: usize,
    holdings: usize,
}

impl Comparison<'_> {
    /// Takes the next record of the state. Holdings and orders are compared somewhat later.
    pub(crate) fn take(&mut self, record: &StateRecord) {
        match record {
            StateRecord::Order { .. } => self.orders += 1,
            StateRecord::Position { .. } => self.holdings += 1,
            _ => return self.compare(record),
        }
        self.own.foresee_place(record);
        if let Some(nearer) = self.coming.len().checked_sub(AHEAD / 2) {
            self.own.foresee_record(&self.coming[nearer]);
        }
        self.coming.push_back(*record);
        if self.coming.len() > AHEAD {
            self.compare_next();
        }
    }

    fn compare_next(&mut self) {
        if let Some(record) = self.coming.pop_front() {
            self.compare(&record);
        }
    }

    fn compare(&mut self, record: &StateRecord) {
        if self.result.is_ok() {
            self.result = self.own.compare_record(record);
        }
    }

    /// Once all were taken.
    ///
    /// # Errors
    /// The first that differs, or is on one side alone.
    pub(crate) fn finish(mut self) -> Checked {
        while !self.coming.is_empty() {
            self.compare_next();
        }
        self.result?;
        let own_orders = self.own.books.count();
        must(own_orders == self.orders, || {
            format!(
                "{own_orders} orders rest by the record, {} re-executed",
                self.orders
            )
        })?;
        let own = self.own.ledger.holdings.iter();
        let own = own.filter(|(_, _, holding)| *holding != Holding::default());
        let own = own.count();
        must(own == self.holdings, || {
            format!(
                "{own} holdings by the record, {} re-executed",
                self.holdings
            )
        })
    }
}

impl Record {
    /// Begins to compare every balance, holding, supply and resting order with a state.
    pub(crate) fn comparison(&self) -> Comparison<'_> {
        Comparison {
            own: self,
            coming: VecDeque::with_capacity(AHEAD + 1),
            result: Ok(()),
            orders: 0,
            holdings: 0,
        }
    }

    /// Compares all of them with the core's.
    ///
    /// # Errors
    /// The first that differs.
    pub(crate) fn compare(&self, exchange: &Exchange) -> Checked {
        let mut comparison = self.comparison();
        exchange.visit_state(&mut |record| comparison.take(record));
        comparison.finish()
    }

    /// Brings near what tells where a record's own counterpart lies.
    fn foresee_place(&self, record: &StateRecord) {
        match *record {
            StateRecord::Position {
                account, market, ..
            } => self.ledger.holdings.foresee(account, market),
            StateRecord::Order { order, .. } => self.books.foresee_place(order),
            _ => {}
        }
    }

    /// Once that is near: the counterpart.
    fn foresee_record(&self, record: &StateRecord) {
        match *record {
            StateRecord::Position {
                account, market, ..
            } => self.ledger.holdings.foresee_found(account, market),
            StateRecord::Order { order, .. } => self.books.foresee(order),
            _ => {}
        }
    }

    fn compare_record(&self, record: &StateRecord) -> Checked {
        match *record {
            StateRecord::System {
                collateral, fees, ..
            } => {
                same(
                    "the exchange's collateral",
                    self.ledger.collateral,
                    collateral.0,
                )?;
                same("the fee account", self.ledger.fees, fees.0)
            }
            StateRecord::Account {
                account,
                free,
                reserved,
                ..
            } => {
                let Purse {
                    free: own_free,
                    reserved: own_reserved,
                } = self.ledger.purse(account);
                let own = (Micros(own_free), Micros(own_reserved));
                must(own == (free, reserved), || {
                    format!(
                        "account {account} has {own:?} by the record, {:?} re-executed",
                        (free, reserved)
                    )
                })
            }
            StateRecord::Market { market, supply, .. } => {
                let own = self.ledger.supply(market).map(Lots);
                must(own == supply, || {
                    format!(
                        "market {market} has {own:?} lots by the record, {supply:?} re-executed"
                    )
                })
            }
            StateRecord::Position {
                account,
                market,
                free,
                reserved,
            } => {
                let own = self.ledger.holdings.of(account, market);
                let found = Holding {
                    free: free.map(|lots| lots.0),
                    reserved: reserved.map(|lots| lots.0),
                };
                must(own == found, || {
                    format!(
                        "account {account} holds {own:?} of market {market} by the record, {found:?} re-executed"
                    )
                })
            }
            StateRecord::Order {
                order,
                id,
                account,
                market,
                outcome,
                side,
                price,
                lots,
                expiration,
            } => {
                let found = Resting {
                    id,
                    account,
                    market,
                    outcome,
                    side,
                    price,
                    lots,
                    expiration,
                };
                self.compare_order(order, &found)
            }
            _ => Ok(()),
        }
    }

    fn compare_order(&self, number: OrderNumber, found: &Resting) -> Checked {
        let own = self.books.get(number)?;
        must(own == found, || {
            format!("order {number} is {own:?} by the record, {found:?} re-executed")
        })
    }
}

fn same(what: &str, own: u64, found: u64) -> Checked {
    must(own == found, || {
        format!("{what} is {own} by the record, {found} re-executed")
    })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use foretell_bench::audited_journal::{Contents, with_journal};
    use foretell_journal::Scratch;
    use foretell_matching::{Capacity, Replay};

    use super::*;
    use crate::audit::source::Source;

    /// What the record and re-execution come to.
    fn both(journal: &Path) -> (Record, Vec<StateRecord>) {
        let mut record = Record::default();
        let mut replay = Replay::new(Exchange::new(Capacity::NONE, 0));
        let (mut scratch, mut state) = (Scratch::default(), Vec::new());
        let source = Source::open(journal, false).unwrap();
        let read = source.each(&mut |frame| {
            let frame = frame.decode(&mut scratch).unwrap();
            record.apply(&frame).unwrap();
            replay.execute(&frame).unwrap();
            ControlFlow::Continue(())
        });
        assert!(read.unwrap().is_some());
        replay
            .exchange
            .visit_state(&mut |record| state.push(*record));
        (record, state)
    }

    fn compared(own: &Record, state: &[StateRecord]) -> Checked {
        let mut comparison = own.comparison();
        state.iter().for_each(|record| comparison.take(record));
        comparison.finish()
    }

    #[test]
    fn a_holding_or_an_order_that_differs_is_found_wherever_it_stands() {
        let run = |journal: &Path| {
            let (own, state) = both(journal);
            compared(&own, &state).expect("they are the same");
            let mut altered = 0;
            for place in 0..state.len() {
                let mut state = state.clone();
                match &mut state[place] {
                    StateRecord::Position { free, .. } => free[0].0 += 1,
                    StateRecord::Order { lots, .. } => lots.0 += 1,
                    _ => continue,
                }
                altered += 1;
                assert!(compared(&own, &state).is_err(), "{place}");
            }
            assert!(altered > 4 * AHEAD, "{altered}");
        };
        with_journal(&std::env::temp_dir(), 300, Contents::Stream, run).unwrap();
    }
}
