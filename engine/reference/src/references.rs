//! References of actions that were applied, so that a repeated action is answered and moves nothing
//! again (docs/verify/rules.md §16).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foretell_model::limits::{
    EVICTED_PER_COMMAND, MAX_REMEMBERED_REFERENCES, REFERENCE_MEMORY_NS, REFERENCES_PER_ACCOUNT,
    REQUEST_MEMORY_NS,
};
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, QuestionSet, Reference, Rejection, RejectionReason,
    Sequence, TimeNs,
};

use crate::exchange::{Exchange, Stamp, is_over};
use crate::handler_result::{NotApplied, ensure};

/// What an action with a reference asked for; a repeat must ask for the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Content {
    pub(crate) kind: CommandKind,
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
        matches!(self.kind, CommandKind::Merge | CommandKind::Redeem)
    }
}

/// A reference that was used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RememberedReference {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    /// `None` for operators' deposits and withdrawals, and for proposals.
    pub(crate) scope: Option<AccountNumber>,
    pub(crate) reference: Reference,
    pub(crate) content: Content,
    pub(crate) outcome: CommandOutcome,
}

/// What a reference must be unique by: its scope, whether a proposal carries it, and itself.
type Name = (Option<AccountNumber>, bool, Reference);

fn name_of(used: &RememberedReference) -> Name {
    (
        used.scope,
        used.content.kind == CommandKind::Propose,
        used.reference,
    )
}

/// All references that are remembered, by the sequence of their command.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct References {
    used: BTreeMap<Sequence, RememberedReference>,
    sequences: HashMap<Name, Sequence>,
    /// Those of accounts. Those of operators are never forgotten.
    of_accounts: BTreeSet<Sequence>,
    of_account: HashMap<AccountNumber, BTreeSet<Sequence>>,
}

impl References {
    pub(crate) fn values(&self) -> impl Iterator<Item = &RememberedReference> {
        self.used.values()
    }

    pub(crate) fn insert(&mut self, used: RememberedReference) {
        if let Some(account) = used.scope {
            self.of_accounts.insert(used.sequence);
            let own = self.of_account.entry(account).or_default();
            own.insert(used.sequence);
        }
        self.sequences.insert(name_of(&used), used.sequence);
        self.used.insert(used.sequence, used);
    }

    /// A repeat of this withdrawal answers that it pays nothing.
    pub(crate) fn release(&mut self, sequence: Sequence) {
        if let Some(used) = self.used.get_mut(&sequence)
            && let (CommandKind::Withdraw, CommandOutcome::Waits(account)) =
                (used.content.kind, used.outcome)
        {
            used.outcome = CommandOutcome::Released(account);
        }
    }

    fn remove(&mut self, sequence: Sequence) {
        let Some(used) = self.used.remove(&sequence) else {
            return;
        };
        self.sequences.remove(&name_of(&used));
        self.of_accounts.remove(&sequence);
        if let Some(account) = used.scope
            && let Some(own) = self.of_account.get_mut(&account)
        {
            own.remove(&sequence);
            if own.is_empty() {
                self.of_account.remove(&account);
            }
        }
    }

    fn get(
        &self,
        scope: Option<AccountNumber>,
        kind: Option<CommandKind>,
        reference: Reference,
    ) -> Option<&RememberedReference> {
        let name = (scope, kind == Some(CommandKind::Propose), reference);
        let sequence = self.sequences.get(&name)?;
        self.used.get(sequence)
    }

    /// The oldest of all accounts.
    fn oldest(&self) -> Option<&RememberedReference> {
        self.used.get(self.of_accounts.first()?)
    }

    /// The oldest of one account.
    fn oldest_of(&self, account: AccountNumber) -> Option<&RememberedReference> {
        self.used.get(self.of_account.get(&account)?.first()?)
    }

    fn count_of(&self, account: AccountNumber) -> u64 {
        self.of_account.get(&account).map_or(0, BTreeSet::len) as u64
    }
}

impl Exchange {
    /// Stops an action whose reference was used (the same content is a repeat, other is refused; a
    /// paid withdrawal of an operator that waited answers its account), or
    /// for whose reference there is no room.
    pub(crate) fn check_reference(
        &self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Option<Content>,
        at: Stamp,
    ) -> Result<(), NotApplied> {
        let Some(used) = self
            .references
            .get(scope, content.map(|content| content.kind), reference)
        else {
            let is_exit = content.is_some_and(|content| content.is_exit());
            return match scope {
                None => Ok(()),
                Some(_) if is_exit => Ok(()),
                Some(account) => self.check_room_of_the_account(account, at.time),
            };
        };
        ensure(
            Some(used.content) == content,
            RejectionReason::ReferenceReused,
        )?;
        Err(NotApplied::Repeated {
            first: used.sequence,
            last: used.sequence,
            outcome: match used.outcome {
                CommandOutcome::Waits(account)
                    if used.content.kind == CommandKind::Withdraw
                        && !self.withdrawals.contains_key(&used.sequence) =>
                {
                    CommandOutcome::Account(account)
                }
                outcome => outcome,
            },
        })
    }

