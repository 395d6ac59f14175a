//! Operators, roles, withdrawals of two persons.

use foretell_model::command::{AddOperator, PauseMarket, Withdraw};
use foretell_model::{
    Command, CommandOutcome, Event, Hold, Micros, OperatorName, OperatorNumber, OperatorRole,
    PaymentSettings, Reference, RejectionReason,
};

use crate::world::{UNIT, World};

#[test]
fn a_withdrawal_above_the_limit_takes_two_persons() {
    let mut world = World::new();
    let ann = world.operator("ann", OperatorRole::Cashier);
    let ben = world.operator("ben", OperatorRole::Cashier);
    let limit = Micros(50 * UNIT);
    world.done(&Command::SetPayments {
        payments: PaymentSettings {
            withdrawal_limit: limit,
            rebates_daily: false,
        }
        .into(),
    });
    let (market, alice) = (world.market(), world.trader(1, 100));
    world.by(ann, |world| {
        let pause = Command::PauseMarket(PauseMarket {
            market,
            hold: Hold::Operator,
        });
        world.refused(&pause, RejectionReason::OperatorRole)
    });
    let reference = Reference([3; 32]);
    let withdraw = |reference, units: u64| {
        Command::Withdraw(Withdraw {
            wallet: alice.wallet,
            amount: Micros(units * UNIT),
            reference,
        })
    };
    let large = withdraw(reference, 60);
    world.refused(&large, RejectionReason::OperatorRequired);
    let held = CommandOutcome::Held(alice.account);
    world.by(ann, |world| {
        assert_eq!(world.done(&large), held);
        assert_eq!(world.money(alice), (40_000_000, 60_000_000));
        assert_eq!(world.repeated(&large).2, held);
        let confirm = Command::ConfirmWithdrawal { reference };
        world.refused(&confirm, RejectionReason::SamePerson);
    });
    world.by(ben, |world| {
        let confirm = Command::ConfirmWithdrawal { reference };
        world.done(&confirm);
        assert_eq!(world.events.len(), 2);
        world.refused(&confirm, RejectionReason::UnknownWithdrawal);
        let account = CommandOutcome::Account(alice.account);
        assert_eq!(world.repeated(&large).2, account);
    });
    assert_eq!(world.money(alice), (40_000_000, 0));
    let reference = Reference([4; 32]);
    world.deposit(alice.wallet, 60);
    world.by(ann, |world| {
        world.done(&withdraw(reference, 60));
        world.done(&Command::ReleaseWithdrawal { reference });
    });
    assert_eq!(world.money(alice), (100_000_000, 0));
    assert!(matches!(world.events[0], Event::WithdrawalReleased(_)));
}

fn added(name: &str, token: u8) -> Command {
    Command::AddOperator(AddOperator {
        role: OperatorRole::Admin,
        name: OperatorName::new(name).unwrap(),
        token: [token; 32],
    })
}

fn as_admin(world: &mut World, command: &Command, reason: RejectionReason) {
    world.by(OperatorNumber::FIRST_ADMIN, |world| {
        world.refused(command, reason)
    });
}

#[test]
fn operators_are_added_once_and_the_last_admin_stays() {
    let mut world = World::new();
    let first = OperatorNumber::FIRST_ADMIN;
    world.refused(&added("eve", 1), RejectionReason::OperatorRequired);
    as_admin(
        &mut world,
        &added("eve", 0),
        RejectionReason::InvalidOperator,
    );
    as_admin(
        &mut world,
        &added("admin", 1),
        RejectionReason::OperatorNameTaken,
    );
    let revoke = |operator| Command::RevokeOperator { operator };
    as_admin(&mut world, &revoke(first), RejectionReason::LastAdmin);
    as_admin(
        &mut world,
        &revoke(OperatorNumber(9)),
        RejectionReason::UnknownOperator,
    );
    let eve = OperatorNumber(3);
    world.by(first, |world| {
        let outcome = CommandOutcome::Operator(eve);
        assert_eq!(world.done(&added("eve", 1)), outcome);
        assert_eq!(world.repeated(&added("eve", 1)), (0, 0, outcome));
        world.refused(&added("eve", 2), RejectionReason::OperatorNameTaken);
        world.refused(&added("ada", 1), RejectionReason::OperatorTokenTaken);
    });
    world.by(eve, |world| {
        world.done(&revoke(first));
        world.repeated(&revoke(first));
        world.refused(&revoke(eve), RejectionReason::LastAdmin);
    });
    as_admin(
        &mut world,
        &added("ada", 3),
        RejectionReason::UnknownOperator,
    );
}
