//! What ends or freezes a group of quotes: its lease, its limits, a revoked key.

use foretell_model::command::{RenewQuotes, SetQuoteLimits};
use foretell_model::event::{QuoteLimitsSet, QuotesFrozen, QuotesRenewed};
use foretell_model::limits::{MAX_QUOTES, QUOTE_GROUPS};
use foretell_model::state::{PendingWork, QuoteFill, QuoteNet};
use foretell_model::{
    CloseReason, CommandOutcome, Event, Fill, Lots, MarketNumber, Micros, Outcome, Rejection,
    RejectionReason, Sequence, Side, TimeNs,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::order_pool::Order;
use crate::quotes::QuoteGroup;

const MILLISECOND: u64 = 1_000_000;

impl QuoteGroup {
    /// When its quotes end if they are renewed now.
    pub(super) fn renewed(&self, now: TimeNs) -> TimeNs {
        let end = self.record.valid_until.start();
        match self.record.limits.lease_ms {
            0 => end,
            lease => end.min(TimeNs(now.0.saturating_add(u64::from(lease) * MILLISECOND))),
        }
    }

    /// Starts a window with its first fill; at 0 there is none.
    fn start_window(&mut self, from: TimeNs) {
        self.record.window_from = from;
        (self.record.window_lots, self.record.window_value) = (Lots::ZERO, Micros::ZERO);
        self.nets.clear();
    }

    /// Reserves the memory that its lists may need, before its first quote.
    pub(super) fn reserve(&mut self) {
        if self.quotes.capacity() < MAX_QUOTES {
            self.quotes.reserve_exact(MAX_QUOTES - self.quotes.len());
            self.fills.reserve_exact(MAX_QUOTES - self.fills.len());
            self.nets.reserve_exact(MAX_QUOTES - self.nets.len());
        }
    }

    /// Notes a fill of one of its quotes. Returns whether it reaches a limit.
    fn note_fill(&mut self, quote: &Order, lots: Lots, context: &CommandContext<'_>) -> bool {
        self.remember_fill(quote, context);
        let limits = self.record.limits;
        if limits.window_ms == 0 || self.record.frozen {
            return false;
        }
        let window = &self.record;
        let length = u64::from(limits.window_ms) * MILLISECOND;
        let is_over = context.now.0 - window.window_from.0 >= length;
        if window.window_from == TimeNs(0) || is_over {
            self.start_window(context.now);
        }
        // What a window trades has no bound: shares may go back and forth in it.
        let window = &mut self.record;
        let value = lots.value_at(quote.own_price());
        window.window_lots = Lots(window.window_lots.0.saturating_add(lots.0));
        window.window_value = Micros(window.window_value.0.saturating_add(value.0));
        let reaches = |sum: u64, limit: u64| limit > 0 && sum >= limit;
        let is_reached = reaches(window.window_lots.0, limits.lots.0)
            || reaches(window.window_value.0, limits.value.0);
        let is_net_reached = limits.net_lots.0 > 0 && self.note_net(quote, lots);
        is_reached || is_net_reached
    }

    /// Adds to the net shares of a market. Returns whether they reach their limit, or are those of more
    /// markets than are counted.
    fn note_net(&mut self, quote: &Order, lots: Lots) -> bool {
        let market = quote.market;
        let known = self.nets.iter().position(|net| net.market == market);
        let at = known.unwrap_or(self.nets.len());
        if at == MAX_QUOTES {
            return true;
        }
        if known.is_none() {
            self.nets.push(QuoteNet {
                account: quote.account,
                group: self.record.group,
                market,
                lots: [Lots::ZERO; 2],
            });
        }
        let net = &mut self.nets[at];
        let sum = &mut net.lots[quote.book_side() as usize];
        *sum = Lots(sum.0.saturating_add(lots.0));
        let [bought, sold] = net.lots;
        bought.0.abs_diff(sold.0) >= self.record.limits.net_lots.0
    }

    fn remember_fill(&mut self, quote: &Order, context: &CommandContext<'_>) {
        let fill = QuoteFill {
            account: quote.account,
            group: self.record.group,
            market: quote.market,
            outcome: quote.outcome,
            side: quote.side,
            sequence: context.sequence,
        };
        self.fills.retain(|known| name_of(known) != name_of(&fill));
        if self.fills.len() == MAX_QUOTES {
            self.record.fills_before = self.fills.remove(0).sequence;
        }
        self.fills.push(fill);
    }

    /// Whether a command after `seen` filled it at this token and side, or may have.
    pub(super) fn is_filled_after(&self, seen: Sequence, filled: TokenSide) -> bool {
        let mut of_name = self.fills.iter().filter(|fill| name_of(fill) == filled);
        self.record.fills_before > seen || of_name.any(|fill| fill.sequence > seen)
    }
}

/// A token, and the side of a quote in it.
type TokenSide = (MarketNumber, Outcome, Side);

const fn name_of(fill: &QuoteFill) -> TokenSide {
    (fill.market, fill.outcome, fill.side)
}

impl Exchange {
    pub(crate) fn set_quote_limits(
        &mut self,
        command: &SetQuoteLimits,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let SetQuoteLimits {
            account,
            key,
            group,
            limits,
            reset,
        } = *command;
        self.ensure_key(key, self.account(account)?)?;
        ensure(group < QUOTE_GROUPS, RejectionReason::InvalidQuotes)?;
        ensure(limits.are_valid(), RejectionReason::InvalidQuoteLimits)?;
        let known = self.quotes.find(account, group);
        let (before, frozen) = known.map_or_else(Default::default, |slot| {
            let record = &self.quotes[slot].record;
            (record.limits, record.frozen)
        });
        ensure(
            before != limits || frozen && reset,
            NotApplied::already(CommandOutcome::Done),
        )?;

        let slot = self.quotes.find_or_add(account, group);
        let changed = &mut self.quotes[slot];
        changed.record.limits = limits;
        changed.record.frozen = frozen && !reset;
        changed.start_window(TimeNs(0));
        self.schedule(slot);
        context.event(Event::QuoteLimitsSet(QuoteLimitsSet {
            account,
            group,
            limits,
            frozen: frozen && !reset,
        }));
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn renew_quotes(
        &mut self,
        &RenewQuotes {
            account,
            key,
            group,
            revision,
        }: &RenewQuotes,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_key(key, self.account(account)?)?;
        let known = self.quotes.find(account, group);
        let slot = known
            .filter(|slot| !self.quotes[*slot].quotes.is_empty())
            .ok_or(RejectionReason::NoLiveQuotes)?;
        let renewed = &self.quotes[slot];
        let current = renewed.record.revision;
        let other = Rejection::with(RejectionReason::RevisionOutOfRange, current, current);
        ensure(revision == current, other)?;
        let (before, until) = (renewed.record.until, renewed.renewed(context.now));
        let lease = |until| CommandOutcome::Lease {
            until,
            quotes: renewed.live(),
        };
        ensure(until != before, NotApplied::already(lease(before)))?;

        let outcome = lease(until);
        self.quotes[slot].record.until = until;
        self.schedule(slot);
        context.event(Event::QuotesRenewed(QuotesRenewed { until }));
        Ok(outcome)
    }

    /// Notes a fill of a quote, whose event was the last one.
    #[cold]
    pub(crate) fn note_quote_fill(
        &mut self,
        slot: u32,
        fill: &Fill,
        context: &mut CommandContext<'_>,
    ) {
        let quote = self.orders[slot];
        let group = &mut self.quotes[quote.group];
        if !group.note_fill(&quote, fill.lots, context) {
            return;
        }
        group.record.frozen = true;
        let (account, number) = group.name();
        context.event(Event::QuotesFrozen(QuotesFrozen {
            account,
            group: number,
        }));
        self.quotes.freeze(quote.group);
    }

    /// Leaves the quotes of frozen groups to `Continue`, which comes before anything else.
    pub(crate) fn leave_frozen_quotes(&mut self, context: &mut CommandContext<'_>) {
        if !self.quotes.frozen.is_empty() {
            self.system.pending = Some(PendingWork::FrozenQuotes);
            context.event(Event::WorkPending);
        }
    }

    /// Ends the quotes of the group whose lease is due.
    pub(crate) fn end_lease(&mut self, context: &mut CommandContext<'_>) -> u32 {
        let (_, group) = self.quotes.leases.first().expect("a lease is due");
        let orders = self.quotes[group].live();
        while let Some(quote) = self.quotes[group].quotes.first() {
            self.close_order(*quote, CloseReason::LeaseEnded, context);
        }
        orders.into()
    }
}
