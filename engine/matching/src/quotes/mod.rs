//! Quotes (docs/verify/rules.md §32): groups of resting orders that signed sets replace. `set` applies a
//! set, `limits` what ends or freezes a group.

mod limits;
mod set;

use std::ops::{Index, IndexMut};

use foretell_model::limits::{EVICTED_PER_COMMAND, MAX_QUOTES, QUOTE_GROUPS};
use foretell_model::quote::QuoteLimits;
use foretell_model::state::{QuoteFill, QuoteGroup as Record, QuoteNet};
use foretell_model::{AccountNumber, Lots, Micros, OrderId, Sequence, TimeMs, TimeNs};

use crate::clock::{Due, Rank};
use crate::command_context::CommandContext;
use crate::exchange::Exchange;
use crate::indexed_heap::IndexedHeap;
use crate::quotes::set::WantedQuote;
use crate::slab::Slab;
use crate::table::{KeyHasher, Table};

/// A group of quotes of a wallet.
#[derive(Debug)]
pub(crate) struct QuoteGroup {
    pub(crate) record: Record,
    /// Slots of its live quotes, by number.
    pub(crate) quotes: Vec<u32>,
    pub(crate) fills: Vec<QuoteFill>,
    pub(crate) nets: Vec<QuoteNet>,
}

impl QuoteGroup {
    /// A group that nobody has used.
    pub(crate) const fn new(account: AccountNumber, group: u8) -> Self {
        let record = Record {
            account,
            group,
            limits: NO_LIMITS,
            revision: 0,
            digest: OrderId::ZERO,
            set: Sequence(0),
            valid_until: TimeMs(0),
            until: TimeNs(0),
            frozen: false,
            window_from: TimeNs(0),
            window_lots: Lots::ZERO,
            window_value: Micros::ZERO,
            fills_before: Sequence(0),
        };
        Self {
            record,
            quotes: Vec::new(),
            fills: Vec::new(),
            nets: Vec::new(),
        }
    }

    /// Its account and group.
    pub(crate) const fn name(&self) -> (AccountNumber, u8) {
        (self.record.account, self.record.group)
    }

    /// When its quotes end unless renewed; `None` without any.
    pub(crate) fn due(&self) -> Option<Due> {
        (!self.quotes.is_empty()).then_some(Due {
            at: self.record.until,
            rank: Rank::Lease,
            number: u64::from(self.record.account.0) << 8 | u64::from(self.record.group),
        })
    }

    /// Its place among the groups to forget, if no quote, lease, limit or fill needs it.
    pub(crate) fn idle(&self) -> Option<Idle> {
        let is_idle =
            self.quotes.is_empty() && self.fills.is_empty() && self.record.limits == NO_LIMITS;
        let (account, group) = self.name();
        is_idle.then_some((self.record.valid_until, account, group))
    }

    /// Live quotes.
    pub(crate) fn live(&self) -> u8 {
        u8::try_from(self.quotes.len()).expect("at most 64")
    }
}

/// The order in which groups are forgotten: by the end of their last quotes, then by name.
pub(crate) type Idle = (TimeMs, AccountNumber, u8);

/// Limits of a group that has none.
const NO_LIMITS: QuoteLimits = QuoteLimits {
    lease_ms: 0,
    window_ms: 0,
    lots: Lots::ZERO,
    value: Micros::ZERO,
    net_lots: Lots::ZERO,
};

/// The groups that are remembered, by slot.
#[derive(Debug)]
pub(crate) struct QuoteGroups {
    groups: Slab<QuoteGroup>,
    by_name: Table,
    /// Those that may be forgotten.
    pub(crate) idle: IndexedHeap<Idle>,
    /// By slot.
    pub(crate) leases: IndexedHeap<Due>,
    /// Slots of frozen groups that have live quotes, by account and group.
    pub(crate) frozen: Vec<u32>,
    /// What the last set wanted; used again by the next.
    wanted: Vec<WantedQuote>,
    hasher: KeyHasher,
}

