//! The view in a snapshot: sections with the live state and the tails of the history, and the list
//! of sealed chunks. Reading it back gives an equal view.
//!
//! Each module defines the bytes of its own part; this one combines them in a fixed order, so that
//! equal views give equal bytes.

use std::collections::BTreeMap;

use foretell_model::OrderNumber;
use foretell_model::codec::{Stored, put_all, stored, take_bytes};

use crate::history::{ChunkRef, LogName};
use crate::rows::accounts::Accounts;
use crate::rows::actions::Actions;
use crate::rows::builder_standings::BuilderStandings;
use crate::rows::builders::Builders;
use crate::rows::holdings::Holdings;
use crate::rows::markets::Markets;
use crate::rows::midpoints::Midpoints;
use crate::rows::order::Order;
use crate::rows::orders::{Delay, Orders};
use crate::rows::positions::Positions;
use crate::rows::rebates::Rebates;
use crate::rows::standings::Standings;
use crate::rows::trades::Trades;
use crate::rows::withdrawals::Withdrawals;
use crate::storage::chunk::{ChunkBytes, Chunking};
use crate::storage::id_log::IdLog;
use crate::storage::list::{ListEnds, Lists};
use crate::storage::log::Log;
use crate::storage::row::LogRow;
use crate::view::View;

/// Version of the layout of snapshots and chunks. Raise it with every change of either, so that a
/// build ignores files of another layout.
pub const VIEW_VERSION: u32 = 20;

/// The section of what accounts have in markets.
const HOLDINGS: &str = "holdings";
/// The section of volume and profit of accounts.
const STANDINGS: &str = "standings";
/// The section of volume and users of builders.
const BUILDER_STANDINGS: &str = "builder-standings";

/// The section of the rebates of accounts' newest days.
const CURRENT_REBATES: &str = "current-rebates";
/// The section of withdrawals that wait.
const WAITING_WITHDRAWALS: &str = "waiting-withdrawals";
/// The section of what delayed orders wait for.
const DELAYS: &str = "delays";

