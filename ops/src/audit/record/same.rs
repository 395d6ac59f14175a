//! The end of an audit: what the record added up to, against the state that re-execution reached.

use foretell_matching::Exchange;
use foretell_model::digest::StateRecord;
use foretell_model::{Lots, Micros, OrderNumber};

use super::{Checked, Holding, Purse, Record, Resting, must};

impl Record {
    /// Compares every balance, holding, supply and resting order with the core's.
    ///
    /// # Errors
    /// The first that differs.
    pub(crate) fn compare(&self, exchange: &Exchange) -> Checked {
        let (mut result, mut orders, mut holdings) = (Ok(()), 0, 0);
        exchange.visit_state(&mut |record| {
            if result.is_err() {
                return;
            }
            orders += usize::from(matches!(record, StateRecord::Order { .. }));
            holdings += usize::from(matches!(record, StateRecord::Position { .. }));
            result = self.compare_record(record);
        });
        result?;
        let own_orders = self.books.count();
        must(own_orders == orders, || {
            format!("{own_orders} orders rest by the record, {orders} re-executed")
        })?;
        let own = self
            .ledger
            .holdings()
            .filter(|(_, _, holding)| *holding != Holding::default());
        let own = own.count();
        must(own == holdings, || {
            format!("{own} holdings by the record, {holdings} re-executed")
        })
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
                let own = self.ledger.holding(account, market);
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
