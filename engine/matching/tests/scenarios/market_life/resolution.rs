//! Proposals, policies, settlement, event groups that end early.

use foretell_model::Hold;
use foretell_model::command::{
    Convert, Deposit, ListWallet, PauseMarket, Propose, Redeem, ResolveMarket, SetPolicy, Split,
    WithdrawProposal,
};
use foretell_model::event::{Disputed, MarketResolved, MarketSettled};
use foretell_model::limits::ACCOUNTS_PER_STEP;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, Event, MarketNumber, Micros, OperatorRole, Payout,
    QuestionSet, RejectionReason, ResolutionPolicy, WalletAddress,
};

use crate::world::World;

impl World {
    fn proposal(&mut self, market: MarketNumber, payout: Payout, window_seconds: u32) -> Command {
        Command::Propose(Propose {
            market,
            payout,
            by: None,
            evidence: [5; 32],
            window_seconds: Some(window_seconds),
            replaces: None,
            reference: self.reference(),
        })
    }

    fn policy(&mut self, market: Option<MarketNumber>, change: impl FnOnce(&mut ResolutionPolicy)) {
        let mut policy = ResolutionPolicy::default();
        change(&mut policy);
        self.done(&Command::SetPolicy(SetPolicy {
            market,
            policy: policy.into(),
        }));
    }
}

#[test]
fn time_finalises_and_disputes_what_the_group_forbids() {
    let mut world = World::new();
    let ann = world.operator("ann", OperatorRole::Resolver);
    world.policy(None, |policy| policy.by_time = true);
    let (_, markets) = world.neg_risk(2);
    for market in &markets {
        world.done(&Command::CloseMarket { market: *market });
        let yes = world.proposal(*market, Payout::Yes, 10);
        world.by(ann, |world| world.done(&yes));
    }
    world.wait(10);
    world.advance();
    let (market, payout) = (markets[0], Payout::Yes);
    assert_eq!(
        world.events[0],
        Event::MarketResolved(MarketResolved { market, payout })
    );
    world.advance();
    let (market, counter) = (markets[1], None);
    assert_eq!(
        world.events,
        [Event::Disputed(Disputed { market, counter })]
    );
    world.nothing_due();
}

#[test]
fn wallets_of_a_list_propose_and_withdraw_their_own() {
    let mut world = World::new();
    let (market, alice, bob) = (world.market(), world.trader(1, 10), world.trader(2, 10));
    world.done(&Command::CloseMarket { market });
    let list = |wallet: WalletAddress, propose| {
        Command::ListWallet(ListWallet {
            market: None,
            wallet,
            propose,
            dispute: false,
        })
    };
    world.done(&list(alice.wallet, true));
    world.repeated(&list(alice.wallet, true));
    let by = |account: AccountNumber, reference| {
        Command::Propose(Propose {
            market,
            payout: Payout::Half,
            by: Some(account),
            evidence: [5; 32],
            window_seconds: Some(0),
            replaces: None,
            reference,
        })
    };
    let reference = world.reference();
    world.refused(&by(bob.account, reference), RejectionReason::NotPermitted);
    world.done(&by(alice.account, reference));
    let withdraw = |by| Command::WithdrawProposal(WithdrawProposal { market, by });
    world.refused(&withdraw(Some(bob.account)), RejectionReason::NotPermitted);
    world.done(&withdraw(Some(alice.account)));
    // A policy of its own has a list of its own.
    world.policy(Some(market), |_| ());
    let reference = world.reference();
    world.refused(&by(alice.account, reference), RejectionReason::NotPermitted);
    world.done(&Command::ClearPolicy { market });
    world.refused(&Command::ClearPolicy { market }, RejectionReason::NoPolicy);
    world.done(&by(alice.account, reference));
}

