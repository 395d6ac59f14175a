//! `foretell cluster …`: the replicated log, and this host's place in the cluster.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use foretell_auth::MasterSecret;
use foretell_engine::{CLUSTER_STATUS_NAME, JOURNAL_DIRECTORY};
use foretell_jetstream::{JetStreamLog, admin};
use foretell_journal::replica;
use foretell_journal::restored::{IncompleteCopy, restored_from};
use foretell_journal::wall_clock;
use foretell_link::{CLUSTER_STATUS_MAX_AGE_MS, ClusterStatus};
use foretell_replication::{Fill, LogError, Message, ReplicatedLog as _, SignedLog, message_of};
use serde_json::{Value, json};

use crate::cli::ClusterCommand;
use crate::config::{ClusterRole, Config};
use crate::data_directory::prepare_data_directory;
use crate::exit_codes::{REFUSED, UNREACHABLE};
use crate::failure::Failure;
use crate::output::{Output, field, table};
use crate::processes::cluster_config::{self, log_settings};

/// Room for headers in a message.
const HEADER_ROOM: usize = 4_096;
/// A fill without a confirmation for this long ends.
const FILL_PATIENCE: Duration = Duration::from_secs(20);
/// An outcome ends the wait earlier.
const FILL_WAIT: Duration = Duration::from_millis(25);
/// Hosts that must have the frames before they are purged.
const PURGE_HOSTS: usize = 2;

/// Runs a command.
///
/// # Errors
/// The log cannot be reached or used, or the command is refused.
pub(crate) fn run(
    config: &Config,
    command: &ClusterCommand,
    output: Output,
) -> Result<ExitCode, Failure> {
    if let ClusterCommand::Status = command {
        return show_status(config, output);
    }
    if config.cluster.role == ClusterRole::Standalone {
        return Err(
            Failure::new("cluster.role is \"standalone\": this host has no cluster")
                .hint("set the [cluster] settings, or name their file with --config"),
        );
    }
    match command {
        ClusterCommand::Init { from, replicas } => {
            init(config, from.as_deref(), (*replicas).into(), output)
        }
        ClusterCommand::Seed => seed(config, output),
        ClusterCommand::Purge { before, verified } => purge(config, *before, verified, output),
        ClusterCommand::Status => unreachable!("shown above"),
    }
}

fn connect(config: &Config) -> Result<JetStreamLog, Failure> {
    JetStreamLog::connect(&log_settings(config), false).map_err(log_failure)
}

/// A connection that knows what counts.
fn connect_signed(config: &Config) -> Result<SignedLog, Failure> {
    prepare_data_directory(&config.data.directory)?;
    let keys = cluster_config::keys(config)?;
    Ok(SignedLog::new(Box::new(connect(config)?), keys))
}

fn log_failure(error: LogError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        LogError::Unreachable(_) => failure
            .hint("check cluster.servers, the certificates and the servers themselves")
            .code(UNREACHABLE),
        LogError::Unsafe(_) => failure.code(REFUSED),
    }
}

/// The last report of the engine of a data directory, and its age in milliseconds if that engine does not run anymore.
pub(crate) fn last_report(data: &Path) -> Option<(ClusterStatus, Option<u64>)> {
    let bytes = std::fs::read(data.join(CLUSTER_STATUS_NAME)).ok()?;
    let status = ClusterStatus::decode(&bytes)?;
    let age_ms = wall_clock::now().millis().0.saturating_sub(status.wall_ms);
    Some((
        status,
        (age_ms > CLUSTER_STATUS_MAX_AGE_MS).then_some(age_ms),
    ))
}

fn show_status(config: &Config, output: Output) -> Result<ExitCode, Failure> {
    let data = &config.data.directory;
    let (status, old_ms) = last_report(data).ok_or_else(|| {
        let path = data.join(CLUSTER_STATUS_NAME);
        Failure::new(format!("{}: no report of an engine", path.display()))
            .hint("`foretell up` with [cluster] settings, or --data of the host that runs")
            .code(UNREACHABLE)
    })?;
    let is_old = old_ms.is_some();
    output.answer(&status_json(&status, is_old), |value| {
        let rows: Vec<Vec<String>> = value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| vec![name.replace('_', " "), field(value, name)])
            .collect();
        table(&rows)
    });
    if let Some(age_ms) = old_ms {
        return Err(Failure::new(format!(
            "the report is {} s old: no engine is running here",
            age_ms / 1_000
        ))
        .code(UNREACHABLE));
    }
    Ok(ExitCode::SUCCESS)
}

