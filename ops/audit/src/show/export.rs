//! `foretell audit export`: trades, orders and balances as CSV. One row a line, times in UTC,
//! amounts in whole units with all digits.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use crate::error::AuditError;
use crate::exit_codes::USAGE;
use foldhash::fast::RandomState;
use foretell_journal::frame::Frame;
use foretell_journal::{segment, watermark};
use foretell_model::event::{OrderClosed, OrderDecreased, OrderKilled};
use foretell_model::state::StateRecord;
use foretell_model::{
    AccountNumber, Command, Event, Fill, FrameRef, Lots, MarketNumber, Micros, OrderNumber,
    Outcome, PlaceOrder, Price, Sequence, Side, TimeNs, TradeIndex,
};
use foretell_terminal::Output;
use foretell_view::TradeId;
use foretell_wire::text::words::{order_type_text, side_text};
use serde::Serialize;

use super::csv_file::{Table, canonical};
use crate::arguments::ExportFiles;
use crate::digits::prefixed_hex;
use crate::finding::Stop;
use crate::prove::execution::Execution;
use crate::prove::fold::Fold;
use crate::read::source::Source;
use crate::record_text::{reason_text, word};

const TRADES: &str = "sequence,index,trade_id,time,transaction_hash,condition_id,kind,shares,taker,\
taker_order_id,taker_side,taker_outcome,taker_price,fee,maker,maker_order_id,maker_side,\
maker_outcome,maker_price";
const ORDERS: &str = "sequence,time,order_id,wallet,condition_id,outcome,side,type,post_only,\
expiration,maker_amount,taker_amount,filled_shares,decreased_shares,status,ended_sequence";
const BALANCES: &str = "wallet,asset,outcome,free,reserved";

/// Rows of each table that was written.
#[derive(Clone, Copy, Debug, Serialize)]
struct Rows {
    trades: u64,
    orders: u64,
    balances: u64,
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trades, orders, balances) = (self.trades, self.orders, self.balances);
        write!(f, "{trades} trades, {orders} orders, {balances} balances")
    }
}

/// Writes the tables.
///
/// # Errors
/// A file cannot be written, the journal cannot be read, is damaged or breaks a rule.
pub(crate) fn run(source: &Source, files: &ExportFiles, output: Output) -> Result<ExitCode, Stop> {
    reject_files(files, source.directory())?;
    let mut export = Export {
        genesis: source.genesis()?,
        trades: Table::create(files.trades.as_deref(), TRADES)?,
        orders: Table::create(files.orders.as_deref(), ORDERS)?,
        execution: Execution::new(),
        fold: Fold::default(),
        open: HashMap::default(),
    };
    let mut frames = source.frames()?;
    while let Some((frame, records)) = frames.next_decoded()? {
        export.execution.follow(&records, source)?;
        let applied = export.fold.apply(&records);
        applied.map_err(|violation| violation.at(frame.sequence()))?;
        export.take(&frame, &records)?;
    }
    drop(frames);
    let balances = Table::create(files.balances.as_deref(), BALANCES)?;
    output.print(&export.finish(balances)?);
    Ok(ExitCode::SUCCESS)
}

/// Rejects one file for two tables, and a file of the journal: one would destroy the other.
fn reject_files(files: &ExportFiles, journal: &Path) -> Result<(), AuditError> {
    let given = [&files.trades, &files.orders, &files.balances];
    let paths: Vec<_> = given.into_iter().flatten().collect();
    let rejected = |path: &Path, why, hint| {
        let failure = AuditError::new(format!("{}: {why}", path.display()));
        Err(failure.hint(hint).code(USAGE))
    };
    for (index, path) in paths.iter().enumerate() {
        let mut others = paths[index + 1..].iter();
        if others.any(|other| canonical(other) == canonical(path)) {
            return rejected(
                path,
                "two tables have the same file",
                "name one file per table",
            );
        }
    }
    match paths
        .into_iter()
        .find(|path| is_journal_file(journal, path))
    {
        Some(path) => rejected(path, "the file belongs to the journal", "name another file"),
        None => Ok(()),
    }
}

