//! `--data` is enough to reach the exchange that runs there; the status shows all of it.

use foretell_tests::exchange::{Exchange, Options};

/// Runs a command that knows nothing but the data directory.
fn with_data_only(exchange: &Exchange, arguments: &[&str]) -> std::process::Output {
    let mut command = foretell_tests::exchange::foretell();
    command.arg("--data").arg(exchange.data()).args(arguments);
    command.env_remove("FORETELL_OPERATOR_LISTEN");
    command.output().expect("the binary starts")
}

#[test]
fn the_data_directory_knows_where_its_exchange_listens() {
    use std::os::unix::fs::PermissionsExt as _;
    let exchange = Exchange::start(&Options::two_gateways());
    let ran = with_data_only(&exchange, &["status"]);
    let text = String::from_utf8(ran.stdout).expect("UTF-8");
    assert!(ran.status.success(), "{text}");
    for name in ["gateway-1", "gateway-2"] {
        let pid = exchange.pid(name).to_string();
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(name));
        assert!(line.is_some_and(|line| line.contains(&pid)), "{text}");
    }
    let file = exchange.data().join("operator.listen");
    let mode = file.metadata().expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let written = std::fs::read_to_string(&file).expect("the file");
    assert_eq!(format!("http://{}", written.trim()), exchange.operator);

    // An address that the caller gives wins.
    let mut command = foretell_tests::exchange::foretell();
    command.arg("--data").arg(exchange.data()).arg("status");
    command.env("FORETELL_OPERATOR_LISTEN", "127.0.0.1:9");
    assert_eq!(command.output().expect("it ends").status.code(), Some(4));
    assert!(exchange.stop().success());
}
