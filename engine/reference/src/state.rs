//! The state as the canonical list of records, and its digest.

use std::collections::BTreeMap;

use foretell_model::digest::StateDigest;
use foretell_model::outside::OUTSIDE_INDEX;
use foretell_model::state::{self, StateRecord};
use foretell_model::{AccountNumber, CommandOutcome, MarketNumber, Micros, SlugDigest};

use crate::accounts::account_number;
use crate::event_groups::event_number;
use crate::exchange::Exchange;
use crate::markets::{Shares, market_number};
use crate::orders::Order;

impl Exchange {
    /// The digest of all records of the state.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        self.visit_state(&mut |record| digest.push(record));
        digest.finish()
    }

    /// Visits every record of the state, in the order of [`StateRecord`].
    pub fn visit_state(&self, visit: &mut dyn FnMut(&StateRecord)) {
        visit(&StateRecord::System(state::System {
            rules: self.rules,
            sequence: self.sequence,
            time: self.time,
            mode: self.mode,
            settings: self.settings,
            timestamp_floor: self.timestamp_floor,
            collateral: self.collateral,
            fees: self.fees,
            pending: self.pending,
            sandbox: self.beginning.sandbox,
            pays_on_redeem: self.beginning.pays_on_redeem,
            simulated_until: self.beginning.simulated_until,
            clock: self.clock,
            branch: self.branch,
            withdrawals_shut: self.withdrawals_shut,
            reopened: self.reopened,
        }));
        for (domain, separator) in &self.domains {
            visit(&StateRecord::Domain(state::Domain {
                domain: *domain,
                separator: *separator,
            }));
        }
        self.visit_accounts(visit);
        self.visit_keys(visit);
        self.visit_markets(visit);
        self.visit_positions(visit);
        self.visit_books(visit);
        self.visit_memory(visit);
        self.visit_market_life(visit);
        self.visit_quote_groups(visit);
    }

    fn visit_accounts(&self, visit: &mut dyn FnMut(&StateRecord)) {
        let mut reserved: BTreeMap<AccountNumber, (Micros, u32)> = BTreeMap::new();
        for order in self.orders.values() {
            let (collateral, live) = reserved.entry(order.account).or_default();
            *collateral += order.reserved_collateral();
            *live += 1;
        }
        for delayed in self.delayed.values() {
            let (collateral, live) = reserved.entry(delayed.order.account).or_default();
            *collateral += delayed.reserved_collateral();
            *live += 1;
        }
        for waiting in self.withdrawals.values() {
            let (collateral, _) = reserved.entry(waiting.account).or_default();
            *collateral += waiting.amount;
        }
        for (index, account) in self.accounts.iter().enumerate() {
            let number = account_number(index);
            let (reserved, live_orders) = reserved.get(&number).copied().unwrap_or_default();
            visit(&StateRecord::Account(state::Account {
                account: number,
                wallet: account.wallet,
                owner: account.owner,
                kind: account.kind,
                closed_only: account.closed_only,
                heartbeat: account.heartbeat,
                free: account.free,
                reserved,
                live_orders,
                withdrawal_valid_until: account.withdrawal_valid_until,
            }));
        }
    }

    fn visit_keys(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for (number, key) in (0..).zip(&self.keys) {
            visit(&StateRecord::Key(state::Key {
                key: foretell_model::KeyNumber(number),
                api_key: key.api_key,
                owner: key.owner,
                nonce: key.nonce,
                read_only: key.read_only,
                live: key.live,
            }));
        }
    }

    fn visit_markets(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for (index, event) in self.event_groups.iter().enumerate() {
            let number = event_number(index);
            let questions = self.questions_of(number).len();
            visit(&StateRecord::Event(state::Event {
                event: number,
                id: event.id,
                frozen: event.frozen,
                questions: u32::try_from(questions).expect("an event has at most 128 questions"),
                converted: event.converted,
                outside: event.outside,
            }));
        }
        for (index, market) in self.markets.iter().enumerate() {
            visit(&StateRecord::Market(state::Market {
                market: market_number(index),
                condition: market.condition,
                tokens: market.tokens,
                tick: market.tick,
                tick_refines: market.tick_refines,
                minimum_size: market.minimum_size,
                fee: market.fee,
                question: match market.outside_of {
                    Some(event) => Some((event, OUTSIDE_INDEX)),
                    None => market.question,
                },
                index: market.index,
                holds: market.holds(),
                state: market.state,
                payout: market.payout,
                archived: market.archived,
                supply: market.supply,
                slug: market.slug.unwrap_or(SlugDigest::ZERO),
                content: market.content,
            }));
        }
    }

    fn visit_positions(&self, visit: &mut dyn FnMut(&StateRecord)) {
        let mut held: BTreeMap<(AccountNumber, MarketNumber), (Shares, Shares)> = BTreeMap::new();
        for (holder, free) in &self.free_shares {
            held.entry(*holder).or_default().0 = *free;
        }
        for order in self.orders.values() {
            let (_, reserved) = held.entry((order.account, order.market)).or_default();
            reserved[order.outcome.index()] += order.reserved_shares();
        }
        for delayed in self.delayed.values() {
            let order = &delayed.order;
            let (_, reserved) = held.entry((order.account, order.market)).or_default();
            reserved[order.outcome.index()] += delayed.reserved_shares();
        }
        for ((account, market), (free, reserved)) in held {
            if free != Shares::default() || reserved != Shares::default() {
                visit(&StateRecord::Position(state::Position {
                    account,
                    market,
                    free,
                    reserved,
                }));
            }
        }
    }

    fn visit_books(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for market in (0..self.markets.len()).map(market_number) {
            for bids in [true, false] {
                for order in self.book_side(market, bids) {
                    visit(&order_record(order));
                }
            }
        }
    }

    fn visit_memory(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for order in self.order_ids.values() {
            visit(&StateRecord::RememberedOrder(state::RememberedOrder {
                order: order.number,
                id: order.id,
                timestamp: order.timestamp,
                state: order.state,
                in_expiry_queue: order.in_expiry_queue,
                order_type: order.order_type,
                expiration: order.expiration,
                post_only: order.post_only,
                key: order.key,
            }));
        }
        for used in self.references.values() {
            visit(&StateRecord::RememberedReference(
                state::RememberedReference {
                    sequence: used.sequence,
                    time: used.time,
                    scope: used.scope,
                    reference: used.reference,
                    kind: used.content.kind,
                    account: used.content.account,
                    object: used.content.object,
                    amount: used.content.amount,
                    questions: used.content.questions,
                    collateral: match used.outcome {
                        CommandOutcome::Collateral(collateral) => collateral,
                        _ => Micros::ZERO,
                    },
                    released: matches!(used.outcome, CommandOutcome::Released(_)),
                },
            ));
        }
    }
}

fn order_record(order: &Order) -> StateRecord {
    StateRecord::Order(state::Order {
        order: order.number,
        id: order.id,
        account: order.account,
        market: order.market,
        outcome: order.outcome,
        side: order.side,
        price: order.price,
        lots: order.lots,
        expiration: order.expiration,
        group: order.group,
    })
}
