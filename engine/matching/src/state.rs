//! The state as the canonical list of [`foretell_model::digest`].

use foretell_memory::prefetch;
use foretell_model::state::{self, StateRecord};
use foretell_model::{CommandOutcome, DomainNumber};

use crate::exchange::Exchange;
use crate::order_pool::{BookSide, Order};
use crate::slab::NONE;

/// Prefetch distance for positions and remembered ids; for orders twice that. Each is at a random
/// address.
const PREFETCH_DISTANCE: usize = 16;

/// Receives the records one by one.
type Visit<'a> = &'a mut dyn FnMut(&StateRecord);

impl Exchange {
    /// Lists the whole state in canonical order. Allocates.
    pub fn visit_state(&self, visit: Visit<'_>) {
        self.visit_system(visit);
        self.visit_accounts(visit);
        self.visit_markets(visit);
        self.visit_positions(visit);
        self.visit_orders(visit);
        self.visit_order_ids(visit);
        self.visit_references(visit);
        self.visit_people(visit);
        self.visit_market_life(visit);
        self.visit_waiting(visit);
        self.visit_quotes(visit);
    }

    fn visit_quotes(&self, visit: Visit<'_>) {
        let groups = self.quotes.sorted();
        for (_, group) in &groups {
            visit(&StateRecord::QuoteGroup(group.record));
        }
        for (_, group) in &groups {
            let fills = group.fills.iter().copied();
            fills.for_each(|fill| visit(&StateRecord::QuoteFill(fill)));
        }
        for (_, group) in &groups {
            let nets = group.nets.iter().copied();
            nets.for_each(|net| visit(&StateRecord::QuoteNet(net)));
        }
    }

    fn visit_people(&self, visit: Visit<'_>) {
        visit(&StateRecord::Site(state::Site {
            payments: self.rebates.payments,
            policy: self.policies.site.policy,
            rebates_since: self.rebates.since,
        }));
        for operator in self.operators.iter() {
            visit(&StateRecord::Operator(*operator));
        }
    }

    fn visit_market_life(&self, visit: Visit<'_>) {
        for (market, clock) in self.clock.iter() {
            visit(&StateRecord::Terms(state::Terms {
                market,
                terms: clock.terms,
                clear_armed: clock.clear_armed,
            }));
        }
        for (market, own) in &self.policies.markets {
            visit(&StateRecord::Policy(state::Policy {
                market: *market,
                policy: own.policy,
            }));
        }
        let site = std::iter::once((None, &self.policies.site));
        let markets = self.policies.markets.iter();
        for (market, own) in site.chain(markets.map(|(market, own)| (Some(*market), own))) {
            for (account, permissions) in &own.wallets {
                visit(&StateRecord::ListedWallet(state::ListedWallet {
                    market,
                    account: *account,
                    propose: permissions.propose,
                    dispute: permissions.dispute,
                }));
            }
        }
        for proposal in self.resolution.iter() {
            visit(&StateRecord::Proposal(*proposal));
        }
    }

    /// What waits: accrued rebates, delayed orders, withdrawals, background work.
    fn visit_waiting(&self, visit: Visit<'_>) {
        for (account, amount) in self.rebates.iter() {
            visit(&StateRecord::Accrued(state::Accrued { account, amount }));
        }
        let mut delayed: Vec<_> = self.delayed.iter().map(|(_, delayed)| delayed).collect();
        delayed.sort_unstable_by_key(|delayed| delayed.number);
        for delayed in delayed {
            let order = &self.orders[delayed.order];
            visit(&StateRecord::DelayedOrder(state::DelayedOrder {
                order: delayed.number,
                id: self.ids.at(order.id_slot).id,
                account: order.account,
                market: order.market,
                outcome: order.outcome,
                side: order.side,
                order_type: delayed.order_type,
                price: order.own_price(),
                lots: order.lots,
                budget: delayed.budget,
                minimum_lots: delayed.minimum_lots,
                expiration: order.expiration,
                due: delayed.due,
                fee: delayed.fee,
                rebate_ppm: delayed.rebate_ppm,
                reserved: delayed.reserved,
                cancel: delayed.cancel,
            }));
        }
        for withdrawal in self.withdrawals.sorted() {
            visit(&StateRecord::PendingWithdrawal(withdrawal));
        }
        for work in self.background.iter() {
            visit(&StateRecord::Background(*work));
        }
    }

    fn visit_system(&self, visit: Visit<'_>) {
        let system = &self.system;
        visit(&StateRecord::System(state::System {
            rules: system.rules,
            sequence: system.sequence,
            time: system.time,
            mode: system.mode,
            settings: system.settings,
            timestamp_floor: system.timestamp_floor,
            collateral: system.collateral,
            fees: system.fees,
            pending: system.pending,
            sandbox: system.beginning.sandbox,
            pays_on_redeem: system.beginning.pays_on_redeem,
            simulated_until: system.beginning.simulated_until,
            clock: system.clock,
            branch: system.branch,
            withdrawals_shut: system.withdrawals_shut,
            reopened: system.reopened,
        }));
        for (number, separator) in (0..=u8::MAX).zip(&system.domains) {
            if let Some(separator) = *separator {
                visit(&StateRecord::Domain(state::Domain {
                    domain: DomainNumber(number),
                    separator,
                }));
            }
        }
    }

