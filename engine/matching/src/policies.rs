//! Resolution policies of the site and of markets, and the wallets that they list
//! (docs/verify/rules.md §24).

use std::collections::BTreeMap;

use foretell_model::command::{ListWallet, SetPolicy};
use foretell_model::event::{PolicySet, WalletListed};
use foretell_model::limits::MAX_LISTED_WALLETS;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, MarketNumber, MarketState, OperatorRole, RejectionReason,
    ResolutionPolicy,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;

/// What a wallet may do in resolution; at least one flag is set.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Permissions {
    pub(crate) propose: bool,
    pub(crate) dispute: bool,
}

/// Who proposes or disputes: an operator of this role, a wallet, or an operator who names a wallet;
/// then the policy must permit both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Actor {
    pub(crate) role: Option<OperatorRole>,
    pub(crate) wallet: Option<AccountNumber>,
}

/// A policy and its list.
#[derive(Default, Debug)]
pub(crate) struct OwnPolicy {
    pub(crate) policy: ResolutionPolicy,
    /// By account, at most [`MAX_LISTED_WALLETS`].
    pub(crate) wallets: BTreeMap<AccountNumber, Permissions>,
}

impl OwnPolicy {
    pub(crate) fn lets_propose(&self, actor: Actor) -> bool {
        let proposers = self.policy.proposers;
        actor.role.is_none_or(|role| proposers.contains(role))
            && (actor.wallet).is_none_or(|account| self.wallet(account).propose)
    }

    pub(crate) fn lets_dispute(&self, actor: Actor) -> bool {
        let disputers = self.policy.disputers;
        actor.role.is_none_or(|role| disputers.contains(role))
            && (actor.wallet).is_none_or(|account| self.wallet(account).dispute)
    }

    fn wallet(&self, account: AccountNumber) -> Permissions {
        self.wallets.get(&account).copied().unwrap_or_default()
    }
}

/// All policies. Few markets have one of their own, and only commands of operators change them.
#[derive(Default, Debug)]
pub(crate) struct Policies {
    pub(crate) site: OwnPolicy,
    pub(crate) markets: BTreeMap<MarketNumber, OwnPolicy>,
}

impl Policies {
    /// The policy in force for a market: its own, or that of the site.
    pub(crate) fn of(&self, market: MarketNumber) -> &OwnPolicy {
        self.markets.get(&market).unwrap_or(&self.site)
    }

    /// The policy of the site or a market's own.
    pub(crate) fn own_mut(&mut self, market: Option<MarketNumber>) -> Option<&mut OwnPolicy> {
        match market {
            None => Some(&mut self.site),
            Some(market) => self.markets.get_mut(&market),
        }
    }
}

impl Exchange {
    pub(crate) fn set_policy(
        &mut self,
        &SetPolicy {
            market,
            policy: ref update,
        }: &SetPolicy,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        if let Some(market) = market {
            let open = [
                MarketState::Registered,
                MarketState::Active,
                MarketState::Paused,
                MarketState::Closed,
            ];
            self.ensure_state(market, &open)?;
        }
        let in_force = match market {
            None => self.policies.site.policy,
            Some(market) => self.policies.of(market).policy,
        };
        let policy = update.applied_to(in_force);
        ensure(policy.is_valid(), RejectionReason::InvalidPolicy)?;
        match (self.policies.own_mut(market), market) {
            (Some(own), _) => {
                let done = CommandOutcome::Done;
                ensure(own.policy != policy, NotApplied::already(done))?;
                own.policy = policy;
            }
            (None, Some(market)) => {
                self.policies.markets.entry(market).or_default().policy = policy;
            }
            (None, None) => {}
        }
        context.event(Event::PolicySet(PolicySet { market, policy }));
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn clear_policy(
        &mut self,
        market: MarketNumber,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.markets.get(market)?;
        let removed = self.policies.markets.remove(&market);
        ensure(removed.is_some(), RejectionReason::NoPolicy)?;
        context.event(Event::PolicyCleared { market });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn list_wallet(
        &mut self,
        &ListWallet {
            market,
            wallet,
            propose,
            dispute,
        }: &ListWallet,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let permissions = Permissions { propose, dispute };
        if let Some(market) = market {
            self.markets.get(market)?;
        }
        let known = self.accounts.find(wallet);
        let own = self.policies.own_mut(market);
        let own = own.ok_or(RejectionReason::NoPolicy)?;
        let before = known.and_then(|account| own.wallets.get(&account).copied());
        ensure(
            before.unwrap_or_default() != permissions,
            NotApplied::already(CommandOutcome::Done),
        )?;
        let has_room = before.is_some() || own.wallets.len() < MAX_LISTED_WALLETS as usize;
        ensure(has_room, RejectionReason::ListFull)?;

        let account = self.account_or_open(wallet, context);
        if let Some(own) = self.policies.own_mut(market) {
            if permissions == Permissions::default() {
                own.wallets.remove(&account);
            } else {
                own.wallets.insert(account, permissions);
            }
        }
        context.event(Event::WalletListed(WalletListed {
            market,
            account,
            propose,
            dispute,
        }));
        Ok(CommandOutcome::Done)
    }
}
