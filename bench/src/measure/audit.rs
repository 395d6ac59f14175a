//! Benchmark of the audit: journals are written once and audited in rounds.

use std::path::Path;

use clap::Args;
use foretell_audit::{Options, Report as Audit, verify};
use foretell_ops::failure::Failure;

use super::ScratchDir;
use super::replay::read_once;
use crate::error::MeasureError;
use crate::harness::latency::{process_nanos, ratio};
use crate::report::{Goal, Measure, Report};
use crate::workloads::journals::{Contents, with_journal};

/// Minimum commands per second without signatures.
const GOAL: f64 = 2e6;
/// The same with the reference.
const REFERENCE_GOAL: f64 = 5e4;
const NANOS_PER_SECOND: f64 = 1e9;

/// Arguments of `foretell-bench audit`.
#[derive(Debug, Args)]
pub struct AuditScope {
    /// Commands in each journal
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..))]
    orders: u32,
    /// Sign the orders and check the signatures on all cores
    #[arg(long)]
    signatures: bool,
    /// Also execute every command in the reference exchange
    #[arg(long, conflicts_with = "signatures")]
    reference: bool,
    /// Audits; medians are reported
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Audits a journal of mixed traffic and one of resting orders, or one of signed orders, of about
/// [`AuditScope::orders`] commands each. Baseline, alternating with the audits: one thread reads each journal
/// as recovery does (bytes, chain, every command again).
///
/// # Errors
/// A journal cannot be written, or is not sound.
pub(super) fn measure(scope: &AuditScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("audit", "none");
    let rounds = scope.rounds.max(1);
    report.rounds = rounds;
    let options = &Options {
        signatures: scope.signatures,
        reference: scope.reference,
        ..Options::default()
    };
    let scratch = scope.scratch.parent()?;
    let audits = |contents| Audits::of(&scratch, scope.orders, contents, options, rounds);
    if options.signatures {
        let signed = audits(Contents::Signed)?;
        report.scope = format!("{} commands, with signatures", signed.commands);
        report.measures = signed.measures("a command, audited", "").into();
        return Ok(report.end());
    }
    let traffic = audits(Contents::Stream)?;
    let resting = audits(Contents::Resting)?;
    report.scope = format!(
        "{} commands: orders, fills, cancels, and what opens the venue; {} where all orders rest",
        traffic.commands, resting.commands
    );
    let traffic = traffic.measures("a command, audited", "");
    let [_, rate, ..] = &traffic;
    let (name, goal) = match options.reference {
        true => (
            "commands audited a second, with the reference",
            REFERENCE_GOAL,
        ),
        false => ("commands audited a second, without signatures", GOAL),
    };
    report
        .goals
        .push(Goal::at_least(name, goal, Some(rate.value)));
    let resting = resting.measures("a command", " where all orders rest");
    report.measures = traffic.into_iter().chain(resting).collect();
    Ok(report.end())
}

/// Results for one journal, in nanoseconds per command.
struct Audits {
    /// Commands in the journal.
    commands: u64,
    each: Vec<f64>,
    /// CPU time of all threads.
    processor: Vec<f64>,
    /// CPU time of the recovery read.
    floor: Vec<f64>,
}

impl Audits {
    fn of(
        scratch: &Path,
        commands: u32,
        contents: Contents,
        options: &Options,
        rounds: usize,
    ) -> Result<Self, MeasureError> {
        let rounds = with_journal(scratch, commands, contents, |journal| {
            (0..rounds)
                .map(|_| Round::run(journal, options))
                .collect::<Result<Vec<_>, _>>()
        })??;
        let commands = rounds[0].audit.counts.commands;
        let lane = |nanos: fn(&Round) -> f64| {
            let rounds = rounds.iter().map(nanos);
            rounds.map(|nanos| nanos / ratio(commands, 1)).collect()
        };
        Ok(Self {
            commands,
            each: lane(|round| round.audit.seconds * NANOS_PER_SECOND),
            processor: lane(|round| ratio(round.processor, 1)),
            floor: lane(|round| ratio(round.floor, 1)),
        })
    }

    /// Time and rate, CPU time and its baseline; each name ends with `journal`.
    fn measures(self, name: &str, journal: &str) -> [Measure; 4] {
        let measure = |name, rounds| Measure::of(format!("{name}{journal}"), "ns", rounds);
        let each = measure(name, self.each);
        let rate = Measure::single(
            format!("commands a second{journal}"),
            "1/s",
            NANOS_PER_SECOND / each.value,
        );
        let floor = measure("processor time, read once by one thread", self.floor);
        let processor = measure("processor time of it, all threads", self.processor);
        [each, rate.higher(), processor.over(&floor), floor]
    }
}

/// An audit and its baseline.
struct Round {
    audit: Audit,
    /// CPU time in nanoseconds.
    processor: u64,
    floor: u64,
}

impl Round {
    fn run(journal: &Path, options: &Options) -> Result<Self, MeasureError> {
        let begun = process_nanos();
        let audit = verify(journal, options)?;
        let processor = process_nanos() - begun;
        if !audit.sound {
            let failure = Failure::new(audit.to_string()).code(audit.exit_code);
            return Err(failure.into());
        }
        let floor = read_once(journal, audit.last_sequence)?;
        Ok(Self {
            audit,
            processor,
            floor,
        })
    }
}
