//! Idempotency of money and account actions by the references of their commands.

use foretell_model::limits::{
    EVICTED_PER_COMMAND, MAX_REMEMBERED_REFERENCES, REFERENCE_MEMORY_NS, REFERENCES_PER_ACCOUNT,
    REQUEST_MEMORY_NS,
};
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, Micros, QuestionSet, Reference, Rejection,
    RejectionReason, Sequence, TimeNs,
};

use crate::action_references::ActionReferences;
use crate::command_context::{CommandContext, NotApplied, ensure};
use crate::indexed_list::IndexedList;
use crate::table::KeyHasher;

/// The content of a command with a reference. A repeat must have the same content and command code.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct ActionContent {
    /// The account; 0 for fees.
    pub(crate) account: AccountNumber,
    /// Market or event group number; 0 without.
    pub(crate) object: u32,
    /// Micros or lots; 0 for a redeem.
    pub(crate) amount: u64,
    /// Questions of a convert.
    pub(crate) questions: QuestionSet,
}

/// A used reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsedReference {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    /// The account, or `None` for references of operators.
    pub(crate) scope: Option<AccountNumber>,
    pub(crate) reference: Reference,
    pub(crate) kind: CommandKind,
    pub(crate) content: ActionContent,
    /// The outcome that the command returned.
    pub(crate) outcome: CommandOutcome,
}

impl UsedReference {
    /// Collateral of the outcome; 0 when the outcome has none.
    pub(crate) const fn collateral(&self) -> Micros {
        match self.outcome {
            CommandOutcome::Collateral(collateral) => collateral,
            _ => Micros::ZERO,
        }
    }
}

/// All used references. Operators' references are kept for ever, those of account actions for 30
/// days within the bound of each account.
#[derive(Debug)]
pub(crate) struct References {
    operators: IndexedList<UsedReference>,
    actions: ActionReferences,
    hasher: KeyHasher,
}

impl References {
    pub(crate) fn with_capacity(references: usize, accounts: usize, hasher: KeyHasher) -> Self {
        Self {
            operators: IndexedList::with_capacity(references),
            actions: ActionReferences::with_capacity(references, accounts),
            hasher,
        }
    }

    /// Rejects a reference that was used in its scope. `content` is `None` when the command names
    /// an unknown account; no earlier command can have the same content.
    pub(crate) fn ensure_new(
        &self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Option<ActionContent>,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        match self.find(scope, context.kind, reference) {
            None => Ok(()),
            Some(used) if used.kind == context.kind && Some(used.content) == content => {
                Err(NotApplied::Repeated {
                    first: used.sequence,
                    last: used.sequence,
                    outcome: used.outcome,
                })
            }
            Some(_) => Err(RejectionReason::ReferenceReused.into()),
        }
    }

    /// Rejects when a reference of an account that takes on risk (split, convert) finds no room: the
    /// account's oldest reference is evictable once its request can no longer be resent. Actions
    /// that reduce risk (merge, redeem) are never rejected for memory.
    pub(crate) fn ensure_room(
        &self,
        account: AccountNumber,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let count = self.count_of(account);
        let is_evictable =
            |oldest: &UsedReference| is_older_than(oldest.time, REQUEST_MEMORY_NS, context.now);
        let cap = REFERENCES_PER_ACCOUNT;
        ensure(
            count < cap || self.actions.oldest_of(account).is_some_and(is_evictable),
            Rejection::with(RejectionReason::TooManyReferences, count.into(), cap.into()),
        )
    }

    /// Prefetches the index entry of a reference.
    pub(crate) fn prefetch_entry(&self, scope: Option<AccountNumber>, reference: Reference) {
        let hash = self.hash(scope, reference);
        match scope {
            None => self.operators.prefetch(hash),
            Some(_) => self.actions.prefetch(hash),
        }
    }

    /// Remembers a reference of an applied command; an account action first evicts old ones.
    pub(crate) fn remember(
        &mut self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: ActionContent,
        outcome: CommandOutcome,
        context: &CommandContext<'_>,
    ) {
        if let Some(account) = scope {
            self.evict_some(account, context);
        }
        self.insert(UsedReference {
            sequence: context.sequence,
            time: context.now,
            scope,
            reference,
            kind: context.kind,
            content,
            outcome,
        });
    }

