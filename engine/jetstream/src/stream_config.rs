//! The settings of the streams, and those that are refused.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::stream::{Config, DiscardPolicy, Info, RetentionPolicy, StorageType};
use foretell_replication::LogError;

use crate::server_version::ServerVersion;
use crate::settings::Settings;

/// Time in which a repeated message is recognised by its id.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);
/// Records of hosts: also under invented names they stay few enough to be read before a takeover. Hosts that run
/// renew theirs several times a second.
const MAX_HOSTS: i64 = 256;

/// The streams: journal, heartbeat, hosts.
pub(crate) fn configs(settings: &Settings, replicas: usize) -> [Config; 3] {
    let journal = Config {
        name: settings.stream.clone(),
        subjects: vec![settings.journal_subject()],
        storage: StorageType::File,
        num_replicas: replicas,
        discard: DiscardPolicy::New,
        deny_delete: true,
        duplicate_window: DUPLICATE_WINDOW,
        ..Config::default()
    };
    let one_a_subject = Config {
        num_replicas: replicas,
        discard: DiscardPolicy::Old,
        max_messages_per_subject: 1,
        ..Config::default()
    };
    let heartbeat = Config {
        name: settings.heartbeat_stream(),
        subjects: vec![settings.heartbeat_subject()],
        storage: StorageType::Memory,
        ..one_a_subject.clone()
    };
    let hosts = Config {
        name: settings.hosts_stream(),
        subjects: vec![settings.host_subject("*")],
        storage: StorageType::File,
        max_messages: MAX_HOSTS,
        ..one_a_subject
    };
    [journal, heartbeat, hosts]
}

/// Refuses a server that is too old.
pub(crate) fn check_server(client: &Client) -> Result<(), LogError> {
    let version = client.server_info().version;
    match ServerVersion::parse(&version) {
        Some(found) if found >= ServerVersion::OLDEST => Ok(()),
        _ => Err(LogError::Unsafe(format!(
            "the server has version {version:?}, allowed are {} and newer: older ones can lose acknowledged messages",
            ServerVersion::OLDEST
        ))),
    }
}

/// Refuses settings that can lose a message, or another number of replicas than wanted (0 = any).
pub(crate) fn check_stream(info: &Info, config: &Config) -> Result<(), LogError> {
    let found = &info.config;
    let wrong = |what: String| {
        Err(LogError::Unsafe(format!(
            "stream {}: {what}; change it with the servers' tools, or make the stream again",
            found.name
        )))
    };
    if config.num_replicas > 0 && found.num_replicas != config.num_replicas {
        return wrong(format!(
            "it has {} replicas, wanted are {}",
            found.num_replicas, config.num_replicas
        ));
    }
    if found.subjects != config.subjects {
        return wrong(format!(
            "it has the subjects {:?}, wanted are {:?}",
            found.subjects, config.subjects
        ));
    }
    if config.max_messages > 0 && found.max_messages != config.max_messages {
        return wrong(format!(
            "it keeps {} messages, wanted are {}",
            found.max_messages, config.max_messages
        ));
    }
    if config.max_messages_per_subject == 1 {
        return match found.max_messages_per_subject {
            1 => Ok(()),
            other => wrong(format!("it keeps {other} messages a subject, wanted is 1")),
        };
    }
    let can_lose = [
        (
            found.storage != StorageType::File,
            "its storage is not file",
        ),
        (
            found.discard != DiscardPolicy::New,
            "it discards old messages (wanted: discard new)",
        ),
        (
            found.retention != RetentionPolicy::Limits,
            "its retention is not limits",
        ),
        (found.max_age > Duration::ZERO, "it has an age limit"),
        (
            found.max_messages_per_subject > 0,
            "it keeps a number of messages a subject",
        ),
        (found.no_ack, "it does not acknowledge"),
        (!found.deny_delete, "it allows deletes"),
        (found.allow_rollup, "it allows roll-ups"),
        (found.sealed, "it is sealed"),
        (
            found.mirror.is_some() || found.sources.is_some(),
            "it copies other streams",
        ),
    ];
    match can_lose.iter().find(|(loses, _)| *loses) {
        Some((_, what)) => wrong((*what).to_owned()),
        None => Ok(()),
    }
}
