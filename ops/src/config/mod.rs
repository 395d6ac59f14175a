//! Settings of every process: defaults < `foretell.toml` < `FORETELL_*` < flags
//! (docs/internals/decisions/0012).
//!
//! A setting's environment variable is its path in capitals, joined by `_`: `engine.durability` is
//! `FORETELL_ENGINE_DURABILITY`. Unknown names are errors in the file and in the environment, so a misspelled setting is never
//! silently ignored.

pub(crate) mod check;
mod cluster;
mod networks;
pub(crate) mod refusal;
mod settings;
mod source;

pub(crate) use settings::*;
pub(crate) use source::{Flags, Loaded, SETTINGS_HINT, is_variable, variables};
