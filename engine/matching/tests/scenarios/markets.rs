//! Lifecycle and rules of markets.

use foretell_model::command::{
    ArchiveMarket, PauseMarket, RegisterMarket, ResolveMarket, ResumeMarket, SetFee,
    SetMinimumSize, SetTick,
};
use foretell_model::event::TickSet;
use foretell_model::{
    Command, CommandOutcome, Event, EventNumber, FeeSchedule, Hold, Lots, MarketNumber,
    MarketState, OrderStatus, Outcome, Payout, RejectionReason, Side, Tick, TokenId,
};

use crate::world::World;

/// Allowed transitions of each state: activate, pause, resume, close, resolve.
#[test]
fn the_life_of_a_market_has_one_direction() {
    let table = [
        (MarketState::Registered, [true, false, false, true, false]),
        (MarketState::Active, [false, true, false, true, false]),
        (MarketState::Paused, [false, false, true, true, false]),
        (MarketState::Closed, [false, false, false, false, true]),
        (MarketState::Resolved, [false, false, false, false, false]),
    ];
    for (state, allowed) in table {
        for (index, is_allowed) in allowed.into_iter().enumerate() {
            let mut world = World::new();
            let description = world.description(None);
            let market = world.register(description);
            bring_to(&mut world, market, state);
            let command = [
                Command::ActivateMarket { market },
                Command::PauseMarket(PauseMarket {
                    market,
                    hold: Hold::Operator,
                }),
                Command::ResumeMarket(ResumeMarket {
                    market,
                    hold: Hold::Operator,
                }),
                Command::CloseMarket { market },
                Command::ResolveMarket(ResolveMarket {
                    market,
                    payout: Payout::Half,
                    replaces: None,
                }),
            ][index];
            if is_allowed {
                world.done(&command);
            } else {
                let details = world.refused(&command, RejectionReason::InvalidTransition);
                assert_eq!(details, [u64::from(state.code()), 0]);
            }
        }
    }
}

fn bring_to(world: &mut World, market: MarketNumber, state: MarketState) {
    if state == MarketState::Registered {
        return;
    }
    world.done(&Command::ActivateMarket { market });
    if state == MarketState::Paused {
        world.done(&Command::PauseMarket(PauseMarket {
            market,
            hold: Hold::Operator,
        }));
    }
    if matches!(state, MarketState::Closed | MarketState::Resolved) {
        world.done(&Command::CloseMarket { market });
    }
    if state == MarketState::Resolved {
        world.resolve(market, Payout::Yes);
    }
}

#[test]
fn orders_need_an_active_market() {
    for (state, reason) in [
        (MarketState::Registered, RejectionReason::MarketNotReady),
        (MarketState::Paused, RejectionReason::MarketPaused),
        (MarketState::Closed, RejectionReason::MarketClosed),
        (MarketState::Resolved, RejectionReason::MarketClosed),
    ] {
        let mut world = World::new();
        let trader = world.trader(1, 10);
        let description = world.description(None);
        let market = world.register(description);
        bring_to(&mut world, market, state);
        let order = world.limit(trader, market, (Side::Buy, Outcome::Yes), 1, 50);
        world.refused(&Command::PlaceOrder(order), reason);
    }
}

