//! `foretell bench data` measures all it reports, on a minimal history, and keeps the history for
//! the next run.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn measured(cache: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_foretell-under-test"))
        .args(["bench", "data", "--json", "--trades", "2000"])
        .args(["--wallets", "200", "--markets", "60", "--rounds", "1"])
        .arg("--cache")
        .arg(cache)
        .output()
        .expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn every_query_is_measured_and_the_history_is_kept() {
    let cache = tempfile::tempdir().expect("a directory");
    let report = measured(cache.path());
    let goals = report["goals"].as_array().expect("goals");
    assert_eq!(goals.len(), 5);
    // The history is too short for the cost of a trade.
    let unknown = |goal: &&Value| !goal["found"].is_number();
    let unknown: Vec<_> = goals.iter().filter(unknown).collect();
    assert_eq!(unknown.len(), 1, "{goals:?}");
    assert_eq!(unknown[0]["name"], "own bytes of a gateway per trade");
    let measures = report["measures"].as_array().expect("measures");
    for path in [
        "/activity",
        "/closed-positions",
        "/holders",
        "/positions",
        "/trades",
        "/oi",
        "/live-volume",
        "/v1/leaderboard",
        "/v1/builders/leaderboard",
        "/v1/builders/volume",
    ] {
        let name = format!("{path}, the slowest query");
        let found = measures.iter().find(|measure| measure["name"] == *name);
        let value = found.and_then(|measure| measure["value"].as_f64());
        assert!(value.is_some_and(|value| value > 0.0), "{name}: {report}");
    }
    let noted = |report: &Value, text: &str| {
        let notes = report["notes"].as_array().expect("notes").iter();
        let notes = notes.filter_map(Value::as_str);
        notes.filter(|note| note.contains(text)).count() == 1
    };
    assert!(noted(&report, "the history was written"), "{report}");
    let again = measured(cache.path());
    assert!(noted(&again, "the history was found"), "{again}");
}
