//! Resolution policies, and the wallets that they list (docs/verify/rules.md §24).

use foretell_model::command::{ListWallet, SetPolicy};
use foretell_model::event::{PolicySet, WalletListed};
use foretell_model::limits::MAX_LISTED_WALLETS;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, MarketNumber, MarketState, Rejection, RejectionReason,
    ResolutionPolicy,
};

use crate::exchange::Exchange;
use crate::handler_result::{HandlerResult, NotApplied, ensure};

/// What a wallet may do in resolution. A listed one may do something.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Permissions {
    pub(crate) propose: bool,
    pub(crate) dispute: bool,
}

impl Exchange {
    /// The policy of a market: its own, otherwise that of the site.
    pub(crate) fn policy_of(&self, market: MarketNumber) -> ResolutionPolicy {
        let own = self.markets[market.0 as usize].policy;
        own.unwrap_or(self.policy)
    }

    /// What the list of a market's policy lets a wallet do.
    pub(crate) fn permissions_of(
        &self,
        market: MarketNumber,
        account: AccountNumber,
    ) -> Permissions {
        let own = self.markets[market.0 as usize].policy;
        let list = own.map(|_| market);
        self.listed(list, account)
    }

    fn listed(&self, list: Option<MarketNumber>, account: AccountNumber) -> Permissions {
        self.listed
            .get(&(list, account))
            .copied()
            .unwrap_or_default()
    }

    pub(crate) fn set_policy(
        &mut self,
        &SetPolicy {
            market,
            policy: changes,
        }: &SetPolicy,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let current = match market {
            None => Some(self.policy),
            Some(number) => {
                let known = self.market(number)?;
                let code = u64::from(known.state.code());
                ensure(
                    known.state != MarketState::Resolved,
                    Rejection::with(RejectionReason::InvalidTransition, code, 0),
                )?;
                known.policy
            }
        };
        let base = current.unwrap_or(self.policy);
        let policy = ResolutionPolicy {
            proposers: changes.proposers.unwrap_or(base.proposers),
            disputers: changes.disputers.unwrap_or(base.disputers),
            minimum_window_seconds: changes
                .minimum_window_seconds
                .unwrap_or(base.minimum_window_seconds),
            second_person: changes.second_person.unwrap_or(base.second_person),
            by_time: changes.by_time.unwrap_or(base.by_time),
        };
        ensure(policy.is_valid(), RejectionReason::InvalidPolicy)?;
        ensure(
            current != Some(policy),
            NotApplied::already(CommandOutcome::Done),
        )?;

        match market {
            None => self.policy = policy,
            Some(number) => self.market_mut(number).policy = Some(policy),
        }
        events.push(Event::PolicySet(PolicySet { market, policy }));
        Ok(CommandOutcome::Done)
    }

    /// Removes a market's own policy with its list.
    pub(crate) fn clear_policy(
        &mut self,
        market: MarketNumber,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let own = self.market(market)?.policy;
        ensure(own.is_some(), RejectionReason::NoPolicy)?;
        self.market_mut(market).policy = None;
        self.listed.retain(|(list, _), _| *list != Some(market));
        events.push(Event::PolicyCleared { market });
        Ok(CommandOutcome::Done)
    }

    /// Sets what a wallet may do, in the list of the site or of a market with a policy of its own.
    pub(crate) fn list_wallet(
        &mut self,
        &ListWallet {
            market,
            wallet,
            propose,
            dispute,
        }: &ListWallet,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let wanted = Permissions { propose, dispute };
        if let Some(number) = market {
            let own = self.market(number)?.policy;
            ensure(own.is_some(), RejectionReason::NoPolicy)?;
        }
        let current = match self.find_account(wallet) {
            Some(account) => self.listed(market, account),
            None => Permissions::default(),
        };
        ensure(current != wanted, NotApplied::already(CommandOutcome::Done))?;
        let is_new = current == Permissions::default();
        let lists = self.listed.keys();
        let length = lists.filter(|(list, _)| *list == market).count();
        ensure(
            !is_new || length < MAX_LISTED_WALLETS as usize,
            RejectionReason::ListFull,
        )?;

        let account = self.open_account(wallet, events);
        if wanted == Permissions::default() {
            self.listed.remove(&(market, account));
        } else {
            self.listed.insert((market, account), wanted);
        }
        events.push(Event::WalletListed(WalletListed {
            market,
            account,
            propose: wanted.propose,
            dispute: wanted.dispute,
        }));
        Ok(CommandOutcome::Done)
    }
}
