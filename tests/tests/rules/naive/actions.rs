//! Account actions, and what they do to positions and supplies.

use foretell_model::event::{Converted, RebatePaid, Redeemed};
use foretell_model::{AccountNumber, Event, MarketNumber};

use crate::naive::positions::{Key, floor_parts};
use crate::naive::{Action, NO_MARKET, Naive};

fn of(account: AccountNumber, market: MarketNumber) -> (usize, usize) {
    (account.0 as usize, market.0 as usize)
}

impl Naive {
    pub(crate) fn fold_action(&mut self, event: &Event) {
        match event {
            Event::Split(it) => {
                let (key, lots) = (of(it.account, it.market), i128::from(it.lots.0));
                for outcome in 0..2 {
                    let cost = (lots * 5_000, 0);
                    let second = self.second();
                    self.positions
                        .buy((key.0, key.1, outcome), lots, cost, second);
                    self.markets[key.1].supply[outcome] += lots;
                }
                self.act("SPLIT", key, (lots, lots * 10_000));
            }
            Event::Merged(it) => {
                let (key, lots) = (of(it.account, it.market), i128::from(it.lots.0));
                for outcome in 0..2 {
                    self.sell((key.0, key.1, outcome), lots, lots * 5_000);
                }
                self.act("MERGE", key, (lots, lots * 10_000));
            }
            Event::Redeemed(redeemed) => self.redeem(redeemed),
            Event::Converted(converted) => self.convert(converted),
            Event::RebatePaid(RebatePaid { account, amount }) => {
                let amount = i128::from(amount.0);
                let key = (account.0 as usize, NO_MARKET);
                self.act("MAKER_REBATE", key, (amount / 10_000, amount));
            }
            _ => {}
        }
    }

    /// Takes shares off an account and off the supply.
    fn sell(&mut self, key: Key, lots: i128, proceeds: i128) {
        self.positions.sell(key, lots, proceeds, self.second());
        self.markets[key.1].supply[key.2] -= lots;
    }

    fn act(
        &mut self,
        kind: &'static str,
        (account, market): (usize, usize),
        (lots, collateral): (i128, i128),
    ) {
        self.actions.push(Action {
            kind,
            account,
            market,
            outcome: None,
            lots,
            collateral,
            second: self.second(),
            sequence: self.last.0,
        });
    }

    fn redeem(&mut self, redeemed: &Redeemed) {
        let key = of(redeemed.account, redeemed.market);
        let market = &self.markets[key.1];
        if !market.is_shown() {
            return;
        }
        let pays = market.pays.expect("it is resolved");
        for (outcome, (lots, pays)) in redeemed.lots.iter().zip(pays).enumerate() {
            let lots = i128::from(lots.0);
            self.sell((key.0, key.1, outcome), lots, lots * pays);
            if lots > 0 {
                self.act("REDEEM", key, (lots, lots * pays));
                let action = self.actions.last_mut();
                action.expect("it was added").outcome = Some(outcome);
            }
        }
    }

    fn convert(&mut self, converted: &Converted) {
        let (account, event) = (converted.account.0 as usize, converted.event.0 as usize);
        let lots = i128::from(converted.lots.0);
        let all = self.groups[event].questions.iter().zip(0..);
        let (given, others): (Vec<_>, Vec<_>) =
            all.partition(|(_, place)| converted.questions.contains(*place));
        let given: Vec<usize> = given.into_iter().map(|(market, _)| *market).collect();
        let others = others.into_iter().map(|(market, _)| *market);
        let others = others.filter(|market| self.markets[*market].pays.is_none());
        let others: Vec<usize> = others.collect();
        let collateral = lots * 10_000 * (i128::try_from(given.len()).expect("few") - 1);
        self.swap(account, &given, &others, (lots, collateral));
        let (outside, second) = (self.groups[event].outside, self.second());
        self.markets[outside].supply[0] += lots;
        let held = self.outside.entry((outside, account)).or_default();
        *held = (held.0 + lots, second);
        self.act("CONVERSION", (account, given[0]), (lots, collateral));
    }

    /// No of the given questions for Yes of the others, and collateral.
    fn swap(
        &mut self,
        account: usize,
        given: &[usize],
        others: &[usize],
        (lots, collateral): (i128, i128),
    ) {
        let second = self.second();
        let no = |market: usize| -> Key { (account, market, 1) };
        let (mut cost, mut fees) = (0, 0);
        for &market in given {
            let (of_cost, of_fees) = self.positions.give(no(market), lots, second);
            (cost, fees) = (cost + of_cost, fees + of_fees);
            self.markets[market].supply[1] -= lots;
        }
        if others.is_empty() {
            let parts = floor_parts(collateral - cost - fees, given.len());
            for (&market, part) in given.iter().zip(parts) {
                self.positions.earn(no(market), part);
            }
        } else {
            let costs = floor_parts(cost - collateral, others.len());
            let parts = costs.into_iter().zip(floor_parts(fees, others.len()));
            for (&market, part) in others.iter().zip(parts) {
                self.positions.buy((account, market, 0), lots, part, second);
                self.markets[market].supply[0] += lots;
            }
        }
    }
}
