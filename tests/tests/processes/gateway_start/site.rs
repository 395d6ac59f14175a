//! An engine in this process, whose history chunks hold four rows, and gateways, each a process
//! with its own data directory that links to the engine's.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use foretell_engine::{JOURNAL_DIRECTORY, Publishing, SNAPSHOT_DIRECTORY, SOCKET_NAME};
use foretell_gateway::{Gateway, GatewayConfig};
use foretell_model::TimeNs;
use foretell_tests::exchange::PATIENCE;
use foretell_tests::in_process::{EngineThread, MASTER, TOKEN, engine_config, gateway_config};
use foretell_view::Chunking;
use serde_json::{Value, json};

/// The engine and its data directory.
pub(crate) struct Site {
    _engine: EngineThread,
    directory: tempfile::TempDir,
}

impl Site {
    /// Starts the engine; it publishes on request.
    pub(crate) fn start() -> Self {
        Self::begin(None)
    }

    /// The same; its first frame says that commands up to a time are simulated.
    pub(crate) fn begin(simulated_until: Option<TimeNs>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut config = engine_config(&directory.path().join("data"));
        config.publishing = Publishing {
            enabled: true,
            interval: Duration::from_secs(1_000_000),
            frames: u64::MAX,
            chunking: Chunking::Bits(2),
        };
        config.beginning.simulated_until = simulated_until.unwrap_or_default();
        Self {
            _engine: EngineThread::start(config),
            directory,
        }
    }

    pub(crate) fn snapshots(&self) -> PathBuf {
        self.directory.path().join("data").join(SNAPSHOT_DIRECTORY)
    }

    /// A data directory with the engine's journal and a copy of its current snapshots. The copy may
    /// be damaged: the files that the engine maps stay unchanged.
    pub(crate) fn copy(&self, name: &str) -> PathBuf {
        let data = self.show(name);
        let copies = data.join(SNAPSHOT_DIRECTORY);
        fs::create_dir(&copies).expect("a directory");
        for entry in fs::read_dir(self.snapshots()).expect("the snapshots") {
            let entry = entry.expect("a file");
            fs::copy(entry.path(), copies.join(entry.file_name())).expect("a copy");
        }
        data
    }

    /// A data directory with the engine's journal and no snapshots.
    pub(crate) fn show(&self, name: &str) -> PathBuf {
        let (own, data) = (
            self.directory.path().join("data"),
            self.directory.path().join(name),
        );
        fs::create_dir(&data).expect("a directory");
        for shared in [JOURNAL_DIRECTORY, SOCKET_NAME] {
            symlink(own.join(shared), data.join(shared)).expect("a link");
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        for name in ["operator.token", "sync.token"] {
            let token = options.open(data.join(name));
            (token.expect("a file").write_all(TOKEN.as_bytes())).expect("it is written");
        }
        data
    }

    /// The same with the snapshots themselves.
    pub(crate) fn share(&self, name: &str) -> PathBuf {
        let data = self.show(name);
        symlink(self.snapshots(), data.join(SNAPSHOT_DIRECTORY)).expect("a link");
        data
    }

    /// A data directory with a copy of the journal as it is now.
    pub(crate) fn keep(&self, name: &str) -> PathBuf {
        let data = self.show(name);
        let journal = data.join(JOURNAL_DIRECTORY);
        fs::remove_file(&journal).expect("a link");
        fs::create_dir(&journal).expect("a directory");
        for entry in fs::read_dir(self.journal()).expect("the journal") {
            let entry = entry.expect("a file");
            fs::copy(entry.path(), journal.join(entry.file_name())).expect("a copy");
        }
        data
    }

    /// Makes the journal that was kept promise what the engine has made durable since: a view never
    /// catches up with it.
    pub(crate) fn promise(&self, data: &Path) {
        let control = data.join(JOURNAL_DIRECTORY).join("control");
        fs::copy(self.journal().join("control"), control).expect("a copy");
    }

    fn journal(&self) -> PathBuf {
        self.directory.path().join("data").join(JOURNAL_DIRECTORY)
    }
}

fn client() -> reqwest::Client {
    foretell_operator_client::http_client()
        .build()
        .expect("a client")
}

/// A gateway process; dropping it kills it.
pub(crate) struct GatewayProcess {
    child: Child,
    log: PathBuf,
    pub(crate) trading: String,
    operator: String,
}

impl GatewayProcess {
    /// Starts one on a data directory and waits until it is ready.
    pub(crate) async fn start(data: &Path) -> Self {
        let log = data.join("gateway.log");
        let mut command = foretell_tests::exchange::foretell();
        command.args(["gateway", "--data"]).arg(data).args([
            "--trading-listen",
            "127.0.0.1:0",
            "--operator-listen",
            "127.0.0.1:0",
        ]);

        command.env("FORETELL_LIMITS_ENABLED", "false");
        command.env("FORETELL_MASTER_SECRET", format!("{MASTER:02x}").repeat(32));
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).expect("a log"))
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        (BufReader::new(stdout).read_line(&mut line)).expect("it says where it listens");
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            let log = fs::read_to_string(&log).unwrap_or_default();
            panic!("{line:?} is no JSON: {error}; its log: {log}")
        });
        let url = |surface: &str| format!("http://{}", said[surface].as_str().expect("a surface"));
        let gateway = Self {
            trading: url("trading"),
            operator: url("operator"),
            child,
            log,
        };
        while gateway.get("/readyz").await.0 != 200 {
            tokio::task::yield_now().await;
        }
        gateway
    }

    /// Base URLs of its trading and its operator surface.
    pub(crate) fn surfaces(&self) -> [&str; 2] {
        [&self.trading, &self.operator]
    }

    /// `GET` of its operator surface.
    async fn get(&self, path: &str) -> (u16, String) {
        let request = client().get(format!("{}{path}", self.operator));
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        (status, response.text().await.expect("a text"))
    }

    /// `POST` to its operator surface, which must succeed.
    pub(crate) async fn done(&self, path: &str, body: Value) -> Value {
        let request = client()
            .post(format!("{}{path}", self.operator))
            .bearer_auth(TOKEN)
            .json(&body);
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let answer: Value = response.json().await.expect("JSON");
        assert_eq!(status, 200, "{path} {body}: {answer}");
        answer
    }

    /// Publishes an image of the current state; returns its sequence.
    pub(crate) async fn snapshot(&self) -> u64 {
        let answer = self.done("/snapshot", json!({})).await;
        answer["sequence"].as_u64().expect("a sequence")
    }

    /// What it has logged so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).expect("a log")
    }

    /// The files it has mapped.
    pub(crate) fn maps(&self) -> String {
        fs::read_to_string(format!("/proc/{}/maps", self.child.id())).expect("it runs")
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A gateway in this process that checks its history only after the start, also a short one:
/// trading surface first, then the operator's.
pub(crate) fn checks_nothing_at_start(data: &Path) -> Gateway {
    let gateway = foretell_gateway::start(GatewayConfig {
        checked_at_start: 0,
        ready_patience: PATIENCE,
        ..gateway_config(data)
    });
    gateway.expect("a gateway")
}
