//! The history of a view for its storage: logs by name, and their chunks.

use std::sync::Arc;

use crate::rows::actions::Action;
use crate::rows::orders::FinishedOrder;
use crate::rows::trade::Trade;
use crate::storage::chunk::{ChunkBytes, is_same_but};
use crate::storage::history::History;
use crate::view::View;

/// Declares the logs of a view: for each its name, its text, and where it is.
macro_rules! logs {
    ($($(#[$doc:meta])* $name:ident: $text:literal = $($path:ident).+,)+) => {
        /// The logs of a view. A log's text names its section in a snapshot and its chunk files.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum LogName { $($(#[$doc])* $name,)+ }

        impl LogName {
            /// All logs.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Lower-case letters and hyphens.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }

        impl View {
            pub(crate) fn log(&self, name: LogName) -> &dyn History {
                match name { $(LogName::$name => &self.$($path).+,)+ }
            }

            pub(crate) fn log_mut(&mut self, name: LogName) -> &mut dyn History {
                match name { $(LogName::$name => &mut self.$($path).+,)+ }
            }
        }
    };
}

logs! {
    /// Trades.
    Trades: "trades" = trades.all,
    /// Finished orders, in the order they ended.
    FinishedOrders: "finished-orders" = orders.finished,
    /// Spans of the lists of all trades, of each account, of each market, and of each account in each
    /// market.
    TradeSpans: "trade-spans" = trades.spans,
    /// Lists of the trades of each builder.
    BuilderTrades: "builder-trades" = trades.of_builder,
    /// Changes of midpoints, of all markets and bucket sizes.
    Midpoints: "midpoints" = midpoints.changes.rows,
    /// Lists of those of each market and bucket size.
    MarketMidpoints: "market-midpoints" = midpoints.changes.lists,
    /// Closed positions.
    ClosedPositions: "closed-positions" = positions.closed.rows,
    /// Lists of those of each account.
    AccountClosed: "account-closed" = positions.closed.lists,
    /// Splits, merges, redeems and converts, deposits, withdrawals, rebates.
    Actions: "actions" = actions.all.rows,
    /// Lists of those of each account.
    AccountActions: "account-actions" = actions.all.lists,
    /// Rebates of finished days.
    Rebates: "rebates" = rebates.earlier.rows,
    /// Lists of those of each account.
    AccountRebates: "account-rebates" = rebates.earlier.lists,
    /// Withdrawals that ended.
    Withdrawals: "withdrawals" = withdrawals.ended.rows,
    /// Lists of those of each account.
    AccountWithdrawals: "account-withdrawals" = withdrawals.ended.lists,
}

impl LogName {
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
        match self.log {
            LogName::Trades => is_same_but(bits, one, other, |row: &mut Trade| &mut row.place),
            LogName::FinishedOrders => is_same_but(bits, one, other, |row: &mut FinishedOrder| {
                &mut row.order.place
            }),
            LogName::Actions => is_same_but(bits, one, other, |row: &mut Action| &mut row.place),
            _ => false,
        }
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
        self.log(log)
            .chunks()
            .sealed()
            .get(number as usize)
            .cloned()
    }

    /// The chunks sealed since `seen`, in order within each log. Updates `seen`.
    pub fn new_chunks(&self, seen: &mut SeenChunks) -> Vec<ChunkRef> {
        let mut new = Vec::new();
        for (&log, seen) in LogName::ALL.iter().zip(&mut seen.chunks) {
            let chunks = self.chunks_of(log);
            new.extend(chunks.filter(|chunk| chunk.number >= *seen));
            *seen = self.log(log).chunks().sealed_count();
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
        let log = self.log_mut(chunk.log);
        log.chunks_mut().replace(chunk.number, copy)
    }

    /// The sealed chunks of a log.
    pub(crate) fn chunks_of(&self, log: LogName) -> impl Iterator<Item = ChunkRef> + use<> {
        let chunks = self.log(log).chunks();
        let rows = chunks.chunk_rows();
        (0..chunks.sealed_count()).map(move |number| ChunkRef { log, number, rows })
    }
}