/// The bytes of a view.
#[derive(Clone, Debug)]
pub struct ViewSnapshot {
    /// Sections by name.
    pub sections: Vec<(&'static str, Vec<u8>)>,
    /// Every sealed chunk; [`View::chunk_bytes`] returns their bytes.
    pub chunks: Vec<ChunkRef>,
}

/// Why a snapshot gives no view. The caller ignores the snapshot: the journal has everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ViewSnapshotError {
    /// It has another layout.
    #[error("view version {0}, expected {VIEW_VERSION}")]
    Version(u32),
    /// A section is missing.
    #[error("section {0:?} is missing")]
    NoSection(&'static str),
    /// A section that this crate cannot have written.
    #[error("section {0:?} cannot be read")]
    Malformed(&'static str),
    /// A chunk that it needs is missing.
    #[error("{0} is missing")]
    NoChunk(ChunkRef),
}

stored! {
    /// The section that describes the others.
    #[derive(Debug)]
    struct ViewHeader {
        version: u32,
        /// `None` for the standard size.
        chunk_bits: Option<u8>,
        genesis: [u8; 32],
    }
}

impl View {
    /// The bytes of the view; `None` after a rejected frame, because the view is then inconsistent.
    /// The cost is that of the live state and of one chunk per log.
    #[must_use]
    pub fn snapshot(&self) -> Option<ViewSnapshot> {
        if self.broken {
            return None;
        }
        let header = ViewHeader {
            version: VIEW_VERSION,
            chunk_bits: match self.chunking {
                Chunking::Standard => None,
                Chunking::Bits(bits) | Chunking::Bounded { bits, .. } => Some(bits),
            },
            genesis: self.genesis,
        };
        let mut sections = vec![
            ("view", bytes(&header)),
            ("system", bytes(&self.system)),
            ("accounts", bytes(&self.accounts)),
            (HOLDINGS, bytes(&self.holdings)),
            ("keys", bytes(&self.keys)),
            ("events", bytes(&self.events)),
            ("markets", bytes(&self.markets)),
            ("books", bytes(&self.books)),
            ("builders", bytes(&self.builders)),
            ("open-midpoints", bytes(&self.midpoints.current)),
            ("trade-lists", bytes(&self.trades.ends)),
            ("turnover", bytes(&self.volume)),
            (STANDINGS, bytes(&self.standings)),
            (BUILDER_STANDINGS, bytes(&self.builder_standings)),
            ("people", bytes(&self.people)),
            (WAITING_WITHDRAWALS, bytes(&self.withdrawals.waiting)),
            ("profiles", bytes(&self.profiles)),
            ("resolutions", bytes(&self.resolutions)),
            ("background", bytes(&self.background)),
            (CURRENT_REBATES, bytes(&self.rebates.current)),
            (DELAYS, bytes(&self.orders.delays)),
        ];
        let mut live = Vec::new();
        put_all(self.orders.all_live(), &mut live);
        sections.push(("live-orders", live));
        for &log in LogName::ALL {
            let mut section = Vec::new();
            self.log(log).put_tail(&mut section);
            if let Some(ends) = self.ends(log) {
                ends.put(&mut section);
            }
            sections.push((log.text(), section));
        }
        let chunks = LogName::ALL.iter().flat_map(|&log| self.chunks_of(log));
        Some(ViewSnapshot {
            sections,
            chunks: chunks.collect(),
        })
    }

    /// Restores a view. `section` returns a section by name, `chunk` a sealed chunk, both with the
    /// bytes that were written.
    ///
    /// # Errors
    /// [`ViewSnapshotError`] when a part is missing or cannot have been written by this build. Damaged
    /// bytes may also give a view with wrong content, so the caller must verify them first.
    pub fn from_snapshot<'a>(
        section: impl Fn(&str) -> Option<&'a [u8]>,
        chunk: impl FnMut(ChunkRef) -> Option<ChunkBytes>,
    ) -> Result<Self, ViewSnapshotError> {
        let mut snapshot = SectionReader {
            section,
            chunk,
            chunking: Chunking::Standard,
        };
        let header: ViewHeader = snapshot.read_header()?;
        snapshot.chunking = header.chunk_bits.map_or(Chunking::Standard, Chunking::Bits);
        let accounts: Accounts = snapshot.read("accounts")?;
        let markets: Markets = snapshot.read("markets")?;
        let holdings: Holdings = snapshot.read(HOLDINGS)?;
        let holders = holdings.holders(markets.end());
        let holders = holders.filter(|_| holdings.accounts() == accounts.count());
        let holders = holders.ok_or(ViewSnapshotError::Malformed(HOLDINGS))?;
        let builders: Builders = snapshot.read("builders")?;
        let standings: Standings = snapshot.read(STANDINGS)?;
        if standings.len() != accounts.count() {
            return Err(ViewSnapshotError::Malformed(STANDINGS));
        }
        let of_builders: BuilderStandings = snapshot.read(BUILDER_STANDINGS)?;
        let fits = of_builders.builders() <= builders.count();
        if of_builders.accounts() != accounts.count() || !fits {
            return Err(ViewSnapshotError::Malformed(BUILDER_STANDINGS));
        }
        let mut view = Self {
            genesis: header.genesis,
            chunking: snapshot.chunking,
            broken: false,
            system: snapshot.read("system")?,
            accounts,
            holdings,
            keys: snapshot.read("keys")?,
            events: snapshot.read("events")?,
            markets,
            books: snapshot.read("books")?,
            builders,
            orders: Orders::of(IdLog::of(snapshot.read_log(LogName::FinishedOrders)?)),
            trades: Trades {
                all: IdLog::of(snapshot.read_log(LogName::Trades)?),
                spans: snapshot.read_log(LogName::TradeSpans)?,
                ends: snapshot.read("trade-lists")?,
                of_builder: snapshot.read_lists(LogName::BuilderTrades)?,
            },
            midpoints: Midpoints {
                current: snapshot.read("open-midpoints")?,
                changes: snapshot.read_log(LogName::Midpoints)?,
                of_market: snapshot.read_lists(LogName::MarketMidpoints)?,
            },
            positions: Positions {
                closed: snapshot.read_log(LogName::ClosedPositions)?,
                closed_of: snapshot.read_lists(LogName::AccountClosed)?,
                holders,
            },
            actions: Actions {
                all: snapshot.read_log(LogName::Actions)?,
                of_account: snapshot.read_lists(LogName::AccountActions)?,
            },
            volume: snapshot.read("turnover")?,
            standings,
            builder_standings: of_builders,
            people: snapshot.read("people")?,
            profiles: snapshot.read("profiles")?,
            resolutions: snapshot.read("resolutions")?,
            background: snapshot.read("background")?,
            rebates: Rebates {
                current: snapshot.read(CURRENT_REBATES)?,
                earlier: snapshot.read_log(LogName::Rebates)?,
                of_account: snapshot.read_lists(LogName::AccountRebates)?,
            },
            withdrawals: Withdrawals {
                waiting: snapshot.read(WAITING_WITHDRAWALS)?,
                ended: snapshot.read_log(LogName::Withdrawals)?,
                of_account: snapshot.read_lists(LogName::AccountWithdrawals)?,
            },
        };
        let mut delays: BTreeMap<OrderNumber, Delay> = snapshot.read(DELAYS)?;
        const LIVE: &str = "live-orders";
        for order in snapshot.read::<Vec<Order>>(LIVE)? {
            // Lists of trades are found by the builder's index.
            let builder = order.builder.map(|slot| view.builders.code(slot));
            let known = (view.accounts.get(order.account)).zip(view.markets.get(order.market));
            if builder == Some(None) || known.is_none() {
                return Err(ViewSnapshotError::Malformed(LIVE));
            }
            let restored = match delays.remove(&order.number) {
                Some(delay) => view.orders.delay(order, delay),
                None => (view.books.restore(&order)).and_then(|()| view.orders.rest(order)),
            };
            restored.map_err(|_| ViewSnapshotError::Malformed(LIVE))?;
        }
        if !delays.is_empty() {
            return Err(ViewSnapshotError::Malformed(DELAYS));
        }
        Ok(view)
    }
}

fn bytes(value: &impl Stored) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.put(&mut bytes);
    bytes
}

