//! The view, folded from frames alone, agrees with the exchange after every command.
//!
//! The commands are those of the comparison of core and twin, so both tests see the same cases.

mod beyond_the_bound;
mod compare;
mod followed;
mod market_life;
mod price_history;

use crate::generator::Generator;
use followed::Followed;

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
