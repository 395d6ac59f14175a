//! Work in the background: the queue, and `Step` (docs/verify/rules.md §23, §25).

use foretell_model::event::MarketSettled;
use foretell_model::limits::ACCOUNTS_PER_STEP;
use foretell_model::state::BackgroundWork;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Lots, MarketNumber, Micros, RejectionReason, Sequence,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::HandlerResult;

/// One entry of the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Background {
    /// The command that started it.
    pub(crate) first: Sequence,
    pub(crate) work: BackgroundWork,
    /// The next account to look at.
    pub(crate) next: AccountNumber,
    /// The account after the last one.
    pub(crate) end: AccountNumber,
    /// Paid so far by steps.
    pub(crate) paid: Micros,
}

impl Exchange {
    /// Queues work over the accounts that exist now; returns their number.
    pub(crate) fn start_work(&mut self, work: BackgroundWork, at: Stamp) -> u32 {
        let accounts = u32::try_from(self.accounts.len()).expect("numbers of accounts are u32");
        self.background.push(Background {
            first: at.sequence,
            work,
            next: AccountNumber(0),
            end: AccountNumber(accounts),
            paid: Micros::ZERO,
        });
        accounts
    }

    /// Does one step of the first work, and answers what the step paid.
    pub(crate) fn step(&mut self, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        let first = self.background.first().cloned();
        let mut entry = first.ok_or(RejectionReason::NothingPending)?;
        let before = entry.paid;
        let is_over = match entry.work {
            BackgroundWork::Settlement { market } => self.settle_some(market, &mut entry, events),
            BackgroundWork::Rebates => self.pay_some_rebates(&mut entry, at, events),
        };
        let collateral = entry.paid - before;
        if is_over {
            self.background.remove(0);
        } else {
            self.background[0] = entry;
        }
        Ok(CommandOutcome::Collateral(collateral))
    }

    /// A settlement is over as soon as no share exists; nothing is looked at then.
    fn settle_some(
        &mut self,
        market: MarketNumber,
        entry: &mut Background,
        events: &mut Vec<Event>,
    ) -> bool {
        if self.has_shares(market) {
            for account in entry.next_accounts() {
                if self.free_shares_of(account, market) != [Lots::ZERO; 2] {
                    entry.paid += self.burn_and_pay(account, market, events);
                }
            }
        }
        if self.has_shares(market) {
            return false;
        }
        let paid = entry.paid;
        events.push(Event::MarketSettled(MarketSettled { market, paid }));
        true
    }

    pub(crate) fn has_shares(&self, market: MarketNumber) -> bool {
        self.markets[market.0 as usize].supply != [Lots::ZERO; 2]
    }

    /// A payment is over when it has looked at its last account.
    fn pay_some_rebates(
        &mut self,
        entry: &mut Background,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> bool {
        for account in entry.next_accounts() {
            entry.paid += self.pay_rebate(account, events);
        }
        let is_over = entry.next == entry.end;
        if is_over {
            self.end_rebates(entry.paid, at, events);
        }
        is_over
    }
}

impl Background {
    /// Takes the accounts that the next step looks at.
    fn next_accounts(&mut self) -> impl Iterator<Item = AccountNumber> + use<> {
        let first = self.next.0;
        let last = self.end.0.min(first + ACCOUNTS_PER_STEP);
        self.next = AccountNumber(last);
        (first..last).map(AccountNumber)
    }
}
