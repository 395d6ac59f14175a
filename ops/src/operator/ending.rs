//! `foretell market close` and `resolve`: the end of one market, or of many.
//!
//! Everything is checked before anything is done, since a payout cannot be taken back. A repeat
//! does what is left: markets that are as they should be are reported and left alone.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;
use crate::operator::arguments::Payout;
use crate::operator::client::{OperatorClient, REFUSED, reason};
use crate::operator::market_file::Wanted;
use crate::operator::market_names::{self, MarketNames};
use crate::output::{Output, escape, field, line};
use crate::process;
use crate::progress;

/// How long an exchange that is busy, as with emptying a long book, is asked again.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// `foretell market close`
///
/// # Errors
/// A market is unknown, nobody answers, or at least one market was refused.
pub(super) fn close(
    config: &Config,
    wanted: &[Wanted],
    output: Output,
) -> Result<ExitCode, Failure> {
    end_all(config, wanted, |_| Ok(None), output)
}

/// `foretell market resolve`
///
/// # Errors
/// A market is unknown or without an outcome, nobody answers, or at least one market was refused.
pub(super) fn resolve(
    config: &Config,
    wanted: &[Wanted],
    output: Output,
) -> Result<ExitCode, Failure> {
    let payout = |wanted: &Wanted| wanted.payout.map(Some).ok_or("no outcome is named");
    end_all(config, wanted, payout, output)
}

/// A market and what is to become of it.
struct Ending {
    condition: String,
    slug: String,
    /// As the exchange said before anything was done.
    status: String,
    /// `None` = it is only closed.
    payout: Option<Payout>,
}

fn end_all(
    config: &Config,
    wanted: &[Wanted],
    payout: impl Fn(&Wanted) -> Result<Option<Payout>, &'static str>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let client = OperatorClient::new(config)?;
    let refused = process::small_runtime()?.block_on(async {
        let listed = client.get("/markets").await?;
        let endings = endings(&listed, wanted, payout)?;
        let bar = progress::bar(endings.len(), "markets", output);
        let mut refused = 0_usize;
        for ending in &endings {
            let outcome = end(&client, ending).await?;
            refused += usize::from(outcome.is_err());
            bar.suspend(|| report(ending, &outcome, output));
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok::<_, Failure>(refused)
    })?;
    match refused {
        0 => Ok(ExitCode::SUCCESS),
        refused => Err(Failure::new(format!(
            "{refused} of {} markets were refused",
            wanted.len()
        ))
        .hint("what was done stays done: correct the rest and run it again")
        .code(REFUSED)),
    }
}

/// Every market that is meant, found among those listed and named once.
fn endings(
    listed: &Value,
    wanted: &[Wanted],
    payout: impl Fn(&Wanted) -> Result<Option<Payout>, &'static str>,
) -> Result<Vec<Ending>, Failure> {
    let names = MarketNames::of(listed);
    let mut conditions = HashSet::new();
    let mut endings = Vec::with_capacity(wanted.len());
    let mut problems = Vec::new();
    for wanted in wanted {
        let ending = payout(wanted)
            .map_err(str::to_owned)
            .and_then(|payout| Ending::of(names.find(&wanted.market)?, payout))
            .and_then(|ending| match conditions.insert(ending.condition.clone()) {
                true => Ok(ending),
                false => Err("it is named twice".to_owned()),
            });
        match ending {
            Ok(ending) => endings.push(ending),
            Err(problem) => problems.push(format!("{}{:?}: {problem}", wanted.at, wanted.market)),
        }
    }
    if problems.is_empty() {
        return Ok(endings);
    }
    problems.push("nothing was done".to_owned());
    Err(market_names::wrong(problems.join("\n  ")))
}

impl Ending {
    /// What is to become of a listed market, if the exchange can do that.
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

/// Whether something had to be done, or why it was refused.
type Outcome = Result<bool, String>;

/// Closes a market if it is open, and then pays it out if it shall be.
async fn end(client: &OperatorClient, ending: &Ending) -> Result<Outcome, Failure> {
    let named = json!({ "condition_id": ending.condition });
    let is_open = !matches!(ending.status.as_str(), "closed" | "resolved");
    let mut changed = false;
    if is_open {
        match insist(client, "/markets/close", &named).await? {
            Ok(answer) => changed |= answer["duplicate"] != true,
            Err(reason) => return Ok(Err(reason)),
        }
    }
    if let Some(payout) = ending.payout {
        let body = json!({ "condition_id": ending.condition, "payout": word(payout) });
        match insist(client, "/markets/resolve", &body).await? {
            Ok(answer) => changed |= answer["duplicate"] != true,
            Err(reason) => return Ok(Err(reason)),
        }
    }
    Ok(Ok(changed))
}

/// Sends a command until the exchange is not too busy for it. A market's orders end in bounded
/// steps, and until the last of them nothing else is taken.
async fn insist(
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

/// One line on what became of a market.
fn report(ending: &Ending, outcome: &Outcome, output: Output) {
    let Ending {
        condition, slug, ..
    } = ending;
    let payout = ending.payout.map(word);
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
