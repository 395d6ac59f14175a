//! The state of the exchange as bytes: whatever they are, they end in an error or in an exchange of
//! exactly these bytes. The digest of a sound image attests no other.

use std::sync::LazyLock;

use foretell_matching::{Exchange, RestoreError};
use foretell_model::digest::StateDigest;
use foretell_model::record::Vocabulary;
use foretell_model::state::StateRecord;

use crate::edits::{self, EDITED, RAW};
use crate::{Seed, waiting, world};

static SOUND: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let base = world::site();
    base.state(base.frames.len())
});

pub(crate) fn run(bytes: &[u8]) {
    let (_, image) = edits::decode_input(bytes, &SOUND);
    records_are_canonical(&image);
    if image != *SOUND {
        let attested = StateDigest::of_image(&SOUND);
        let other = Exchange::read_image(world::small(), 3, &image, attested);
        assert_eq!(other.err(), Some(RestoreError::OtherImage));
    }
    _ = restored(&image);
}

/// Every record that parses is serialised to the same bytes.
fn records_are_canonical(image: &[u8]) {
    let (mut rest, mut again) = (image, Vec::new());
    loop {
        let at = image.len() - rest.len();
        match StateRecord::take_next(&mut rest) {
            Ok(Some(record)) => {
                again.clear();
                record.append(&mut again);
                assert_eq!(again, image[at..image.len() - rest.len()], "{record:?}");
            }
            Ok(None) => return,
            Err(error) => {
                assert_eq!(
                    rest.len(),
                    image.len() - at,
                    "a refused record is not taken"
                );
                assert!(!error.to_string().is_empty());
                return;
            }
        }
    }
}

/// Restores an image that was attested; an exchange lists exactly its bytes again.
pub(crate) fn restored(image: &[u8]) -> Result<Exchange, RestoreError> {
    let restored = Exchange::read_image(world::small(), 3, image, StateDigest::of_image(image));
    match &restored {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(exchange) => {
            let mut again = Vec::new();
            exchange.write_image(&mut again);
            assert_eq!(again, image, "another image");
        }
    }
    restored
}

pub(crate) fn seeds() -> Vec<Seed> {
    let (busy, quiet) = (world::site(), world::quiet());
    let raw = |image: Vec<u8>| [vec![RAW], image].concat();
    let count = busy.frames.len();
    vec![
        ("nothing", vec![EDITED]),
        ("empty", raw(Vec::new())),
        ("quiet", raw(quiet.state(quiet.frames.len()))),
        ("first", raw(busy.state(1))),
        // Orders rest on both sides, and the id of one that does not rest is remembered.
        ("trading", raw(busy.state(count - 8))),
        ("busy", raw(busy.state(count))),
        ("waiting", raw(waiting::image())),
        (
            "flipped",
            edits::input(EDITED, &[(1, 40, 1), (0, 300, 255)]),
        ),
        ("cut", edits::input(EDITED, &[(4, 900, 0)])),
    ]
}

#[cfg(test)]
mod tests {
    use foretell_model::command::CancelAll;
    use foretell_model::{AccountNumber, Command, Event, TimeNs};

    use super::*;

    #[test]
    fn the_seeds_restore_exchanges_with_resting_orders() {
        let base = world::site();
        for count in [base.frames.len() - 8, base.frames.len()] {
            execute_commands(&mut restored(&base.state(count)).expect("a sound image"));
        }
        let trading = base.exchange(base.frames.len() - 8);
        assert!(trading.live_orders() > 1, "{}", trading.live_orders());
    }

    /// A restored exchange executes commands.
    fn execute_commands(exchange: &mut Exchange) {
        let mut events: Vec<Event> = Vec::new();
        let mut apply = |command: &Command| {
            events.clear();
            exchange.apply(command, TimeNs(u64::MAX / 2), &mut events);
            // At most 4,096 orders a command: the work of a small image ends long before.
            for _ in 0..64 {
                if !exchange.has_pending_work() {
                    break;
                }
                events.clear();
                exchange.apply(&Command::Continue, TimeNs(0), &mut events);
            }
        };
        apply(&Command::AdvanceTime);
        for frame in &world::site().frames {
            apply(&frame.command);
        }
        for owner in (0..4).map(AccountNumber) {
            apply(&Command::CancelAll(CancelAll {
                owner,
                heartbeat: false,
            }));
        }
        assert_eq!(exchange.check_invariants(), Ok(()));
    }
}
