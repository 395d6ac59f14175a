//! Rebates (docs/verify/rules.md §23): what makers accrue of takers' fees, and its payment in steps.

use foretell_model::event::RebatePaid;
use foretell_model::limits::{ACCOUNTS_PER_STEP, MAX_BALANCE};
use foretell_model::state::{Background, BackgroundWork};
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, PaymentSettings, PaymentsUpdate, RejectionReason,
    TimeNs,
};

use crate::background::next_accounts;
use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::placement::plan::Incoming;

const DAY_NS: u64 = 24 * 3_600 * 1_000_000_000;

/// Accrued rebates of all accounts.
#[derive(Debug)]
pub(crate) struct Rebates {
    pub(crate) payments: PaymentSettings,
    /// By account; shorter than the list of accounts when the last have none.
    accrued: Vec<Micros>,
    total: Micros,
    /// Since when the total is positive, or since the last payment that left a rest; 0 without a
    /// total.
    pub(crate) since: TimeNs,
}

impl Rebates {
    pub(crate) fn with_capacity(accounts: usize) -> Self {
        Self {
            payments: PaymentSettings::default(),
            accrued: Vec::with_capacity(accounts),
            total: Micros::ZERO,
            since: TimeNs(0),
        }
    }

    pub(crate) const fn total(&self) -> Micros {
        self.total
    }

    pub(crate) fn add(&mut self, account: AccountNumber, amount: Micros) {
        let index = account.0 as usize;
        if self.accrued.len() <= index {
            self.accrued.resize(index + 1, Micros::ZERO);
        }
        self.accrued[index] += amount;
        self.total += amount;
    }

    fn take(&mut self, account: AccountNumber) -> Micros {
        let accrued = self.accrued.get_mut(account.0 as usize);
        let amount = accrued.map(std::mem::take).unwrap_or_default();
        self.total -= amount;
        amount
    }

    /// Every account that has accrued something.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (AccountNumber, Micros)> {
        let all = (0..).map(AccountNumber).zip(self.accrued.iter().copied());
        all.filter(|(_, amount)| !amount.is_zero())
    }
}

impl Exchange {
    /// Accrues the maker's share of a fee. Wallets of one owner accrue nothing from each other.
    #[cold]
    pub(crate) fn accrue_rebate(
        &mut self,
        taker: &Incoming,
        maker: AccountNumber,
        fee: Micros,
        context: &CommandContext<'_>,
    ) -> Micros {
        let is_own = self.accounts[maker].owner == self.accounts[taker.account].owner;
        let rebate = share(fee, taker.rebate_ppm);
        if is_own || rebate.is_zero() {
            return Micros::ZERO;
        }
        let is_first = self.rebates.total.is_zero();
        self.rebates.add(maker, rebate);
        if is_first {
            self.rebates.since = context.now;
            self.refresh_clock();
        }
        rebate
    }

    pub(crate) fn set_payments(
        &mut self,
        update: &PaymentsUpdate,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let payments = update.applied_to(self.rebates.payments);
        let is_valid = payments.withdrawal_limit <= MAX_BALANCE;
        ensure(is_valid, RejectionReason::InvalidSettings)?;
        ensure(
            self.rebates.payments != payments,
            NotApplied::already(CommandOutcome::Done),
        )?;
        self.rebates.payments = payments;
        self.refresh_clock();
        context.event(Event::PaymentsSet { payments });
        Ok(CommandOutcome::Done)
    }

    pub(crate) fn pay_rebates(&mut self, context: &mut CommandContext<'_>) -> HandlerResult {
        let runs = self.background.pays_rebates();
        ensure(!runs, RejectionReason::RebatesInProgress)?;
        let is_due = !self.rebates.total.is_zero();
        ensure(is_due, RejectionReason::NothingAccrued)?;
        Ok(self.start_rebate_payment(context))
    }

    pub(crate) fn start_rebate_payment(
        &mut self,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let accounts = self.start_background(BackgroundWork::Rebates, context);
        self.refresh_clock();
        context.event(Event::RebatePaymentStarted { accounts });
        CommandOutcome::Done
    }

    /// Pays the next accounts; returns what this step paid, and whether the payment ends.
    pub(crate) fn step_rebates(
        &mut self,
        work: &mut Background,
        context: &mut CommandContext<'_>,
    ) -> (Micros, bool) {
        let mut paid = Micros::ZERO;
        for account in next_accounts(work, ACCOUNTS_PER_STEP) {
            let amount = self.rebates.take(account);
            if !amount.is_zero() {
                self.accounts[account].free += amount;
                paid += amount;
                context.event(Event::RebatePaid(RebatePaid { account, amount }));
            }
        }
        work.paid += paid;
        let ends = work.next >= work.end;
        if self.rebates.total.is_zero() {
            self.rebates.since = TimeNs(0);
        } else if ends {
            self.rebates.since = context.now;
        }
        if ends {
            context.event(Event::RebatePaymentEnded { paid: work.paid });
        }
        (paid, ends)
    }

    /// When time starts the next payment.
    pub(crate) fn rebates_due(&self) -> Option<TimeNs> {
        let rebates = &self.rebates;
        let is_daily = rebates.payments.rebates_daily && !rebates.total.is_zero();
        (is_daily && !self.background.pays_rebates())
            .then(|| TimeNs((rebates.since.0 / DAY_NS + 1).saturating_mul(DAY_NS)))
    }
}

/// ⌊fee × ppm ÷ 10^6⌋.
fn share(fee: Micros, rebate_ppm: u32) -> Micros {
    let share = u128::from(fee.0) * u128::from(rebate_ppm) / 1_000_000;
    Micros(u64::try_from(share).expect("a share is at most the fee"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_floored_and_at_most_the_fee() {
        assert_eq!(share(Micros(960_000), 250_000), Micros(240_000));
        assert_eq!(share(Micros(10), 333_333), Micros(3));
        assert_eq!(share(Micros(u64::MAX), 1_000_000), Micros(u64::MAX));
        assert_eq!(share(Micros(9), 0), Micros::ZERO);
    }

    #[test]
    fn what_is_taken_is_no_longer_accrued() {
        let mut rebates = Rebates::with_capacity(1);
        rebates.add(AccountNumber(3), Micros(5));
        rebates.add(AccountNumber(1), Micros(2));
        rebates.add(AccountNumber(3), Micros(1));
        assert_eq!(rebates.take(AccountNumber(9)), Micros::ZERO);
        assert_eq!(rebates.take(AccountNumber(3)), Micros(6));
        let left: Vec<_> = rebates.iter().collect();
        assert_eq!(left, [(AccountNumber(1), Micros(2))]);
        assert_eq!(rebates.total(), Micros(2));
    }
}
