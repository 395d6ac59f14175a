//! Random commands, compared with naive models: core, read model, snapshots, data surface and
//! streams.

mod data_agrees;
pub(crate) mod generator;
mod golden_journals;
pub(crate) mod placements;
mod quoted;
mod restore_agrees;
pub(crate) mod rng;
mod stream_agrees;
pub(crate) mod style;
mod twin_agrees;
mod view_agrees;
mod view_images;
pub(crate) mod world;
