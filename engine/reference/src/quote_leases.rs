//! When the quotes of a group end by themselves (docs/verify/rules.md §32).

use foretell_model::command::RenewQuotes;
use foretell_model::event::QuotesRenewed;
use foretell_model::{
    CloseReason, CommandOutcome, Event, OrderNumber, Rejection, RejectionReason, TimeMs, TimeNs,
};

use crate::clock::Thing;
use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::orders::Order;
use crate::quote_groups::GroupName;

const MILLISECOND: u64 = 1_000_000;

/// When quotes that are set or renewed now end: at `valid_until`, or at the end of the lease when that is
/// earlier.
pub(crate) fn end_of_lease(valid_until: TimeMs, lease_ms: u32, now: TimeNs) -> TimeNs {
    let latest = valid_until.0.saturating_mul(MILLISECOND);
    let lease = u64::from(lease_ms) * MILLISECOND;
    TimeNs(match lease {
        0 => latest,
        lease => latest.min(now.0.saturating_add(lease)),
    })
}

impl Exchange {
    pub(crate) fn renew_quotes(
        &mut self,
        &RenewQuotes {
            account,
            key,
            group: number,
            revision,
        }: &RenewQuotes,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_maker(account, key)?;
        let name = (account, number);
        let quotes = u8::try_from(self.orders.of_group(name).count());
        let quotes = quotes.expect("a group has at most 64 live quotes");
        ensure(quotes > 0, RejectionReason::NoLiveQuotes)?;
        let group = &self.quote_groups[&name];
        let last = group.last.expect("a set placed the quotes");
        let other = RejectionReason::RevisionOutOfRange;
        ensure(
            revision == last.revision,
            Rejection::with(other, last.revision, last.revision),
        )?;
        let before = group.until;
        let until = end_of_lease(last.valid_until, group.limits.lease_ms, at.time);
        let lease = |until| CommandOutcome::Lease { until, quotes };
        ensure(until != before, NotApplied::already(lease(before)))?;

        self.quote_groups.entry(name).or_default().until = until;
        events.push(Event::QuotesRenewed(QuotesRenewed { until }));
        Ok(lease(until))
    }

    /// Whether an order is a quote whose lease has ended.
    pub(crate) fn lease_ended(&self, order: &Order, now: TimeNs) -> bool {
        let group = order.group_name();
        group.is_some_and(|name| self.quote_groups[&name].until <= now)
    }

    /// The first lease to end, of those with a live quote.
    pub(crate) fn first_lease(&self) -> Option<(TimeNs, Thing)> {
        let groups = self.orders.quoting_groups();
        groups
            .map(|name| (self.quote_groups[&name].until, Thing::Lease(name.0, name.1)))
            .min()
    }

    /// Ends the quotes of a group.
    pub(crate) fn end_lease(&mut self, name: GroupName, events: &mut Vec<Event>) -> CommandOutcome {
        let quotes = self.orders.of_group(name).map(|order| order.number);
        let quotes: Vec<OrderNumber> = quotes.collect();
        let mut orders = 0;
        for quote in quotes {
            self.close_order(quote, CloseReason::LeaseEnded, events);
            orders += 1;
        }
        CommandOutcome::Cancelled { orders }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_at_the_earlier_moment() {
        let now = TimeNs(5_000_000_001);
        assert_eq!(end_of_lease(TimeMs(6_000), 0, now), TimeNs(6_000_000_000));
        assert_eq!(
            end_of_lease(TimeMs(6_000), 1_000, now),
            TimeNs(6_000_000_000)
        );
        assert_eq!(end_of_lease(TimeMs(6_000), 500, now), TimeNs(5_500_000_001));
    }
}
