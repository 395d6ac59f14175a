use super::*;
use crate::rows::trade_entry::tests::Listed;
use crate::rows::trade_list::{FilterableTrades, TradeList};
use crate::storage::by_number::entry_of;
use crate::storage::chunk::Chunking;
use crate::storage::list::{List, ListEnds, write_spans};

/// Lists of one kind, by number.
pub(crate) struct TradeLists {
    trades: Log<Trade>,
    spans: Log<Span<TradeSummary>>,
    kind: TradeListKind,
    ends: ListEnds<TradeSummary>,
}

impl TradeLists {
    /// Lists with these entries: those of a market, or those of an account if each has one row.
    pub(crate) fn filled(bits: u8, entries: &[Listed]) -> Self {
        let mut lists = Self {
            trades: Log::new(Chunking::Bits(bits)),
            spans: Log::new(Chunking::Bits(bits)),
            kind: match entries.first().and_then(|entry| entry.role) {
                None => TradeListKind::Market,
                Some(_) => TradeListKind::Account,
            },
            ends: ListEnds::default(),
        };
        let of_a_trade = entries.chunk_by(|one, other| one.slot == other.slot);
        of_a_trade.for_each(|entries| lists.push(entries));
        lists
    }

    fn push(&mut self, entries: &[Listed]) {
        let mut trade = entries[0].trade;
        for Listed {
            slot, list, role, ..
        } in entries
        {
            let link = LISTS.iter().position(|known| *known == (self.kind, *role));
            let end = entry_of(&mut self.ends, *list);
            let entry = TradeEntry::of(&trade);
            let own = role.map_or(entry, |role| entry.only(role));
            let link_of = end.push(posting_of(slot.0, *role), TradeSummary::of(&own));
            trade.links[link.unwrap()] = link_of.unwrap();
            let mut log = TradeNodeLog {
                trades: &self.trades,
                spans: &mut self.spans,
                kind: self.kind,
            };
            write_spans(&mut log, end).unwrap();
        }
        self.trades.push(&trade).unwrap();
    }

    pub(crate) fn list(&self, number: usize) -> FilterableTrades<'_> {
        let nodes = TradeNodes {
            trades: &self.trades,
            spans: &self.spans,
            kind: self.kind,
        };
        TradeList::of(List::of(nodes, self.ends.get(number)))
    }
}
