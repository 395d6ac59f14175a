//! Accounts, the wallets an owner trades for, and their marks (protocol 6).

use foretell_model::digest::PendingWork;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, RefusalReason, WalletAddress, WalletKind,
};

use crate::answer::{Answer, Stop, ensure};
use crate::exchange::{At, Exchange};

/// A wallet known to the exchange.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) wallet: WalletAddress,
    /// Itself when bound to nobody.
    pub(crate) owner: AccountNumber,
    /// `Eoa` when its own owner.
    pub(crate) kind: WalletKind,
    pub(crate) closed_only: bool,
    pub(crate) heartbeat: bool,
    /// Collateral that no order reserves.
    pub(crate) free: Micros,
}

impl Exchange {
    pub(crate) fn find_account(&self, wallet: WalletAddress) -> Option<AccountNumber> {
        let index = self
            .accounts
            .iter()
            .position(|account| account.wallet == wallet)?;
        Some(account_number(index))
    }

    pub(crate) fn account(&self, number: AccountNumber) -> Result<&Account, Stop> {
        self.accounts
            .get(number.0 as usize)
            .ok_or_else(|| RefusalReason::UnknownAccount.into())
    }

    /// The account with a number that is known to exist.
    pub(crate) fn account_mut(&mut self, number: AccountNumber) -> &mut Account {
        &mut self.accounts[number.0 as usize]
    }

    /// The account of a wallet, opened if it is new.
    pub(crate) fn open_account(
        &mut self,
        wallet: WalletAddress,
        events: &mut Vec<Event>,
    ) -> AccountNumber {
        if let Some(known) = self.find_account(wallet) {
            return known;
        }
        let account = account_number(self.accounts.len());
        self.accounts.push(Account {
            wallet,
            owner: account,
            kind: WalletKind::Eoa,
            closed_only: false,
            heartbeat: false,
            free: Micros::ZERO,
        });
        events.push(Event::AccountOpened { account, wallet });
        account
    }

    /// All wallets of an owner, itself first, in order of kind.
    pub(crate) fn wallets_of(&self, owner: AccountNumber) -> Vec<AccountNumber> {
        let mut wallets: Vec<_> = (0..self.accounts.len())
            .map(account_number)
            .filter(|number| self.accounts[number.0 as usize].owner == owner)
            .collect();
        wallets.sort_by_key(|number| self.accounts[number.0 as usize].kind);
        wallets
    }

    fn is_bound(&self, number: AccountNumber) -> bool {
        self.accounts[number.0 as usize].owner != number
    }

    pub(crate) fn bind_wallet(
        &mut self,
        owner: WalletAddress,
        wallet: WalletAddress,
        kind: WalletKind,
        events: &mut Vec<Event>,
    ) -> Answer {
        ensure(kind != WalletKind::Eoa, RefusalReason::WalletKindTaken)?;
        ensure(owner != wallet, RefusalReason::WalletNotBindable)?;
        let known_owner = self.find_account(owner);
        let known_wallet = self.find_account(wallet);
        if let (Some(owner), Some(wallet)) = (known_owner, known_wallet) {
            let account = self.account(wallet)?;
            if account.owner == owner && account.kind == kind {
                return Err(Stop::already(CommandOutcome::Account(wallet)));
            }
        }
        if let Some(owner) = known_owner {
            ensure(!self.is_bound(owner), RefusalReason::NotAnOwner)?;
        }
        if let Some(wallet) = known_wallet {
            let had_keys = self.keys.iter().any(|key| key.owner == wallet);
            let owns_others = self.wallets_of(wallet).iter().any(|other| *other != wallet);
            ensure(
                !self.is_bound(wallet) && !had_keys && !owns_others,
                RefusalReason::WalletNotBindable,
            )?;
        }
        if let Some(owner) = known_owner {
            let has_kind = self
                .wallets_of(owner)
                .iter()
                .any(|wallet| self.accounts[wallet.0 as usize].kind == kind);
            ensure(!has_kind, RefusalReason::WalletKindTaken)?;
        }
        if let Some(wallet) = known_wallet {
            ensure(
                self.live_orders(wallet) == 0,
                RefusalReason::WalletHasLiveOrders,
            )?;
        }

        let owner = self.open_account(owner, events);
        let wallet = self.open_account(wallet, events);
        let account = self.account_mut(wallet);
        account.owner = owner;
        account.kind = kind;
        events.push(Event::WalletBound {
            owner,
            wallet,
            kind,
        });
        Ok(CommandOutcome::Account(wallet))
    }

    pub(crate) fn unbind_wallet(
        &mut self,
        wallet: WalletAddress,
        events: &mut Vec<Event>,
    ) -> Answer {
        let wallet = self
            .find_account(wallet)
            .ok_or(RefusalReason::UnknownAccount)?;
        ensure(self.is_bound(wallet), RefusalReason::WalletNotBound)?;
        ensure(
            self.live_orders(wallet) == 0,
            RefusalReason::WalletHasLiveOrders,
        )?;

        let account = self.account_mut(wallet);
        let owner = account.owner;
        account.owner = wallet;
        account.kind = WalletKind::Eoa;
        events.push(Event::WalletUnbound { owner, wallet });
        Ok(CommandOutcome::Account(wallet))
    }

    /// An account that becomes closed-only loses its resting BUYs.
    pub(crate) fn set_closed_only(
        &mut self,
        wallet: WalletAddress,
        closed_only: bool,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        if let Some(account) = self.find_account(wallet) {
            let already = self.account(account)?.closed_only == closed_only;
            ensure(!already, Stop::already(CommandOutcome::Account(account)))?;
        }

        let account = self.open_account(wallet, events);
        self.account_mut(account).closed_only = closed_only;
        events.push(Event::ClosedOnlySet {
            account,
            closed_only,
        });
        if closed_only {
            self.work_on(PendingWork::ClosedOnly { account }, at, events);
        }
        Ok(CommandOutcome::Account(account))
    }

    pub(crate) fn set_heartbeat(
        &mut self,
        owner: AccountNumber,
        on: bool,
        events: &mut Vec<Event>,
    ) -> Answer {
        let already = self.account(owner)?.heartbeat == on;
        ensure(!already, Stop::already(CommandOutcome::Done))?;

        self.account_mut(owner).heartbeat = on;
        events.push(Event::HeartbeatSet { owner, on });
        Ok(CommandOutcome::Done)
    }
}

/// The number of the account at an index of the list.
pub(crate) fn account_number(index: usize) -> AccountNumber {
    AccountNumber(u32::try_from(index).expect("tests open few accounts"))
}
