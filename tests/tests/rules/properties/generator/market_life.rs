//! Commands of a market's life, and the stamps of all commands (docs/verify/rules.md §21 to §28).

use std::collections::VecDeque;

use foretell_model::command::{
    AddOperator, CancelWithdrawal, Dispute, Finalise, ListWallet, PayWithdrawal, Propose,
    RequestWithdrawal, ResolveMarket, SetPolicy, SetTerms, WithdrawProposal,
};
use foretell_model::limits::{
    MAX_QUESTIONS, MAX_REBATE_PPM, MAX_TAKER_DELAY_MS, MAX_WINDOW_SECONDS,
    MAX_WITHDRAWAL_VALIDITY_MS,
};
use foretell_model::{
    AccountNumber, Branch, Command, CommandStamp, MarketNumber, MarketState, Micros, OperatorName,
    OperatorNumber, OperatorRole, PaymentsUpdate, Payout, PolicyUpdate, ResolutionPolicy, RoleSet,
    Sequence, TermsUpdate, TimeMs, TimeNs,
};

use super::Generator;
use crate::properties::style::Kind;

impl Generator {
    /// What must come first, usually: pending work, then time that is due.
    pub(super) fn due_command(&mut self, time: TimeNs) -> Option<Command> {
        if self.world.is_pending && self.rng.percent(90) {
            return Some(Command::Continue);
        }
        let is_due = self.world.first_due().is_some_and(|due| due <= time);
        (is_due && self.rng.percent(90)).then_some(Command::AdvanceTime)
    }

    /// A command's stamp: operators send what a role may send, and orders may belong to a group.
    pub(super) fn stamp(&mut self, command: &Command, time: TimeNs) -> CommandStamp {
        let mut stamp = CommandStamp::at(time);
        let senders = command.kind().senders();
        let is_order = matches!(command, Command::PlaceOrder(_));
        let is_act = senders.operators.contains(OperatorRole::Admin) && !is_order;
        let chance = match is_order && self.moves.is_some() {
            true => 10,
            false if is_act => 60,
            false => 1,
        };
        let must = matches!(
            command,
            Command::AddOperator(_) | Command::RevokeOperator { .. } | Command::Finalise(_)
        );
        // The engine's own configuration has the hours.
        let is_host = matches!(command, Command::ChangeSettings { settings } if settings.new_operator_hours.is_some());
        let chance = if is_host { 10 } else { chance };
        if self.rng.percent(chance) || (must && self.rng.percent(90)) {
            stamp.operator = self.operator_for(command);
        }
        if matches!(command, Command::PlaceOrder(_) | Command::Continue) && self.rng.percent(2) {
            stamp.touched = self.rng.pick(&[1, 4_093, 4_094, 4_095, 4_096]);
        }
        stamp
    }

    /// Operators, a limit of withdrawals, and terms of the first markets.
    pub(super) fn prelude_of_market_life(&mut self, prelude: &mut VecDeque<Command>) {
        for _ in 0..3 {
            prelude.push_back(self.add_operator());
        }
        if self.rng.percent(50) {
            prelude.push_back(Command::SetPayments {
                payments: PaymentsUpdate {
                    withdrawal_limit: Some(Micros(self.rng.pick(&[1, 100_000]))),
                    rebates_daily: Some(self.rng.percent(50)),
                },
            });
        }
        if self.rng.percent(80) {
            prelude.push_back(Command::SetPolicy(SetPolicy {
                market: None,
                policy: PolicyUpdate {
                    by_time: Some(true),
                    ..PolicyUpdate::default()
                },
            }));
        }
        for _ in 0..2 {
            prelude.push_back(Command::ListWallet(ListWallet {
                market: None,
                wallet: self.wallet(),
                propose: true,
                dispute: true,
            }));
        }
        for market in 1..5 {
            let terms = TermsUpdate {
                taker_delay_ms: Some(self.rng.pick(&[0, 1, 1_000, 3_000])),
                rebate_ppm: Some(self.rng.pick(&[0, 250_000, MAX_REBATE_PPM])),
                ..TermsUpdate::default()
            };
            let market = MarketNumber(market);
            prelude.push_back(Command::SetTerms(SetTerms { market, terms }));
        }
        if self.rng.percent(35) {
            self.prelude_of_losers(prelude);
        }
    }

