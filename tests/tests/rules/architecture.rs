//! Dependencies between crates point down only. This reads `cargo metadata` and fails when one
//! points up, when a crate depends on a forbidden one, or when one is missing in ARCHITECTURE.md.
//! `module_circles` does the same for the modules of a crate.

mod module_circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The layers of ARCHITECTURE.md, lowest first. A crate may use crates of lower layers only.
const LAYERS: &[&[&str]] = &[
    &["foretell-model", "foretell-memory", "foretell-no-schemas"],
    &["foretell-link", "foretell-checkpoint", "foretell-fixtures"],
    &[
        "foretell-matching",
        "foretell-reference",
        "foretell-journal",
        "foretell-stages",
    ],
    &["foretell-view", "foretell-replication"],
    &[
        "foretell-wire",
        "foretell-auth",
        "foretell-jetstream",
        "foretell-log-model",
    ],
    &[
        "foretell-operator-client",
        "foretell-terminal",
        "foretell-catalog",
    ],
    &[
        "foretell-engine",
        "foretell-gateway",
        "foretell-catalog-sync",
    ],
    &["foretell-audit", "foretell-steps", "foretell-fuzzing"],
    &["foretell-ops"],
    &["foretell-bench", "foretell-tests"],
];

/// Uses only the model: no code of the core may influence what the reference computes.
const REFERENCE: &str = "foretell-reference";

/// Forbidden dependencies in addition to the layers: crate, and the crates it must not use.
const NEVER: &[(&str, &[&str])] = &[
    (
        "foretell-model",
        &["serde_json", "memmap2", "tokio", "hyper"],
    ),
    (
        "foretell-link",
        &["hyper", "tokio", "mio", "foretell-journal"],
    ),
    (
        "foretell-matching",
        &[
            "rkyv",
            "memmap2",
            "tokio",
            "mio",
            "serde",
            "serde_json",
            "jiff",
            "foretell-journal",
            "foretell-link",
        ],
    ),
    (
        "foretell-journal",
        &["foretell-matching", "hyper", "tokio", "serde_json"],
    ),
    (
        "foretell-replication",
        &["tokio", "async-nats", "foretell-matching", "serde_json"],
    ),
    (
        "foretell-view",
        &[
            "foretell-matching",
            "foretell-journal",
            "hyper",
            "serde_json",
        ],
    ),
    (
        "foretell-engine",
        &[
            "hyper",
            "http",
            "serde_json",
            "simd-json",
            "tokio",
            "async-nats",
            "foretell-jetstream",
            "foretell-wire",
            "foretell-auth",
        ],
    ),
    (
        "foretell-wire",
        &["hyper", "foretell-journal", "foretell-view"],
    ),
    (
        "foretell-auth",
        &["hyper", "foretell-engine", "foretell-journal"],
    ),
    (
        "foretell-operator-client",
        &["foretell-journal", "foretell-view", "foretell-auth"],
    ),
    (
        "foretell-catalog",
        &["tokio", "hyper", "reqwest", "foretell-journal"],
    ),
    (
        "foretell-catalog-sync",
        &[
            "foretell-matching",
            "foretell-engine",
            "foretell-journal",
            "foretell-link",
        ],
    ),
    (
        "foretell-gateway",
        &["foretell-matching", "foretell-engine"],
    ),
    (
        "foretell-audit",
        &[
            "foretell-engine",
            "foretell-gateway",
            "tokio",
            "hyper",
            "reqwest",
        ],
    ),
];

/// Only the journal maps and syncs files.
const MAPS_FILES: &str = "foretell-journal";

fn normal_dependencies(package: &Package) -> BTreeSet<String> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind.is_none())
        .map(|dependency| dependency.name.clone())
        .collect()
}

/// The repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// What `cargo metadata` says of a crate.
#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for one that is no test's and no build script's.
    kind: Option<String>,
}

fn packages() -> Vec<Package> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let arguments = "metadata --format-version 1 --no-deps --offline";
    let output = Command::new(env!("CARGO"))
        .args(arguments.split(' '))
        .current_dir(ROOT)
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let metadata: Metadata = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata.packages
}

/// The folders of all crates, below [`ROOT`].
fn package_folders() -> Vec<PathBuf> {
    let root = fs::canonicalize(ROOT).expect("the repository");
    let folder = |package: Package| {
        let manifest = fs::canonicalize(package.manifest_path).expect("a manifest");
        let inside = manifest.strip_prefix(&root).expect("inside the repository");
        Path::new(ROOT).join(inside.parent().expect("a folder"))
    };
    packages().into_iter().map(folder).collect()
}

fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    packages()
        .iter()
        .map(|package| (package.name.clone(), normal_dependencies(package)))
        .collect()
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

#[test]
fn arrows_point_down() {
    for (name, dependencies) in workspace() {
        let layer = layer_of(&name)
            .unwrap_or_else(|| panic!("{name} is in no layer: add it to the picture"));
        for used in dependencies
            .iter()
            .filter(|used| used.starts_with("foretell-"))
        {
            let below = layer_of(used)
                .unwrap_or_else(|| panic!("{name} uses {used}, which is in no layer"));
            assert!(
                below < layer,
                "{name} must not use {used}: the arrow would not point down"
            );
        }
    }
}

