//! `foretell bench start` measures what it says, on a history as short as it takes.

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
    let sites = report["sites"].as_array().expect("sites");
    let of = |name: &str| -> Vec<u64> {
        let figures = sites.iter().map(|site| site[name].as_u64());
        figures.map(|figure| figure.expect("a count")).collect()
    };
    assert_eq!(of("trades"), [0, 100, 100, 1_000]);
    assert_eq!(of("live_orders"), [0, 1, 20, 1]);
    let images = of("image_bytes");
    assert!(images[0] < images[1] && images[1] < images[2], "{images:?}");
    for site in sites {
        assert!(
            site["starts"]["anonymous_bytes"].as_u64() > Some(0),
            "{site}"
        );
    }
    let lanes = report["steps"].as_array().expect("lanes");
    assert_eq!(lanes.len(), 3);
    assert!(
        lanes.iter().all(|lane| lane["commands"].as_u64() > Some(0)),
        "{lanes:?}"
    );
    let goals = report["goals"].as_array().expect("goals");
    assert!(
        goals.iter().all(|goal| goal["found"].is_number()),
        "{goals:?}"
    );
}
