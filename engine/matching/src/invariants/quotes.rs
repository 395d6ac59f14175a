//! Groups of quotes: their lists, leases and bounds (docs/verify/rules.md §32).

use std::collections::BTreeSet;

use foretell_model::limits::{MAX_QUOTES, QUOTE_GROUPS};
use foretell_model::state::PendingWork;

use crate::exchange::Exchange;
use crate::invariants::{Check, holds};
use crate::order_pool::Order;
use crate::quotes::QuoteGroup;
use crate::slab::NONE;

impl Exchange {
    pub(super) fn check_quotes(&self) -> Check {
        self.quotes.leases.check()?;
        self.quotes.idle.check()?;
        let mut listed = 0;
        let mut frozen = BTreeSet::new();
        for (slot, group) in self.quotes.sorted() {
            let (account, number) = group.name();
            let name = || format!("group {number} of account {account}");
            holds(self.quotes.find(account, number) == Some(slot), || {
                format!("{} is not found by its name", name())
            })?;
            holds(self.quotes.leases.get(slot) == group.due(), || {
                format!("{} is wrongly in or out of the leases", name())
            })?;
            holds(self.quotes.idle.get(slot) == group.idle(), || {
                format!("{} is wrongly in or out of those to forget", name())
            })?;
            self.check_group(slot, group)
                .map_err(|what| format!("{}: {what}", name()))?;
            listed += group.quotes.len();
            if group.record.frozen && !group.quotes.is_empty() {
                frozen.insert(slot);
            }
        }
        let marked = self.orders.iter().filter(|(_, order)| order.group != NONE);
        holds(marked.count() == listed, || {
            "orders and lists of quotes differ".into()
        })?;
        holds(
            self.quotes.frozen.iter().copied().collect::<BTreeSet<_>>() == frozen,
            || "the list of frozen groups is wrong".into(),
        )?;
        let ends_frozen = self.system.pending == Some(PendingWork::FrozenQuotes);
        holds(frozen.is_empty() || ends_frozen, || {
            "a frozen group has live quotes".into()
        })
    }

    fn check_group(&self, slot: u32, group: &QuoteGroup) -> Check {
        let quotes: Vec<_> = (group.quotes.iter())
            .map(|quote| &self.orders[*quote])
            .collect();
        let numbers = quotes.iter().map(|quote| quote.number);
        holds(numbers.is_sorted(), || "quotes are not by number".into())?;
        let of_group =
            |order: &&&Order| order.group == slot && order.account == group.record.account;
        holds(
            quotes.iter().filter(of_group).count() == quotes.len(),
            || "lists a quote of another".into(),
        )?;
        let remembered = quotes.iter().map(|quote| self.ids.at(quote.id_slot));
        holds(
            remembered.clone().all(|entry| !entry.in_expiry_queue),
            || "an id of a quote is in the expiry queue".into(),
        )?;
        let is_bounded = quotes.len() <= MAX_QUOTES
            && group.fills.len() <= MAX_QUOTES
            && group.nets.len() <= MAX_QUOTES
            && group.record.group < QUOTE_GROUPS;
        holds(is_bounded, || "is beyond its bounds".into())?;
        for quote in &quotes {
            let same = |other: &&&Order| {
                (other.market, other.outcome, other.side, other.yes_price)
                    == (quote.market, quote.outcome, quote.side, quote.yes_price)
            };
            holds(quotes.iter().filter(same).count() <= 2, || {
                "has more than two pieces of one key".into()
            })?;
        }
        Ok(())
    }
}
