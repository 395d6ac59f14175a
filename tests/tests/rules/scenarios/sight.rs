//! The `see` statements: each subject is rendered as a text and compared whole.

use foretell_model::outside::OUTSIDE_INDEX;
use foretell_model::state::{self, StateRecord};
use foretell_model::{EventNumber, Lots, Micros, Payout, Side, TimeNs};

use crate::scenarios::names::Names;
use crate::scenarios::runner::START;
use crate::scenarios::text;

/// The state of a subject, as text.
///
/// - `book [A]`: orders as `alice 10 @ 0.62`, best first, bids `|` asks, in Yes prices
/// - `alice`: `free … reserved …`, collateral
/// - `alice in A`: `YES free/reserved NO free/reserved`
/// - `supply A`: `YES … NO …`; `event E`: `converted …`; `fees`: the fee account
/// - `accrued alice`: her rebates; `locked E`: collateral that backs the shares of an event group
/// - `tick A`; `due`: seconds from the start until the next due work
pub(crate) fn of(
    subject: &[&str],
    state: &[StateRecord],
    due: Option<TimeNs>,
    names: &Names,
) -> Result<String, String> {
    let usual = names.usual_market.as_deref().unwrap_or("");
    Ok(match *subject {
        ["book"] => book(usual, state, names),
        ["book", market] => book(market, state, names),
        ["supply"] => supply(usual, state, names),
        ["supply", market] => supply(market, state, names),
        ["tick", wanted] => find(state, |record| match record {
            StateRecord::Market(state::Market { market, tick, .. })
                if *market == names.market(wanted) =>
            {
                Some(tick.text().to_owned())
            }
            _ => None,
        })?,
        ["event", wanted] => find(state, |record| match record {
            StateRecord::Event(state::Event {
                event, converted, ..
            }) if *event == names.event(wanted) => {
                Some(format!("converted {}", text::of_shares(*converted)))
            }
            _ => None,
        })?,
        ["fees"] => find(state, |record| match record {
            StateRecord::System(state::System { fees, .. }) => Some(text::of_micros(*fees)),
            _ => None,
        })?,
        ["accrued", account] => text::of_micros(accrued(account, state, names)),
        ["locked", event] => text::of_shares(locked(names.event(event), state)),
        ["due"] => due.map_or("nothing".to_owned(), |due| {
            format!("{}s", (due.0 - START.0) / 1_000_000_000)
        }),
        [account] => collateral(account, state, names)?,
        [account, "in", market] => position(account, market, state, names),
        _ => return Err(format!("nothing to see of {subject:?}")),
    })
}

fn find(
    state: &[StateRecord],
    of: impl Fn(&StateRecord) -> Option<String>,
) -> Result<String, String> {
    state.iter().find_map(of).ok_or_else(|| {
        "the state has no record of this name: create it earlier in the script".to_owned()
    })
}

fn collateral(name: &str, state: &[StateRecord], names: &Names) -> Result<String, String> {
    find(state, |record| match record {
        StateRecord::Account(state::Account {
            account,
            free,
            reserved,
            ..
        }) if *account == names.account(name) => Some(format!(
            "free {} reserved {}",
            text::of_micros(*free),
            text::of_micros(*reserved)
        )),
        _ => None,
    })
}

fn accrued(name: &str, state: &[StateRecord], names: &Names) -> Micros {
    let amounts = state.iter().filter_map(|record| match record {
        StateRecord::Accrued(state::Accrued { account, amount })
            if *account == names.account(name) =>
        {
            Some(*amount)
        }
        _ => None,
    });
    amounts.sum()
}

/// Σ supply(No) + supply(Yes of outside) until a question resolves Yes; then its Yes and the No of the
/// others.
fn locked(wanted: EventNumber, state: &[StateRecord]) -> Lots {
    let (mut no, mut other_no, mut yes) = (Lots::ZERO, Lots::ZERO, None);
    let mut outside = Lots::ZERO;
    for record in state {
        if let StateRecord::Market(state::Market {
            question: Some((event, place)),
            payout,
            supply,
            ..
        }) = record
            && *event == wanted
        {
            no += supply[1];
            if *place == OUTSIDE_INDEX {
                outside = supply[0];
            }
            if *payout == Some(Payout::Yes) {
                yes = Some(supply[0]);
            } else {
                other_no += supply[1];
            }
        }
    }
    yes.map_or(no + outside, |yes| yes + other_no)
}

fn position(name: &str, of: &str, state: &[StateRecord], names: &Names) -> String {
    let held = state.iter().find_map(|record| match record {
        StateRecord::Position(state::Position {
            account,
            market,
            free,
            reserved,
        }) if *account == names.account(name) && *market == names.market(of) => {
            Some((*free, *reserved))
        }
        _ => None,
    });
    let (free, reserved) = held.unwrap_or_default();
    let of_outcome = |outcome: usize| pair(free[outcome], reserved[outcome]);
    format!("YES {} NO {}", of_outcome(0), of_outcome(1))
}

fn pair(free: Lots, reserved: Lots) -> String {
    format!("{}/{}", text::of_shares(free), text::of_shares(reserved))
}

fn supply(of: &str, state: &[StateRecord], names: &Names) -> String {
    let supply = state.iter().find_map(|record| match record {
        StateRecord::Market(state::Market { market, supply, .. })
            if *market == names.market(of) =>
        {
            Some(*supply)
        }
        _ => None,
    });
    let [yes, no] = supply.unwrap_or_default();
    format!("YES {} NO {}", text::of_shares(yes), text::of_shares(no))
}

fn book(of: &str, state: &[StateRecord], names: &Names) -> String {
    let mut sides = [Vec::new(), Vec::new()];
    for record in state {
        if let StateRecord::Order(state::Order {
            account,
            market,
            outcome,
            side,
            price,
            lots,
            ..
        }) = record
            && *market == names.market(of)
        {
            let yes = outcome.index() == 0;
            let price = if yes { *price } else { price.complement() };
            let bid = yes == (*side == Side::Buy);
            sides[usize::from(!bid)].push(format!(
                "{} {} @ {}",
                names.name_of_account(*account),
                text::of_shares(*lots),
                text::of_price(price)
            ));
        }
    }
    let [bids, asks] = sides.map(|orders| {
        if orders.is_empty() {
            "-".to_owned()
        } else {
            orders.join(", ")
        }
    });
    format!("{bids} | {asks}")
}