/// The status as operators see it.
fn status_json(status: &ClusterStatus, is_old: bool) -> Value {
    json!({
        "host": status.host,
        "role": status.role,
        "leading": status.leading && !is_old,
        "term": status.term,
        "leader": status.leader,
        "leader_address": status.leader_address,
        "own_sequence": status.own_sequence,
        "stream_sequence": status.stream_sequence,
        "lag_frames": status.lag_frames(),
        "lag_ms": status.lag_ms,
        "message": status.message,
        "takeovers": status.takeovers,
        "foreign_messages": status.foreign_messages,
        "lost_message": status.lost_message,
        "clock": if status.clock.is_empty() { "agrees" } else { &status.clock },
        "state": if is_old { "engine not running" } else { &status.state },
    })
}

fn init(
    config: &Config,
    from: Option<&Path>,
    replicas: usize,
    output: Output,
) -> Result<ExitCode, Failure> {
    let mut log = connect(config)?;
    admin::init(&log, replicas).map_err(log_failure)?;
    let last = log.bounds().map_err(log_failure)?.last;
    make_key(config, last)?;
    if let Some(data) = from {
        let largest = admin::max_payload(&log).saturating_sub(HEADER_ROOM);
        fill(
            &mut connect_signed(config)?,
            &data.join(JOURNAL_DIRECTORY),
            largest,
        )?;
    }
    let bounds = log.bounds().map_err(log_failure)?;
    let key = config.cluster_key_file();
    let answer = json!({ "ok": true, "replicas": replicas, "messages": bounds.last, "key": key });
    output.answer(&answer, |_| {
        format!(
            "the log is ready: {replicas} replicas, {} messages; its key is {}: copy it to the other hosts that may lead, \
             and cluster.pub beside it to readers",
            bounds.last,
            key.display()
        )
    });
    Ok(ExitCode::SUCCESS)
}

/// Makes the key of a new cluster. A log with `messages` has one already.
fn make_key(config: &Config, messages: u64) -> Result<(), Failure> {
    let key = config.cluster_key_file();
    if config.cluster.role == ClusterRole::Reader {
        let text =
            "cluster.role is \"reader\": the key of a cluster is made on a host that may lead";
        return Err(Failure::new(text).code(REFUSED));
    }
    prepare_data_directory(&config.data.directory)?;
    if !key.exists() && messages > 0 {
        let text = format!(
            "the log has {messages} messages, and {} is missing",
            key.display()
        );
        let hint = "copy it from a host that may lead, or remove the streams to begin again";
        return Err(Failure::new(text).hint(hint).code(REFUSED));
    }
    MasterSecret::load_or_create(&key)
        .map_err(|error| Failure::new(error.to_string()).code(REFUSED))?;
    cluster_config::keys(config).map(drop)
}

/// Publishes a journal. A fill that was interrupted goes on.
fn fill(log: &mut SignedLog, journal: &Path, largest: usize) -> Result<(), Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", journal.display()));
    if let Some(IncompleteCopy { last, .. }) =
        restored_from(journal).map_err(|error| failed(&error))?
    {
        return Err(failed(&format!(
            "it was restored from a backup that ends at sequence {last}; frames after it may be missing"
        ))
        .hint("use --complete for a backup of a stopped exchange, or start it once without the cluster")
        .code(REFUSED));
    }
    log.set_genesis(foretell_journal::genesis(journal).map_err(|error| failed(&error))?);
    let last = log.bounds().map_err(log_failure)?.last;
    let thread = std::thread::current();
    log.set_waker(Arc::new(move || thread.unpark()));
    let mut wait = || std::thread::park_timeout(FILL_WAIT);
    let mut fill = Fill::new(last, FILL_PATIENCE);
    let mut compared = 0;
    let mut publish_next = |message: &[u8]| -> Result<(), String> {
        while compared < last {
            compared += 1;
            match log.read(compared).map_err(|error| error.to_string())? {
                Some(Message::Foreign) => {}
                Some(Message::Signed { content, .. }) if content == message => return Ok(()),
                _ => {
                    return Err(format!(
                        "the log has another message {compared}: it is of another journal"
                    ));
                }
            }
        }
        if message.len() > largest {
            return Err(format!(
                "a batch has {} bytes, the servers accept {largest}: raise their max_payload to fill the log",
                message.len()
            ));
        }
        let pushed = fill.push(log, message, &mut wait);
        pushed.map_err(|error| error.to_string())
    };
    let options = foretell_journal::Options::default();
    replica::each_item(journal, &options, &mut publish_next).map_err(|error| failed(&error))?;
    fill.finish(log, &mut wait).map_err(|error| failed(&error))
}

