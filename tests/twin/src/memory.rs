//! What the exchange remembers so that a resent request is not carried out twice (protocol 7, 8, 16).

use foretell_model::digest::Fate;
use foretell_model::limits::{
    FORGOTTEN_PER_COMMAND, MAX_REFERENCES_PER_ACCOUNT, MAX_REMEMBERED_REFERENCES,
    MAX_REMEMBERED_REQUESTS, REFERENCE_MEMORY_NS, REQUEST_MEMORY_NS,
};
use foretell_model::{
    AccountNumber, CommandOutcome, Digest16, KeyNumber, OrderId, OrderNumber, OrderType,
    PlaceOrder, QuestionSet, Reference, Refusal, RefusalReason, Sequence, TimeMs, TimeNs,
    TimeSeconds,
};

use crate::answer::{Stop, ensure};
use crate::exchange::{At, Exchange};

/// An order id that was used, and the terms a repeat of it must share.
#[derive(Clone, Debug)]
pub(crate) struct RememberedOrder {
    pub(crate) number: OrderNumber,
    pub(crate) id: OrderId,
    pub(crate) timestamp: TimeMs,
    pub(crate) fate: Fate,
    pub(crate) in_timeline: bool,
    pub(crate) order_type: OrderType,
    pub(crate) expiration: TimeSeconds,
    pub(crate) post_only: bool,
    pub(crate) key: KeyNumber,
}

impl RememberedOrder {
    pub(crate) fn has_terms_of(&self, placed: &PlaceOrder) -> bool {
        self.order_type == placed.order_type
            && self.expiration == placed.expiration
            && self.post_only == placed.post_only
            && self.key == placed.key
    }
}

/// What an action with a reference asked for; a repeat must ask for the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Content {
    /// Of the command.
    pub(crate) code: u16,
    /// Acted on; 0 for fees.
    pub(crate) account: AccountNumber,
    /// Number of the market or event; 0 without.
    pub(crate) object: u32,
    /// Micros or lots; 0 for a redeem.
    pub(crate) amount: u64,
    /// Of a convert.
    pub(crate) questions: QuestionSet,
}

/// A reference that was used.
#[derive(Clone, Debug)]
pub(crate) struct RememberedReference {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    /// `None` for operators' deposits and withdrawals.
    pub(crate) scope: Option<AccountNumber>,
    pub(crate) reference: Reference,
    pub(crate) content: Content,
    pub(crate) outcome: CommandOutcome,
}

/// A cancel request that was carried out.
#[derive(Clone, Debug)]
pub(crate) struct RememberedRequest {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) owner: AccountNumber,
    pub(crate) request: Digest16,
    pub(crate) last: Sequence,
    pub(crate) cancelled: u32,
}

impl Exchange {
    pub(crate) fn remembered_order(&self, id: OrderId) -> Option<&RememberedOrder> {
        self.remembered_orders.values().find(|order| order.id == id)
    }

    /// The front of the timeline of ids: the one whose signed second is earliest.
    fn timeline_front(&self) -> Option<&RememberedOrder> {
        self.remembered_orders
            .values()
            .filter(|order| order.in_timeline)
            .min_by_key(|order| (order.timestamp.0 / 1_000, order.number))
    }

    /// Whether an id has outlived the window in which its order could come again.
    fn is_due(&self, order: &RememberedOrder, now: TimeNs) -> bool {
        let second = order.timestamp.0 / 1_000;
        (second + 1) * 1_000 + self.settings.timestamp_past_ms < now.millis().0
    }

    pub(crate) fn has_room_for_an_id(&self, now: TimeNs) -> bool {
        let held = self
            .remembered_orders
            .values()
            .filter(|order| order.in_timeline)
            .count();
        held < self.settings.remembered_order_ids as usize
            || self
                .timeline_front()
                .is_some_and(|front| self.is_due(front, now))
    }

