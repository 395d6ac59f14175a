//! The operators' commands: markets with clocks, deposits and withdrawals of two persons, proposals,
//! disputes and resolutions, rebates.

use foretell_model::command::{
    AddOperator, Deposit, Dispute, Finalise, ListWallet, PauseMarket, PayWithdrawal, Propose,
    ResolveMarket, ResumeMarket, SetPolicy, SetTerms, Withdraw, WithdrawProposal,
};
use foretell_model::{
    Command, Hold, MarketNumber, Micros, OperatorName, OperatorNumber, OperatorRole,
    PaymentsUpdate, Payout, PolicyUpdate, Reference, TermsUpdate, TimeMs,
};

use super::intents::{Act, IntentGenerator, MARKETS, register_market};
use super::ledger::Ledger;

/// Markets of one world.
const MOST_MARKETS: u8 = 11;
/// Withdrawals above need two persons.
const WITHDRAWAL_LIMIT: Micros = Micros(15_000_000);
/// The operators that the prelude adds, after the first ones.
const OPERATORS: [OperatorNumber; 2] = [OperatorNumber(3), OperatorNumber(4)];

impl IntentGenerator {
    /// Number of steps of the prelude that `people` has.
    pub(super) const PEOPLE: u8 = 2 + 2 + MARKETS;

    /// Operators, settings and terms.
    pub(super) fn people(&mut self, step: u8, ledger: &Ledger) -> Option<Act> {
        let admin = OperatorNumber::FIRST_ADMIN;
        let command = match step {
            0 | 1 => {
                let name = ["ann", "ben"][usize::from(step)];
                Command::AddOperator(AddOperator {
                    role: OperatorRole::Admin,
                    name: OperatorName::new(name).expect("it is a name"),
                    token: [1 + step; 32],
                })
            }
            2 => self.payments(),
            3 => self.policy(None),
            _ => {
                let market = *ledger.markets.get(usize::from(step - 4))?;
                let terms = self.terms_without_times();
                Command::SetTerms(SetTerms { market, terms })
            }
        };
        Some((admin, command))
    }

    /// A command of an operator.
    pub(super) fn of_operator(&mut self, ledger: &Ledger) -> Option<Act> {
        let holder = self.holder(ledger)?;
        let market = self.any_market(ledger);
        let (wallet, operator) = (holder.wallet, self.context.pick(&OPERATORS));
        let nobody = OperatorNumber::NONE;
        let reference = Reference(self.name(0xD0));
        let amount = Micros(1 + self.context.below(30_000_000));
        Some(match self.context.below(100) {
            0..=13 => {
                let deposit = Command::Deposit(Deposit {
                    wallet,
                    amount,
                    reference,
                });
                (nobody, deposit)
            }
            14..=23 => {
                let withdraw = Command::Withdraw(Withdraw {
                    wallet,
                    amount,
                    reference,
                });
                (operator, withdraw)
            }
            24..=31 => (operator, self.confirm_or_release(ledger)?),
            32..=39 => self.hold(market, operator),
            40..=59 => (operator, self.of_a_market(ledger)?),
            60..=89 => (operator, self.of_a_resolution(market, reference, ledger)?),
            90..=94 => (operator, Command::PayRebates),
            95..=96 => (operator, self.payments()),
            97 => (operator, self.policy(None)),
            98 => (operator, self.policy(Some(market))),
            _ => {
                let listed = Command::ListWallet(ListWallet {
                    market: None,
                    wallet,
                    propose: true,
                    dispute: true,
                });
                (operator, listed)
            }
        })
    }

    /// A hold is put or lifted, that of the upstream by the sync.
    fn hold(&self, market: MarketNumber, operator: OperatorNumber) -> Act {
        let (hold, sender) = match self.context.percent(30) {
            true => (Hold::Upstream, OperatorNumber::SYNC),
            false => (Hold::Operator, operator),
        };
        let command = match self.context.percent(25) {
            true => Command::PauseMarket(PauseMarket { market, hold }),
            false => Command::ResumeMarket(ResumeMarket { market, hold }),
        };
        (sender, command)
    }

