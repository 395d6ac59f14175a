//! A restored copy reaches nothing outside before an admin opens it, and a drill never does
//! (docs/verify/rules.md §31). The original runs beside it all the while.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use foretell_gateway::sign_webhook;
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_tests::demo::plain_markets;
use foretell_tests::exchange::{Exchange, Options, PATIENCE, wait_until};
use foretell_tests::operator::{done, get};
use foretell_tests::webhook_receiver::WebhookReceiver;
use serde_json::{Value, json};

use crate::backup::site::{answer, backup, deposit, on, refusal, text};

const ORACLE_SECRET: &str = "fedcba9876543210fedcba9876543210";

/// An exchange that tells a receiver, and a copy of it that was not started yet.
struct Original {
    exchange: Exchange,
    receiver: WebhookReceiver,
    upstream: Upstream,
    copy: PathBuf,
    directory: tempfile::TempDir,
}

impl Original {
    fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let [data, stored, copy] =
            ["data", "stored", "copy"].map(|name| directory.path().join(name));
        let receiver = WebhookReceiver::start();
        let exchange = Exchange::start_at(&receiver.told_by(Options::demo()), &data);
        backup(&data, &stored, &["--with-secrets"]);
        answer(on(&copy, &["restore", text(&stored)]));
        Self {
            exchange,
            receiver,
            upstream: Upstream::start(),
            copy,
            directory,
        }
    }

    /// Options of the copy: everything that reaches out is on.
    fn options(&self) -> Options {
        let secret = self.directory.path().join("oracle.secret");
        fs::write(&secret, ORACLE_SECRET).expect("a file");
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("a mode");
        let options = Options {
            demo: false,
            log: Some(self.log()),
            ..self.receiver.told_by(Options::demo())
        };
        options
            .with("FORETELL_CATALOG_UPSTREAM", &self.upstream.base)
            .with("FORETELL_CATALOG_EVERY_SECONDS", "1")
            .with("FORETELL_OPERATOR_ORACLE_SECRET_FILE", text(&secret))
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("copy.log")
    }

    /// Something happens on the copy and then on the original, whose receiver hears of it: by then it would have
    /// heard of the copy. Asserts that it did not, and that the copy did not ask the upstream.
    fn hears_of_the_original_alone(&self, copy: &Exchange) {
        deposit(copy);
        let deposits = |notices: &[Value]| {
            let notices = notices.iter();
            notices.filter(|it| it["type"] == "deposit").count()
        };
        let before = deposits(&self.receiver.wait(PATIENCE, |_| true).0);
        deposit(&self.exchange);
        let hears = |notices: &[Value]| deposits(notices) > before;
        let (notices, _) = self.receiver.wait(PATIENCE, hears);
        assert_eq!(streams(&notices).len(), 1, "{notices:?}");
        assert!(!notices.iter().any(|it| it["type"] == "restored"));
        assert!(!self.upstream.is_asked(), "the copy asks the upstream");
    }
}

/// What the ids of notices begin with: one for each branch of the journal.
fn streams(notices: &[Value]) -> Vec<&str> {
    let ids = notices.iter().map(|it| it["id"].as_str().expect("an id"));
    let mut streams: Vec<_> = ids.map(|id| &id[..16]).collect();
    streams.sort_unstable();
    streams.dedup();
    streams
}

/// An upstream that somebody may ask; nobody gets an answer.
struct Upstream {
    listener: TcpListener,
    base: String,
}

impl Upstream {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a flag");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        Self { listener, base }
    }

    /// Whether somebody has asked since the last call.
    fn is_asked(&self) -> bool {
        self.listener.accept().is_ok()
    }
}

/// Waits until a process has logged a text.
fn wait_log(log: &Path, said: &str) {
    wait_until(said, || {
        fs::read_to_string(log).is_ok_and(|log| log.contains(said))
    });
}

/// Whether the API, the command line, the doctor and the metrics say that outward is closed.
async fn shown(exchange: &Exchange) -> [bool; 4] {
    let (_, status) = get(exchange, "/status").await;
    let status = status["exchange"]["outward_closed"].as_bool();
    let printed = |arguments: &[&str]| {
        let output = exchange.foretell(arguments).output().expect("a process");
        String::from_utf8(output.stdout).expect("text")
    };
    let doctor: Value = serde_json::from_str(&printed(&["--json", "doctor"])).expect("JSON");
    let findings = doctor["checks"].as_array().expect("findings");
    let finding = findings.iter().find(|it| it["check"] == "outward");
    let finding = finding.expect("the check");
    [
        status.expect("a flag"),
        printed(&["status"]).contains("closed since a restore"),
        finding["weight"] == "warning",
        (exchange.metrics()).contains("foretell_gateway_outward_closed{gateway=\"1\"} 1"),
    ]
}

