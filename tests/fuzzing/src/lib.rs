//! What the fuzz targets do with their bytes: one function a target, which panics when a promise is
//! broken and returns otherwise. `fuzz/` gives them to libFuzzer; the tests of this crate replay the
//! seeds and the committed corpora through the same functions.
//!
//! Arbitrary bytes seldom get behind a checksum, so the targets of files read their input either as
//! the file or as a list of changes to a sound one, whose checksums may be made right again
//! afterwards ([`edits`]). Every target has seeds that reach the end of its reader.
//!
//! The engine's own handling of a socket is fuzzed from inside its crate
//! (`engine/tests/fuzzing`) with the bytes of `frames`.

mod catalog;
mod cursor;
pub mod edits;
mod frames;
mod journal;
mod order;
mod query;
mod refusal;
#[allow(dead_code, reason = "the audit's tests use the rest of it")]
#[path = "../../tests/audit/seal.rs"]
mod seal;
#[allow(dead_code, reason = "the audit's tests use the rest of it")]
#[path = "../../tests/audit/site.rs"]
mod site;
mod snapshot;
mod state;
mod world;

/// An input with a name.
pub type Seed = (&'static str, Vec<u8>);

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, that of its fuzz target and of its corpus.
    pub name: &'static str,
    /// What it does with its bytes; a panic is a finding.
    pub run: fn(&[u8]),
    /// Inputs that reach deep, made by code.
    pub seeds: fn() -> Vec<Seed>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "order",
        run: order::run,
        seeds: order::seeds,
    },
    Target {
        name: "query",
        run: query::run,
        seeds: query::seeds,
    },
    Target {
        name: "cursor",
        run: cursor::run,
        seeds: cursor::seeds,
    },
    Target {
        name: "frames",
        run: frames::run,
        seeds: frames::seeds,
    },
    Target {
        name: "journal",
        run: journal::run,
        seeds: journal::seeds,
    },
    Target {
        name: "state",
        run: state::run,
        seeds: state::seeds,
    },
    Target {
        name: "snapshot",
        run: snapshot::run,
        seeds: snapshot::seeds,
    },
    Target {
        name: "catalog",
        run: catalog::run,
        seeds: catalog::seeds,
    },
];

/// The target of this name.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn target(name: &str) -> &'static Target {
    let found = TARGETS.iter().find(|target| target.name == name);
    found.unwrap_or_else(|| panic!("no fuzz target is called {name}"))
}
