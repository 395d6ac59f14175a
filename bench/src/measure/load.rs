//! An open-loop load. Requests are signed in advance and sent at a constant rate over keep-alive
//! connections, each when it is due, and timed from then: a stalled server is charged for all
//! requests due during the stall. Every answer is checked.
//!
//! [`run`] makes one run at one rate, [`search()`] finds the highest rate a server sustains, and
//! [`compare()`] compares our exchange with baseline servers that do the same checks. [`Endpoint`]
//! names the target; [`target`] keeps a load away from servers of others.
//!
//! Deliberately absent: TLS, HTTP/2, redirects, answers without a length.

mod check;
mod clock;
mod compare;
mod connection;
mod endpoint;
mod figures;
mod jitter;
mod knee_search;
mod latency_record;
mod remote_endpoint;
mod request_mix;
mod schedule;
mod script;
mod sender;
mod server_under_test;

pub mod target;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use compare::{CompareScope, compare};
pub use endpoint::Endpoint;
pub use figures::Outcome;
pub use knee_search::{Attempt, KneeSearch, search};
pub use remote_endpoint::{RemoteEndpoint, open_remote};
pub use request_mix::{InvalidMix, RequestKind, RequestMix};
pub use server_under_test::run_own;

use crate::error::MeasureError;
use crate::report::{Measure, Report};
use clock::SECOND;
use jitter::Jitter;
use latency_record::LatencyRecord;
use schedule::Schedule;
use script::{Draft, Script};
use sender::{Common, Sender};

/// Minimum age of an order before its cancel, in requests per connection.
const LEAD: usize = 2;
/// Nanoseconds from prepared requests to the first one: all threads have started by then.
const RUN_UP: u64 = 20_000_000;
/// Maximum duration of a run: requests are signed before the start, and servers accept them only
/// for this long.
const LONGEST_RUN: Duration = Duration::from_secs(300);

/// Step between two rates of a search without a starting point.
const FACTOR: f64 = 2.0;

/// Sends a load to a server.
pub type Loader<'a> = &'a dyn Fn(&Plan) -> Result<Outcome, MeasureError>;

/// Parameters of a load.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Requests a second.
    pub rate: u32,
    /// Duration sent first and not counted.
    pub warm_up: Duration,
    /// Duration counted.
    pub measured: Duration,
    /// Kinds of requests.
    pub mix: RequestMix,
    /// Connections of all threads together.
    pub connections: usize,
    /// Threads that send.
    pub threads: usize,
    /// A run ends when it is this far behind its schedule.
    pub patience: Duration,
}

impl Plan {
    /// Number of requests in the run, warm-up included.
    fn ticks(&self) -> usize {
        let nanos = (self.warm_up + self.measured).as_nanos();
        let ticks = nanos * u128::from(self.rate) / u128::from(SECOND);
        usize::try_from(ticks).unwrap_or(usize::MAX).max(1)
    }
}

/// Sends one load.
///
/// # Errors
/// A server cannot be reached or closes a connection, or an answer is wrong: the first one.
pub fn run(endpoint: &Endpoint, plan: &Plan) -> Result<Outcome, MeasureError> {
    let (connections, threads) = (
        plan.connections.max(1),
        plan.threads.clamp(1, plan.connections.max(1)),
    );
    if plan.warm_up + plan.measured > LONGEST_RUN {
        return Err(MeasureError::Wrong(format!(
            "a run of more than {} s: its orders would be too old at the end",
            LONGEST_RUN.as_secs()
        )));
    }
    let ticks = plan.ticks();
    let shares = |start| {
        let whole = Schedule::new(start, plan.rate);
        (0..threads).map(move |sender| whole.share(sender, threads))
    };
    let drafts = shares(0)
        .map(|share| Draft::sign(endpoint, plan.mix, share.count(ticks), LEAD * connections))
        .collect::<Result<Vec<_>, _>>()?;
    let senders = (0..threads)
        .map(|sender| {
            Sender::connect(
                endpoint,
                connections.saturating_sub(sender).div_ceil(threads),
            )
        })
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(MeasureError::io("connecting"))?;
    let jitter = Jitter::start().map_err(MeasureError::io("starting the jitter meter"))?;
    // Dated for a start that leaves time to write the requests.
    let dates = shares(clock::now() + RUN_UP);
    let scripts: Vec<Script> = drafts
        .into_iter()
        .zip(dates)
        .map(|(draft, share)| draft.date(endpoint, &share))
        .collect();
    let start = clock::now() + RUN_UP;
    let stop = AtomicBool::new(false);
    let common = Common {
        stop: &stop,
        begin: start.saturating_add(nanos(plan.warm_up)),
        patience: nanos(plan.patience),
    };
    let records = send(senders, &scripts, shares(start), &common);
    let machine = jitter
        .stop()
        .map_err(MeasureError::io("the jitter meter"))?;
    let mut total = LatencyRecord::new(common.begin);
    for record in records {
        total.add(&record?);
    }
    let (achieved, overtime) = (total.achieved(), total.overtime());
    let (answered, unanswered) = (total.answered, total.unanswered);
    let (all, kinds) = (total.all(), total.kinds());
    let (seconds, generator) = total.into_parts();
    Ok(Outcome {
        rate: plan.rate,
        achieved,
        answered,
        unanswered,
        overtime,
        all,
        kinds,
        seconds,
        generator,
        machine,
    })
}

/// Describes the parameters of a load.
fn words(plan: &Plan) -> String {
    format!(
        "{} over {} connections of {} thread(s)",
        plan.mix, plan.connections, plan.threads
    )
}

/// Reports one run. `send` makes it; `durability` is what the server's answers wait for.
///
/// # Errors
/// Those of `send`.
pub fn measure(plan: &Plan, durability: &str, send: Loader<'_>) -> Result<Report, MeasureError> {
    let mut report = Report::begin("load", durability);
    report.scope = words(plan);
    let began = report.elapsed();
    send(plan)?.fill(&mut report, began);
    Ok(report.end())
}

/// Reports the search for the highest rate; see [`search`]. The search starts at the rate of
/// `plan`.
///
/// # Errors
/// Those of `send`.
pub fn measure_knee(
    plan: &Plan,
    bound: Duration,
    durability: &str,
    send: Loader<'_>,
) -> Result<Report, MeasureError> {
    let mut report = Report::begin("load", durability);
    let bound_ms = bound.as_millis();
    report.scope = format!(
        "{}, the highest rate with p99 <= {bound_ms} ms",
        words(plan)
    );
    let found = search(plan.rate, FACTOR, nanos(bound), |rate| {
        send(&Plan { rate, ..*plan })
    })?;
    report.rounds = 1;
    let knee = found.knee.map_or(f64::NAN, f64::from);
    report
        .measures
        .push(Measure::single("knee", "requests/s", knee).higher());
    report.notes = found.attempts.iter().map(ToString::to_string).collect();
    Ok(report.end())
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Runs all senders at once, each on its thread.
fn send(
    senders: Vec<Sender>,
    scripts: &[Script],
    schedules: impl Iterator<Item = Schedule>,
    common: &Common<'_>,
) -> Vec<Result<LatencyRecord, MeasureError>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = senders
            .into_iter()
            .zip(scripts)
            .zip(schedules)
            .map(|((sender, script), schedule)| {
                scope.spawn(move || sender.run(script, schedule, common))
            })
            .collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended
            .map(|record| record.expect("a sender does not panic"))
            .collect()
    })
}

#[cfg(test)]
mod tests;
