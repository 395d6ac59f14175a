//! `foretell audit export`: trades, orders and balances as CSV. One row a line, times in UTC,
//! amounts in whole units with all digits.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use foldhash::fast::RandomState;
use foretell_journal::frame::Frame;
use foretell_journal::{Scratch, segment, watermark};
use foretell_model::event::{OrderClosed, OrderKilled};
use foretell_model::state::{self, StateRecord};
use foretell_model::{
    AccountNumber, Command, Event, Fill, FrameRef, Lots, MarketNumber, Micros, OrderNumber,
    OrderType, Outcome, PlaceOrder, Price, Sequence, Side, TradeIndex,
};
use foretell_view::TradeId;
use serde_json::json;
use tempfile::TempPath;

use crate::error::AuditError as Failure;
use crate::exit_codes::USAGE;
use crate::finding::{Finding, Kind};
use crate::prove::execution::Execution;
use crate::prove::fold::Fold;
use crate::read::source::Source;
use foretell_terminal::Output;

const TRADES: &str = "sequence,index,trade_id,time,transaction_hash,condition_id,kind,shares,taker,\
taker_order_id,taker_side,taker_outcome,taker_price,fee,maker,maker_order_id,maker_side,\
maker_outcome,maker_price";
const ORDERS: &str = "sequence,time,order_id,wallet,condition_id,outcome,side,type,post_only,\
expiration,maker_amount,taker_amount,filled_shares,status,ended_sequence";
const BALANCES: &str = "wallet,asset,outcome,free,reserved";

/// Output file of each table; a table without a file is not written.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) trades: Option<PathBuf>,
    pub(crate) orders: Option<PathBuf>,
    pub(crate) balances: Option<PathBuf>,
}

impl Files {
    /// Rejects one file for two tables, which would overwrite each other.
    fn reject_duplicates(&self) -> Result<(), Failure> {
        let Self {
            trades,
            orders,
            balances,
        } = self;
        for [one, other] in [[trades, orders], [trades, balances], [orders, balances]] {
            if let (Some(path), Some(other)) = (one, other)
                && canonical(path) == canonical(other)
            {
                let text = format!("{}: two tables have the same file", path.display());
                return Err(Failure::new(text)
                    .hint("name one file per table")
                    .code(USAGE));
            }
        }
        Ok(())
    }

    /// Rejects an output file inside the journal, which would destroy the journal.
    fn reject_journal_files(&self, journal: &Path) -> Result<(), Failure> {
        let tables = [&self.trades, &self.orders, &self.balances];
        match tables
            .into_iter()
            .flatten()
            .find(|path| is_journal_file(journal, path))
        {
            Some(path) => {
                let text = format!("{}: the file belongs to the journal", path.display());
                Err(Failure::new(text).hint("name another file").code(USAGE))
            }
            None => Ok(()),
        }
    }
}

/// Whether `path` is a file that the journal is read from.
fn is_journal_file(journal: &Path, path: &Path) -> bool {
    let path = canonical(path);
    let journal = journal.canonicalize();
    let name = path.file_name().and_then(OsStr::to_str);
    let is_segment = name.is_some_and(|name| segment::number_of(name).is_some());
    journal.is_ok_and(|journal| {
        path == watermark::path(&journal) || is_segment && path.parent() == Some(&journal)
    })
}

/// The canonical path of a file, also of one that does not exist yet.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        match (parent_directory(path).canonicalize(), path.file_name()) {
            (Ok(parent_directory), Some(name)) => parent_directory.join(name),
            _ => path.to_owned(),
        }
    })
}

/// Parent directory of a file.
fn parent_directory(path: &Path) -> &Path {
    path.parent()
        .filter(|parent_directory| !parent_directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Writes the tables.
///
/// # Errors
/// A file cannot be written, the journal cannot be read, is damaged or breaks a rule.
pub(crate) fn run(source: &Source, files: &Files, output: Output) -> Result<ExitCode, Failure> {
    files.reject_duplicates()?;
    files.reject_journal_files(source.directory())?;
    let mut export = Export {
        source,
        genesis: source.genesis().map_err(|error| source.failure(&error))?,
        trades: Table::create(files.trades.as_deref(), TRADES)?,
        orders: Table::create(files.orders.as_deref(), ORDERS)?,
        execution: Execution::new(),
        fold: Fold::default(),
        live: HashMap::default(),
    };
    let mut scratch = Scratch::default();
    let mut stopped = None;
    let scanned = source.each(&mut |frame| match export.frame(frame, &mut scratch) {
        Ok(()) => ControlFlow::Continue(()),
        Err(failure) => {
            stopped = Some(failure);
            ControlFlow::Break(())
        }
    });
    if let Some(failure) = stopped {
        return Err(failure);
    }
    if let Err(error) = scanned {
        return Err(source.failure(&error));
    }
    let balances = Table::create(files.balances.as_deref(), BALANCES)?;
    let rows = export.finish(balances)?;
    output.answer(
        &json!({ "trades": rows[0], "orders": rows[1], "balances": rows[2] }),
        |_| {
            format!(
                "{} trades, {} orders, {} balances",
                rows[0], rows[1], rows[2]
            )
        },
    );
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone, Copy, Debug)]
struct OpenOrder {
    order: PlaceOrder,
    placed: (Sequence, foretell_model::TimeNs),
    filled: Lots,
}

struct Export<'s> {
    source: &'s Source,
    genesis: [u8; 32],
    trades: Table,
    orders: Table,
    execution: Execution,
    fold: Fold,
    live: HashMap<OrderNumber, OpenOrder, RandomState>,
}