    /// The last two questions of the event are proposed as No: the second one would leave none.
    fn prelude_of_losers(&mut self, prelude: &mut VecDeque<Command>) {
        let registered = prelude.iter().filter_map(|command| match command {
            Command::RegisterMarket(market) => Some(market.event),
            _ => None,
        });
        // Number 0 is the outside question.
        let numbered = (1..).map(MarketNumber).zip(registered);
        let mut questions: Vec<_> = numbered.filter(|(_, event)| event.is_some()).collect();
        questions.truncate(MAX_QUESTIONS as usize);
        let last = questions.len().saturating_sub(2);
        for (place, (market, _)) in questions.into_iter().enumerate() {
            prelude.push_back(Command::CloseMarket { market });
            let payout = Payout::No;
            prelude.push_back(if place < last {
                Command::ResolveMarket(ResolveMarket {
                    market,
                    payout,
                    replaces: None,
                })
            } else {
                Command::Propose(Propose {
                    market,
                    payout,
                    by: None,
                    evidence: [0; 32],
                    window_seconds: Some(1),
                    replaces: None,
                    reference: self.fresh_reference(),
                })
            });
        }
    }

    pub(super) fn withdrawal_command(&mut self, kind: Kind) -> Command {
        let is_unknown = self.world.withdrawals.is_empty() || self.rng.percent(5);
        let (withdrawal, account) = match is_unknown {
            true => (Sequence(self.rng.below(50)), self.account()),
            false => self.rng.pick(&self.world.withdrawals),
        };
        match kind {
            Kind::RequestWithdrawal => {
                let account = self.account();
                let known = self.world.accounts.get(account.0 as usize);
                let free = known.map_or(0, |known| known.free);
                let owner = known.map_or(account, |known| known.owner);
                Command::RequestWithdrawal(RequestWithdrawal {
                    owner: match self.rng.percent(5) {
                        true => account,
                        false => owner,
                    },
                    account,
                    amount: Micros(self.amount(free / 4)),
                    reference: self.reference(),
                    valid_until: self.valid_until(),
                })
            }
            Kind::CancelWithdrawal => Command::CancelWithdrawal(CancelWithdrawal {
                account: match self.rng.percent(10) {
                    true => self.account(),
                    false => account,
                },
                withdrawal,
            }),
            Kind::ClaimWithdrawal => Command::ClaimWithdrawal { withdrawal },
            Kind::PayWithdrawal => Command::PayWithdrawal(PayWithdrawal {
                withdrawal,
                payment: self.reference(),
            }),
            Kind::FailWithdrawal => Command::FailWithdrawal { withdrawal },
            Kind::Restore => Command::Restore {
                branch: Branch([self.rng.pick(&[1, 2, 3]); 32]),
            },
            // Mostly an outage shorter than the windows of proposals, so that time finalises some.
            Kind::Reopen => Command::Reopen {
                at: TimeNs({
                    let longest = self.rng.pick(&[1, 1, 5, 90 * 60]);
                    let outage = self.rng.below(longest) * 1_000_000_000;
                    self.world.time.0.saturating_add(outage)
                }),
            },
            _ => Command::OpenWithdrawals,
        }
    }

    /// Mostly a little later than every one before.
    fn valid_until(&mut self) -> TimeMs {
        let now = self.now.millis().0;
        let ahead = match self.rng.below(20) {
            0 => MAX_WITHDRAWAL_VALIDITY_MS + self.rng.pick(&[0, 1]),
            1 => 0,
            _ => {
                self.requested += 1;
                1_000 + self.requested
            }
        };
        TimeMs(now + ahead)
    }

