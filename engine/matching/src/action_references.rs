//! Remembered references of account actions: found by key, listed by age, per account and in total.

use foretell_model::AccountNumber;

use crate::idempotency::UsedReference;
use crate::slab::{NONE, Slab};
use crate::table::Table;

/// A reference and its links. Entries are removed from the head of their account's list, so the
/// account list needs no back links. In the list of all accounts an node may be removed anywhere.
#[derive(Debug)]
struct Node {
    used: UsedReference,
    older: u32,
    newer: u32,
    newer_of_account: u32,
}

/// The references of one account, oldest first; both ends are `NONE` when the list is empty.
#[derive(Clone, Copy, Debug)]
struct AccountQueue {
    oldest: u32,
    newest: u32,
    len: u32,
}

const EMPTY: AccountQueue = AccountQueue {
    oldest: NONE,
    newest: NONE,
    len: 0,
};

/// References of all accounts. Methods that use the index take the hash of the key.
#[derive(Debug)]
pub(crate) struct ActionReferences {
    nodes: Slab<Node>,
    by_key: Table,
    oldest: u32,
    newest: u32,
    /// Indexed by account; shorter than the list of accounts when the last accounts have none.
    accounts: Vec<AccountQueue>,
}

impl ActionReferences {
    pub(crate) fn with_capacity(references: usize, accounts: usize) -> Self {
        Self {
            nodes: Slab::with_capacity(references),
            by_key: Table::with_capacity(references),
            oldest: NONE,
            newest: NONE,
            accounts: Vec::with_capacity(accounts),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Number of references of an account.
    pub(crate) fn count_of(&self, account: AccountNumber) -> u32 {
        self.queue(account).len
    }

    /// The oldest reference of all accounts.
    pub(crate) fn oldest(&self) -> Option<&UsedReference> {
        self.used(self.oldest)
    }

    /// The oldest reference of an account.
    pub(crate) fn oldest_of(&self, account: AccountNumber) -> Option<&UsedReference> {
        self.used(self.queue(account).oldest)
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &UsedReference> {
        let mut slot = self.oldest;
        std::iter::from_fn(move || {
            let used = self.used(slot)?;
            slot = self.nodes[slot].newer;
            Some(used)
        })
    }

    pub(crate) fn find(
        &self,
        hash: u32,
        is_it: impl Fn(&UsedReference) -> bool,
    ) -> Option<&UsedReference> {
        let slot = self
            .by_key
            .find(hash, |slot| is_it(&self.nodes[slot].used))?;
        self.used(slot)
    }

    /// Prefetches the index entry of a key with this hash.
    pub(crate) fn prefetch(&self, hash: u32) {
        self.by_key.prefetch(hash);
    }

    /// Appends a reference whose key is not in the index yet.
    pub(crate) fn push(&mut self, hash: u32, account: AccountNumber, used: UsedReference) {
        let slot = self.nodes.insert(Node {
            used,
            older: self.newest,
            newer: NONE,
            newer_of_account: NONE,
        });
        self.by_key.insert(hash, slot);
        match std::mem::replace(&mut self.newest, slot) {
            NONE => self.oldest = slot,
            before => self.nodes[before].newer = slot,
        }
        let queue = self.queue_mut(account);
        queue.len += 1;
        match std::mem::replace(&mut queue.newest, slot) {
            NONE => queue.oldest = slot,
            before => self.nodes[before].newer_of_account = slot,
        }
    }

    /// Evicts the oldest reference of all accounts, which is also the oldest of its account.
    pub(crate) fn evict_oldest(&mut self, hash_of: impl Fn(&UsedReference) -> u32) {
        if let Some(account) = self.oldest().and_then(|used| used.scope) {
            self.evict_oldest_of(account, hash_of);
        }
    }

    /// Evicts the oldest reference of an account, if there is one.
    pub(crate) fn evict_oldest_of(
        &mut self,
        account: AccountNumber,
        hash_of: impl Fn(&UsedReference) -> u32,
    ) {
        let slot = self.queue(account).oldest;
        if slot == NONE {
            return;
        }
        let node = &self.nodes[slot];
        let (older, newer, of_account) = (node.older, node.newer, node.newer_of_account);
        self.by_key.remove(hash_of(&node.used), slot);
        match older {
            NONE => self.oldest = newer,
            older => self.nodes[older].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.nodes[newer].older = older,
        }
        let queue = self.queue_mut(account);
        queue.len -= 1;
        queue.oldest = of_account;
        if of_account == NONE {
            queue.newest = NONE;
        }
        self.nodes.release(slot);
    }

    fn used(&self, slot: u32) -> Option<&UsedReference> {
        (slot != NONE).then(|| &self.nodes[slot].used)
    }

    fn queue(&self, account: AccountNumber) -> AccountQueue {
        let queue = self.accounts.get(account.0 as usize);
        queue.copied().unwrap_or(EMPTY)
    }

    fn queue_mut(&mut self, account: AccountNumber) -> &mut AccountQueue {
        let at = account.0 as usize;
        if self.accounts.len() <= at {
            self.accounts.resize(at + 1, EMPTY);
        }
        &mut self.accounts[at]
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::{CommandKind, CommandOutcome, Reference, Sequence, TimeNs};

    use super::*;
    use crate::idempotency::ActionContent;

    fn used(account: u32, number: u64) -> UsedReference {
        UsedReference {
            sequence: Sequence(number),
            time: TimeNs(number),
            scope: Some(AccountNumber(account)),
            reference: Reference([7; 32]),
            kind: CommandKind::Split,
            content: ActionContent::default(),
            outcome: CommandOutcome::Done,
        }
    }

    fn hash(used: &UsedReference) -> u32 {
        u32::try_from(used.sequence.0 % 3).unwrap()
    }

    /// Compares with plain lists under random insertions and evictions by account or by age.
    #[test]
    fn it_lists_and_forgets_as_plain_lists_do() {
        let mut memory = ActionReferences::with_capacity(0, 0);
        let mut plain: Vec<(u32, u64)> = Vec::new();
        let mut dice = 12_345_u64;
        for number in 1..=4_000 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (choice, account) = (dice >> 60, u32::try_from(dice >> 32 & 3).unwrap());
            match choice {
                0..9 => {
                    let one = used(account, number);
                    memory.push(hash(&one), AccountNumber(account), one);
                    plain.push((account, number));
                }
                9..12 => {
                    memory.evict_oldest(hash);
                    if !plain.is_empty() {
                        plain.remove(0);
                    }
                }
                _ => {
                    memory.evict_oldest_of(AccountNumber(account), hash);
                    if let Some(at) = plain.iter().position(|(owner, _)| *owner == account) {
                        plain.remove(at);
                    }
                }
            }
            let listed = memory.iter().map(|used| used.sequence.0);
            assert!(listed.eq(plain.iter().map(|(_, number)| *number)));
            for account in 0..4 {
                let mut own = plain.iter().filter(|(owner, _)| *owner == account);
                let oldest = memory.oldest_of(AccountNumber(account));
                assert_eq!(
                    memory.count_of(AccountNumber(account)) as usize,
                    own.clone().count()
                );
                assert_eq!(
                    oldest.map(|used| used.sequence.0),
                    own.next().map(|(_, number)| *number)
                );
            }
            for (_, number) in &plain {
                let wanted = used(0, *number);
                let found = memory.find(hash(&wanted), |used| used.sequence == wanted.sequence);
                assert!(found.is_some());
            }
        }
        assert!(!plain.is_empty());
    }
}