    /// There is room while the account holds less than it may, or its oldest reference has
    /// outlived the request that used it.
    fn check_room_of_the_account(
        &self,
        account: AccountNumber,
        now: TimeNs,
    ) -> Result<(), NotApplied> {
        let gives_way = self
            .references
            .oldest_of(account)
            .is_some_and(|oldest| is_over(oldest.time, REQUEST_MEMORY_NS, now));
        let held = self.references.count_of(account);
        let allowed = u64::from(REFERENCES_PER_ACCOUNT);
        ensure(
            gives_way || held < allowed,
            Rejection::with(RejectionReason::TooManyReferences, held, allowed),
        )
    }

    pub(crate) fn remember_reference(
        &mut self,
        scope: Option<AccountNumber>,
        reference: Reference,
        content: Content,
        outcome: CommandOutcome,
        at: Stamp,
    ) {
        if let Some(account) = scope {
            self.forget_references(at.time);
            self.make_room_in_the_account(account);
        }
        self.references.insert(RememberedReference {
            sequence: at.sequence,
            time: at.time,
            scope,
            reference,
            content,
            outcome,
        });
    }

    /// Operators' references are kept for ever. Those of accounts are kept for a shorter time
    /// while there are many.
    fn forget_references(&mut self, now: TimeNs) {
        for _ in 0..EVICTED_PER_COMMAND {
            let is_crowded = self.references.of_accounts.len() >= MAX_REMEMBERED_REFERENCES;
            let kept = if is_crowded {
                REQUEST_MEMORY_NS
            } else {
                REFERENCE_MEMORY_NS
            };
            let oldest = self.references.oldest();
            let over = oldest.filter(|oldest| is_over(oldest.time, kept, now));
            let Some(sequence) = over.map(|over| over.sequence) else {
                break;
            };
            self.references.remove(sequence);
        }
    }

    /// An account's oldest reference gives way to its next.
    fn make_room_in_the_account(&mut self, account: AccountNumber) {
        let oldest = self.references.oldest_of(account);
        if let Some(sequence) = oldest.map(|oldest| oldest.sequence)
            && self.references.count_of(account) >= u64::from(REFERENCES_PER_ACCOUNT)
        {
            self.references.remove(sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::OperatorNumber;

    use super::*;

    /// An exchange that remembers so many references of each of these accounts, all of time 10.
    fn holding(accounts: u32, each: usize) -> Exchange {
        let mut exchange = Exchange::new();
        let accounts = (0..accounts).map(AccountNumber);
        let holders = accounts.flat_map(|account| std::iter::repeat_n(account, each));
        for (sequence, account) in (1..).zip(holders) {
            let mut reference = Reference([0xFF; 32]);
            reference.0[..8].copy_from_slice(&u64::to_le_bytes(sequence));
            exchange.references.insert(RememberedReference {
                sequence: Sequence(sequence),
                time: TimeNs(10),
                scope: Some(account),
                reference,
                content: Content {
                    kind: CommandKind::Split,
                    account,
                    object: 0,
                    amount: 1,
                    questions: QuestionSet::default(),
                },
                outcome: CommandOutcome::Done,
            });
        }
        exchange
    }

    /// Whether such a command finds room for a reference that is new.
    fn room(
        exchange: &Exchange,
        kind: CommandKind,
        account: Option<u32>,
        now: u64,
    ) -> Result<(), RejectionReason> {
        let scope = account.map(AccountNumber);
        let content = Content {
            kind,
            account: scope.unwrap_or(AccountNumber(0)),
            object: 0,
            amount: 1,
            questions: QuestionSet::default(),
        };
        let at = Stamp {
            sequence: Sequence(2),
            time: TimeNs(now),
            operator: OperatorNumber::NONE,
            touched: 0,
        };
        match exchange.check_reference(scope, Reference([1; 32]), Some(content), at) {
            Ok(()) => Ok(()),
            Err(NotApplied::Rejected(rejection)) => Err(rejection.reason),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn references_are_bounded_for_each_account_and_no_exit_is_refused() {
        let share = REFERENCES_PER_ACCOUNT as usize;
        let full = holding(2, share);
        for kind in [CommandKind::Split, CommandKind::Convert] {
            let room = |account, now| room(&full, kind, Some(account), now);
            let too_many = Err(RejectionReason::TooManyReferences);
            assert_eq!(room(0, 10), too_many);
            assert_eq!(room(0, 10 + REQUEST_MEMORY_NS), too_many);
            assert_eq!(room(0, 11 + REQUEST_MEMORY_NS), Ok(()));
            assert_eq!(room(2, 10), Ok(()));
        }
        for kind in [CommandKind::Merge, CommandKind::Redeem] {
            assert_eq!(room(&full, kind, Some(0), 10), Ok(()));
        }
        assert_eq!(room(&full, CommandKind::Deposit, None, 10), Ok(()));
    }
}
