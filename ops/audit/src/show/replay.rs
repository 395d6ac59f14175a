//! `foretell audit replay`: the state of the exchange at a point in its journal.

use std::ops::ControlFlow;
use std::process::ExitCode;

use foretell_journal::Scratch;
use foretell_matching::Exchange;
use foretell_model::state::{self, StateRecord};
use foretell_model::{AccountNumber, Lots, MarketNumber, Micros, Outcome, Sequence, Side, TimeNs};
use serde_json::{Value, json};

use crate::error::AuditError as Failure;
use crate::prove::execution::{Contradiction, Execution};
use crate::read::source::Source;
use crate::text::Until;
use foretell_terminal::{Output, table};

/// Executes the journal up to `until` and prints the state there.
///
/// # Errors
/// The journal cannot be read, is damaged, or differs from re-execution.
pub(crate) fn run(
    source: &Source,
    until: Option<Until>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let (execution, time) = replay(source, until)?;
    if let Some(Until::Sequence(wanted)) = until
        && execution.exchange().sequence() < wanted
    {
        let last = execution.exchange().sequence();
        return Err(
            Failure::new(format!("the journal ends at {last}, before {wanted}"))
                .code(crate::exit_codes::NOT_FOUND),
        );
    }
    let state = State::of(execution.exchange(), time);
    output.answer(&state.json(), |_| state.text());
    Ok(ExitCode::SUCCESS)
}

