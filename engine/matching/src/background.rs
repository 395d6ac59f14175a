//! Work that `Step` commands do between other commands (docs/verify/rules.md §25): the queue, and the
//! settlement of resolved markets.

use std::collections::VecDeque;

use foretell_model::event::{MarketSettled, SettlementStarted};
use foretell_model::limits::ACCOUNTS_PER_STEP;
use foretell_model::state::{Background, BackgroundWork};
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Lots, MarketNumber, Micros, RejectionReason,
};

use crate::command_context::{CommandContext, HandlerResult};
use crate::exchange::Exchange;

/// Advances a work by up to `most` accounts and returns them.
pub(crate) fn next_accounts(
    work: &mut Background,
    most: u32,
) -> impl Iterator<Item = AccountNumber> + use<> {
    let from = work.next.0;
    work.next = AccountNumber(work.end.0.min(from.saturating_add(most)));
    (from..work.next.0).map(AccountNumber)
}

/// The queue of background work.
#[derive(Debug)]
pub(crate) struct BackgroundQueue {
    queue: VecDeque<Background>,
    /// Whether a payment of rebates is in the queue.
    pays_rebates: bool,
}

impl BackgroundQueue {
    /// Room for a settlement of each market and a payment of rebates.
    pub(crate) fn with_capacity(markets: usize) -> Self {
        Self {
            queue: VecDeque::with_capacity(markets + 1),
            pays_rebates: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether a payment of rebates runs.
    pub(crate) const fn pays_rebates(&self) -> bool {
        self.pays_rebates
    }

    pub(crate) fn push(&mut self, work: Background) {
        self.pays_rebates |= work.work == BackgroundWork::Rebates;
        self.queue.push_back(work);
    }

    fn pop(&mut self) {
        let ended = self.queue.pop_front();
        self.pays_rebates &= ended.is_some_and(|ended| ended.work != BackgroundWork::Rebates);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Background> {
        self.queue.iter()
    }
}

impl Exchange {
    /// Whether `Step` has an effect.
    #[must_use]
    pub fn has_background_work(&self) -> bool {
        !self.background.is_empty()
    }

    /// Queues work on the accounts of now; returns their number.
    pub(crate) fn start_background(
        &mut self,
        work: BackgroundWork,
        context: &CommandContext<'_>,
    ) -> u32 {
        let accounts = u32::try_from(self.accounts.len()).expect("account numbers have 32 bits");
        self.background.push(Background {
            first: context.sequence,
            work,
            next: AccountNumber(0),
            end: AccountNumber(accounts),
            paid: Micros::ZERO,
        });
        accounts
    }

    /// Starts to pay the holders of a market that was just resolved, unless only who redeems is paid.
    pub(crate) fn start_settlement(
        &mut self,
        market: MarketNumber,
        context: &mut CommandContext<'_>,
    ) {
        if self.system.beginning.pays_on_redeem {
            return;
        }
        if self.has_holders(market) {
            let accounts = self.start_background(BackgroundWork::Settlement { market }, context);
            context.event(Event::SettlementStarted(SettlementStarted {
                market,
                accounts,
            }));
        } else {
            let paid = Micros::ZERO;
            context.event(Event::MarketSettled(MarketSettled { market, paid }));
        }
    }

    /// One step of the first work.
    pub(crate) fn step(&mut self, context: &mut CommandContext<'_>) -> HandlerResult {
        let front = self.background.queue.front().copied();
        let mut work = front.ok_or(RejectionReason::NothingPending)?;
        let (paid, ends) = match work.work {
            BackgroundWork::Settlement { market } => {
                self.step_settlement(market, &mut work, context)
            }
            BackgroundWork::Rebates => self.step_rebates(&mut work, context),
        };
        if ends {
            self.background.pop();
        } else if let Some(front) = self.background.queue.front_mut() {
            *front = work;
        }
        self.refresh_clock();
        Ok(CommandOutcome::Collateral(paid))
    }

    /// Pays the next accounts; returns what this step paid, and whether the settlement ends.
    fn step_settlement(
        &mut self,
        market: MarketNumber,
        work: &mut Background,
        context: &mut CommandContext<'_>,
    ) -> (Micros, bool) {
        let mut paid = Micros::ZERO;
        if self.has_holders(market) {
            for account in next_accounts(work, ACCOUNTS_PER_STEP) {
                if let Some(slot) = self.positions.find(account, market) {
                    paid += self.burn_resolved(slot, context);
                }
            }
            work.paid += paid;
        }
        let ends = !self.has_holders(market);
        if ends {
            let paid = work.paid;
            context.event(Event::MarketSettled(MarketSettled { market, paid }));
        }
        (paid, ends)
    }

    fn has_holders(&self, market: MarketNumber) -> bool {
        self.markets[market].supply != [Lots::ZERO; 2]
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::Sequence;

    use super::*;

    #[test]
    fn a_step_looks_at_the_next_accounts_up_to_the_end() {
        let mut work = Background {
            first: Sequence(1),
            work: BackgroundWork::Rebates,
            next: AccountNumber(0),
            end: AccountNumber(5),
            paid: Micros::ZERO,
        };
        let mut seen = || Vec::from_iter(next_accounts(&mut work, 3).map(|account| account.0));
        assert_eq!(
            (seen(), seen(), seen()),
            (vec![0, 1, 2], vec![3, 4], vec![])
        );
    }
}
