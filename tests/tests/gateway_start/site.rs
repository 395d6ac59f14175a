//! An engine in this process, whose history chunks hold four rows, and gateways, each a process
//! with its own data directory that links to the engine's.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use foretell_auth::{Domains, MasterSecret, Window};
use foretell_engine::{
    EngineConfig, JOURNAL_DIRECTORY, Publishing, SNAPSHOT_DIRECTORY, SOCKET_NAME, SigningDomain,
    StopHandle,
};
use foretell_gateway::{
    Compatibility, ConnectionLimits, Gateway, GatewayConfig, HeaderPrefix, OperatorToken,
    RateLimits, RequestPolicyConfig, Surface, TimeForm,
};
use foretell_tests::exchange::PATIENCE;
use foretell_view::Chunking;
use serde_json::{Value, json};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const MASTER: &str = "0909090909090909090909090909090909090909090909090909090909090909";

/// The engine and its data directory.
pub(crate) struct Site {
    directory: tempfile::TempDir,
    engine: Option<(JoinHandle<()>, StopHandle)>,
}

impl Site {
    /// Starts the engine; it publishes on request.
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut config = EngineConfig::new(directory.path().join("data"));
        config.handle_signals = false;
        config.publishing = Publishing {
            enabled: true,
            interval: Duration::from_secs(1_000_000),
            frames: u64::MAX,
            chunking: Chunking::Bits(2),
        };
        let domain = |domain: &foretell_auth::Domain| SigningDomain {
            number: domain.number(),
            separator: *domain.separator(),
            text: domain.text(),
        };
        config.domains = Domains::default().iter().map(domain).collect();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            foretell_engine::run(&config, |engine| {
                ready.send(engine.stop.clone()).expect("somebody waits");
            })
            .expect("the engine ends in order");
        });
        let stop = is_ready.recv().expect("the engine starts");
        Self {
            directory,
            engine: Some((thread, stop)),
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
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some((thread, stop)) = self.engine.take() {
            stop.stop();
            // The thread's failure has already failed the test.
            let _ = thread.join();
        }
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretell-under-test"));
        command.args(["gateway", "--data"]).arg(data).args([
            "--trading-listen",
            "127.0.0.1:0",
            "--operator-listen",
            "127.0.0.1:0",
        ]);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("FORETELL_")) {
            command.env_remove(name);
        }
        command.env("FORETELL_LIMITS_ENABLED", "false");
        command.env("FORETELL_MASTER_SECRET", MASTER);
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
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    foretell_gateway::start(GatewayConfig {
        journal: data.join(JOURNAL_DIRECTORY),
        snapshots: data.join(SNAPSHOT_DIRECTORY),
        checkpoints: std::path::PathBuf::new(),
        checked_at_start: 0,
        chunking: Default::default(),
        engine_socket: data.join(SOCKET_NAME),
        cluster_status: None,
        listen: vec![(Surface::Trading, any), (Surface::Operator, any)],
        threads: 1,
        connections: ConnectionLimits::default(),
        streams: foretell_gateway::StreamLimits::default(),
        policy: RequestPolicyConfig {
            limits: RateLimits::off(),
            ..RequestPolicyConfig::default()
        },
        // The default settings, so that responses have the same form.
        prefixes: vec![
            HeaderPrefix {
                name: "SERVICE".to_owned(),
                times: TimeForm::Iso,
            },
            HeaderPrefix {
                name: "POLY".to_owned(),
                times: TimeForm::Unix,
            },
        ],
        compatibility: Compatibility::default(),
        ready_patience: PATIENCE,
        window: Window::default(),
        dev_auth_hints: false,
        master: MasterSecret::from_bytes([9; 32]),
        domains: Domains::default(),
        catalog: None,
        stage_log: None,
        page: None,
        operator_token: OperatorToken::new(TOKEN).ok(),
        sync_token: None,
        oracle: None,
    })
    .expect("a gateway")
}
