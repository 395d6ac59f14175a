//! The history of a view as whoever keeps it on disk sees it: logs by name, and their chunks.

use std::sync::Arc;

use crate::chunk::{ChunkBytes, Chunks};
use crate::list::Heads;
use crate::view::View;

/// The logs of a view. A log's text names its section in an image and its chunks' files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LogName {
    /// Trades.
    Trades,
    /// Orders that ended, in the order they did.
    FinishedOrders,
    /// The list of all trades.
    AllTrades,
    /// Trades of each account.
    AccountTrades,
    /// Trades of each market.
    MarketTrades,
    /// Trades of each account in each market.
    AccountMarketTrades,
    /// Trades of each token.
    TokenTrades,
    /// Trades of each builder.
    BuilderTrades,
    /// Changes of midpoints, of all markets and bucket sizes.
    Midpoints,
    /// Those of each market and bucket size.
    MarketMidpoints,
    /// Positions whose last share went.
    ClosedPositions,
    /// Those of each account.
    AccountClosed,
    /// Splits, merges, redeems and converts.
    Actions,
    /// Those of each account.
    AccountActions,
}

impl LogName {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Trades,
        Self::FinishedOrders,
        Self::AllTrades,
        Self::AccountTrades,
        Self::MarketTrades,
        Self::AccountMarketTrades,
        Self::TokenTrades,
        Self::BuilderTrades,
        Self::Midpoints,
        Self::MarketMidpoints,
        Self::ClosedPositions,
        Self::AccountClosed,
        Self::Actions,
        Self::AccountActions,
    ];

    /// Lower-case letters and hyphens.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Trades => "trades",
            Self::FinishedOrders => "finished-orders",
            Self::AllTrades => "all-trades",
            Self::AccountTrades => "account-trades",
            Self::MarketTrades => "market-trades",
            Self::AccountMarketTrades => "account-market-trades",
            Self::TokenTrades => "token-trades",
            Self::BuilderTrades => "builder-trades",
            Self::Midpoints => "midpoints",
            Self::MarketMidpoints => "market-midpoints",
            Self::ClosedPositions => "closed-positions",
            Self::AccountClosed => "account-closed",
            Self::Actions => "actions",
            Self::AccountActions => "account-actions",
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
    /// Of which log.
    pub log: LogName,
    /// Which of its chunks, from 0.
    pub number: u32,
    /// How many rows it holds.
    pub rows: u32,
}

impl core::fmt::Display for ChunkRef {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "chunk {} of {}", self.number, self.log.text())
    }
}

/// How much of the history somebody has seen: nothing, to begin with.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Seen {
    /// Sealed chunks of each log, in the order of [`LogName::ALL`].
    chunks: [u32; LogName::ALL.len()],
}

/// Why a copy of a chunk is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the copy of {0} has other content")]
pub struct OtherContent(pub ChunkRef);

/// A copy of a chunk that has the content of the view's own. It is made without holding the view,
/// because comparing may have to wait for a disk.
#[derive(Clone)]
pub struct ChunkCopy {
    chunk: ChunkRef,
    own: ChunkBytes,
    copy: ChunkBytes,
}

