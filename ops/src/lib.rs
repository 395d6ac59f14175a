//! The `foretell` binary as a library: command line, settings, supervisor, operator commands, demo.
//!
//! Every process of the exchange is a subcommand of this binary. Deliberately absent: any rule of
//! the exchange. The processes are libraries (`foretell-engine`, `foretell-gateway`); operator
//! commands use the operator's HTTP surface like any client.

mod backup;
mod catalog;
mod cli;
mod cluster;
mod config;
mod data_directory;
pub mod demo;
mod doctor;
mod exit_codes;
pub mod failure;
mod fingerprint;
mod journal;
mod logging;
mod operator;
mod page;
mod priority;
mod processes;
mod profile;
mod progress;
mod runtime;
mod secret_file;
mod support_bundle;
pub mod trader;
mod webhooks;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use foretell_engine::JOURNAL_DIRECTORY;
use foretell_journal::disk::{Disk, RealDisk};

use cli::{Cli, Command, ConfigCommand};
use config::Config;
use failure::Failure;
use output::Output;
use processes::sandbox::Sandbox;
use processes::{process, up};

pub use foretell_terminal as output;
pub use operator::private_key;

#[cfg(test)]
#[path = "../tests/generated_docs/mod.rs"]
mod generated_docs;

/// Runs the program with the arguments of the process.
#[must_use]
pub fn run() -> ExitCode {
    run_command(parsed(std::env::args_os()), Arc::new(RealDisk))
}

/// Like [`run`], with these arguments, the program's name included: for programs that start
/// processes of an exchange.
#[must_use]
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_command(parsed(arguments), Arc::new(RealDisk))
}

/// Like [`run`], with the engine's files on this disk: tests inject failures.
#[must_use]
pub fn run_on(disk: Arc<dyn Disk>) -> ExitCode {
    run_command(parsed(std::env::args_os()), disk)
}

fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Cli {
    Cli::read(arguments).unwrap_or_else(|error| error.exit())
}

fn run_command(cli: Cli, disk: Arc<dyn Disk>) -> ExitCode {
    let (output, program) = (Output { json: cli.json }, cli.process_name());
    dispatch(cli, disk).unwrap_or_else(|failure| failure.print(&program, output))
}

