//! Withdrawals that users or operators asked for (docs/verify/rules.md §27, §30).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use foretell_model::codec::{CodecError, Stored, coded, fixed};
use foretell_model::limits::MAX_DESTINATION_BYTES;
use foretell_model::{AccountNumber, Micros, OperatorNumber, Sequence, TimeNs};

use crate::error::Impossible;
use crate::part::Part;
use crate::storage::chunk::Chunking;
use crate::storage::listed_log::ListedLog;
use crate::storage::row::LogRow;

/// Most ended withdrawals that [`Withdrawals::find_ended`] reads.
const MAX_SEARCHED: usize = 10_000;

fixed! {
    /// A text of at most [`MAX_DESTINATION_BYTES`] bytes.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ShortText {
        length: u8,
        bytes: [u8; MAX_DESTINATION_BYTES],
    }
}

impl Default for ShortText {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl ShortText {
    /// The text, without what is too long.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let mut bytes = [0; MAX_DESTINATION_BYTES];
        let kept = text.len().min(MAX_DESTINATION_BYTES);
        bytes[..kept].copy_from_slice(&text[..kept]);
        let length = u8::try_from(kept).expect("at most 128");
        Self { length, bytes }
    }

    /// The text, up to the first byte that is not UTF-8.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let length = usize::from(self.length).min(MAX_DESTINATION_BYTES);
        let mut valid = self.bytes[..length].utf8_chunks();
        valid.next().map_or("", |chunk| chunk.valid())
    }
}

/// What became of a withdrawal. The discriminant is stored in the row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum WithdrawalStatus {
    /// It waits for a cashier; its user may cancel it.
    Requested = 0,
    /// A cashier pays it; above the limit it waits for a second person.
    Claimed = 1,
    /// It was paid.
    Paid = 2,
    /// An operator gave it up.
    Failed = 3,
    /// Its user cancelled it.
    Cancelled = 4,
}

impl WithdrawalStatus {
    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Requested),
            1 => Some(Self::Claimed),
            2 => Some(Self::Paid),
            3 => Some(Self::Failed),
            4 => Some(Self::Cancelled),
            _ => None,
        }
    }
}

coded! { WithdrawalStatus: u8, "status of a withdrawal"; }

fixed! {
    /// A withdrawal that waits or has ended.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Withdrawal {
        /// Its number: the sequence of the command that asked for it.
        pub number: Sequence,
        /// The account.
        pub account: AccountNumber,
        /// The amount; reserved while it waits.
        pub amount: Micros,
        /// The reference of its request.
        pub reference: ShortText,
        /// Where it goes, in the words of its user; empty when an operator asked for it.
        pub destination: ShortText,
        /// What became of it.
        pub status: WithdrawalStatus,
        /// The operator who asked for it; 0 = its user.
        pub asked_by: OperatorNumber,
        /// When it was asked for.
        pub asked: TimeNs,
        /// The operator who claimed it; 0 = nobody.
        pub claimed_by: OperatorNumber,
        /// Whether it was above the limit when it was claimed: another operator pays it.
        pub two_persons: bool,
        /// The operator who paid it or gave it up; 0 = nobody.
        pub ended_by: OperatorNumber,
        /// The last change of its status.
        pub changed: TimeNs,
        /// Sequence of that change.
        pub sequence: Sequence,
        /// The reference of the payment outside; empty until it is paid.
        pub payment: ShortText,
    }
}

impl LogRow for Withdrawal {
    const CHUNK_BITS: u32 = 12;
}

/// Those that wait.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WaitingWithdrawals {
    by_number: BTreeMap<Sequence, Withdrawal>,
    of_account: BTreeSet<(AccountNumber, Sequence)>,
    by_amount: BTreeSet<(Micros, Reverse<Sequence>)>,
    sum: Micros,
}

impl WaitingWithdrawals {
    /// The one with this number.
    #[must_use]
    pub fn get(&self, number: Sequence) -> Option<&Withdrawal> {
        self.by_number.get(&number)
    }

    /// How many wait.
    #[must_use]
    pub fn count(&self) -> usize {
        self.by_number.len()
    }

    /// What they hold together.
    #[must_use]
    pub const fn sum(&self) -> Micros {
        self.sum
    }

    /// All, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Withdrawal> {
        self.by_number.values()
    }

    /// Those of an account, the newest first.
    pub fn of(&self, account: AccountNumber) -> impl Iterator<Item = &Withdrawal> {
        let all = (account, Sequence(0))..=(account, Sequence(u64::MAX));
        let numbers = self.of_account.range(all).rev();
        numbers.filter_map(|(_, number)| self.get(*number))
    }

    /// The largest first, of one amount the oldest; those after this amount and number.
    pub fn largest(&self, after: Option<(Micros, Sequence)>) -> impl Iterator<Item = &Withdrawal> {
        let end = match after {
            Some((amount, number)) => Bound::Excluded((amount, Reverse(number))),
            None => Bound::Unbounded,
        };
        let rows = self.by_amount.range((Bound::Unbounded, end)).rev();
        rows.filter_map(|(_, number)| self.get(number.0))
    }

    pub(crate) fn change(&mut self, number: Sequence) -> Option<&mut Withdrawal> {
        self.by_number.get_mut(&number)
    }

    pub(crate) fn add(&mut self, withdrawal: Withdrawal) -> Result<(), Impossible> {
        let Withdrawal {
            number,
            account,
            amount,
            ..
        } = withdrawal;
        let sum = self.sum.checked_add(amount);
        self.sum = sum.ok_or(Impossible::AmountOutOfRange)?;
        self.of_account.insert((account, number));
        self.by_amount.insert((amount, Reverse(number)));
        match self.by_number.insert(number, withdrawal) {
            None => Ok(()),
            Some(_) => Err(Impossible::DuplicateName),
        }
    }

    pub(crate) fn remove(&mut self, number: Sequence) -> Option<Withdrawal> {
        let taken = self.by_number.remove(&number)?;
        self.of_account.remove(&(taken.account, number));
        self.by_amount.remove(&(taken.amount, Reverse(number)));
        self.sum = Micros(self.sum.0.saturating_sub(taken.amount.0));
        Some(taken)
    }
}

