//! Neg-risk event groups and their question lists.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::event::EventRegistered;
use foretell_model::{EventId, EventNumber, Lots, MarketNumber, TimeNs};

use crate::error::Impossible;
use crate::rows::balance::raise;
use crate::storage::by_number::ByNumber;

stored! {
    /// One neg-risk event group.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct EventGroup {
        /// Its catalog id.
        pub id: EventId,
        /// Its words: the evidence of its registration with later edits ([`foretell_model::words`]).
        pub description: Box<[u8]>,
        /// When it was registered.
        pub registered: TimeNs,
        /// Whether its question list is final.
        pub frozen: bool,
        /// Its markets, by question index.
        pub questions: Vec<MarketNumber>,
        /// Total lots converted: `c` of docs/verify/rules.md §11.
        pub converted: Lots,
        /// Its outside question.
        pub outside: MarketNumber,
    }
}

/// All neg-risk event groups.
#[derive(Debug, Default)]
pub struct EventGroups {
    all: ByNumber<EventNumber, EventGroup>,
    by_id: HashMap<EventId, EventNumber, RandomState>,
}

impl EventGroups {
    /// The event group with this number.
    #[must_use]
    pub fn get(&self, number: EventNumber) -> Option<&EventGroup> {
        self.all.get(number)
    }

    /// The event group with this catalog id.
    #[must_use]
    pub fn by_id(&self, id: EventId) -> Option<(EventNumber, &EventGroup)> {
        let number = *self.by_id.get(&id)?;
        Some((number, self.get(number)?))
    }

    /// Number of event groups.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// All event groups, by number.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (EventNumber, &EventGroup)> {
        self.all.iter()
    }

    /// The event groups before one, all without one; the newest first.
    pub fn before(
        &self,
        end: Option<EventNumber>,
    ) -> impl Iterator<Item = (EventNumber, &EventGroup)> {
        self.all.before(end)
    }

    pub(crate) fn register(
        &mut self,
        EventRegistered { event, id, outside }: EventRegistered,
        description: &[u8],
        now: TimeNs,
    ) -> Result<(), Impossible> {
        let number = event;
        let event = EventGroup {
            id,
            description: description.into(),
            registered: now,
            frozen: false,
            questions: Vec::new(),
            converted: Lots::ZERO,
            outside,
        };
        self.all.push(number, event)?;
        match self.by_id.insert(id, number) {
            None => Ok(()),
            Some(_) => Err(Impossible::DuplicateName),
        }
    }

    pub(crate) fn get_mut(&mut self, number: EventNumber) -> Result<&mut EventGroup, Impossible> {
        (self.all.get_mut(number)).ok_or(Impossible::UnknownEvent(number))
    }

    /// Adds the next question.
    pub(crate) fn add_question(
        &mut self,
        number: EventNumber,
        index: u32,
        market: MarketNumber,
    ) -> Result<(), Impossible> {
        let questions = &mut self.get_mut(number)?.questions;
        let expected = u32::try_from(questions.len()).map_err(|_| Impossible::Full)?;
        if index != expected {
            return Err(Impossible::NumberNotNext {
                got: index,
                expected,
            });
        }
        questions.push(market);
        Ok(())
    }

    pub(crate) fn convert(&mut self, number: EventNumber, lots: Lots) -> Result<(), Impossible> {
        raise(&mut self.get_mut(number)?.converted, lots)
    }
}

impl Stored for EventGroups {
    fn put(&self, out: &mut Vec<u8>) {
        self.all.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let all = ByNumber::<EventNumber, EventGroup>::take(from)?;
        let by_id = (all.by_name(|event| event.id)).ok_or(CodecError::Inconsistent("event ids"))?;
        Ok(Self { all, by_id })
    }
}
