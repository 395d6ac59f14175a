//! `foretell bench …`: measurements of this machine, from the `bench` crate.

use std::process::ExitCode;

use foretell_bench::{Report, Stream};
use serde_json::{Value, json};

use crate::cli::Bench;
use crate::failure::Failure;
use crate::output::{self, Output};

/// Runs a measurement and prints what it found.
///
/// # Errors
/// A file that is no stream, or lanes that did not do the same work.
pub(crate) fn run(command: &Bench, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Bench::Match { stream, rounds } => {
            let stream = Stream::read(stream).map_err(|error| {
                Failure::new(error.to_string()).hint("make one with `foretell bench stream`")
            })?;
            let report = foretell_bench::compare(&stream, *rounds)
                .map_err(|error| Failure::new(error.to_string()))?;
            if output.json {
                output::line(&to_json(&report)?.to_string());
            } else {
                output::line(report.to_string().trim_end());
            }
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
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(report: &Report) -> Result<Value, Failure> {
    let as_json = |error| Failure::new(format!("report as JSON: {error}"));
    let mut value = serde_json::to_value(report).map_err(as_json)?;
    let goals = report.goals().map(|goal| {
        json!({ "name": goal.name, "most": goal.most, "found": goal.found, "met": goal.is_met() })
    });
    value["goals"] = json!(goals);
    Ok(value)
}