/// Status and code of a proposal of the oracle's adapter.
async fn propose(exchange: &Exchange, condition: &str) -> (u16, Value) {
    let body = json!({ "condition_id": condition, "payout": "yes", "reference": "o1" }).to_string();
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let timestamp = now.expect("after 1970").as_secs().to_string();
    let signature = sign_webhook(ORACLE_SECRET.as_bytes(), &timestamp, body.as_bytes());
    let request = reqwest::Client::new()
        .post(format!("{}/oracle/proposals", exchange.operator))
        .header("content-type", "application/json")
        .header("x-oracle-timestamp", timestamp)
        .header("x-oracle-signature", signature)
        .body(body);
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    let answer: Value = answer.json().await.expect("JSON");
    (status, answer["code"].clone())
}

#[tokio::test]
async fn a_restored_copy_reaches_nothing_outside_before_it_is_opened() {
    let original = Original::start();
    let exchange = Exchange::start_at(&original.options(), &original.copy);
    // Both processes have looked.
    wait_log(&original.log(), "nothing is delivered until an admin opens");
    wait_log(&original.log(), "nothing is read from an upstream");
    original.hears_of_the_original_alone(&exchange);
    assert_eq!(shown(&exchange).await, [true; 4]);
    let condition = plain_markets()[0].condition_id();
    let token = fs::read_to_string(original.copy.join("sync.token")).expect("a token");
    let sync = OperatorClient::new(&exchange.operator, token.trim()).expect("a client");
    let pause = json!({ "condition_id": condition });
    let refused = sync.post::<Value>("/markets/pause", &pause).await;
    let is_closed = matches!(&refused, Err(OperatorError::Rejected { status: 409, code, .. }) if code == "outward_closed");
    assert!(is_closed, "{refused:?}");
    let refused = propose(&exchange, &condition).await;
    assert_eq!(refused, (409, json!("outward_closed")));
    let by_hand = refusal(exchange.foretell(&["catalog", "sync"]));
    assert!(by_hand.1.contains("withdrawals open"), "{}", by_hand.1);
    // People trade and operate as ever.
    done(&exchange, "/markets/pause", &pause).await;

    // A kill opens nothing.
    let mut exchange = exchange;
    exchange.kill_and_wait("webhooks");
    original.hears_of_the_original_alone(&exchange);

    let reason = json!({ "reason": "reconciled" });
    done(&exchange, "/withdrawals/open", &reason).await;
    let is_told = |notices: &[Value]| notices.iter().any(|it| it["type"] == "restored");
    let (notices, _) = original.receiver.wait(PATIENCE, is_told);
    assert_eq!(streams(&notices).len(), 2, "{notices:?}");
    wait_until("the upstream is asked", || original.upstream.is_asked());
    assert_eq!(shown(&exchange).await, [false; 4]);
    sync.post::<Value>("/markets/resume", &pause)
        .await
        .expect("the sync may act");
    let (status, code) = propose(&exchange, &condition).await;
    assert_ne!((status, &code), (409, &json!("outward_closed")));
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_drill_runs_beside_the_exchange_and_never_reaches_outside() {
    let original = Original::start();
    let live = &original.exchange;
    // The settings of the exchange that runs, which is one of a cluster, and so is the copy.
    let mut options = original.options().with("FORETELL_CLUSTER_ROLE", "leader");
    for (variable, address) in [
        ("FORETELL_TRADING_LISTEN", &live.trading),
        ("FORETELL_GATEWAY_DATA_LISTEN", &live.data_surface),
        ("FORETELL_CATALOG_LISTEN", &live.catalog),
        ("FORETELL_OPERATOR_LISTEN", &live.operator),
    ] {
        options = options.with(variable, address.trim_start_matches("http://"));
    }
    options.drill = true;
    let marker = original.copy.join("journal/CLUSTER");
    fs::write(&marker, "").expect("a marker");
    for start in 0..2 {
        let drill = Exchange::start_at(&options, &original.copy);
        assert!(!marker.exists(), "start {start}");
        assert_eq!(shown(&drill).await, [true; 4], "start {start}");
        original.hears_of_the_original_alone(&drill);
        if start == 1 {
            // What an exercise may do.
            let reason = json!({ "reason": "an exercise" });
            done(&drill, "/withdrawals/open", &reason).await;
            original.hears_of_the_original_alone(&drill);
        }
        assert!(drill.stop().success());
    }
    let data = live.data();
    assert!(original.exchange.stop().success());
    // Neither the exchange itself nor a copy that was opened.
    for data in [&data, &original.copy, &original.directory.path().join("no")] {
        let (code, said) = refusal(on(data, &["up", "--drill"]));
        let is_named = said.contains("a restored copy that is not open");
        assert_eq!((code, is_named), (78, true), "{said}");
    }
}
