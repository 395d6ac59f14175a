//! A sandbox under test: `foretell up --sandbox` with a pipe as its standard input.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};

use foretell_auth::Domains;
use foretell_operator_client::OperatorClient;
use foretell_ops::trader::{Answer, Trader};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::exchange::foretell;
use crate::operator::answer;

/// A running sandbox; dropping it ends its standard input and waits.
pub struct Sandbox {
    up: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// What it printed when it was ready.
    pub ready: Value,
}

impl Sandbox {
    /// Starts one with these arguments and waits until it is ready.
    ///
    /// # Panics
    /// It does not become ready.
    #[must_use]
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_in(&[], arguments)
    }

    /// The same, with these variables in its environment.
    ///
    /// # Panics
    /// It does not become ready.
    #[must_use]
    pub fn start_in(environment: &[(&str, &str)], arguments: &[&str]) -> Self {
        // Sets the TLS of this process, for clients that tests make.
        let _ = foretell_operator_client::http_client();
        let mut up = foretell()
            .args(["up", "--sandbox", "--json"])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = up.stdin.take();
        let mut output = BufReader::new(up.stdout.take().expect("a pipe"));
        let ready = ready_line(&mut output);
        Self {
            up,
            input,
            output,
            ready,
        }
    }

    /// The base URL of a surface: `trading`, `data`, `catalog` or `operator`.
    ///
    /// # Panics
    /// There is no such surface.
    #[must_use]
    pub fn url(&self, surface: &str) -> &str {
        self.ready[surface].as_str().expect("a URL")
    }

    /// Its data directory.
    ///
    /// # Panics
    /// It named none.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.ready["directory"].as_str().expect("a path").into()
    }

    /// `POST path` of the operator's surface.
    ///
    /// # Panics
    /// No response, or not in JSON.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        answer(self.operator().post(path, &body).await)
    }

    /// `POST path` that must succeed.
    ///
    /// # Panics
    /// It does not.
    pub async fn done(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// `GET path` of the operator's surface.
    ///
    /// # Panics
    /// No response, or not in JSON.
    pub async fn get(&self, path: &str) -> Answer {
        answer(self.operator().get(path).await)
    }

    /// Milliseconds by which engine time is ahead of wall time.
    ///
    /// # Panics
    /// No response, or without its times.
    pub async fn ahead_ms(&self) -> i64 {
        let (_, clock) = self.get("/sandbox/clock").await;
        let time = |name: &str| -> Timestamp {
            let text = clock[name].as_str().expect("a time");
            text.parse().expect("ISO 8601")
        };
        time("now").as_millisecond() - time("wall").as_millisecond()
    }

    fn operator(&self) -> OperatorClient {
        let token = self.ready["token"].as_str().expect("a token");
        OperatorClient::new(self.url("operator"), token).expect("a client")
    }

    /// A new funded wallet, as a client that signs.
    ///
    /// # Panics
    /// It cannot be created.
    pub async fn trader(&self) -> Trader {
        let wallet = self
            .done("/sandbox/wallets", json!({ "amount": "1000" }))
            .await;
        let key = wallet["private_key"].as_str().expect("a key");
        let trader = Trader::signing(Domains::default(), self.url("trading"), key, 0).await;
        trader.expect("an API key")
    }

    /// Registers an open market; returns its condition and its tokens.
    ///
    /// # Panics
    /// It cannot be registered.
    pub async fn market(&self, fields: Value) -> (String, [String; 2]) {
        let mut market = json!({ "question": "Will it rain?", "slug": "rain" });
        let (Value::Object(all), Value::Object(more)) = (&mut market, fields) else {
            panic!("the fields of a market are an object");
        };
        all.extend(more);
        let registered = self.done("/markets", market).await;
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let tokens = &registered["token_ids"];
        let tokens = [text(&tokens[0]), text(&tokens[1])];
        (text(&registered["condition_id"]), tokens)
    }

    /// Writes a line to its standard input.
    ///
    /// # Panics
    /// It has ended.
    pub fn write(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open input");
        writeln!(input, "{line}").expect("a line");
    }

    /// Resets it and waits until it is ready again.
    ///
    /// # Panics
    /// It does not become ready.
    pub fn reset(&mut self) {
        self.write("reset");
        self.ready = ready_line(&mut self.output);
    }

    /// Ends its standard input and waits for its end; returns what else it printed.
    ///
    /// # Panics
    /// Its output cannot be read.
    pub fn end(&mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output");
        (self.up.wait().expect("its end"), rest)
    }
}

fn ready_line(output: &mut BufReader<ChildStdout>) -> Value {
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    serde_json::from_str(&line).unwrap_or_else(|_| panic!("not ready: {line}"))
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.up.wait();
    }
}
