//! References of account actions, found by key, listed by age: of all accounts and of each.

use foretell_model::AccountNumber;

use crate::references::Used;
use crate::slab::{NONE, Slab};
use crate::table::Table;

/// A reference and its links. The oldest of an account is reached from the account, the oldest of all
/// from the memory, so nothing but the first of a list is ever taken out of it, except that the oldest
/// of an account may stand anywhere among all.
#[derive(Debug)]
struct Entry {
    used: Used,
    older: u32,
    newer: u32,
    newer_of_account: u32,
}

/// The references of one account: the first and the last are `NONE` when there are none.
#[derive(Clone, Copy, Debug)]
struct Queue {
    oldest: u32,
    newest: u32,
    len: u32,
}

const EMPTY: Queue = Queue {
    oldest: NONE,
    newest: NONE,
    len: 0,
};

/// The memory. Each method that touches the index is given the key's hash.
#[derive(Debug)]
pub(crate) struct ActionMemory {
    entries: Slab<Entry>,
    by_key: Table,
    oldest: u32,
    newest: u32,
    /// By account; shorter than the accounts when the last of them have none.
    accounts: Vec<Queue>,
}

impl ActionMemory {
    pub(crate) fn with_capacity(references: usize, accounts: usize) -> Self {
        Self {
            entries: Slab::with_capacity(references),
            by_key: Table::with_capacity(references),
            oldest: NONE,
            newest: NONE,
            accounts: Vec::with_capacity(accounts),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// References of an account.
    pub(crate) fn held_by(&self, account: AccountNumber) -> u32 {
        self.queue(account).len
    }

    /// The oldest of all.
    pub(crate) fn oldest(&self) -> Option<&Used> {
        self.used(self.oldest)
    }

    /// The oldest of an account.
    pub(crate) fn oldest_of(&self, account: AccountNumber) -> Option<&Used> {
        self.used(self.queue(account).oldest)
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Used> {
        let mut slot = self.oldest;
        std::iter::from_fn(move || {
            let used = self.used(slot)?;
            slot = self.entries[slot].newer;
            Some(used)
        })
    }

    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(&Used) -> bool) -> Option<&Used> {
        let slot = self
            .by_key
            .find(hash, |slot| is_it(&self.entries[slot].used))?;
        self.used(slot)
    }

    /// Brings near where a key with this hash is looked for.
    pub(crate) fn bring(&self, hash: u32) {
        self.by_key.bring(hash);
    }

    /// Adds the newest reference, whose key is not there yet.
    pub(crate) fn push(&mut self, hash: u32, account: AccountNumber, used: Used) {
        let slot = self.entries.insert(Entry {
            used,
            older: self.newest,
            newer: NONE,
            newer_of_account: NONE,
        });
        self.by_key.insert(hash, slot);
        match std::mem::replace(&mut self.newest, slot) {
            NONE => self.oldest = slot,
            before => self.entries[before].newer = slot,
        }
        let queue = self.queue_mut(account);
        queue.len += 1;
        match std::mem::replace(&mut queue.newest, slot) {
            NONE => queue.oldest = slot,
            before => self.entries[before].newer_of_account = slot,
        }
    }

    /// Forgets the oldest of all, which is the oldest of its account too.
    pub(crate) fn forget_oldest(&mut self, hash_of: impl Fn(&Used) -> u32) {
        if let Some(account) = self.oldest().and_then(|used| used.scope) {
            self.forget_oldest_of(account, hash_of);
        }
    }

    /// Forgets the oldest of an account, if it has one.
    pub(crate) fn forget_oldest_of(
        &mut self,
        account: AccountNumber,
        hash_of: impl Fn(&Used) -> u32,
    ) {
        let slot = self.queue(account).oldest;
        if slot == NONE {
            return;
        }
        let entry = &self.entries[slot];
        let (older, newer, of_account) = (entry.older, entry.newer, entry.newer_of_account);
        self.by_key.remove(hash_of(&entry.used), slot);
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer].older = older,
        }
        let queue = self.queue_mut(account);
        queue.len -= 1;
        queue.oldest = of_account;
        if of_account == NONE {
            queue.newest = NONE;
        }
        self.entries.release(slot);
    }

    fn used(&self, slot: u32) -> Option<&Used> {
        (slot != NONE).then(|| &self.entries[slot].used)
    }

    fn queue(&self, account: AccountNumber) -> Queue {
        let queue = self.accounts.get(account.0 as usize);
        queue.copied().unwrap_or(EMPTY)
    }

    fn queue_mut(&mut self, account: AccountNumber) -> &mut Queue {
        let at = account.0 as usize;
        if self.accounts.len() <= at {
            self.accounts.resize(at + 1, EMPTY);
        }
        &mut self.accounts[at]
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::{CommandOutcome, Reference, Sequence, TimeNs};

    use super::*;
    use crate::references::Content;

    fn used(account: u32, number: u64) -> Used {
        Used {
            sequence: Sequence(number),
            time: TimeNs(number),
            scope: Some(AccountNumber(account)),
            reference: Reference([7; 32]),
            code: 19,
            content: Content::default(),
            outcome: CommandOutcome::Done,
        }
    }

    fn hash(used: &Used) -> u32 {
        u32::try_from(used.sequence.0 % 3).unwrap()
    }

    /// Against plain lists: any order of adding, and of forgetting by account or by age.
    #[test]
    fn it_lists_and_forgets_as_plain_lists_do() {
        let mut memory = ActionMemory::with_capacity(0, 0);
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
                    memory.forget_oldest(hash);
                    if !plain.is_empty() {
                        plain.remove(0);
                    }
                }
                _ => {
                    memory.forget_oldest_of(AccountNumber(account), hash);
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
                    memory.held_by(AccountNumber(account)) as usize,
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
