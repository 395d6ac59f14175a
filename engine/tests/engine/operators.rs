//! The operator of a command: named by operator gateways alone, and part of the frame.

use foretell_link::{Hello, PROTOCOL_VERSION, Request, Role, Submit};
use foretell_model::command::{AddOperator, PayWithdrawal, Withdraw};
use foretell_model::{
    Command, CommandOutcome, Micros, OperatorName, OperatorNumber, OperatorRole, PaymentSettings,
    Reference, RejectionReason, Verdict,
};

use crate::harness::{Engine, config, frames};
use crate::world::World;

#[test]
fn the_operator_of_a_command_is_in_its_frame_and_two_persons_pay_out() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Operator);
    let mut add = |name: &str| {
        let mut token = [1; 32];
        token[..name.len()].copy_from_slice(name.as_bytes());
        let (role, name) = (OperatorRole::Cashier, OperatorName::new(name).unwrap());
        let add = Command::AddOperator(AddOperator { role, name, token });
        match client.ask_as(OperatorNumber::FIRST_ADMIN, add).verdict {
            Verdict::Applied(CommandOutcome::Operator(operator)) => operator,
            other => panic!("{other:?}"),
        }
    };
    let (ann, ben) = (add("ann"), add("ben"));
    let limit = PaymentSettings {
        withdrawal_limit: Micros(5),
        rebates_daily: false,
    };
    client.ask_as(
        OperatorNumber::FIRST_ADMIN,
        Command::SetPayments {
            payments: limit.into(),
        },
    );
    let reference = Reference([3; 32]);
    let withdraw = Command::Withdraw(Withdraw {
        wallet: world.traders[0].wallet,
        amount: Micros(6),
        reference,
    });
    let account = world.traders[0].account;
    let held = client.ask_as(ann, withdraw);
    let outcome = CommandOutcome::Waits(account);
    assert_eq!(held.verdict, Verdict::Applied(outcome));
    engine.stop();

    // It waits through a restart.
    let engine = Engine::start(config(directory.path()));
    let mut client = engine.client(Role::Operator);
    let confirm = Command::PayWithdrawal(PayWithdrawal {
        withdrawal: held.sequence,
        payment: Reference([4; 32]),
    });
    let refused = client.ask_as(ann, confirm);
    let reason = |verdict: Verdict| match verdict {
        Verdict::Rejected(rejection) => Some(rejection.reason),
        _ => None,
    };
    assert_eq!(reason(refused.verdict), Some(RejectionReason::SamePerson));
    let unknown = client.ask_as(OperatorNumber(77), confirm);
    assert_eq!(
        reason(unknown.verdict),
        Some(RejectionReason::UnknownOperator)
    );
    let paid = client.ask_as(ben, confirm);
    let outcome = CommandOutcome::Done;
    assert_eq!(paid.verdict, Verdict::Applied(outcome));
    engine.stop();
    let journal = frames(directory.path());
    let operators = [(held.sequence, ann), (paid.sequence, ben)];
    for (sequence, operator) in operators {
        let frame = journal.iter().find(|frame| frame.sequence == sequence);
        assert_eq!(frame.unwrap().stamp.operator, operator);
    }
}

#[test]
fn a_gateway_that_serves_no_operators_names_none() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    let command = world.resting_buy(1).place();
    let submit = Submit {
        request: 1,
        operator: OperatorNumber::FIRST_ADMIN,
        command,
        evidence: b"signed",
    };
    client.client.send(&[Request::Submit(submit)]).unwrap();
    assert!(client.client.receive().is_err(), "it is cut off");
    let mut client = engine.client(Role::Trading);
    assert_eq!(client.status().live_orders, 0);
    engine.stop();
}

#[test]
fn a_connection_keeps_the_role_of_its_first_hello() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let mut client = engine.client(Role::Reader);
    let hello = Hello {
        version: PROTOCOL_VERSION,
        role: Role::Operator,
        name: "again",
    };
    client.client.send(&[Request::Hello(hello)]).unwrap();
    assert!(client.client.receive().is_err(), "it is cut off");
    engine.stop();
}
