//! The nodes of lists of trades. The row of a trade is its posting in all six lists that have it:
//! all trades, its market, each account, the holding of each account in the market. So filtering
//! reads no other place, and a listed trade costs one link a list.

use foretell_model::codec::Fixed;

use crate::error::Impossible;
use crate::rows::trade::Trade;
use crate::rows::trade_entry::{Role, TradeEntry};
use crate::rows::trade_summary::TradeSummary;
use crate::storage::list::{NodeLog, Nodes, Span, Summary};
use crate::storage::log::Log;
use crate::storage::slot::Packed;

/// A kind of lists, and the index of its first link in a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TradeListKind {
    All = 0,
    Market = 1,
    Account = 2,
    Holding = 4,
}

/// The lists of a trade in the order of its links. Those of an account have one row of the trade.
pub(crate) const LISTS: [(TradeListKind, Option<Role>); 6] = [
    (TradeListKind::All, None),
    (TradeListKind::Market, None),
    (TradeListKind::Account, Some(Role::Taker)),
    (TradeListKind::Account, Some(Role::Maker)),
    (TradeListKind::Holding, Some(Role::Taker)),
    (TradeListKind::Holding, Some(Role::Maker)),
];

/// The slot of a trade's posting in a list with both rows, or with that of a role.
pub(crate) fn posting_of(trade: u64, role: Option<Role>) -> u64 {
    match role {
        None => trade,
        Some(role) => trade * Role::ALL.len() as u64 + role as u64,
    }
}

impl TradeListKind {
    /// The trade of a posting, and the role of its row if it has one.
    fn trade_of(self, posting: u64) -> (u64, Option<Role>) {
        match self {
            Self::All | Self::Market => (posting, None),
            Self::Account | Self::Holding => {
                let roles = Role::ALL.len() as u64;
                let role = Role::ALL[usize::from(!posting.is_multiple_of(roles))];
                (posting / roles, Some(role))
            }
        }
    }
}

/// Reads the nodes of one kind of lists.
#[derive(Clone, Copy, Debug)]
pub struct TradeNodes<'a> {
    pub(crate) trades: &'a Log<Trade>,
    pub(crate) spans: &'a Log<Span<TradeSummary>>,
    pub(crate) kind: TradeListKind,
}

impl Summary for TradeSummary {
    type Entry = TradeEntry;
    type Nodes<'a> = TradeNodes<'a>;

    fn of(entry: &TradeEntry) -> Self {
        Self::of(entry)
    }

    fn join(self, other: Self) -> Self {
        Self::join(self, other)
    }
}

impl Nodes<TradeSummary> for TradeNodes<'_> {
    #[inline]
    fn posting(self, slot: u64) -> Option<(u64, TradeEntry)> {
        let (trade, role) = self.kind.trade_of(slot);
        let row = self.trades.bytes(trade)?;
        let link = self.kind as usize + role.map_or(0, |role| role as usize);
        let older: Packed = Trade::field(row, Trade::LINKS + link * Packed::SIZE)?;
        let entry = TradeEntry::read(row)?;
        let own = role.map_or(entry, |role| entry.only(role));
        Some((older.slot(), own))
    }

    fn target(self, slot: u64) -> Option<u64> {
        Some(self.kind.trade_of(slot).0)
    }

    fn span(self, slot: u64) -> Option<Span<TradeSummary>> {
        self.spans.get(slot)
    }

    fn prefetch(self, slot: u64, is_span: bool) {
        match is_span {
            true => self.spans.prefetch(slot, 0..Span::<TradeSummary>::SIZE),
            false => (self.trades).prefetch(self.kind.trade_of(slot).0, Trade::SEARCHED),
        }
    }
}

/// The nodes of one kind of lists while one of them is extended.
pub(crate) struct TradeNodeLog<'a> {
    pub(crate) trades: &'a Log<Trade>,
    pub(crate) spans: &'a mut Log<Span<TradeSummary>>,
    pub(crate) kind: TradeListKind,
}

impl NodeLog<TradeSummary> for TradeNodeLog<'_> {
    fn nodes(&self) -> TradeNodes<'_> {
        TradeNodes {
            trades: self.trades,
            spans: self.spans,
            kind: self.kind,
        }
    }

    fn push_span(&mut self, span: &Span<TradeSummary>) -> Result<u64, Impossible> {
        let slot = self.spans.len();
        self.spans.push(span)?;
        Ok(slot)
    }
}

#[cfg(test)]
pub(crate) mod tests;
