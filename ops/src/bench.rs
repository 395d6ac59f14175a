//! `foretell bench …`: measurements of this machine, from the `bench` crate.

use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use foretell_bench::report::Goal;
use foretell_bench::{Stream, entry, reads, recover};
use serde::Serialize;
use serde_json::json;

use crate::audit::measure::measure;
use crate::cli::Bench;
use crate::failure::Failure;
use crate::output::Output;

/// Runs a measurement and prints what it found.
///
/// # Errors
/// A file that is no stream, lanes that did not do the same work, or an engine or a gateway that
/// does not start or answers wrongly.
pub(crate) fn run(command: &Bench, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Bench::Match { stream, rounds } => {
            let stream = Stream::read(stream).map_err(|error| {
                Failure::new(error.to_string()).hint("make one with `foretell bench stream`")
            })?;
            let report = foretell_bench::compare(&stream, *rounds)
                .map_err(|error| Failure::new(error.to_string()))?;
            show(&report, &report.goals(), output)?;
        }
        Bench::Stream {
            out,
            markets,
            commands,
            live,
        } => {
            let stream = foretell_bench::generate(*markets, *commands, *live)
                .map_err(|error| Failure::new(error.to_string()))?;
            stream
                .write(out)
                .map_err(|error| Failure::new(error.to_string()))?;
            let value = json!({ "commands": stream.entries().len(), "orders": stream.orders() });
            output.answer(&value, |value| {
                format!("{} commands, {} orders", value["commands"], value["orders"])
            });
        }
        Bench::Recover {
            orders,
            rounds,
            scratch,
        } => {
            let report = recover::measure(&directory(scratch), *orders, *rounds)
                .map_err(|error| Failure::new(error.to_string()))?;
            show(&report, &[report.goal()], output)?;
        }
        Bench::Entry {
            orders,
            rounds,
            scratch,
        } => {
            let report = entry::measure(&directory(scratch), *orders, *rounds)
                .map_err(|error| Failure::new(error.to_string()))?;
            show(&report, &[report.goal()], output)?;
        }
        Bench::Audit {
            orders,
            signatures,
            rounds,
            scratch,
        } => {
            let report = measure(&directory(scratch), (*orders, *signatures), *rounds)?;
            show(&report, &report.goals(), output)?;
        }
        Bench::Reads {
            rounds,
            seconds,
            scratch,
        } => {
            let freshness = Duration::from_secs(*seconds);
            let report = reads::measure(&directory(scratch), *rounds, freshness)
                .map_err(|error| Failure::new(error.to_string()))?;
            show(&report, &report.goals(), output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where a measurement may make its temporary directory.
fn directory(scratch: &Option<PathBuf>) -> PathBuf {
    scratch.clone().unwrap_or_else(std::env::temp_dir)
}

fn show(
    report: &(impl Serialize + Display),
    goals: &[Goal],
    output: Output,
) -> Result<(), Failure> {
    let mut value = serde_json::to_value(report)
        .map_err(|error| Failure::new(format!("report as JSON: {error}")))?;
    let goals = goals.iter().map(|goal| {
        json!({ "name": goal.name, "most": goal.most, "found": goal.found, "met": goal.is_met() })
    });
    value["goals"] = goals.collect();
    output.answer(&value, |_| report.to_string());
    Ok(())
}
