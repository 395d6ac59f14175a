//! Neg-risk event groups: question lists, conversion, resolution.

use foretell_model::command::{Convert, PauseMarket, Redeem, ResolveMarket, SetClosedOnly};
use foretell_model::event::MarketRegistered;
use foretell_model::limits::MAX_QUESTIONS;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, Event, EventId, EventNumber, Hold, Lots, MarketNumber,
    Micros, Payout, QuestionSet, RejectionReason, SystemMode,
};

use crate::world::{Trader, UNIT, World};

fn convert(
    world: &mut World,
    trader: Trader,
    event: EventNumber,
    questions: &[u32],
    lots: u64,
) -> Command {
    let questions = questions
        .iter()
        .fold(QuestionSet::default(), |set, index| set.with(*index));
    Command::Convert(Convert {
        account: trader.account,
        event,
        questions,
        lots: Lots(lots),
        reference: world.reference(),
    })
}

fn close(world: &mut World, markets: &[MarketNumber]) {
    for market in markets {
        world.done(&Command::CloseMarket { market: *market });
    }
}

#[test]
fn the_list_is_open_until_the_first_question_is_active() {
    let mut world = World::new();
    let id = EventId(5);
    let event = EventNumber(0);
    let register = Command::RegisterEvent { event: id };
    assert_eq!(world.done(&register), CommandOutcome::Event(event));
    assert_eq!(
        world.repeated(&register),
        (0, 0, CommandOutcome::Event(event))
    );
    let markets: Vec<_> = (0..MAX_QUESTIONS)
        .map(|question| {
            let description = world.description(Some(event));
            let market = world.register(description);
            let Event::MarketRegistered(MarketRegistered {
                question: index, ..
            }) = world.events[0]
            else {
                panic!("{:?}", world.events);
            };
            assert_eq!(index, question);
            market
        })
        .collect();
    let more = Command::RegisterMarket(world.description(Some(event)));
    world.refused(&more, RejectionReason::EventFull);
    world.done(&Command::ActivateMarket { market: markets[3] });
    assert_eq!(world.events[0], Event::EventFrozen { event });
    assert_eq!(world.events.len(), 2);
    world.refused(&more, RejectionReason::EventFrozen);
    world.done(&Command::ActivateMarket { market: markets[0] });
    assert_eq!(world.events.len(), 1);
}

#[test]
fn a_conversion_of_one_question_costs_nothing_and_returns_the_others() {
    let mut world = World::new();
    let trader = world.trader(1, 10);
    let (event, markets) = world.neg_risk(3);
    world.split(trader, markets[1], 4);
    let command = convert(&mut world, trader, event, &[1], 300);
    let free = CommandOutcome::Collateral(Micros(0));
    assert_eq!(world.done(&command), free);
    let first = world.exchange.sequence().0;
    assert_eq!(world.repeated(&command), (first, first, free));
    let held: Vec<_> = markets
        .iter()
        .map(|market| world.shares(trader, *market))
        .collect();
    assert_eq!(held, [[300, 0], [400, 100], [300, 0]]);
    assert_eq!(world.money(trader), (6 * UNIT, 0));
}

