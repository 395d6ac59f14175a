//! An exchange restored from its image equals the original: the same responses, events and state
//! from then on, at any capacity. Any other bytes are refused, or are another state: never a panic.
//!
//! The commands are those of the comparison of core and twin.

mod damaged;
mod pending;

use foretell_matching::{Capacity, Exchange};
use foretell_model::digest::StateDigest;
use foretell_model::state::StateRecord;
use foretell_model::{Command, CommandStamp, Event};

use crate::properties::generator::{Generator, Sent};
use crate::properties::rng::Rng;

/// Sequences of an ordinary run.
const SEQUENCES: u64 = 400;

/// More room than any sequence needs.
const AMPLE: Capacity = Capacity {
    accounts: 256,
    keys: 256,
    markets: 256,
    events: 64,
    orders: 512,
    expiring_orders: 512,
    delayed_orders: 512,
    positions: 512,
    order_ids: 512,
    timestamp_seconds: 512,
    references: 512,
};

/// The state as records.
pub(crate) fn records_of(exchange: &Exchange) -> Vec<StateRecord> {
    let mut records = Vec::new();
    exchange.visit_state(&mut |record| records.push(*record));
    records
}

/// The state as bytes.
pub(crate) fn image_of(exchange: &Exchange) -> Vec<u8> {
    let mut image = Vec::new();
    exchange.write_image(&mut image);
    image
}

/// A copy through the image; all comparable properties are compared.
pub(crate) fn restored(exchange: &Exchange, capacity: Capacity, index_key: u64) -> Exchange {
    let image = image_of(exchange);
    assert_eq!(StateDigest::of_image(&image), exchange.digest());
    let copy = Exchange::read_image(capacity, index_key, &image, exchange.digest())
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(image_of(&copy), image);
    assert_eq!(copy.check_invariants(), Ok(()));
    copy
}

/// Sends a command to both and compares all visible results; `beside` begins with its tail.
pub(crate) fn step(
    original: &mut Exchange,
    copy: &mut Exchange,
    command: &Command,
    beside: &[u8],
    stamp: impl Into<CommandStamp>,
) -> Vec<Event> {
    let stamp = stamp.into();
    let (mut events, mut copied) = (Vec::new(), Vec::new());
    let verdict = original.apply_with(command, beside, stamp, &mut events);
    assert_eq!(
        copy.apply_with(command, beside, stamp, &mut copied),
        verdict,
        "{command:?}"
    );
    assert_eq!(copied, events, "{command:?}");
    assert_eq!(copy.sequence(), original.sequence());
    assert_eq!(copy.next_due(), original.next_due());
    assert_eq!(copy.has_pending_work(), original.has_pending_work());
    assert_eq!(copy.has_background_work(), original.has_background_work());
    assert_eq!(copy.digest(), original.digest(), "{command:?}");
    copy.check_invariants()
        .unwrap_or_else(|broken| panic!("{command:?}: {broken}"));
    events
}

#[test]
fn a_restored_exchange_goes_on_as_the_original() {
    let mut restores = 0;
    for seed in 0..SEQUENCES {
        let mut rng = Rng::new(!seed);
        let mut generator = Generator::new(seed);
        let mut original = Exchange::new(Capacity::NONE, seed);
        let mut copy = restored(&original, AMPLE, seed);
        while let Some(sent) = generator.next_sent() {
            if rng.percent(4) {
                let capacity = rng.pick(&[Capacity::NONE, AMPLE]);
                // Sometimes a copy of the copy: repeated restores lose nothing.
                let source = if rng.percent(50) { &original } else { &copy };
                copy = restored(source, capacity, rng.next());
                restores += 1;
            }
            let Sent {
                command,
                beside,
                stamp,
            } = &sent;
            step(&mut original, &mut copy, command, beside, *stamp);
            generator.observe(command, &records_of(&original));
        }
    }
    assert!(restores > 1_000, "{restores} restores");
}
