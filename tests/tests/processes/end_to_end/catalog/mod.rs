//! The catalog over real processes: files and an upstream on one side, the exchange on the other.

mod baskets;
mod crashes;
mod follow;
mod live;
mod own;
mod recorded;
mod surface;
mod trading;
mod upstream;

use std::process::{Child, Command, Stdio};

use foretell_tests::exchange::{Exchange, check_error_code};
use reqwest::Client;
use serde_json::Value;

/// `foretell` with these arguments, against an exchange; its output is read.
fn foretell(exchange: &Exchange, arguments: &[&str]) -> Command {
    let mut command = exchange.foretell(&[&["--json"], arguments].concat());
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs it to its end; returns success and output.
fn run(exchange: &Exchange, arguments: &[&str]) -> (bool, Value) {
    let child = foretell(exchange, arguments)
        .spawn()
        .expect("the binary starts");
    ended(child)
}

fn ended(child: Child) -> (bool, Value) {
    let output = child.wait_with_output().expect("it ends");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let printed = serde_json::from_str(out.trim()).unwrap_or_else(|_| {
        let err = String::from_utf8_lossy(&output.stderr);
        panic!("printed {out:?}, said {err:?}");
    });
    (output.status.success(), printed)
}

/// Status and JSON of a GET.
async fn get(url: &str, token: Option<&str>) -> (u16, Value) {
    let mut request = Client::new().get(url);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.expect("an answer");
    check_error_code(&answer);
    let status = answer.status().as_u16();
    (status, answer.json().await.expect("JSON"))
}

/// Rows of a recorded file, which zstd packed; `None` without recorded data.
fn recorded_rows(name: &str) -> Option<Vec<Value>> {
    let packed = std::fs::read(foretell_fixtures::recorded(name)?).expect("a file");
    let unpacked = zstd::decode_all(packed.as_slice()).expect("zstd");
    Some(serde_json::from_slice(&unpacked).expect("JSON"))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}