    fn visit_accounts(&self, visit: Visit<'_>) {
        for (number, account, identity) in self.accounts.iter() {
            visit(&StateRecord::Account(state::Account {
                account: number,
                wallet: identity.wallet,
                owner: account.owner,
                kind: account.kind,
                closed_only: account.closed_only,
                heartbeat: account.heartbeat,
                free: account.free,
                reserved: account.reserved,
                live_orders: account.live_orders,
                withdrawal_valid_until: identity.withdrawal_valid_until,
            }));
        }
        for (number, key, names) in self.keys.iter() {
            visit(&StateRecord::Key(state::Key {
                key: number,
                api_key: names.api_key,
                owner: key.owner,
                nonce: names.nonce,
                read_only: key.read_only,
                live: key.live,
            }));
        }
    }

    fn visit_markets(&self, visit: Visit<'_>) {
        for (number, event) in self.event_groups.iter() {
            visit(&StateRecord::Event(state::Event {
                event: number,
                id: event.id,
                frozen: event.frozen,
                questions: u32::try_from(event.questions.len()).expect("at most MAX_QUESTIONS"),
                converted: event.converted,
                outside: event.outside,
            }));
        }
        for (number, market, names) in self.markets.iter() {
            visit(&StateRecord::Market(state::Market {
                market: number,
                condition: names.condition,
                tokens: names.tokens,
                tick: market.ladder.tick(),
                tick_refines: market.tick_refines,
                minimum_size: market.minimum_size,
                fee: market.fee,
                question: market.question,
                index: names.index,
                state: market.state,
                holds: market.holds,
                payout: market.payout,
                archived: market.archived,
                supply: market.supply,
                slug: names.slug,
                content: names.content,
            }));
        }
    }

    fn visit_positions(&self, visit: Visit<'_>) {
        let positions = self.positions.iter().map(|(_, position)| position);
        let held = positions.filter(|position| position.has_shares());
        let mut held: Vec<_> = held
            .map(|position| ((position.account, position.market), position))
            .collect();
        held.sort_unstable_by_key(|(key, _)| *key);
        for (at, (_, position)) in held.iter().enumerate() {
            if let Some((_, later)) = held.get(at + PREFETCH_DISTANCE) {
                prefetch::item(*later);
            }
            visit(&StateRecord::Position(state::Position {
                account: position.account,
                market: position.market,
                free: position.free,
                reserved: position.reserved,
            }));
        }
    }

    /// Collects the slots first, because following links prevents prefetching.
    fn visit_orders(&self, visit: Visit<'_>) {
        let mut listed = Vec::with_capacity(self.orders.len());
        for (market, _, _) in self.markets.iter() {
            for side in [BookSide::Bid, BookSide::Ask] {
                listed.extend(self.book(market, side));
            }
        }
        let orders = listed.iter().map(|slot| &self.orders[*slot]);
        let mut far = orders.clone().skip(2 * PREFETCH_DISTANCE);
        let mut close = orders.clone().skip(PREFETCH_DISTANCE);
        for order in orders {
            if let Some(later) = far.next() {
                prefetch::item(later);
            }
            if let Some(later) = close.next() {
                prefetch::item(self.ids.at(later.id_slot));
            }
            visit(&StateRecord::Order(state::Order {
                order: order.number,
                id: self.ids.at(order.id_slot).id,
                account: order.account,
                market: order.market,
                outcome: order.outcome,
                side: order.side,
                price: order.own_price(),
                lots: order.lots,
                expiration: order.expiration,
                group: self.quote_group_of(order),
            }));
        }
    }

    fn quote_group_of(&self, order: &Order) -> Option<u8> {
        (order.group != NONE).then(|| self.quotes[order.group].record.group)
    }

    fn visit_order_ids(&self, visit: Visit<'_>) {
        let entries = self.ids.iter().map(|(_, entry)| entry);
        let mut remembered: Vec<_> = entries.map(|entry| (entry.number, entry)).collect();
        remembered.sort_unstable_by_key(|(number, _)| *number);
        for (_, entry) in remembered {
            visit(&StateRecord::RememberedOrder(state::RememberedOrder {
                order: entry.number,
                id: entry.id,
                timestamp: entry.timestamp,
                state: entry.state(),
                in_expiry_queue: entry.in_expiry_queue,
                order_type: entry.terms.order_type,
                expiration: entry.terms.expiration,
                post_only: entry.terms.post_only,
                key: entry.terms.key,
            }));
        }
    }

    fn visit_references(&self, visit: Visit<'_>) {
        for used in self.references.iter() {
            visit(&StateRecord::RememberedReference(
                state::RememberedReference {
                    sequence: used.sequence,
                    time: used.time,
                    scope: used.scope,
                    reference: used.reference,
                    kind: used.kind,
                    account: used.content.account,
                    object: used.content.object,
                    amount: used.content.amount,
                    questions: used.content.questions,
                    collateral: used.collateral(),
                    released: matches!(used.outcome, CommandOutcome::Released(_)),
                },
            ));
        }
    }
}
