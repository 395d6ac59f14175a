//! A whole exchange of real processes in its own directory: `foretell up` with free ports.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;

/// Timeout of every step, far above its normal duration.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
///
/// # Panics
/// It does not within [`PATIENCE`].
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not in time");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// `foretell` as it is under test. Variables of the tests are not settings of it.
///
/// # Panics
/// This is no test program of cargo.
#[must_use]
pub fn foretell() -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("FORETELL_")) {
        command.env_remove(name);
    }
    command
}

/// The program under test: cargo builds it beside the folder of the tests.
///
/// # Panics
/// This is no test program of cargo.
#[must_use]
pub fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a program");
    let folder = test.parent().and_then(Path::parent).expect("a folder");
    folder.join("foretell-under-test")
}

/// Options of an exchange under test.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// With the demo's sample and wallets, without its bots and their past.
    pub demo: bool,
    /// The demo with them.
    pub bots: bool,
    /// Gateway processes.
    pub gateways: u32,
    /// Additional settings, as environment variables.
    pub settings: Vec<(String, String)>,
    /// As `up --drill`, which chooses its ports itself.
    pub drill: bool,
    /// Start although an I/O error ended the last engine.
    pub after_io_error: bool,
    /// File that gets the logs of all processes; `None` = standard error of the test.
    pub log: Option<PathBuf>,
    /// Started in place of [`foretell`].
    pub program: Option<PathBuf>,
}

impl Options {
    /// The demo's markets and wallets on one gateway.
    #[must_use]
    pub fn demo() -> Self {
        Self {
            demo: true,
            gateways: 1,
            ..Self::default()
        }
    }

    /// The same on two gateways.
    #[must_use]
    pub fn two_gateways() -> Self {
        Self {
            gateways: 2,
            ..Self::demo()
        }
    }

    /// Adds a setting by its environment variable.
    #[must_use]
    pub fn with(mut self, variable: &str, value: &str) -> Self {
        self.settings.push((variable.to_owned(), value.to_owned()));
        self
    }
}

/// A running exchange; dropping it kills its processes.
pub struct Exchange {
    up: Child,
    lines: mpsc::Receiver<Value>,
    pids: HashMap<String, i32>,
    directory: Directory,
    /// Base URL of the trading surface.
    pub trading: String,
    /// Base URL of the data surface.
    pub data_surface: String,
    /// Base URL of the catalog surface.
    pub catalog: String,
    /// Base URL of the operator surface.
    pub operator: String,
}

enum Directory {
    Own(tempfile::TempDir),
    Given(PathBuf),
}

impl Exchange {
    /// The demo's markets and wallets on one gateway.
    #[must_use]
    pub fn demo() -> Self {
        Self::start(&Options::demo())
    }