impl Export<'_> {
    fn frame(&mut self, frame: &Frame<'_>, scratch: &mut Scratch) -> Result<(), Failure> {
        let sequence = frame.sequence();
        let found = |kind, text| self.source.found(&Finding::new(kind, sequence, text));
        let read = frame
            .decode(scratch)
            .map_err(|error| found(Kind::Damage, error.to_string()))?;
        self.execution
            .follow(&read, self.source)
            .map_err(|wrong| wrong.failure(self.source))?;
        self.fold
            .apply(&read)
            .map_err(|violation| found(violation.kind, violation.text))?;
        if let Command::PlaceOrder(order) = *read.command {
            let placed = (sequence, read.time);
            let filled = Lots::ZERO;
            self.live.insert(
                OrderNumber(sequence.0),
                OpenOrder {
                    order,
                    placed,
                    filled,
                },
            );
        }
        let mut index = 0;
        for event in read.events {
            match event {
                Event::Fill(fill) => {
                    self.fill(frame, &read, fill, index)?;
                    index += 1;
                }
                Event::OrderCompleted => self.ended(OrderNumber(sequence.0), "filled", sequence)?,
                Event::OrderKilled(OrderKilled { reason, .. }) => {
                    self.ended(
                        OrderNumber(sequence.0),
                        &format!("killed: {reason:?}"),
                        sequence,
                    )?;
                }
                Event::OrderClosed(OrderClosed { order, reason, .. }) => {
                    self.ended(*order, &format!("closed: {reason:?}"), sequence)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn fill(
        &mut self,
        frame: &Frame<'_>,
        read: &FrameRef<'_>,
        fill: &Fill,
        index: u32,
    ) -> Result<(), Failure> {
        let taker = OrderNumber(read.sequence.0);
        let (Some(own), Some(other)) = (
            self.filled(taker, fill),
            self.filled(fill.maker_order, fill),
        ) else {
            return Ok(()); // only in an accepted divergence
        };
        let id = TradeId::new(&self.genesis, read.sequence, TradeIndex(index));
        self.trades.row(&[
            read.sequence.to_string(),
            index.to_string(),
            id.to_string(),
            read.time.to_string(),
            format!("0x{}", hex::encode(frame.receipt())),
            self.condition(own.order.market),
            format!("{:?}", fill.kind).to_lowercase(),
            fill.lots.to_string(),
            self.wallet(own.order.account),
            own.order.order.to_string(),
            side(own.order.side).to_owned(),
            outcome(own.order.outcome).to_owned(),
            own_price(fill.yes_price, own.order.outcome).to_string(),
            fill.fee.to_string(),
            self.wallet(fill.maker),
            other.order.order.to_string(),
            side(other.order.side).to_owned(),
            outcome(other.order.outcome).to_owned(),
            own_price(fill.yes_price, other.order.outcome).to_string(),
        ])?;
        if fill.maker_left.is_zero() {
            self.ended(fill.maker_order, "filled", read.sequence)?;
        }
        Ok(())
    }

    fn filled(&mut self, number: OrderNumber, fill: &Fill) -> Option<OpenOrder> {
        let live = self.live.get_mut(&number)?;
        live.filled += fill.lots;
        Some(*live)
    }

    fn ended(&mut self, number: OrderNumber, status: &str, at: Sequence) -> Result<(), Failure> {
        match self.live.remove(&number) {
            Some(live) => self.order_row(&live, status, &at.to_string()),
            None => Ok(()),
        }
    }

    fn order_row(&mut self, live: &OpenOrder, status: &str, ended: &str) -> Result<(), Failure> {
        let order = &live.order;
        let row = [
            live.placed.0.to_string(),
            live.placed.1.to_string(),
            order.order.to_string(),
            self.wallet(order.account),
            self.condition(order.market),
            outcome(order.outcome).to_owned(),
            side(order.side).to_owned(),
            order_type(order.order_type).to_owned(),
            order.post_only.to_string(),
            order.expiration.0.to_string(),
            Micros(order.maker_amount).to_string(),
            Micros(order.taker_amount).to_string(),
            live.filled.to_string(),
            status.to_owned(),
            ended.to_owned(),
        ];
        self.orders.row(&row)
    }

    /// Writes open orders and all balances; returns the rows of each table.
    fn finish(mut self, mut balances: Table) -> Result<[u64; 3], Failure> {
        let mut open: Vec<OpenOrder> = self.live.values().copied().collect();
        open.sort_unstable_by_key(|live| live.placed.0);
        for live in open {
            self.order_row(&live, "live", "")?;
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
        Ok([trades.name()?, orders.name()?, balances.name()?])
    }

    /// What an account has, or holds of a market.
    fn balance_rows(&self, record: &StateRecord, balances: &mut Table) -> Result<(), Failure> {
        match *record {
            StateRecord::Account(state::Account {
                account,
                free,
                reserved,
                ..
            }) => balances.row(&[
                self.wallet(account),
                "collateral".to_owned(),
                String::new(),
                free.to_string(),
                reserved.to_string(),
            ]),
            StateRecord::Position(state::Position {
                account,
                market,
                free,
                reserved,
            }) => Outcome::ALL.iter().try_for_each(|of| {
                let (free, reserved) = (free[of.index()], reserved[of.index()]);
                if (free + reserved).is_zero() {
                    return Ok(());
                }
                balances.row(&[
                    self.wallet(account),
                    self.condition(market),
                    outcome(*of).to_owned(),
                    free.to_string(),
                    reserved.to_string(),
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

const fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Yes => "yes",
        Outcome::No => "no",
    }
}

const fn order_type(order_type: OrderType) -> &'static str {
    match order_type {
        OrderType::Gtc => "GTC",
        OrderType::Gtd => "GTD",
        OrderType::Fok => "FOK",
        OrderType::Fak => "FAK",
    }
}

/// A CSV file, or nothing. No cell contains a comma, a quote or a line break: all are numbers, hex,
/// times and fixed words.
struct Table {
    file: Option<OutputFile>,
    rows: u64,
}

/// Output of a table: a temporary file that gets its name when it is complete, so no reader sees
/// part of a table. A pipe or a terminal is written to directly.
struct OutputFile {
    path: PathBuf,
    file: BufWriter<File>,
    temporary: Option<TempPath>,
}

impl OutputFile {
    fn create(path: &Path) -> io::Result<Self> {
        let there = path.symlink_metadata();
        let (file, temporary) = if there.as_ref().is_ok_and(|there| !there.is_file()) {
            (File::create(path)?, None)
        } else {
            let (file, temporary) = tempfile::Builder::new()
                .prefix(".export-")
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(parent_directory(path))?
                .into_parts();
            if let Ok(there) = there {
                file.set_permissions(there.permissions())?;
            }
            (file, Some(temporary))
        };
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            temporary,
        })
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.file, "{line}")
    }

    /// Flushes and syncs the output.
    fn complete(&mut self) -> io::Result<()> {
        self.file.flush()?;
        match self.temporary {
            Some(_) => self.file.get_ref().sync_all(),
            None => Ok(()),
        }
    }

    fn name(self) -> io::Result<()> {
        match self.temporary {
            Some(temporary) => temporary.persist(&self.path).map_err(|error| error.error),
            None => Ok(()),
        }
    }
}

impl Table {
    fn create(path: Option<&Path>, head: &str) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self {
                file: None,
                rows: 0,
            });
        };
        let file = OutputFile::create(path).map_err(|error| cannot(path, &error))?;
        let mut table = Self {
            file: Some(file),
            rows: 0,
        };
        table.write(head)?;
        Ok(table)
    }

    fn row(&mut self, cells: &[String]) -> Result<(), Failure> {
        if self.file.is_none() {
            return Ok(());
        }
        self.rows += 1;
        self.write(&cells.join(","))
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        match &mut self.file {
            Some(file) => file.write(line).map_err(|error| cannot(&file.path, &error)),
            None => Ok(()),
        }
    }

    fn complete(&mut self) -> Result<(), Failure> {
        match &mut self.file {
            Some(file) => file.complete().map_err(|error| cannot(&file.path, &error)),
            None => Ok(()),
        }
    }

    /// Renames the temporary file; returns the number of rows.
    fn name(self) -> Result<u64, Failure> {
        if let Some(file) = self.file {
            let path = file.path.clone();
            file.name().map_err(|error| cannot(&path, &error))?;
        }
        Ok(self.rows)
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
