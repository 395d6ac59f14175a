//! Fails if the core's step takes 10% more instructions than recorded. Unlike times, instruction
//! counts do not depend on machine load. To record: `FORETELL_RECORD_INSTRUCTIONS=1 cargo test -p
//! foretell-steps`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Build profile of the program: optimised, without link-time optimisation.
const PROFILE: &str = "counted";
const KINDS: [&str; 3] = ["rest", "trade", "cancel"];
/// Maximum count in percent of the recorded one.
const MOST_PERCENT: u64 = 110;
const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");
const RECORD_ANEW: &str = "FORETELL_RECORD_INSTRUCTIONS";

#[test]
fn a_step_takes_no_more_instructions_than_recorded() {
    let mut text = fs::read_to_string(RECORD).expect("the record is in the repository");
    let valgrind = match valgrind(&text) {
        Ok(version) => version,
        Err(why) => {
            // Write around the harness, which hides the output of passing tests.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: instructions are not counted: {why}"
            );
            return;
        }
    };
    let program = build();
    let counts = KINDS.map(|kind| (kind, count(&program, kind)));
    let compiler = text_of(Command::new("rustc").arg("--version"));
    if std::env::var_os(RECORD_ANEW).is_some() {
        text = record(&counts, &compiler, &valgrind);
        fs::write(RECORD, &text).expect("the record");
    }
    let recorded = read(&text);
    for (kind, count) in counts {
        let most = recorded[kind] * MOST_PERCENT / 100;
        assert!(
            count <= most,
            "{kind}: {count} instructions a command, recorded are {}, allowed {most}; \
             the record is of {}, this is {compiler}. If intended, record again with \
             {RECORD_ANEW}=1",
            recorded[kind],
            text.lines()
                .find(|line| line.starts_with("compiler"))
                .unwrap_or("?"),
        );
    }
}

/// Version of valgrind on this machine, or why it cannot count: the record's or a newer one is needed.
fn valgrind(record: &str) -> Result<String, String> {
    let recorded = record
        .lines()
        .find_map(|line| line.strip_prefix("valgrind "))
        .expect("the record names its valgrind");
    let output = Command::new("valgrind").arg("--version").output();
    let output =
        output.map_err(|error| format!("valgrind: {error}; {recorded} or newer is needed"))?;
    let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if numbers(&found) < numbers(recorded) {
        return Err(format!("{found} is too old; {recorded} or newer is needed"));
    }
    Ok(found)
}

/// The numbers of `valgrind-3.19.0`.
fn numbers(version: &str) -> Vec<u32> {
    let numbers = version.split(['-', '.']);
    numbers.filter_map(|number| number.parse().ok()).collect()
}

/// Builds the program in its profile; cargo holds no lock while tests run.
fn build() -> PathBuf {
    let debug = Path::new(env!("CARGO_BIN_EXE_foretell-steps"));
    let target = debug
        .ancestors()
        .nth(2)
        .expect("target/<profile>/<program>");
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "foretell-steps",
        ])
        .args(["--profile", PROFILE, "--target-dir"])
        .arg(target)
        .status()
        .expect("cargo runs");
    assert!(built.success(), "the program does not build");
    target.join(PROFILE).join("foretell-steps")
}

/// Instructions of one counted step, callees included.
fn count(program: &Path, kind: &str) -> u64 {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let out = directory.path().join("callgrind");
    let commands = text_of(
        Command::new("valgrind")
            .args([
                "--tool=callgrind",
                "--quiet",
                "--toggle-collect=*counted_step*",
            ])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(program)
            .arg(kind),
    );
    let commands: u64 = commands.parse().expect("the number of commands");
    let text = fs::read_to_string(&out).expect("what callgrind wrote");
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.or_else(|| text.lines().find_map(|line| line.strip_prefix("summary: ")));
    let total: u64 = total
        .and_then(|total| total.trim().parse().ok())
        .expect("a total");
    assert!(total > commands, "nothing was counted: {total}");
    total / commands
}

fn text_of(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn record(counts: &[(&str, u64)], compiler: &str, valgrind: &str) -> String {
    let mut text = format!(
        "# Instructions of one step of the core, everything it calls included, under callgrind.\n\
         # To record again: {RECORD_ANEW}=1 cargo test -p foretell-steps\n\
         compiler {compiler}\nvalgrind {valgrind}\n"
    );
    for (kind, count) in counts {
        text += &format!("{kind} {count}\n");
    }
    text
}

/// Parses recorded counts.
fn read(text: &str) -> BTreeMap<&str, u64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(kind, count)| Some((kind, count.parse().ok()?)))
        .collect()
}