    pub(super) fn market_life_command(&mut self, kind: Kind) -> Command {
        let market = self.market_for(kind);
        match kind {
            Kind::PayRebates => Command::PayRebates,
            Kind::SetTerms => Command::SetTerms(SetTerms {
                market,
                terms: self.terms(),
            }),
            Kind::Propose => self.propose(market),
            Kind::Dispute => Command::Dispute(Dispute {
                market: self.proposed().unwrap_or(market),
                counter: self.counter(),
                by: self.proposer(),
            }),
            Kind::WithdrawProposal => Command::WithdrawProposal(WithdrawProposal {
                market: self.proposed().unwrap_or(market),
                by: self.proposer(),
            }),
            Kind::Finalise => self.finalise(market),
            Kind::SetPolicy => Command::SetPolicy(SetPolicy {
                market: self.own_market(),
                policy: self.policy(),
            }),
            Kind::ClearPolicy => Command::ClearPolicy { market },
            Kind::ListWallet => Command::ListWallet(ListWallet {
                market: self.own_market(),
                wallet: self.wallet(),
                propose: self.rng.percent(60),
                dispute: self.rng.percent(60),
            }),
            Kind::Step => Command::Step,
            Kind::SetPayments => Command::SetPayments {
                payments: self.payments(),
            },
            Kind::AddOperator => self.add_operator(),
            Kind::RevokeOperator => Command::RevokeOperator {
                operator: if self.rng.percent(40) {
                    OperatorNumber(self.rng.pick(&[2, 3, 4, 5]))
                } else {
                    self.operator()
                },
            },
            Kind::DescribeEvent => Command::DescribeEvent {
                event: self.event(),
            },
            _ => Command::DescribeWallet {
                wallet: self.wallet(),
            },
        }
    }

    fn payments(&mut self) -> PaymentsUpdate {
        let rng = &mut self.rng;
        let limit = Micros(rng.pick(&[0, 1, 1_000_000, u64::MAX]));
        let daily = rng.percent(70);
        PaymentsUpdate {
            withdrawal_limit: rng.percent(70).then_some(limit),
            rebates_daily: rng.percent(70).then_some(daily),
        }
    }

    pub(super) fn terms(&mut self) -> TermsUpdate {
        let now = self.now.0 / 1_000_000;
        let mut time = |chance| {
            let rng = &mut self.rng;
            let ahead = rng.pick(&[0, 1, 500, 3_000, 20_000, 100_000]);
            if rng.percent(chance) {
                TimeMs(now.saturating_add(ahead))
            } else {
                TimeMs(0)
            }
        };
        let (mut opens_at, mut closes_at, mut game_start_time) = (time(20), time(20), time(30));
        let rng = &mut self.rng;
        let mut clear_book_on_start = rng.percent(60);
        // Things that fall due at one moment.
        if rng.percent(15) {
            game_start_time = TimeMs(now.saturating_add(rng.pick(&[1, 500, 3_000])));
            clear_book_on_start = true;
            opens_at = if rng.percent(60) {
                game_start_time
            } else {
                TimeMs(0)
            };
            let closes_too = rng.percent(50) && opens_at.0 == 0;
            closes_at = if closes_too {
                game_start_time
            } else {
                TimeMs(0)
            };
        }
        let delay = rng.pick(&[0, 0, 1, 1_000, 3_000, 60_000, MAX_TAKER_DELAY_MS + 1]);
        let rebate = rng.pick(&[0, 250_000, 333_333, MAX_REBATE_PPM, MAX_REBATE_PPM + 1]);
        let names_clock = rng.percent(80);
        let mut names = || names_clock || rng.percent(20);
        TermsUpdate {
            opens_at: names().then_some(opens_at),
            closes_at: names().then_some(closes_at),
            game_start_time: names().then_some(game_start_time),
            clear_book_on_start: names().then_some(clear_book_on_start),
            taker_delay_ms: names().then_some(delay),
            rebate_ppm: names().then_some(rebate),
        }
    }

    fn propose(&mut self, market: MarketNumber) -> Command {
        Command::Propose(Propose {
            market,
            payout: self.payout(market),
            by: self.proposer(),
            evidence: [self.rng.pick(&[0, 1]); 32],
            window_seconds: (self.rng).pick(&[
                None,
                Some(0),
                Some(1),
                Some(10),
                Some(60),
                Some(MAX_WINDOW_SECONDS + 1),
            ]),
            replaces: self.replaced(market),
            reference: self.reference(),
        })
    }

