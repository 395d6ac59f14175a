//! What makes requests safe to repeat: references of money and account actions, and the digests
//! of cancel requests.

use foretell_model::limits::{
    FORGOTTEN_PER_COMMAND, MAX_REFERENCES_PER_ACCOUNT, MAX_REMEMBERED_REFERENCES,
    MAX_REMEMBERED_REQUESTS, REFERENCE_MEMORY_NS, REQUEST_MEMORY_NS,
};
use foretell_model::{
    AccountNumber, CommandOutcome, Digest16, Micros, QuestionSet, Reference, Refusal,
    RefusalReason, Sequence, TimeNs,
};

use crate::recall::Recall;
use crate::step::{NotApplied, Step, ensure};
use crate::table::KeyHasher;

/// The content of a command with a reference; a repeat must share all of it, and the command's
/// code.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Content {
    /// 0 for fees.
    pub(crate) account: AccountNumber,
    /// Market or event; 0 without.
    pub(crate) object: u32,
    /// Micros or lots; 0 for redeem.
    pub(crate) amount: u64,
    /// Of a convert.
    pub(crate) questions: QuestionSet,
}

/// A used reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    /// The account, or `None` for the operators' references.
    pub(crate) scope: Option<AccountNumber>,
    pub(crate) reference: Reference,
    /// [`foretell_model::Command::code`].
    pub(crate) code: u16,
    pub(crate) content: Content,
    /// What the command's answer was.
    pub(crate) outcome: CommandOutcome,
}

impl Used {
    /// Collateral of the outcome, where it has one.
    pub(crate) const fn collateral(&self) -> Micros {
        match self.outcome {
            CommandOutcome::Collateral(collateral) => collateral,
            _ => Micros::ZERO,
        }
    }
}

/// All used references: the operators' for ever, those of account actions for 30 days.
#[derive(Debug)]
pub(crate) struct References {
    operators: Recall<Used>,
    actions: Recall<Used>,
    /// By account: how many of `actions` are its own. Shorter than the accounts when the last of
    /// them have none.
    held: Vec<u32>,
    hasher: KeyHasher,
}

impl References {
    pub(crate) fn with_capacity(references: usize, accounts: usize, hasher: KeyHasher) -> Self {
        Self {
            operators: Recall::with_capacity(references),
            actions: Recall::with_capacity(references),
            held: Vec::with_capacity(accounts),
            hasher,
        }
    }

    /// Passes a reference that is new in its scope and finds room. `content` is `None` when the command names an
    /// account that does not exist, which no earlier command can have meant.
    pub(crate) fn ensure_new(
        &self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Option<Content>,
        step: &Step<'_>,
    ) -> Result<(), NotApplied> {
        let used = self
            .of_scope(scope)
            .find(self.hash(scope, reference), |used| {
                used.scope == scope && used.reference == reference
            });
        match used {
            None => self.ensure_room(scope, step.now),
            Some(used) if used.code == step.code && Some(used.content) == content => {
                Err(NotApplied::Repeated {
                    first: used.sequence,
                    last: used.sequence,
                    outcome: used.outcome,
                })
            }
            Some(_) => Err(RefusalReason::ReferenceReused.into()),
        }
    }

    /// Brings near where a reference is looked for.
    pub(crate) fn bring_entry(&self, scope: Option<AccountNumber>, reference: Reference) {
        self.of_scope(scope).bring(self.hash(scope, reference));
    }

    /// Remembers the reference of an applied command; an account action first forgets old ones.
    pub(crate) fn remember(
        &mut self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Content,
        outcome: CommandOutcome,
        step: &Step<'_>,
    ) {
        if scope.is_some() {
            self.forget_some(step.now);
        }
        let hash = self.hash(scope, reference);
        let used = Used {
            sequence: step.sequence,
            time: step.now,
            scope,
            reference,
            code: step.code,
            content,
            outcome,
        };
        self.keep(hash, used);
    }

    /// Remembers a reference as it was remembered elsewhere, the earlier ones before it; false
    /// when it is remembered already.
    pub(crate) fn put_back(&mut self, used: Used) -> bool {
        let (scope, reference) = (used.scope, used.reference);
        let hash = self.hash(scope, reference);
        let known = self.of_scope(scope).find(hash, |known| {
            (known.scope, known.reference) == (scope, reference)
        });
        if known.is_some() {
            return false;
        }
        self.keep(hash, used);
        true
    }

