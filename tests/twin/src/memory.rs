//! What the exchange remembers so that a resent request is not carried out twice (protocol 7, 8, 16).

use foretell_model::digest::Fate;
use foretell_model::limits::{
    FORGOTTEN_PER_COMMAND, MAX_REFERENCES_PER_ACCOUNT, MAX_REMEMBERED_REFERENCES,
    MAX_REMEMBERED_REQUESTS, ORDER_ID_SHARES, REFERENCE_MEMORY_NS, REFERENCES_PER_ACCOUNT,
    REQUEST_MEMORY_NS, RESERVED_ORDER_IDS,
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

impl Content {
    /// Whether it turns shares into collateral only: a merge or a redeem.
    const fn is_exit(&self) -> bool {
        matches!(self.code, 20 | 21)
    }
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

    /// There is room for an id while the timeline holds fewer than it may, of all owners and (rules
    /// 2) of this one, or an id is about to be forgotten.
    pub(crate) fn check_room_for_an_id(&self, key: KeyNumber, now: TimeNs) -> Result<(), Stop> {
        let about_to_forget = self
            .timeline_front()
            .is_some_and(|front| self.is_due(front, now));
        if about_to_forget {
            return Ok(());
        }
        let owner_of = |key: KeyNumber| self.keys[key.0 as usize].owner;
        let in_timeline = || {
            self.remembered_orders
                .values()
                .filter(|order| order.in_timeline)
        };
        let allowed = self.settings.remembered_order_ids;
        let share = u64::from((allowed / ORDER_ID_SHARES).max(1));
        let held = in_timeline()
            .filter(|order| owner_of(order.key) == owner_of(key))
            .count() as u64;
        let has_reserve = self.rules >= 2 && held < share && held < u64::from(RESERVED_ORDER_IDS);
        ensure(
            has_reserve || in_timeline().count() < allowed as usize,
            RefusalReason::Busy,
        )?;
        ensure(
            self.rules == 1 || held < share,
            Refusal::with(RefusalReason::TooManyOrderIds, held, share),
        )
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
            let is_exit = content.is_some_and(|content| content.is_exit());
            return match scope {
                None => Ok(()),
                Some(_) if self.rules == 1 => self.check_room_among_all(scope, at.time),
                Some(_) if is_exit => Ok(()),
                Some(_) => self.check_room_of_the_account(scope, at.time),
            };
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

    /// Rules 1: there is room for an account's reference while it and all accounts hold less than
    /// they may, or something is about to be forgotten.
    fn check_room_among_all(&self, scope: Option<AccountNumber>, now: TimeNs) -> Result<(), Stop> {
        let of_accounts = || self.references.iter().filter(|used| used.scope.is_some());
        let about_to_forget = of_accounts()
            .next()
            .is_some_and(|oldest| is_over(oldest.time, REFERENCE_MEMORY_NS, now));
        if about_to_forget {
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

    /// Rules 2: there is room while the account holds less than it may, or its oldest reference has
    /// outlived the request that used it.
    fn check_room_of_the_account(
        &self,
        scope: Option<AccountNumber>,
        now: TimeNs,
    ) -> Result<(), Stop> {
        let of_account = || self.references.iter().filter(|used| used.scope == scope);
        let gives_way = of_account()
            .next()
            .is_some_and(|oldest| is_over(oldest.time, REQUEST_MEMORY_NS, now));
        let held = of_account().count() as u64;
        let allowed = u64::from(REFERENCES_PER_ACCOUNT);
        ensure(
            gives_way || held < allowed,
            Refusal::with(RefusalReason::TooManyReferences, held, allowed),
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
            if self.rules >= 2 {
                self.make_room_in_the_account(scope);
            }
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

    /// Operators' references are kept for ever. Rules 2 keep those of accounts for a shorter time
    /// while there are many.
    fn forget_references(&mut self, now: TimeNs) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            let of_accounts = || self.references.iter().filter(|used| used.scope.is_some());
            let is_crowded = self.rules >= 2 && of_accounts().count() >= MAX_REMEMBERED_REFERENCES;
            let kept = if is_crowded {
                REQUEST_MEMORY_NS
            } else {
                REFERENCE_MEMORY_NS
            };
            let oldest = self.references.iter().position(|used| used.scope.is_some());
            match oldest {
                Some(index) if is_over(self.references[index].time, kept, now) => {
                    self.references.remove(index);
                }
                _ => break,
            }
        }
    }

    /// Rules 2: an account's oldest references give way to its next.
    fn make_room_in_the_account(&mut self, scope: Option<AccountNumber>) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            let is_of_account = |used: &RememberedReference| used.scope == scope;
            let held = self.references.iter().filter(|used| is_of_account(used));
            if held.count() < REFERENCES_PER_ACCOUNT as usize {
                break;
            }
            let oldest = self.references.iter().position(is_of_account);
            self.references.remove(oldest.expect("it holds some"));
        }
    }

    /// Rules 2 never stop here: they remember nothing.
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

    /// Whether such a command finds room for a reference that is new.
    fn room(
        exchange: &Exchange,
        code: u16,
        account: Option<u32>,
        now: u64,
    ) -> Result<(), RefusalReason> {
        let scope = account.map(AccountNumber);
        let content = Content {
            code,
            account: scope.unwrap_or(AccountNumber(0)),
            object: 0,
            amount: 1,
            questions: QuestionSet::default(),
        };
        let at = At {
            sequence: Sequence(2),
            time: TimeNs(now),
        };
        match exchange.check_reference(scope, Reference([1; 32]), Some(content), at) {
            Ok(()) => Ok(()),
            Err(Stop::Refused(refusal)) => Err(refusal.reason),
            Err(other) => panic!("{other:?}"),
        }
    }

    const SPLIT: u16 = 19;
    const MERGE: u16 = 20;
    const REDEEM: u16 = 21;
    const CONVERT: u16 = 22;
    const DEPOSIT: u16 = 10;

    #[test]
    fn references_of_accounts_are_bounded_for_each_and_for_all() {
        let share = MAX_REFERENCES_PER_ACCOUNT as usize;
        let full = holding(1, share);
        let too_many = Err(RefusalReason::TooManyReferences);
        for code in [SPLIT, MERGE, REDEEM, CONVERT] {
            let room = |account, now| room(&full, code, Some(account), now);
            assert_eq!(room(0, 10), too_many);
            assert_eq!(room(0, 10 + REFERENCE_MEMORY_NS), too_many);
            assert_eq!(room(0, 11 + REFERENCE_MEMORY_NS), Ok(()));
            assert_eq!(room(1, 10), Ok(()));
        }
        assert_eq!(room(&full, DEPOSIT, None, 10), Ok(()));
        let accounts = u32::try_from(MAX_REMEMBERED_REFERENCES / share).unwrap();
        let full = holding(accounts, share);
        let busy = Err(RefusalReason::Busy);
        assert_eq!(room(&full, MERGE, Some(accounts), 10), busy);
        assert_eq!(room(&full, DEPOSIT, None, 10), Ok(()));
    }

    #[test]
    fn rules_2_bound_references_for_each_account_and_refuse_no_exit() {
        let share = REFERENCES_PER_ACCOUNT as usize;
        let mut full = holding(2, share);
        full.rules = 2;
        for code in [SPLIT, CONVERT] {
            let room = |account, now| room(&full, code, Some(account), now);
            let too_many = Err(RefusalReason::TooManyReferences);
            assert_eq!(room(0, 10), too_many);
            assert_eq!(room(0, 10 + REQUEST_MEMORY_NS), too_many);
            assert_eq!(room(0, 11 + REQUEST_MEMORY_NS), Ok(()));
            assert_eq!(room(2, 10), Ok(()));
        }
        for code in [MERGE, REDEEM] {
            assert_eq!(room(&full, code, Some(0), 10), Ok(()));
        }
        assert_eq!(room(&full, DEPOSIT, None, 10), Ok(()));
    }

    #[test]
    fn rules_2_forget_a_few_of_an_account_that_holds_too_many() {
        let share = REFERENCES_PER_ACCOUNT as usize;
        let mut exchange = holding(2, share + 10);
        exchange.rules = 2;
        let content = exchange.references[0].content;
        let mut held = Vec::new();
        for sequence in 2..7 {
            let at = At {
                sequence: Sequence(sequence),
                time: TimeNs(10),
            };
            let (scope, outcome) = (Some(AccountNumber(0)), CommandOutcome::Done);
            exchange.remember_reference(scope, Reference([1; 32]), content, outcome, at);
            let of_account = exchange
                .references
                .iter()
                .filter(|used| used.scope == scope);
            held.push(of_account.count() - share);
        }
        assert_eq!(held, [7, 4, 1, 0, 0]);
        assert_eq!(exchange.references.len(), 2 * share + 10);
    }
}
