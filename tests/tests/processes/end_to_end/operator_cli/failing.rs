//! Faults of the processes beside the engine: figures, status and the doctor say them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use foretell_tests::exchange::{Exchange, Options, PATIENCE};

use super::{Run, foretell};

/// Waits until `look` finds something.
fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: not in time");
        std::thread::park_timeout(std::time::Duration::from_millis(20));
    }
}

/// The page of metrics.
fn metrics(exchange: &Exchange) -> String {
    let address = exchange.operator.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("the operator listens");
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("an answer");
    page
}

/// The value of a metric with these labels, such as `webhooks_sequence` or `up{gateway="1"}`.
fn metric(exchange: &Exchange, name: &str) -> f64 {
    let page = metrics(exchange);
    let name = format!("foretell_gateway_{name} ");
    let value = page.lines().find_map(|line| line.strip_prefix(&name));
    let value = value.unwrap_or_else(|| panic!("no {name} in {page}"));
    value.parse().expect("a number")
}

/// An exchange whose webhooks go to a port on which nobody listens.
fn with_failing_receiver(directory: &std::path::Path) -> Exchange {
    use std::os::unix::fs::PermissionsExt as _;
    let secret = directory.join("secret");
    std::fs::write(&secret, "a-secret-of-this-test-32-characters-or-more").expect("a file");
    let own = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&secret, own).expect("the mode");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = nobody.local_addr().expect("an address");
    drop(nobody);
    let options = Options::default()
        .with("FORETELL_WEBHOOKS_URL", &format!("http://{address}/"))
        .with(
            "FORETELL_WEBHOOKS_SECRET_FILE",
            secret.to_str().expect("a path"),
        );
    Exchange::start(&options)
}

#[test]
fn a_webhook_receiver_that_fails_is_an_alarm() {
    let directory = tempfile::tempdir().expect("a directory");
    let exchange = with_failing_receiver(directory.path());
    assert_eq!(metric(&exchange, "webhooks_waiting_seconds"), 0.0);
    let wallet = format!("0x{}", "11".repeat(20));
    foretell(&exchange, &["account", "deposit", &wallet, "5"], "").printed();
    // What the alert ForetellWebhooksFail reads.
    wait("a failed delivery", || {
        (metric(&exchange, "webhooks_waiting_seconds") > 0.0).then_some(())
    });
    assert!(metric(&exchange, "webhooks_failed_attempts") >= 1.0);
    assert_eq!(metric(&exchange, "webhooks_delivered"), 0.0);
    let status = foretell(&exchange, &["status"], "").printed();
    assert!(
        status.contains("ALARM: the webhook of sequence "),
        "{status}"
    );
    assert!(exchange.stop().success());
}

#[test]
fn a_process_that_ends_again_and_again_is_an_alarm() {
    let directory = tempfile::tempdir().expect("a directory");
    let exchange = with_failing_receiver(directory.path());
    let ready = "supervised_process_ready{process=\"webhooks\"}";
    assert_eq!(metric(&exchange, ready), 1.0);
    std::fs::write(exchange.data().join("webhooks.cursor"), "{").expect("a file");
    exchange.kill("webhooks");
    // What the alerts ForetellProcessDown and ForetellProcessRestarts read.
    wait("the end of the process", || {
        (metric(&exchange, ready) == 0.0).then_some(())
    });
    let restarts = "supervised_process_restarts{process=\"webhooks\"}";
    wait("its restarts", || {
        (metric(&exchange, restarts) > 2.0).then_some(())
    });
    let status = foretell(&exchange, &["status"], "").printed();
    assert!(
        status.contains("ALARM: webhooks ended (exit status: 1)"),
        "{status}"
    );
    let Run { out, .. } = foretell(&exchange, &["doctor"], "");
    assert!(out.contains("webhooks ended (exit status: 1)"), "{out}");
    assert!(exchange.stop().success());
}
