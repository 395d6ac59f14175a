//! Accounts: address and number, who owns whom, collateral and shares.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use foretell_model::{AccountNumber, MarketNumber, Micros, WalletAddress, WalletKind};

use crate::dense::Dense;
use crate::error::Impossible;
use crate::holding::Holding;
use crate::row::{Stored, stored};

/// One account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Its address.
    pub wallet: WalletAddress,
    /// Its owner; itself when bound to nobody.
    pub owner: AccountNumber,
    /// What it is to its owner; `Eoa` when its own.
    pub kind: WalletKind,
    /// May only reduce.
    pub closed_only: bool,
    /// A heartbeat chain runs.
    pub heartbeat: bool,
    /// Collateral not reserved.
    pub free: Micros,
    /// Collateral reserved by live BUYs.
    pub reserved: Micros,
    /// Wallets bound to it, by [`WalletKind::code`]; the first place is never used.
    bound: [Option<AccountNumber>; WalletKind::ALL.len()],
    /// Only what is not empty.
    holdings: BTreeMap<MarketNumber, Holding>,
}

stored!(Account {
    wallet: WalletAddress,
    owner: AccountNumber,
    kind: WalletKind,
    closed_only: bool,
    heartbeat: bool,
    free: Micros,
    reserved: Micros,
    bound: [Option<AccountNumber>; WalletKind::ALL.len()],
    holdings: BTreeMap<MarketNumber, Holding>,
});

impl Account {
    /// All its collateral, reserved or not.
    #[must_use]
    pub fn total(&self) -> Micros {
        Micros(self.free.0.saturating_add(self.reserved.0))
    }

    /// What it holds of a market; nothing is an empty holding.
    #[must_use]
    pub fn holding(&self, market: MarketNumber) -> Holding {
        self.holdings.get(&market).copied().unwrap_or_default()
    }

    /// What it holds, by market; only markets of which it holds something.
    pub fn holdings(&self) -> impl DoubleEndedIterator<Item = (MarketNumber, &Holding)> {
        self.holdings.iter().map(|(&market, held)| (market, held))
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

    /// Changes what it holds of a market, and forgets the market when nothing is left.
    pub(crate) fn hold(
        &mut self,
        market: MarketNumber,
        change: impl FnOnce(&mut Holding) -> Result<(), Impossible>,
    ) -> Result<(), Impossible> {
        let held = self.holdings.entry(market).or_default();
        change(held)?;
        if held.is_empty() {
            self.holdings.remove(&market);
        }
        Ok(())
    }
}

/// All accounts.
#[derive(Debug, Default)]
pub struct Accounts {
    all: Dense<AccountNumber, Account>,
    by_wallet: HashMap<WalletAddress, AccountNumber, RandomState>,
}

impl Accounts {
    /// The account with this number.
    #[must_use]
    pub fn get(&self, number: AccountNumber) -> Option<&Account> {
        self.all.get(number)
    }

    /// The number of an address.
    #[must_use]
    pub fn number_of(&self, wallet: &WalletAddress) -> Option<AccountNumber> {
        self.by_wallet.get(wallet).copied()
    }

    /// The account of an address.
    #[must_use]
    pub fn by_wallet(&self, wallet: &WalletAddress) -> Option<(AccountNumber, &Account)> {
        let number = self.number_of(wallet)?;
        Some((number, self.get(number)?))
    }

    /// The owner's wallet of this kind; `Eoa` is the owner itself.
    #[must_use]
    pub fn wallet_of_kind(&self, owner: AccountNumber, kind: WalletKind) -> Option<AccountNumber> {
        let account = self.get(owner)?;
        match kind {
            WalletKind::Eoa => Some(owner),
            _ => account.bound[usize::from(kind.code())],
        }
    }

    /// All wallets of an owner in order of kind: itself first, then what is bound to it.
    pub fn wallets_of(&self, owner: AccountNumber) -> impl Iterator<Item = AccountNumber> {
        (WalletKind::ALL.iter()).filter_map(move |&kind| self.wallet_of_kind(owner, kind))
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (AccountNumber, &Account)> {
        self.all.iter()
    }

    pub(crate) fn open(
        &mut self,
        number: AccountNumber,
        wallet: WalletAddress,
    ) -> Result<(), Impossible> {
        let account = Account {
            wallet,
            owner: number,
            kind: WalletKind::Eoa,
            closed_only: false,
            heartbeat: false,
            free: Micros::ZERO,
            reserved: Micros::ZERO,
            bound: [None; WalletKind::ALL.len()],
            holdings: BTreeMap::new(),
        };
        self.all.push(number, account)?;
        match self.by_wallet.insert(wallet, number) {
            None => Ok(()),
            Some(_) => Err(Impossible::NameTaken),
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

    fn take(from: &mut &[u8]) -> Option<Self> {
        let all = Dense::<AccountNumber, Account>::take(from)?;
        let by_wallet = all.by_name(|account| account.wallet)?;
        Some(Self { all, by_wallet })
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
