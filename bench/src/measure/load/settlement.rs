//! Acknowledgements of trading beside the settlement of markets that every account holds, compared
//! with the same trading alone.

use std::path::Path;
use std::time::Duration;

use foretell_engine::JOURNAL_DIRECTORY;
use foretell_engine::client::Client;
use foretell_model::command::ResolveMarket;
use foretell_model::limits::{ACCOUNTS_PER_STEP, MAX_BALANCE};
use foretell_model::{AccountNumber, Command, MarketNumber, Payout, Sequence};

use crate::error::MeasureError;
use crate::harness::order_flow::{OrderFlow, due_by};
use crate::harness::rounds::Rounds;
use crate::harness::running_engine::{RunningEngine, apply, on_generated_journal, status};
use crate::measure::ScratchDir;
use crate::report::{Goal, Report};
use crate::workloads::journals::write_venue;
use crate::workloads::venue::{self, Account, Venue};

/// Maximum ratio of trading's p99 during a settlement to the p99 alone.
const GOAL: f64 = 2.0;
const ALONE: &str = "acknowledgement alone";
const BESIDE: &str = "acknowledgement beside a settlement";

/// Markets that are settled in a round.
const MARKETS: u32 = 4;
/// Most orders and cancels a second: those of a turn fit into the engine's ring.
const MOST_RATE: u32 = 10_000;
/// Length of each half of a round.
const TURN: Duration = Duration::from_millis(400);

/// Accounts that hold shares of every market, and rounds that settle [`MARKETS`] each.
#[derive(Clone, Copy)]
pub(super) struct Settlements {
    pub(super) holders: u32,
    pub(super) rounds: u32,
}

/// Trades in market 0 alone with `rate` orders and cancels a second, at most [`MOST_RATE`], then
/// resolves markets and trades beside their settlement.
pub(super) fn measure(
    report: &mut Report,
    scratch: &ScratchDir,
    settlements: Settlements,
    rate: u32,
) -> Result<(), MeasureError> {
    let rate = f64::from(rate.min(MOST_RATE));
    let scratch = scratch.directory("settlement")?;
    write_holders(&scratch.path().join(JOURNAL_DIRECTORY), settlements)?;
    let engine = RunningEngine::start(on_generated_journal(scratch.path()))?;
    let mut flow = OrderFlow::connect(&engine.ready.socket, 0)?;
    let mut operator = engine.operator()?;
    let ([mut alone, mut beside], mut within) = ([ALONE, BESIDE].map(Rounds::new), 0);
    let (commands, steps) = (due_by(TURN, rate) as u64, settlements.steps());
    for round in 0..settlements.rounds {
        trade(&mut flow, rate, &mut alone, report)?;
        let last = resolve(&mut operator, round)?;
        trade(&mut flow, rate, &mut beside, report)?;
        within += flow.sequence()?.0 - last.0 - commands;
        wait_for(&mut operator, Sequence(last.0 + commands + steps))?;
    }
    engine.stop()?;
    let alone = alone.p99s();
    let beside = beside.p99s().over(&alone);
    let name = "p99 of trading, beside a settlement / alone";
    let goal = Goal::at_most(name, GOAL, beside.ratio());
    report.goals.push(goal);
    report.measures.extend([alone, beside]);
    report.notes.push(format!(
        "settlements of {MARKETS} markets of {} holders beside {rate:.0} commands a second: {within} of \
         {} steps within the turns",
        settlements.holders,
        steps * u64::from(settlements.rounds),
    ));
    Ok(())
}

impl Settlements {
    /// Steps of a round: the last account holds shares.
    fn steps(self) -> u64 {
        u64::from(self.holders.div_ceil(ACCOUNTS_PER_STEP)) * u64::from(MARKETS)
    }
}

/// Writes a journal of accounts that hold a full set of every market but the first.
fn write_holders(journal: &Path, settlements: Settlements) -> Result<(), MeasureError> {
    let markets = 1 + MARKETS * settlements.rounds;
    let accounts = 0..settlements.holders;
    let collateral = MAX_BALANCE.0 / u64::from(settlements.holders);
    let held = |account| (1..markets).map(move |market| (account, market));
    let shares = accounts.clone().flat_map(held);
    let venue = Venue {
        settings: Venue::open_settings(0),
        markets,
        fee_ppm: 0,
        accounts: accounts
            .map(|account| Account::new(venue::wallet(account), collateral))
            .collect(),
        shares: shares
            .map(|(account, market)| ((AccountNumber(account), MarketNumber(market)), 1))
            .collect(),
    };
    let closed = (1..markets).map(|market| Command::CloseMarket {
        market: MarketNumber(market),
    });
    write_venue(journal, &venue, closed)?;
    Ok(())
}

/// Times the acknowledgements of a turn.
fn trade(
    flow: &mut OrderFlow,
    rate: f64,
    lane: &mut Rounds,
    report: &mut Report,
) -> Result<(), MeasureError> {
    let begun = report.elapsed();
    let times = flow
        .open_loop(rate, TURN)?
        .ok_or_else(|| MeasureError::wrong("the ring was full at half load"))?;
    lane.push(report, begun, &times);
    Ok(())
}

/// Resolves the markets of a round; returns the sequence of the last resolution.
fn resolve(operator: &mut Client, round: u32) -> Result<Sequence, MeasureError> {
    let before = status(operator)?.sequence;
    let first = 1 + round * MARKETS;
    for market in first..first + MARKETS {
        let resolution = Command::ResolveMarket(ResolveMarket {
            market: MarketNumber(market),
            payout: Payout::Yes,
            replaces: None,
        });
        apply(operator, market.into(), resolution)?;
    }
    // Steps may already stand between the resolutions; they count as steps.
    Ok(Sequence(before.0 + u64::from(MARKETS)))
}

/// Waits until the engine has executed a sequence.
fn wait_for(operator: &mut Client, sequence: Sequence) -> Result<(), MeasureError> {
    while status(operator)?.sequence < sequence {
        std::thread::yield_now();
    }
    Ok(())
}
