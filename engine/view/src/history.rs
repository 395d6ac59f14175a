//! The history of a view for its storage: logs by name, and their chunks.

use std::sync::Arc;

use crate::rows::actions::Action;
use crate::rows::order::Order;
use crate::rows::orders::FinishedOrder;
use crate::rows::trade::Trade;
use crate::storage::chunk::{ChunkBytes, ChunkLayout, Chunks};
use crate::storage::list::ListEnds;
use crate::view::View;

/// The logs of a view. A log's text names its section in a snapshot and its chunk files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LogName {
    /// Trades.
    Trades,
    /// Finished orders, in the order they ended.
    FinishedOrders,
    /// Spans of the lists of all trades, of each account, of each market, and of each account in each
    /// market.
    TradeSpans,
    /// Lists of the trades of each builder.
    BuilderTrades,
    /// Changes of midpoints, of all markets and bucket sizes.
    Midpoints,
    /// Lists of those of each market and bucket size.
    MarketMidpoints,
    /// Closed positions.
    ClosedPositions,
    /// Lists of those of each account.
    AccountClosed,
    /// Splits, merges, redeems and converts, deposits, withdrawals, rebates.
    Actions,
    /// Lists of those of each account.
    AccountActions,
    /// Rebates of finished days.
    Rebates,
    /// Lists of those of each account.
    AccountRebates,
    /// Withdrawals that ended.
    Withdrawals,
    /// Lists of those of each account.
    AccountWithdrawals,
}

impl LogName {
    /// All logs.
    pub const ALL: &[Self] = &[
        Self::Trades,
        Self::FinishedOrders,
        Self::TradeSpans,
        Self::BuilderTrades,
        Self::Midpoints,
        Self::MarketMidpoints,
        Self::ClosedPositions,
        Self::AccountClosed,
        Self::Actions,
        Self::AccountActions,
        Self::Rebates,
        Self::AccountRebates,
        Self::Withdrawals,
        Self::AccountWithdrawals,
    ];

    /// Lower-case letters and hyphens.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Trades => "trades",
            Self::FinishedOrders => "finished-orders",
            Self::TradeSpans => "trade-spans",
            Self::BuilderTrades => "builder-trades",
            Self::Midpoints => "midpoints",
            Self::MarketMidpoints => "market-midpoints",
            Self::ClosedPositions => "closed-positions",
            Self::AccountClosed => "account-closed",
            Self::Actions => "actions",
            Self::AccountActions => "account-actions",
            Self::Rebates => "rebates",
            Self::AccountRebates => "account-rebates",
            Self::Withdrawals => "withdrawals",
            Self::AccountWithdrawals => "account-withdrawals",
        }
    }

    /// The log with this text.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|log| log.text() == text)
    }
}

/// A sealed chunk of a view.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChunkRef {
    /// Its log.
    pub log: LogName,
    /// Its number in the log, from 0.
    pub number: u32,
    /// Its number of rows.
    pub rows: u32,
}

impl ChunkRef {
    fn is_same_but_places(self, one: &[u8], other: &[u8]) -> bool {
        let bits = self.rows.ilog2();
        let (layout, place) = match self.log {
            LogName::Trades => (ChunkLayout::of::<Trade>(bits), Trade::PLACE),
            // The order comes first in its row.
            LogName::FinishedOrders => (ChunkLayout::of::<FinishedOrder>(bits), Order::PLACE),
            LogName::Actions => (ChunkLayout::of::<Action>(bits), Action::PLACE),
            _ => return false,
        };
        layout.is_same_but_places(place, one, other)
    }
}

impl core::fmt::Display for ChunkRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "chunk {} of {}", self.number, self.log.text())
    }
}

/// The sealed chunks that a caller has already handled; initially none.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SeenChunks {
    /// Number of sealed chunks of each log, in the order of [`LogName::ALL`].
    chunks: [u32; LogName::ALL.len()],
}

/// A copy of a chunk was rejected because its content differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the copy of {0} has other content")]
pub struct ChunkMismatch(pub ChunkRef);

/// A verified copy of one of the view's chunks. It is constructed without the lock of the view,
/// because the comparison may wait for a disk.
#[derive(Clone)]
pub struct ChunkCopy {
    chunk: ChunkRef,
    own: ChunkBytes,
    copy: ChunkBytes,
}

impl ChunkCopy {
    /// Compares a copy with the result of [`View::chunk_bytes`]. Places of frames may differ: a start
    /// of the engine moves some, and both places can be read.
    ///
    /// # Errors
    /// [`ChunkMismatch`] when they differ: one of the two is not from this journal.
    pub fn new(chunk: ChunkRef, own: ChunkBytes, copy: ChunkBytes) -> Result<Self, ChunkMismatch> {
        let (one, other) = (own.as_ref().as_ref(), copy.as_ref().as_ref());
        if one != other && !chunk.is_same_but_places(one, other) {
            return Err(ChunkMismatch(chunk));
        }
        Ok(Self { chunk, own, copy })
    }
}

impl core::fmt::Debug for ChunkCopy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("ChunkCopy").field(&self.chunk).finish()
    }
}

