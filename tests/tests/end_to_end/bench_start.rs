//! `foretell bench start` measures all it reports, on a minimal history.

use std::process::Command;

use serde_json::Value;

#[test]
fn starts_and_snapshots_are_measured() {
    let output = Command::new(env!("CARGO_BIN_EXE_foretell-under-test"))
        .args(["bench", "start", "--json", "--trades", "1000"])
        .args(["--rounds", "1", "--seconds", "1"])
        .output()
        .expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let measures = report["measures"].as_array().expect("measures");
    let of = |name: &str| {
        let measure = measures.iter().find(|measure| measure["name"] == name);
        let value = measure.and_then(|measure| measure["value"].as_f64());
        value.unwrap_or_else(|| panic!("{name} in {report:#}"))
    };
    let sites = [(0, 0), (100, 1), (100, 20), (1_000, 1)];
    let images = sites.map(|(trades, orders)| {
        let own = format!("{trades} trades, {orders} orders: gateway's own memory");
        assert!(of(&own) > 0.0, "{own}");
        of(&format!("{trades} trades, {orders} orders: image"))
    });
    assert!(images[0] < images[1] && images[1] < images[2], "{images:?}");
    for lane in [
        "no publisher",
        "publisher, no snapshot",
        "as many bytes written beside it",
        "snapshots all the time",
    ] {
        assert!(of(&format!("step: {lane}")) > 0.0, "{lane}");
    }
    let goals = report["goals"].as_array().expect("goals");
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