impl ChunkCopy {
    /// Compares a copy with what [`View::chunk_bytes`] gave.
    ///
    /// # Errors
    /// [`OtherContent`] when they differ: one of the two did not fold this journal.
    pub fn new(chunk: ChunkRef, own: ChunkBytes, copy: ChunkBytes) -> Result<Self, OtherContent> {
        if own.as_ref().as_ref() != copy.as_ref().as_ref() {
            return Err(OtherContent(chunk));
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
    /// The bytes of a sealed chunk: a handle, not a copy. `None` when there is no such chunk.
    #[must_use]
    pub fn chunk_bytes(&self, log: LogName, number: u32) -> Option<ChunkBytes> {
        self.log(log).sealed().get(number as usize).cloned()
    }

    /// The chunks sealed since `seen`, which then has seen them; a log's own are in order.
    pub fn new_chunks(&self, seen: &mut Seen) -> Vec<ChunkRef> {
        let mut new = Vec::new();
        for (&log, seen) in LogName::ALL.iter().zip(&mut seen.chunks) {
            let chunks = self.log(log).refs(log);
            new.extend(chunks.filter(|chunk| chunk.number >= *seen));
            *seen = self.log(log).sealed_count();
        }
        new
    }

    /// Puts a copy in the place of the view's own bytes of a chunk, and gives those back: freeing
    /// them takes time that nobody who waits for the view should lose. `None` when the view no
    /// longer holds what the copy was compared with, so that nothing was done.
    pub fn adopt_chunk(&mut self, copy: ChunkCopy) -> Option<ChunkBytes> {
        let ChunkCopy { chunk, own, copy } = copy;
        let held = self.chunk_bytes(chunk.log, chunk.number)?;
        if !Arc::ptr_eq(&held, &own) {
            return None;
        }
        self.log_mut(chunk.log).replace(chunk.number, copy)
    }

    pub(crate) fn log(&self, name: LogName) -> &Chunks {
        match name {
            LogName::Trades => self.trades.all.log().chunks(),
            LogName::FinishedOrders => self.orders.finished.log().chunks(),
            LogName::AccountTrades => self.trades.of_account.postings().chunks(),
            LogName::AllTrades => self.trades.of_all.postings().chunks(),
            LogName::MarketTrades => self.trades.of_market.postings().chunks(),
            LogName::AccountMarketTrades => self.trades.of_pair.postings().chunks(),
            LogName::TokenTrades => self.trades.of_token.postings().chunks(),
            LogName::BuilderTrades => self.trades.of_builder.postings().chunks(),
            LogName::Midpoints => self.midpoints.turns.chunks(),
            LogName::MarketMidpoints => self.midpoints.of_market.postings().chunks(),
            LogName::ClosedPositions => self.positions.closed.chunks(),
            LogName::AccountClosed => self.positions.closed_of.postings().chunks(),
            LogName::Actions => self.actions.all.chunks(),
            LogName::AccountActions => self.actions.of_account.postings().chunks(),
        }
    }

    fn log_mut(&mut self, name: LogName) -> &mut Chunks {
        match name {
            LogName::Trades => self.trades.all.log_mut().chunks_mut(),
            LogName::FinishedOrders => self.orders.finished.log_mut().chunks_mut(),
            LogName::AccountTrades => self.trades.of_account.postings_mut().chunks_mut(),
            LogName::AllTrades => self.trades.of_all.postings_mut().chunks_mut(),
            LogName::MarketTrades => self.trades.of_market.postings_mut().chunks_mut(),
            LogName::AccountMarketTrades => self.trades.of_pair.postings_mut().chunks_mut(),
            LogName::TokenTrades => self.trades.of_token.postings_mut().chunks_mut(),
            LogName::BuilderTrades => self.trades.of_builder.postings_mut().chunks_mut(),
            LogName::Midpoints => self.midpoints.turns.chunks_mut(),
            LogName::MarketMidpoints => self.midpoints.of_market.postings_mut().chunks_mut(),
            LogName::ClosedPositions => self.positions.closed.chunks_mut(),
            LogName::AccountClosed => self.positions.closed_of.postings_mut().chunks_mut(),
            LogName::Actions => self.actions.all.chunks_mut(),
            LogName::AccountActions => self.actions.of_account.postings_mut().chunks_mut(),
        }
    }

    /// Where the lists end whose postings a log holds, if their numbers are dense.
    pub(crate) fn heads(&self, name: LogName) -> Option<&Heads> {
        match name {
            LogName::Trades
            | LogName::FinishedOrders
            | LogName::AccountMarketTrades
            | LogName::Midpoints
            | LogName::ClosedPositions
            | LogName::Actions => None,
            LogName::AccountTrades => Some(self.trades.of_account.heads()),
            LogName::AllTrades => Some(self.trades.of_all.heads()),
            LogName::MarketTrades => Some(self.trades.of_market.heads()),
            LogName::TokenTrades => Some(self.trades.of_token.heads()),
            LogName::BuilderTrades => Some(self.trades.of_builder.heads()),
            LogName::MarketMidpoints => Some(self.midpoints.of_market.heads()),
            LogName::AccountClosed => Some(self.positions.closed_of.heads()),
            LogName::AccountActions => Some(self.actions.of_account.heads()),
        }
    }
}
