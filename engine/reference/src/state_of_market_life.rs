//! The records of people, of markets' lives and of what waits.

use foretell_model::state::{self, StateRecord};
use foretell_model::{Lots, MarketTerms, Micros, OperatorNumber};

use crate::delayed_orders::DelayedOrder;
use crate::exchange::Exchange;
use crate::markets::market_number;
use crate::operators::operator_number;
use crate::plan::Demand;
use crate::resolution::DisputedBy;

impl Exchange {
    pub(crate) fn visit_market_life(&self, visit: &mut dyn FnMut(&StateRecord)) {
        visit(&StateRecord::Site(state::Site {
            payments: self.payments,
            policy: self.policy,
            rebates_since: self.accrued.since,
        }));
        for (index, operator) in self.operators.iter().enumerate() {
            visit(&StateRecord::Operator(state::Operator {
                operator: operator_number(index),
                name: operator.name,
                role: operator.role,
                token: operator.token,
                added: operator.added,
                live: operator.live,
            }));
        }
        self.visit_terms(visit);
        self.visit_policies(visit);
        self.visit_proposals(visit);
        for (account, amount) in self.accrued.values() {
            visit(&StateRecord::Accrued(state::Accrued { account, amount }));
        }
        for delayed in self.delayed.values() {
            visit(&delayed_record(delayed));
        }
        self.visit_waiting_payments(visit);
    }

    fn visit_terms(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for (index, market) in self.markets.iter().enumerate() {
            if market.terms != MarketTerms::default() {
                visit(&StateRecord::Terms(state::Terms {
                    market: market_number(index),
                    terms: market.terms,
                    clear_armed: market.clear_armed,
                }));
            }
        }
    }

    fn visit_policies(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for (index, market) in self.markets.iter().enumerate() {
            if let Some(policy) = market.policy {
                let market = market_number(index);
                visit(&StateRecord::Policy(state::Policy { market, policy }));
            }
        }
        for ((market, account), listed) in &self.listed {
            visit(&StateRecord::ListedWallet(state::ListedWallet {
                market: *market,
                account: *account,
                propose: listed.propose,
                dispute: listed.dispute,
            }));
        }
    }

    fn visit_proposals(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for (index, market) in self.markets.iter().enumerate() {
            let Some(proposal) = &market.proposal else {
                continue;
            };
            visit(&StateRecord::Proposal(state::Proposal {
                market: market_number(index),
                proposal: proposal.number,
                time: proposal.time,
                payout: proposal.payout,
                operator: proposal.actor.operator,
                by: proposal.actor.wallet,
                window_seconds: proposal.window_seconds,
                evidence: proposal.evidence,
                by_time: proposal.by_time,
                second_person: proposal.second_person,
                disputed: proposal.disputed.is_some(),
                disputed_by_time: proposal.disputed == Some(DisputedBy::Time),
                counter: proposal.disputed.and_then(DisputedBy::counter),
            }));
        }
    }

    fn visit_waiting_payments(&self, visit: &mut dyn FnMut(&StateRecord)) {
        for (number, waiting) in &self.withdrawals {
            visit(&StateRecord::PendingWithdrawal(state::PendingWithdrawal {
                withdrawal: *number,
                by_operator: waiting.by_operator,
                claimed_by: waiting.claimed_by.unwrap_or(OperatorNumber::NONE),
                two_persons: waiting.two_persons,
                account: waiting.account,
                amount: waiting.amount,
                reference: waiting.reference,
            }));
        }
        for entry in &self.background {
            visit(&StateRecord::Background(state::Background {
                first: entry.first,
                work: entry.work,
                next: entry.next,
                end: entry.end,
                paid: entry.paid,
            }));
        }
    }
}

fn delayed_record(delayed: &DelayedOrder) -> StateRecord {
    let order = &delayed.order;
    let (budget, minimum_lots) = match order.demand {
        Demand::Shares(_) => (Micros::ZERO, Lots::ZERO),
        Demand::Budget {
            budget, minimum, ..
        } => (budget, minimum),
    };
    StateRecord::DelayedOrder(state::DelayedOrder {
        order: order.number,
        id: order.id,
        account: order.account,
        market: order.market,
        outcome: order.outcome,
        side: order.side,
        order_type: order.order_type,
        price: order.limit,
        lots: order.demand.shares(),
        budget,
        minimum_lots,
        expiration: order.expiration,
        due: delayed.due,
        fee: order.fee,
        rebate_ppm: order.rebate_ppm,
        reserved: delayed.reserved,
        cancel: delayed.cancel,
    })
}
