//! The view, folded from frames alone, says after every command what the exchange says of itself.
//!
//! The commands are those the core and its twin are compared on, so that what one finds both see.

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

mod beyond_the_bound;
mod compare;
mod followed;
mod price_history;

use followed::Followed;
use generator::Generator;

/// Sequences of an ordinary run.
const SEQUENCES: u64 = 2_000;

#[test]
fn the_view_is_the_exchange_on_wide_random_commands() {
    for seed in 0..SEQUENCES {
        let mut followed = Followed::new();
        let mut generator = Generator::new(seed);
        let mut count = 0;
        while let Some((command, time)) = generator.next_command() {
            count += 1;
            if let Err(what) = followed.step(&command, time) {
                panic!("seed {seed}, command {count}, {command:?}: {what}");
            }
            generator.observe(&command, followed.state());
        }
    }
}