/// Whether `path` is a file that the journal is read from.
fn is_journal_file(journal: &Path, path: &Path) -> bool {
    let path = canonical(path);
    let name = path.file_name().and_then(OsStr::to_str);
    let is_segment = name.is_some_and(|name| segment::number_of(name).is_some());
    journal.canonicalize().is_ok_and(|journal| {
        path == watermark::path(&journal) || is_segment && path.parent() == Some(&journal)
    })
}

/// An order that is not over yet.
#[derive(Clone, Copy, Debug)]
struct OpenOrder {
    order: PlaceOrder,
    placed: (Sequence, TimeNs),
    filled: Lots,
    /// What its owner took off.
    decreased: Lots,
}

impl OpenOrder {
    const fn new(order: PlaceOrder, frame: &FrameRef<'_>) -> Self {
        Self {
            order,
            placed: (frame.sequence, frame.time),
            filled: Lots::ZERO,
            decreased: Lots::ZERO,
        }
    }

    /// Notes that a resting order has these lots left.
    fn decrease(&mut self, left: Lots) {
        let signed = match self.order.side {
            Side::Buy => self.order.taker_amount,
            Side::Sell => self.order.maker_amount,
        };
        let whole = Lots::from_micro_shares(signed).unwrap_or_default();
        self.decreased = Lots(whole.0.saturating_sub(self.filled.0 + left.0));
    }
}

struct Export {
    genesis: [u8; 32],
    trades: Table,
    orders: Table,
    execution: Execution,
    fold: Fold,
    open: HashMap<OrderNumber, OpenOrder, RandomState>,
}