    fn keep(&mut self, hash: u32, used: Used) {
        match used.scope {
            None => self.operators.push(hash, used),
            Some(account) => {
                self.actions.push(hash, used);
                self.count(account);
            }
        }
    }

    /// All of them by sequence.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Used> {
        let mut operators = self.operators.iter().peekable();
        let mut actions = self.actions.iter().peekable();
        std::iter::from_fn(move || match (operators.peek(), actions.peek()) {
            (Some(first), Some(second)) if first.sequence < second.sequence => operators.next(),
            (Some(_), None) => operators.next(),
            _ => actions.next(),
        })
    }

    /// Passes when another reference of the scope finds room. There always is room while the oldest
    /// is due, since remembering forgets it first; so nobody is turned away by what is over.
    fn ensure_room(&self, scope: Option<AccountNumber>, now: TimeNs) -> Result<(), NotApplied> {
        let Some(account) = scope else {
            return Ok(());
        };
        let held = self.held_by(account);
        let (is_over, is_full) = (
            held >= MAX_REFERENCES_PER_ACCOUNT,
            self.actions.len() >= MAX_REMEMBERED_REFERENCES,
        );
        if !(is_over || is_full)
            || self
                .actions
                .front()
                .is_some_and(|oldest| is_due(oldest, now))
        {
            return Ok(());
        }
        let cap = u64::from(MAX_REFERENCES_PER_ACCOUNT);
        let too_many = Refusal::with(RefusalReason::TooManyReferences, held.into(), cap);
        ensure(!is_over, too_many)?;
        ensure(!is_full, RefusalReason::Busy)
    }

    /// References of this account that are remembered.
    pub(crate) fn held_by(&self, account: AccountNumber) -> u32 {
        self.held.get(account.0 as usize).copied().unwrap_or(0)
    }

    fn count(&mut self, account: AccountNumber) {
        let at = account.0 as usize;
        if self.held.len() <= at {
            self.held.resize(at + 1, 0);
        }
        self.held[at] += 1;
    }

    fn forget_some(&mut self, now: TimeNs) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            let Some(oldest) = self.actions.front().filter(|oldest| is_due(oldest, now)) else {
                return;
            };
            let scope = oldest.scope;
            let hash = self.hash(scope, oldest.reference);
            self.actions.pop(hash);
            if let Some(account) = scope {
                self.held[account.0 as usize] -= 1;
            }
        }
    }

    const fn of_scope(&self, scope: Option<AccountNumber>) -> &Recall<Used> {
        match scope {
            None => &self.operators,
            Some(_) => &self.actions,
        }
    }

    fn hash(&self, scope: Option<AccountNumber>, reference: Reference) -> u32 {
        self.hasher
            .scoped(scope.map_or(0, |account| account.0), &reference.0)
    }
}

/// Whether an action's reference has been kept for long enough.
const fn is_due(used: &Used, now: TimeNs) -> bool {
    used.time.0.saturating_add(REFERENCE_MEMORY_NS) < now.0
}

/// A remembered cancel request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) owner: AccountNumber,
    pub(crate) digest: Digest16,
    /// The last command of its work so far.
    pub(crate) last: Sequence,
    /// Orders ended so far.
    pub(crate) cancelled: u32,
}

/// The cancel requests of the last 90 seconds.
#[derive(Debug)]
pub(crate) struct Requests {
    requests: Recall<Request>,
    hasher: KeyHasher,
}

impl Requests {
    pub(crate) fn with_capacity(requests: usize, hasher: KeyHasher) -> Self {
        Self {
            requests: Recall::with_capacity(requests),
            hasher,
        }
    }

    /// Passes a request that is new, or not to be remembered.
    pub(crate) fn ensure_new(
        &self,
        owner: AccountNumber,
        digest: Digest16,
    ) -> Result<(), NotApplied> {
        if digest == Digest16::ZERO {
            return Ok(());
        }
        let found = self.requests.find(self.hash(owner, digest), |request| {
            (request.owner, request.digest) == (owner, digest)
        });
        found.map_or(Ok(()), |request| {
            Err(NotApplied::Repeated {
                first: request.sequence,
                last: request.last,
                outcome: CommandOutcome::Cancelled {
                    orders: request.cancelled,
                },
            })
        })
    }