fn replay(source: &Source, until: Option<Until>) -> Result<(Execution, TimeNs), Failure> {
    let mut execution = Execution::new();
    let (mut time, mut scratch) = (TimeNs(0), Scratch::default());
    let mut wrong = None;
    if until == Some(Until::Sequence(Sequence(0))) {
        return Ok((execution, time));
    }
    let scanned = source.each(&mut |frame| {
        if matches!(until, Some(Until::Time(limit)) if frame.time() > limit) {
            return ControlFlow::Break(());
        }
        let sequence = frame.sequence();
        let followed = frame
            .decode(&mut scratch)
            .map_err(|error| Contradiction {
                sequence,
                text: error.to_string(),
                unread: None,
            })
            .and_then(|frame| execution.follow(&frame, source));
        if let Err(contradiction) = followed {
            wrong = Some(contradiction);
            return ControlFlow::Break(());
        }
        time = frame.time();
        if until == Some(Until::Sequence(sequence)) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    match wrong {
        Some(contradiction) => Err(contradiction.failure(source)),
        None => match scanned {
            Ok(_) => Ok((execution, time)),
            Err(error) => Err(source.failure(&error)),
        },
    }
}

/// The state in the names of the public interface.
struct State {
    sequence: Sequence,
    time: TimeNs,
    digest: [u8; 32],
    collateral: Micros,
    fees: Micros,
    accounts: Vec<AccountState>,
    markets: Vec<MarketState>,
    holdings: Vec<ShareBalance>,
    orders: Vec<RestingOrder>,
}

struct AccountState {
    wallet: String,
    free: Micros,
    reserved: Micros,
}

struct MarketState {
    condition: String,
    tokens: [String; 2],
    state: String,
    supply: [Lots; 2],
}

struct ShareBalance {
    account: AccountNumber,
    market: MarketNumber,
    free: [Lots; 2],
    reserved: [Lots; 2],
}

struct RestingOrder {
    id: String,
    number: u64,
    account: AccountNumber,
    market: MarketNumber,
    outcome: Outcome,
    side: Side,
    /// Price in the order's own token, in units of 0.0001.
    price: u16,
    lots: Lots,
}

impl State {
    fn of(exchange: &Exchange, time: TimeNs) -> Self {
        let mut state = Self {
            sequence: exchange.sequence(),
            time,
            digest: exchange.digest(),
            collateral: Micros::ZERO,
            fees: Micros::ZERO,
            accounts: Vec::new(),
            markets: Vec::new(),
            holdings: Vec::new(),
            orders: Vec::new(),
        };
        exchange.visit_state(&mut |record| state.take(record));
        state
    }

    fn take(&mut self, record: &StateRecord) {
        match *record {
            StateRecord::System(state::System {
                collateral, fees, ..
            }) => {
                (self.collateral, self.fees) = (collateral, fees);
            }
            StateRecord::Account(state::Account {
                wallet,
                free,
                reserved,
                ..
            }) => self.accounts.push(AccountState {
                wallet: wallet.to_string(),
                free,
                reserved,
            }),
            StateRecord::Market(state::Market {
                condition,
                tokens,
                state,
                supply,
                ..
            }) => {
                self.markets.push(MarketState {
                    condition: condition.to_string(),
                    tokens: tokens.map(|token| token.to_string()),
                    state: format!("{state:?}").to_lowercase(),
                    supply,
                });
            }
            StateRecord::Position(state::Position {
                account,
                market,
                free,
                reserved,
            }) => {
                self.holdings.push(ShareBalance {
                    account,
                    market,
                    free,
                    reserved,
                });
            }
            StateRecord::Order(state::Order {
                order,
                id,
                account,
                market,
                outcome,
                side,
                price,
                lots,
                ..
            }) => {
                self.orders.push(RestingOrder {
                    id: id.to_string(),
                    number: order.0,
                    account,
                    market,
                    outcome,
                    side,
                    price: price.0,
                    lots,
                });
            }
            _ => {}
        }
    }

    fn wallet(&self, account: AccountNumber) -> &str {
        self.accounts
            .get(account.0 as usize)
            .map_or("-", |account| &account.wallet)
    }

    fn condition(&self, market: MarketNumber) -> &str {
        self.markets
            .get(market.0 as usize)
            .map_or("-", |market| &market.condition)
    }

    /// Whole micros and lots, so that programs compare exactly.
    fn json(&self) -> Value {
        let accounts = self.accounts.iter().map(|account| {
            json!({
                "wallet": account.wallet,
                "free_micros": account.free.0,
                "reserved_micros": account.reserved.0,
            })
        });
        let markets = self.markets.iter().map(|market| {
            json!({
                "condition_id": market.condition,
                "token_ids": market.tokens,
                "state": market.state,
                "supply_lots": market.supply.map(|lots| lots.0),
            })
        });
        let holdings = self.holdings.iter().map(|held| {
            json!({
                "wallet": self.wallet(held.account),
                "condition_id": self.condition(held.market),
                "free_lots": held.free.map(|lots| lots.0),
                "reserved_lots": held.reserved.map(|lots| lots.0),
            })
        });
        let orders = self.orders.iter().map(|order| {
            json!({
                "order_id": order.id,
                "sequence": order.number,
                "wallet": self.wallet(order.account),
                "condition_id": self.condition(order.market),
                "outcome": order.outcome.code(),
                "side": side(order.side),
                "price_units": order.price,
                "lots": order.lots.0,
            })
        });
        json!({
            "sequence": self.sequence.0,
            "time": self.time,
            "digest": hex::encode(self.digest),
            "collateral_micros": self.collateral.0,
            "fee_account_micros": self.fees.0,
            "accounts": accounts.collect::<Vec<_>>(),
            "markets": markets.collect::<Vec<_>>(),
            "holdings": holdings.collect::<Vec<_>>(),
            "orders": orders.collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let row = |cells: &[&str]| {
            cells
                .iter()
                .map(|cell| (*cell).to_owned())
                .collect::<Vec<_>>()
        };
        let mut balances = vec![row(&["wallet", "free", "reserved"])];
        balances.extend(self.accounts.iter().map(|account| {
            row(&[
                &account.wallet,
                &account.free.to_string(),
                &account.reserved.to_string(),
            ])
        }));
        let mut held = vec![row(&["wallet", "market", "yes", "no"])];
        held.extend(self.holdings.iter().map(|holding| {
            let all = |place: usize| (holding.free[place] + holding.reserved[place]).to_string();
            row(&[
                self.wallet(holding.account),
                self.condition(holding.market),
                &all(0),
                &all(1),
            ])
        }));
        format!(
            "sequence {} at {}\nstate digest {}\ncollateral {}, of it fees {}\n\n{}\n{}\n{}",
            self.sequence,
            self.time,
            hex::encode(self.digest),
            self.collateral,
            self.fees,
            table(&balances),
            table(&held),
            self.books(),
        )
    }

    /// Every resting order in Yes prices, by market, bids then asks, best first.
    fn books(&self) -> String {
        let mut text = String::new();
        for (number, market) in (0..).map(MarketNumber).zip(&self.markets) {
            text += &format!(
                "market {} {}: {} yes, {} no exist\n",
                market.condition, market.state, market.supply[0], market.supply[1]
            );
            for order in self.orders.iter().filter(|order| order.market == number) {
                text += &format!(
                    "  {:4} {:3} {} at {}  {}\n",
                    side(order.side),
                    format!("{:?}", order.outcome),
                    order.lots,
                    order.price,
                    self.wallet(order.account)
                );
            }
        }
        text
    }
}

const fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}
