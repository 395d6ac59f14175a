//! `foretell audit export`: trades, orders and balances as CSV, one row a line, times in UTC,
//! amounts in whole units with every digit.

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
use foretell_model::{
    AccountNumber, Command, Event, Fill, FrameRef, Lots, MarketNumber, Micros, OrderNumber,
    OrderType, Outcome, PlaceOrder, Price, Sequence, Side, TradeIndex,
};
use foretell_view::TradeId;
use serde_json::json;
use tempfile::TempPath;

use super::finding::{Finding, Kind};
use super::record::Record;
use super::source::Source;
use super::text::{iso, price, shares, units};
use crate::failure::{Failure, USAGE};
use crate::output::Output;

const TRADES: &str = "sequence,index,trade_id,time,transaction_hash,condition_id,kind,shares,taker,\
taker_order_id,taker_side,taker_outcome,taker_price,fee,maker,maker_order_id,maker_side,\
maker_outcome,maker_price";
const ORDERS: &str = "sequence,time,order_id,wallet,condition_id,outcome,side,type,post_only,\
expiration,maker_amount,taker_amount,filled_shares,status,ended_sequence";
const BALANCES: &str = "wallet,asset,outcome,free,reserved";

/// Where each table goes; a table without a file is not made.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub(crate) trades: Option<PathBuf>,
    pub(crate) orders: Option<PathBuf>,
    pub(crate) balances: Option<PathBuf>,
}

impl Files {
    /// Two tables in one file would be neither.
    fn are_different(&self) -> Result<(), Failure> {
        let Self {
            trades,
            orders,
            balances,
        } = self;
        for [one, other] in [[trades, orders], [trades, balances], [orders, balances]] {
            if let (Some(path), Some(other)) = (one, other)
                && place(path) == place(other)
            {
                let text = format!("{}: two tables are to go there", path.display());
                return Err(Failure::new(text).hint("a file for each").code(USAGE));
            }
        }
        Ok(())
    }

    /// A table in the place of a journal's own file would be the end of the journal.
    fn are_none_of(&self, journal: &Path) -> Result<(), Failure> {
        let tables = [&self.trades, &self.orders, &self.balances];
        match tables
            .into_iter()
            .flatten()
            .find(|path| is_of(journal, path))
        {
            Some(path) => {
                let text = format!("{}: the journal is read from there", path.display());
                Err(Failure::new(text).hint("another file").code(USAGE))
            }
            None => Ok(()),
        }
    }
}

/// Whether a table would take the place of a file that the journal is read from.
fn is_of(journal: &Path, path: &Path) -> bool {
    let place = place(path);
    let journal = journal.canonicalize();
    let name = place.file_name().and_then(OsStr::to_str);
    let is_segment = name.is_some_and(|name| segment::number_of(name).is_some());
    journal.is_ok_and(|journal| {
        place == watermark::path(&journal) || is_segment && place.parent() == Some(&journal)
    })
}

/// One name for a file that has several, also for one that is not there yet.
fn place(path: &Path) -> PathBuf {
    path.canonicalize()
        .unwrap_or_else(|_| match (folder(path).canonicalize(), path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_owned(),
        })
}