/// A snapshot while it is read.
struct SectionReader<S, C> {
    section: S,
    chunk: C,
    chunking: Chunking,
}

impl<'a, S, C> SectionReader<S, C>
where
    S: Fn(&str) -> Option<&'a [u8]>,
    C: FnMut(ChunkRef) -> Option<ChunkBytes>,
{
    fn read_header(&self) -> Result<ViewHeader, ViewSnapshotError> {
        const NAME: &str = "view";
        let mut bytes = (self.section)(NAME).ok_or(ViewSnapshotError::NoSection(NAME))?;
        // The layout after the version is known only for the current version.
        let version = u32::take(&mut &*bytes).map_err(|_| ViewSnapshotError::Malformed(NAME))?;
        if version != VIEW_VERSION {
            return Err(ViewSnapshotError::Version(version));
        }
        let header = ViewHeader::take(&mut bytes)
            .ok()
            .filter(|_| bytes.is_empty());
        header.ok_or(ViewSnapshotError::Malformed(NAME))
    }

    fn read<T: Stored>(&self, name: &'static str) -> Result<T, ViewSnapshotError> {
        let mut bytes = (self.section)(name).ok_or(ViewSnapshotError::NoSection(name))?;
        let value = T::take(&mut bytes).ok().filter(|_| bytes.is_empty());
        value.ok_or(ViewSnapshotError::Malformed(name))
    }

    fn read_log<R: LogRow>(&mut self, log: LogName) -> Result<Log<R>, ViewSnapshotError> {
        match self.read_history(log)? {
            (rows, []) => Ok(rows),
            _ => Err(ViewSnapshotError::Malformed(log.text())),
        }
    }

    fn read_lists(&mut self, log: LogName) -> Result<Lists, ViewSnapshotError> {
        let (nodes, mut rest) = self.read_history(log)?;
        let ends = ListEnds::take(&mut rest).ok().filter(|_| rest.is_empty());
        let ends = ends.ok_or(ViewSnapshotError::Malformed(log.text()))?;
        Ok(Lists::of(nodes, ends))
    }

    /// A log, and the rest of its section after the tail.
    fn read_history<R: LogRow>(
        &mut self,
        log: LogName,
    ) -> Result<(Log<R>, &'a [u8]), ViewSnapshotError> {
        let malformed = ViewSnapshotError::Malformed(log.text());
        let mut bytes =
            (self.section)(log.text()).ok_or(ViewSnapshotError::NoSection(log.text()))?;
        let count = u32::take(&mut bytes).map_err(|_| malformed)?;
        let tail = take_bytes(&mut bytes).map_err(|_| malformed)?;
        let rows = 1 << self.chunking.bits(R::CHUNK_BITS);
        let mut sealed = Vec::new();
        for number in 0..count {
            let chunk = ChunkRef { log, number, rows };
            sealed.push((self.chunk)(chunk).ok_or(ViewSnapshotError::NoChunk(chunk))?);
        }
        let log = Log::restore(self.chunking, sealed, tail).ok_or(malformed)?;
        Ok((log, bytes))
    }
}
