//! Withdrawals that users or operators asked for (docs/verify/rules.md §27, §30).

use std::collections::BTreeMap;

use foretell_model::codec::{coded, fixed, stored};
use foretell_model::limits::MAX_DESTINATION_BYTES;
use foretell_model::{AccountNumber, Micros, OperatorNumber, Sequence, TimeNs};

use crate::error::Impossible;
use crate::storage::list::Lists;
use crate::storage::log::Log;
use crate::storage::row::LogRow;

/// A text of at most [`MAX_DESTINATION_BYTES`] bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortText {
    length: u8,
    bytes: [u8; MAX_DESTINATION_BYTES],
}

fixed!(ShortText {
    length: u8,
    bytes: [u8; MAX_DESTINATION_BYTES],
});

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

fixed!(Withdrawal {
    number: Sequence,
    account: AccountNumber,
    amount: Micros,
    reference: ShortText,
    destination: ShortText,
    status: WithdrawalStatus,
    asked_by: OperatorNumber,
    asked: TimeNs,
    claimed_by: OperatorNumber,
    two_persons: bool,
    ended_by: OperatorNumber,
    changed: TimeNs,
    sequence: Sequence,
    payment: ShortText,
});

impl LogRow for Withdrawal {
    const CHUNK_BITS: u32 = 12;
}

/// Those that wait, by number.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Waiting(pub(crate) BTreeMap<Sequence, Withdrawal>);

stored!(Waiting { 0: BTreeMap<Sequence, Withdrawal> });

/// All withdrawals.
#[derive(Debug)]
pub struct Withdrawals {
    pub(crate) waiting: Waiting,
    pub(crate) ended: Log<Withdrawal>,
    pub(crate) of_account: Lists,
}

impl Withdrawals {
    /// Those that wait, by number.
    #[must_use]
    pub fn waiting(&self) -> &BTreeMap<Sequence, Withdrawal> {
        &self.waiting.0
    }

    /// Those of an account that wait, the newest first.
    pub fn waiting_of(&self, account: AccountNumber) -> impl Iterator<Item = &Withdrawal> {
        let newest_first = self.waiting.0.values().rev();
        newest_first.filter(move |it| it.account == account)
    }

    /// Number of those of an account that ended.
    #[must_use]
    pub fn ended_count_of(&self, account: AccountNumber) -> u64 {
        self.of_account.list(account.0 as usize).len()
    }

    /// The `end` oldest of an account that ended, the last ended first.
    pub fn ended_of(&self, account: AccountNumber, end: u64) -> impl Iterator<Item = Withdrawal> {
        let slots = self.of_account.list(account.0 as usize).newest_first(end);
        slots.filter_map(|slot| self.ended.get(slot))
    }

    /// The withdrawal of an account with this number.
    #[must_use]
    pub fn find(&self, account: AccountNumber, number: Sequence) -> Option<Withdrawal> {
        if let Some(waiting) = self.waiting.0.get(&number) {
            return (waiting.account == account).then_some(*waiting);
        }
        let ended = self.ended_of(account, self.ended_count_of(account));
        // Those that ended before it was asked for are not it.
        let mut since = ended.take_while(|it| it.sequence >= number);
        since.find(|it| it.number == number)
    }

    /// Number of those that ended, of all accounts.
    #[must_use]
    pub fn ended_count(&self) -> u64 {
        self.ended.len()
    }

    /// The one that ended at this index, from 0.
    #[must_use]
    pub fn ended(&self, index: u64) -> Option<Withdrawal> {
        self.ended.get(index)
    }

    pub(crate) fn end(&mut self, ended: &Withdrawal) -> Result<(), Impossible> {
        self.of_account
            .push(ended.account.0 as usize, self.ended.len())?;
        self.ended.push(ended)?;
        Ok(())
    }
}
