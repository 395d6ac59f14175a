//! Dispatches each state record to the structure that stores it.

use foretell_model::limits::{FIRST_RULES, NEWEST_RULES};
use foretell_model::state::{self, StateRecord};

use crate::accounts::Account;
use crate::background::Background;
use crate::clock::MarketClock;
use crate::delayed_queue::DelayedOrder;
use crate::held_withdrawals::HeldWithdrawal;
use crate::id_memory::OrderTerms;
use crate::idempotency::{ActionContent, UsedReference};
use crate::keys::{Key, KeyNames};
use crate::ladder::Ladder;
use crate::market::{Market, MarketNames};
use crate::operators::Operator;
use crate::order_pool::Order;
use crate::policies::Permissions;
use crate::positions::Position;
use crate::resolution::Proposal;
use crate::restore::idempotency::outcome_of;
use crate::restore::{Checked, Restorer, check};
use crate::slab::NONE;
use crate::system::System;

impl Restorer {
    /// One arm per record kind.
    pub(super) fn put(&mut self, record: &StateRecord) -> Checked {
        match *record {
            StateRecord::System(state::System {
                rules,
                sequence,
                time,
                mode,
                settings,
                timestamp_floor,
                collateral,
                fees,
                pending,
            }) => {
                let is_known = (FIRST_RULES..=NEWEST_RULES).contains(&rules);
                check(is_known, "unknown rules")?;
                let system = System {
                    rules,
                    sequence,
                    time,
                    mode,
                    settings,
                    timestamp_floor,
                    collateral,
                    fees,
                    pending,
                    ..System::default()
                };
                self.put_system(system)
            }
            StateRecord::Domain(state::Domain { domain, separator }) => {
                self.exchange.system.domains[usize::from(domain.0)] = Some(separator);
                Ok(())
            }
            StateRecord::Account(state::Account {
                account,
                wallet,
                owner,
                kind,
                closed_only,
                heartbeat,
                free,
                reserved,
                live_orders,
            }) => {
                self.live_orders.push(live_orders);
                let marks = Account {
                    free,
                    reserved,
                    owner,
                    live_orders: 0,
                    first_order: NONE,
                    last_order: NONE,
                    order_ids: 0,
                    kind,
                    closed_only,
                    heartbeat,
                };
                self.put_account(account, wallet, marks)
            }
            StateRecord::Key(state::Key {
                key,
                api_key,
                owner,
                nonce,
                read_only,
                live,
            }) => {
                let marks = Key {
                    owner,
                    read_only,
                    live,
                };
                self.put_key(key, marks, KeyNames { api_key, nonce })
            }
            StateRecord::Event(state::Event {
                event,
                id,
                frozen,
                questions,
                converted,
                outside,
            }) => {
                self.questions.push(questions);
                self.put_event(event, id, frozen, converted, outside)
            }
            StateRecord::Market(state::Market {
                market,
                condition,
                tokens,
                tick,
                tick_refines,
                minimum_size,
                fee,
                question,
                index,
                state,
                holds,
                payout,
                archived,
                supply,
            }) => {
                let rules = Market {
                    ladder: Ladder::new(tick),
                    supply,
                    minimum_size,
                    fee,
                    delay_ms: 0,
                    rebate_ppm: 0,
                    state,
                    tick_refines,
                    question,
                    holds,
                    payout,
                    archived,
                };
                let names = MarketNames {
                    condition,
                    tokens,
                    index,
                };
                self.put_market(market, rules, names)
            }
            StateRecord::Position(state::Position {
                account,
                market,
                free,
                reserved,
            }) => self.put_position(Position {
                free,
                reserved,
                account,
                market,
            }),
            StateRecord::Order(state::Order {
                order,
                id,
                account,
                market,
                outcome,
                side,
                price,
                lots,
                expiration,
            }) => {
                let resting = Order {
                    lots,
                    number: order,
                    expiration,
                    account,
                    market,
                    position: NONE,
                    id_slot: NONE,
                    next: NONE,
                    previous: NONE,
                    account_next: NONE,
                    account_previous: NONE,
                    heap: NONE,
                    yes_price: price,
                    outcome,
                    side,
                };
                self.put_order(id, price, resting)
            }
            StateRecord::RememberedOrder(state::RememberedOrder {
                order,
                id,
                timestamp,
                state,
                in_expiry_queue,
                order_type,
                expiration,
                post_only,
                key,
            }) => {
                let terms = OrderTerms {
                    expiration,
                    key,
                    order_type,
                    post_only,
                };
                self.put_order_id((order, id), timestamp, terms, (state, in_expiry_queue))
            }
            StateRecord::RememberedReference(state::RememberedReference {
                sequence,
                time,
                scope,
                reference,
                kind,
                account,
                object,
                amount,
                questions,
                collateral,
            }) => self.put_reference(UsedReference {
                sequence,
                time,
                scope,
                reference,
                kind,
                content: ActionContent {
                    account,
                    object,
                    amount,
                    questions,
                },
                outcome: outcome_of(kind, account, collateral)?,
            }),
            StateRecord::Site(state::Site {
                payments,
                policy,
                rebates_since,
            }) => self.put_site(payments, policy, rebates_since),
            StateRecord::Operator(state::Operator {
                operator,
                name,
                role,
                token,
                live,
            }) => {
                let added = Operator {
                    name,
                    role,
                    token,
                    live,
                };
                self.put_operator(operator, added)
            }
            StateRecord::Terms(state::Terms {
                market,
                terms,
                clear_armed,
            }) => self.put_terms(market, MarketClock { terms, clear_armed }),
            StateRecord::Policy(state::Policy { market, policy }) => {
                self.put_policy(market, policy)
            }
            StateRecord::ListedWallet(state::ListedWallet {
                market,
                account,
                propose,
                dispute,
            }) => self.put_listed(market, account, Permissions { propose, dispute }),
            StateRecord::Proposal(state::Proposal {
                market,
                proposal,
                time,
                payout,
                operator,
                by,
                window_seconds,
                evidence,
                by_time,
                second_person,
                disputed,
                counter,
            }) => {
                let put = Proposal {
                    number: proposal,
                    time,
                    payout,
                    operator,
                    by,
                    window_seconds,
                    evidence,
                    by_time,
                    second_person,
                    disputed,
                    counter,
                };
                self.put_proposal(market, put)
            }
            StateRecord::Accrued(state::Accrued { account, amount }) => {
                self.put_accrued(account, amount)
            }
            StateRecord::DelayedOrder(state::DelayedOrder {
                order,
                id,
                account,
                market,
                outcome,
                side,
                order_type,
                price,
                lots,
                budget,
                minimum_lots,
                expiration,
                due,
                fee,
                rebate_ppm,
                reserved,
                cancel,
            }) => {
                let entry = Order {
                    lots,
                    number: order,
                    expiration,
                    account,
                    market,
                    position: NONE,
                    id_slot: NONE,
                    next: NONE,
                    previous: NONE,
                    account_next: NONE,
                    account_previous: NONE,
                    heap: NONE,
                    yes_price: price,
                    outcome,
                    side,
                };
                let delayed = DelayedOrder {
                    order: NONE,
                    number: order,
                    market,
                    order_type,
                    budget,
                    minimum_lots,
                    due,
                    fee,
                    rebate_ppm,
                    reserved,
                    cancel,
                };
                self.put_delayed(id, price, entry, delayed)
            }
            StateRecord::HeldWithdrawal(state::HeldWithdrawal {
                sequence,
                operator,
                account,
                amount,
                reference,
            }) => self.put_held(HeldWithdrawal {
                sequence,
                operator,
                account,
                amount,
                reference,
            }),
            StateRecord::Background(state::Background {
                first,
                work,
                next,
                end,
                paid,
            }) => self.put_background(Background {
                first,
                work,
                next,
                end,
                paid,
            }),
        }
    }
}
