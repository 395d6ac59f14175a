//! Accounts: address and number, owner and bound wallets, collateral.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::{AccountNumber, Micros, TimeNs, WalletAddress, WalletKind};

use crate::error::Impossible;
use crate::storage::by_number::ByNumber;

stored! {
    /// One account.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Account {
        /// Its address.
        pub wallet: WalletAddress,
        /// Its owner; the account itself when it is not bound.
        pub owner: AccountNumber,
        /// Its wallet kind for its owner; `Eoa` when it is its own owner.
        pub kind: WalletKind,
        /// Whether it may only reduce its positions.
        pub closed_only: bool,
        /// Whether a heartbeat chain runs.
        pub heartbeat: bool,
        /// Collateral not reserved.
        pub free: Micros,
        /// Collateral reserved by live BUYs and withdrawals that wait.
        pub reserved: Micros,
        /// Rebates accrued and not yet paid (docs/verify/rules.md §23); they cannot be spent.
        pub accrued: Micros,
        /// Rebates paid so far.
        pub rebates_paid: Micros,
        /// When it was opened.
        pub opened: TimeNs,
        /// Wallets bound to it, by [`WalletKind::code`]; index 0 is unused.
        bound: [Option<AccountNumber>; WalletKind::ALL.len()],
    }
}

impl Account {
    /// Its total collateral, free and reserved.
    #[must_use]
    pub fn total(&self) -> Micros {
        Micros(self.free.0.saturating_add(self.reserved.0))
    }

    pub(crate) fn credit(&mut self, amount: Micros) -> Result<(), Impossible> {
        add(&mut self.free, amount)
    }

    pub(crate) fn debit(&mut self, amount: Micros) -> Result<(), Impossible> {
        subtract(&mut self.free, amount)
    }

    pub(crate) fn spend_reserved(&mut self, amount: Micros) -> Result<(), Impossible> {
        subtract(&mut self.reserved, amount)
    }

    pub(crate) fn reserve(&mut self, amount: Micros) -> Result<(), Impossible> {
        self.debit(amount)?;
        add(&mut self.reserved, amount)
    }

    pub(crate) fn release(&mut self, amount: Micros) -> Result<(), Impossible> {
        self.spend_reserved(amount)?;
        self.credit(amount)
    }
}

/// All accounts.
#[derive(Debug, Default)]
pub struct Accounts {
    all: ByNumber<AccountNumber, Account>,
    by_wallet: HashMap<WalletAddress, AccountNumber, RandomState>,
}

impl Accounts {
    /// The account with this number.
    #[must_use]
    pub fn get(&self, number: AccountNumber) -> Option<&Account> {
        self.all.get(number)
    }

    /// The number of the account with this address.
    #[must_use]
    pub fn number_of(&self, wallet: &WalletAddress) -> Option<AccountNumber> {
        self.by_wallet.get(wallet).copied()
    }

    /// The account with this address.
    #[must_use]
    pub fn by_wallet(&self, wallet: &WalletAddress) -> Option<(AccountNumber, &Account)> {
        let number = self.number_of(wallet)?;
        Some((number, self.get(number)?))
    }

    /// The owner's wallet of this kind; for `Eoa` the owner itself.
    #[must_use]
    pub fn wallet_of_kind(&self, owner: AccountNumber, kind: WalletKind) -> Option<AccountNumber> {
        let account = self.get(owner)?;
        match kind {
            WalletKind::Eoa => Some(owner),
            _ => account.bound[usize::from(kind.code())],
        }
    }

    /// All wallets of an owner in order of kind: itself first, then the bound ones.
    pub fn wallets_of(&self, owner: AccountNumber) -> impl Iterator<Item = AccountNumber> {
        (WalletKind::ALL.iter()).filter_map(move |&kind| self.wallet_of_kind(owner, kind))
    }

    /// Number of accounts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// All accounts, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (AccountNumber, &Account)> {
        self.all.iter()
    }

    /// The accounts before one, all without one; the newest first.
    pub fn before(
        &self,
        end: Option<AccountNumber>,
    ) -> impl Iterator<Item = (AccountNumber, &Account)> {
        self.all.before(end)
    }

    pub(crate) fn open(
        &mut self,
        number: AccountNumber,
        wallet: WalletAddress,
        opened: TimeNs,
    ) -> Result<(), Impossible> {
        let account = Account {
            wallet,
            owner: number,
            kind: WalletKind::Eoa,
            closed_only: false,
            heartbeat: false,
            free: Micros::ZERO,
            reserved: Micros::ZERO,
            accrued: Micros::ZERO,
            rebates_paid: Micros::ZERO,
            opened,
            bound: [None; WalletKind::ALL.len()],
        };
        self.all.push(number, account)?;
        match self.by_wallet.insert(wallet, number) {
            None => Ok(()),
            Some(_) => Err(Impossible::DuplicateName),
        }
    }

    pub(crate) fn get_mut(&mut self, number: AccountNumber) -> Result<&mut Account, Impossible> {
        (self.all.get_mut(number)).ok_or(Impossible::UnknownAccount(number))
    }

    pub(crate) fn bind(
        &mut self,
        owner: AccountNumber,
        wallet: AccountNumber,
        kind: WalletKind,
    ) -> Result<(), Impossible> {
        let bound = self.get_mut(wallet)?;
        bound.owner = owner;
        bound.kind = kind;
        self.get_mut(owner)?.bound[usize::from(kind.code())] = Some(wallet);
        Ok(())
    }

    pub(crate) fn unbind(
        &mut self,
        owner: AccountNumber,
        wallet: AccountNumber,
    ) -> Result<(), Impossible> {
        let bound = self.get_mut(wallet)?;
        let kind = bound.kind;
        bound.owner = wallet;
        bound.kind = WalletKind::Eoa;
        self.get_mut(owner)?.bound[usize::from(kind.code())] = None;
        Ok(())
    }
}

impl Stored for Accounts {
    fn put(&self, out: &mut Vec<u8>) {
        self.all.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let all = ByNumber::<AccountNumber, Account>::take(from)?;
        let by_wallet =
            (all.by_name(|account| account.wallet)).ok_or(CodecError::Inconsistent("wallets"))?;
        Ok(Self { all, by_wallet })
    }
}

pub(crate) fn add(amount: &mut Micros, by: Micros) -> Result<(), Impossible> {
    *amount = amount.checked_add(by).ok_or(Impossible::AmountOutOfRange)?;
    Ok(())
}

pub(crate) fn subtract(amount: &mut Micros, by: Micros) -> Result<(), Impossible> {
    *amount = amount.checked_sub(by).ok_or(Impossible::AmountOutOfRange)?;
    Ok(())
}