    /// Remembers the request of an applied cancel, after forgetting old ones.
    pub(crate) fn remember(&mut self, owner: AccountNumber, digest: Digest16, step: &Step<'_>) {
        if digest == Digest16::ZERO {
            return;
        }
        self.forget_some(step.now);
        self.requests.push(
            self.hash(owner, digest),
            Request {
                sequence: step.sequence,
                time: step.now,
                owner,
                digest,
                last: step.sequence,
                cancelled: 0,
            },
        );
    }

    /// Remembers a request as it was remembered elsewhere, the earlier ones before it; false when
    /// it is remembered already, or there are too many.
    pub(crate) fn put_back(&mut self, request: Request) -> bool {
        let is_new = self.ensure_new(request.owner, request.digest).is_ok()
            && self.requests.len() < MAX_REMEMBERED_REQUESTS;
        if is_new {
            let hash = self.hash(request.owner, request.digest);
            self.requests.push(hash, request);
        }
        is_new
    }

    /// Counts what a command of a request's work did. A request that is not remembered counts
    /// nothing.
    pub(crate) fn count(
        &mut self,
        owner: AccountNumber,
        digest: Digest16,
        orders: u32,
        last: Sequence,
    ) {
        let hash = self.hash(owner, digest);
        let found = self.requests.find_mut(hash, |request| {
            (request.owner, request.digest) == (owner, digest)
        });
        if let Some(request) = found {
            request.last = last;
            request.cancelled += orders;
        }
    }

