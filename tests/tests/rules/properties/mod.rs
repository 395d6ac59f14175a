//! Random commands, compared with naive models: core, read model, snapshots, data surface and
//! streams.

mod data_agrees;
pub(crate) mod generator;
mod golden_journals;
pub(crate) mod journal;
pub(crate) mod placements;
pub(crate) mod quoted;
mod restore_agrees;
pub(crate) mod rng;
pub(crate) mod spread;
mod stream_agrees;
pub(crate) mod style;
pub(crate) mod text;
mod twin_agrees;
mod view_agrees;
mod view_images;
mod walk;
pub(crate) mod world;
