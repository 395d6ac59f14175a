//! Wallet bindings, and the flags of accounts.

use foretell_model::command::{BindWallet, SetClosedOnly, SetHeartbeat};
use foretell_model::event::{ClosedOnlySet, HeartbeatSet, WalletBound, WalletUnbound};
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, RejectionReason, WalletAddress, WalletKind,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;

impl Exchange {
    /// A profile is evidence of the frame: the exchange keeps nothing of it.
    pub(crate) fn describe_wallet(
        wallet: WalletAddress,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        context.event(Event::WalletDescribed { wallet });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn bind_wallet(
        &mut self,
        &BindWallet {
            owner,
            wallet,
            kind,
        }: &BindWallet,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(kind != WalletKind::Eoa, RejectionReason::WalletKindTaken)?;
        ensure(owner != wallet, RejectionReason::WalletNotBindable)?;
        let (known_owner, known_wallet) = (self.accounts.find(owner), self.accounts.find(wallet));
        self.ensure_bindable(known_owner, known_wallet, kind)?;

        let owner = self.account_or_open(owner, context);
        let wallet = self.account_or_open(wallet, context);
        self.accounts[wallet].owner = owner;
        self.accounts[wallet].kind = kind;
        if let Some(bound) = self.accounts.identity_mut(owner).bound_mut(kind) {
            *bound = Some(wallet);
        }
        context.event(Event::WalletBound(WalletBound {
            owner,
            wallet,
            kind,
        }));
        Ok(CommandOutcome::Account(wallet))
    }

    /// An unknown account is its own owner and has nothing that prevents a binding.
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
        ensure(!owner.is_some_and(is_bound), RejectionReason::NotAnOwner)?;
        if let Some(wallet) = wallet {
            let identity = self.accounts.identity(wallet);
            let is_free = !is_bound(wallet) && !identity.owns_wallets() && identity.keys == 0;
            ensure(is_free, RejectionReason::WalletNotBindable)?;
        }
        if let Some(owner) = owner {
            let mut wallets = self.accounts.wallets_of(owner);
            let has_kind = wallets.any(|wallet| self.accounts[wallet].kind == kind);
            ensure(!has_kind, RejectionReason::WalletKindTaken)?;
        }
        wallet.map_or(Ok(()), |wallet| self.ensure_nothing_waits(wallet))
    }

    /// Rejects another owner for a wallet while it has orders or withdrawals that its owner signed.
    fn ensure_nothing_waits(&self, wallet: AccountNumber) -> Result<(), NotApplied> {
        let account = &self.accounts[wallet];
        let waits = account.live_orders > 0 || account.withdrawals > 0;
        ensure(!waits, RejectionReason::WalletHasLiveOrders)
    }

    pub(crate) fn unbind_wallet(
        &mut self,
        wallet: WalletAddress,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let wallet = self
            .accounts
            .find(wallet)
            .ok_or(RejectionReason::UnknownAccount)?;
        let account = &self.accounts[wallet];
        let (owner, kind) = (account.owner, account.kind);
        ensure(owner != wallet, RejectionReason::WalletNotBound)?;
        self.ensure_nothing_waits(wallet)?;

        if let Some(bound) = self.accounts.identity_mut(owner).bound_mut(kind) {
            *bound = None;
        }
        self.accounts[wallet].owner = wallet;
        self.accounts[wallet].kind = WalletKind::Eoa;
        context.event(Event::WalletUnbound(WalletUnbound { owner, wallet }));
        Ok(CommandOutcome::Account(wallet))
    }

    pub(crate) fn set_closed_only(
        &mut self,
        &SetClosedOnly {
            wallet,
            closed_only,
        }: &SetClosedOnly,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        if let Some(account) = self.accounts.find(wallet)
            && self.accounts[account].closed_only == closed_only
        {
            return Err(NotApplied::already(CommandOutcome::Account(account)));
        }
        let account = self.account_or_open(wallet, context);
        self.accounts[account].closed_only = closed_only;
        context.event(Event::ClosedOnlySet(ClosedOnlySet {
            account,
            closed_only,
        }));
        if closed_only {
            self.do_work(PendingWork::ClosedOnly { account }, context);
        }
        Ok(CommandOutcome::Account(account))
    }

    pub(crate) fn set_heartbeat(
        &mut self,
        &SetHeartbeat { owner, on }: &SetHeartbeat,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(
            self.account(owner)?.heartbeat != on,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.accounts[owner].heartbeat = on;
        context.event(Event::HeartbeatSet(HeartbeatSet { owner, on }));
        Ok(CommandOutcome::Done)
    }
}
