//! The view, folded from frames alone, agrees with the exchange after every command.
//!
//! The commands are those of the comparison of core and twin, so both tests see the same cases.

mod beyond_the_bound;
mod compare;
mod followed;
mod market_life;
mod price_history;

use crate::properties::generator::Generator;
use followed::Followed;

/// Sequences of an ordinary run.
const SEQUENCES: u64 = 4_000;

#[test]
fn the_view_is_the_exchange_on_wide_random_commands() {
    (0..SEQUENCES).for_each(|seed| follow(seed, Generator::new(seed)));
}

fn follow(seed: u64, mut generator: Generator) {
    let mut followed = Followed::new();
    let mut count = 0;
    while let Some(sent) = generator.next_sent() {
        count += 1;
        let command = sent.command;
        if let Err(what) = followed.step(&command, &sent.beside, sent.stamp) {
            panic!("seed {seed}, command {count}, {command:?}: {what}");
        }
        generator.observe(&command, followed.state());
    }
}
