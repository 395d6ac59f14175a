//! What a set of quotes does to its group (docs/verify/rules.md §32).

use std::collections::{BTreeMap, BTreeSet};

use foretell_model::command::SetQuotes;
use foretell_model::event::{QuotePlaced, QuoteRefused, QuotesSet};
use foretell_model::limits::MAX_QUOTES;
use foretell_model::quote::{QuotesResult, quote_id};
use foretell_model::state::OrderIdState;
use foretell_model::{
    CloseReason, CommandOutcome, Event, Lots, MarketNumber, OrderNumber, OrderType,
    RejectionReason, Side, TimeSeconds,
};

use crate::exchange::{Exchange, Stamp};
use crate::order_ids::RememberedOrder;
use crate::orders::Order;
use crate::quote_groups::{GroupName, LastSet};
use crate::quote_leases::end_of_lease;
use crate::quote_sets::{QuoteKey, WantedQuote};

impl Exchange {
    /// Does what a set that passed all checks asks for.
    pub(crate) fn requote(
        &mut self,
        set: &SetQuotes,
        markets: &[MarketNumber],
        quotes: &[WantedQuote],
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> CommandOutcome {
        let name = (set.account, set.group);
        let mut quotes_of_group = self.orders.of_group(name);
        let has_others = quotes_of_group.any(|order| !markets.contains(&order.market));
        drop(quotes_of_group);
        let group = self.quote_groups.entry(name).or_default();
        let valid_until = match group.last {
            Some(last) if has_others => last.valid_until.min(set.valid_until),
            _ => set.valid_until,
        };
        group.last = Some(LastSet {
            revision: set.revision,
            digest: set.digest,
            sequence: at.sequence,
            valid_until,
        });
        let until = end_of_lease(valid_until, group.limits.lease_ms, at.time);
        group.until = until;
        events.push(Event::QuotesSet(QuotesSet { until }));

        let live = self.orders.of_group(name);
        let live = live.filter(|order| markets.contains(&order.market));
        let live: Vec<Order> = live.cloned().collect();
        let mut stays = BTreeMap::new();
        let mut to_place = Vec::new();
        let mut too_small = BTreeSet::new();
        for (index, wanted) in (0..).zip(quotes) {
            let pieces = live.iter().filter(|order| key_of(order) == wanted.key());
            let pieces: Vec<&Order> = pieces.collect();
            let (mut kept, placed) = self.division(wanted, &pieces);
            let live: Lots = pieces.iter().map(|piece| piece.lots).sum();
            if wanted.quote.lots < live && kept == Lots::ZERO {
                too_small.insert(index);
            }
            for piece in pieces {
                let lots = piece.lots.min(kept);
                kept -= lots;
                stays.insert(piece.number, lots);
            }
            if placed > Lots::ZERO || too_small.contains(&index) {
                to_place.push((index, wanted, placed));
            }
        }

        let mut result = QuotesResult::default();
        for order in live {
            let lots = stays.get(&order.number).copied().unwrap_or_default();
            let minimum = self.markets[order.market.0 as usize].minimum_size;
            let is_dust = lots < order.lots && lots < minimum;
            if lots == Lots::ZERO || is_dust {
                self.close_order(order.number, CloseReason::Requoted, events);
                result.ended += 1;
            } else if lots < order.lots {
                self.take_off(order.number, lots, events);
                result.reduced += 1;
            } else {
                result.kept += 1;
            }
        }
        for (index, wanted, lots) in to_place {
            let below = RejectionReason::SizeBelowMinimum;
            let refusal = match too_small.contains(&index) {
                true => Some(below),
                false => self.refusal(set, wanted, lots),
            };
            if let Some(reason) = refusal {
                result.refuse(index, reason);
                events.push(Event::QuoteRefused(QuoteRefused { index, reason }));
            } else {
                result.placed.insert(index);
                self.place_quote(set, wanted, index, lots, at, events);
            }
        }
        CommandOutcome::Quotes(result)
    }

    /// How many lots of a quote's live pieces stay, from the head on, and how many are to be placed.
    fn division(&self, wanted: &WantedQuote, pieces: &[&Order]) -> (Lots, Lots) {
        let size = wanted.quote.lots;
        let live: Lots = pieces.iter().map(|piece| piece.lots).sum();
        let minimum = self.markets[wanted.market.0 as usize].minimum_size;
        match pieces.first() {
            _ if size == live => (live, Lots::ZERO),
            _ if size < live && size >= minimum => (size, Lots::ZERO),
            _ if size < live => (Lots::ZERO, Lots::ZERO),
            Some(head) if wanted.quote.grow_tail => (head.lots, size - head.lots),
            _ => (Lots::ZERO, size),
        }
    }

    /// Why a quote is not placed, if there is a reason.
    pub(crate) fn refusal(
        &self,
        set: &SetQuotes,
        wanted: &WantedQuote,
        lots: Lots,
    ) -> Option<RejectionReason> {
        let name: GroupName = (set.account, set.group);
        let (market, outcome, side, price) = wanted.key();
        let group = self.quote_groups.get(&name).cloned().unwrap_or_default();
        let minimum = self.markets[market.0 as usize].minimum_size;
        let crosses = || {
            let mut makers = self.crossing(market, outcome, side, price);
            makers.next().is_some()
        };
        let has_room = || {
            let live = self.live_orders(set.account);
            let of_group = self.orders.of_group(name).count();
            live < self.settings.live_orders_per_account && of_group < MAX_QUOTES
        };
        let has_collateral = || {
            let free = self.accounts[set.account.0 as usize].free;
            lots.value_at(price) <= free
        };
        let has_shares = || {
            let free = self.free_shares_of(set.account, market);
            lots <= free[outcome.index()]
        };
        if group.fills.has_after(set.seen, market, outcome, side) {
            Some(RejectionReason::FilledSince)
        } else if lots < minimum {
            Some(RejectionReason::SizeBelowMinimum)
        } else if crosses() {
            Some(RejectionReason::CrossesBook)
        } else if !has_room() {
            Some(RejectionReason::TooManyLiveOrders)
        } else if side == Side::Buy && !has_collateral() {
            Some(RejectionReason::NotEnoughCollateral)
        } else if side == Side::Sell && !has_shares() {
            Some(RejectionReason::NotEnoughShares)
        } else {
            None
        }
    }

    fn place_quote(
        &mut self,
        set: &SetQuotes,
        wanted: &WantedQuote,
        index: u8,
        lots: Lots,
        at: Stamp,
        events: &mut Vec<Event>,
    ) {
        let number = OrderNumber::of(at.sequence, index);
        let id = quote_id(&set.digest, index);
        self.order_ids.insert(RememberedOrder {
            number,
            id,
            timestamp: set.timestamp,
            state: OrderIdState::Live,
            in_expiry_queue: false,
            order_type: OrderType::Gtc,
            expiration: TimeSeconds(0),
            post_only: true,
            key: set.key,
            owner: self.keys[set.key.0 as usize].owner,
        });
        self.put_into_book(Order {
            number,
            id,
            account: set.account,
            market: wanted.market,
            outcome: wanted.quote.outcome,
            side: wanted.quote.side,
            price: wanted.quote.price,
            lots,
            expiration: TimeSeconds(0),
            arrival: at.sequence,
            group: Some(set.group),
        });
        events.push(Event::QuotePlaced(QuotePlaced {
            order: number,
            lots,
        }));
    }
}

const fn key_of(order: &Order) -> QuoteKey {
    (order.market, order.outcome, order.side, order.price)
}
