//! Deposits, withdrawals and full sets, and idempotency by references.

use foretell_model::command::{
    Deposit, Merge, PauseMarket, Redeem, SetClosedOnly, Split, Withdraw, WithdrawFees,
};
use foretell_model::limits::{MAX_BALANCE, REFERENCE_MEMORY_NS};
use foretell_model::{
    AccountNumber, Command, CommandOutcome, Event, FeeSchedule, Hold, Lots, MarketNumber, Micros,
    Outcome, Payout, Reference, RejectionReason, Side, SystemMode, WalletAddress,
};

use crate::world::{Trader, UNIT, World};

fn split(world: &mut World, trader: Trader, market: MarketNumber, lots: u64) -> Command {
    Command::Split(Split {
        account: trader.account,
        market,
        lots: Lots(lots),
        reference: world.reference(),
    })
}

fn merge(world: &mut World, trader: Trader, market: MarketNumber, lots: u64) -> Command {
    Command::Merge(Merge {
        account: trader.account,
        market,
        lots: Lots(lots),
        reference: world.reference(),
    })
}

fn redeem(world: &mut World, trader: Trader, market: MarketNumber) -> Command {
    Command::Redeem(Redeem {
        account: trader.account,
        market,
        reference: world.reference(),
    })
}

#[test]
fn deposits_open_accounts_and_repeat_safely() {
    let mut world = World::new();
    let wallet = WalletAddress([9; 20]);
    let deposit = |amount, reference| {
        Command::Deposit(Deposit {
            wallet,
            amount: Micros(amount),
            reference: Reference([reference; 32]),
        })
    };
    let withdraw = |amount, reference| {
        Command::Withdraw(Withdraw {
            wallet,
            amount: Micros(amount),
            reference: Reference([reference; 32]),
        })
    };
    world.refused(&withdraw(1, 1), RejectionReason::UnknownAccount);
    world.refused(&deposit(0, 1), RejectionReason::AmountZero);
    let limit = world.refused(&deposit(u64::MAX, 1), RejectionReason::BalanceLimit);
    assert_eq!(limit, [u64::MAX, MAX_BALANCE.0]);
    let account = CommandOutcome::Account(AccountNumber(0));
    assert_eq!(world.done(&deposit(10, 1)), account);
    assert!(matches!(world.events[0], Event::AccountOpened(_)));
    let first = world.exchange.sequence().0;
    world.wait(1 + REFERENCE_MEMORY_NS / 1_000_000_000);
    assert_eq!(world.repeated(&deposit(10, 1)), (first, first, account));
    world.refused(&deposit(11, 1), RejectionReason::ReferenceReused);
    world.refused(&withdraw(10, 1), RejectionReason::ReferenceReused);
    let other = Command::Deposit(Deposit {
        wallet: WalletAddress([8; 20]),
        amount: Micros(10),
        reference: Reference([1; 32]),
    });
    world.refused(&other, RejectionReason::ReferenceReused);
    let full = MAX_BALANCE.0 - 10;
    world.refused(&deposit(full + 1, 2), RejectionReason::BalanceLimit);
    world.done(&deposit(full, 2));
    let lacking = world.refused(
        &withdraw(MAX_BALANCE.0 + 1, 3),
        RejectionReason::NotEnoughCollateral,
    );
    assert_eq!(lacking, [MAX_BALANCE.0 + 1, MAX_BALANCE.0]);
    assert_eq!(world.done(&withdraw(MAX_BALANCE.0, 3)), account);
}

#[test]
fn only_free_collateral_can_leave() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 10);
    world.rest(trader, market, (Side::Buy, Outcome::Yes), 10, 60);
    let reference = world.reference();
    let withdraw = |units| {
        Command::Withdraw(Withdraw {
            wallet: trader.wallet,
            amount: Micros(units * UNIT),
            reference,
        })
    };
    world.refused(&withdraw(5), RejectionReason::NotEnoughCollateral);
    world.done(&withdraw(4));
}

#[test]
fn collected_fees_can_be_withdrawn_once() {
    let mut world = World::new();
    let market = world.market_with(|market| {
        market.fee = FeeSchedule {
            rate_ppm: 10_000,
            exponent: 0,
        };
    });
    let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
    world.rest(maker, market, (Side::Buy, Outcome::No), 10, 50);
    let order = world.limit(taker, market, (Side::Buy, Outcome::Yes), 10, 50);
    assert_eq!(world.place(order).fee, Micros(100_000));
    let reference = world.reference();
    let withdraw = |amount| {
        Command::WithdrawFees(WithdrawFees {
            amount: Micros(amount),
            reference,
        })
    };
    let lacking = world.refused(&withdraw(100_001), RejectionReason::NotEnoughCollateral);
    assert_eq!(lacking, [100_001, 100_000]);
    assert_eq!(world.done(&withdraw(100_000)), CommandOutcome::Done);
    let first = world.exchange.sequence().0;
    let answer = (first, first, CommandOutcome::Done);
    assert_eq!(world.repeated(&withdraw(100_000)), answer);
}

