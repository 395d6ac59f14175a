//! Random commands, compared with naive models: core, read model, snapshots, data surface and
//! streams.

mod data_agrees;
mod generator;
mod golden_journals;
mod placements;
mod quoted;
mod restore_agrees;
mod rng;
mod stream_agrees;
mod style;
mod twin_agrees;
mod view_agrees;
mod view_images;
mod world;
