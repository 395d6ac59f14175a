//! The end of a market's life (docs/verify/rules.md §24, §25): policies, proposals, disputes,
//! settlement.

use foretell_model::command;
use foretell_model::event::{
    Disputed, MarketResolved, MarketSettled, PolicySet, Proposed, SettlementStarted, WalletListed,
};
use foretell_model::{Command, Event, MarketNumber, MarketState, OperatorNumber};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::resolution::{Dispute, ListedWallet, Policy, Proposal};
use crate::view::View;

impl View {
    pub(super) fn fold_resolution(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        let sequence = step.frame.sequence;
        match *event {
            Event::Proposed(Proposed { market, .. }) => {
                self.markets.change(market, sequence)?;
                self.propose(step, event)
            }
            Event::Disputed(Disputed { market, .. }) => {
                self.markets.change(market, sequence)?;
                self.dispute(step, event)
            }
            Event::ProposalWithdrawn { market } => {
                self.markets.change(market, sequence)?;
                let withdrawn = self.resolutions.take_proposal(market);
                withdrawn.map(drop).ok_or_else(|| mismatch(event))
            }
            Event::MarketResolved(MarketResolved { market, payout }) => {
                let changed = self.markets.change(market, sequence)?;
                changed.state = MarketState::Resolved;
                changed.payout = Some(payout);
                changed.resolved = Some(step.now);
                let proposal = self.resolutions.take_proposal(market);
                // A resolution in one step removes a disputed proposal of another payout; the Yes of
                // another question, named first in its frame, any proposal.
                let in_one_step = matches!(step.frame.command, Command::ResolveMarket(_));
                let is_own = step.frame.events.first() == Some(event);
                if let Some(proposal) = proposal.filter(|_| is_own && !in_one_step) {
                    self.resolutions.finalised.insert(market, proposal);
                }
                Ok(())
            }
            Event::SettlementStarted(SettlementStarted { market, accounts }) => {
                self.markets.change(market, sequence)?;
                self.background.start(sequence, Some(market), accounts);
                Ok(())
            }
            Event::MarketSettled(MarketSettled { market, paid }) => {
                self.background.end(Some(market));
                let market = self.markets.change(market, sequence)?;
                market.settled = Some(step.now);
                market.settlement_paid = paid;
                Ok(())
            }
            _ => Err(mismatch(event)),
        }
    }

    fn propose(&mut self, step: &FoldStep<'_>, event: &Event) -> Result<(), Impossible> {
        let (
            &Event::Proposed(Proposed {
                market,
                payout,
                challenge_ends,
                by_time,
                second_person,
            }),
            Command::Propose(command),
        ) = (event, step.frame.command)
        else {
            return Err(mismatch(event));
        };
        let shortest = (self.resolutions.policy_of(market).policy).minimum_window_seconds;
        let proposal = Proposal {
            number: step.frame.sequence,
            time: step.now,
            payout,
            operator: step.frame.operator,
            wallet: command.by,
            window_seconds: command.window_seconds.unwrap_or(shortest),
            challenge_ends,
            evidence: command.evidence,
            source: step.evidence().into(),
            by_time,
            second_person,
        };
        self.resolutions.take_proposal(market);
        self.resolutions.proposals.insert(market, proposal);
        Ok(())
    }

    fn dispute(&mut self, step: &FoldStep<'_>, event: &Event) -> Result<(), Impossible> {
        let &Event::Disputed(Disputed { market, counter }) = event else {
            return Err(mismatch(event));
        };
        if self.resolutions.proposal(market).is_none() {
            return Err(mismatch(event));
        }
        let (operator, wallet, reason) = match *step.frame.command {
            Command::Dispute(command::Dispute { by, .. }) => {
                (step.frame.operator, by, step.evidence())
            }
            // Its event group forbids the payout.
            _ => (OperatorNumber::NONE, None, &[][..]),
        };
        let dispute = Dispute {
            time: step.now,
            operator,
            wallet,
            counter,
            reason: reason.into(),
        };
        self.resolutions.disputes.insert(market, dispute);
        Ok(())
    }

    pub(super) fn fold_policy(&mut self, event: &Event) -> Result<(), Impossible> {
        match *event {
            Event::PolicySet(PolicySet { market, policy }) => {
                let known = match market {
                    None => &mut self.resolutions.site,
                    Some(market) => self.resolutions.policies.entry(market).or_default(),
                };
                known.policy = policy;
                Ok(())
            }
            Event::PolicyCleared { market } => {
                let cleared = self.resolutions.policies.remove(&market);
                cleared.map(drop).ok_or_else(|| mismatch(event))
            }
            Event::WalletListed(WalletListed {
                market,
                account,
                propose,
                dispute,
            }) => {
                let policy = self.policy_mut(market).ok_or_else(|| mismatch(event))?;
                policy.list(account, ListedWallet { propose, dispute });
                Ok(())
            }
            _ => Err(mismatch(event)),
        }
    }

    fn policy_mut(&mut self, market: Option<MarketNumber>) -> Option<&mut Policy> {
        match market {
            None => Some(&mut self.resolutions.site),
            Some(market) => self.resolutions.policies.get_mut(&market),
        }
    }
}