    fn payments(&self) -> Command {
        Command::SetPayments {
            payments: PaymentsUpdate {
                withdrawal_limit: Some(WITHDRAWAL_LIMIT),
                rebates_daily: Some(self.context.percent(60)),
            },
        }
    }

    fn policy(&self, market: Option<MarketNumber>) -> Command {
        let by_time = self.context.percent(50);
        let policy = PolicyUpdate {
            minimum_window_seconds: Some(self.context.pick(&[0, 0, 1])),
            second_person: Some(!by_time && self.context.percent(30)),
            by_time: Some(by_time),
            ..PolicyUpdate::default()
        };
        Command::SetPolicy(SetPolicy { market, policy })
    }

    fn terms_without_times(&self) -> TermsUpdate {
        TermsUpdate {
            taker_delay_ms: Some(self.context.pick(&[0, 0, 5, 50, 1_000])),
            rebate_ppm: Some(self.context.pick(&[0, 250_000, 1_000_000])),
            ..TermsUpdate::default()
        }
    }

    /// Another market, or the terms of a known one.
    fn of_a_market(&self, ledger: &Ledger) -> Option<Command> {
        let known = u8::try_from(ledger.markets.len()).ok()?;
        if self.context.percent(30) {
            return (known < MOST_MARKETS).then(|| register_market(known));
        }
        let market = self.any_market(ledger);
        if self.context.percent(20) {
            return Some(Command::ActivateMarket { market });
        }
        let mut terms = self.terms_without_times();
        let soon = || TimeMs(ledger.time.millis().0 + self.context.below(4_000));
        if self.context.percent(50) {
            terms.opens_at = Some(soon());
        }
        if self.context.percent(40) {
            (terms.game_start_time, terms.clear_book_on_start) = (Some(soon()), Some(true));
        }
        if self.context.percent(25) {
            terms.closes_at = Some(TimeMs(soon().0 + 2_000));
        }
        Some(Command::SetTerms(SetTerms { market, terms }))
    }

    fn of_a_resolution(
        &mut self,
        market: MarketNumber,
        reference: Reference,
        ledger: &Ledger,
    ) -> Option<Command> {
        let payout = self.context.pick(&[
            Payout::Yes,
            Payout::No,
            Payout::No,
            Payout::Half,
            Payout::Outside,
        ]);
        let wallet = self.holder(ledger)?.account;
        let closed = ledger
            .newest_closed(self.context.index(3))
            .unwrap_or(market);
        let by = self.context.percent(10).then_some(wallet);
        Some(match self.context.below(12) {
            0 | 1 => Command::CloseMarket { market },
            2 | 3 => Command::ResolveMarket(ResolveMarket {
                market: closed,
                payout,
                replaces: None,
            }),
            4..=6 => Command::Propose(Propose {
                market: closed,
                payout,
                by,
                evidence: self.name(0x5E),
                window_seconds: (self.context).pick(&[None, Some(0), Some(1), Some(3)]),
                replaces: None,
                reference,
            }),
            7 => Command::Dispute(Dispute {
                market,
                counter: Some(payout),
                by,
            }),
            8 => Command::WithdrawProposal(WithdrawProposal { market, by }),
            _ => {
                let (market, proposal) = ledger.newest_proposal(self.context.index(3))?;
                Command::Finalise(Finalise { market, proposal })
            }
        })
    }

    fn confirm_or_release(&mut self, ledger: &Ledger) -> Option<Command> {
        let withdrawal = ledger.waiting_withdrawal(self.context.index(3))?;
        Some(match self.context.percent(75) {
            true => Command::PayWithdrawal(PayWithdrawal {
                withdrawal,
                payment: Reference(self.name(0x9A)),
            }),
            false => Command::FailWithdrawal { withdrawal },
        })
    }
}
