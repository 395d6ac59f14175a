//! Rebates and their payment.

use foretell_model::command::BindWallet;
use foretell_model::{
    Command, CommandOutcome, Event, Micros, PaymentSettings, RejectionReason, WalletKind,
};

use super::{BUY_NO, BUY_YES, FEE};
use crate::world::World;

/// Bob has accrued 0.24.
fn scene() -> (World, crate::world::Trader) {
    let mut world = World::new();
    let market = world.market_with(|market| market.fee = FEE);
    let (alice, bob) = (world.trader(1, 100), world.trader(2, 100));
    world.set_terms(market, |terms| terms.rebate_ppm = 250_000);
    world.rest(bob, market, BUY_NO, 100, 40);
    let order = world.limit(alice, market, BUY_YES, 100, 60);
    world.place(order);
    (world, bob)
}

#[test]
fn a_quarter_of_the_fee_accrues_and_is_paid() {
    let (mut world, bob) = scene();
    assert_eq!(world.fills()[0].rebate, Micros(240_000));
    assert_eq!(world.fees(), Micros(720_000));
    assert_eq!(world.accrued(bob), Micros(240_000));
    world.done(&Command::PayRebates);
    world.refused(&Command::PayRebates, RejectionReason::RebatesInProgress);
    assert_eq!(world.step(), 240_000);
    let paid = Micros(240_000);
    assert_eq!(
        world.events.last(),
        Some(&Event::RebatePaymentEnded { paid })
    );
    world.refused(&Command::Step, RejectionReason::NothingPending);
    world.refused(&Command::PayRebates, RejectionReason::NothingAccrued);
    assert_eq!(world.money(bob), (60_240_000, 0));
}

#[test]
fn time_pays_at_midnight_when_the_setting_says_so() {
    let (mut world, bob) = scene();
    let payments = PaymentSettings {
        rebates_daily: true,
        ..PaymentSettings::default()
    };
    world.done(&Command::SetPayments {
        payments: payments.into(),
    });
    let day = 24 * 3_600;
    let now = world.now.0 / 1_000_000_000;
    let midnight = (now / day + 1) * day;
    assert_eq!(
        world.exchange.next_due().unwrap().0,
        midnight * 1_000_000_000
    );
    world.wait(midnight - now - 1);
    world.nothing_due();
    world.wait(1);
    assert_eq!(world.advance(), CommandOutcome::Done);
    world.step();
    world.nothing_due();
    assert_eq!(world.accrued(bob), Micros::ZERO);
    assert_eq!(world.exchange.next_due(), None);
}

#[test]
fn wallets_of_one_owner_accrue_nothing_from_each_other() {
    let mut world = World::new();
    let market = world.market_with(|market| market.fee = FEE);
    world.set_terms(market, |terms| terms.rebate_ppm = 1_000_000);
    let (alice, bob) = (world.trader(1, 100), world.trader(2, 100));
    let safe = foretell_model::WalletAddress([7; 20]);
    let account = world.deposit(safe, 100);
    world.done(&Command::BindWallet(BindWallet {
        owner: alice.wallet,
        wallet: safe,
        kind: WalletKind::Safe,
    }));
    let own = crate::world::Trader { account, ..alice };
    world.rest(own, market, BUY_NO, 10, 40);
    world.rest(bob, market, BUY_NO, 10, 40);
    let order = world.limit(alice, market, BUY_YES, 20, 60);
    world.place(order);
    let rebates: Vec<_> = world.fills().iter().map(|fill| fill.rebate.0).collect();
    assert_eq!(rebates, [0, 96_000]);
    assert_eq!(world.fees(), Micros(96_000));
}
