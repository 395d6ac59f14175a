//! Exit codes of a failed command line: 2 for an invalid command, 3 for a rejection, 4 without a
//! response; each with a text that names the remedy.

use foretell_tests::exchange::Exchange;
use serde_json::{Value, json};

use crate::end_to_end::operator_cli::{foretell, plain, run};

#[test]
fn what_is_no_command_is_refused_by_the_command_line_itself() {
    let data = tempfile::tempdir().expect("a directory");
    for arguments in [
        &["market", "resolve"][..],
        &["market", "resolve", "x"],
        &["market", "resolve", "x", "yes", "--proposal", "last"],
        &["market", "resolve", "x", "yes", "--file", "y"],
        &["market", "close"],
        &["market", "close", "x", "--file", "y"],
        &["account", "deposit", "0x12"],
        &["system", "mode", "asleep"],
        &["nonsense"],
    ] {
        let run = run(data.path(), "127.0.0.1:1", arguments, "");
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run.err.contains("--help"), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn an_exchange_that_is_not_there_is_said_so() {
    let data = tempfile::tempdir().expect("a directory");
    let status = |data: &std::path::Path| run(data, "127.0.0.1:1", &["status"], "");
    let no_token = status(data.path());
    assert_eq!(no_token.code, Some(4));
    assert!(no_token.err.contains("operator.token"), "{}", no_token.err);
    assert!(no_token.err.contains("try:"), "{}", no_token.err);
    std::fs::write(data.path().join("operator.token"), "0".repeat(64)).expect("a token");
    let nobody = status(data.path());
    assert_eq!(nobody.code, Some(4));
    assert!(nobody.err.contains("no exchange answers"), "{}", nobody.err);
    let json = run(
        data.path(),
        "127.0.0.1:1",
        &["--json", "market", "close", "x"],
        "",
    );
    let told: Value = serde_json::from_str(json.err.trim()).expect("JSON");
    assert!(
        told["error"]
            .as_str()
            .is_some_and(|text| text.contains("no exchange answers"))
    );
    assert!(told["hint"].is_string());
    let file = run(
        data.path(),
        "127.0.0.1:1",
        &["market", "close", "--file", "/no/such"],
        "",
    );
    assert_eq!(file.code, Some(1));
    assert!(file.err.contains("/no/such"), "{}", file.err);
}

#[test]
fn a_refusal_of_the_exchange_is_told_with_its_status() {
    let exchange = Exchange::demo();
    let unknown = format!("0x{}", "ab".repeat(32));
    for (arguments, text) in [
        (&["account", "deposit", "0x12", "1"][..], "wallet is '0x12'"),
        (
            &["account", "deposit", &format!("0x{}", "11".repeat(20)), "0"],
            "amount",
        ),
        (
            &[
                "account",
                "withdraw",
                &format!("0x{}", "11".repeat(20)),
                "1",
            ],
            "account not found (404)",
        ),
        (
            &["account", "balance", &format!("0x{}", "11".repeat(20))],
            "account not found (404)",
        ),
        (&["market", "pause", &unknown], "market not found (404)"),
        (&["market", "pause", "0x12"], "condition_id is '0x12'"),
        (&["market", "show", "no-such-market"], "no such market"),
        (&["market", "tick", &plain()[0].0, "0.5"], "tick_size"),
        (&["market", "tick", &plain()[0].1, "0.5"], "tick_size"),
        (&["market", "fee", &plain()[0].1, "2000000"], "rate_ppm"),
        (
            &["keys", "revoke", "7d444840-9dc0-41d1-b245-5ffdce74fad2"],
            "api key not found (404)",
        ),
    ] {
        let run = foretell(&exchange, arguments, "");
        assert_eq!(
            (run.code, run.out.as_str()),
            (Some(3), ""),
            "{arguments:?}: {}",
            run.err
        );
        assert!(run.err.contains(text), "{arguments:?}: {}", run.err);
    }
    for action in ["show", "pause", "resume"] {
        let by_slug = foretell(&exchange, &["market", action, &plain()[0].0], "");
        assert_eq!(by_slug.code, Some(0), "{action}: {}", by_slug.err);
    }
    let one = foretell(&exchange, &["market", "close", "no-such-market"], "");
    assert_eq!(one.code, Some(1));
    assert!(
        one.err.contains("\"no-such-market\": no such market"),
        "{}",
        one.err
    );
    assert!(exchange.stop().success());
}

#[test]
fn money_and_modes_are_set_and_shown() {
    let exchange = Exchange::demo();
    let wallet = format!("0x{}", "11".repeat(20));
    let deposit = [
        "--json",
        "account",
        "deposit",
        &wallet,
        "12.5",
        "--reference",
        "r1",
    ];
    for duplicate in [false, true] {
        let run = foretell(&exchange, &deposit, "");
        let answer = run.json().remove(0);
        assert_eq!(
            (run.code, &answer["duplicate"]),
            (Some(0), &json!(duplicate))
        );
    }
    let shown = foretell(&exchange, &["--json", "account", "balance", &wallet], "");
    assert_eq!(shown.json()[0]["free"], "12.5");
    let other = ["account", "deposit", &wallet, "13", "--reference", "r1"];
    let refused = foretell(&exchange, &other, "");
    assert_eq!(refused.code, Some(3));
    assert!(refused.err.contains("(409)"), "{}", refused.err);
    foretell(&exchange, &["system", "mode", "cancel-only"], "").printed();
    assert_eq!(
        foretell(&exchange, &["system", "mode"], "").printed(),
        "cancel_only\n"
    );
    let listed = foretell(&exchange, &["market", "list"], "").printed();
    assert!(listed.lines().count() > 20, "{listed}");
    assert!(exchange.stop().success());
}
