//! Accounts, wallets of owners, and account flags (docs/verify/rules.md §17).

use foretell_model::command::{BindWallet, SetClosedOnly, SetHeartbeat};
use foretell_model::event::{
    AccountOpened, ClosedOnlySet, HeartbeatSet, WalletBound, WalletUnbound,
};
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, Event, Micros, OperatorRole, RejectionReason,
    TimeMs, WalletAddress, WalletKind,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};

/// A wallet known to the exchange.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) wallet: WalletAddress,
    /// The owner; the account itself when it is not bound.
    pub(crate) owner: AccountNumber,
    /// `Eoa` when it is its own owner.
    pub(crate) kind: WalletKind,
    pub(crate) closed_only: bool,
    pub(crate) heartbeat: bool,
    /// Collateral not reserved by orders.
    pub(crate) free: Micros,
    /// Wallets bound to it.
    pub(crate) bound: Vec<AccountNumber>,
    /// Whether it ever had a key.
    pub(crate) had_keys: bool,
    pub(crate) live_keys: u32,
    /// `valid_until` of its last request of a withdrawal.
    pub(crate) withdrawal_valid_until: TimeMs,
}

impl Exchange {
    pub(crate) fn find_account(&self, wallet: WalletAddress) -> Option<AccountNumber> {
        self.names.accounts.get(&wallet).copied()
    }

    pub(crate) fn account(&self, number: AccountNumber) -> Result<&Account, NotApplied> {
        self.accounts
            .get(number.0 as usize)
            .ok_or_else(|| RejectionReason::UnknownAccount.into())
    }

    /// The account with this number, which must exist.
    pub(crate) fn account_mut(&mut self, number: AccountNumber) -> &mut Account {
        &mut self.accounts[number.0 as usize]
    }

    /// The account of a wallet; opened if new.
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
            bound: Vec::new(),
            had_keys: false,
            live_keys: 0,
            withdrawal_valid_until: TimeMs(0),
        });
        self.names.accounts.insert(wallet, account);
        events.push(Event::AccountOpened(AccountOpened { account, wallet }));
        account
    }

    /// All wallets of an owner in order of kind, the owner itself first.
    pub(crate) fn wallets_of(&self, owner: AccountNumber) -> Vec<AccountNumber> {
        let mut wallets = self.accounts[owner.0 as usize].bound.clone();
        if !self.is_bound(owner) {
            wallets.push(owner);
        }
        wallets.sort_by_key(|number| self.accounts[number.0 as usize].kind);
        wallets
    }

    fn is_bound(&self, number: AccountNumber) -> bool {
        self.accounts[number.0 as usize].owner != number
    }

    pub(crate) fn bind_wallet(
        &mut self,
        &BindWallet {
            owner,
            wallet,
            kind,
        }: &BindWallet,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        ensure(kind != WalletKind::Eoa, RejectionReason::WalletKindTaken)?;
        ensure(owner != wallet, RejectionReason::WalletNotBindable)?;
        let known_owner = self.find_account(owner);
        let known_wallet = self.find_account(wallet);
        if let (Some(owner), Some(wallet)) = (known_owner, known_wallet) {
            let account = self.account(wallet)?;
            if account.owner == owner && account.kind == kind {
                return Err(NotApplied::already(CommandOutcome::Account(wallet)));
            }
        }
        if let Some(owner) = known_owner {
            ensure(!self.is_bound(owner), RejectionReason::NotAnOwner)?;
        }
        if let Some(wallet) = known_wallet {
            let account = self.account(wallet)?;
            ensure(
                !self.is_bound(wallet) && !account.had_keys && account.bound.is_empty(),
                RejectionReason::WalletNotBindable,
            )?;
        }
        if let Some(owner) = known_owner {
            let has_kind = self
                .wallets_of(owner)
                .iter()
                .any(|wallet| self.accounts[wallet.0 as usize].kind == kind);
            ensure(!has_kind, RejectionReason::WalletKindTaken)?;
        }
        if let Some(wallet) = known_wallet {
            self.check_nothing_waits(wallet)?;
            self.check_role(&[OperatorRole::Admin], CommandKind::BindWallet, at)?;
        }

        let owner = self.open_account(owner, events);
        let wallet = self.open_account(wallet, events);
        let account = self.account_mut(wallet);
        account.owner = owner;
        account.kind = kind;
        self.account_mut(owner).bound.push(wallet);
        events.push(Event::WalletBound(WalletBound {
            owner,
            wallet,
            kind,
        }));
        Ok(CommandOutcome::Account(wallet))
    }

    /// The profile is evidence of the frame.
    pub(crate) fn describe_wallet(wallet: WalletAddress, events: &mut Vec<Event>) -> HandlerResult {
        events.push(Event::WalletDescribed { wallet });
        Ok(CommandOutcome::Done)
    }

    fn check_nothing_waits(&self, wallet: AccountNumber) -> Result<(), NotApplied> {
        let orders = self.live_orders(wallet);
        let waits = orders > 0 || self.withdrawals.values().any(|it| it.account == wallet);
        ensure(!waits, RejectionReason::WalletHasLiveOrders)
    }

    pub(crate) fn unbind_wallet(
        &mut self,
        wallet: WalletAddress,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let wallet = self
            .find_account(wallet)
            .ok_or(RejectionReason::UnknownAccount)?;
        ensure(self.is_bound(wallet), RejectionReason::WalletNotBound)?;
        self.check_nothing_waits(wallet)?;

        let account = self.account_mut(wallet);
        let owner = account.owner;
        account.owner = wallet;
        account.kind = WalletKind::Eoa;
        let bound = &mut self.account_mut(owner).bound;
        bound.retain(|bound| *bound != wallet);
        events.push(Event::WalletUnbound(WalletUnbound { owner, wallet }));
        Ok(CommandOutcome::Account(wallet))
    }

    /// Setting closed-only cancels the account's resting BUYs.
    pub(crate) fn set_closed_only(
        &mut self,
        &SetClosedOnly {
            wallet,
            closed_only,
        }: &SetClosedOnly,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        if let Some(account) = self.find_account(wallet) {
            let already = self.account(account)?.closed_only == closed_only;
            ensure(
                !already,
                NotApplied::already(CommandOutcome::Account(account)),
            )?;
        }

        let account = self.open_account(wallet, events);
        self.account_mut(account).closed_only = closed_only;
        events.push(Event::ClosedOnlySet(ClosedOnlySet {
            account,
            closed_only,
        }));
        if closed_only {
            self.do_work(PendingWork::ClosedOnly { account }, at, events);
        }
        Ok(CommandOutcome::Account(account))
    }

    pub(crate) fn set_heartbeat(
        &mut self,
        &SetHeartbeat { owner, on }: &SetHeartbeat,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let already = self.account(owner)?.heartbeat == on;
        ensure(!already, NotApplied::already(CommandOutcome::Done))?;

        self.account_mut(owner).heartbeat = on;
        events.push(Event::HeartbeatSet(HeartbeatSet { owner, on }));
        Ok(CommandOutcome::Done)
    }
}

/// The account number of a list index.
pub(crate) fn account_number(index: usize) -> AccountNumber {
    AccountNumber(u32::try_from(index).expect("numbers of accounts are u32"))
}
