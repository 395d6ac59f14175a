//! Acknowledgements of trading beside the settlement of markets that every account holds, compared
//! with the same trading alone.

use std::path::Path;
use std::time::Duration;

use clap::Args;
use foretell_engine::JOURNAL_DIRECTORY;
use foretell_engine::client::Client;
use foretell_model::command::ResolveMarket;
use foretell_model::limits::{ACCOUNTS_PER_STEP, MAX_BALANCE};
use foretell_model::{AccountNumber, Command, MarketNumber, Payout, Sequence};

use super::ScratchDir;
use crate::error::MeasureError;
use crate::harness::order_flow::{OrderFlow, due_by};
use crate::harness::rounds::Rounds;
use crate::harness::running_engine::{RunningEngine, apply, on_generated_journal, status};
use crate::report::{Goal, Report};
use crate::workloads::journals::write_venue;
use crate::workloads::venue::{self, Account, Venue};

/// Maximum ratio of trading's p99 during a settlement to the p99 alone.
const GOAL: f64 = 2.0;
const ALONE: &str = "acknowledgement alone";
const BESIDE: &str = "acknowledgement beside a settlement";

/// Arguments of `foretell-bench settle`.
#[derive(Debug, Args)]
pub struct SettleScope {
    /// Accounts, each of which holds shares in every market
    #[arg(long, default_value_t = 77_000, value_parser = clap::value_parser!(u32).range(1..))]
    holders: u32,
    /// Markets that are settled in a round
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    markets: u32,
    /// Rounds; medians are reported
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Orders and cancels a second
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: u32,
    /// Milliseconds of each half of a round
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    turn_ms: u64,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Trades in market 0 alone, then resolves markets and trades beside their settlement.
pub(super) fn measure(scope: &SettleScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("settle", "disk");
    let scratch = scope.scratch.directory("settle")?;
    write_holders(&scratch.path().join(JOURNAL_DIRECTORY), scope)?;
    let engine = RunningEngine::start(on_generated_journal(scratch.path()))?;
    let mut flow = OrderFlow::connect(&engine.ready.socket, 0)?;
    let mut operator = engine.operator()?;
    let ([mut alone, mut beside], mut steps) = ([ALONE, BESIDE].map(Rounds::new), 0);
    let (rate, turn) = (scope.rate.into(), Duration::from_millis(scope.turn_ms));
    for round in 0..scope.rounds {
        trade(&mut flow, rate, turn, &mut alone, &mut report)?;
        let last = resolve(&mut operator, scope, round)?;
        trade(&mut flow, rate, turn, &mut beside, &mut report)?;
        let commands = due_by(turn, rate) as u64;
        steps += flow.sequence()?.0 - last.0 - commands;
        wait_for(&mut operator, Sequence(last.0 + commands + steps_of(scope)))?;
    }
    engine.stop()?;
    let alone = alone.p99s();
    let beside = beside.p99s().over(&alone);
    let name = "p99 of trading, beside a settlement / alone";
    let goal = Goal::at_most(name, GOAL, beside.ratio());
    report.goals.push(goal);
    report.measures.extend([alone, beside]);
    report.rounds = scope.rounds as usize;
    report.scope = format!(
        "{} holders of each of {} markets a round, {} commands a second; {steps} of {} steps within \
         the turns",
        scope.holders,
        scope.markets,
        scope.rate,
        steps_of(scope) * u64::from(scope.rounds),
    );
    Ok(report.end())
}

/// Writes a journal of accounts that hold a full set of every market but the first.
fn write_holders(journal: &Path, scope: &SettleScope) -> Result<(), MeasureError> {
    let markets = 1 + scope.markets * scope.rounds;
    let accounts = 0..scope.holders;
    let collateral = MAX_BALANCE.0 / u64::from(scope.holders);
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
    turn: Duration,
    lane: &mut Rounds,
    report: &mut Report,
) -> Result<(), MeasureError> {
    let begun = report.elapsed();
    let times = flow.open_loop(rate, turn)?.ok_or_else(|| {
        MeasureError::Wrong("the ring was full: choose a lower --rate".to_owned())
    })?;
    lane.push(report, begun, &times);
    Ok(())
}

/// Resolves the markets of a round; returns the sequence of the last resolution.
fn resolve(
    operator: &mut Client,
    scope: &SettleScope,
    round: u32,
) -> Result<Sequence, MeasureError> {
    let before = status(operator)?.sequence;
    let first = 1 + round * scope.markets;
    for market in first..first + scope.markets {
        let resolution = Command::ResolveMarket(ResolveMarket {
            market: MarketNumber(market),
            payout: Payout::Yes,
            replaces: None,
        });
        apply(operator, market.into(), resolution)?;
    }
    // Steps may already stand between the resolutions; they count as steps.
    Ok(Sequence(before.0 + u64::from(scope.markets)))
}

/// Steps that settle the markets of a round: the last account holds shares.
fn steps_of(scope: &SettleScope) -> u64 {
    u64::from(scope.holders.div_ceil(ACCOUNTS_PER_STEP)) * u64::from(scope.markets)
}

/// Waits until the engine has executed a sequence.
fn wait_for(operator: &mut Client, sequence: Sequence) -> Result<(), MeasureError> {
    while status(operator)?.sequence < sequence {
        std::thread::yield_now();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_holder_is_paid_beside_trading() {
        let scope = SettleScope {
            holders: 3_000,
            markets: 2,
            rounds: 1,
            rate: 1_000,
            turn_ms: 50,
            scratch: ScratchDir::default(),
        };
        let report = measure(&scope).unwrap();
        assert!(
            report.measures[1].ratio().unwrap() > 0.0
                && report.scope.ends_with("of 6 steps within the turns"),
            "{report}"
        );
    }
}
