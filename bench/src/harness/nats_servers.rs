//! Three NATS servers on this machine, each a process with JetStream and `sync_interval: always`.

use std::fmt::Display;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use foretell_jetstream::{JetStreamLog, ServerVersion, Settings, admin};

use crate::error::MeasureError;

/// Servers of a cluster, and replicas of its streams.
pub(crate) const SERVERS: usize = 3;
/// Maximum time of their first election.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);

/// Running servers; dropping them kills the processes.
pub(crate) struct NatsServers {
    children: Vec<Child>,
    urls: Vec<String>,
}

impl NatsServers {
    /// Starts the servers with their files under `directory`, and waits until they have a leader.
    pub(crate) fn start(program: &Path, directory: &Path) -> Result<Self, MeasureError> {
        check(program)?;
        let ports = free_ports(2 * SERVERS)?;
        let (clients, routes) = ports.split_at(SERVERS);
        let mut servers = Self {
            children: Vec::new(),
            urls: clients.iter().map(|port| url(*port)).collect(),
        };
        for (number, port) in clients.iter().enumerate() {
            let file = directory.join(format!("nats-{number}.conf"));
            let text = configuration(number, directory, *port, routes);
            std::fs::write(&file, text).map_err(MeasureError::io("writing a server's file"))?;
            servers.children.push(run(program, &file)?);
        }
        servers.wait()?;
        Ok(servers)
    }

    /// How a host reaches the stream.
    pub(crate) fn settings(&self, host: &str, stream: &str) -> Settings {
        Settings {
            host: host.to_owned(),
            servers: self.urls.clone(),
            stream: stream.to_owned(),
            ..Settings::default()
        }
    }

    /// Makes the streams of a cluster.
    pub(crate) fn make_streams(&self, stream: &str) -> Result<(), MeasureError> {
        let log = JetStreamLog::connect(&self.settings("bench", stream), false)
            .map_err(MeasureError::wrong)?;
        admin::init(&log, SERVERS).map_err(MeasureError::wrong)
    }

    /// Waits until a stream can be made.
    fn wait(&mut self) -> Result<(), MeasureError> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.make_streams("probe") {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() > end => return Err(error),
                Err(_) => std::thread::park_timeout(PAUSE),
            }
            for child in &mut self.children {
                let ended = child
                    .try_wait()
                    .map_err(MeasureError::io("watching a server"))?;
                if let Some(status) = ended {
                    return Err(MeasureError::Wrong(format!(
                        "a NATS server ended: {status}"
                    )));
                }
            }
        }
    }
}

impl Drop for NatsServers {
    fn drop(&mut self) {
        for child in &mut self.children {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn url(port: u16) -> String {
    format!("nats://127.0.0.1:{port}")
}

/// Ports that were free a moment ago.
fn free_ports(count: usize) -> Result<Vec<u16>, MeasureError> {
    let bound = || {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        Ok((listener, port))
    };
    let listeners: std::io::Result<Vec<_>> = (0..count).map(|_| bound()).collect();
    let listeners = listeners.map_err(MeasureError::io("finding a free port"))?;
    Ok(listeners.iter().map(|(_, port)| *port).collect())
}

fn configuration(number: usize, directory: &Path, port: u16, routes: &[u16]) -> String {
    let store: PathBuf = directory.join(format!("nats-{number}"));
    let peers: Vec<String> = routes.iter().map(|port| url(*port)).collect();
    format!(
        r#"server_name: "bench-{number}"
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{}", sync_interval: always }}
cluster {{ name: "bench", listen: "127.0.0.1:{}", routes: [{}] }}
"#,
        store.display(),
        routes[number],
        peers.join(", ")
    )
}

fn run(program: &Path, configuration: &Path) -> Result<Child, MeasureError> {
    Command::new(program)
        .arg("--config")
        .arg(configuration)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| unusable(program, error))
}

/// Help of the option that names the program.
pub(crate) fn program() -> String {
    format!("Program of the servers, {} or newer", ServerVersion::OLDEST)
}

/// Refuses a program that does not run or is too old.
pub(crate) fn check(program: &Path) -> Result<(), MeasureError> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|error| unusable(program, error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match ServerVersion::of_program(&text) {
        Some(version) if version >= ServerVersion::OLDEST => Ok(()),
        Some(version) => Err(unusable(program, format!("version {version} is too old"))),
        None => Err(unusable(
            program,
            format!("no nats-server, its version is {:?}", text.trim()),
        )),
    }
}

fn unusable(program: &Path, why: impl Display) -> MeasureError {
    MeasureError::Wrong(format!(
        "{}: {why}; install nats-server {} or newer, or name it by --nats-server",
        program.display(),
        ServerVersion::OLDEST
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_program_that_is_too_old_is_refused_by_its_version() {
        let directory = tempfile::tempdir().unwrap();
        let program = |name: &str, says: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
            let executable = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(&path, executable).unwrap();
            path
        };
        let newest = program("newest", "nats-server: v9.0.0");
        check(&newest).unwrap();
        let cases = [
            (
                program("old", "nats-server: v2.9.10"),
                "version 2.9.10 is too old",
            ),
            (
                program("other", "GNU tar 1.34"),
                r#"its version is "GNU tar 1.34""#,
            ),
            (directory.path().join("nothing"), "No such file"),
        ];
        for (program, why) in cases {
            let refused = check(&program).unwrap_err().to_string();
            let needed = format!("install nats-server {} or newer", ServerVersion::OLDEST);
            assert!(
                refused.contains(why) && refused.contains(&needed),
                "{refused}"
            );
        }
    }
}