#[test]
fn one_asks_first_and_the_other_is_paid_by_the_sweep() {
    let mut world = World::new();
    let (market, alice, bob) = (world.market(), world.trader(1, 100), world.trader(2, 100));
    world.split(alice, market, 10);
    world.split(bob, market, 4);
    world.done(&Command::CloseMarket { market });
    world.resolve(market, Payout::Yes);
    let redeem = |world: &mut World, account| {
        Command::Redeem(Redeem {
            account,
            market,
            reference: world.reference(),
        })
    };
    let command = redeem(&mut world, bob.account);
    assert_eq!(
        world.done(&command),
        CommandOutcome::Collateral(Micros(4_000_000))
    );
    assert_eq!(world.step(), 10_000_000);
    let paid = Micros(10_000_000);
    assert_eq!(
        world.events.last(),
        Some(&Event::MarketSettled(MarketSettled { market, paid }))
    );
    let command = redeem(&mut world, alice.account);
    world.refused(&command, RejectionReason::NothingToRedeem);
    world.refused(&Command::Step, RejectionReason::NothingPending);
}

#[test]
fn a_settlement_of_many_takes_several_steps_in_order_of_account() {
    let mut world = World::new();
    let market = world.market();
    let count = ACCOUNTS_PER_STEP + 3;
    for number in 0..count {
        let mut wallet = [0; 20];
        wallet[..4].copy_from_slice(&number.to_be_bytes());
        let mut apply = |command: &Command| {
            let verdict = world.exchange.apply(command, world.now, &mut world.events);
            assert!(
                matches!(verdict, foretell_model::Verdict::Applied(_)),
                "{verdict:?}"
            );
        };
        let mut name = [9; 32];
        name[..4].copy_from_slice(&number.to_be_bytes());
        apply(&Command::Deposit(Deposit {
            wallet: WalletAddress(wallet),
            amount: Micros(10_000),
            reference: foretell_model::Reference(name),
        }));
        apply(&Command::Split(Split {
            account: AccountNumber(number),
            market,
            lots: foretell_model::Lots(1),
            reference: foretell_model::Reference(name),
        }));
    }
    world.done(&Command::CloseMarket { market });
    world.resolve(market, Payout::Half);
    assert_eq!(world.step(), u64::from(ACCOUNTS_PER_STEP) * 10_000);
    assert!(world.exchange.has_background_work());
    assert_eq!(world.step(), 30_000);
    assert!(!world.exchange.has_background_work());
}

#[test]
fn a_question_is_over_early_and_convert_goes_on_among_the_open() {
    let mut world = World::new();
    let (event, markets) = world.neg_risk(3);
    let alice = world.trader(1, 100);
    world.split(alice, markets[0], 5);
    world.split(alice, markets[1], 5);
    let convert = |world: &mut World, lots, low| {
        Command::Convert(Convert {
            account: alice.account,
            event,
            questions: QuestionSet { low, high: 0 },
            lots: foretell_model::Lots(lots),
            reference: world.reference(),
        })
    };
    let both = convert(&mut world, 200, 0b011);
    assert_eq!(
        world.done(&both),
        CommandOutcome::Collateral(Micros(2_000_000))
    );
    let market = markets[0];
    world.done(&Command::CloseMarket { market });
    world.resolve(market, Payout::No);
    assert_eq!(world.step(), 3_000_000);
    let given = convert(&mut world, 100, 0b001);
    world.refused(&given, RejectionReason::EventNotActive);
    // A question that is not active gets its Yes all the same.
    world.done(&Command::PauseMarket(PauseMarket {
        market: markets[2],
        hold: Hold::Operator,
    }));
    let open = convert(&mut world, 100, 0b010);
    assert_eq!(world.done(&open), CommandOutcome::Collateral(Micros(0)));
    assert_eq!(world.supply(markets[2]), [300, 0]);
    assert_eq!(world.supply(market), [0, 0]);
    for market in [markets[1], markets[2]] {
        world.done(&Command::CloseMarket { market });
    }
    world.resolve(markets[1], Payout::Yes);
    let last = Command::ResolveMarket(ResolveMarket {
        market: markets[2],
        payout: Payout::Yes,
        replaces: None,
    });
    world.refused(&last, RejectionReason::SecondYes);
    world.resolve(markets[2], Payout::No);
    while world.exchange.has_background_work() {
        world.step();
    }
    assert_eq!(world.money(alice), (100_000_000, 0));
}