#[test]
fn the_reference_uses_the_model_alone() {
    let dependencies = &workspace()[REFERENCE];
    assert!(
        dependencies.iter().eq(["foretell-model"]),
        "{dependencies:?}"
    );
}

#[test]
fn nobody_knows_what_it_must_not() {
    let workspace = workspace();
    for (name, forbidden) in NEVER {
        let dependencies = &workspace[*name];
        for word in *forbidden {
            assert!(
                !dependencies.contains(*word),
                "{name} must never know {word}"
            );
        }
    }
}

#[test]
fn only_the_journal_maps_files() {
    for (name, dependencies) in workspace() {
        assert!(
            name == MAPS_FILES || !dependencies.contains("memmap2"),
            "{name} maps files: that is the journal's"
        );
    }
}

/// Names of documents that are not in the repository, before a number.
const OUTSIDE: [&str; 2] = ["protocol ", "design "];

/// Comments cite `docs/…` with a section, or a decision by its number, and no document outside.
/// What follows the clock of the exchange must not follow another one.
#[test]
fn two_files_read_the_wall_clock() {
    let root = Path::new(ROOT);
    let mut sources = Vec::new();
    for folder in ["engine", "gateway", "journal", "catalog-sync", "ops"] {
        collect_sources(&root.join(folder), &mut sources);
    }
    let reads = sources.iter().filter(|file| {
        let text = fs::read_to_string(file).expect("a readable source");
        text.contains("SystemTime::now()")
    });
    let mut readers: Vec<_> = reads
        .map(|file| file.strip_prefix(root).expect("below it").to_owned())
        .collect();
    readers.sort();
    let allowed = ["engine/src/clock.rs", "journal/src/wall_clock.rs"];
    assert_eq!(readers, allowed.map(PathBuf::from));
}

#[test]
fn cited_documents_and_sections_exist() {
    let root = Path::new(ROOT);
    let mut sources = Vec::new();
    collect_sources(root, &mut sources);
    assert!(sources.len() > 100, "{} sources", sources.len());
    let mut wrong = Vec::new();
    for path in sources {
        let text = fs::read_to_string(&path).expect("a readable source");
        for (line, number) in text.lines().zip(1..) {
            let problems = wrong_citations(root, line).into_iter();
            wrong.extend(problems.map(|why| format!("{}:{number}: {why}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Every Rust source below a folder.
fn collect_sources(folder: &Path, sources: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        if name.starts_with('.') || name == "target" || name == "node_modules" {
            continue;
        }
        if path.is_dir() {
            collect_sources(&path, sources);
        } else if name.ends_with(".rs") {
            sources.push(path);
        }
    }
}

fn wrong_citations(root: &Path, line: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for word in OUTSIDE {
        let is_number = |(at, _): (usize, &str)| {
            let rest = &line[at + word.len()..];
            rest.starts_with(|digit: char| digit.is_ascii_digit())
        };
        if line.match_indices(word).any(is_number) {
            wrong.push(format!("a citation of `{}`", word.trim()));
        }
    }
    for (at, _) in line.match_indices("docs/") {
        let rest = &line[at..];
        let is_path = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
        let end = rest
            .find(|letter: char| !is_path(letter))
            .unwrap_or(rest.len());
        let (path, rest) = rest.split_at(end);
        let path = path.trim_end_matches('.');
        if let Some(decision) = path.strip_prefix("docs/internals/decisions/") {
            if !decision.is_empty() && !has_decision(root, decision) {
                wrong.push(format!("no decision {decision}"));
            }
        } else if path.ends_with(".md") {
            match fs::read_to_string(root.join(path)) {
                Ok(page) => wrong.extend(missing_sections(&page, rest)),
                Err(_) => wrong.push(format!("no document {path}")),
            }
        }
    }
    wrong
}

/// A decision by the number that its file begins with.
fn has_decision(root: &Path, number: &str) -> bool {
    let folder = root.join("docs/internals/decisions");
    fs::read_dir(folder)
        .expect("the folder of decisions")
        .any(|entry| {
            let name = entry.expect("a readable folder").file_name();
            let name = name.to_string_lossy();
            name.split('-').next() == Some(number) || name == number
        })
}

/// The sections of ` §1, §2` that a page does not have.
fn missing_sections(page: &str, mut rest: &str) -> Vec<String> {
    let mut missing = Vec::new();
    while let Some(after) = rest.trim_start_matches([',', ' ']).strip_prefix('§') {
        let end = after
            .find(|digit: char| !digit.is_ascii_digit())
            .unwrap_or(after.len());
        let (section, next) = after.split_at(end);
        let heading = format!("## {section}. ");
        if !page.lines().any(|line| line.starts_with(&heading)) {
            missing.push(format!("no section {section}"));
        }
        rest = next;
    }
    missing
}