impl View {
    /// A handle on the bytes of a sealed chunk. `None` when there is no such chunk.
    #[must_use]
    pub fn chunk_bytes(&self, log: LogName, number: u32) -> Option<ChunkBytes> {
        self.log(log).sealed().get(number as usize).cloned()
    }

    /// The chunks sealed since `seen`, in order within each log. Updates `seen`.
    pub fn new_chunks(&self, seen: &mut SeenChunks) -> Vec<ChunkRef> {
        let mut new = Vec::new();
        for (&log, seen) in LogName::ALL.iter().zip(&mut seen.chunks) {
            let chunks = self.chunks_of(log);
            new.extend(chunks.filter(|chunk| chunk.number >= *seen));
            *seen = self.log(log).sealed_count();
        }
        new
    }

    /// Replaces the view's bytes of a chunk by the copy and returns the old bytes, so that the
    /// caller can free them without the lock. `None` when the view's bytes are no longer those the
    /// copy was compared with; nothing is changed then.
    pub fn adopt_chunk(&mut self, copy: ChunkCopy) -> Option<ChunkBytes> {
        let ChunkCopy { chunk, own, copy } = copy;
        let held = self.chunk_bytes(chunk.log, chunk.number)?;
        if !Arc::ptr_eq(&held, &own) {
            return None;
        }
        self.log_mut(chunk.log).replace(chunk.number, copy)
    }

    /// The sealed chunks of a log.
    pub(crate) fn chunks_of(&self, log: LogName) -> impl Iterator<Item = ChunkRef> + use<> {
        let chunks = self.log(log);
        let rows = chunks.chunk_rows();
        (0..chunks.sealed_count()).map(move |number| ChunkRef { log, number, rows })
    }

    pub(crate) fn log(&self, name: LogName) -> &Chunks {
        match name {
            LogName::Trades => self.trades.all.log().chunks(),
            LogName::FinishedOrders => self.orders.finished.log().chunks(),
            LogName::TradeSpans => self.trades.spans.chunks(),
            LogName::BuilderTrades => self.trades.of_builder.nodes().chunks(),
            LogName::Midpoints => self.midpoints.changes.chunks(),
            LogName::MarketMidpoints => self.midpoints.of_market.nodes().chunks(),
            LogName::ClosedPositions => self.positions.closed.chunks(),
            LogName::AccountClosed => self.positions.closed_of.nodes().chunks(),
            LogName::Actions => self.actions.all.chunks(),
            LogName::AccountActions => self.actions.of_account.nodes().chunks(),
            LogName::Rebates => self.rebates.earlier.chunks(),
            LogName::AccountRebates => self.rebates.of_account.nodes().chunks(),
            LogName::Withdrawals => self.withdrawals.ended.chunks(),
            LogName::AccountWithdrawals => self.withdrawals.of_account.nodes().chunks(),
        }
    }

    fn log_mut(&mut self, name: LogName) -> &mut Chunks {
        match name {
            LogName::Trades => self.trades.all.log_mut().chunks_mut(),
            LogName::FinishedOrders => self.orders.finished.log_mut().chunks_mut(),
            LogName::TradeSpans => self.trades.spans.chunks_mut(),
            LogName::BuilderTrades => self.trades.of_builder.nodes_mut().chunks_mut(),
            LogName::Midpoints => self.midpoints.changes.chunks_mut(),
            LogName::MarketMidpoints => self.midpoints.of_market.nodes_mut().chunks_mut(),
            LogName::ClosedPositions => self.positions.closed.chunks_mut(),
            LogName::AccountClosed => self.positions.closed_of.nodes_mut().chunks_mut(),
            LogName::Actions => self.actions.all.chunks_mut(),
            LogName::AccountActions => self.actions.of_account.nodes_mut().chunks_mut(),
            LogName::Rebates => self.rebates.earlier.chunks_mut(),
            LogName::AccountRebates => self.rebates.of_account.nodes_mut().chunks_mut(),
            LogName::Withdrawals => self.withdrawals.ended.chunks_mut(),
            LogName::AccountWithdrawals => self.withdrawals.of_account.nodes_mut().chunks_mut(),
        }
    }

    /// The ends of the lists in a log, if the lists have dense numbers.
    pub(crate) fn ends(&self, name: LogName) -> Option<&ListEnds> {
        match name {
            LogName::Trades
            | LogName::FinishedOrders
            | LogName::TradeSpans
            | LogName::Midpoints
            | LogName::ClosedPositions
            | LogName::Actions
            | LogName::Rebates
            | LogName::Withdrawals => None,
            LogName::BuilderTrades => Some(self.trades.of_builder.ends()),
            LogName::MarketMidpoints => Some(self.midpoints.of_market.ends()),
            LogName::AccountClosed => Some(self.positions.closed_of.ends()),
            LogName::AccountActions => Some(self.actions.of_account.ends()),
            LogName::AccountRebates => Some(self.rebates.of_account.ends()),
            LogName::AccountWithdrawals => Some(self.withdrawals.of_account.ends()),
        }
    }
}
