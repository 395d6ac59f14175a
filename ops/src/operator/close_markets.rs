//! `foretell market close` and `resolve`: closes or resolves one market or many.
//!
//! All input is checked first, since a payout cannot be reversed. A repeat finishes the remaining
//! markets and reports the others as unchanged.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use foretell_model::{MarketState, Payout};
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_wire::operator::{MarketName, MarketRow, OperatorCommand, Resolution, payout_label};
use serde_json::json;

use crate::config::Config;
use crate::exit_codes::REFUSED;
use crate::failure::Failure;
use crate::operator::client;
use crate::operator::market_file::{Ending, SelectedMarket};
use crate::operator::market_names::{self, MarketNames};
use crate::output::{Output, escape, line, shown};
use crate::progress;
use crate::runtime;

/// How long to retry while the exchange is busy, such as cancelling a long book.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// `foretell market close` and `resolve`
///
/// # Errors
/// A market is unknown, has no outcome or was rejected, or the surface cannot be reached.
pub(super) fn end_all(
    config: &Config,
    selected: &[SelectedMarket],
    ending: Ending,
    output: Output,
) -> Result<ExitCode, Failure> {
    let client = client::connect(config)?;
    let refused = runtime::small()?.block_on(async {
        let listed = client.markets("").await?;
        let changes = changes(&listed, selected, ending)?;
        let bar = progress::bar(changes.len(), "markets", output);
        let mut refused = 0_usize;
        for change in &changes {
            let outcome = end(&client, change).await?;
            refused += usize::from(outcome.is_err());
            bar.suspend(|| report(change, &outcome, output));
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok::<_, Failure>(refused)
    })?;
    match refused {
        0 => Ok(ExitCode::SUCCESS),
        refused => Err(Failure::new(format!(
            "{refused} of {} markets were rejected",
            selected.len()
        ))
        .hint("completed changes stay: correct the rest and run it again")
        .code(REFUSED)),
    }
}

/// A market and its requested change.
struct MarketChange<'a> {
    market: &'a MarketRow,
    /// The payout and the label of its outcome; `None`: only close it.
    payout: Option<(Resolution, String)>,
}

/// All requested markets; each must be listed and named once.
fn changes<'a>(
    listed: &'a [MarketRow],
    selected: &[SelectedMarket],
    ending: Ending,
) -> Result<Vec<MarketChange<'a>>, Failure> {
    let names = MarketNames::of(listed);
    let mut conditions = HashSet::new();
    let mut changes = Vec::with_capacity(selected.len());
    let mut problems = Vec::new();
    for selected in selected {
        let change = change(&names, selected, ending).and_then(|change| {
            match conditions.insert(change.market.condition_id) {
                true => Ok(change),
                false => Err("it is named twice".to_owned()),
            }
        });
        match change {
            Ok(change) => changes.push(change),
            Err(problem) => {
                problems.push(format!("{}{:?}: {problem}", selected.at, selected.market))
            }
        }
    }
    if problems.is_empty() {
        return Ok(changes);
    }
    problems.push("nothing was done".to_owned());
    Err(market_names::wrong(problems.join("\n  ")))
}

fn change<'a>(
    names: &MarketNames<'a>,
    selected: &SelectedMarket,
    ending: Ending,
) -> Result<MarketChange<'a>, String> {
    let Ending::Resolve { proposal } = ending else {
        let market = names.find(&selected.market)?;
        return Ok(MarketChange {
            market,
            payout: None,
        });
    };
    let name = selected.payout.clone().ok_or("no outcome is named")?;
    let market = names.find(&selected.market)?;
    let payout = name.among("outcome", &market.outcomes);
    let payout = payout.map_err(|error| error.to_string())?;
    if payout == Payout::Half && market.neg_risk {
        return Err("half pays in plain markets only".to_owned());
    }
    let label = shown(payout_label(payout, &market.outcomes));
    let resolution = Resolution {
        condition_id: market.condition_id,
        payout: name,
        proposal,
    };
    Ok(MarketChange {
        market,
        payout: Some((resolution, label)),
    })
}

/// Whether something changed, or why it was rejected.
type Outcome = Result<bool, String>;

/// Closes an open market, then pays it out if requested.
async fn end(client: &OperatorClient, change: &MarketChange<'_>) -> Result<Outcome, Failure> {
    let MarketRow {
        condition_id,
        status,
        ..
    } = *change.market;
    let is_over = matches!(status, MarketState::Closed | MarketState::Resolved);
    let close = OperatorCommand::CloseMarket(MarketName { condition_id });
    let resolution = change
        .payout
        .as_ref()
        .map(|(resolution, _)| resolution.clone());
    let resolve = resolution.map(OperatorCommand::ResolveMarket);
    let mut changed = false;
    for command in (!is_over).then_some(close).into_iter().chain(resolve) {
        match retry_while_busy(client, &command).await {
            Ok(is_new) => changed |= is_new,
            Err(error @ OperatorError::Rejected { .. }) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Ok(changed))
}

/// Retries a command while the exchange is busy: a market's orders are cancelled in bounded steps,
/// and other commands are rejected until the last step. Returns whether it changed something.
async fn retry_while_busy(
    client: &OperatorClient,
    command: &OperatorCommand,
) -> Result<bool, OperatorError> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        match client.send(command).await {
            Ok(answer) => return Ok(!answer.duplicate),
            Err(OperatorError::Rejected {
                status: 425 | 503, ..
            }) if tokio::time::Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
            Err(error) => return Err(error),
        }
    }
}

/// Prints one line with the result for a market.
fn report(change: &MarketChange<'_>, outcome: &Outcome, output: Output) {
    let condition = change.market.condition_id;
    let slug = shown(&change.market.slug);
    let label = change.payout.as_ref().map(|(_, label)| label);
    if output.json {
        let mut row = json!({ "condition_id": condition.to_string(), "slug": slug });
        match outcome {
            Ok(changed) => {
                row["status"] = label.map_or("closed", |_| "resolved").into();
                row["outcome"] = json!(label);
                row["changed"] = (*changed).into();
            }
            Err(reason) => row["error"] = reason.as_str().into(),
        }
        line(&row.to_string());
        return;
    }
    match outcome {
        Ok(changed) => {
            let status = label.map_or("closed".to_owned(), |label| format!("resolved {label}"));
            let before = if *changed { "" } else { ", nothing to do" };
            line(&format!("{condition}  {slug}  {status}{before}"));
        }
        Err(reason) => {
            let text = format!("{condition}  {slug}  {reason}");
            eprintln!("{}", escape(&text, "\n"));
        }
    }
}
