//! How fast an audit is: a journal of placements is written once and audited in rounds.

use std::path::Path;

use foretell_bench::Report;
use foretell_bench::report::Measure;
use foretell_bench::resting_journal::with_journal;

use super::verify::{Options, verify};
use crate::failure::Failure;

const NANOS_PER_SECOND: f64 = 1e9;

/// Audits a journal with this many orders some times.
///
/// # Errors
/// The journal cannot be written, or is not sound.
pub(crate) fn measure(
    scratch: &Path,
    (orders, signatures): (u32, bool),
    rounds: usize,
) -> Result<Report, Failure> {
    let mut report = Report::begin("audit", "none");
    let options = Options {
        signatures,
        ..Options::default()
    };
    let audits = with_journal(scratch, orders, signatures, |journal| {
        (0..rounds.max(1))
            .map(|_| verify(journal, &options))
            .collect::<Result<Vec<_>, _>>()
    })
    .map_err(|error| Failure::new(error.to_string()))??;
    if let Some(unsound) = audits.iter().find(|report| !report.is_sound()) {
        return Err(Failure::new(unsound.to_string()).code(unsound.exit_code()));
    }
    let commands = audits[0].counts.commands();
    report.scope = format!(
        "{commands} commands, {} signatures",
        if signatures { "with" } else { "without" }
    );
    report.rounds = audits.len();
    #[allow(clippy::cast_precision_loss, reason = "a count far below 2^53")]
    let each = |seconds: f64| seconds * NANOS_PER_SECOND / commands as f64;
    let nanos = audits.iter().map(|audit| each(audit.seconds)).collect();
    let whole = Measure::of("a command, audited", "ns", nanos);
    let rate = Measure::single("commands a second", "1/s", NANOS_PER_SECOND / whole.value);
    report.measures = vec![whole, rate.higher()];
    Ok(report.end())
}