fn dispatch(mut cli: Cli, disk: Arc<dyn Disk>) -> Result<ExitCode, Failure> {
    let output = Output { json: cli.json };
    if let Some(reason) = &cli.reason {
        operator::client::set_reason(reason.clone());
    }
    // Output files of an audit are for other users.
    if !matches!(cli.command, Command::Audit(_)) {
        data_directory::restrict_umask();
    }
    if let Command::Config(ConfigCommand::Print { env: true }) = cli.command {
        print_variables(output);
        return Ok(ExitCode::SUCCESS);
    }
    let process = cli.process_name();
    let sandbox = match &cli.command {
        Command::Up(up) if up.sandbox => Some(Sandbox::begin(&mut cli.data)?),
        _ => None,
    };
    let loaded = load(&cli).map_err(|failure| failure.code(foretell_engine::EXIT_REFUSED))?;
    match &cli.command {
        // Refused settings are part of what these say, or nothing to them.
        Command::Doctor | Command::SupportBundle(_) | Command::Completions { .. } => {}
        Command::Up(_) | Command::Config(ConfigCommand::Check) => doctor::check_settings(&loaded)?,
        _ => loaded.check()?,
    }
    operator::client::find_running(&loaded);
    let config = &loaded.config;
    match cli.command {
        Command::Config(command) => print_config(&command, config, output),
        Command::Up(up) => {
            logging::install(&config.log, process)?;
            doctor::check_machine(&loaded)?;
            up::run(config, cli.config.as_deref(), &up, sandbox, output)
        }
        Command::Engine(arguments) => {
            logging::install(&config.log, process)?;
            process::engine(config, &arguments, disk)
        }
        Command::Gateway(arguments) => {
            logging::install(&config.log, process)?;
            process::gateway(config, &arguments)
        }
        Command::Webhooks(arguments) => {
            logging::install(&config.log, process)?;
            webhooks::run(config, &arguments)
        }
        Command::DemoBots(arguments) => {
            logging::install(&config.log, process)?;
            demo::bots::run(config, &arguments)
        }
        Command::Market(command) => operator::market(config, cli.act, &command, output),
        Command::Account(command) => operator::account(config, cli.act, &command, output),
        Command::Withdrawals(command) => operator::withdrawals(config, cli.act, &command, output),
        Command::Catalog(command) => catalog::run(config, &command, output),
        Command::Profile(command) => profile::run(config, &command, output),
        Command::Keys(command) => operator::keys(config, cli.act, &command, output),
        Command::Operators(command) => operator::operators(config, cli.act, &command, output),
        Command::System(command) => operator::system(config, cli.act, &command, output),
        Command::Cluster(command) => cluster::run(config, &command, output),
        Command::Backup(arguments) => backup::backup(config, &arguments, output),
        Command::Restore(arguments) => backup::restore(config, &arguments, output),
        Command::Journal(command) => journal::run(config, &command, output),
        Command::Audit(audit) => {
            let journal = config.data.directory.join(JOURNAL_DIRECTORY);
            Ok(audit.run(&journal, output)?)
        }
        Command::Status => operator::status(config, output),
        Command::Bench { arguments } => Err(moved(&arguments)),
        Command::Doctor => Ok(doctor::run(&loaded, output)),
        Command::SupportBundle(bundle) => support_bundle::run(&loaded, &bundle, output),
        Command::Completions { shell } => {
            print_completions(shell);
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The settings of all sources; of a sandbox those of its caller.
fn load(cli: &Cli) -> Result<config::Loaded, Failure> {
    match &cli.command {
        Command::Up(up) if up.sandbox => {
            let file = cli.config.as_deref();
            Config::of_caller(file, cli::sandbox_defaults(), cli.flags(), &up.settings)
        }
        _ => Config::load(cli.config.as_deref(), std::env::vars(), cli.flags()),
    }
}

/// Names the program that measures.
fn moved(arguments: &[String]) -> Failure {
    Failure::new("measurements are a program of their own")
        .hint(["foretell-bench", &arguments.join(" ")].join(" "))
        .code(exit_codes::USAGE)
}

fn print_completions(shell: clap_complete::Shell) {
    let mut command = Cli::definition();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    // A closed pipe (`| head`) is not an error.
    let _ = std::io::Write::write_all(&mut std::io::stdout(), &script);
}

/// The names of the environment variables, or a JSON object of them by setting.
fn print_variables(output: Output) {
    let variables = config::variables();
    if output.json {
        let object: serde_json::Map<_, _> = variables
            .into_iter()
            .map(|(setting, name)| (setting, name.into()))
            .collect();
        output::line(&serde_json::Value::Object(object).to_string());
    } else {
        variables.iter().for_each(|(_, name)| output::line(name));
    }
}

fn print_config(
    command: &ConfigCommand,
    config: &Config,
    output: Output,
) -> Result<ExitCode, Failure> {
    let as_json = || {
        serde_json::to_value(config)
            .map_err(|error| Failure::new(format!("settings as JSON: {error}")))
    };
    match command {
        ConfigCommand::Check if output.json => output::line(r#"{"ok":true}"#),
        ConfigCommand::Check => output::line("configuration is valid"),
        ConfigCommand::Print { .. } if output.json => output::line(&as_json()?.to_string()),
        ConfigCommand::Print { .. } => {
            let text = toml::to_string_pretty(config)
                .map_err(|error| Failure::new(format!("settings as TOML: {error}")))?;
            output::line(text.trim_end());
        }
    }
    Ok(ExitCode::SUCCESS)
}
