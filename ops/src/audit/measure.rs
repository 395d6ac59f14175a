//! How fast an audit is: journals are written once and audited in rounds.

use std::path::Path;

use foretell_bench::audited_journal::{Contents, with_journal};
use foretell_bench::replay::read_once;
use foretell_bench::report::{Goal, Measure};
use foretell_bench::{MeasureError, Report, process_nanos};

use super::report::Report as Audit;
use super::verify::{Options, verify};
use crate::failure::Failure;

/// Commands a second, at least, when no signatures are checked.
const GOAL: f64 = 2e6;
const NANOS_PER_SECOND: f64 = 1e9;

/// Audits a journal of traffic and one of orders that all rest, or one of signed orders, of about so
/// many commands each, some times. As a floor, by turns, one thread reads each journal as recovery does: bytes,
/// chain and every command again.
///
/// # Errors
/// A journal cannot be written, or is not sound.
pub(crate) fn measure(
    scratch: &Path,
    (commands, signatures): (u32, bool),
    rounds: usize,
) -> Result<Report, Failure> {
    let mut report = Report::begin("audit", "none");
    report.rounds = rounds.max(1);
    if signatures {
        let signed = Audits::of(scratch, commands, Contents::Signed, rounds)?;
        report.scope = format!("{} commands, with signatures", signed.commands);
        report.measures = signed.measures("a command, audited", "").into();
        return Ok(report.end());
    }
    let traffic = Audits::of(scratch, commands, Contents::Stream, rounds)?;
    let resting = Audits::of(scratch, commands, Contents::Resting, rounds)?;
    report.scope = format!(
        "{} commands: orders, fills, cancels, and what opens the venue; {} where all orders rest",
        traffic.commands, resting.commands
    );
    let traffic = traffic.measures("a command, audited", "");
    let [_, rate, ..] = &traffic;
    report.goals.push(Goal::at_least(
        "commands audited a second, without signatures",
        GOAL,
        Some(rate.value),
    ));
    let resting = resting.measures("a command", " where all orders rest");
    report.measures = traffic.into_iter().chain(resting).collect();
    Ok(report.end())
}

/// Audits of a journal, in nanoseconds a command.
struct Audits {
    /// How many the journal holds.
    commands: u64,
    each: Vec<f64>,
    /// Processor time of all threads.
    processor: Vec<f64>,
    /// Processor time of what recovery reads.
    floor: Vec<f64>,
}

impl Audits {
    fn of(
        scratch: &Path,
        commands: u32,
        contents: Contents,
        rounds: usize,
    ) -> Result<Self, Failure> {
        let options = Options {
            signatures: contents == Contents::Signed,
            ..Options::default()
        };
        let rounds = with_journal(scratch, commands, contents, |journal| {
            (0..rounds.max(1))
                .map(|_| Round::run(journal, &options))
                .collect::<Result<Vec<_>, _>>()
        })
        .map_err(failed)??;
        let commands = rounds[0].audit.counts.commands();
        #[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
        let of = |nanos: u64| nanos as f64 / commands as f64;
        #[allow(clippy::cast_precision_loss, reason = "a count far below 2^53")]
        let each = |seconds: f64| seconds * NANOS_PER_SECOND / commands as f64;
        let of_all = |of: &dyn Fn(&Round) -> f64| rounds.iter().map(of).collect();
        Ok(Self {
            commands,
            each: of_all(&|round| each(round.audit.seconds)),
            processor: of_all(&|round| of(round.processor)),
            floor: of_all(&|round| of(round.floor)),
        })
    }

    /// Time and rate, processor time and its floor; each name ends with the `journal` they are of.
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

/// An audit, and its floor.
struct Round {
    audit: Audit,
    /// Nanoseconds of processor time.
    processor: u64,
    floor: u64,
}

impl Round {
    fn run(journal: &Path, options: &Options) -> Result<Self, Failure> {
        let begun = process_nanos();
        let audit = verify(journal, options)?;
        let processor = process_nanos() - begun;
        if !audit.is_sound() {
            return Err(Failure::new(audit.to_string()).code(audit.exit_code()));
        }
        let floor = read_once(journal, audit.last).map_err(failed)?;
        Ok(Self {
            audit,
            processor,
            floor,
        })
    }
}

#[allow(clippy::needless_pass_by_value, reason = "what map_err hands over")]
fn failed(error: MeasureError) -> Failure {
    Failure::new(error.to_string())
}
