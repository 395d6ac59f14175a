//! Faults of the processes beside the engine: figures, status and the doctor say them.

use foretell_tests::exchange::{Exchange, Options, wait_until};

use super::{Run, foretell};

/// The value of a metric with these labels, such as `webhooks_sequence` or `up{gateway="1"}`.
fn metric(exchange: &Exchange, name: &str) -> f64 {
    let page = exchange.metrics();
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
    wait_until("a failed delivery", || {
        metric(&exchange, "webhooks_waiting_seconds") > 0.0
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
    wait_until("the end of the process", || metric(&exchange, ready) == 0.0);
    let restarts = "supervised_process_restarts{process=\"webhooks\"}";
    wait_until("its restarts", || metric(&exchange, restarts) > 2.0);
    let status = foretell(&exchange, &["status"], "").printed();
    assert!(
        status.contains("ALARM: webhooks ended (exit status: 1)"),
        "{status}"
    );
    let Run { out, .. } = foretell(&exchange, &["doctor"], "");
    assert!(out.contains("webhooks ended (exit status: 1)"), "{out}");
    assert!(exchange.stop().success());
}
