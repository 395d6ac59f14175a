//! What the targets of hot reads mean. A token is 77 digits; a target that was understood before is
//! compared with what was written then instead of being read again, in memory that never grows.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use foretell_model::{MarketNumber, Outcome};
use parking_lot::Mutex;

use crate::replica::State;
use crate::texts::Saying;

/// Targets remembered at most; the hash that places them is keyed.
const PLACES: usize = 1 << 12;
/// Longest target remembered, in bytes: a token, a side and some room.
const LONGEST: usize = 192;

/// What a target asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Meaning {
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) saying: Saying,
}

/// The targets understood so far, of the whole process.
pub(crate) struct Targets {
    hasher: RandomState,
    places: Box<[Mutex<Option<Understood>>]>,
}

struct Understood {
    target: Box<str>,
    epoch: u64,
    meaning: Meaning,
}

impl Default for Targets {
    fn default() -> Self {
        Self {
            hasher: RandomState::default(),
            places: (0..PLACES).map(|_| Mutex::new(None)).collect(),
        }
    }
}

impl Targets {
    /// What `target` (path and query) means in `state`: as it was understood before, or as `read`
    /// finds.
    pub(crate) fn meaning(
        &self,
        state: &State,
        target: &str,
        read: impl FnOnce() -> Option<Meaning>,
    ) -> Option<Meaning> {
        let place = self.place(target);
        if let Some(known) = &*place.lock()
            && known.epoch == state.epoch
            && *known.target == *target
        {
            return Some(known.meaning);
        }
        let meaning = read()?;
        if target.len() <= LONGEST {
            *place.lock() = Some(Understood {
                target: target.into(),
                epoch: state.epoch,
                meaning,
            });
        }
        Some(meaning)
    }

    fn place(&self, target: &str) -> &Mutex<Option<Understood>> {
        let hash = self.hasher.hash_one(target) % PLACES as u64;
        &self.places[usize::try_from(hash).expect("less than PLACES")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_view::View;

    fn state(epoch: u64) -> State {
        State {
            view: View::new([0; 32]),
            epoch,
        }
    }

    fn meaning(market: u32) -> Option<Meaning> {
        Some(Meaning {
            market: MarketNumber(market),
            outcome: Outcome::Yes,
            saying: Saying::Quote(crate::texts::Quote::Midpoint),
        })
    }

    #[test]
    fn a_target_is_read_once_in_an_epoch() {
        let targets = Targets::default();
        let ask = |epoch, target: &str, market| {
            targets.meaning(&state(epoch), target, || meaning(market))
        };
        assert_eq!(ask(1, "/midpoint?token_id=1", 7), meaning(7));
        assert_eq!(ask(1, "/midpoint?token_id=1", 8), meaning(7), "known");
        assert_eq!(ask(1, "/midpoint?token_id=2", 8), meaning(8), "another");
        assert_eq!(
            ask(2, "/midpoint?token_id=1", 9),
            meaning(9),
            "of an earlier epoch"
        );
    }

    #[test]
    fn what_is_not_understood_or_too_long_is_not_remembered() {
        let targets = Targets::default();
        let state = state(1);
        assert_eq!(targets.meaning(&state, "/book?x", || None), None);
        assert_eq!(
            targets.meaning(&state, "/book?x", || meaning(1)),
            meaning(1)
        );
        let long = "/book?".repeat(LONGEST);
        assert_eq!(targets.meaning(&state, &long, || meaning(1)), meaning(1));
        assert_eq!(targets.meaning(&state, &long, || meaning(2)), meaning(2));
    }
}
