//! Wallets and their owners, and the marks of accounts.

use foretell_model::digest::PendingWork;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, RefusalReason, WalletAddress, WalletKind,
};

use crate::exchange::Exchange;
use crate::step::{Answer, NotApplied, Step, ensure};

impl Exchange {
    pub(crate) fn account_or_open(
        &mut self,
        wallet: WalletAddress,
        step: &mut Step<'_>,
    ) -> AccountNumber {
        self.accounts.find(wallet).unwrap_or_else(|| {
            let account = self.accounts.open(wallet);
            step.event(Event::AccountOpened { account, wallet });
            account
        })
    }

    pub(crate) fn bind_wallet(
        &mut self,
        owner: WalletAddress,
        wallet: WalletAddress,
        kind: WalletKind,
        step: &mut Step<'_>,
    ) -> Answer {
        ensure(kind != WalletKind::Eoa, RefusalReason::WalletKindTaken)?;
        ensure(owner != wallet, RefusalReason::WalletNotBindable)?;
        let (known_owner, known_wallet) = (self.accounts.find(owner), self.accounts.find(wallet));
        self.ensure_bindable(known_owner, known_wallet, kind)?;

        let owner = self.account_or_open(owner, step);
        let wallet = self.account_or_open(wallet, step);
        self.accounts[wallet].owner = owner;
        self.accounts[wallet].kind = kind;
        if let Some(place) = self.accounts.identity_mut(owner).bound_mut(kind) {
            *place = Some(wallet);
        }
        step.event(Event::WalletBound {
            owner,
            wallet,
            kind,
        });
        Ok(CommandOutcome::Account(wallet))
    }

    /// An unknown account is its own owner and has nothing that could stand against a binding.
    fn ensure_bindable(
        &self,
        owner: Option<AccountNumber>,
        wallet: Option<AccountNumber>,
        kind: WalletKind,
    ) -> Result<(), NotApplied> {
        let is_bound = |account: AccountNumber| self.accounts[account].owner != account;
        if let Some(wallet) = wallet
            && Some(self.accounts[wallet].owner) == owner
            && self.accounts[wallet].kind == kind
        {
            return Err(NotApplied::already(CommandOutcome::Account(wallet)));
        }
        ensure(!owner.is_some_and(is_bound), RefusalReason::NotAnOwner)?;
        if let Some(wallet) = wallet {
            let identity = self.accounts.identity(wallet);
            let is_free = !is_bound(wallet) && !identity.owns_wallets() && identity.keys == 0;
            ensure(is_free, RefusalReason::WalletNotBindable)?;
        }
        if let Some(owner) = owner {
            let mut wallets = self.accounts.wallets_of(owner);
            let has_kind = wallets.any(|wallet| self.accounts[wallet].kind == kind);
            ensure(!has_kind, RefusalReason::WalletKindTaken)?;
        }
        let live_orders = wallet.map_or(0, |wallet| self.accounts[wallet].live_orders);
        ensure(live_orders == 0, RefusalReason::WalletHasLiveOrders)
    }

    pub(crate) fn unbind_wallet(&mut self, wallet: WalletAddress, step: &mut Step<'_>) -> Answer {
        let wallet = self
            .accounts
            .find(wallet)
            .ok_or(RefusalReason::UnknownAccount)?;
        let account = &self.accounts[wallet];
        let (owner, kind) = (account.owner, account.kind);
        ensure(owner != wallet, RefusalReason::WalletNotBound)?;
        ensure(account.live_orders == 0, RefusalReason::WalletHasLiveOrders)?;

        if let Some(place) = self.accounts.identity_mut(owner).bound_mut(kind) {
            *place = None;
        }
        self.accounts[wallet].owner = wallet;
        self.accounts[wallet].kind = WalletKind::Eoa;
        step.event(Event::WalletUnbound { owner, wallet });
        Ok(CommandOutcome::Account(wallet))
    }

    pub(crate) fn set_closed_only(
        &mut self,
        wallet: WalletAddress,
        closed_only: bool,
        step: &mut Step<'_>,
    ) -> Answer {
        if let Some(account) = self.accounts.find(wallet)
            && self.accounts[account].closed_only == closed_only
        {
            return Err(NotApplied::already(CommandOutcome::Account(account)));
        }
        let account = self.account_or_open(wallet, step);
        self.accounts[account].closed_only = closed_only;
        step.event(Event::ClosedOnlySet {
            account,
            closed_only,
        });
        if closed_only {
            self.work(PendingWork::ClosedOnly { account }, step);
        }
        Ok(CommandOutcome::Account(account))
    }

    pub(crate) fn set_heartbeat(
        &mut self,
        owner: AccountNumber,
        on: bool,
        step: &mut Step<'_>,
    ) -> Answer {
        ensure(
            self.account(owner)?.heartbeat != on,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.accounts[owner].heartbeat = on;
        step.event(Event::HeartbeatSet { owner, on });
        Ok(CommandOutcome::Done)
    }
}
