//! A real server of the log that restarts. `tests/cluster/run` names its binary in `FORETELL_TEST_NATS_SERVER`.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::stream::{Config, DiscardPolicy, Stream};
use foretell_jetstream::{JetStreamLog, Settings, admin};
use foretell_replication::{LogError, Outcome, Publish, ReplicatedLog as _};

/// Longer than anything that is awaited takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with its files in a directory; dropping it kills it.
struct Server(Child);

impl Server {
    fn start(directory: &Path, port: u16) -> Self {
        let binary = std::env::var_os("FORETELL_TEST_NATS_SERVER").expect("the path of a server");
        let child = Command::new(binary)
            .args(["--addr", "127.0.0.1", "--jetstream", "--port"])
            .arg(port.to_string())
            .arg("--store_dir")
            .arg(directory)
            .stderr(Stdio::null())
            .spawn();
        Self(child.expect("the server starts"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the log gives something.
fn wait<T>(mut ask: impl FnMut() -> Result<T, LogError>) -> T {
    let begun = Instant::now();
    loop {
        match ask() {
            Ok(found) => return found,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn settings(port: u16, may_lead: bool) -> Settings {
    Settings {
        host: "alpha".to_owned(),
        servers: vec![format!("nats://127.0.0.1:{port}")],
        stream: "foretell".to_owned(),
        may_lead,
        ..Settings::default()
    }
}

fn connect(port: u16, may_lead: bool) -> JetStreamLog {
    JetStreamLog::connect(&settings(port, may_lead), true).unwrap()
}

#[test]
#[ignore = "needs a server: tests/cluster/run"]
fn a_host_that_may_lead_makes_the_heartbeat_stream_again() {
    let (directory, port) = (tempfile::tempdir().unwrap(), free_port());
    let server = Server::start(directory.path(), port);
    let mut leads = connect(port, true);
    wait(|| admin::init(&leads, 1));
    assert_eq!(wait(|| leads.bounds()).last, 0);
    assert!(wait(|| leads.beats()).is_empty());
    drop(server);
    let _server = Server::start(directory.path(), port);
    // The reader may not make it, and says which one is missing.
    let mut reads = connect(port, false);
    let missing = loop {
        match reads.bounds() {
            Err(LogError::Unreachable(why)) if why.contains("foretell-heartbeat") => break why,
            Err(_) => std::thread::park_timeout(Duration::from_millis(50)),
            Ok(_) => panic!("the stream is there"),
        }
    };
    assert!(missing.contains("not found"), "{missing}");
    // The same connection as before, and one of a host that restarted.
    wait(|| leads.bounds());
    assert!(wait(|| leads.beats()).is_empty());
    let mut restarted = connect(port, true);
    wait(|| restarted.bounds());
    wait(|| reads.bounds());
    admin::check(&restarted).unwrap();
}

#[test]
#[ignore = "needs a server: tests/cluster/run"]
fn settings_are_checked_again_on_a_server_that_comes_back() {
    let (directory, port) = (tempfile::tempdir().unwrap(), free_port());
    let server = Server::start(directory.path(), port);
    let mut log = connect(port, true);
    wait(|| admin::init(&log, 1));
    wait(|| log.bounds());
    drop(server);
    // Another one in its place, whose stream lets messages be deleted.
    let other = tempfile::tempdir().unwrap();
    let _server = Server::start(other.path(), port);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stream = runtime.block_on(stream_with_deletes(port));
    let refused = loop {
        match log.bounds() {
            Err(LogError::Unsafe(why)) => break why,
            Err(_) => std::thread::park_timeout(Duration::from_millis(50)),
            Ok(_) => panic!("the settings were not checked"),
        }
    };
    assert!(refused.contains("it allows deletes"), "{refused}");
    log.publish(Publish {
        expected: 0,
        after: None,
        id: "one".to_owned(),
        payload: vec![1],
    });
    assert_eq!(log.outcome(), Some(("one".to_owned(), Outcome::Unknown)));
    let info = runtime.block_on(stream.get_info()).unwrap();
    assert_eq!(info.state.messages, 0);
}

/// Makes the journal's stream with a setting that can lose messages.
async fn stream_with_deletes(port: u16) -> Stream {
    let client = async_nats::ConnectOptions::new()
        .retry_on_initial_connect()
        .connect(format!("127.0.0.1:{port}"));
    let context = async_nats::jetstream::new(client.await.unwrap());
    let config = Config {
        name: "foretell".to_owned(),
        subjects: vec!["foretell.journal".to_owned()],
        discard: DiscardPolicy::New,
        ..Config::default()
    };
    loop {
        match context.create_stream(config.clone()).await {
            Ok(stream) => return stream,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
