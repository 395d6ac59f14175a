//! Random commands, compared with naive models: core, read model, snapshots and data surface.

mod data_agrees;
mod generator;
mod placements;
mod restore_agrees;
mod rng;
mod style;
mod twin_agrees;
mod view_agrees;
mod view_images;
mod world;
