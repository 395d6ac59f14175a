//! `foretell-bench` measures all it reports, on minimal catalogs and histories, and keeps them for
//! the next run.

use std::process::Command;

use serde_json::Value;

/// The report of a measurement.
fn measured(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_foretell-bench"))
        .arg("--json")
        .args(arguments)
        .output()
        .expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Where files may have a few megabytes, a journal has no room and a stream has: the run says which
/// part failed, has the other, and exits with 1.
#[test]
fn a_part_that_fails_leaves_the_others_and_fails_the_run() {
    let output = Command::new("sh")
        .args(["-c", "ulimit -c 0; ulimit -f 8192; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_foretell-bench"))
        .args(["--json", "all", "--quick", "--only"])
        .arg("journal; match, 1 market")
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let error = report["parts"][0]["error"].as_str().expect("an error");
    assert!(!error.is_empty(), "{report:#}");
    assert!(report["parts"][1]["error"].is_null(), "{report:#}");
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Value = serde_json::from_str(said.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["error"], "these parts failed: journal");
}

#[test]
fn data_measures_every_query_and_keeps_history_and_catalog() {
    let cache = tempfile::tempdir().expect("a directory");
    let measure = || {
        let sizes = "data --trades 2000 --wallets 200 --markets 60 --events 50 --rounds 1 --times 2 \
                     --bursts 1 --cache";
        let cache = cache.path().to_str().expect("UTF-8");
        measured(&sizes.split(' ').chain([cache]).collect::<Vec<_>>())
    };
    let report = measure();
    let goals = report["goals"].as_array().expect("goals");
    assert_eq!(goals.len(), 10);
    // The history is too short for the cost of a trade, and fifty events for a growth of memory.
    let unknown = goals.iter().filter(|goal| !goal["found"].is_number());
    let unknown: Vec<_> = unknown.map(|goal| &goal["name"]).collect();
    let expected = [
        "own bytes of a gateway per trade",
        "memory of an import / of a fifth",
    ];
    assert_eq!(unknown, expected, "{goals:?}");
    let measures = report["measures"].as_array().expect("measures");
    let paths = [
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
    ];
    let paths = paths.map(|path| format!("{path}, the slowest query"));
    let of_catalog = [
        "import of 10 events: peak memory",
        "import of 50 events: peak memory",
        "/markets?limit=500",
        "/events/#event",
        "/public-search?q=bitcoin",
        "a path that is nowhere",
    ];
    for name in paths.iter().map(String::as_str).chain(of_catalog) {
        let found = measures.iter().find(|measure| measure["name"] == *name);
        let value = found.and_then(|measure| measure["value"].as_f64());
        assert!(value.is_some_and(|value| value > 0.0), "{name}: {report}");
    }
    let noted = |report: &Value, text: &str| {
        let notes = report["notes"].as_array().expect("notes").iter();
        let notes = notes.filter_map(Value::as_str);
        notes.filter(|note| note.contains(text)).count()
    };
    let found = "catalog and import figures are from the cache";
    assert_eq!(noted(&report, "the history was written"), 1, "{report}");
    assert_eq!(noted(&report, found), 0, "{report}");
    let again = measure();
    assert_eq!(noted(&again, "the history was found"), 1, "{again}");
    assert_eq!(noted(&again, found), 1, "{again}");
    let memory = |report: &Value| {
        let measures = report["measures"].as_array().expect("measures").iter();
        let import = |name: &Value| name == "import of 50 events: peak memory";
        measures
            .filter(|measure| import(&measure["name"]))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(memory(&again), memory(&report));
}

#[test]
fn recover_measures_restarts_starts_and_snapshots() {
    let sizes = "recover --orders 200 --trades 1000 --rounds 1 --seconds 1";
    let report = measured(&sizes.split(' ').collect::<Vec<_>>());
    let measures = report["measures"].as_array().expect("measures");
    for name in [
        "restart",
        "journal, an order",
        "gateway answers",
        "gateway's own memory",
        "step: publisher, no snapshot",
        "step: snapshots all the time",
    ] {
        let measure = measures.iter().find(|measure| measure["name"] == name);
        let value = measure.and_then(|measure| measure["value"].as_f64());
        assert!(value.is_some_and(|value| value > 0.0), "{name}: {report:#}");
    }
    let goals = report["goals"].as_array().expect("goals");
    assert_eq!(goals.len(), 4);
    // The history is too short for the cost of a trade.
    let unknown = |goal: &&Value| !goal["found"].is_number();
    let unknown: Vec<_> = goals.iter().filter(unknown).collect();
    assert_eq!(unknown.len(), 1, "{goals:?}");
    assert_eq!(unknown[0]["name"], "own bytes of a gateway per trade");
    let stamp = &report["stamp"];
    assert!(
        stamp["commit"]
            .as_str()
            .is_some_and(|commit| commit.len() >= 7),
        "{stamp}"
    );
}
