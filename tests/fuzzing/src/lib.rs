//! The fuzz targets: one function each, which panics on a violation and returns otherwise. `tests/fuzz/`
//! runs them under libFuzzer; the tests of this crate replay the seeds and the committed corpora
//! through the same functions.
//!
//! Arbitrary bytes seldom pass a checksum. So the file targets read their input as a file or as a
//! list of edits to a valid one, whose checksums may be recomputed afterwards ([`edits`]). Every
//! target has seeds that reach the end of its reader.
//!
//! The engine's own handling of a socket is fuzzed from inside its crate (`engine/tests/fuzzing`)
//! with the bytes of `frames`.

mod catalog;
mod cursor;
pub mod edits;
mod error_checks;
mod frames;
mod journal;
mod order;
mod query;
#[allow(dead_code, reason = "the audit's tests use the rest of it")]
#[path = "../../tests/rules/audit/seal.rs"]
mod seal;
mod signature;
#[allow(dead_code, reason = "the audit's tests use the rest of it")]
#[path = "../../tests/rules/audit/site.rs"]
mod site;
mod snapshot;
mod state;
mod waiting;
mod websocket;
mod world;

/// An input with a name.
pub type Seed = (&'static str, Vec<u8>);

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, also that of its fuzz target and corpus.
    pub name: &'static str,
    /// Runs one input; a panic is a finding.
    pub run: fn(&[u8]),
    /// Generated inputs that reach the end of the reader.
    pub seeds: fn() -> Vec<Seed>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "order",
        run: order::run,
        seeds: order::seeds,
    },
    Target {
        name: "signature",
        run: signature::run,
        seeds: signature::seeds,
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
    Target {
        name: "websocket",
        run: websocket::run,
        seeds: websocket::seeds,
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
