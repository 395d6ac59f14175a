//! `foretell audit` over journals an exchange could have written, and over doctored ones.

#[path = "../twin_agrees/generator.rs"]
mod generator;
#[path = "../twin_agrees/placements.rs"]
mod placements;
#[path = "../twin_agrees/rng.rs"]
mod rng;
#[path = "../twin_agrees/style.rs"]
mod style;
#[path = "../twin_agrees/world.rs"]
mod world;

mod attested;
mod checkpoints;
mod commands;
mod doctored;
mod random;
mod run;
mod seal;
mod site;
