//! Operators at the command line, each with a token of their own.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Output;

use foretell_tests::exchange::{Exchange, foretell};
use serde_json::Value;

/// The people of an exchange.
pub(crate) struct People {
    data: PathBuf,
    operator: String,
    folder: tempfile::TempDir,
    tokens: HashMap<String, PathBuf>,
}

impl People {
    pub(crate) fn new(exchange: &Exchange) -> Self {
        let operator = exchange.operator.trim_start_matches("http://").to_owned();
        Self {
            data: exchange.data(),
            operator,
            folder: tempfile::tempdir().expect("a folder"),
            tokens: HashMap::from([("admin".to_owned(), exchange.data().join("operator.token"))]),
        }
    }

    /// Adds an operator, whose token goes to a file of its own.
    pub(crate) fn hire(&mut self, name: &str, role: &str) {
        let token = self.folder.path().join(format!("{name}.token"));
        let file = token.to_str().expect("a path");
        let added = self.done(
            "admin",
            &["operators", "add", name, role, "--token-file", file],
        );
        assert_eq!(added["token"], "written", "{added}");
        self.tokens.insert(name.to_owned(), token);
    }

    /// A file of JSON.
    pub(crate) fn file(&self, name: &str, content: &Value) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content.to_string()).expect("a file");
        path.to_str().expect("a path").to_owned()
    }

    /// The answer of a command, or the text of its refusal.
    pub(crate) fn run(&self, name: &str, arguments: &[&str]) -> Result<Value, String> {
        let output = self.output(name, arguments);
        if !output.status.success() {
            // Commands of many markets print the reason of each on standard output.
            let texts = [output.stderr, output.stdout];
            return Err(texts
                .map(|text| String::from_utf8_lossy(&text).into_owned())
                .concat());
        }
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        Ok(serde_json::from_str(text.lines().next().unwrap_or("null")).expect("JSON"))
    }

    /// A command that succeeds.
    pub(crate) fn done(&self, name: &str, arguments: &[&str]) -> Value {
        let answer = self.run(name, arguments);
        answer.unwrap_or_else(|error| panic!("{name} {arguments:?}: {error}"))
    }

    /// A command that is refused.
    pub(crate) fn refused(&self, name: &str, arguments: &[&str]) -> String {
        let refused = self.run(name, arguments).err();
        refused.unwrap_or_else(|| panic!("{name} {arguments:?} was not refused"))
    }

    /// The lines of a successful audit.
    pub(crate) fn audit(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.output("admin", arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{arguments:?}: {errors} {}",
            String::from_utf8_lossy(&output.stdout)
        );
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    fn output(&self, name: &str, arguments: &[&str]) -> Output {
        foretell()
            .arg("--json")
            .args(arguments)
            .arg("--data")
            .arg(&self.data)
            .env("FORETELL_OPERATOR_LISTEN", &self.operator)
            .env("FORETELL_OPERATOR_TOKEN_FILE", &self.tokens[name])
            .output()
            .expect("the binary runs")
    }
}

/// A text of an answer.
pub(crate) fn text(answer: &Value, name: &str) -> String {
    answer[name]
        .as_str()
        .unwrap_or_else(|| panic!("no {name}: {answer}"))
        .to_owned()
}