#[test]
fn sets_are_made_and_taken_apart() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 10);
    let nobody = Trader {
        account: AccountNumber(77),
        ..trader
    };
    for (command, reason) in [
        (
            split(&mut world, nobody, market, 1),
            RejectionReason::UnknownAccount,
        ),
        (
            split(&mut world, trader, MarketNumber(9), 1),
            RejectionReason::UnknownMarket,
        ),
        (
            split(&mut world, trader, market, 0),
            RejectionReason::AmountZero,
        ),
        (
            split(&mut world, trader, market, 100_000_000_001),
            RejectionReason::AmountTooLarge,
        ),
        (
            split(&mut world, trader, market, 1_001),
            RejectionReason::NotEnoughCollateral,
        ),
        (
            merge(&mut world, trader, market, 1),
            RejectionReason::NotEnoughShares,
        ),
    ] {
        world.refused(&command, reason);
    }
    let command = split(&mut world, trader, market, 1_000);
    let paid = CommandOutcome::Collateral(Micros(10 * UNIT));
    assert_eq!(world.done(&command), paid);
    let first = world.exchange.sequence().0;
    assert_eq!(world.repeated(&command), (first, first, paid));
    world.rest(trader, market, (Side::Sell, Outcome::No), 4, 50);
    let command = merge(&mut world, trader, market, 601);
    assert_eq!(
        world.refused(&command, RejectionReason::NotEnoughShares),
        [601, 600]
    );
    let command = merge(&mut world, trader, market, 600);
    assert_eq!(
        world.done(&command),
        CommandOutcome::Collateral(Micros(6 * UNIT))
    );
    assert_eq!(world.shares(trader, market), [400, 400]);
}

#[test]
fn the_reference_of_an_action_is_its_accounts_own_and_kept_thirty_days() {
    let mut world = World::new();
    let market = world.market();
    let (first, second) = (world.trader(1, 100), world.trader(2, 100));
    let reference = world.reference();
    let split = |trader: Trader, lots| {
        Command::Split(Split {
            account: trader.account,
            market,
            lots: Lots(lots),
            reference,
        })
    };
    world.done(&split(first, 100));
    world.done(&split(second, 200));
    world.refused(&split(first, 200), RejectionReason::ReferenceReused);
    world.wait(REFERENCE_MEMORY_NS / 1_000_000_000);
    world.now.0 += 1;
    world.refused(&split(first, 200), RejectionReason::ReferenceReused);
    let other = merge(&mut world, first, market, 1);
    world.done(&other);
    world.done(&split(first, 200));
}

#[test]
fn who_may_make_and_take_apart_sets_when() {
    let mut world = World::new();
    let market = world.market();
    let trader = world.trader(1, 100);
    world.split(trader, market, 10);
    for (mode, reason) in [
        (SystemMode::CancelOnly, RejectionReason::CancelOnly),
        (SystemMode::Paused, RejectionReason::SystemPaused),
    ] {
        world.done(&Command::SetMode { mode });
        let command = split(&mut world, trader, market, 1);
        world.refused(&command, reason);
        let command = merge(&mut world, trader, market, 1);
        world.done(&command);
    }
    let mode = SystemMode::PostOnly;
    world.done(&Command::SetMode { mode });
    world.done(&Command::SetClosedOnly(SetClosedOnly {
        wallet: trader.wallet,
        closed_only: true,
    }));
    let command = split(&mut world, trader, market, 1);
    world.refused(&command, RejectionReason::ClosedOnlyAccount);
    let command = merge(&mut world, trader, market, 1);
    world.done(&command);
    world.done(&Command::SetClosedOnly(SetClosedOnly {
        wallet: trader.wallet,
        closed_only: false,
    }));
    world.done(&Command::PauseMarket(PauseMarket {
        market,
        hold: Hold::Operator,
    }));
    let command = split(&mut world, trader, market, 1);
    world.refused(&command, RejectionReason::MarketPaused);
    world.done(&Command::CloseMarket { market });
    let command = split(&mut world, trader, market, 1);
    world.refused(&command, RejectionReason::MarketClosed);
    let command = merge(&mut world, trader, market, 1);
    world.done(&command);
    world.resolve(market, Payout::Half);
    let command = merge(&mut world, trader, market, 1);
    world.refused(&command, RejectionReason::MarketClosed);
    let description = world.description(None);
    let unborn = world.register(description);
    for command in [
        split(&mut world, trader, unborn, 1),
        merge(&mut world, trader, unborn, 1),
    ] {
        world.refused(&command, RejectionReason::MarketNotReady);
    }
}

#[test]
fn a_resolved_market_pays_what_is_held() {
    for (payout, paid) in [(Payout::Yes, 7), (Payout::No, 3), (Payout::Half, 5)] {
        let mut world = World::new();
        let market = world.market();
        let (yes, no) = (world.trader(1, 100), world.trader(2, 100));
        // Seven Yes with three No for the first trader; the mirror image for the second.
        world.split(yes, market, 3);
        world.split(no, market, 3);
        world.rest(yes, market, (Side::Buy, Outcome::Yes), 4, 50);
        let order = world.limit(no, market, (Side::Buy, Outcome::No), 4, 50);
        world.place(order);
        let command = redeem(&mut world, yes, market);
        world.refused(&command, RejectionReason::NotResolved);
        world.done(&Command::CloseMarket { market });
        world.resolve(market, payout);
        let command = redeem(&mut world, yes, market);
        let outcome = CommandOutcome::Collateral(Micros(paid * UNIT));
        assert_eq!(world.done(&command), outcome);
        let first = world.exchange.sequence().0;
        assert_eq!(world.repeated(&command), (first, first, outcome));
        let command = redeem(&mut world, yes, market);
        world.refused(&command, RejectionReason::NothingToRedeem);
        let command = redeem(&mut world, no, market);
        assert_eq!(
            world.done(&command),
            CommandOutcome::Collateral(Micros((10 - paid) * UNIT))
        );
        assert_eq!(world.supply(market), [0, 0]);
    }
}