fn seed(config: &Config, output: Output) -> Result<ExitCode, Failure> {
    let mut log = connect_signed(config)?;
    let bounds = log.bounds().map_err(log_failure)?;
    let from_stream = bounds.first == 1;
    let hosts = log.hosts().map_err(log_failure)?;
    let best = hosts.iter().max_by_key(|host| host.sequence);
    let steps = seed_steps(config, best.map(|host| host.host.as_str()), from_stream);
    let answer = json!({
        "from_stream": from_stream,
        "first_message": bounds.first,
        "last_message": bounds.last,
        "copy_from": best.map(|host| &host.host),
        "steps": steps,
    });
    output.answer(&answer, |_| {
        let head = if from_stream {
            "The stream holds the whole journal: a new host reads it from its beginning.".to_owned()
        } else {
            format!(
                "The stream begins at message {}: a new host needs a copy of a data directory.",
                bounds.first
            )
        };
        let numbered = steps.iter().enumerate();
        let numbered = numbered.map(|(at, step)| format!("{}. {step}", at + 1));
        format!("{head}\n{}", numbered.collect::<Vec<_>>().join("\n"))
    });
    Ok(ExitCode::SUCCESS)
}

/// How a new host begins, with a copy of `source` unless the stream has everything.
fn seed_steps(config: &Config, source: Option<&str>, from_stream: bool) -> Vec<String> {
    let own = config.data.directory.display();
    let source = source.unwrap_or("a host of the cluster");
    let copy = format!(
        "on {source}: foretell backup DIR; copy DIR to this host; foretell restore DIR --data {own}"
    );
    let mut steps = Vec::new();
    if !from_stream {
        steps.push(copy);
    }
    steps.push(format!(
        "copy {} of a host that may lead to {own}, mode 600",
        cluster_config::copied_keys(config.cluster.role).join(", ")
    ));
    if config.cluster.role == ClusterRole::Reader {
        steps.push(format!(
            "add \"{}=KEY\" to cluster.readers of the other hosts; KEY is the text of {}",
            config.cluster.host,
            config.reader_public_key_file().display()
        ));
    }
    steps.push("start it: foretell up --config FILE; it follows from there".to_owned());
    steps
}

fn purge(
    config: &Config,
    before: u64,
    verified: &[String],
    output: Output,
) -> Result<ExitCode, Failure> {
    let mut named: Vec<&String> = verified.iter().collect();
    named.sort();
    named.dedup();
    if named.len() < PURGE_HOSTS {
        return Err(Failure::new(format!(
            "--verified names {} host, at least {PURGE_HOSTS} different hosts are required",
            named.len()
        ))
        .code(REFUSED));
    }
    let mut log = connect_signed(config)?;
    let journal = config.data.directory.join(JOURNAL_DIRECTORY);
    let genesis = foretell_journal::genesis(&journal);
    log.set_genesis(genesis.map_err(|error| Failure::new(error.to_string()).code(REFUSED))?);
    let hosts = log.hosts().map_err(log_failure)?;
    for name in named {
        let host = hosts.iter().find(|host| host.host == *name);
        let has = host.map_or(0, |host| host.sequence);
        if has < before {
            return Err(Failure::new(format!(
                "host {name} has verified frames up to {has}, but {before} is required"
            ))
            .code(REFUSED));
        }
    }
    let bounds = log.bounds().map_err(log_failure)?;
    let keep =
        message_of(&mut log, bounds, before).map_err(|error| Failure::new(error.to_string()))?;
    let purged = match keep {
        Some(number) if number > bounds.first => {
            admin::purge(&connect(config)?, number).map_err(log_failure)?
        }
        _ => 0,
    };
    let answer = json!({ "purged": purged, "first_message": keep });
    output.answer(&answer, |_| format!("{purged} messages removed"));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_host_gets_the_keys_of_its_role() {
        for (role, gets) in [
            (ClusterRole::Standby, "cluster.key, cluster.pub of"),
            (ClusterRole::Reader, "checkpoint.pub, cluster.pub of"),
        ] {
            let mut config = Config::default();
            config.cluster.role = role;
            let steps = seed_steps(&config, Some("alpha"), false);
            assert!(steps[0].contains("alpha") && steps[0].contains("foretell backup"));
            assert!(steps[1].contains(gets), "{}", steps[1]);
        }
    }

    #[test]
    fn the_status_of_an_engine_that_has_ended_says_so() {
        let status = ClusterStatus {
            host: "a".to_owned(),
            leading: true,
            own_sequence: 5,
            stream_sequence: 7,
            state: "leading".to_owned(),
            ..ClusterStatus::default()
        };
        let (now, old) = (status_json(&status, false), status_json(&status, true));
        assert_eq!(
            (&now["leading"], &now["lag_frames"]),
            (&json!(true), &json!(2))
        );
        assert_eq!(
            (&old["leading"], &old["state"]),
            (&json!(false), &json!("engine not running"))
        );
    }
}
