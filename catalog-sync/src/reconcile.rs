//! Bringing the exchange in step with the catalog: read both sides, compare, give the commands.

mod report;

use std::collections::HashMap;
use std::sync::Arc;

use foretell_catalog::{Catalog, CatalogError};
use foretell_model::ConditionId;
use thiserror::Error;
use tokio::task::JoinSet;

use crate::difference::{Allowance, Finding, Group, Note, Present, Steps, difference};
use crate::exchange::{Command, Exchange, ExchangeFailure};
use crate::progress::Progress;
use crate::words;

pub use report::{Given, Reconciled};

/// Units read at once.
const BATCH: usize = 256;
/// Markets that are asked for one by one; of more, all that the exchange has are read.
const FEW: usize = 512;
/// Requests under way at once: a durable command mostly waits for its turn on the disk.
const AT_ONCE: usize = 32;

/// Why a comparison ended early. What was done until then is done; the next one goes on.
#[derive(Debug, Error)]
pub enum ReconcileFailure {
    /// The catalog cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The exchange is away, or not what it should be.
    #[error(transparent)]
    Exchange(#[from] ExchangeFailure),
    /// It cannot be told whose turn it is.
    #[error("waiting for our turn: {0}")]
    Turn(std::io::Error),
}

/// Whether commands are given or only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are given.
    Apply,
    /// They are only counted.
    Look,
}

/// Compares what changed in the catalog after the change `after` with the exchange, and in
/// [`Mode::Apply`] makes them agree. After a crash of either side, or an early end, the same call does
/// the rest. Costs about what changed: of the exchange only the markets of what changed are read, or
/// all of it, once, when that is much.
///
/// What changed in the exchange alone is seen when everything is compared, with `after` 0.
///
/// # Errors
/// See [`ReconcileFailure`].
pub async fn reconcile(
    catalog: &Catalog,
    exchange: &Arc<Exchange>,
    after: u64,
    allowance: &mut Allowance,
    mode: Mode,
    progress: &Progress,
) -> Result<Reconciled, ReconcileFailure> {
    let mut reconciled = Reconciled::since(after);
    let mut units = catalog.changes_after(after, BATCH)?;
    if units.is_empty() {
        return Ok(reconciled);
    }
    let mut whole = None;
    progress.begin("comparing with the exchange");
    while let Some(last) = units.last().map(|unit| unit.change) {
        let groups: Vec<Group> = units.iter().map(words::group).collect();
        let changes: Vec<u64> = units.iter().map(|unit| unit.change).collect();
        let few = if after > 0 && whole.is_none() {
            few(exchange, &groups).await?
        } else {
            None
        };
        let present = match (&few, &mut whole) {
            (Some(few), _) => few,
            (None, Some(whole)) => whole,
            (None, whole) => {
                let present = whole.insert(Present::of(exchange.markets().await?));
                allowance.live = present.live();
                present
            }
        };
        let groups = changes.into_iter().zip(groups);
        let (jobs, names) = compare(groups, present, allowance, &mut reconciled);
        match mode {
            Mode::Look => jobs
                .iter()
                .flatten()
                .for_each(|command| reconciled.count(command, true)),
            Mode::Apply => apply(exchange, jobs, &names, &mut reconciled).await?,
        }
        reconciled.reached(last);
        progress.advance(units.iter().map(|unit| unit.markets.len()).sum());
        units = catalog.changes_after(last, BATCH)?;
    }
    Ok(reconciled)
}

type Names = HashMap<ConditionId, (u64, String)>;

/// What the exchange has of these groups, when they are few.
async fn few(exchange: &Exchange, groups: &[Group]) -> Result<Option<Present>, ExchangeFailure> {
    let (mut conditions, mut events) = (Vec::new(), Vec::new());
    for group in groups {
        let (of_group, event) = group.names();
        conditions.extend(of_group);
        events.extend(event);
    }
    if conditions.len() + events.len() > FEW {
        return Ok(None);
    }
    let markets = exchange.markets_named(&conditions, &events).await?;
    Ok(Some(Present::of(markets)))
}

fn compare(
    groups: impl Iterator<Item = (u64, Group)>,
    present: &Present,
    allowance: &mut Allowance,
    reconciled: &mut Reconciled,
) -> (Vec<Steps>, Names) {
    let (mut jobs, mut names) = (Vec::new(), Names::new());
    for (change, group) in groups {
        let mut plan = difference(&group, present, allowance);
        plan.steps.retain(|steps| {
            let new_markets = registrations(steps);
            let fits = allowance.registers(new_markets);
            if !fits {
                reconciled.postpone(change, new_markets);
            }
            fits
        });
        plan.notes
            .into_iter()
            .for_each(|note| reconciled.note(note));
        jobs.extend(plan.steps);
        for market in group.markets {
            if let Some(condition) = market.condition {
                names.insert(condition, (market.id, market.slug));
            }
        }
    }
    (jobs, names)
}

fn registrations(steps: &Steps) -> u64 {
    let is_registration = |command: &&Command| matches!(command, Command::RegisterMarket(_));
    u64::try_from(steps.iter().filter(is_registration).count()).unwrap_or(u64::MAX)
}

/// What became of the steps of one job.
struct Outcome {
    done: Vec<(Command, bool)>,
    failed: Option<(Command, ExchangeFailure)>,
}

async fn apply(
    exchange: &Arc<Exchange>,
    jobs: Vec<Steps>,
    names: &Names,
    reconciled: &mut Reconciled,
) -> Result<(), ReconcileFailure> {
    let mut waiting = jobs.into_iter();
    let mut running = JoinSet::new();
    let mut away = None;
    loop {
        // Once the exchange is away, what is under way ends and nothing more begins.
        while running.len() < AT_ONCE
            && away.is_none()
            && let Some(steps) = waiting.next()
        {
            running.spawn(run(Arc::clone(exchange), steps));
        }
        let Some(outcome) = running.join_next().await else {
            break;
        };
        let outcome = outcome.expect("a job neither panics nor is cancelled");
        for (command, changed) in &outcome.done {
            reconciled.count(command, *changed);
        }
        match outcome.failed {
            Some((command, ExchangeFailure::Refused { status, text })) => {
                reconciled.note(refusal(&command, status, &text, names));
            }
            Some((_, failure)) => away = Some(failure),
            None => {}
        }
    }
    match away {
        Some(failure) => Err(failure.into()),
        None => Ok(()),
    }
}

/// Gives commands in their order until one fails: the later ones are right only after it.
async fn run(exchange: Arc<Exchange>, steps: Steps) -> Outcome {
    let mut outcome = Outcome {
        done: Vec::new(),
        failed: None,
    };
    for command in steps {
        match exchange.give(&command).await {
            Ok(changed) => outcome.done.push((command, changed)),
            Err(failure) => {
                outcome.failed = Some((command, failure));
                break;
            }
        }
    }
    outcome
}

fn refusal(command: &Command, status: u16, text: &str, names: &Names) -> Note {
    let named = command
        .condition()
        .and_then(|condition| names.get(&condition));
    let (market, slug) = named.cloned().unwrap_or_default();
    Note {
        market,
        slug,
        finding: Finding::Refused {
            command: command.name(),
            reason: format!("{text} ({status})"),
        },
        consent: None,
    }
}
