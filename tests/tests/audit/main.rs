//! `foretell audit` over journals of an exchange and over doctored ones.

#[allow(dead_code, reason = "the properties use the rest of it")]
#[path = "../properties/generator.rs"]
mod generator;
#[path = "../properties/placements.rs"]
mod placements;
#[path = "../properties/rng.rs"]
mod rng;
#[path = "../properties/style.rs"]
mod style;
#[path = "../properties/world.rs"]
mod world;

mod attested;
mod checkpoints;
mod commands;
mod doctored;
mod quote_sets;
mod quotes;
mod random;
mod run;
mod seal;
mod site;
mod withdrawals;
