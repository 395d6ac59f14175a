//! Rebates of makers: what accrues, and its payment (docs/verify/rules.md §23).

use std::collections::BTreeMap;

use foretell_model::event::RebatePaid;
use foretell_model::state::BackgroundWork;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, PaymentSettings, PaymentsUpdate, RejectionReason,
    TimeNs,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::plan::Taker;

const DAY: u64 = 24 * 3_600 * 1_000_000_000;

/// What all accounts accrued.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Accrued {
    /// Only amounts above 0.
    amounts: BTreeMap<AccountNumber, Micros>,
    total: Micros,
    /// Since when there is something: the time of the command that made the total positive, or
    /// ended a payment with a rest; 0 while there is nothing.
    pub(crate) since: TimeNs,
}

impl Accrued {
    pub(crate) fn values(&self) -> impl Iterator<Item = (AccountNumber, Micros)> {
        let amounts = self.amounts.iter();
        amounts.map(|(account, amount)| (*account, *amount))
    }

    pub(crate) const fn total(&self) -> Micros {
        self.total
    }

    pub(crate) fn add(&mut self, account: AccountNumber, amount: Micros) {
        if amount > Micros::ZERO {
            *self.amounts.entry(account).or_default() += amount;
            self.total += amount;
        }
    }

    fn take(&mut self, account: AccountNumber) -> Micros {
        let amount = self.amounts.remove(&account).unwrap_or_default();
        self.total -= amount;
        amount
    }
}

impl Exchange {
    /// The part of a fee that the maker accrues. Wallets of one owner accrue nothing from each
    /// other.
    pub(crate) fn rebate_of(&self, taker: &Taker, maker: AccountNumber, fee: Micros) -> Micros {
        let owner_of = |account: AccountNumber| self.accounts[account.0 as usize].owner;
        if owner_of(taker.account) == owner_of(maker) {
            return Micros::ZERO;
        }
        let rebate = u128::from(fee.0) * u128::from(taker.rebate_ppm) / 1_000_000;
        Micros(u64::try_from(rebate).expect("a rebate is at most its fee"))
    }

    /// Notes since when something is accrued, after a command that found `before` accrued.
    pub(crate) fn note_accrued(&mut self, before: Micros, at: Stamp) {
        if self.accrued.total == Micros::ZERO {
            self.accrued.since = TimeNs(0);
        } else if before == Micros::ZERO {
            self.accrued.since = at.time;
        }
    }

    /// When time starts the next payment.
    pub(crate) fn rebates_due(&self) -> Option<TimeNs> {
        let waits = self.payments.rebates_daily
            && self.accrued.total > Micros::ZERO
            && !self.is_paying_rebates();
        waits.then(|| next_midnight(self.accrued.since))
    }

    pub(crate) fn pay_rebates(&mut self, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        ensure(
            !self.is_paying_rebates(),
            RejectionReason::RebatesInProgress,
        )?;
        ensure(
            self.accrued.total > Micros::ZERO,
            RejectionReason::NothingAccrued,
        )?;
        Ok(self.start_rebates(at, events))
    }

    /// Starts a payment to the accounts that exist now.
    pub(crate) fn start_rebates(&mut self, at: Stamp, events: &mut Vec<Event>) -> CommandOutcome {
        let accounts = self.start_work(BackgroundWork::Rebates, at);
        events.push(Event::RebatePaymentStarted { accounts });
        CommandOutcome::Done
    }

    /// Pays an account what it accrued.
    pub(crate) fn pay_rebate(&mut self, account: AccountNumber, events: &mut Vec<Event>) -> Micros {
        let amount = self.accrued.take(account);
        if amount > Micros::ZERO {
            self.account_mut(account).free += amount;
            events.push(Event::RebatePaid(RebatePaid { account, amount }));
        }
        amount
    }

    pub(crate) fn end_rebates(&mut self, paid: Micros, at: Stamp, events: &mut Vec<Event>) {
        self.accrued.since = at.time;
        events.push(Event::RebatePaymentEnded { paid });
    }

    pub(crate) fn set_payments(
        &mut self,
        changes: PaymentsUpdate,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let current = self.payments;
        let payments = PaymentSettings {
            withdrawal_limit: changes.withdrawal_limit.unwrap_or(current.withdrawal_limit),
            rebates_daily: changes.rebates_daily.unwrap_or(current.rebates_daily),
        };
        ensure(
            payments.withdrawal_limit <= foretell_model::limits::MAX_BALANCE,
            RejectionReason::InvalidSettings,
        )?;
        ensure(
            current != payments,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.payments = payments;
        events.push(Event::PaymentsSet { payments });
        Ok(CommandOutcome::Done)
    }

    fn is_paying_rebates(&self) -> bool {
        let mut queue = self.background.iter();
        queue.any(|entry| entry.work == BackgroundWork::Rebates)
    }
}

/// The first 00:00 UTC after a time, at most the last representable time.
const fn next_midnight(time: TimeNs) -> TimeNs {
    TimeNs((time.0 / DAY + 1).saturating_mul(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midnight_itself_waits_for_the_next() {
        assert_eq!(next_midnight(TimeNs(0)), TimeNs(DAY));
        assert_eq!(next_midnight(TimeNs(DAY - 1)), TimeNs(DAY));
        assert_eq!(next_midnight(TimeNs(DAY)), TimeNs(2 * DAY));
        assert_eq!(next_midnight(TimeNs(u64::MAX)), TimeNs(u64::MAX));
    }
}
