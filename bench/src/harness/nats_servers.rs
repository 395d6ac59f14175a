//! Three NATS servers on this machine, each a process with JetStream and `sync_interval: always`.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use foretell_jetstream::{JetStreamLog, Settings, admin};

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
    fn wait(&self) -> Result<(), MeasureError> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.make_streams("probe") {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() > end => return Err(error),
                Err(_) => std::thread::park_timeout(PAUSE),
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
        .map_err(|error| {
            MeasureError::Wrong(format!(
                "{}: {error}; install nats-server 2.10.23 or newer, or name it by --nats-server",
                program.display()
            ))
        })
}
