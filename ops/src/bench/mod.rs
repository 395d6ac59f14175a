//! `foretell bench …`: measurements of this machine, from the `bench` crate.

mod all;
pub(crate) mod arguments;
mod files;
pub(crate) mod load;
mod report_output;

use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::time::Duration;

use foretell_bench::measure::{
    catalog, data, entry, journal, markets, matching, reads, recover, replay, snapshots, start,
};
use foretell_bench::{ExternalBaseline, Report, Stream};
use serde_json::json;

use crate::audit::{self, measure::measure};
use crate::failure::Failure;
use crate::output::Output;
use arguments::{Bench, Measurement, What};

/// Runs a measurement, prints its report, and saves it if requested.
///
/// # Errors
/// A file is not a stream or cannot be written, lanes disagree, or an engine or a gateway does not
/// start or answers wrongly.
pub(crate) fn run(bench: &Bench, output: Output) -> Result<ExitCode, Failure> {
    let report = match &bench.what {
        What::Compare { before, after } => return files::compare(before, after, output),
        What::Report { files, out } => return files::page(files, out.as_deref()),
        What::Stream {
            out,
            markets,
            commands,
            live,
        } => return write_stream(out, (*markets, *commands, *live), output),
        What::Measure(measurement) => report(measurement)?,
    };
    report_output::show(report, bench, output)?;
    Ok(ExitCode::SUCCESS)
}

fn write_stream(
    out: &Path,
    (markets, commands, live): (u32, usize, u32),
    output: Output,
) -> Result<ExitCode, Failure> {
    let stream = foretell_bench::generate(markets, commands, live).map_err(failure)?;
    stream.write(out).map_err(failure)?;
    let value = json!({ "commands": stream.entries().len(), "orders": stream.orders() });
    output.answer(&value, |value| {
        format!("{} commands, {} orders", value["commands"], value["orders"])
    });
    Ok(ExitCode::SUCCESS)
}

fn report(what: &Measurement) -> Result<Report, Failure> {
    match what {
        Measurement::All {
            only,
            reference,
            scratch,
        } => all::run(only, reference.as_deref(), scratch),
        Measurement::Match {
            stream: file,
            rounds,
            reference,
        } => {
            let stream = Stream::read(file)
                .map_err(|error| failure(error).hint("make one with `foretell bench stream`"))?;
            let reference = reference.as_deref();
            let reference = reference.map(|command| ExternalBaseline::new(command, file));
            matching::compare(&stream, *rounds, reference.as_ref()).map_err(failure)
        }
        Measurement::Recover {
            orders,
            rounds,
            scratch,
        } => recover::measure(&directory(scratch), *orders, *rounds).map_err(failure),
        Measurement::Entry {
            orders,
            rounds,
            scratch,
        } => entry::measure(&directory(scratch), *orders, *rounds).map_err(failure),
        Measurement::Journal {
            rounds,
            orders,
            seconds,
            scratch,
        } => {
            let scope = journal::JournalScope {
                rounds: *rounds,
                orders: *orders,
                turn: Duration::from_secs(*seconds),
            };
            journal::measure(&directory(scratch), &scope).map_err(failure)
        }
        Measurement::Replay {
            commands,
            rounds,
            scratch,
        } => replay::measure(&directory(scratch), *commands, *rounds).map_err(failure),
        Measurement::Markets { commands, rounds } => {
            markets::measure(*commands, *rounds).map_err(failure)
        }
        Measurement::Snapshots { trades, scratch } => {
            with_gateways("trading", scratch, |scratch, gateway| {
                snapshots::measure(scratch, *trades, gateway)
            })
        }
        Measurement::Audit {
            orders,
            signatures,
            reference,
            rounds,
            scratch,
        } => {
            let options = audit::Options {
                signatures: *signatures,
                reference: *reference,
                ..audit::Options::default()
            };
            measure(&directory(scratch), *orders, &options, *rounds)
        }
        Measurement::Load(arguments) => load::run(arguments),
        Measurement::Reads {
            rounds,
            seconds,
            scratch,
        } => reads::measure(&directory(scratch), *rounds, Duration::from_secs(*seconds))
            .map_err(failure),
        Measurement::Catalog {
            events,
            rounds,
            cache,
        } => {
            let scope = catalog::CatalogScope {
                events: *events,
                rounds: *rounds,
            };
            let kept = cache.clone();
            let kept = kept.unwrap_or_else(|| std::env::temp_dir().join("foretell-bench-catalog"));
            let program = this_program()?;
            with_gateways("catalog", &Some(kept), |kept, gateway| {
                let import = |data: &Path, file: &Path| import(&program, data, file);
                catalog::measure(kept, &scope, &import, gateway)
            })
        }
        Measurement::Start {
            trades,
            rounds,
            seconds,
            scratch,
        } => {
            let scope = start::StartScope {
                trades: *trades,
                rounds: *rounds,
                turn: Duration::from_secs(*seconds),
            };
            with_gateways("trading", scratch, |scratch, gateway| {
                start::measure(scratch, &scope, gateway)
            })
        }
        Measurement::Data {
            trades,
            wallets,
            markets,
            rounds,
            cache,
        } => {
            let scope = data::DataScope {
                trades: *trades,
                wallets: *wallets,
                markets: *markets,
                rounds: *rounds,
            };
            with_gateways("data", cache, |cache, gateway| {
                data::measure(cache, &scope, gateway)
            })
        }
    }
}

/// A measurement error as a failure of the command.
fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

/// Runs a measurement that starts single-surface gateways as child processes.
fn with_gateways(
    surface: &str,
    scratch: &Option<PathBuf>,
    measure: impl FnOnce(
        &Path,
        &dyn Fn(&Path) -> process::Command,
    ) -> Result<Report, foretell_bench::MeasureError>,
) -> Result<Report, Failure> {
    let (program, scratch) = (this_program()?, absolute(directory(scratch))?);
    measure(&scratch, &|data| gateway(&program, surface, data)).map_err(failure)
}

/// Command line of a gateway with one surface on a data directory, listening on a free port.
fn gateway(program: &Path, surface: &str, data: &Path) -> process::Command {
    let mut command = plain(program, data);
    command.args(["gateway", "--surfaces", surface]);
    command.args([&format!("--{surface}-listen"), "127.0.0.1:0", "--data"]);
    command.arg(data);
    // A measurement sends as fast as it can from one address.
    command.env("FORETELL_LIMITS_ENABLED", "false");
    command
}

/// Command line that imports a file into the catalog of a data directory.
fn import(program: &Path, data: &Path, file: &Path) -> process::Command {
    let mut command = plain(program, data);
    command.args(["catalog", "import", "--catalog-only", "--json", "--data"]);
    command.arg(data).arg(file);
    command
}

/// Command line of this program on a data directory with default settings.
fn plain(program: &Path, data: &Path) -> process::Command {
    let mut command = process::Command::new(program);
    command.current_dir(data);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("FORETELL_")) {
        command.env_remove(name);
    }
    command
}

fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find this program: {error}")))
}

fn absolute(directory: PathBuf) -> Result<PathBuf, Failure> {
    std::path::absolute(directory)
        .map_err(|error| Failure::new(format!("cannot find the working directory: {error}")))
}

/// Directory in which a measurement makes its temporary directory.
fn directory(scratch: &Option<PathBuf>) -> PathBuf {
    scratch.clone().unwrap_or_else(std::env::temp_dir)
}
