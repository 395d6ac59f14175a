//! How fast an audit is: journals are written once and audited in rounds.

use std::path::Path;

use foretell_bench::Report;
use foretell_bench::audited_journal::{Contents, with_journal};
use foretell_bench::report::{Goal, Measure};

use super::verify::{Options, verify};
use crate::failure::Failure;

/// Commands a second, at least, when no signatures are checked.
const GOAL: f64 = 2e6;
const NANOS_PER_SECOND: f64 = 1e9;

/// Audits a journal of traffic and one of orders that all rest, or one of signed orders, of about so
/// many commands each, some times.
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
        let (count, signed) = audited(scratch, commands, Contents::Signed, rounds)?;
        report.scope = format!("{count} commands, with signatures");
        let each = Measure::of("a command, audited", "ns", signed);
        let rate = rate("commands a second", &each);
        report.measures = vec![each, rate];
        return Ok(report.end());
    }
    let (count, traffic) = audited(scratch, commands, Contents::Stream, rounds)?;
    let (resting_count, resting) = audited(scratch, commands, Contents::Resting, rounds)?;
    report.scope = format!(
        "{count} commands: orders, fills, cancels, and what opens the venue; {resting_count} where all \
         orders rest"
    );
    let traffic = Measure::of("a command, audited", "ns", traffic);
    let resting = Measure::of("a command where all orders rest", "ns", resting);
    let (rate, resting_rate) = (
        rate("commands a second", &traffic),
        rate("commands a second where all orders rest", &resting),
    );
    report.goals.push(Goal::at_least(
        "commands audited a second, without signatures",
        GOAL,
        Some(rate.value),
    ));
    report.measures = vec![traffic, rate, resting, resting_rate];
    Ok(report.end())
}

/// How many commands a journal holds, and the nanoseconds a command of each audit.
fn audited(
    scratch: &Path,
    commands: u32,
    contents: Contents,
    rounds: usize,
) -> Result<(u64, Vec<f64>), Failure> {
    let options = Options {
        signatures: contents == Contents::Signed,
        ..Options::default()
    };
    let audits = with_journal(scratch, commands, contents, |journal| {
        (0..rounds.max(1))
            .map(|_| verify(journal, &options))
            .collect::<Result<Vec<_>, _>>()
    })
    .map_err(|error| Failure::new(error.to_string()))??;
    if let Some(unsound) = audits.iter().find(|report| !report.is_sound()) {
        return Err(Failure::new(unsound.to_string()).code(unsound.exit_code()));
    }
    let count = audits[0].counts.commands();
    #[allow(clippy::cast_precision_loss, reason = "a count far below 2^53")]
    let each = |seconds: f64| seconds * NANOS_PER_SECOND / count as f64;
    Ok((
        count,
        audits.iter().map(|audit| each(audit.seconds)).collect(),
    ))
}

/// What some nanoseconds a command come to in a second.
fn rate(name: &str, each: &Measure) -> Measure {
    Measure::single(name, "1/s", NANOS_PER_SECOND / each.value).higher()
}
