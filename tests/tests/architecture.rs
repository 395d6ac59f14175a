//! The arrows between crates point down only: this reads `cargo metadata` and fails when one
//! turns round, when a crate learns what it must never know, or when one is not in the picture.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

/// The layers of ARCHITECTURE.md, lowest first. A crate may use crates of lower layers only.
const LAYERS: &[&[&str]] = &[
    &["foretell-model", "foretell-memory"],
    &["foretell-link", "foretell-checkpoint"],
    &["foretell-matching", "foretell-journal", "foretell-stages"],
    &["foretell-view"],
    &["foretell-wire", "foretell-auth", "foretell-catalog"],
    &[
        "foretell-engine",
        "foretell-gateway",
        "foretell-catalog-sync",
    ],
    &["foretell-bench", "foretell-steps", "foretell-fuzzing"],
    &["foretell-ops"],
    &["foretell-tests"],
];

/// Stands beside the layers: knows the words and nothing else.
const TWIN: &str = "foretell-twin";

/// What must never be known, whatever the layers say: crate, and the crates it must not use.
const NEVER: &[(&str, &[&str])] = &[
    (
        "foretell-model",
        &["serde_json", "memmap2", "tokio", "hyper", "jiff"],
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
];

/// Only the journal maps and syncs files.
const MAPS_FILES: &str = "foretell-journal";

fn normal_dependencies(package: &Package) -> BTreeSet<String> {
    package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind == DependencyKind::Normal)
        .map(|dependency| dependency.name.clone())
        .collect()
}

fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .expect("cargo metadata runs");
    metadata
        .packages
        .iter()
        .map(|package| (package.name.to_string(), normal_dependencies(package)))
        .collect()
}

fn layer_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&name))
}

#[test]
fn arrows_point_down() {
    for (name, dependencies) in workspace() {
        if name == TWIN {
            let ours: Vec<_> = dependencies
                .iter()
                .filter(|name| name.starts_with("foretell-"))
                .collect();
            assert_eq!(
                ours,
                ["foretell-model"],
                "the twin knows the words and nothing else"
            );
            continue;
        }
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
