//! `foretell bench catalog` measures all it reports, on a small catalog, and keeps the catalog.

use std::process::Command;

use serde_json::Value;

#[test]
fn imports_and_answers_are_measured_and_the_catalog_is_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let measure = || -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_foretell-under-test"))
            .args(["bench", "catalog", "--json", "--rounds", "2"])
            .args(["--events", "50", "--cache"])
            .arg(directory.path())
            .output()
            .expect("the binary starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let report = measure();
    let measures = report["measures"].as_array().expect("measures");
    let of = |name: &str| -> f64 {
        let found = measures.iter().find(|measure| measure["name"] == name);
        found.unwrap_or_else(|| panic!("{name}"))["value"]
            .as_f64()
            .expect("a figure")
    };
    assert!(of("import of 10 events: peak memory") > 1.0);
    assert!(of("import of 50 events: peak memory") > 1.0);
    for question in [
        "/markets?limit=500",
        "/events/#event",
        "/public-search?q=bitcoin",
    ] {
        assert!(of(question) > 0.0);
    }
    let goals = report["goals"].as_array().expect("goals");
    assert_eq!(goals.len(), 5);
    // Fifty events are too few for a growth rate of memory.
    let unknown = |goal: &&Value| !goal["found"].is_number();
    let unknown: Vec<_> = goals.iter().filter(unknown).collect();
    assert_eq!(unknown.len(), 1, "{goals:?}");
    assert_eq!(unknown[0]["name"], "memory of an import / of a fifth");
    assert!(of("a path that is nowhere") > 0.0);
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(0));

    let again = measure();
    assert_eq!(again["notes"].as_array().map(Vec::len), Some(1));
    assert_eq!(again["measures"][0], report["measures"][0]);
}