#[test]
fn a_conversion_is_checked_in_order() {
    let mut world = World::new();
    let trader = world.trader(1, 10);
    let (event, markets) = world.neg_risk(3);
    world.split(trader, markets[0], 4);
    let nobody = Trader {
        account: AccountNumber(9),
        ..trader
    };
    for (command, reason) in [
        (
            convert(&mut world, nobody, event, &[0], 1),
            RejectionReason::UnknownAccount,
        ),
        (
            convert(&mut world, trader, EventNumber(9), &[0], 1),
            RejectionReason::UnknownEvent,
        ),
        (
            convert(&mut world, trader, event, &[0], 0),
            RejectionReason::AmountZero,
        ),
        (
            convert(&mut world, trader, event, &[], 1),
            RejectionReason::InvalidQuestions,
        ),
        (
            convert(&mut world, trader, event, &[0, 3], 1),
            RejectionReason::InvalidQuestions,
        ),
        (
            convert(&mut world, trader, event, &[127], 1),
            RejectionReason::InvalidQuestions,
        ),
    ] {
        world.refused(&command, reason);
    }
    let command = convert(&mut world, trader, event, &[0, 1, 2], 401);
    assert_eq!(
        world.refused(&command, RejectionReason::NotEnoughShares),
        [401, 400]
    );
    let command = convert(&mut world, trader, event, &[0, 1, 2], 400);
    assert_eq!(
        world.refused(&command, RejectionReason::NotEnoughShares),
        [400, 0]
    );
    let mode = SystemMode::Paused;
    world.done(&Command::SetMode { mode });
    let command = convert(&mut world, trader, event, &[], 1);
    world.refused(&command, RejectionReason::SystemPaused);
    world.done(&Command::SetMode {
        mode: SystemMode::Running,
    });
    world.done(&Command::SetClosedOnly(SetClosedOnly {
        wallet: trader.wallet,
        closed_only: true,
    }));
    let command = convert(&mut world, trader, event, &[0], 1);
    world.refused(&command, RejectionReason::ClosedOnlyAccount);
    world.done(&Command::PauseMarket(PauseMarket {
        market: markets[0],
        hold: Hold::Operator,
    }));
    let command = convert(&mut world, trader, event, &[0], 1);
    world.refused(&command, RejectionReason::EventNotActive);
}

#[test]
fn exactly_one_question_resolves_yes() {
    let mut world = World::new();
    let (_, markets) = world.neg_risk(3);
    close(&mut world, &markets);
    let resolve = |market: MarketNumber, payout| {
        Command::ResolveMarket(ResolveMarket {
            market,
            payout,
            replaces: None,
        })
    };
    world.refused(
        &resolve(markets[0], Payout::Half),
        RejectionReason::HalfInNegRisk,
    );
    world.resolve(markets[0], Payout::No);
    world.resolve(markets[1], Payout::No);
    world.refused(
        &resolve(markets[2], Payout::No),
        RejectionReason::NoWouldLeaveNone,
    );
    world.resolve(markets[2], Payout::Yes);

    let mut world = World::new();
    let (_, markets) = world.neg_risk(2);
    close(&mut world, &markets);
    world.resolve(markets[1], Payout::Yes);
    world.refused(
        &resolve(markets[0], Payout::Yes),
        RejectionReason::SecondYes,
    );
    world.resolve(markets[0], Payout::No);
}

#[test]
fn an_event_that_never_began_resolves_nothing() {
    let mut world = World::new();
    let CommandOutcome::Event(event) = world.done(&Command::RegisterEvent { event: EventId(1) })
    else {
        panic!("no event");
    };
    let description = world.description(Some(event));
    let market = world.register(description);
    close(&mut world, &[market]);
    for payout in [Payout::Yes, Payout::Half] {
        let command = Command::ResolveMarket(ResolveMarket {
            market,
            payout,
            replaces: None,
        });
        world.refused(&command, RejectionReason::EventNotActive);
    }
}

#[test]
fn what_was_converted_is_paid_whichever_question_wins() {
    for winner in 0..3 {
        let mut world = World::new();
        let (trader, other) = (world.trader(1, 100), world.trader(2, 100));
        let (event, markets) = world.neg_risk(3);
        for market in &markets {
            world.split(trader, *market, 10);
            world.split(other, *market, 3);
        }
        for questions in [&[0, 1][..], &[2], &[0, 1, 2]] {
            let command = convert(&mut world, trader, event, questions, 200);
            world.done(&command);
        }
        close(&mut world, &markets);
        // First a No, then the Yes, then the other No; redeemed in between.
        let order = [(winner + 1) % 3, winner, (winner + 2) % 3];
        for index in order {
            let payout = if index == winner {
                Payout::Yes
            } else {
                Payout::No
            };
            world.resolve(markets[index], payout);
            for who in [trader, other] {
                let reference = world.reference();
                world.done(&Command::Redeem(Redeem {
                    account: who.account,
                    market: markets[index],
                    reference,
                }));
            }
        }
        let free = world.money(trader).0 + world.money(other).0;
        assert_eq!(free, 200 * UNIT, "everything is paid out");
    }
}
