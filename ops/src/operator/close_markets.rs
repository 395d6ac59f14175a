//! `foretell market close` and `resolve`: closes or resolves one market or many.
//!
//! All input is checked first, since a payout cannot be reversed. A repeat finishes the remaining
//! markets and reports the others as unchanged.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use foretell_model::{ConditionId, MarketState, Payout};
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_wire::operator::{
    MarketName, MarketRow, OperatorCommand, PayoutName, Resolution, payout_label,
};
use serde_json::json;

use crate::config::Config;
use crate::exit_codes::REFUSED;
use crate::failure::Failure;
use crate::operator::client;
use crate::operator::market_file::SelectedMarket;
use crate::operator::market_names::{self, MarketNames};
use crate::output::{Output, escape, line, shown};
use crate::progress;
use crate::runtime;

/// How long to retry while the exchange is busy, such as cancelling a long book.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// `foretell market close`
///
/// # Errors
/// A market is unknown or was rejected, or the surface cannot be reached.
pub(super) fn close(
    config: &Config,
    selected: &[SelectedMarket],
    output: Output,
) -> Result<ExitCode, Failure> {
    end_all(config, selected, |_| Ok(None), None, output)
}

/// `foretell market resolve`; `proposal` is the disputed one that the payout replaces.
///
/// # Errors
/// A market is unknown, has no outcome or was rejected, or the surface cannot be reached.
pub(super) fn resolve(
    config: &Config,
    selected: &[SelectedMarket],
    proposal: Option<u64>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let payout = |selected: &SelectedMarket| {
        let payout = selected.payout.clone();
        payout.map(Some).ok_or("no outcome is named")
    };
    end_all(config, selected, payout, proposal, output)
}

/// A market and its requested change.
struct MarketChange {
    condition: ConditionId,
    slug: String,
    /// Status before the change.
    status: MarketState,
    /// `None`: only close it.
    payout: Option<RequestedPayout>,
}

/// A payout as it was named, and the label of its outcome.
struct RequestedPayout {
    name: PayoutName,
    label: String,
}

fn end_all(
    config: &Config,
    selected: &[SelectedMarket],
    payout: impl Fn(&SelectedMarket) -> Result<Option<PayoutName>, &'static str>,
    proposal: Option<u64>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let client = client::connect(config)?;
    let refused = runtime::small()?.block_on(async {
        let listed = client.markets("").await?;
        let changes = changes(&listed, selected, payout)?;
        let bar = progress::bar(changes.len(), "markets", output);
        let mut refused = 0_usize;
        for change in &changes {
            let outcome = end(&client, change, proposal).await?;
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
            "{refused} of {} markets were refused",
            selected.len()
        ))
        .hint("completed changes stay: correct the rest and run it again")
        .code(REFUSED)),
    }
}

/// All requested markets; each must be listed and named once.
fn changes(
    listed: &[MarketRow],
    selected: &[SelectedMarket],
    payout: impl Fn(&SelectedMarket) -> Result<Option<PayoutName>, &'static str>,
) -> Result<Vec<MarketChange>, Failure> {
    let names = MarketNames::of(listed);
    let mut conditions = HashSet::new();
    let mut changes = Vec::with_capacity(selected.len());
    let mut problems = Vec::new();
    for selected in selected {
        let change = payout(selected)
            .map_err(str::to_owned)
            .and_then(|payout| MarketChange::of(names.find(&selected.market)?, payout))
            .and_then(|change| match conditions.insert(change.condition) {
                true => Ok(change),
                false => Err("it is named twice".to_owned()),
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

impl MarketChange {
    /// The change for a listed market, if its status allows it.
    fn of(market: &MarketRow, name: Option<PayoutName>) -> Result<Self, String> {
        let payout = name.map(|name| RequestedPayout::of(market, name));
        Ok(Self {
            condition: market.condition_id,
            slug: shown(&market.slug),
            status: market.status,
            payout: payout.transpose()?,
        })
    }
}

impl RequestedPayout {
    fn of(market: &MarketRow, name: PayoutName) -> Result<Self, String> {
        let payout = name.among("outcome", &market.outcomes);
        let payout = payout.map_err(|error| error.to_string())?;
        if payout == Payout::Half && market.neg_risk {
            return Err("half pays in plain markets only".to_owned());
        }
        let label = shown(payout_label(payout, &market.outcomes));
        Ok(Self { name, label })
    }
}

/// Whether something changed, or why it was rejected.
type Outcome = Result<bool, String>;

/// Closes an open market, then pays it out if requested.
async fn end(
    client: &OperatorClient,
    change: &MarketChange,
    proposal: Option<u64>,
) -> Result<Outcome, Failure> {
    let condition_id = change.condition;
    let is_over = matches!(change.status, MarketState::Closed | MarketState::Resolved);
    let close = OperatorCommand::CloseMarket(MarketName { condition_id });
    let resolve = change.payout.as_ref().map(|payout| {
        OperatorCommand::ResolveMarket(Resolution {
            condition_id,
            payout: payout.name.clone(),
            proposal,
        })
    });
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
fn report(change: &MarketChange, outcome: &Outcome, output: Output) {
    let MarketChange {
        condition, slug, ..
    } = change;
    let payout = change.payout.as_ref().map(|payout| &payout.label);
    if output.json {
        let mut row = json!({ "condition_id": condition.to_string(), "slug": slug });
        match outcome {
            Ok(changed) => {
                row["status"] = if payout.is_some() {
                    "resolved"
                } else {
                    "closed"
                }
                .into();
                row["outcome"] = json!(payout);
                row["changed"] = (*changed).into();
            }
            Err(reason) => row["error"] = reason.as_str().into(),
        }
        line(&row.to_string());
        return;
    }
    match outcome {
        Ok(changed) => {
            let did = payout.map_or("closed".to_owned(), |payout| format!("resolved {payout}"));
            let before = if *changed { "" } else { ", nothing to do" };
            line(&format!("{condition}  {slug}  {did}{before}"));
        }
        Err(reason) => {
            let told = format!("{condition}  {slug}  {reason}");
            eprintln!("{}", escape(&told, "\n"));
        }
    }
}
