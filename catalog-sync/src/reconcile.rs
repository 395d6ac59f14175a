//! Makes the exchange agree with the catalog: reads both sides, compares, sends the commands.

mod report;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use foretell_catalog::record::{Answer, Record, RecordKind, read};
use foretell_catalog::{Catalog, CatalogError};
use foretell_model::ConditionId;
use foretell_wire::operator::OperatorCommand as Command;
use thiserror::Error;
use tokio::task::JoinSet;

use crate::difference::{Allowance, ExchangeState, Finding, MarketGroup, Note, Steps, difference};
use crate::exchange::{Exchange, ExchangeError, command_name};
use crate::market_text;
use crate::progress::Progress;

pub use report::{CommandCounts, ReconcileReport};

/// Units per read.
const UNITS_PER_READ: usize = 256;
/// Up to this many markets are requested by name; above it, all markets of the exchange are read.
const MAX_NAMED_MARKETS: usize = 512;
/// Concurrent requests; a durable command mostly waits for the disk.
const CONCURRENT_REQUESTS: usize = 32;

/// Why a comparison ended early. Sent commands stay; the next comparison continues.
#[derive(Debug, Error)]
pub enum ReconcileError {
    /// The catalog cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The exchange is unavailable or sends an unexpected answer.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// The catalog's lock cannot be taken.
    #[error("cannot lock the catalog: {0}")]
    CatalogLock(std::io::Error),
    /// The exchange is a restored copy that nobody has opened.
    #[error(
        "the exchange was restored from a copy: nothing is read from an upstream and no command is sent until an admin \
         opens withdrawals"
    )]
    OutwardClosed,
}

/// Whether commands are sent or only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Commands are sent.
    Apply,
    /// Commands are only counted.
    DryRun,
}

/// Compares the catalog's changes after change `after` with the exchange and, in [`Mode::Apply`],
/// makes both agree. After a crash of either side, or an early end, the same call continues. Costs
/// in proportion to the changes: it reads only their markets from the exchange, or once all markets
/// if there are many changes.
///
/// A comparison with `after` 0 also finds changes that happened only in the exchange.
///
/// # Errors
/// See [`ReconcileError`].
pub async fn reconcile(
    catalog: &Catalog,
    exchange: &Arc<Exchange>,
    after: u64,
    allowance: &mut Allowance,
    mode: Mode,
    progress: &Progress,
) -> Result<ReconcileReport, ReconcileError> {
    let mut reconciled = ReconcileReport::since(after);
    let mut units = catalog.changes_after(after, UNITS_PER_READ)?;
    if units.is_empty() {
        return Ok(reconciled);
    }
    let mut all_markets = None;
    progress.begin("comparing with the exchange");
    while let Some(last) = units.last().map(|unit| unit.change) {
        let groups: Vec<MarketGroup> = units.iter().map(market_text::group).collect();
        let changes: Vec<u64> = units.iter().map(|unit| unit.change).collect();
        let named_state = if after > 0 && all_markets.is_none() {
            named_state(exchange, &groups).await?
        } else {
            None
        };
        let state = match (&named_state, &mut all_markets) {
            (Some(named_state), _) => named_state,
            (None, Some(all_markets)) => all_markets,
            (None, all_markets) => {
                let state = all_markets.insert(ExchangeState::of(exchange.markets().await?));
                allowance.live = state.live();
                let held = held(catalog, state)?;
                let waiting = &mut allowance.stops.waiting;
                waiting.retain(|market| after > 0 && state.trades(market));
                allowance.stops.held = held;
                state
            }
        };
        let groups = changes.into_iter().zip(groups);
        let (jobs, names) = compare(groups, state, allowance, &mut reconciled);
        match mode {
            Mode::DryRun => jobs
                .iter()
                .flatten()
                .for_each(|command| reconciled.count(command, true)),
            Mode::Apply => apply(exchange, jobs, &names, &mut reconciled).await?,
        }
        reconciled.reached(last);
        progress.advance(units.iter().map(|unit| unit.markets.len()).sum());
        units = catalog.changes_after(last, UNITS_PER_READ)?;
    }
    Ok(reconciled)
}

type Names = HashMap<ConditionId, (u64, String)>;

/// The exchange's state of these groups, if they are few.
async fn named_state(
    exchange: &Exchange,
    groups: &[MarketGroup],
) -> Result<Option<ExchangeState>, ExchangeError> {
    let (mut conditions, mut events) = (Vec::new(), Vec::new());
    for group in groups {
        let (of_group, event) = group.names();
        conditions.extend(of_group);
        events.extend(event);
    }
    if conditions.len() + events.len() > MAX_NAMED_MARKETS {
        return Ok(None);
    }
    let markets = exchange.markets_named(&conditions, &events).await?;
    Ok(Some(ExchangeState::of(markets)))
}

/// The markets that the upstream holds, without those whose answer is known.
fn held(catalog: &Catalog, state: &ExchangeState) -> Result<BTreeSet<ConditionId>, CatalogError> {
    let mut held = BTreeSet::new();
    for condition in state.held() {
        if !catalog.raw_market(&condition)?.is_some_and(is_answered) {
            held.insert(condition);
        }
    }
    Ok(held)
}

fn is_answered(raw: String) -> bool {
    let record = read(Some(RecordKind::Market), raw.as_bytes());
    let Ok(Record::Market(market)) = record.map(|read| read.record) else {
        return false;
    };
    Answer::of(&market.uma_status) == Answer::Known
}

fn compare(
    groups: impl Iterator<Item = (u64, MarketGroup)>,
    state: &ExchangeState,
    allowance: &mut Allowance,
    reconciled: &mut ReconcileReport,
) -> (Vec<Steps>, Names) {
    let (mut jobs, mut names) = (Vec::new(), Names::new());
    for (change, group) in groups {
        let mut plan = difference(&group, state, allowance);
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

/// Result of the steps of one job.
struct Outcome {
    done: Vec<(Command, bool)>,
    failed: Option<(Command, ExchangeError)>,
}

async fn apply(
    exchange: &Arc<Exchange>,
    jobs: Vec<Steps>,
    names: &Names,
    reconciled: &mut ReconcileReport,
) -> Result<(), ReconcileError> {
    let mut waiting = jobs.into_iter();
    let mut running = JoinSet::new();
    let mut unavailable = None;
    loop {
        // After the exchange becomes unavailable, running steps end and none starts.
        while running.len() < CONCURRENT_REQUESTS
            && unavailable.is_none()
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
            Some((command, ExchangeError::Rejected { status, text })) => {
                reconciled.note(rejection(&command, status, &text, names));
            }
            Some((_, error)) => unavailable = Some(error),
            None => {}
        }
    }
    match unavailable {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// Sends commands in order until one fails, because later ones depend on it.
async fn run(exchange: Arc<Exchange>, steps: Steps) -> Outcome {
    let mut outcome = Outcome {
        done: Vec::new(),
        failed: None,
    };
    for command in steps {
        match exchange.send(&command).await {
            Ok(changed) => outcome.done.push((command, changed)),
            Err(error) => {
                outcome.failed = Some((command, error));
                break;
            }
        }
    }
    outcome
}

fn rejection(command: &Command, status: u16, text: &str, names: &Names) -> Note {
    let named = command
        .condition()
        .and_then(|condition| names.get(&condition));
    let (market, slug) = named.cloned().unwrap_or_default();
    Note {
        market,
        slug,
        finding: Finding::Rejected {
            command: command_name(command),
            reason: format!("{text} ({status})"),
        },
        consent: None,
    }
}