    /// Changes what a repeat of an operator's command answers.
    pub(crate) fn replace_outcome(&mut self, reference: Reference, outcome: CommandOutcome) {
        let hash = self.hash(None, reference);
        let is_it = |used: &UsedReference| {
            used.reference == reference && used.kind == CommandKind::Withdraw
        };
        if let Some(used) = self.operators.find_mut(hash, is_it) {
            used.outcome = outcome;
        }
    }

    /// Adds a reference that is the newest.
    pub(crate) fn insert(&mut self, used: UsedReference) {
        let hash = self.hash(used.scope, used.reference);
        match used.scope {
            None => self.operators.push(hash, used),
            Some(account) => self.actions.push(hash, account, used),
        }
    }

    /// Proposals have a scope of their own.
    fn find(
        &self,
        scope: Option<AccountNumber>,
        kind: CommandKind,
        reference: Reference,
    ) -> Option<&UsedReference> {
        let hash = self.hash(scope, reference);
        let is_it = |used: &UsedReference| {
            (used.scope, used.reference) == (scope, reference)
                && (used.kind == CommandKind::Propose) == (kind == CommandKind::Propose)
        };
        match scope {
            None => self.operators.find(hash, is_it),
            Some(_) => self.actions.find(hash, is_it),
        }
    }

    /// All references by sequence.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &UsedReference> {
        let mut operators = self.operators.iter().peekable();
        let mut actions = self.actions.iter().peekable();
        std::iter::from_fn(move || match (operators.peek(), actions.peek()) {
            (Some(first), Some(second)) if first.sequence < second.sequence => operators.next(),
            (Some(_), None) => operators.next(),
            _ => actions.next(),
        })
    }

    /// Number of remembered references of an account.
    pub(crate) fn count_of(&self, account: AccountNumber) -> u32 {
        self.actions.count_of(account)
    }

    fn evict_some(&mut self, account: AccountNumber, context: &CommandContext<'_>) {
        let hasher = &self.hasher;
        for _ in 0..EVICTED_PER_COMMAND {
            let oldest = self.actions.oldest();
            if !oldest.is_some_and(|oldest| self.is_evictable(oldest, context)) {
                break;
            }
            self.actions.evict_oldest(|used| hash_of(hasher, used));
        }
        if self.actions.count_of(account) >= REFERENCES_PER_ACCOUNT {
            self.actions
                .evict_oldest_of(account, |used| hash_of(hasher, used));
        }
    }

    /// Whether to evict the oldest action: when due, or when many are kept.
    fn is_evictable(&self, oldest: &UsedReference, context: &CommandContext<'_>) -> bool {
        let is_full = self.actions.len() >= MAX_REMEMBERED_REFERENCES;
        is_past_retention(oldest, context.now)
            || (is_full && is_older_than(oldest.time, REQUEST_MEMORY_NS, context.now))
    }

    fn hash(&self, scope: Option<AccountNumber>, reference: Reference) -> u32 {
        hash(&self.hasher, scope, reference)
    }
}

fn hash_of(hasher: &KeyHasher, used: &UsedReference) -> u32 {
    hash(hasher, used.scope, used.reference)
}

fn hash(hasher: &KeyHasher, scope: Option<AccountNumber>, reference: Reference) -> u32 {
    hasher.scoped(scope.map_or(0, |account| account.0), &reference.0)
}

/// Whether an action's reference has been kept for its full retention.
const fn is_past_retention(used: &UsedReference, now: TimeNs) -> bool {
    is_older_than(used.time, REFERENCE_MEMORY_NS, now)
}

