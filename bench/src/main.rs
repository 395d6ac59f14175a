//! The `foretell-bench` program: measures, and compares and draws the files of measurements.

mod files;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use foretell_bench::Measurement;
use foretell_ops::failure::Failure;
use foretell_ops::output::Output;

/// Puts large blocks on huge pages for the matcher's tables and counts memory.
#[global_allocator]
static ALLOCATOR: foretell_memory::Allocator = foretell_memory::Allocator;

/// Measure this machine against baselines and goals.
#[derive(Debug, Parser)]
#[command(name = "foretell-bench", version, max_term_width = 100)]
struct Cli {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
    /// Save the report as JSON for `compare` and `report`
    #[arg(long, global = true, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Save all single durations as an HdrHistogram log
    #[arg(long, global = true, value_name = "FILE")]
    hlog: Option<PathBuf>,
    /// Measurement
    #[command(subcommand)]
    command: Command,
}

/// A measurement, or a command about reports.
#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Measure(Measurement),
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
    /// Run a process of the measured exchange
    #[command(hide = true)]
    Exchange {
        /// Arguments of `foretell`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output { json: cli.json };
    run(cli, output).unwrap_or_else(|failure| failure.print("foretell-bench", output))
}

/// Runs a measurement, prints its report, and saves it if requested.
fn run(cli: Cli, output: Output) -> Result<ExitCode, Failure> {
    let report = match cli.command {
        Command::Compare { before, after } => return files::compare(&before, &after, output),
        Command::Report { files, out } => return files::page(&files, out.as_deref()),
        Command::Exchange { arguments } => {
            let program = std::iter::once("foretell".into());
            return Ok(foretell_ops::run_with(program.chain(arguments)));
        }
        Command::Measure(measurement) => measurement.run()?,
    };
    let failed = report.failed().join("; ");
    files::show(report, cli.save.as_deref(), cli.hlog.as_deref(), output)?;
    match failed.is_empty() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(Failure::new(format!("these parts failed: {failed}"))
            .hint(format!("foretell-bench all --only '{failed}'"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cli(arguments: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(["foretell-bench"].iter().chain(arguments))
    }

    #[test]
    fn measurements_have_defaults_and_need_an_order() {
        let entry = cli(&["entry", "--save", "/r"]).unwrap();
        assert_eq!((entry.save, entry.hlog), (Some(PathBuf::from("/r")), None));
        let Command::Measure(Measurement::Entry(scope)) = entry.command else {
            panic!("{:?}", entry.command);
        };
        let scope = format!("{scope:?}");
        assert!(
            scope.contains("orders: 2000") && scope.contains("rounds: 10"),
            "{scope}"
        );
        assert!(cli(&["recover", "--orders", "7", "--scratch", "/x"]).is_ok());
        assert!(cli(&["recover", "--orders", "0"]).is_err());
        assert!(cli(&["match", "--commands", "4294967295"]).is_err());
        assert!(cli(&["entry", "--orders", "0"]).is_err());
        assert!(cli(&["audit", "--signatures", "--reference"]).is_err());
        // A process of the exchange gets its arguments as they stand.
        let child = cli(&["exchange", "gateway", "--json", "--data", "d"]).unwrap();
        assert!(!child.json);
        let Command::Exchange { arguments } = child.command else {
            panic!("{:?}", child.command);
        };
        assert_eq!(arguments, ["gateway", "--json", "--data", "d"]);
    }

    #[test]
    fn a_foreign_server_is_rejected_with_a_reason() {
        let others = ["load", "--url", "http://192.0.2.1", "--token", "7"];
        let refused = run(cli(&others).unwrap(), Output { json: true }).unwrap_err();
        let text = format!("{refused:?}");
        assert!(
            text.contains("--server-is-mine") && text.contains("192.0.2.1"),
            "{text}"
        );
    }
}