    /// Starts `foretell up` on a fresh directory and waits until it is ready.
    ///
    /// # Panics
    /// It does not become ready.
    #[must_use]
    pub fn start(options: &Options) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let data = directory.path().join("data");
        Self::start_on(options, &data, Directory::Own(directory))
    }

    /// Starts it on a data directory that the caller keeps.
    ///
    /// # Panics
    /// It does not become ready.
    #[must_use]
    pub fn start_at(options: &Options, data: &Path) -> Self {
        Self::start_on(options, data, Directory::Given(data.to_owned()))
    }

    fn start_on(options: &Options, data: &Path, directory: Directory) -> Self {
        // Sets the TLS of this process, for clients that tests make.
        let _ = foretell_operator_client::http_client();
        let mut command = options.program.as_ref().map_or_else(foretell, Command::new);
        command.args(["up", "--json", "--data"]).arg(data);
        match options.drill {
            true => command.arg("--drill"),
            false => command.args([
                "--trading-listen",
                "127.0.0.1:0",
                "--data-listen",
                "127.0.0.1:0",
                "--catalog-listen",
                "127.0.0.1:0",
                "--operator-listen",
                "127.0.0.1:0",
            ]),
        };
        if options.demo || options.bots {
            command.arg("--demo");
        }
        if !options.bots && options.demo {
            command.arg("--no-bots");
        }
        if options.after_io_error {
            command.arg("--after-io-error");
        }
        command.env(
            "FORETELL_GATEWAY_PROCESSES",
            options.gateways.max(1).to_string(),
        );
        // Tests send requests without pause, all from one address.
        command.env("FORETELL_LIMITS_ENABLED", "false");
        command.envs(options.settings.iter().map(|(name, value)| (name, value)));
        if let Some(log) = &options.log {
            command.stderr(std::fs::File::create(log).expect("a log file"));
        }
        let mut up = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = up.stdout.take().expect("stdout is piped");
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Ok(value) = serde_json::from_str(&line)
                    && sender.send(value).is_err()
                {
                    return;
                }
            }
        });
        let mut exchange = Self {
            up,
            lines,
            pids: HashMap::new(),
            directory,
            trading: String::new(),
            data_surface: String::new(),
            catalog: String::new(),
            operator: String::new(),
        };
        let ready = exchange.wait_line(|line| line["ready"] == "exchange");
        exchange.trading = ready["trading"].as_str().expect("a URL").to_owned();
        exchange.data_surface = ready["data"].as_str().expect("a URL").to_owned();
        exchange.catalog = ready["catalog"].as_str().expect("a URL").to_owned();
        exchange.operator = ready["operator"].as_str().expect("a URL").to_owned();
        exchange
    }

    /// The data directory.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        match &self.directory {
            Directory::Own(directory) => directory.path().join("data"),
            Directory::Given(data) => data.clone(),
        }
    }

    /// The operator's bearer token.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn operator_token(&self) -> String {
        let text =
            std::fs::read_to_string(self.data().join("operator.token")).expect("a token file");
        text.trim().to_owned()
    }

    /// The page of metrics, made for this request, after the head of its answer.
    ///
    /// # Panics
    /// No answer.
    #[must_use]
    pub fn metrics(&self) -> String {
        use std::io::{Read as _, Write as _};
        let address = self.operator.trim_start_matches("http://");
        let token = self.operator_token();
        let mut stream = TcpStream::connect(address).expect("the operator listens");
        let request = format!(
            "GET /metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("an answer");
        page
    }

    /// Process id of a child, `engine` or `gateway-1`.
    ///
    /// # Panics
    /// It never became ready.
    #[must_use]
    pub fn pid(&self, name: &str) -> i32 {
        *self
            .pids
            .get(name)
            .unwrap_or_else(|| panic!("{name} never became ready"))
    }

    /// Sends a signal to a child.
    ///
    /// # Panics
    /// There is no such process.
    pub fn signal(&self, name: &str, signal: Signal) {
        let pid = Pid::from_raw(self.pid(name)).expect("a process id");
        kill_process(pid, signal).expect("the process is there");
    }

    /// Kills a child with SIGKILL and waits until the supervisor has restarted it and it is ready.
    pub fn kill_and_wait(&mut self, name: &str) {
        self.kill(name);
        self.wait_restarted(name);
    }

    /// Kills a child with SIGKILL.
    pub fn kill(&self, name: &str) {
        self.signal(name, Signal::KILL);
    }

    /// Waits until a child is ready under another process id than before.
    pub fn wait_restarted(&mut self, name: &str) {
        let before = self.pid(name);
        self.wait_line(|line| {
            line["process"] == name
                && line["pid"]
                    .as_i64()
                    .is_some_and(|pid| pid != i64::from(before))
        });
    }

    /// Waits for the end of a child that is not restarted; false if it still runs at the timeout.
    ///
    /// # Panics
    /// The kernel returns an error.
    #[must_use]
    pub fn wait_ended(&self, name: &str, patience: Duration) -> bool {
        let pid = Pid::from_raw(self.pid(name)).expect("a process id");
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => process,
            Err(Errno::SRCH) => return true,
            Err(error) => panic!("{name}: {error}"),
        };
        let mut events = [PollFd::new(&process, PollFlags::IN)];
        let patience = Timespec::try_from(patience).expect("seconds");
        poll(&mut events, Some(&patience)).expect("a process can be waited for") > 0
    }

    /// Exit code of a child that is not restarted.
    ///
    /// # Panics
    /// It was restarted.
    pub fn exit_code(&mut self, name: &str) -> i64 {
        let line = self.wait_line(|line| line["process"] == name);
        let code = line["exit_code"].as_i64();
        code.unwrap_or_else(|| panic!("{name} was started again: {line}"))
    }

    fn wait_line(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self
                .lines
                .recv_timeout(left)
                .expect("the exchange says what we wait for");
            self.note(&line);
            if wanted(&line) {
                return line;
            }
        }
    }

    /// Number of processes restarted by the supervisor since the last call, or since the last
    /// awaited restart.
    pub fn restarts(&mut self) -> usize {
        let mut restarts = 0;
        while let Ok(line) = self.lines.try_recv() {
            restarts += usize::from(self.note(&line));
        }
        restarts
    }

    /// Records the process id of a log line; true if the process had another one before.
    fn note(&mut self, line: &Value) -> bool {
        let (Some(name), Some(pid)) = (line["process"].as_str(), line["pid"].as_i64()) else {
            return false;
        };
        let pid = i32::try_from(pid).expect("a process id");
        self.pids
            .insert(name.to_owned(), pid)
            .is_some_and(|before| before != pid)
    }

    /// `foretell` with these arguments, against this exchange.
    #[must_use]
    pub fn foretell(&self, arguments: &[&str]) -> Command {
        let mut command = foretell();
        let listen = self.operator.trim_start_matches("http://");
        command.env("FORETELL_OPERATOR_LISTEN", listen);
        command.arg("--data").arg(self.data()).args(arguments);
        command
    }

    /// The address of the trading surface.
    ///
    /// # Panics
    /// It has none.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        let address = self.trading.trim_start_matches("http://").parse();
        address.expect("an address")
    }

    /// A connection to the trading surface.
    ///
    /// # Panics
    /// The gateway does not accept.
    #[must_use]
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).expect("the gateway accepts");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Stops an exchange of which no process has ended before.
    ///
    /// # Panics
    /// One has, or the stop is not clean.
    pub fn end(mut self) {
        assert_eq!(self.restarts(), 0, "a process died");
        assert!(self.stop().success());
    }

    /// Stops all processes with SIGTERM and waits.
    ///
    /// # Panics
    /// The wait fails.
    pub fn stop(mut self) -> ExitStatus {
        self.terminate();
        self.up.wait().expect("up can be waited for")
    }

    fn terminate(&self) {
        if let Some(pid) = i32::try_from(self.up.id()).ok().and_then(Pid::from_raw) {
            // The process may have ended already.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.up.try_wait().is_ok_and(|status| status.is_none()) {
            self.terminate();
            let _ = self.up.wait();
        }
    }
}

/// Checks that an error names its code, and that no other answer does (docs/api/error-codes.md).
///
/// # Panics
/// It does not.
pub fn check_error_code(response: &reqwest::Response) {
    let (status, code) = (response.status(), response.headers().get("x-error-code"));
    let failed = status.is_client_error() || status.is_server_error();
    assert_eq!(code.is_some(), failed, "{status}: {code:?}");
}
