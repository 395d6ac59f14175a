//! Files that `foretell up` creates, and data that it refuses to start on.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use crate::end_to_end::operator_cli::run;
use foretell_tests::exchange::Exchange;

/// An exchange that ended in order, and its data.
fn stopped() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let options = foretell_tests::exchange::Options::default();
    let exchange = foretell_tests::exchange::Exchange::start_at(&options, &data);
    assert!(exchange.stop().success());
    directory
}

/// `foretell up` on free ports with these settings.
fn up(directory: &Path, settings: &str) -> crate::end_to_end::operator_cli::Run {
    let file = directory.join("settings.toml");
    std::fs::write(&file, settings).expect("a file");
    let free = "127.0.0.1:0";
    let config = file.to_str().expect("a path");
    let mut arguments = vec!["--config", config, "up"];
    for flag in ["--trading-listen", "--data-listen", "--catalog-listen"] {
        arguments.extend([flag, free]);
    }
    run(&directory.join("data"), free, &arguments, "")
}

fn domain(contract: u8, markets: &str) -> String {
    let contract = format!("{contract:02x}").repeat(20);
    format!(
        "[[signing.domains]]\nname = \"F\"\nversion = \"1\"\nmarkets = \"{markets}\"\n\
         contract = \"0x{contract}\"\n"
    )
}

#[test]
fn settings_that_the_engine_would_refuse_are_refused_by_the_check_and_by_up() {
    let directory = tempfile::tempdir().expect("a directory");
    let three = [1, 2, 3].map(|contract| domain(contract, "all")).concat();
    let refused = up(directory.path(), &three);
    assert_eq!(refused.code, Some(78), "{}", refused.err);
    let text = "3 signing domains for plain markets, expected 1 or 2";
    assert!(refused.err.contains(text), "{}", refused.err);
    let file = directory.path().join("settings.toml");
    let arguments = [
        "--config",
        file.to_str().expect("a path"),
        "config",
        "check",
    ];
    let checked = run(directory.path(), "127.0.0.1:0", &arguments, "");
    assert_eq!(checked.code, Some(78), "{}", checked.out);
    assert!(checked.err.contains(text), "{}", checked.err);
}

#[test]
fn a_file_that_a_gateway_could_not_read_stops_the_start_of_all() {
    let directory = tempfile::tempdir().expect("a directory");
    let refused = up(
        directory.path(),
        "[site]\nlogo = \"/nonexistent.png\"\n[log]\nlevel = \"inof\"\n",
    );
    assert_eq!(refused.code, Some(78), "{}", refused.err);
    for line in [
        ":2: site.logo is \"/nonexistent.png\"",
        ":4: log.level is \"inof\"",
    ] {
        assert!(refused.err.contains(line), "{}", refused.err);
    }
}

/// As systemd starts a service: standard error is the journal's stream, named by device and inode.
#[test]
fn under_the_journal_each_line_has_a_priority_and_names_its_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let file = std::fs::File::create(&log).expect("a file");
    let metadata = file.metadata().expect("metadata");
    let stream = format!("{}:{}", metadata.dev(), metadata.ino());
    let options = foretell_tests::exchange::Options {
        gateways: 2,
        log: Some(log.clone()),
        ..Default::default()
    };
    let options = options.with("JOURNAL_STREAM", &stream);
    assert!(
        foretell_tests::exchange::Exchange::start(&options)
            .stop()
            .success()
    );
    let text = std::fs::read_to_string(&log).expect("a log");
    let mut names = std::collections::BTreeSet::new();
    for line in text.lines() {
        let (priority, rest) = line.split_at(3);
        assert!(["<3>", "<4>", "<6>", "<7>"].contains(&priority), "{line}");
        names.insert(rest.split(' ').next().expect("a name"));
    }
    for process in ["engine", "foretell", "gateway-1", "gateway-2"] {
        assert!(names.contains(process), "{names:?}");
    }
    let is_warning = |line: &&str| line.contains(" WARN ");
    let mut warnings = text.lines().filter(is_warning);
    assert!(warnings.all(|line| line.starts_with("<4>")), "{text}");
}

#[test]
fn up_ends_with_the_code_of_an_engine_that_refuses_and_its_reason() {
    let directory = stopped();
    let other = [1, 2].map(|contract| domain(contract, "all")).concat();
    let refused = up(directory.path(), &other);
    assert_eq!(refused.code, Some(78), "{}", refused.err);
    let reason = "configured signing domain 1";
    assert!(refused.err.contains(reason), "{}", refused.err);
    let end = "engine ended (exit status: 78) and will not be restarted";
    assert!(refused.err.contains(end), "{}", refused.err);
}

#[test]
fn everything_in_the_data_directory_is_closed_to_others() {
    fn check(path: &Path, seen: &mut usize) {
        let metadata = std::fs::symlink_metadata(path).expect("it is there");
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!(mode, expected, "{} is {mode:o}", path.display());
        *seen += 1;
        if metadata.is_dir() {
            for entry in std::fs::read_dir(path).expect("a directory") {
                check(&entry.expect("an entry").path(), seen);
            }
        }
    }
    let exchange = Exchange::demo();
    let mut seen = 0;
    check(&exchange.data(), &mut seen);
    assert!(seen > 10, "{seen} files");
    assert!(exchange.stop().success());
}