    /// Mostly the proposal of the market, if it has one.
    pub(super) fn replaced(&mut self, market: MarketNumber) -> Option<Sequence> {
        let mut known = self.world.proposals.iter();
        let current = known.find(|(of, _)| *of == market).map(|(_, it)| *it);
        match self.rng.below(20) {
            0 => Some(Sequence(self.rng.below(100))),
            1..4 => None,
            _ => current,
        }
    }

    fn counter(&mut self) -> Option<Payout> {
        let payout = self.rng.pick(Payout::ALL);
        self.rng.percent(75).then_some(payout)
    }

    fn finalise(&mut self, market: MarketNumber) -> Command {
        let known = self.world.proposals.len();
        if known == 0 || self.rng.percent(10) {
            return Command::Finalise(Finalise {
                market,
                proposal: Sequence(self.rng.below(100)),
            });
        }
        let (market, proposal) = self.rng.pick(&self.world.proposals);
        Command::Finalise(Finalise { market, proposal })
    }

    fn policy(&mut self) -> PolicyUpdate {
        let rng = &mut self.rng;
        let usual = ResolutionPolicy::default();
        let proposers = rng.pick(&[usual.proposers, usual.disputers, RoleSet::NONE]);
        let disputers = rng.pick(&[usual.disputers, usual.proposers]);
        let window = rng.pick(&[0, 0, 1, 60, MAX_WINDOW_SECONDS + 1]);
        let (second_person, by_time) = (rng.percent(30), rng.percent(40));
        let names_all = rng.percent(60);
        let mut names = || names_all || rng.percent(40);
        PolicyUpdate {
            proposers: names().then_some(proposers),
            disputers: names().then_some(disputers),
            minimum_window_seconds: names().then_some(window),
            second_person: names().then_some(second_person),
            by_time: names().then_some(by_time),
        }
    }

    fn add_operator(&mut self) -> Command {
        let rng = &mut self.rng;
        let name = rng.pick(&["admin", "sync", "ann", "ben", "cat", "dan"]);
        let mut name = OperatorName::new(name).expect("a name");
        if rng.percent(3) {
            name.0[0] = b'A';
        }
        Command::AddOperator(AddOperator {
            role: rng.pick(OperatorRole::ALL),
            name,
            token: [u8::try_from(rng.below(12)).expect("below 12"); 32],
        })
    }

    /// A wallet that acts, or none: the operator of the frame.
    fn proposer(&mut self) -> Option<AccountNumber> {
        self.rng.percent(30).then(|| self.account())
    }

    fn proposed(&mut self) -> Option<MarketNumber> {
        let is_known = !self.world.proposals.is_empty() && self.rng.percent(90);
        is_known.then(|| self.rng.pick(&self.world.proposals).0)
    }

    /// The site, or a market.
    fn own_market(&mut self) -> Option<MarketNumber> {
        self.rng.percent(50).then(|| self.market())
    }

    /// Usually an operator whose role has the command.
    fn operator_for(&mut self, command: &Command) -> OperatorNumber {
        let mut fitting = self.world.operators.clone();
        let senders = command.kind().senders();
        fitting.retain(|(_, role)| senders.operators.contains(*role));
        // Outside a sandbox none fits an order, and nothing is drawn.
        let is_order = matches!(command, Command::PlaceOrder(_));
        if fitting.is_empty() || (is_order && self.moves.is_none()) || self.rng.percent(15) {
            return self.operator();
        }
        self.rng.pick(&fitting).0
    }

    /// Usually a live operator.
    fn operator(&mut self) -> OperatorNumber {
        if self.world.operators.is_empty() || self.rng.percent(5) {
            return OperatorNumber(self.rng.pick(&[0, 1, 2, 9, u16::MAX]));
        }
        self.rng.pick(&self.world.operators).0
    }
}

/// States of the markets that a command of a market's life needs.
pub(super) const fn states_for(kind: Kind) -> &'static [MarketState] {
    use MarketState::{Active, Closed, Registered};
    match kind {
        Kind::SetTerms => &[Active, Registered],
        Kind::Propose => &[Closed],
        _ => &[],
    }
}
