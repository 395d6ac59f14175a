//! Positions by the definitions of docs/verify/rules.md §18.

use std::collections::BTreeMap;

/// Account, market, outcome.
pub(crate) type Key = (usize, usize, usize);

/// Shares in lots, money in micros.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Held {
    pub(crate) lots: i128,
    pub(crate) cost: i128,
    pub(crate) fees: i128,
    pub(crate) bought: i128,
    pub(crate) spent: i128,
    pub(crate) realized: i128,
    pub(crate) second: u64,
}

/// A position whose size reached 0, and the command that closed it.
#[derive(Clone, Copy)]
pub(crate) struct Closed {
    pub(crate) key: Key,
    pub(crate) held: Held,
    pub(crate) sequence: u64,
}

/// All positions that are open.
#[derive(Default)]
pub(crate) struct Positions {
    pub(crate) open: BTreeMap<Key, Held>,
    /// Profits since they were last taken away, by account.
    pub(crate) earned: Vec<(usize, i128)>,
}

impl Positions {
    /// Adds shares with their cost and their fees.
    pub(crate) fn buy(&mut self, key: Key, lots: i128, (cost, fees): (i128, i128), second: u64) {
        let held = self.open.entry(key).or_default();
        held.lots += lots;
        held.cost += cost;
        held.fees += fees;
        held.bought += lots;
        held.spent += cost;
        held.second = second;
    }

    /// Takes shares away for proceeds, less what a fee took of them.
    pub(crate) fn sell(&mut self, key: Key, lots: i128, proceeds: i128, second: u64) {
        if lots > 0 {
            let (cost, fees) = self.give(key, lots, second);
            self.earn(key, proceeds - cost - fees);
        }
    }

    /// Takes shares away; returns their cost and their fees.
    pub(crate) fn give(&mut self, key: Key, lots: i128, second: u64) -> (i128, i128) {
        let held = self.open.get_mut(&key).expect("it is held");
        assert!(lots <= held.lots);
        let part = |whole: i128| match lots == held.lots {
            true => whole,
            false => floor(whole * lots, held.lots),
        };
        let (cost, fees) = (part(held.cost), part(held.fees));
        held.lots -= lots;
        held.cost -= cost;
        held.fees -= fees;
        held.second = second;
        (cost, fees)
    }

    pub(crate) fn earn(&mut self, key: Key, profit: i128) {
        self.open.get_mut(&key).expect("it was held").realized += profit;
        self.earned.push((key.0, profit));
    }

    /// Removes and returns the positions that a command has closed.
    pub(crate) fn take_closed(&mut self, sequence: u64) -> Vec<Closed> {
        let empty = self.open.iter().filter(|(_, held)| held.lots == 0);
        let keys: Vec<Key> = empty.map(|(key, _)| *key).collect();
        let close = |key| Closed {
            key,
            held: self.open.remove(&key).expect("it was seen"),
            sequence,
        };
        keys.into_iter().map(close).collect()
    }
}

/// The quotient rounded toward −∞; the divisor is positive.
fn floor(dividend: i128, divisor: i128) -> i128 {
    let quotient = dividend / divisor;
    if dividend % divisor < 0 {
        quotient - 1
    } else {
        quotient
    }
}

/// Equal parts, floored; the first one gets the remainder.
pub(crate) fn floor_parts(amount: i128, count: usize) -> Vec<i128> {
    let each = floor(amount, i128::try_from(count).expect("few"));
    let mut parts = vec![each; count];
    parts[0] += amount - parts.iter().sum::<i128>();
    parts
}