    /// Remembers the id of an applied placement, having forgotten a few whose time has come.
    pub(crate) fn remember_order(&mut self, placed: &PlaceOrder, fate: Fate, at: At) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            let Some(front) = self.timeline_front() else {
                break;
            };
            if !self.is_due(front, at.time) {
                break;
            }
            let number = front.number;
            if front.fate == Fate::Live {
                self.remembered(number).in_timeline = false;
            } else {
                self.remembered_orders.remove(&number);
            }
        }
        let number = OrderNumber(at.sequence.0);
        self.remembered_orders.insert(
            number,
            RememberedOrder {
                number,
                id: placed.order,
                timestamp: placed.timestamp,
                fate,
                in_timeline: true,
                order_type: placed.order_type,
                expiration: placed.expiration,
                post_only: placed.post_only,
                key: placed.key,
            },
        );
    }

    fn remembered(&mut self, number: OrderNumber) -> &mut RememberedOrder {
        self.remembered_orders
            .get_mut(&number)
            .expect("an id is remembered at least while its order lives")
    }

    /// A live order is over: its id stays while it stands in the timeline.
    pub(crate) fn order_ended(&mut self, number: OrderNumber) {
        let order = self.remembered(number);
        order.fate = Fate::Done;
        if !order.in_timeline {
            self.remembered_orders.remove(&number);
        }
    }

    /// Stops an action whose reference was used (the same content is a repeat, other is refused), or
    /// for whose reference there is no room.
    pub(crate) fn check_reference(
        &self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Option<Content>,
        at: At,
    ) -> Result<(), Stop> {
        let Some(used) = self
            .references
            .iter()
            .find(|used| used.scope == scope && used.reference == reference)
        else {
            return self.check_room_for_a_reference(scope, at.time);
        };
        ensure(
            Some(used.content) == content,
            RefusalReason::ReferenceReused,
        )?;
        Err(Stop::Repeated {
            first: used.sequence,
            last: used.sequence,
            outcome: used.outcome,
        })
    }

    /// There is room for an account's reference while it and all accounts hold less than they may,
    /// or something is about to be forgotten. Operators always find room.
    fn check_room_for_a_reference(
        &self,
        scope: Option<AccountNumber>,
        now: TimeNs,
    ) -> Result<(), Stop> {
        let of_accounts = || self.references.iter().filter(|used| used.scope.is_some());
        let about_to_forget = of_accounts()
            .next()
            .is_some_and(|oldest| is_over(oldest.time, REFERENCE_MEMORY_NS, now));
        if scope.is_none() || about_to_forget {
            return Ok(());
        }
        let held = of_accounts().filter(|used| used.scope == scope).count() as u64;
        let allowed = u64::from(MAX_REFERENCES_PER_ACCOUNT);
        ensure(
            held < allowed,
            Refusal::with(RefusalReason::TooManyReferences, held, allowed),
        )?;
        ensure(
            of_accounts().count() < MAX_REMEMBERED_REFERENCES,
            RefusalReason::Busy,
        )
    }

    pub(crate) fn remember_reference(
        &mut self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Content,
        outcome: CommandOutcome,
        at: At,
    ) {
        if scope.is_some() {
            self.forget_references(at.time);
        }
        self.references.push(RememberedReference {
            sequence: at.sequence,
            time: at.time,
            scope,
            reference,
            content,
            outcome,
        });
    }

    /// Operators' references are kept for ever.
    fn forget_references(&mut self, now: TimeNs) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            let oldest = self.references.iter().position(|used| used.scope.is_some());
            match oldest {
                Some(index) if is_over(self.references[index].time, REFERENCE_MEMORY_NS, now) => {
                    self.references.remove(index);
                }
                _ => break,
            }
        }
    }

    pub(crate) fn check_request(
        &self,
        owner: AccountNumber,
        request: Digest16,
    ) -> Result<(), Stop> {
        let known = self
            .requests
            .iter()
            .find(|known| known.owner == owner && known.request == request);
        match known {
            Some(known) if request != Digest16::ZERO => Err(Stop::Repeated {
                first: known.sequence,
                last: known.last,
                outcome: CommandOutcome::Cancelled {
                    orders: known.cancelled,
                },
            }),
            _ => Ok(()),
        }
    }

    pub(crate) fn remember_request(&mut self, owner: AccountNumber, request: Digest16, at: At) {
        if request == Digest16::ZERO {
            return;
        }
        for _ in 0..FORGOTTEN_PER_COMMAND {
            match self.requests.first() {
                Some(oldest) if is_over(oldest.time, REQUEST_MEMORY_NS, at.time) => {
                    self.requests.remove(0);
                }
                _ => break,
            }
        }
        if self.requests.len() >= MAX_REMEMBERED_REQUESTS {
            self.requests.remove(0);
        }
        self.requests.push(RememberedRequest {
            sequence: at.sequence,
            time: at.time,
            owner,
            request,
            last: at.sequence,
            cancelled: 0,
        });
    }

    /// More orders ended for the work that began at `first`.
    pub(crate) fn count_for_request(&mut self, first: Sequence, orders: u32, at: At) {
        for known in &mut self.requests {
            if known.sequence == first {
                known.last = at.sequence;
                known.cancelled += orders;
            }
        }
    }
}

/// Whether something of this time has been kept for longer than that.
fn is_over(since: TimeNs, kept: u64, now: TimeNs) -> bool {
    since.0.saturating_add(kept) < now.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exchange that remembers so many references of each of these accounts, all of time 10.
    fn holding(accounts: u32, each: usize) -> Exchange {
        let mut exchange = Exchange::new();
        for account in (0..accounts).map(AccountNumber) {
            let used = RememberedReference {
                sequence: Sequence(1),
                time: TimeNs(10),
                scope: Some(account),
                reference: Reference([0; 32]),
                content: Content {
                    code: 19,
                    account,
                    object: 0,
                    amount: 1,
                    questions: QuestionSet::default(),
                },
                outcome: CommandOutcome::Done,
            };
            exchange.references.extend(std::iter::repeat_n(used, each));
        }
        exchange
    }

    fn room(exchange: &Exchange, account: Option<u32>, now: u64) -> Result<(), RefusalReason> {
        let scope = account.map(AccountNumber);
        match exchange.check_room_for_a_reference(scope, TimeNs(now)) {
            Ok(()) => Ok(()),
            Err(Stop::Refused(refusal)) => Err(refusal.reason),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn references_of_accounts_are_bounded_for_each_and_for_all() {
        let share = MAX_REFERENCES_PER_ACCOUNT as usize;
        let full = holding(1, share);
        let too_many = Err(RefusalReason::TooManyReferences);
        assert_eq!(room(&full, Some(0), 10), too_many);
        assert_eq!(room(&full, Some(0), 10 + REFERENCE_MEMORY_NS), too_many);
        assert_eq!(room(&full, Some(0), 11 + REFERENCE_MEMORY_NS), Ok(()));
        assert_eq!(room(&full, Some(1), 10), Ok(()));
        assert_eq!(room(&full, None, 10), Ok(()));
        let accounts = u32::try_from(MAX_REMEMBERED_REFERENCES / share).unwrap();
        let full = holding(accounts, share);
        assert_eq!(room(&full, Some(accounts), 10), Err(RefusalReason::Busy));
        assert_eq!(room(&full, None, 10), Ok(()));
    }
}
