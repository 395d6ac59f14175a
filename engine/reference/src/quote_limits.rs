//! What a group of quotes trades: its limits, and the fills that a later set must have seen
//! (docs/verify/rules.md §32).

use foretell_model::command::SetQuoteLimits;
use foretell_model::event::{QuoteLimitsSet, QuotesFrozen};
use foretell_model::limits::{MAX_QUOTES, QUOTE_GROUPS};
use foretell_model::quote::QuoteLimits;
use foretell_model::state::PendingWork;
use foretell_model::{
    CommandOutcome, Event, Lots, MarketNumber, Micros, Outcome, RejectionReason, Sequence, Side,
    TimeNs,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::orders::Order;

const MILLISECOND: u64 = 1_000_000;

/// The last fill of a group at a token and side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastFill {
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    /// The command of the fill.
    pub(crate) sequence: Sequence,
}

/// The last fills of a group: the `MAX_QUOTES` latest tokens and sides.
#[derive(Clone, Default, Debug)]
pub(crate) struct Fills {
    /// The oldest first.
    last: Vec<LastFill>,
    /// The latest of those that went.
    forgotten: Sequence,
}

impl Fills {
    pub(crate) fn last(&self) -> impl Iterator<Item = &LastFill> {
        self.last.iter()
    }

    pub(crate) const fn forgotten(&self) -> Sequence {
        self.forgotten
    }

    fn remember(&mut self, maker: &Order, sequence: Sequence) {
        let (market, outcome, side) = (maker.market, maker.outcome, maker.side);
        self.last
            .retain(|fill| (fill.market, fill.outcome, fill.side) != (market, outcome, side));
        self.last.push(LastFill {
            market,
            outcome,
            side,
            sequence,
        });
        if self.last.len() > MAX_QUOTES {
            self.forgotten = self.last.remove(0).sequence;
        }
    }

    /// Whether there was, or may have been, a fill at a token and side after this command.
    pub(crate) fn has_after(
        &self,
        seen: Sequence,
        market: MarketNumber,
        outcome: Outcome,
        side: Side,
    ) -> bool {
        let mut last = self.last.iter();
        let known = last
            .find(|fill| (fill.market, fill.outcome, fill.side) == (market, outcome, side))
            .is_some_and(|fill| fill.sequence > seen);
        known || self.forgotten > seen
    }
}

/// What a group traded since the first fill of its window.
#[derive(Clone, Default, Debug)]
pub(crate) struct Window {
    /// The time of its first fill.
    pub(crate) from: TimeNs,
    pub(crate) lots: Lots,
    pub(crate) value: Micros,
    /// Of each market, in the order of the first fill: Yes bought or No sold, then Yes sold or No bought.
    pub(crate) net: Vec<(MarketNumber, [Lots; 2])>,
}

impl Window {
    fn is_over(&self, limits: &QuoteLimits, now: TimeNs) -> bool {
        let length = u64::from(limits.window_ms) * MILLISECOND;
        now.0 - self.from.0 >= length
    }

    /// Counts a fill, and returns whether it reached a limit.
    fn count(&mut self, maker: &Order, lots: Lots, limits: &QuoteLimits) -> bool {
        // A window has no bound, as shares may go back and forth in it.
        self.lots = Lots(self.lots.0.saturating_add(lots.0));
        let value = self.value.0.saturating_add(lots.value_at(maker.price).0);
        self.value = Micros(value);
        let reaches_lots = limits.lots > Lots::ZERO && self.lots >= limits.lots;
        let reaches_value = limits.value > Micros::ZERO && self.value >= limits.value;
        let reaches_net = limits.net_lots > Lots::ZERO && {
            let net = self.count_net(maker, lots);
            net.is_none_or(|net| net >= limits.net_lots)
        };
        reaches_lots || reaches_value || reaches_net
    }

    /// The net shares of the market with this fill; `None` when no market more is counted.
    fn count_net(&mut self, maker: &Order, lots: Lots) -> Option<Lots> {
        let known = self.net.iter().position(|(of, _)| *of == maker.market);
        let place = match known {
            Some(place) => place,
            None if self.net.len() == MAX_QUOTES => return None,
            None => {
                self.net.push((maker.market, [Lots::ZERO; 2]));
                self.net.len() - 1
            }
        };
        let (_, both_ways) = &mut self.net[place];
        let sum = &mut both_ways[usize::from(!maker.is_bid())];
        *sum = Lots(sum.0.saturating_add(lots.0));
        let [one_way, other_way] = *both_ways;
        Some(Lots(one_way.0.abs_diff(other_way.0)))
    }
}

impl Exchange {
    /// Sets the limits of a group. A frozen group stays frozen unless it is reset.
    pub(crate) fn set_quote_limits(
        &mut self,
        &SetQuoteLimits {
            account,
            key,
            group: number,
            limits,
            reset,
        }: &SetQuoteLimits,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_maker(account, key)?;
        ensure(number < QUOTE_GROUPS, RejectionReason::InvalidQuotes)?;
        ensure(limits.are_valid(), RejectionReason::InvalidQuoteLimits)?;
        let name = (account, number);
        let current = self.quote_groups.get(&name).cloned().unwrap_or_default();
        let resets = reset && current.frozen;
        ensure(
            resets || limits != current.limits,
            NotApplied::already(CommandOutcome::Done),
        )?;

        let group = self.quote_groups.entry(name).or_default();
        group.limits = limits;
        group.window = None;
        if reset {
            group.frozen = false;
        }
        events.push(Event::QuoteLimitsSet(QuoteLimitsSet {
            account,
            group: number,
            limits,
            frozen: group.frozen,
        }));
        Ok(CommandOutcome::Done)
    }

    /// Counts a fill of a quote; the fill that reaches a limit freezes its group.
    pub(crate) fn note_fill_of_quote(
        &mut self,
        maker: &Order,
        lots: Lots,
        at: Stamp,
        events: &mut Vec<Event>,
    ) {
        let Some(name) = maker.group_name() else {
            return;
        };
        let group = self.quote_groups.get_mut(&name);
        let group = group.expect("a set made the group of its quotes");
        group.fills.remember(maker, at.sequence);
        if group.frozen || group.limits.window_ms == 0 {
            return;
        }
        let limits = group.limits;
        let running = group.window.take();
        let mut window = running
            .filter(|window| !window.is_over(&limits, at.time))
            .unwrap_or(Window {
                from: at.time,
                ..Window::default()
            });
        group.frozen = window.count(maker, lots, &limits);
        group.window = Some(window);
        if group.frozen {
            let (account, group) = name;
            events.push(Event::QuotesFrozen(QuotesFrozen { account, group }));
        }
    }

    /// The live quotes of frozen groups end next.
    pub(crate) fn leave_frozen_quotes(&mut self, events: &mut Vec<Event>) {
        let work = PendingWork::FrozenQuotes;
        if !self.orders_of(&work).is_empty() {
            self.pending = Some(work);
            events.push(Event::WorkPending);
        }
    }
}
