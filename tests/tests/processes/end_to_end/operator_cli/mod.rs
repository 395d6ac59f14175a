//! The operator's command line against real processes: output, exit codes, invalid input.

mod doctor;
mod ending;
mod errors;
mod failing;
mod reaching;
mod starting;

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use foretell_tests::demo::plain_markets;
use foretell_tests::exchange::Exchange;
use serde_json::Value;

/// Result of a run of the program.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    /// Every line of its output as JSON.
    fn json(&self) -> Vec<Value> {
        let line = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        self.out.lines().map(line).collect()
    }

    /// The output of a run that must succeed.
    fn printed(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.out
    }
}

/// Runs `foretell` against an exchange with these arguments and this standard input.
fn foretell(exchange: &Exchange, arguments: &[&str], input: &str) -> Run {
    let listen = exchange.operator.trim_start_matches("http://");
    run(&exchange.data(), listen, arguments, input)
}

fn run(data: &Path, listen: &str, arguments: &[&str], input: &str) -> Run {
    let mut child = foretell_tests::exchange::foretell()
        .arg("--data")
        .arg(data)
        .args(arguments)
        .env("FORETELL_OPERATOR_LISTEN", listen)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A program that does not read its input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run {
        code: output.status.code(),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// Slug and condition id of the sample's plain markets.
fn plain() -> Vec<(String, String)> {
    let markets = plain_markets().into_iter();
    let named = markets.map(|market| (market.slug.clone(), market.condition_id()));
    named.collect()
}
