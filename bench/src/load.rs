//! An open-loop load: requests signed beforehand are sent at a constant rate over kept
//! connections, each when it is due, and timed from then, so that a server that stalls is charged
//! for all that was due meanwhile. Every answer is checked.
//!
//! [`run`] is one run at one rate, [`search()`] finds the highest rate a server keeps up with,
//! [`compare()`] sets our exchange beside bare servers that do the same checks. [`Site`] says where
//! to; [`target`] keeps a load away from servers that are not the caller's.
//!
//! Deliberately absent: TLS, HTTP/2, redirects, answers without a length.

mod check;
mod clock;
mod compare;
mod figures;
mod floor;
mod jitter;
mod lane;
mod mix;
mod record;
mod rig;
mod schedule;
mod script;
mod search;
mod sender;
mod site;
mod sync_process;
pub mod target;
mod visit;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use compare::{Scope, compare};
pub use figures::Outcome;
pub use mix::{BadMix, Kind, Mix};
pub use rig::run_own;
pub use search::{Attempt, Search, search};
pub use site::Site;
pub use visit::{Visit, visit};

use crate::error::MeasureError;
use crate::report::{Measure, Report};
use clock::SECOND;
use jitter::Jitter;
use record::Record;
use schedule::Schedule;
use script::{Draft, Script};
use sender::{Common, Sender};

/// Orders lie at least so many requests a connection behind before they are cancelled.
const LEAD: usize = 2;
/// From the time the requests are ready to the first: every thread has started by then.
const RUN_UP: u64 = 20_000_000;
/// A run's requests are signed before it starts; servers take them only for so long.
const LONGEST_RUN: Duration = Duration::from_secs(300);

/// Between two rates of a search that does not know where to look.
const FACTOR: f64 = 2.0;

/// Sends a load somewhere.
pub type Loader<'a> = &'a dyn Fn(&Plan) -> Result<Outcome, MeasureError>;

/// How a load is sent.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Requests a second.
    pub rate: u32,
    /// Sent first and not counted.
    pub warm_up: Duration,
    /// Counted.
    pub measured: Duration,
    /// What is asked.
    pub mix: Mix,
    /// Connections of all threads together.
    pub connections: usize,
    /// Threads that send.
    pub threads: usize,
    /// A run that is so far behind its schedule is over.
    pub patience: Duration,
}

impl Plan {
    /// Requests of the run, warm-up included.
    fn ticks(&self) -> usize {
        let nanos = (self.warm_up + self.measured).as_nanos();
        let ticks = nanos * u128::from(self.rate) / u128::from(SECOND);
        usize::try_from(ticks).unwrap_or(usize::MAX).max(1)
    }
}

/// Sends one load.
///
/// # Errors
/// A server that cannot be reached, or ends a connection; the first wrong answer.
pub fn run(site: &Site, plan: &Plan) -> Result<Outcome, MeasureError> {
    let (connections, threads) = (
        plan.connections.max(1),
        plan.threads.clamp(1, plan.connections.max(1)),
    );
    if plan.warm_up + plan.measured > LONGEST_RUN {
        return Err(MeasureError::Wrong(format!(
            "a run of more than {} s: its orders would be too old in the end",
            LONGEST_RUN.as_secs()
        )));
    }
    let ticks = plan.ticks();
    let shares = |start| {
        let whole = Schedule::new(start, plan.rate);
        (0..threads).map(move |sender| whole.share(sender, threads))
    };
    let drafts = shares(0)
        .map(|share| Draft::sign(site, plan.mix, share.count(ticks), LEAD * connections))
        .collect::<Result<Vec<_>, _>>()?;
    let senders = (0..threads)
        .map(|sender| Sender::connect(site, connections.saturating_sub(sender).div_ceil(threads)))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(MeasureError::io("connecting"))?;
    let jitter = Jitter::start().map_err(MeasureError::io("starting the jitter meter"))?;
    // Dated for a start that leaves time to write the requests themselves.
    let dates = shares(clock::now() + RUN_UP);
    let scripts: Vec<Script> = drafts
        .into_iter()
        .zip(dates)
        .map(|(draft, share)| draft.date(site, &share))
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
    let mut total = Record::new(common.begin);
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

/// How a load is sent, in words.
fn words(plan: &Plan) -> String {
    format!(
        "{} over {} connections of {} thread(s)",
        plan.mix, plan.connections, plan.threads
    )
}

/// One run as a report; `send` makes it, and `durability` is what the server's answers wait for.
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

/// The search for the highest rate as a report; see [`search`]. The rate of `plan` is the first.
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

/// All senders at once, each on its thread.
fn send(
    senders: Vec<Sender>,
    scripts: &[Script],
    schedules: impl Iterator<Item = Schedule>,
    common: &Common<'_>,
) -> Vec<Result<Record, MeasureError>> {
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
