//! What backup, restore and archive refuse, and what they say.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use foretell_tests::exchange::{Exchange, Options};

use crate::backup::site::{
    self, answer, backup, check, deposit, on, refusal, small_segments, snapshot, text,
};

fn set_up() -> (Exchange, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    (Exchange::start_at(&small_segments(), &data), directory)
}

#[test]
fn a_backup_adds_what_is_new_and_is_of_one_history() {
    let (mut exchange, directory) = set_up();
    let data = exchange.data();
    let [copy, new] = ["copy", "new"].map(|name| directory.path().join(name));
    let first = backup(&data, &copy, &[]);
    deposit(&exchange);
    exchange.kill_and_wait("engine");
    let second = backup(&data, &copy, &[]);
    assert!(second["last_sequence"].as_u64() > first["last_sequence"].as_u64());
    assert_eq!(second["segments"], 2);
    exchange.kill_and_wait("engine");
    assert!(
        backup(&data, &copy, &[])["kept_files"].as_u64() > Some(0),
        "segment 1 is kept"
    );

    // Whoever names another key, and whoever backs up another exchange, is refused.
    let key = "ab".repeat(32);
    let (code, said) = refusal(on(
        &new,
        &["restore", "--check", text(&copy), "--checkpoint-key", &key],
    ));
    assert_eq!((code, said.contains("another key")), (5, true), "{said}");
    let own = data.join("checkpoint.pub");
    let trusted = [
        "restore",
        "--check",
        text(&copy),
        "--checkpoint-key",
        text(&own),
    ];
    assert_eq!(answer(on(&new, &trusted))["key_is_trusted"], true);
    let (_, said) = refusal(on(&data, &["backup", text(&data.join("inside"))]));
    assert!(said.contains("data directory"), "{said}");
    let foreign = directory.path().join("foreign");
    fs::create_dir(&foreign).expect("a directory");
    fs::write(foreign.join("photos"), "mine").expect("a file");
    let (_, said) = refusal(on(&data, &["backup", text(&foreign)]));
    assert!(said.contains("photos"), "{said}");
    let (_, said) = refusal(on(&new, &["restore", text(&foreign)]));
    assert!(said.contains("there is no backup here"), "{said}");
    let (code, said) = refusal(on(&foreign, &["restore", text(&copy)]));
    assert_eq!((code, said.contains("not empty")), (78, true), "{said}");
    assert_eq!(
        fs::read(foreign.join("photos")).expect("untouched"),
        b"mine"
    );

    // A restored exchange that went on is another history.
    answer(on(&new, &["restore", text(&copy), "--complete"]));
    fs::copy(data.join("checkpoint.key"), new.join("checkpoint.key")).expect("a key");
    let (_, said) = refusal(on(&new, &["backup", text(&copy), "--archive", "/nowhere"]));
    assert!(said.contains("/nowhere"), "{said}");
    deposit(&exchange);
    let later = backup(&data, &copy, &[]);
    let (_, said) = refusal(on(&new, &["backup", text(&copy)]));
    assert!(said.contains("not of this journal"), "{said}");
    assert_eq!(check(&copy)["last_sequence"], later["last_sequence"]);
}