/// Whether more than `age_ns` have passed since `since`.
const fn is_older_than(since: TimeNs, age_ns: u64, now: TimeNs) -> bool {
    since.0.saturating_add(age_ns) < now.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(
        sequence: u64,
        now: u64,
        events: &mut Vec<foretell_model::Event>,
    ) -> CommandContext<'_> {
        CommandContext {
            kind: CommandKind::Split,
            sequence: Sequence(sequence),
            now: TimeNs(now),
            operator: foretell_model::OperatorNumber::NONE,
            touched: 0,
            visited: 0,
            beside: &[],
            events,
        }
    }

    const CONTENT: ActionContent = ActionContent {
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
                &context(sequence, 10, events),
            );
        }
        references.remember(
            None,
            Reference([0; 32]),
            CONTENT,
            CommandOutcome::Done,
            &context(7, 10, events),
        );
        let other = ActionContent {
            amount: 4,
            ..CONTENT
        };
        let zero = Reference([0; 32]);
        let answer = |references: &References, scope, reference, content| {
            references.ensure_new(scope, reference, content, &context(9, 10, &mut Vec::new()))
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
            let reused = NotApplied::from(RejectionReason::ReferenceReused);
            assert_eq!(answer(&references, who, zero, content), Err(reused));
        }
        let mut merge = context(9, 10, events);
        merge.kind = CommandKind::Merge;
        assert!(
            references
                .ensure_new(who, zero, Some(CONTENT), &merge)
                .is_err()
        );
        // Old, but within the retention: nothing is evicted.
        references.evict_some(
            AccountNumber(9),
            &context(9, 10 + REFERENCE_MEMORY_NS, &mut Vec::new()),
        );
        assert_eq!(references.iter().count(), 7);
        references.evict_some(
            AccountNumber(9),
            &context(9, 11 + REFERENCE_MEMORY_NS, &mut Vec::new()),
        );
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
                &context(1, 10, &mut Vec::new()),
            );
        }
    }

    fn reason(checked: Result<(), NotApplied>) -> Result<(), RejectionReason> {
        match checked {
            Ok(()) => Ok(()),
            Err(NotApplied::Rejected(rejection)) => Err(rejection.reason),
            Err(other) => panic!("{other:?}"),
        }
    }

    /// Remembers a reference of account 3.
    fn remember_one(references: &mut References, number: u32, now: u64) {
        let mut name = [0xff; 32];
        name[..4].copy_from_slice(&number.to_le_bytes());
        let events = &mut Vec::new();
        let context = context(1, now, events);
        let scope = Some(AccountNumber(3));
        references.remember(
            scope,
            Reference(name),
            CONTENT,
            CommandOutcome::Done,
            &context,
        );
    }

    #[test]
    fn the_oldest_of_the_account_gives_way() {
        let (cap, second) = (REFERENCES_PER_ACCOUNT, 1_000_000_000);
        let (account, other) = (AccountNumber(3), AccountNumber(2));
        let room = |references: &References, account, now| {
            let events = &mut Vec::new();
            reason(references.ensure_room(account, &context(1, now, events)))
        };
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        fill(&mut references, other.0, 0, 1);
        for number in 0..cap {
            let now = second * (u64::from(number) + 1);
            assert_eq!(room(&references, account, now), Ok(()));
            remember_one(&mut references, number, now);
        }
        let full = Err(RejectionReason::TooManyReferences);
        let last_refused = second + REQUEST_MEMORY_NS;
        assert_eq!(room(&references, account, last_refused), full);
        assert_eq!(room(&references, other, last_refused), Ok(()));
        assert_eq!(room(&references, account, last_refused + 1), Ok(()));
        remember_one(&mut references, cap, last_refused + 1);
        let count = [account, other].map(|account| references.count_of(account));
        assert_eq!(count, [cap, 1]);
        let oldest = references.actions.oldest_of(account).map(|used| used.time);
        assert_eq!(oldest, Some(TimeNs(2 * second)));
    }

    #[test]
    fn the_oldest_of_many_goes_once_its_request_is_over() {
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        let share = REFERENCES_PER_ACCOUNT;
        let mut account = 10;
        while references.iter().count() < MAX_REMEMBERED_REFERENCES {
            fill(&mut references, account, account * share, share);
            account += 1;
        }
        let many = MAX_REMEMBERED_REFERENCES;
        remember_one(&mut references, 1, 10 + REQUEST_MEMORY_NS);
        assert_eq!(references.iter().count(), many + 1);
        // Two are evicted, and then fewer than the limit remain.
        remember_one(&mut references, 2, 11 + REQUEST_MEMORY_NS);
        assert_eq!(references.iter().count(), many);
    }
}
