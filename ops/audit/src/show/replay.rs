//! `foretell audit replay`: the state of the exchange at a point in its journal.

use std::collections::BTreeMap;
use std::fmt;
use std::process::ExitCode;

use crate::error::AuditError;
use foretell_matching::Exchange;
use foretell_model::state::StateRecord;
use foretell_model::{
    AccountNumber, ConditionId, Lots, MarketNumber, Micros, OrderId, Outcome, Price, Sequence,
    TimeNs, TokenId, WalletAddress,
};
use foretell_terminal::{Output, table};
use foretell_wire::text::words::{side_text, state_word};
use serde::{Serialize, Serializer};

use crate::arguments::Until;
use crate::digits;
use crate::exit_codes::NOT_FOUND;
use crate::finding::Stop;
use crate::prove::execution::Execution;
use crate::read::source::Source;
use crate::record_text::word;

/// Executes the journal up to `until` and prints the state there.
///
/// # Errors
/// The journal cannot be read, is damaged, or differs from re-execution.
pub(crate) fn run(source: &Source, until: Option<Until>, output: Output) -> Result<ExitCode, Stop> {
    let (execution, time) = replay(source, until)?;
    let last = execution.exchange().sequence();
    if let Some(Until::Sequence(wanted)) = until
        && last < wanted
    {
        let text = format!("the journal ends at {last}, before {wanted}");
        return Err(AuditError::new(text).code(NOT_FOUND).into());
    }
    output.print(&State::of(execution.exchange(), time));
    Ok(ExitCode::SUCCESS)
}

fn replay(source: &Source, until: Option<Until>) -> Result<(Execution, TimeNs), Stop> {
    let (mut execution, mut time) = (Execution::new(), TimeNs(0));
    let mut frames = source.frames()?;
    while until != Some(Until::Sequence(execution.exchange().sequence())) {
        match frames.next_decoded()? {
            Some((frame, records)) if until.is_none_or(|until| until.includes(&frame)) => {
                execution.follow(&records, source)?;
                time = frame.time();
            }
            _ => break,
        }
    }
    Ok((execution, time))
}

/// The state in the names of the public interface; whole micros and lots, so that programs compare
/// exactly.
#[derive(Debug, Serialize)]
struct State {
    sequence: Sequence,
    time: TimeNs,
    #[serde(serialize_with = "digits::hex")]
    digest: [u8; 32],
    collateral_micros: u64,
    fee_account_micros: u64,
    accounts: Vec<AccountState>,
    markets: Vec<MarketState>,
    holdings: Vec<ShareBalance>,
    orders: Vec<RestingOrder>,
}

#[derive(Debug, Serialize)]
struct AccountState {
    wallet: WalletAddress,
    free_micros: u64,
    reserved_micros: u64,
}

#[derive(Debug, Serialize)]
struct MarketState {
    condition_id: ConditionId,
    token_ids: [TokenId; 2],
    state: &'static str,
    supply_lots: [u64; 2],
}

#[derive(Debug, Serialize)]
struct ShareBalance {
    wallet: WalletAddress,
    condition_id: ConditionId,
    free_lots: [u64; 2],
    reserved_lots: [u64; 2],
}

#[derive(Debug, Serialize)]
struct RestingOrder {
    order_id: OrderId,
    sequence: Sequence,
    wallet: WalletAddress,
    condition_id: ConditionId,
    #[serde(serialize_with = "code")]
    outcome: Outcome,
    side: &'static str,
    /// Price in the order's own token, in units of 0.0001.
    price_units: u16,
    lots: u64,
}

fn code<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(outcome.code())
}

impl State {
    fn of(exchange: &Exchange, time: TimeNs) -> Self {
        let mut state = Self {
            sequence: exchange.sequence(),
            time,
            digest: exchange.digest(),
            collateral_micros: 0,
            fee_account_micros: 0,
            accounts: Vec::new(),
            markets: Vec::new(),
            holdings: Vec::new(),
            orders: Vec::new(),
        };
        exchange.visit_state(&mut |record| state.take(record));
        state
    }

    /// Accounts and markets come before the records that name them by number.
    fn take(&mut self, record: &StateRecord) {
        match *record {
            StateRecord::System(system) => {
                self.collateral_micros = system.collateral.0;
                self.fee_account_micros = system.fees.0;
            }
            StateRecord::Account(account) => self.accounts.push(AccountState {
                wallet: account.wallet,
                free_micros: account.free.0,
                reserved_micros: account.reserved.0,
            }),
            StateRecord::Market(market) => self.markets.push(MarketState {
                condition_id: market.condition,
                token_ids: market.tokens,
                state: state_word(market.state),
                supply_lots: market.supply.map(|lots| lots.0),
            }),
            StateRecord::Position(position) => self.holdings.push(ShareBalance {
                wallet: self.wallet(position.account),
                condition_id: self.condition(position.market),
                free_lots: position.free.map(|lots| lots.0),
                reserved_lots: position.reserved.map(|lots| lots.0),
            }),
            StateRecord::Order(order) => self.orders.push(RestingOrder {
                order_id: order.id,
                sequence: order.order.sequence(),
                wallet: self.wallet(order.account),
                condition_id: self.condition(order.market),
                outcome: order.outcome,
                side: side_text(order.side),
                price_units: order.price.0,
                lots: order.lots.0,
            }),
            _ => {}
        }
    }

    fn wallet(&self, account: AccountNumber) -> WalletAddress {
        self.accounts[account.0 as usize].wallet
    }

    fn condition(&self, market: MarketNumber) -> ConditionId {
        self.markets[market.0 as usize].condition_id
    }

    /// Every resting order in the price of its own token, by market, as the state lists them.
    fn write_books(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut books: BTreeMap<ConditionId, Vec<&RestingOrder>> = BTreeMap::new();
        for order in &self.orders {
            books.entry(order.condition_id).or_default().push(order);
        }
        for market in &self.markets {
            let [yes, no] = market.supply_lots.map(Lots);
            let (condition, state) = (market.condition_id, market.state);
            writeln!(f, "market {condition} {state}: {yes} yes, {no} no exist")?;
            for order in books.get(&condition).into_iter().flatten() {
                let (side, outcome) = (order.side, word(order.outcome));
                let (lots, price, wallet) =
                    (Lots(order.lots), Price(order.price_units), order.wallet);
                writeln!(f, "  {side:4} {outcome:3} {lots} at {price}  {wallet}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        let mut balances: Vec<Vec<String>> = vec![head(&["wallet", "free", "reserved"])];
        balances.extend(self.accounts.iter().map(|account| {
            let amounts = [account.free_micros, account.reserved_micros].map(Micros);
            let [free, reserved] = amounts.map(|amount| amount.to_string());
            vec![account.wallet.to_string(), free, reserved]
        }));
        let mut holdings: Vec<Vec<String>> = vec![head(&["wallet", "market", "yes", "no"])];
        holdings.extend(self.holdings.iter().map(|held| {
            let total = |index| Lots(held.free_lots[index] + held.reserved_lots[index]).to_string();
            let names = [held.wallet.to_string(), held.condition_id.to_string()];
            names.into_iter().chain([total(0), total(1)]).collect()
        }));
        writeln!(f, "sequence {} at {}", self.sequence, self.time)?;
        writeln!(f, "state digest {}", hex::encode(self.digest))?;
        let [collateral, fees] = [self.collateral_micros, self.fee_account_micros].map(Micros);
        writeln!(f, "collateral {collateral}, of it fees {fees}\n")?;
        write!(f, "{}\n{}\n", table(&balances), table(&holdings))?;
        self.write_books(f)
    }
}
