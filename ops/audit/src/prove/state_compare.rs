//! The end of an audit: the money and shares of the fold, compared with the state that re-execution
//! reached.

use std::fmt::Display;

use foretell_model::state::StateRecord;
use foretell_model::{Lots, Micros};

use crate::finding::{Check, ensure};
use crate::prove::conservation::Conservation;

/// A comparison under way, record by record of the state.
#[derive(Debug)]
pub(crate) struct StateCompare<'f> {
    own: &'f Conservation,
    /// The first difference.
    result: Check,
    holdings: usize,
}

impl<'f> StateCompare<'f> {
    pub(crate) const fn new(own: &'f Conservation) -> Self {
        Self {
            own,
            result: Ok(()),
            holdings: 0,
        }
    }

    /// Compares the next record of the state.
    pub(crate) fn take(&mut self, record: &StateRecord) {
        self.holdings += usize::from(matches!(record, StateRecord::Position(_)));
        if self.result.is_ok() {
            self.result = self.compare(record);
        }
    }

    /// Once all records were taken.
    ///
    /// # Errors
    /// The first that differs, or is on one side alone.
    pub(crate) fn finish(self) -> Check {
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
            StateRecord::System(system) => same(
                [self.own.collateral, self.own.fees].map(Micros),
                [system.collateral, system.fees],
                || "the exchange's collateral and fees are".to_owned(),
            ),
            StateRecord::Account(state) => same(
                [Micros(self.own.cash_of(state.account))],
                [state.free + state.reserved],
                || format!("account {} has", state.account),
            ),
            StateRecord::Market(state) => same(
                self.own.supply(state.market).map(Lots),
                state.supply,
                || format!("shares of market {}, Yes and No:", state.market),
            ),
            StateRecord::Position(state) => {
                let (account, market) = (state.account, state.market);
                same(
                    self.own.holding(account, market).map(Lots),
                    [0, 1].map(|index| state.free[index] + state.reserved[index]),
                    || format!("account {account}'s shares of market {market}, Yes and No:"),
                )
            }
            _ => Ok(()),
        }
    }
}

/// Compares what the fold and re-execution come to.
fn same<T: PartialEq + Display, const N: usize>(
    own: [T; N],
    executed: [T; N],
    what: impl FnOnce() -> String,
) -> Check {
    ensure(own == executed, || {
        let [own, executed] =
            [own, executed].map(|amounts| amounts.map(|it| it.to_string()).join(" and "));
        format!("{} {own} by the record, {executed} re-executed", what())
    })
}

#[cfg(test)]
mod tests {
    use foretell_fixtures::{market, order_id, trader};
    use foretell_matching::{Capacity, Exchange};
    use foretell_model::state;
    use foretell_model::{Command, CommandStamp, FramePosition, FrameRef, TimeNs, Verdict};

    use super::*;
    use crate::prove::registry::Registry;

    /// Both parties of a trade with a fee hold money and shares.
    fn commands() -> Vec<Command> {
        let market = market(0).fee(20_000);
        let mut commands = Vec::from(market.open());
        for trader in [trader(0), trader(1)] {
            commands.extend(trader.open(1_000));
            commands.push(trader.split(market.number, 100));
        }
        let orders = [trader(0).sell(10), trader(1).buy(10).id(order_id(1))];
        commands.extend(orders.map(|order| order.at("0.5").place()));
        commands
    }

    /// What the fold and the core come to.
    fn both() -> (Conservation, Vec<StateRecord>) {
        let mut exchange = Exchange::new(Capacity::NONE, 0);
        let (mut registry, mut conservation) = (Registry::default(), Conservation::default());
        let (mut events, mut state) = (Vec::new(), Vec::new());
        for command in commands() {
            events.clear();
            let stamp = CommandStamp::at(TimeNs(1));
            let verdict = exchange.apply(&command, stamp, &mut events);
            assert!(
                matches!(verdict, Verdict::Applied(_)),
                "{command:?}: {verdict:?}"
            );
            let frame = FrameRef {
                sequence: exchange.sequence(),
                time: stamp.time,
                operator: stamp.operator,
                touched: stamp.touched,
                command: &command,
                events: &events,
                evidence: &[],
                place: FramePosition::default(),
            };
            for event in &events {
                registry.fold(&frame, event).unwrap();
                conservation.fold(&frame, event, &registry).unwrap();
            }
            conservation.check(&registry).unwrap();
        }
        exchange.visit_state(&mut |record| state.push(*record));
        (conservation, state)
    }

    fn compared(own: &Conservation, state: &[StateRecord]) -> Check {
        let mut comparison = StateCompare::new(own);
        state.iter().for_each(|record| comparison.take(record));
        comparison.finish()
    }

    #[test]
    fn a_balance_that_differs_is_found_wherever_it_stands() {
        let (own, state) = both();
        assert!(own.fees > 0, "a trade with a fee");
        compared(&own, &state).expect("they are the same");
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
            assert!(compared(&own, &state).is_err(), "{index}");
            if matches!(state[index], StateRecord::Position(_)) {
                left_out += 1;
                state.remove(index);
                assert!(compared(&own, &state).is_err(), "{index}");
            }
        }
        assert_eq!((altered, left_out), (6, 2), "of all kinds");
    }
}
