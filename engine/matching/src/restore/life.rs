//! Restores what operators decide about the site and its markets, and accrued rebates.

use foretell_model::state;

use crate::clock::MarketClock;
use crate::policies::Permissions;
use crate::restore::{Put, Restorer, check};

impl Restorer {
    pub(super) fn put_site(&mut self, site: &state::Site) {
        self.exchange.rebates.payments = site.payments;
        self.exchange.rebates.since = site.rebates_since;
        self.exchange.policies.site.policy = site.policy;
    }

    pub(super) fn put_terms(&mut self, record: &state::Terms) -> Put {
        self.market(record.market)?;
        let clock = MarketClock {
            terms: record.terms,
            clear_armed: record.clear_armed,
        };
        self.exchange.put_terms(record.market, clock);
        Ok(())
    }

    pub(super) fn put_policy(&mut self, record: &state::Policy) {
        let own = self.exchange.policies.markets.entry(record.market);
        own.or_default().policy = record.policy;
    }

    pub(super) fn put_listed(&mut self, listed: &state::ListedWallet) -> Put {
        let own = self.exchange.policies.own_mut(listed.market);
        let own = own.ok_or("a wallet is listed for a market without a policy")?;
        let permissions = Permissions {
            propose: listed.propose,
            dispute: listed.dispute,
        };
        own.wallets.insert(listed.account, permissions);
        Ok(())
    }

    pub(super) fn put_accrued(&mut self, accrued: &state::Accrued) -> Put {
        self.check_account(accrued.account)?;
        let total = self.exchange.rebates.total().checked_add(accrued.amount);
        check(total.is_some(), "accrued rebates overflow")?;
        self.exchange.rebates.add(accrued.account, accrued.amount);
        Ok(())
    }

    pub(super) fn put_withdrawal(&mut self, withdrawal: &state::PendingWithdrawal) -> Put {
        self.check_account(withdrawal.account)?;
        let waiting = &mut self.exchange.accounts[withdrawal.account].withdrawals;
        let counted = waiting.checked_add(1);
        *waiting = counted.ok_or("an account has too many withdrawals")?;
        self.exchange.withdrawals.add(*withdrawal);
        Ok(())
    }
}
