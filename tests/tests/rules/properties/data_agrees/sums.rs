//! Invariants over all wallets: every share has a holder, profits and fees of a plain market sum to
//! zero, and the positions of a wallet account for its collateral and so for each fee that it paid.

use std::collections::BTreeMap;

use foretell_model::event::{Deposited, Withdrawn};
use foretell_model::{AccountNumber, Event, Lots, MarketNumber, Outcome};
use foretell_view::{Position, View};

use crate::properties::journal::Journal;
use crate::properties::twin_agrees::coverage::Counts;
use crate::properties::walk::observer::Observer;

/// Frames between two checks.
const EVERY: usize = 23;

/// Sums of the journals of the walk.
pub(crate) struct Sums;

impl Observer for Sums {
    fn name(&self) -> &'static str {
        "sums of the data surface"
    }

    fn end(&mut self, journal: &Journal, _counts: &mut Counts<&'static str>) -> Result<(), String> {
        hold("the walk's journal", journal);
        Ok(())
    }
}

/// Folds a journal into a view and checks it every few frames.
pub(crate) fn hold(name: &str, journal: &Journal) {
    let mut view = View::new([1; 32]);
    let count = journal.frames.len();
    let mut paid_in = BTreeMap::new();
    for (index, frame) in journal.frames.iter().enumerate() {
        view.apply(&frame.as_ref()).expect("the exchange wrote it");
        for event in &frame.events {
            let (account, amount) = match *event {
                Event::Deposited(Deposited { account, amount }) => (account, i128::from(amount.0)),
                Event::Withdrawn(Withdrawn { account, amount }) => (account, -i128::from(amount.0)),
                _ => continue,
            };
            *paid_in.entry(account).or_default() += amount;
        }
        if index % EVERY == 0 || index + 1 == count {
            holders(name, &view);
            profits(name, &view);
            collateral(name, &view, &paid_in);
        }
    }
}

fn holders(name: &str, view: &View) {
    for (number, market) in view.markets().iter() {
        for &outcome in Outcome::ALL {
            let held = view.positions().holders(number, outcome);
            let held: u64 = held.map(|(_, lots)| lots.0).sum();
            let supply = market.supply[outcome.index()].0;
            assert_eq!(held, supply, "{name}: {number} {outcome:?}");
        }
    }
    for (account, _) in view.accounts().iter() {
        for (market, outcome, open) in view.holdings().tokens_of(account, None) {
            let holding = view.holdings().balance(account, market).total(outcome);
            let open = open.map_or(Lots::ZERO, |open| open.position.lots());
            assert_eq!(open, holding, "{name}: {account} {market}");
        }
    }
}

/// The open positions of an account, and its closed ones.
fn positions(
    view: &View,
    account: AccountNumber,
) -> impl Iterator<Item = (MarketNumber, Outcome, Position)> {
    let open = view.holdings().tokens_of(account, None);
    let open = open.filter_map(|(market, outcome, open)| Some((market, outcome, open?.position)));
    let count = view.positions().closed_count(account);
    let closed = view.positions().closed(account, count);
    open.chain(closed.map(|closed| (closed.market, closed.outcome, closed.position)))
}

/// A wallet's collateral is what was paid in and its rebates, with the realized profits of its
/// positions, less cost and fees of what it holds.
fn collateral(name: &str, view: &View, paid_in: &BTreeMap<AccountNumber, i128>) {
    for (account, row) in view.accounts().iter() {
        let moved = positions(view, account)
            .map(|(_, _, position)| position.realized() - position.basis().total());
        let paid_in = paid_in.get(&account).copied().unwrap_or_default();
        let expected = paid_in + i128::from(row.rebates_paid.0) + moved.sum::<i128>();
        assert_eq!(i128::from(row.total().0), expected, "{name}: {account}");
    }
}

/// Realized and unrealized profit of all wallets in a market, and the fees of its trades, in half
/// micros.
fn profit(view: &View, market: MarketNumber) -> i128 {
    let accounts = view.accounts().iter().map(|(account, _)| account);
    let of = |account: AccountNumber| {
        let own = positions(view, account).filter(|(of, ..)| *of == market);
        let profits = own.map(|(market, outcome, position)| {
            let price = view.current_price(market, outcome);
            let worth = price.map_or(0, |price| i128::from(price.half_units()));
            let worth = i128::from(position.lots().0) * worth;
            worth + 2 * (position.realized() - position.basis().total())
        });
        profits.sum::<i128>()
    };
    let trades = view.trades().of_market(market).newest_first();
    let fees = trades.filter_map(|slot| Some(i128::from(view.trade(slot)?.fee.0)));
    accounts.map(of).sum::<i128>() + 2 * fees.sum::<i128>()
}

fn profits(name: &str, view: &View) {
    for (number, market) in view.markets().iter() {
        if market.question.is_none() {
            assert_eq!(profit(view, number), 0, "{name}: {number}");
        }
    }
    for (number, event) in view.events().iter() {
        let questions = event.questions.iter().chain([&event.outside]);
        let profits = questions.clone().map(|market| profit(view, *market));
        // The outside question has no price until it wins.
        let yes = questions.map(|market| {
            let price = view.current_price(*market, Outcome::Yes);
            price.map_or(0, |price| i128::from(price.half_units()))
        });
        // c × (Σ Yes prices − 1), of which one is 20,000 half units.
        let expected = i128::from(event.converted.0) * (yes.sum::<i128>() - 20_000);
        let expected = if event.converted.0 == 0 { 0 } else { expected };
        assert_eq!(profits.sum::<i128>(), expected, "{name}: event {number}");
    }
}
