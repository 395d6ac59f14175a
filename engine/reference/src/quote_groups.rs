//! Groups of quotes, and their records (docs/verify/rules.md §32).

use foretell_model::limits::EVICTED_PER_COMMAND;
use foretell_model::quote::QuoteLimits;
use foretell_model::state::{self, StateRecord};
use foretell_model::{AccountNumber, OrderId, Sequence, TimeMs, TimeNs};

use crate::exchange::Exchange;
use crate::quote_limits::{Fills, Window};

/// An account, and the number of one of its groups.
pub(crate) type GroupName = (AccountNumber, u8);

/// What is known of a group beside its live quotes.
#[derive(Clone, Debug)]
pub(crate) struct QuoteGroup {
    pub(crate) limits: QuoteLimits,
    /// `None` before the first one.
    pub(crate) last: Option<LastSet>,
    /// When its quotes end unless renewed.
    pub(crate) until: TimeNs,
    /// Whether a limit was reached.
    pub(crate) frozen: bool,
    pub(crate) window: Option<Window>,
    pub(crate) fills: Fills,
}

/// The last set of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastSet {
    pub(crate) revision: u64,
    pub(crate) digest: OrderId,
    pub(crate) sequence: Sequence,
    pub(crate) valid_until: TimeMs,
}

impl Default for QuoteGroup {
    fn default() -> Self {
        Self {
            limits: QuoteLimits::default(),
            last: None,
            until: TimeNs(0),
            frozen: false,
            window: None,
            fills: Fills::default(),
        }
    }
}

impl QuoteGroup {
    /// Of its last set; 0 before the first one.
    pub(crate) fn revision(&self) -> u64 {
        self.last.map_or(0, |last| last.revision)
    }
}

impl Exchange {
    /// Forgets groups without quotes, lease, limits and fills, at most [`EVICTED_PER_COMMAND`], by ascending
    /// `valid_until` of the last set. A set of that age is outside the time window by now.
    pub(crate) fn forget_quote_groups(&mut self, now: TimeNs) {
        let window_ms = self.settings.timestamp_past_ms + self.settings.timestamp_future_ms;
        let clock = now.min(self.wall_clock(now)).millis().0;
        let is_over = |valid_until: TimeMs| valid_until.0 + window_ms < clock;
        let mut over: Vec<(TimeMs, GroupName)> = Vec::new();
        for (name, group) in &self.quote_groups {
            let valid_until = group.last.map_or(TimeMs(0), |last| last.valid_until);
            let has_quotes = self.orders.of_group(*name).next().is_some();
            let has_limits = group.limits != QuoteLimits::default();
            let has_fills = group.fills.last().next().is_some();
            if is_over(valid_until) && !has_quotes && !has_limits && !has_fills {
                over.push((valid_until, *name));
            }
        }
        over.sort_unstable();
        for (_, name) in over.into_iter().take(EVICTED_PER_COMMAND) {
            self.quote_groups.remove(&name);
        }
    }

    pub(crate) fn visit_quote_groups(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for (name, group) in &self.quote_groups {
            visit(&group_record(*name, group));
        }
        for ((account, number), group) in &self.quote_groups {
            for fill in group.fills.last() {
                visit(&StateRecord::QuoteFill(state::QuoteFill {
                    account: *account,
                    group: *number,
                    market: fill.market,
                    outcome: fill.outcome,
                    side: fill.side,
                    sequence: fill.sequence,
                }));
            }
        }
        for ((account, number), group) in &self.quote_groups {
            for (market, lots) in group.window.iter().flat_map(|window| &window.net) {
                visit(&StateRecord::QuoteNet(state::QuoteNet {
                    account: *account,
                    group: *number,
                    market: *market,
                    lots: *lots,
                }));
            }
        }
    }
}

fn group_record((account, number): GroupName, group: &QuoteGroup) -> StateRecord {
    let last = group.last.unwrap_or(LastSet {
        revision: 0,
        digest: OrderId::ZERO,
        sequence: Sequence(0),
        valid_until: TimeMs(0),
    });
    let window = group.window.clone().unwrap_or_default();
    StateRecord::QuoteGroup(state::QuoteGroup {
        account,
        group: number,
        limits: group.limits,
        revision: last.revision,
        digest: last.digest,
        set: last.sequence,
        valid_until: last.valid_until,
        until: group.until,
        frozen: group.frozen,
        window_from: window.from,
        window_lots: window.lots,
        window_value: window.value,
        fills_before: group.fills.forgotten(),
    })
}
