//! `foretell bench …`: measurements of this machine, from the `bench` crate.

mod files;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use foretell_bench::harness::load_target::TargetError;
use foretell_bench::measure::load::LoadScope;
use foretell_bench::{MeasureError, Measurement, Report};
use serde_json::json;
use zeroize::Zeroizing;

use crate::audit::measure::{AuditScope, measure as measure_audit};
use crate::failure::Failure;
use crate::operator::private_key;
use crate::output::Output;

/// Environment variable with the private key of the trading account of a load.
pub(crate) const LOAD_KEY_VARIABLE: &str = "FORETELL_LOAD_PRIVATE_KEY";

/// `foretell bench`
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Save the report as JSON for `compare` and `report`
    #[arg(long, global = true, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Save all single durations as an HdrHistogram log
    #[arg(long, global = true, value_name = "FILE")]
    hlog: Option<PathBuf>,
    /// Measurement
    #[command(subcommand)]
    what: BenchCommand,
}

/// A measurement, or a command about reports and streams.
#[derive(Debug, Subcommand)]
enum BenchCommand {
    #[command(flatten)]
    Measure(Measurement),
    /// Audit a journal of mixed traffic and one of resting orders
    Audit(AuditScope),
    /// Compare two saved reports; exit code 5 = worse beyond noise
    Compare {
        /// Earlier report
        before: PathBuf,
        /// Later report
        after: PathBuf,
    },
    /// Draw saved reports and .hlog files as an HTML page
    Report {
        /// Files written by --save or --hlog
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// HTML file [default: standard output]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write an order stream: equal arguments give equal bytes
    Stream {
        /// Output file
        out: PathBuf,
        /// Number of markets, drawn by Zipf's law
        markets: u32,
        /// Number of commands
        commands: usize,
        /// Approximate number of resting orders
        live: u32,
    },
}

/// Runs a measurement, prints its report, and saves it if requested.
///
/// # Errors
/// A file is not a stream or cannot be written, lanes disagree, or an engine or a gateway does not
/// start or answers wrongly.
pub(crate) fn run(bench: Bench, output: Output) -> Result<ExitCode, Failure> {
    let report = match bench.what {
        BenchCommand::Compare { before, after } => return files::compare(&before, &after, output),
        BenchCommand::Report { files, out } => return files::page(&files, out.as_deref()),
        BenchCommand::Stream {
            out,
            markets,
            commands,
            live,
        } => return write_stream(&out, (markets, commands, live), output),
        BenchCommand::Audit(scope) => measure_audit(&scope)?,
        BenchCommand::Measure(measurement) => measure(measurement)?,
    };
    files::show(report, bench.save.as_deref(), bench.hlog.as_deref(), output)?;
    Ok(ExitCode::SUCCESS)
}

fn write_stream(
    out: &Path,
    (markets, commands, live): (u32, usize, u32),
    output: Output,
) -> Result<ExitCode, Failure> {
    let stream = foretell_bench::generate(markets, commands, live);
    let stream = stream.map_err(|error| Failure::new(error.to_string()))?;
    let written = stream.write(out);
    written.map_err(|error| Failure::new(error.to_string()))?;
    let value = json!({ "commands": stream.entries().len(), "orders": stream.orders() });
    output.answer(&value, |value| {
        format!("{} commands, {} orders", value["commands"], value["orders"])
    });
    Ok(ExitCode::SUCCESS)
}

fn measure(mut measurement: Measurement) -> Result<Report, Failure> {
    if let Measurement::Load(scope) = &mut measurement
        && scope.needs_private_key()
    {
        // Before the key is asked for: whether the server may be loaded at all.
        scope.check_target().map_err(failure)?;
        scope.set_private_key(load_key(scope)?);
    }
    measurement.run().map_err(failure)
}

/// Reads the private key from a file or a variable; every user could see it in an argument.
fn load_key(scope: &LoadScope) -> Result<Zeroizing<String>, Failure> {
    match (scope.private_key_file(), std::env::var(LOAD_KEY_VARIABLE)) {
        (Some(file), _) => private_key::read(file),
        (None, Ok(key)) => Ok(Zeroizing::new(key)),
        (None, Err(_)) => Err(Failure::new("no private key").hint(format!(
            "give --private-key-file FILE, or set {LOAD_KEY_VARIABLE}"
        ))),
    }
}

/// A measurement error as a failure of the command.
fn failure(error: MeasureError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        MeasureError::Stream(_) => failure.hint("make one with `foretell bench stream`"),
        MeasureError::Target(TargetError::NotOurs { .. }) => failure.hint(
            "a load on somebody else's server is an attack; give --server-is-mine if you run it or its operator has agreed",
        ),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        bench: Bench,
    }

    fn bench(arguments: &[&str]) -> Result<Bench, clap::Error> {
        let words = ["bench"].iter().chain(arguments);
        Alone::try_parse_from(words).map(|alone| alone.bench)
    }

    #[test]
    fn measurements_have_defaults_and_need_an_order() {
        let entry = bench(&["entry", "--save", "/r"]).unwrap();
        assert_eq!((entry.save, entry.hlog), (Some(PathBuf::from("/r")), None));
        let BenchCommand::Measure(Measurement::Entry(scope)) = entry.what else {
            panic!("{:?}", entry.what);
        };
        let scope = format!("{scope:?}");
        assert!(
            scope.contains("orders: 2000") && scope.contains("rounds: 10"),
            "{scope}"
        );
        assert!(bench(&["recover", "--orders", "7", "--scratch", "/x"]).is_ok());
        assert!(bench(&["recover", "--orders", "0"]).is_err());
        assert!(bench(&["entry", "--orders", "0"]).is_err());
        assert!(bench(&["audit", "--signatures", "--reference"]).is_err());
    }

    #[test]
    fn a_foreign_server_is_rejected_with_a_reason() {
        let others = ["load", "--url", "http://192.0.2.1", "--token", "7"];
        let refused = run(bench(&others).unwrap(), Output { json: true }).unwrap_err();
        let text = format!("{refused:?}");
        assert!(
            text.contains("--server-is-mine") && text.contains("192.0.2.1"),
            "{text}"
        );
    }
}
