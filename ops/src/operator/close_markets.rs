//! `foretell market close` and `resolve`: closes or resolves one market or many.
//!
//! All input is checked first, since a payout cannot be reversed. A repeat finishes the remaining
//! markets and reports the others as unchanged.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;
use crate::operator::arguments::Payout;
use crate::operator::client::{OperatorClient, REFUSED, reason};
use crate::operator::market_file::SelectedMarket;
use crate::operator::market_names::{self, MarketNames};
use crate::output::{Output, escape, field, line};
use crate::process;
use crate::progress;

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
    end_all(config, selected, |_| Ok(None), output)
}

/// `foretell market resolve`
///
/// # Errors
/// A market is unknown, has no outcome or was rejected, or the surface cannot be reached.
pub(super) fn resolve(
    config: &Config,
    selected: &[SelectedMarket],
    output: Output,
) -> Result<ExitCode, Failure> {
    let payout = |selected: &SelectedMarket| selected.payout.map(Some).ok_or("no outcome is named");
    end_all(config, selected, payout, output)
}

/// A market and its requested change.
struct MarketChange {
    condition: String,
    slug: String,
    /// Status before the change.
    status: String,
    /// `None`: only close it.
    payout: Option<Payout>,
}

fn end_all(
    config: &Config,
    selected: &[SelectedMarket],
    payout: impl Fn(&SelectedMarket) -> Result<Option<Payout>, &'static str>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let client = OperatorClient::new(config)?;
    let refused = process::small_runtime()?.block_on(async {
        let listed = client.get("/markets").await?;
        let changes = changes(&listed, selected, payout)?;
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
            "{refused} of {} markets were refused",
            selected.len()
        ))
        .hint("completed changes stay: correct the rest and run it again")
        .code(REFUSED)),
    }
}

/// All requested markets; each must be listed and named once.
fn changes(
    listed: &Value,
    selected: &[SelectedMarket],
    payout: impl Fn(&SelectedMarket) -> Result<Option<Payout>, &'static str>,
) -> Result<Vec<MarketChange>, Failure> {
    let names = MarketNames::of(listed);
    let mut conditions = HashSet::new();
    let mut changes = Vec::with_capacity(selected.len());
    let mut problems = Vec::new();
    for selected in selected {
        let change = payout(selected)
            .map_err(str::to_owned)
            .and_then(|payout| MarketChange::of(names.find(&selected.market)?, payout))
            .and_then(|change| match conditions.insert(change.condition.clone()) {
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
    fn of(market: &Value, payout: Option<Payout>) -> Result<Self, String> {
        if payout == Some(Payout::Half) && market["negRisk"] == true {
            return Err("half pays in plain markets only".to_owned());
        }
        Ok(Self {
            condition: field(market, "conditionId"),
            slug: field(market, "slug"),
            status: field(market, "status"),
            payout,
        })
    }
}

/// Whether something changed, or why it was rejected.
type Outcome = Result<bool, String>;

/// Closes an open market, then pays it out if requested.
async fn end(client: &OperatorClient, change: &MarketChange) -> Result<Outcome, Failure> {
    let named = json!({ "condition_id": change.condition });
    let is_open = !matches!(change.status.as_str(), "closed" | "resolved");
    let mut changed = false;
    if is_open {
        match retry_while_busy(client, "/markets/close", &named).await? {
            Ok(answer) => changed |= answer["duplicate"] != true,
            Err(reason) => return Ok(Err(reason)),
        }
    }
    if let Some(payout) = change.payout {
        let body = json!({ "condition_id": change.condition, "payout": word(payout) });
        match retry_while_busy(client, "/markets/resolve", &body).await? {
            Ok(answer) => changed |= answer["duplicate"] != true,
            Err(reason) => return Ok(Err(reason)),
        }
    }
    Ok(Ok(changed))
}

/// Retries a command while the exchange is busy: a market's orders are cancelled in bounded steps,
/// and other commands are rejected until the last step.
async fn retry_while_busy(
    client: &OperatorClient,
    path: &str,
    body: &Value,
) -> Result<Result<Value, String>, Failure> {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let (status, answer) = client.try_post(path, body).await?;
        match status {
            200 => return Ok(Ok(answer)),
            425 | 503 if tokio::time::Instant::now() < deadline => {
                tokio::time::sleep(PAUSE).await;
            }
            _ => return Ok(Err(format!("{} ({status})", reason(&answer)))),
        }
    }
}

/// Prints one line with the result for a market.
fn report(change: &MarketChange, outcome: &Outcome, output: Output) {
    let MarketChange {
        condition, slug, ..
    } = change;
    let payout = change.payout.map(word);
    if output.json {
        let named = json!({ "condition_id": condition, "slug": slug });
        let told = match outcome {
            Ok(changed) => json!({
                "status": if payout.is_some() { "resolved" } else { "closed" },
                "outcome": payout,
                "changed": changed,
            }),
            Err(reason) => json!({ "error": reason }),
        };
        let mut row = named;
        super::merge(&mut row, told);
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

const fn word(payout: Payout) -> &'static str {
    match payout {
        Payout::Yes => "yes",
        Payout::No => "no",
        Payout::Half => "half",
    }
}
