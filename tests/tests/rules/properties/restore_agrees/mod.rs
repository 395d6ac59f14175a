//! An exchange restored from its image equals the original: the same responses, events and state
//! from then on, at any capacity. Any other bytes are refused, or are another state: never a panic.
//!
//! The walk shows it a part of its sequences.

mod damaged;
mod pending;

use foretell_matching::{Capacity, Exchange};
use foretell_model::digest::StateDigest;
use foretell_model::state::StateRecord;
use foretell_model::{Command, CommandStamp, Event, Verdict};

use crate::properties::generator::Sent;
use crate::properties::rng::Rng;
use crate::properties::twin_agrees::coverage::{Counts, count};
use crate::properties::walk::observer::{Observer, Step};

/// What a whole run shows at least.
pub(crate) const LEAST: &[(&str, u64)] = &[("restores", 1_000)];

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
    let (stamp, mut events) = (stamp.into(), Vec::new());
    let verdict = original.apply_with(command, beside, stamp, &mut events);
    let sent = Sent {
        command: *command,
        beside: beside.to_vec(),
        stamp,
    };
    follow(copy, &sent, (&verdict, &events, original));
    events
}

/// Sends a command to a copy and compares all visible results with those of the original, which has
/// executed it.
fn follow(
    copy: &mut Exchange,
    sent: &Sent,
    (verdict, events, original): (&Verdict, &[Event], &Exchange),
) {
    let command = &sent.command;
    let mut copied = Vec::new();
    let answer = copy.apply_with(command, &sent.beside, sent.stamp, &mut copied);
    assert_eq!(answer, *verdict, "{command:?}");
    assert_eq!(copied, events, "{command:?}");
    assert_eq!(copy.sequence(), original.sequence());
    assert_eq!(copy.next_due(), original.next_due());
    assert_eq!(copy.has_pending_work(), original.has_pending_work());
    assert_eq!(copy.has_background_work(), original.has_background_work());
    assert_eq!(copy.digest(), original.digest(), "{command:?}");
    copy.check_invariants()
        .unwrap_or_else(|broken| panic!("{command:?}: {broken}"));
}

/// A copy that is restored now and then, and follows meanwhile.
pub(crate) struct Restores {
    seed: u64,
    copy: Exchange,
}

impl Restores {
    pub(crate) fn new(seed: u64) -> Self {
        let original = Exchange::new(Capacity::NONE, seed);
        Self {
            seed,
            copy: restored(&original, AMPLE, seed),
        }
    }
}

impl Observer for Restores {
    fn name(&self) -> &'static str {
        "restore"
    }

    fn see(&mut self, step: &Step<'_>, counts: &mut Counts<&'static str>) -> Result<(), String> {
        let Self { seed, copy } = self;
        let Sent { command, stamp, .. } = step.sent;
        // By the command, not by its place: a shortened sequence restores after the same commands.
        let mut rng = Rng::new(!*seed ^ stamp.time.0 ^ (u64::from(command.code()) << 56));
        follow(copy, step.sent, (step.verdict, step.events, step.core));
        if rng.percent(4) {
            let capacity = rng.pick(&[Capacity::NONE, AMPLE]);
            // Sometimes a copy of the copy: repeated restores lose nothing.
            let source = if rng.percent(50) { step.core } else { &*copy };
            *copy = restored(source, capacity, rng.next());
            count(counts, "restores");
        }
        Ok(())
    }
}
