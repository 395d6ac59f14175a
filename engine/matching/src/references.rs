//! What makes money and account actions safe to repeat: the references of their commands.

use foretell_model::limits::{
    FORGOTTEN_PER_COMMAND, MAX_REFERENCES_PER_ACCOUNT, MAX_REMEMBERED_REFERENCES,
    REFERENCE_MEMORY_NS, REFERENCES_PER_ACCOUNT, REQUEST_MEMORY_NS,
};
use foretell_model::{
    AccountNumber, CommandOutcome, Micros, QuestionSet, Reference, Refusal, RefusalReason,
    Sequence, TimeNs,
};

use crate::action_memory::ActionMemory;
use crate::recall::Recall;
use crate::rules::Rules;
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

/// All used references: the operators' for ever, those of account actions for 30 days, as far as the
/// memory of each account goes.
#[derive(Debug)]
pub(crate) struct References {
    operators: Recall<Used>,
    actions: ActionMemory,
    hasher: KeyHasher,
}

impl References {
    pub(crate) fn with_capacity(references: usize, accounts: usize, hasher: KeyHasher) -> Self {
        Self {
            operators: Recall::with_capacity(references),
            actions: ActionMemory::with_capacity(references, accounts),
            hasher,
        }
    }

    /// Passes a reference that is new in its scope. `content` is `None` when the command names an
    /// account that does not exist, which no earlier command can have meant.
    pub(crate) fn ensure_new(
        &self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Option<Content>,
        step: &Step<'_>,
    ) -> Result<(), NotApplied> {
        match self.find(scope, reference) {
            None => Ok(()),
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

    /// Passes when a new reference of an account that takes on risk (split, convert) finds room.
    pub(crate) fn ensure_room(
        &self,
        account: AccountNumber,
        step: &Step<'_>,
    ) -> Result<(), NotApplied> {
        match step.rules {
            Rules::One => self.ensure_room_of_rules_1(account, step.now),
            Rules::Two => self.ensure_oldest_may_go(account, step.now),
        }
    }

    /// The same for one that gives risk up (merge, redeem): rules 2 never refuse it for memory.
    pub(crate) fn ensure_room_to_leave(
        &self,
        account: AccountNumber,
        step: &Step<'_>,
    ) -> Result<(), NotApplied> {
        match step.rules {
            Rules::One => self.ensure_room_of_rules_1(account, step.now),
            Rules::Two => Ok(()),
        }
    }

    /// The account's oldest reference gives way once its request can no longer be sent again.
    fn ensure_oldest_may_go(&self, account: AccountNumber, now: TimeNs) -> Result<(), NotApplied> {
        let held = self.held_by(account);
        let may_go = |oldest: &Used| is_over(oldest.time, REQUEST_MEMORY_NS, now);
        let cap = REFERENCES_PER_ACCOUNT;
        ensure(
            held < cap || self.actions.oldest_of(account).is_some_and(may_go),
            Refusal::with(RefusalReason::TooManyReferences, held.into(), cap.into()),
        )
    }

    /// There always is room while the oldest of all is due, since remembering forgets it first.
    fn ensure_room_of_rules_1(
        &self,
        account: AccountNumber,
        now: TimeNs,
    ) -> Result<(), NotApplied> {
        if self
            .actions
            .oldest()
            .is_some_and(|oldest| is_due(oldest, now))
        {
            return Ok(());
        }
        let (held, cap) = (self.held_by(account), MAX_REFERENCES_PER_ACCOUNT);
        ensure(
            held < cap,
            Refusal::with(RefusalReason::TooManyReferences, held.into(), cap.into()),
        )?;
        ensure(
            self.actions.len() < MAX_REMEMBERED_REFERENCES,
            RefusalReason::Busy,
        )
    }

    /// Brings near where a reference is looked for.
    pub(crate) fn bring_entry(&self, scope: Option<AccountNumber>, reference: Reference) {
        let hash = self.hash(scope, reference);
        match scope {
            None => self.operators.bring(hash),
            Some(_) => self.actions.bring(hash),
        }
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
        if let Some(account) = scope {
            self.forget_some(account, step);
        }
        self.keep(Used {
            sequence: step.sequence,
            time: step.now,
            scope,
            reference,
            code: step.code,
            content,
            outcome,
        });
    }

    /// Remembers a reference as it was remembered elsewhere, the earlier ones before it; false
    /// when it is remembered already.
    pub(crate) fn put_back(&mut self, used: Used) -> bool {
        let is_new = self.find(used.scope, used.reference).is_none();
        if is_new {
            self.keep(used);
        }
        is_new
    }

    fn keep(&mut self, used: Used) {
        let hash = self.hash(used.scope, used.reference);
        match used.scope {
            None => self.operators.push(hash, used),
            Some(account) => self.actions.push(hash, account, used),
        }
    }

    fn find(&self, scope: Option<AccountNumber>, reference: Reference) -> Option<&Used> {
        let hash = self.hash(scope, reference);
        let is_it = |used: &Used| (used.scope, used.reference) == (scope, reference);
        match scope {
            None => self.operators.find(hash, is_it),
            Some(_) => self.actions.find(hash, is_it),
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

    /// References of this account that are remembered.
    pub(crate) fn held_by(&self, account: AccountNumber) -> u32 {
        self.actions.held_by(account)
    }

    fn forget_some(&mut self, account: AccountNumber, step: &Step<'_>) {
        let hasher = &self.hasher;
        for _ in 0..FORGOTTEN_PER_COMMAND {
            let oldest = self.actions.oldest();
            if !oldest.is_some_and(|oldest| self.may_go(oldest, step)) {
                break;
            }
            self.actions.forget_oldest(|used| hash_of(hasher, used));
        }
        if step.rules == Rules::One {
            return;
        }
        for _ in 0..FORGOTTEN_PER_COMMAND {
            if self.actions.held_by(account) < REFERENCES_PER_ACCOUNT {
                break;
            }
            self.actions
                .forget_oldest_of(account, |used| hash_of(hasher, used));
        }
    }

    /// Whether the oldest action of all goes: when it is due, and under rules 2 when there are many.
    const fn may_go(&self, oldest: &Used, step: &Step<'_>) -> bool {
        let is_crowded =
            matches!(step.rules, Rules::Two) && self.actions.len() >= MAX_REMEMBERED_REFERENCES;
        is_due(oldest, step.now)
            || (is_crowded && is_over(oldest.time, REQUEST_MEMORY_NS, step.now))
    }

    fn hash(&self, scope: Option<AccountNumber>, reference: Reference) -> u32 {
        hash(&self.hasher, scope, reference)
    }
}

fn hash_of(hasher: &KeyHasher, used: &Used) -> u32 {
    hash(hasher, used.scope, used.reference)
}

fn hash(hasher: &KeyHasher, scope: Option<AccountNumber>, reference: Reference) -> u32 {
    hasher.scoped(scope.map_or(0, |account| account.0), &reference.0)
}

/// Whether an action's reference has been kept for long enough.
const fn is_due(used: &Used, now: TimeNs) -> bool {
    is_over(used.time, REFERENCE_MEMORY_NS, now)
}

/// Whether something of this time has been kept for longer than that.
const fn is_over(since: TimeNs, kept_ns: u64, now: TimeNs) -> bool {
    since.0.saturating_add(kept_ns) < now.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(sequence: u64, now: u64, events: &mut Vec<foretell_model::Event>) -> Step<'_> {
        Step {
            rules: Rules::One,
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
        references.forget_some(
            AccountNumber(9),
            &step(9, 10 + REFERENCE_MEMORY_NS, &mut Vec::new()),
        );
        assert_eq!(references.iter().count(), 7);
        references.forget_some(
            AccountNumber(9),
            &step(9, 11 + REFERENCE_MEMORY_NS, &mut Vec::new()),
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
                &step(1, 10, &mut Vec::new()),
            );
        }
    }

    fn reason(checked: Result<(), NotApplied>) -> Result<(), RefusalReason> {
        match checked {
            Ok(()) => Ok(()),
            Err(NotApplied::Refused(refusal)) => Err(refusal.reason),
            Err(other) => panic!("{other:?}"),
        }
    }

    /// What becomes of a new reference of an account at a time.
    fn room(references: &References, account: u32, now: u64) -> Result<(), RefusalReason> {
        let (account, events) = (AccountNumber(account), &mut Vec::new());
        let step = step(1, now, events);
        let leaving = reason(references.ensure_room_to_leave(account, &step));
        assert_eq!(leaving, reason(references.ensure_room(account, &step)));
        leaving
    }

    #[test]
    fn an_account_that_used_its_share_waits_until_the_oldest_is_over() {
        let cap = MAX_REFERENCES_PER_ACCOUNT;
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        fill(&mut references, 3, 0, cap - 1);
        assert_eq!(room(&references, 3, 10), Ok(()));
        fill(&mut references, 3, cap, 1);
        let full = Err(RefusalReason::TooManyReferences);
        assert_eq!(room(&references, 3, 10), full);
        assert_eq!(room(&references, 2, 10), Ok(()));
        assert_eq!(room(&references, 3, 10 + REFERENCE_MEMORY_NS), full);
        assert_eq!(room(&references, 3, 11 + REFERENCE_MEMORY_NS), Ok(()));
        references.forget_some(
            AccountNumber(9),
            &step(9, 11 + REFERENCE_MEMORY_NS, &mut Vec::new()),
        );
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
            assert_eq!(room(&references, accounts, 10), Ok(()));
            fill(&mut references, accounts, accounts * share, share);
            accounts += 1;
        }
        assert_eq!(room(&references, accounts, 10), Err(RefusalReason::Busy));
        assert_eq!(
            room(&references, accounts, 11 + REFERENCE_MEMORY_NS),
            Ok(())
        );
    }

    /// Remembers a reference of account 3 under rules 2.
    fn remember_by_rules_2(references: &mut References, number: u32, now: u64) {
        let mut name = [0xff; 32];
        name[..4].copy_from_slice(&number.to_le_bytes());
        let events = &mut Vec::new();
        let step = Step {
            rules: Rules::Two,
            ..step(1, now, events)
        };
        let scope = Some(AccountNumber(3));
        references.remember(scope, Reference(name), CONTENT, CommandOutcome::Done, &step);
    }

    #[test]
    fn under_rules_2_the_oldest_of_the_account_gives_way_and_leaving_is_never_refused() {
        let (cap, second) = (REFERENCES_PER_ACCOUNT, 1_000_000_000);
        let (account, other) = (AccountNumber(3), AccountNumber(2));
        let room = |references: &References, account, now| {
            let events = &mut Vec::new();
            let step = Step {
                rules: Rules::Two,
                ..step(1, now, events)
            };
            assert!(references.ensure_room_to_leave(account, &step).is_ok());
            reason(references.ensure_room(account, &step))
        };
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        fill(&mut references, other.0, 0, 1);
        for number in 0..cap {
            let now = second * (u64::from(number) + 1);
            assert_eq!(room(&references, account, now), Ok(()));
            remember_by_rules_2(&mut references, number, now);
        }
        let full = Err(RefusalReason::TooManyReferences);
        let last_refused = second + REQUEST_MEMORY_NS;
        assert_eq!(room(&references, account, last_refused), full);
        assert_eq!(room(&references, other, last_refused), Ok(()));
        assert_eq!(room(&references, account, last_refused + 1), Ok(()));
        remember_by_rules_2(&mut references, cap, last_refused + 1);
        let held = [account, other].map(|account| references.held_by(account));
        assert_eq!(held, [cap, 1]);
        let oldest = references.actions.oldest_of(account).map(|used| used.time);
        assert_eq!(oldest, Some(TimeNs(2 * second)));
    }

    #[test]
    fn under_rules_2_the_oldest_of_many_goes_once_its_request_is_over() {
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        let share = MAX_REFERENCES_PER_ACCOUNT;
        let mut account = 10;
        while references.iter().count() < MAX_REMEMBERED_REFERENCES {
            fill(&mut references, account, account * share, share);
            account += 1;
        }
        let many = MAX_REMEMBERED_REFERENCES;
        remember_by_rules_2(&mut references, 1, 10 + REQUEST_MEMORY_NS);
        assert_eq!(references.iter().count(), many + 1);
        // Two go, and then there are fewer than many.
        remember_by_rules_2(&mut references, 2, 11 + REQUEST_MEMORY_NS);
        assert_eq!(references.iter().count(), many);
    }

    #[test]
    fn an_account_that_rules_1_left_with_more_shrinks_a_few_at_a_time() {
        let mut references = References::with_capacity(4, 4, KeyHasher::new(1));
        fill(&mut references, 3, 0, REFERENCES_PER_ACCOUNT + 10);
        let held = [1, 2, 3, 4, 5, 6].map(|number| {
            remember_by_rules_2(&mut references, number, 20);
            references.held_by(AccountNumber(3)) - REFERENCES_PER_ACCOUNT
        });
        assert_eq!(held, [7, 4, 1, 0, 0, 0]);
    }
}
