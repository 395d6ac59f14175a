//! Invariants over all wallets: every share has a holder, and the profits of a plain market sum to
//! zero (without fees).

use foretell_model::{AccountNumber, FramePosition, FrameRef, Lots, MarketNumber, Outcome};
use foretell_view::View;

use crate::data_agrees::journal::Journal;

/// Frames between two checks.
const EVERY: usize = 23;

/// Folds a journal into a view and checks it every few frames.
pub(crate) fn hold(name: &str, journal: &Journal) {
    let mut view = View::new([1; 32]);
    let count = journal.frames.len();
    for (index, frame) in journal.frames.iter().enumerate() {
        let frame = FrameRef {
            operator: foretell_model::OperatorNumber::NONE,
            touched: 0,
            sequence: frame.sequence,
            time: frame.time,
            command: &frame.command,
            events: &frame.events,
            evidence: &frame.evidence,
            place: FramePosition::default(),
        };
        view.apply(&frame).expect("the exchange wrote it");
        if index % EVERY == 0 || index + 1 == count {
            holders(name, &view);
            profits(name, &view);
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

/// Realized and unrealized profit of all wallets in a market, in half micros.
fn profit(view: &View, market: MarketNumber) -> i128 {
    let accounts = view.accounts().iter().map(|(account, _)| account);
    let of = |account: AccountNumber| {
        let open = Outcome::ALL.iter().filter_map(|&outcome| {
            let position = view.holdings().open(account, market, outcome)?.position;
            let price = view.current_price(market, outcome)?.half_units();
            let worth = i128::from(position.lots().0) * i128::from(price);
            Some(worth - 2 * position.cost() + 2 * position.realized())
        });
        let count = view.positions().closed_count(account);
        let closed = view.positions().closed(account, count);
        let closed = closed.filter(|closed| closed.market == market);
        let closed = closed.map(|closed| 2 * closed.position.realized());
        open.sum::<i128>() + closed.sum::<i128>()
    };
    accounts.map(of).sum()
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