#[test]
fn registration_is_idempotent_by_condition() {
    let mut world = World::new();
    let first = world.description(None);
    let market = world.register(first);
    let register = |market| Command::RegisterMarket(market);
    // Tick, minimum and fee have commands of their own and are not compared.
    let same = RegisterMarket {
        tick: Tick::Tenth,
        minimum_size: Lots(0),
        ..first
    };
    assert_eq!(
        world.repeated(&register(same)),
        (0, 0, CommandOutcome::Market(market))
    );
    let [yes, no] = first.tokens;
    let fresh = world.description(None);
    let fee = |rate_ppm, exponent| FeeSchedule { rate_ppm, exponent };
    for (market, reason) in [
        (
            RegisterMarket {
                tokens: [no, yes],
                ..first
            },
            RejectionReason::MarketDiffers,
        ),
        (
            RegisterMarket {
                event: Some(EventNumber(0)),
                ..first
            },
            RejectionReason::MarketDiffers,
        ),
        (
            RegisterMarket {
                tokens: [fresh.tokens[0], yes],
                ..fresh
            },
            RejectionReason::TokenTaken,
        ),
        (
            RegisterMarket {
                tokens: [TokenId::ZERO; 2],
                ..fresh
            },
            RejectionReason::TokenTaken,
        ),
        (
            RegisterMarket {
                fee: fee(1_000_001, 0),
                ..fresh
            },
            RejectionReason::InvalidFee,
        ),
        (
            RegisterMarket {
                fee: fee(0, 3),
                ..fresh
            },
            RejectionReason::InvalidFee,
        ),
        (
            RegisterMarket {
                minimum_size: Lots(0),
                ..fresh
            },
            RejectionReason::InvalidMinimumSize,
        ),
        (
            RegisterMarket {
                minimum_size: Lots(100_000_000_001),
                ..fresh
            },
            RejectionReason::InvalidMinimumSize,
        ),
        (
            RegisterMarket {
                event: Some(EventNumber(0)),
                ..fresh
            },
            RejectionReason::UnknownEvent,
        ),
    ] {
        world.refused(&register(market), reason);
    }
}

#[test]
fn rules_change_by_command_until_the_market_is_over() {
    let mut world = World::new();
    let market = world.market();
    let tick = |tick| Command::SetTick(SetTick { market, tick });
    let minimum = |lots| {
        Command::SetMinimumSize(SetMinimumSize {
            market,
            minimum_size: Lots(lots),
        })
    };
    let fee = |rate_ppm| {
        Command::SetFee(SetFee {
            market,
            fee: FeeSchedule {
                rate_ppm,
                exponent: 1,
            },
        })
    };
    for coarse in [Tick::Tenth, Tick::Hundredth] {
        assert_eq!(
            world.refused(&tick(coarse), RejectionReason::InvalidTick),
            [2, 0]
        );
    }
    world.done(&tick(Tick::TenThousandth));
    world.done(&minimum(500));
    world.repeated(&minimum(500));
    world.refused(&minimum(0), RejectionReason::InvalidMinimumSize);
    world.done(&fee(20_000));
    world.repeated(&fee(20_000));
    world.refused(&fee(1_000_001), RejectionReason::InvalidFee);
    world.done(&Command::CloseMarket { market });
    for command in [tick(Tick::TenThousandth), minimum(1), fee(1)] {
        world.refused(&command, RejectionReason::InvalidTransition);
    }
    let archive = |archived| Command::ArchiveMarket(ArchiveMarket { market, archived });
    world.repeated(&archive(false));
    world.done(&archive(true));
    world.repeated(&archive(true));
    let unknown = Command::ArchiveMarket(ArchiveMarket {
        market: MarketNumber(9),
        archived: true,
    });
    world.refused(&unknown, RejectionReason::UnknownMarket);
}

#[test]
fn a_finer_tick_lets_finer_prices_between_resting_orders() {
    let mut world = World::new();
    let market = world.market();
    let (maker, taker) = (world.trader(1, 100), world.trader(2, 100));
    let what = (Side::Buy, Outcome::No);
    let far = world.rest(maker, market, what, 1, 49);
    let near = world.rest(maker, market, what, 1, 50);
    let tick = Tick::TenThousandth;
    world.done(&Command::SetTick(SetTick { market, tick }));
    assert_eq!(world.events, [Event::TickSet(TickSet { market, tick })]);
    let mut between = world.limit(maker, market, what, 1, 50);
    between.maker_amount = 495_500;
    assert_eq!(world.place(between).status, OrderStatus::Live);
    let between = world.exchange.sequence().0;
    let order = world.limit(taker, market, (Side::Buy, Outcome::Yes), 3, 51);
    world.place(order);
    let met: Vec<_> = world
        .fills()
        .iter()
        .map(|fill| fill.maker_order.0)
        .collect();
    assert_eq!(met, [near, between, far]);
}
