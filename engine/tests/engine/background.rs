//! Settlement and the payment of rebates: step by step between other commands, through every end of
//! the engine, and once.

use std::collections::BTreeMap;
use std::time::Duration;

use foretell_link::Role;
use foretell_model::command::{Redeem, ResolveMarket, SetFee};
use foretell_model::event::{RebatePaid, Redeemed};
use foretell_model::{
    AccountNumber, Command, Event, FeeSchedule, MarketNumber, Micros, Outcome, Payout, Verdict,
};

use crate::harness::{Engine, MACHINES, OwnedFrame, config, frames};
use crate::recorded::Recording;
use crate::world::World;

/// More than two steps look at.
const HOLDERS: u32 = 2_500;

/// What each account was paid for its shares in a market.
fn settled(frames: &[OwnedFrame], wanted: MarketNumber) -> BTreeMap<AccountNumber, Vec<Micros>> {
    let mut paid: BTreeMap<AccountNumber, Vec<Micros>> = BTreeMap::new();
    for event in frames.iter().flat_map(|frame| &frame.events) {
        if let Event::Redeemed(Redeemed {
            account,
            market,
            payout,
            ..
        }) = event
            && *market == wanted
        {
            paid.entry(*account).or_default().push(*payout);
        }
    }
    paid
}

/// Each holder has the value of its full sets, once.
fn assert_paid_once(frames: &[OwnedFrame], market: MarketNumber, holders: &[AccountNumber]) {
    let paid = settled(frames, market);
    for (shares, holder) in (1..).zip(holders) {
        assert_eq!(paid[holder], [Micros(shares * 1_000_000)], "{holder}");
    }
    assert_eq!(paid.len(), holders.len());
    let ends = frames.iter().flat_map(|frame| &frame.events);
    let ends = ends.filter(|event| matches!(event, Event::MarketSettled(_)));
    assert_eq!(ends.count(), 1);
}

fn steps(frames: &[OwnedFrame]) -> usize {
    let is_step = |frame: &&OwnedFrame| frame.command == Command::Step;
    frames.iter().filter(is_step).count()
}

/// Waits until the market's settlement has ended.
fn wait_until_settled(engine: &Engine, directory: &std::path::Path) {
    let mut client = engine.client(Role::Reader);
    loop {
        client.status();
        let all = frames(directory);
        let events = all.iter().flat_map(|frame| &frame.events);
        if events
            .rev()
            .any(|event| matches!(event, Event::MarketSettled(_)))
        {
            return;
        }
    }
}

/// A market of many holders that is about to be resolved.
fn closed_market(recording: &mut Recording) -> (World, Vec<AccountNumber>) {
    let world = recording.world(|_| {});
    recording.open(&world);
    let market = world.market;
    let holders = recording.holders(market, HOLDERS);
    recording.apply(Command::CloseMarket { market });
    (world, holders)
}

#[test]
fn all_holders_are_paid_by_steps_between_other_commands() {
    for (threads, waiting) in MACHINES {
        let directory = tempfile::tempdir().unwrap();
        let mut recording = Recording::begin(Duration::from_secs(60));
        let (world, holders) = closed_market(&mut recording);
        recording.write(directory.path());
        let mut config = config(directory.path());
        (config.threads, config.waiting) = (threads, waiting);
        let engine = Engine::start(config);
        let (market, payout) = (world.market, Payout::Yes);
        let mut operator = engine.client(Role::Operator);
        operator.ask(
            Command::ResolveMarket(ResolveMarket {
                market,
                payout,
                replaces: None,
            }),
            &[],
        );
        // Nothing waits for the settlement: this is answered, and is refused as ever.
        let deposit = world.traders[0].cancel_all();
        let reply = operator.ask(deposit, &[]);
        assert!(
            matches!(reply.verdict, Verdict::Repeated { .. }),
            "{reply:?}"
        );
        wait_until_settled(&engine, directory.path());
        engine.stop();
        let journal = frames(directory.path());
        assert_paid_once(&journal, market, &holders);
        assert_eq!(steps(&journal), 3);
    }
}

#[test]
fn a_start_continues_where_the_last_engine_was_killed() {
    // Killed with this many steps in the journal.
    for done in 0..3 {
        let directory = tempfile::tempdir().unwrap();
        let mut recording = Recording::begin(Duration::from_secs(60));
        let (world, holders) = closed_market(&mut recording);
        let (market, payout) = (world.market, Payout::Half);
        recording.apply(Command::ResolveMarket(ResolveMarket {
            market,
            payout,
            replaces: None,
        }));
        for _ in 0..done {
            recording.apply(Command::Step);
        }
        // One of the last asks itself.
        let (account, reference) = (holders[2_400], foretell_model::Reference([9; 32]));
        recording.apply(Command::Redeem(Redeem {
            account,
            market,
            reference,
        }));
        recording.write(directory.path());
        let engine = Engine::start(config(directory.path()));
        wait_until_settled(&engine, directory.path());
        engine.stop();
        let journal = frames(directory.path());
        assert_paid_once(&journal, market, &holders);
        assert_eq!(steps(&journal), 3);
    }
}

#[test]
fn accrued_rebates_are_paid_once_however_often_the_engine_stops() {
    let directory = tempfile::tempdir().unwrap();
    let mut recording = Recording::begin(Duration::from_secs(60));
    let world = recording.world(|terms| terms.rebate_ppm = 250_000);
    let (market, fee) = (
        world.market,
        FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1,
        },
    );
    recording.apply(Command::SetFee(SetFee { market, fee }));
    recording.open(&world);
    recording.holders(market, HOLDERS);
    let maker = world.buy(1, 0, 100).of(Outcome::No).at("0.4");
    let taker = world.buy(2, 1, 100).at("0.6");
    for order in [maker, taker] {
        recording.apply(order.place());
    }
    recording.apply(Command::PayRebates);
    let before = recording.write(directory.path());
    let mut journal = frames(directory.path());
    while !journal.iter().any(|frame| {
        let ends = |event: &Event| matches!(event, Event::RebatePaymentEnded { .. });
        frame.events.iter().any(ends)
    }) {
        let engine = Engine::start(config(directory.path()));
        engine.client(Role::Reader).status();
        engine.stop();
        journal = frames(directory.path());
    }
    let paid: Vec<Event> = journal
        .iter()
        .skip(usize::try_from(before.0).unwrap())
        .flat_map(|frame| frame.events.clone())
        .collect();
    let (account, amount) = (world.traders[0].account, Micros(240_000));
    let expected = [
        Event::RebatePaid(RebatePaid { account, amount }),
        Event::RebatePaymentEnded { paid: amount },
    ];
    assert_eq!(paid, expected);
    assert_eq!(steps(&journal), 3);
}