impl Export {
    /// Writes what a frame traded and ended.
    fn take(&mut self, frame: &Frame<'_>, records: &FrameRef<'_>) -> Result<(), AuditError> {
        let sequence = records.sequence;
        let own = OrderNumber::of(sequence, 0);
        if let Command::PlaceOrder(order) = *records.command {
            self.open.insert(own, OpenOrder::new(order, records));
        }
        let mut index = TradeIndex(0);
        for event in records.events {
            match event {
                Event::Fill(fill) => {
                    self.fill(frame, fill, index)?;
                    index.0 += 1;
                }
                Event::QuotePlaced(placed) => {
                    if let Command::SetQuotes(set) = records.command
                        && let Some(order) = set.order(records.evidence, placed)
                    {
                        self.open
                            .insert(placed.order, OpenOrder::new(order, records));
                    }
                }
                Event::OrderCompleted => self.end(own, "filled", sequence)?,
                Event::OrderKilled(OrderKilled { reason, .. }) => {
                    self.end(own, &format!("killed: {}", reason_text(*reason)), sequence)?;
                }
                Event::OrderClosed(OrderClosed { order, reason, .. }) => {
                    self.end(*order, &format!("closed: {}", word(reason)), sequence)?;
                }
                Event::OrderDecreased(OrderDecreased { order, lots, .. }) => {
                    if let Some(open) = self.open.get_mut(order) {
                        open.decrease(*lots);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn fill(
        &mut self,
        frame: &Frame<'_>,
        fill: &Fill,
        index: TradeIndex,
    ) -> Result<(), AuditError> {
        let sequence = frame.sequence();
        let branch = self.fold.registry.branch(&self.genesis);
        let orders = [OrderNumber::of(sequence, 0), fill.maker_order];
        let [Some(own), Some(other)] = orders.map(|number| self.filled(number, fill)) else {
            return Ok(()); // only in an accepted divergence
        };
        let wallets = [own.order.account, fill.maker].map(|account| self.wallet(account));
        let condition = self.condition(own.order.market);
        self.trades.row(&[
            &sequence,
            &index,
            &TradeId::new(&branch, sequence),
            &frame.time(),
            &prefixed_hex(frame.receipt()),
            &condition,
            &word(fill.kind),
            &fill.lots,
            &wallets[0],
            &own.order.order,
            &side_text(own.order.side),
            &word(own.order.outcome),
            &own_price(fill.yes_price, own.order.outcome),
            &fill.fee,
            &wallets[1],
            &other.order.order,
            &side_text(other.order.side),
            &word(other.order.outcome),
            &own_price(fill.yes_price, other.order.outcome),
        ])?;
        if fill.maker_left.is_zero() {
            self.end(fill.maker_order, "filled", sequence)?;
        }
        Ok(())
    }

    fn filled(&mut self, number: OrderNumber, fill: &Fill) -> Option<OpenOrder> {
        let open = self.open.get_mut(&number)?;
        open.filled += fill.lots;
        Some(*open)
    }

    fn end(&mut self, number: OrderNumber, status: &str, at: Sequence) -> Result<(), AuditError> {
        match self.open.remove(&number) {
            Some(open) => self.order_row(&open, status, &at),
            None => Ok(()),
        }
    }

    fn order_row(
        &mut self,
        open: &OpenOrder,
        status: &str,
        ended: &dyn fmt::Display,
    ) -> Result<(), AuditError> {
        let OpenOrder {
            order,
            placed: (sequence, time),
            filled,
            decreased,
        } = open;
        let (wallet, condition) = (self.wallet(order.account), self.condition(order.market));
        self.orders.row(&[
            sequence,
            time,
            &order.order,
            &wallet,
            &condition,
            &word(order.outcome),
            &side_text(order.side),
            &order_type_text(order.order_type),
            &order.post_only,
            &order.expiration.0,
            &Micros(order.maker_amount),
            &Micros(order.taker_amount),
            filled,
            decreased,
            &status,
            ended,
        ])
    }

    /// Writes open orders and all balances; returns the rows of each table.
    fn finish(mut self, mut balances: Table) -> Result<Rows, AuditError> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(number, _)| *number);
        for (_, open) in open {
            self.order_row(&open, "live", &"")?;
        }
        let mut written = Ok(());
        self.execution.exchange().visit_state(&mut |record| {
            if written.is_ok() {
                written = self.balance_rows(record, &mut balances);
            }
        });
        written?;
        let mut tables = [self.trades, self.orders, balances];
        tables.iter_mut().try_for_each(Table::complete)?;
        let [trades, orders, balances] = tables;
        Ok(Rows {
            trades: trades.name()?,
            orders: orders.name()?,
            balances: balances.name()?,
        })
    }

    /// What an account has, or holds of a market.
    fn balance_rows(&self, record: &StateRecord, balances: &mut Table) -> Result<(), AuditError> {
        match record {
            StateRecord::Account(account) => balances.row(&[
                &account.wallet,
                &"collateral",
                &"",
                &account.free,
                &account.reserved,
            ]),
            StateRecord::Position(position) => Outcome::ALL.iter().try_for_each(|of| {
                let (free, reserved) = (position.free[of.index()], position.reserved[of.index()]);
                if (free + reserved).is_zero() {
                    return Ok(());
                }
                balances.row(&[
                    &self.wallet(position.account),
                    &self.condition(position.market),
                    &word(of),
                    &free,
                    &reserved,
                ])
            }),
            _ => Ok(()),
        }
    }

    fn wallet(&self, account: AccountNumber) -> String {
        let account = self.fold.registry.account(account);
        account.map_or_else(|_| "-".to_owned(), |account| account.wallet.to_string())
    }

    fn condition(&self, market: MarketNumber) -> String {
        let market = self.fold.registry.market(market);
        market.map_or_else(|_| "-".to_owned(), |market| market.condition.to_string())
    }
}

const fn own_price(yes_price: Price, outcome: Outcome) -> Price {
    match outcome {
        Outcome::Yes => yes_price,
        Outcome::No => yes_price.complement(),
    }
}