    /// All of them by sequence.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter()
    }

    fn forget_some(&mut self, now: TimeNs) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            match self.requests.front() {
                Some(oldest) if oldest.time.0.saturating_add(REQUEST_MEMORY_NS) < now.0 => {
                    self.forget_oldest();
                }
                _ => break,
            }
        }
        if self.requests.len() >= MAX_REMEMBERED_REQUESTS {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.requests.front() {
            let hash = self.hash(oldest.owner, oldest.digest);
            self.requests.pop(hash);
        }
    }

    fn hash(&self, owner: AccountNumber, digest: Digest16) -> u32 {
        let mut name = [0; 32];
        name[..16].copy_from_slice(&digest.0);
        self.hasher.scoped(owner.0, &name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(sequence: u64, now: u64, events: &mut Vec<foretell_model::Event>) -> Step<'_> {
        Step {
            code: 19,
            sequence: Sequence(sequence),
            now: TimeNs(now),
            events,
        }
    }

    const CONTENT: Content = Content {
        account: AccountNumber(1),
        object: 2,
        amount: 3,
        questions: QuestionSet { low: 0, high: 0 },
    };

    #[test]
    fn a_reference_answers_in_its_scope_and_an_action_forgets_after_thirty_days() {
        let mut references = References::with_capacity(4, 1, KeyHasher::new(1));
        let events = &mut Vec::new();
        let who = Some(AccountNumber(1));
        for (sequence, byte) in (1..).zip(0..6_u8) {
            let reference = Reference([byte; 32]);
            let outcome = CommandOutcome::Collateral(Micros(byte.into()));
            references.remember(
                who,
                reference,
                CONTENT,
                outcome,
                &step(sequence, 10, events),
            );
        }
        references.remember(
            None,
            Reference([0; 32]),
            CONTENT,
            CommandOutcome::Done,
            &step(7, 10, events),
        );
        let other = Content {
            amount: 4,
            ..CONTENT
        };
        let zero = Reference([0; 32]);
        let answer = |references: &References, scope, reference, content| {
            references.ensure_new(scope, reference, content, &step(9, 10, &mut Vec::new()))
        };
        assert!(answer(&references, Some(AccountNumber(2)), zero, Some(CONTENT)).is_ok());
        assert_eq!(
            answer(&references, who, Reference([1; 32]), Some(CONTENT)),
            Err(NotApplied::Repeated {
                first: Sequence(2),
                last: Sequence(2),
                outcome: CommandOutcome::Collateral(Micros(1)),
            })
        );
        for content in [Some(other), None] {
            let reused = NotApplied::from(RefusalReason::ReferenceReused);
            assert_eq!(answer(&references, who, zero, content), Err(reused));
        }
        let mut merge = step(9, 10, events);
        merge.code = 20;
        assert!(
            references
                .ensure_new(who, zero, Some(CONTENT), &merge)
                .is_err()
        );
        // Old, but not older than the memory: nothing goes.
        references.forget_some(TimeNs(10 + REFERENCE_MEMORY_NS));
        assert_eq!(references.iter().count(), 7);
        references.forget_some(TimeNs(11 + REFERENCE_MEMORY_NS));
        let left: Vec<_> = references.iter().map(|used| used.sequence.0).collect();
        assert_eq!(left, [5, 6, 7]);
        assert!(answer(&references, who, zero, Some(CONTENT)).is_ok());
        assert!(answer(&references, None, zero, Some(CONTENT)).is_err());
    }

    /// Remembers `count` references of an account at time 10.
    fn fill(references: &mut References, account: u32, first: u32, count: u32) {
        for number in first..first + count {
            let mut name = [0; 32];
            name[..4].copy_from_slice(&number.to_le_bytes());
            references.remember(
                Some(AccountNumber(account)),
                Reference(name),
                CONTENT,
                CommandOutcome::Done,
                &step(1, 10, &mut Vec::new()),
            );
        }
    }

    /// What becomes of a new reference of an account at a time.
    fn room(references: &References, account: Option<u32>, now: u64) -> Result<(), RefusalReason> {
        let scope = account.map(AccountNumber);
        let new = Reference([0xff; 32]);
        match references.ensure_new(scope, new, None, &step(1, now, &mut Vec::new())) {
            Ok(()) => Ok(()),
            Err(NotApplied::Refused(refusal)) => Err(refusal.reason),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_account_that_used_its_share_waits_until_the_oldest_is_over() {
        let cap = MAX_REFERENCES_PER_ACCOUNT;
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        fill(&mut references, 3, 0, cap - 1);
        assert_eq!(room(&references, Some(3), 10), Ok(()));
        fill(&mut references, 3, cap, 1);
        let full = Err(RefusalReason::TooManyReferences);
        assert_eq!(room(&references, Some(3), 10), full);
        assert_eq!(room(&references, Some(2), 10), Ok(()));
        assert_eq!(room(&references, None, 10), Ok(()));
        assert_eq!(room(&references, Some(3), 10 + REFERENCE_MEMORY_NS), full);
        assert_eq!(room(&references, Some(3), 11 + REFERENCE_MEMORY_NS), Ok(()));
        references.forget_some(TimeNs(11 + REFERENCE_MEMORY_NS));
        assert_eq!(
            references.iter().count(),
            cap as usize - FORGOTTEN_PER_COMMAND
        );
        assert_eq!(
            references.held_by(AccountNumber(3)) as usize,
            references.iter().count()
        );
    }

    #[test]
    fn the_memory_of_references_is_bounded() {
        let share = MAX_REFERENCES_PER_ACCOUNT;
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        let mut accounts = 0;
        while references.iter().count() < MAX_REMEMBERED_REFERENCES {
            assert_eq!(room(&references, Some(accounts), 10), Ok(()));
            fill(&mut references, accounts, accounts * share, share);
            accounts += 1;
        }
        let other = Some(accounts);
        assert_eq!(room(&references, other, 10), Err(RefusalReason::Busy));
        assert_eq!(room(&references, other, 11 + REFERENCE_MEMORY_NS), Ok(()));
        assert_eq!(room(&references, None, 10), Ok(()));
    }

    #[test]
    fn the_memory_of_requests_is_bounded() {
        let mut requests = Requests::with_capacity(4, KeyHasher::new(1));
        let events = &mut Vec::new();
        let digest = |number: usize| Digest16((number as u128 + 1).to_le_bytes());
        for number in 0..=MAX_REMEMBERED_REQUESTS {
            requests.remember(AccountNumber(0), digest(number), &step(1, 10, events));
        }
        assert_eq!(requests.iter().count(), MAX_REMEMBERED_REQUESTS);
        assert!(requests.ensure_new(AccountNumber(0), digest(0)).is_ok());
        assert!(requests.ensure_new(AccountNumber(0), digest(1)).is_err());
        requests.remember(
            AccountNumber(0),
            digest(0),
            &step(1, 11 + REQUEST_MEMORY_NS, events),
        );
        // Four were old, and then there was room.
        assert_eq!(requests.iter().count(), MAX_REMEMBERED_REQUESTS - 3);
    }

    #[test]
    fn the_zero_digest_is_never_remembered() {
        let mut requests = Requests::with_capacity(4, KeyHasher::new(1));
        let events = &mut Vec::new();
        requests.remember(AccountNumber(0), Digest16::ZERO, &step(1, 10, events));
        requests.count(AccountNumber(0), Digest16::ZERO, 3, Sequence(1));
        assert_eq!(requests.iter().count(), 0);
    }
}