/// Where a file lies.
fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Writes the tables.
///
/// # Errors
/// A file cannot be written, the journal cannot be read, is damaged or breaks a rule.
pub(crate) fn run(source: &Source, files: &Files, output: Output) -> Result<ExitCode, Failure> {
    files.are_different()?;
    files.are_none_of(source.directory())?;
    let mut export = Export {
        source,
        genesis: source.genesis().map_err(|error| source.failure(&error))?,
        trades: Table::create(files.trades.as_deref(), TRADES)?,
        orders: Table::create(files.orders.as_deref(), ORDERS)?,
        record: Record::default(),
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

/// An order that has not ended.
#[derive(Clone, Copy, Debug)]
struct Live {
    order: PlaceOrder,
    placed: (Sequence, foretell_model::TimeNs),
    filled: Lots,
}

struct Export<'s> {
    source: &'s Source,
    genesis: [u8; 32],
    trades: Table,
    orders: Table,
    record: Record,
    live: HashMap<OrderNumber, Live, RandomState>,
}

impl Export<'_> {
    fn frame(&mut self, frame: &Frame<'_>, scratch: &mut Scratch) -> Result<(), Failure> {
        let sequence = frame.sequence();
        let found = |kind, text| self.source.found(&Finding::new(kind, sequence, text));
        let read = frame
            .decode(scratch)
            .map_err(|error| found(Kind::Damage, error.to_string()))?;
        self.record
            .apply(&read)
            .map_err(|broken| found(broken.kind, broken.text))?;
        if let Command::PlaceOrder(order) = *read.command {
            let placed = (sequence, read.time);
            let filled = Lots::ZERO;
            self.live.insert(
                OrderNumber(sequence.0),
                Live {
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
                Event::OrderKilled { reason, .. } => {
                    self.ended(
                        OrderNumber(sequence.0),
                        &format!("killed: {reason:?}"),
                        sequence,
                    )?;
                }
                Event::OrderClosed { order, reason, .. } => {
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
            return Ok(()); // the record has refused such a fill
        };
        let id = TradeId::new(&self.genesis, read.sequence, TradeIndex(index));
        self.trades.row(&[
            read.sequence.to_string(),
            index.to_string(),
            id.to_string(),
            iso(read.time),
            format!("0x{}", hex::encode(frame.receipt())),
            self.condition(own.order.market),
            format!("{:?}", fill.kind).to_lowercase(),
            shares(fill.lots),
            self.wallet(own.order.account),
            own.order.order.to_string(),
            side(own.order.side).to_owned(),
            outcome(own.order.outcome).to_owned(),
            own_price(fill.yes_price, own.order.outcome),
            units(fill.fee),
            self.wallet(fill.maker),
            other.order.order.to_string(),
            side(other.order.side).to_owned(),
            outcome(other.order.outcome).to_owned(),
            own_price(fill.yes_price, other.order.outcome),
        ])?;
        if fill.maker_left.is_zero() {
            self.ended(fill.maker_order, "filled", read.sequence)?;
        }
        Ok(())
    }

    fn filled(&mut self, number: OrderNumber, fill: &Fill) -> Option<Live> {
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

    fn order_row(&mut self, live: &Live, status: &str, ended: &str) -> Result<(), Failure> {
        let order = &live.order;
        let row = [
            live.placed.0.to_string(),
            iso(live.placed.1),
            order.order.to_string(),
            self.wallet(order.account),
            self.condition(order.market),
            outcome(order.outcome).to_owned(),
            side(order.side).to_owned(),
            order_type(order.order_type).to_owned(),
            order.post_only.to_string(),
            order.expiration.0.to_string(),
            units(Micros(order.maker_amount)),
            units(Micros(order.taker_amount)),
            shares(live.filled),
            status.to_owned(),
            ended.to_owned(),
        ];
        self.orders.row(&row)
    }

    /// Writes what is still open and what everybody has; rows of each table.
    fn finish(mut self, mut balances: Table) -> Result<[u64; 3], Failure> {
        let mut open: Vec<Live> = self.live.values().copied().collect();
        open.sort_unstable_by_key(|live| live.placed.0);
        for live in open {
            self.order_row(&live, "live", "")?;
        }
        for number in (0..)
            .take(self.record.registry.accounts.len())
            .map(AccountNumber)
        {
            let purse = self.record.ledger.purse(number);
            balances.row(&[
                self.wallet(number),
                "collateral".to_owned(),
                String::new(),
                units(Micros(purse.free)),
                units(Micros(purse.reserved)),
            ])?;
        }
        let mut held: Vec<_> = self.record.ledger.holdings.iter().collect();
        held.sort_unstable_by_key(|(account, market, _)| (*account, *market));
        for (account, market, holding) in held {
            for of in Outcome::ALL {
                let (free, reserved) = (holding.free[of.index()], holding.reserved[of.index()]);
                if free + reserved > 0 {
                    balances.row(&[
                        self.wallet(account),
                        self.condition(market),
                        outcome(*of).to_owned(),
                        shares(Lots(free)),
                        shares(Lots(reserved)),
                    ])?;
                }
            }
        }
        let mut tables = [self.trades, self.orders, balances];
        tables.iter_mut().try_for_each(Table::complete)?;
        let [trades, orders, balances] = tables;
        Ok([trades.name()?, orders.name()?, balances.name()?])
    }

    fn wallet(&self, account: AccountNumber) -> String {
        let account = self.record.registry.account(account);
        account.map_or_else(|_| "-".to_owned(), |account| account.wallet.to_string())
    }

    fn condition(&self, market: MarketNumber) -> String {
        let market = self.record.registry.market(market);
        market.map_or_else(|_| "-".to_owned(), |market| market.condition.to_string())
    }
}

fn own_price(yes_price: Price, outcome: Outcome) -> String {
    price(match outcome {
        Outcome::Yes => yes_price.0,
        Outcome::No => yes_price.complement().0,
    })
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

/// A CSV file, or nothing. No cell holds a comma, a quote or a line break: all are numbers, hex,
/// times and words of ours.
struct Table {
    file: Option<Target>,
    rows: u64,
}

/// Where a table goes: beside the file of its name until it is whole, so that nobody takes a part of one
/// for all of it. What is there and no file (a pipe, a terminal) is written to as it comes.
struct Target {
    path: PathBuf,
    file: BufWriter<File>,
    beside: Option<TempPath>,
}

impl Target {
    fn create(path: &Path) -> io::Result<Self> {
        let there = path.symlink_metadata();
        let (file, beside) = if there.as_ref().is_ok_and(|there| !there.is_file()) {
            (File::create(path)?, None)
        } else {
            let (file, beside) = tempfile::Builder::new()
                .prefix(".export-")
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(folder(path))?
                .into_parts();
            if let Ok(there) = there {
                file.set_permissions(there.permissions())?;
            }
            (file, Some(beside))
        };
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            beside,
        })
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.file, "{line}")
    }

    /// All of it is on the disk afterwards, or wherever it goes.
    fn complete(&mut self) -> io::Result<()> {
        self.file.flush()?;
        match self.beside {
            Some(_) => self.file.get_ref().sync_all(),
            None => Ok(()),
        }
    }

    fn name(self) -> io::Result<()> {
        match self.beside {
            Some(beside) => beside.persist(&self.path).map_err(|error| error.error),
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
        let file = Target::create(path).map_err(|error| cannot(path, &error))?;
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

    /// Gives it its name; how many rows it has.
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
