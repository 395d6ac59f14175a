//! `foretell doctor` and `foretell support-bundle` beside a running exchange and a stopped one.

use std::path::Path;
use std::process::Command;

use foretell_journal::archive::remove_archived;
use foretell_journal::disk::RealDisk;
use foretell_tests::exchange::{Exchange, Options};
use serde_json::Value;

use crate::end_to_end::operator_cli::{Run, foretell, run};

/// Exit code when nothing is worse than a warning, such as a slow disk of the tests.
const WARNING: i32 = 9;

/// Addresses of a running exchange as settings, so that a command finds them as they are.
fn settings(exchange: &Exchange, directory: &Path, more: &str) -> String {
    let place = |url: &str| url.trim_start_matches("http://").to_owned();
    let text = format!(
        "[trading]\nlisten = \"{}\"\n[gateway]\ndata_listen = \"{}\"\n[operator]\nlisten = \"{}\"\n{more}\n\
         [catalog]\nlisten = \"{}\"\n",
        place(&exchange.trading),
        place(&exchange.data_surface),
        place(&exchange.operator),
        place(&exchange.catalog),
    );
    let file = directory.join("settings.toml");
    std::fs::write(&file, text).expect("a file");
    file.to_str().expect("a path").to_owned()
}

/// The doctor's findings.
fn findings(run: &Run) -> Value {
    let report: Value = serde_json::from_str(&run.out).expect("a report");
    let code = match report["worst"].as_str() {
        Some("ok") => 0,
        Some("warning") => WARNING,
        _ => 78,
    };
    assert_eq!(run.code, Some(code), "{report}");
    report["checks"].clone()
}

/// Weight and value of the findings of a check.
fn of<'a>(findings: &'a Value, check: &str) -> Vec<(&'a str, &'a str)> {
    let findings = findings.as_array().expect("findings").iter();
    let findings = findings.filter(|finding| finding["check"] == check);
    let text = |finding: &'a Value, name: &str| finding[name].as_str().expect("a text");
    findings
        .map(|it| (text(it, "weight"), text(it, "value")))
        .collect()
}

#[test]
fn the_doctor_knows_our_processes_from_those_of_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let exchange = Exchange::demo();
    let file = settings(&exchange, directory.path(), "");
    let doctor = ["--config", &file, "--json", "doctor"];
    let found = findings(&foretell(&exchange, &doctor, ""));
    let ports = of(&found, "ports");
    assert_eq!(
        ports,
        [("ok", "0 free, 4 held by this exchange")],
        "{found}"
    );
    let (weight, engine) = of(&found, "engine")[0];
    let pid = exchange.pid("engine");
    assert_eq!((weight, engine), ("ok", &*format!("runs as process {pid}")));
    assert!(
        of(&found, "journal")[0].1.starts_with("ends at sequence "),
        "{found}"
    );

    // The same addresses with another data directory are another exchange's.
    let empty = directory.path().join("data");
    let found = findings(&run(&empty, "127.0.0.1:0", &doctor, ""));
    let trading = exchange.trading.trim_start_matches("http://");
    let (weight, port) = of(&found, "ports")[0];
    assert_eq!(weight, "refused");
    assert!(
        port.contains(trading) && port.contains("held by process"),
        "{port}"
    );
    assert!(!empty.exists(), "a check makes nothing");
    assert!(exchange.stop().success());
}

#[test]
fn what_the_doctor_refuses_is_refused_by_a_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    assert!(
        Exchange::start_at(&Options::default(), &data)
            .stop()
            .success()
    );
    let free = ["trading.listen", "gateway.data_listen", "catalog.listen"]
        .map(|setting| format!("{setting} = \"127.0.0.1:0\"\n"))
        .concat();
    let file = directory.path().join("settings.toml");
    std::fs::write(&file, free).expect("a file");
    let file = file.to_str().expect("a path");
    let command = |command: &[&str]| {
        let arguments = [&["--config", file], command].concat();
        run(&data, "127.0.0.1:0", &arguments, "")
    };
    let refused = |check: &str, text: &str| {
        let found = findings(&command(&["--json", "doctor"]));
        let named = of(&found, check);
        let is_named =
            |(weight, value): &(&str, &str)| *weight == "refused" && value.contains(text);
        assert!(named.iter().any(is_named), "{named:?}");
        let started = command(&["up"]);
        assert_eq!(started.code, Some(78), "{}", started.err);
        assert!(started.err.contains(text), "{}", started.err);
    };
    let before = std::fs::read(data.join("format")).expect("an id");
    std::fs::write(data.join("format"), "1\n").expect("a file");
    refused("format", "is of format 1, this build has");
    std::fs::write(data.join("format"), before).expect("a file");

    std::fs::write(data.join("journal/IO_ERROR"), "a test").expect("a file");
    refused("journal", "ended on an I/O error (a test)");
    std::fs::remove_file(data.join("journal/IO_ERROR")).expect("the file");

    std::fs::rename(data.join("journal/watermark"), data.join("away")).expect("the file");
    refused("journal", "it is missing");
    std::fs::rename(data.join("away"), data.join("journal/watermark")).expect("the file");

    let second = Exchange::start_at(&Options::default(), &data);
    foretell(&second, &["system", "mode", "post-only"], "").printed();
    foretell(&second, &["system", "snapshot"], "").printed();
    assert!(second.stop().success());
    let archived = remove_archived(&RealDisk, &data.join("journal"), 1);
    assert!(archived.expect("a first segment"));
    let found = findings(&command(&["--json", "doctor"]));
    assert_eq!(of(&found, "journal")[0].0, "ok", "{found}");
    std::fs::rename(data.join("snapshots"), data.join("away")).expect("the directory");
    refused("journal", "are archived");
    std::fs::rename(data.join("away"), data.join("snapshots")).expect("the directory");

    std::fs::write(data.join("master.secret"), "short").expect("a file");
    refused("data directory", "master.secret");
}