impl QuoteGroups {
    pub(crate) fn new(hasher: KeyHasher) -> Self {
        Self {
            groups: Slab::with_capacity(0),
            by_name: Table::with_capacity(0),
            idle: IndexedHeap::with_capacity(0, 0),
            leases: IndexedHeap::with_capacity(0, 0),
            frozen: Vec::new(),
            wanted: Vec::with_capacity(MAX_QUOTES),
            hasher,
        }
    }

    pub(crate) fn find(&self, account: AccountNumber, group: u8) -> Option<u32> {
        self.by_name.find(self.hash(account, group), |slot| {
            self[slot].name() == (account, group)
        })
    }

    /// The groups of a wallet, by number.
    pub(crate) fn of_wallet(&self, account: AccountNumber) -> impl Iterator<Item = &QuoteGroup> {
        let slots = (0..QUOTE_GROUPS).filter_map(move |group| self.find(account, group));
        slots.map(|slot| &self[slot])
    }

    /// Adds a group that is not there yet.
    pub(crate) fn add(&mut self, group: QuoteGroup) -> u32 {
        let (account, number) = group.name();
        let slot = self.groups.insert(group);
        self.by_name.insert(self.hash(account, number), slot);
        slot
    }

    /// Forgets the first of the idle groups if its quotes ended before `end`. Returns whether it did.
    fn forget_one(&mut self, end: TimeMs) -> bool {
        let first = self.idle.first();
        let Some(((_, account, group), slot)) = first.filter(|(idle, _)| idle.0 < end) else {
            return false;
        };
        self.idle.set(slot, None);
        self.by_name.remove(self.hash(account, group), slot);
        // A released value stays in its slot, and would keep its lists.
        self.groups[slot] = QuoteGroup::new(account, group);
        self.groups.release(slot);
        true
    }

    pub(crate) fn find_or_add(&mut self, account: AccountNumber, group: u8) -> u32 {
        self.find(account, group)
            .unwrap_or_else(|| self.add(QuoteGroup::new(account, group)))
    }

    /// Notes a frozen group that has live quotes.
    pub(crate) fn freeze(&mut self, slot: u32) {
        let name = self[slot].name();
        let at = self
            .frozen
            .partition_point(|other| self[*other].name() < name);
        self.frozen.insert(at, slot);
    }

    /// All groups with their slots, by account and group. Allocates.
    pub(crate) fn sorted(&self) -> Vec<(u32, &QuoteGroup)> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_unstable_by_key(|(_, group)| group.name());
        groups
    }

    fn hash(&self, account: AccountNumber, group: u8) -> u32 {
        self.hasher
            .number(u128::from(account.0) << 8 | u128::from(group))
    }
}

impl Index<u32> for QuoteGroups {
    type Output = QuoteGroup;
    fn index(&self, slot: u32) -> &QuoteGroup {
        &self.groups[slot]
    }
}

impl IndexMut<u32> for QuoteGroups {
    fn index_mut(&mut self, slot: u32) -> &mut QuoteGroup {
        &mut self.groups[slot]
    }
}

impl Exchange {
    /// Takes an ended order out of its group.
    #[cold]
    pub(crate) fn remove_quote(&mut self, group: u32, slot: u32) {
        let quotes = &mut self.quotes[group].quotes;
        let place = quotes.iter().position(|quote| *quote == slot);
        quotes.remove(place.expect("a quote is in the list of its group"));
        if quotes.is_empty() {
            self.quotes.frozen.retain(|frozen| *frozen != group);
            self.schedule(group);
        }
    }

    /// Brings the queue of leases, and that of groups to forget, up to date with a group.
    pub(crate) fn schedule(&mut self, group: u32) {
        let (due, idle) = (self.quotes[group].due(), self.quotes[group].idle());
        self.quotes.leases.set(group, due);
        self.quotes.idle.set(group, idle);
        self.refresh_clock();
    }

    /// Forgets groups that nothing needs: a set as old as their last one is out of its time by now.
    fn forget_idle_groups(&mut self, context: &CommandContext<'_>) {
        let settings = &self.system.settings;
        let window = settings.timestamp_past_ms + settings.timestamp_future_ms;
        let now = self.system.earliest_clock(context.now).millis();
        let end = TimeMs(now.0.saturating_sub(window));
        for _ in 0..EVICTED_PER_COMMAND {
            if !self.quotes.forget_one(end) {
                return;
            }
        }
    }
}
