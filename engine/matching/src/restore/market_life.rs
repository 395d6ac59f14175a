//! Restores the site, operators, terms, policies and proposals.

use foretell_model::limits::{MAX_BALANCE, MAX_LISTED_WALLETS, MAX_OPERATORS, MAX_WINDOW_SECONDS};
use foretell_model::operator::FIRST_OPERATORS;
use foretell_model::{
    AccountNumber, MarketNumber, MarketState, OperatorNumber, PaymentSettings, ResolutionPolicy,
    TimeNs,
};

use crate::clock::MarketClock;
use crate::operators::Operator;
use crate::policies::Permissions;
use crate::resolution::Proposal;
use crate::restore::{Checked, Restorer, check};

impl Restorer {
    pub(super) fn put_site(
        &mut self,
        payments: PaymentSettings,
        policy: ResolutionPolicy,
        rebates_since: TimeNs,
    ) -> Checked {
        check(
            payments.withdrawal_limit <= MAX_BALANCE,
            "withdrawal limit out of range",
        )?;
        check(policy.is_valid(), "invalid policy")?;
        self.check_time(rebates_since)?;
        self.has_site = true;
        self.exchange.rebates.payments = payments;
        self.exchange.rebates.since = rebates_since;
        self.exchange.policies.site.policy = policy;
        Ok(())
    }

    pub(super) fn put_operator(&mut self, number: OperatorNumber, added: Operator) -> Checked {
        check(number.0 <= MAX_OPERATORS, "too many operators")?;
        check(added.name.is_valid(), "invalid operator name")?;
        let first = FIRST_OPERATORS.get(usize::from(number.0).wrapping_sub(1));
        let is_first = first == Some(&(added.name, added.role));
        check(
            is_first == first.is_some() && is_first == (added.token == [0; 32]),
            "the first operators, and only they, have no token",
        )?;
        let operators = &mut self.exchange.operators;
        check(
            operators.iter().all(|(_, other)| {
                let is_same_name = other.live && added.live && other.name == added.name;
                (is_first || other.token != added.token) && !is_same_name
            }),
            "two operators have one name or token",
        )?;
        check(operators.add(added) == number, "number is not the next")
    }

    pub(super) fn put_terms(&mut self, market: MarketNumber, clock: MarketClock) -> Checked {
        self.check_market(market)?;
        let terms = &clock.terms;
        check(terms.are_in_range(), "terms out of range")?;
        let is_ordered =
            terms.opens_at.0 == 0 || terms.closes_at.0 == 0 || terms.opens_at < terms.closes_at;
        check(is_ordered, "a market closes before it opens")?;
        check(clock != MarketClock::default(), "the terms are empty")?;
        check(
            !clock.clear_armed || terms.clear_book_on_start,
            "a clear is armed without its term",
        )?;
        self.exchange.put_terms(market, clock);
        Ok(())
    }

    pub(super) fn put_policy(&mut self, market: MarketNumber, policy: ResolutionPolicy) -> Checked {
        self.check_market(market)?;
        check(policy.is_valid(), "invalid policy")?;
        let own = self.exchange.policies.markets.entry(market).or_default();
        own.policy = policy;
        Ok(())
    }

    pub(super) fn put_listed(
        &mut self,
        market: Option<MarketNumber>,
        account: AccountNumber,
        permissions: Permissions,
    ) -> Checked {
        self.check_account(account)?;
        check(
            permissions != Permissions::default(),
            "a listed wallet may do nothing",
        )?;
        let own = self.exchange.policies.own_mut(market);
        let own = own.ok_or("the market has no policy of its own")?;
        own.wallets.insert(account, permissions);
        let count = own.wallets.len();
        check(
            count <= MAX_LISTED_WALLETS as usize,
            "too many listed wallets",
        )
    }

    pub(super) fn put_proposal(&mut self, market: MarketNumber, proposal: Proposal) -> Checked {
        self.check_market(market)?;
        self.check_sequence(proposal.number.0)?;
        self.check_time(proposal.time)?;
        let is_closed = self.exchange.markets[market].state == MarketState::Closed;
        check(is_closed, "the market of a proposal is not closed")?;
        check(
            proposal.window_seconds <= MAX_WINDOW_SECONDS,
            "challenge window out of range",
        )?;
        if let Some(account) = proposal.by {
            self.check_account(account)?;
        }
        let operator = self.exchange.operators.get(proposal.operator);
        let has_none = proposal.operator == OperatorNumber::NONE && proposal.by.is_some();
        check(operator.is_some() || has_none, "unknown operator")?;
        check(
            !(proposal.by_time && proposal.second_person),
            "a proposal contradicts itself",
        )?;
        check(
            proposal.disputed || proposal.counter.is_none(),
            "an undisputed proposal has a counter-payout",
        )?;
        self.exchange.resolution.put(market, proposal);
        Ok(())
    }

    /// Checks what every state has.
    pub(super) fn check_site(&self) -> Checked {
        check(self.has_site, "the site's record is missing")?;
        let has_admin = self.exchange.operators.live_admins() > 0;
        check(has_admin, "no admin is live")
    }

    pub(super) fn check_market(&self, market: MarketNumber) -> Checked {
        let is_known = self.exchange.markets.get(market).is_ok();
        check(is_known, "unknown market")
    }
}