#[test]
fn a_bundle_has_no_secret_wallet_or_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let exchange = Exchange::start(&Options {
        bots: true,
        ..Options::demo()
    });
    // Planted: in settings, in the log, and in files of the data directory.
    let oracle = "5eC4e7".repeat(11);
    let (wallet, order) = (
        format!("0x{}", "c0FfEe01".repeat(5)),
        "0x".to_owned() + &"ab12".repeat(16),
    );
    let more = format!("oracle_operator = \"{}\"", &oracle[..32].to_lowercase());
    let file = settings(&exchange, directory.path(), &more);
    let upstream = "upstream = \"https://user:hunter2@example.org/path-secret\"\nsites = { \"one\" = [\"WALLET\"] }\n";
    let text = std::fs::read_to_string(&file).expect("the file");
    std::fs::write(&file, text + &upstream.replace("WALLET", &wallet)).expect("a file");
    let log = format!(
        "{wallet} placed {order}, token {oracle}\nnats://me:pass-word@127.0.0.1:4222\n\
         POST https://hooks.example.org/T00/hook-secret password=hunter3 jane@example.org nats://me:a)hunter4@10.0.0.1\n"
    );
    let archive = directory.path().join("bundle.tar.gz");
    let archive = archive.to_str().expect("a path");
    // The first checkpoint is signed with it.
    foretell(&exchange, &["system", "snapshot"], "").printed();
    let arguments = ["--config", &file, "support-bundle", archive, "--logs", "-"];
    let taken = foretell(&exchange, &arguments, &log).printed();

    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .arg("-C")
        .arg(directory.path())
        .status();
    assert!(unpacked.expect("tar").success());
    let folder = directory.path().join("foretell-support");
    let files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the files")
        .flatten()
        .collect();
    assert!(files.len() >= 8, "{taken}");
    let read = |file: &str| std::fs::read_to_string(exchange.data().join(file)).expect("a secret");
    let mut secrets = [
        "master.secret",
        "operator.token",
        "sync.token",
        "checkpoint.key",
    ]
    .map(read)
    .to_vec();
    secrets.extend([oracle, wallet, order].map(|text| text.trim_start_matches("0x").to_owned()));
    let planted = [
        "hunter2",
        "pass-word@",
        "path-secret",
        "hook-secret",
        "hunter3",
        "hunter4",
        "jane@",
    ];
    secrets.extend(planted.map(str::to_owned));
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        assert!(
            name == "list.txt" || taken.contains(&name),
            "{name} is not listed: {taken}"
        );
        let content = std::fs::read(file.path()).expect("a part");
        let content = String::from_utf8_lossy(&content).to_lowercase();
        for secret in &secrets {
            assert!(
                !content.contains(&secret.trim().to_lowercase()),
                "{name} has {secret}"
            );
        }
        // Of the demo's wallets and orders, too.
        let mut words = content.split(|letter: char| !letter.is_ascii_alphanumeric());
        let is_hex = |word: &str| {
            word.len() >= 40
                && word
                    .trim_start_matches("0x")
                    .chars()
                    .all(|it| it.is_ascii_hexdigit())
        };
        assert!(name == "checkpoints" || !words.any(is_hex), "{name}");
    }
    // What is there is not overwritten.
    let again = foretell(&exchange, &arguments, "");
    assert_eq!(again.code, Some(1), "{}", again.err);
    assert!(
        again.err.contains("there is a file of this name already"),
        "{}",
        again.err
    );
    assert!(exchange.stop().success());
}