#[test]
fn secrets_are_copied_on_demand_and_their_absence_is_said() {
    let (exchange, directory) = set_up();
    let data = exchange.data();
    let [copy, new, bare] = ["copy", "new", "bare"].map(|name| directory.path().join(name));
    let secret = fs::read_to_string(data.join("master.secret")).expect("a secret");
    backup(&data, &copy, &[]);
    assert!(
        !holds(&copy, secret.trim()),
        "no secret without being asked"
    );
    let without = answer(on(&bare, &["restore", text(&copy)]));
    let meaning = without["missing_secrets"]["master.secret"].as_str();
    assert!(
        meaning.is_some_and(|text| text.contains("API key")),
        "{without}"
    );
    assert!(
        without["missing_secrets"]["cluster.key"].is_null(),
        "{without}"
    );

    backup(&data, &copy, &["--with-secrets"]);
    let with = answer(on(&new, &["restore", text(&copy)]));
    assert_eq!(with["missing_secrets"], serde_json::json!({}));
    assert_eq!(
        fs::read_to_string(new.join("master.secret")).expect("a secret"),
        secret
    );
    for name in ["master.secret", "operator.token", "checkpoint.key"] {
        let mode = fs::metadata(new.join(name))
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    assert!(exchange.stop().success());
    // The whole exchange starts on it, and says first that it was restored; once is enough.
    let marker = new.join("journal/RESTORED");
    let kept = fs::read(&marker).expect("a marker");
    let options = Options {
        demo: false,
        ..small_segments()
    };
    let first = with["last_sequence"].as_u64().expect("a sequence") + 1;
    for start in 0..2 {
        let exchange = Exchange::start_at(&options, &new);
        assert!(!marker.exists(), "start {start}");
        assert!(exchange.stop().success());
        let shown = answer(on(&new, &["audit", "show", &first.to_string()]));
        assert!(shown.to_string().contains("Restored"), "{shown}");
        // A kill before the marker was removed.
        fs::write(&marker, &kept).expect("a marker");
    }
    let listed = answer(on(&new, &["audit", "verify"]));
    assert_eq!(listed["sound"], true);
}

fn holds(directory: &Path, text: &str) -> bool {
    fs::read_dir(directory)
        .expect("a directory")
        .flatten()
        .any(|entry| match entry.path() {
            path if path.is_dir() => holds(&path, text),
            path => {
                let bytes = fs::read(path).expect("a file");
                let hex = hex::encode(text);
                let has = |part: &str| bytes.windows(part.len()).any(|it| it == part.as_bytes());
                has(text) || has(&hex)
            }
        })
}

#[test]
fn the_archive_takes_what_nobody_needs_here_and_readers_say_what_is_archived() {
    let (mut exchange, directory) = set_up();
    let data = exchange.data();
    let [copy, archive, shelf] =
        ["copy", "archive", "shelf"].map(|name| directory.path().join(name));
    let to = ["journal", "archive", "--to", text(&archive)];
    for _ in 0..3 {
        deposit(&exchange);
        exchange.kill_and_wait("engine");
    }
    let kept = answer(on(&data, &to));
    assert!(
        kept["kept_for"].as_str().expect("why").contains("snapshot"),
        "{kept}"
    );
    snapshot(&exchange);
    let kept = answer(on(&data, &to));
    assert!(
        kept["kept_for"].as_str().expect("why").contains("backup"),
        "{kept}"
    );
    backup(&data, &copy, &[]);

    // A command that fails, or gives back something else, costs no segment.
    fs::create_dir(&shelf).expect("a directory");
    let store = format!("cp {{file}} {}/{{name}}", shelf.display());
    let fetch = format!("cp {}/{{name}} {{file}}", shelf.display());
    let by = |store: &str, fetch: &str| {
        on(
            &data,
            &["journal", "archive", "--command", store, "--fetch", fetch],
        )
    };
    let [first, second] =
        [1, 2].map(|number| data.join(format!("journal/0000000{number}.segment")));
    let (_, said) = refusal(by("exit 4", &fetch));
    assert!(said.contains("exit status: 4"), "{said}");
    let cut = format!("head -c 5000 {}/{{name}} > {{file}}", shelf.display());
    let (code, said) = refusal(by(&store, &cut));
    assert_eq!(
        (code, said.contains("another segment")),
        (3, true),
        "{said}"
    );
    assert!(first.exists());
    let by_command = site::archive(|| by(&store, &fetch));
    assert!(!first.exists() && !second.exists(), "{by_command}");

    // Audit, replay, backup and restore name what is archived, and read it.
    for command in ["verify", "replay"] {
        let (_, said) = refusal(on(&data, &["audit", command]));
        assert!(said.contains("are archived"), "{said}");
        answer(on(&data, &["audit", "--archive", text(&shelf), command]));
    }
    let journal = data.join("journal");
    let diff = ["diff", text(&journal), text(&journal)];
    let (_, said) = refusal(on(&data, &[&["audit"], &diff[..]].concat()));
    assert!(said.contains("are archived"), "{said}");
    let with_archive = ["audit", "--archive", text(&shelf)];
    let compared = answer(on(&data, &[&with_archive[..], &diff].concat()));
    assert_eq!(compared["relation"], "same", "{compared}");
    let other = directory.path().join("other");
    let (_, said) = refusal(on(&data, &["backup", text(&other)]));
    assert!(said.contains("--archive DIR"), "{said}");
    backup(&data, &copy, &[]);
    fs::remove_file(copy.join("journal/00000001.segment")).expect("removed");
    let (_, said) = refusal(on(&data, &["restore", "--check", text(&copy)]));
    assert!(said.contains("--archive DIR"), "{said}");
    let both = ["restore", "--check", text(&copy), "--archive", text(&shelf)];
    answer(on(&data, &both));

    // The operator's acts end where the archive begins.
    let acts = answer_of(&exchange, "/acts");
    let through = by_command["archived_through"].clone();
    assert_eq!(acts["archived_through"], through, "{acts}");

    // A start without snapshots names what it lacks.
    assert!(exchange.stop().success());
    let (code, said) = refusal(on(&data, &["up", "--full-replay"]));
    assert_eq!((code, said.contains("are archived")), (78, true), "{said}");
    let exchange = Exchange::start_at(
        &Options {
            demo: false,
            ..small_segments()
        },
        &data,
    );
    assert!(exchange.stop().success());
}

/// A read of the operator surface.
fn answer_of(exchange: &Exchange, path: &str) -> serde_json::Value {
    let client = foretell_operator_client::http_client()
        .build()
        .expect("a client");
    let request = client
        .get(format!("{}{path}", exchange.operator))
        .bearer_auth(exchange.operator_token());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let answer = request.send().await.expect("an answer");
        answer.json().await.expect("JSON")
    })
}