impl Stored for WaitingWithdrawals {
    fn put(&self, out: &mut Vec<u8>) {
        self.by_number.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let mut waiting = Self::default();
        for (number, withdrawal) in BTreeMap::<Sequence, Withdrawal>::take(from)? {
            let is_sound = number == withdrawal.number && waiting.add(withdrawal).is_ok();
            is_sound
                .then_some(())
                .ok_or(CodecError::Inconsistent("withdrawals that wait"))?;
        }
        Ok(waiting)
    }
}

/// All withdrawals.
#[derive(Debug)]
pub struct Withdrawals {
    pub(crate) waiting: WaitingWithdrawals,
    /// Listed by account.
    pub(crate) ended: ListedLog<Withdrawal>,
}

impl Part for Withdrawals {
    fn new(chunking: Chunking) -> Self {
        Self {
            waiting: WaitingWithdrawals::default(),
            ended: ListedLog::new(chunking),
        }
    }

    fn put_live(&self, out: &mut Vec<u8>) {
        self.waiting.put(out);
    }

    fn take_live(&mut self, from: &mut &[u8]) -> Result<(), CodecError> {
        self.waiting = Stored::take(from)?;
        Ok(())
    }
}

impl Withdrawals {
    /// Those that wait.
    #[must_use]
    pub const fn waiting(&self) -> &WaitingWithdrawals {
        &self.waiting
    }

    /// Number of those of an account that ended.
    #[must_use]
    pub fn ended_count_of(&self, account: AccountNumber) -> u64 {
        self.ended.count(account.0 as usize)
    }

    /// The `end` oldest of an account that ended, the last ended first.
    pub fn ended_of(&self, account: AccountNumber, end: u64) -> impl Iterator<Item = Withdrawal> {
        self.ended.newest_first(account.0 as usize, end)
    }

    /// The withdrawal of an account with this number.
    #[must_use]
    pub fn find(&self, account: AccountNumber, number: Sequence) -> Option<Withdrawal> {
        if let Some(waiting) = self.waiting.get(number) {
            return (waiting.account == account).then_some(*waiting);
        }
        let newest_first = self.ended_of(account, self.ended_count_of(account));
        at_number(newest_first, number)
    }

    /// The withdrawal of any account with this number, if it is among the last 10,000 that ended.
    #[must_use]
    pub fn find_ended(&self, number: Sequence) -> Option<Withdrawal> {
        let newest_first = (0..self.ended_count()).rev().take(MAX_SEARCHED);
        at_number(newest_first.filter_map(|index| self.ended(index)), number)
    }

    /// Number of those that ended, of all accounts.
    #[must_use]
    pub fn ended_count(&self) -> u64 {
        self.ended.rows.len()
    }

    /// The one that ended at this index, from 0.
    #[must_use]
    pub fn ended(&self, index: u64) -> Option<Withdrawal> {
        self.ended.rows.get(index)
    }

    pub(crate) fn end(&mut self, ended: &Withdrawal) -> Result<(), Impossible> {
        self.ended.push(ended.account.0 as usize, ended)
    }
}

/// The one with this number among some, the last ended first. Those that ended before its request are not read.
fn at_number(
    newest_first: impl Iterator<Item = Withdrawal>,
    number: Sequence,
) -> Option<Withdrawal> {
    let mut since = newest_first.take_while(|it| it.sequence >= number);
    since.find(|it| it.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn withdrawal(number: u64, account: u32, amount: u64) -> Withdrawal {
        Withdrawal {
            number: Sequence(number),
            account: AccountNumber(account),
            amount: Micros(amount),
            reference: ShortText::default(),
            destination: ShortText::default(),
            status: WithdrawalStatus::Requested,
            asked_by: OperatorNumber::NONE,
            asked: TimeNs(0),
            claimed_by: OperatorNumber::NONE,
            two_persons: false,
            ended_by: OperatorNumber::NONE,
            changed: TimeNs(0),
            sequence: Sequence(number),
            payment: ShortText::default(),
        }
    }

    fn numbers<'a>(rows: impl Iterator<Item = &'a Withdrawal>) -> Vec<u64> {
        rows.map(|row| row.number.0).collect()
    }

    #[test]
    fn the_largest_come_first_and_a_page_goes_on_after_a_row() {
        let mut waiting = WaitingWithdrawals::default();
        for (number, account, amount) in [(1, 7, 5), (2, 8, 9), (3, 7, 5), (4, 7, 1)] {
            waiting.add(withdrawal(number, account, amount)).unwrap();
        }
        assert_eq!(numbers(waiting.largest(None)), [2, 1, 3, 4]);
        let after = Some((Micros(5), Sequence(1)));
        assert_eq!(numbers(waiting.largest(after)), [3, 4]);
        // Also when that row is gone.
        waiting.remove(Sequence(1)).unwrap();
        assert_eq!(numbers(waiting.largest(after)), [3, 4]);
        assert_eq!(numbers(waiting.of(AccountNumber(7))), [4, 3]);
        assert_eq!((waiting.count(), waiting.sum()), (3, Micros(15)));

        let mut stored = Vec::new();
        waiting.put(&mut stored);
        assert_eq!(WaitingWithdrawals::take(&mut &stored[..]).unwrap(), waiting);
    }
}
