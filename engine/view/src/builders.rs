//! Builders: the 32-byte codes orders carry, each stored once.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::error::Impossible;

/// A builder's code as signed: a wallet left-padded to 32 bytes; never all zero.
pub type Builder = [u8; 32];

/// Place of a builder's code; `None` in an order without one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BuilderSlot(core::num::NonZeroU32);

impl BuilderSlot {
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// All builders' codes seen so far.
#[derive(Debug, Default)]
pub struct Builders {
    all: Vec<Builder>,
    by_code: HashMap<Builder, BuilderSlot, RandomState>,
}

impl Builders {
    pub(crate) fn find(&self, code: &Builder) -> Option<BuilderSlot> {
        self.by_code.get(code).copied()
    }

    pub(crate) fn code(&self, slot: BuilderSlot) -> Option<&Builder> {
        self.all.get(slot.index())
    }

    /// How many different codes were seen.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The place of a code, new or known; zero is no builder.
    pub(crate) fn intern(&mut self, code: &Builder) -> Result<Option<BuilderSlot>, Impossible> {
        if *code == [0; 32] {
            return Ok(None);
        }
        if let Some(slot) = self.find(code) {
            return Ok(Some(slot));
        }
        self.all.push(*code);
        let number = u32::try_from(self.all.len()).map_err(|_| Impossible::Full)?;
        let slot = BuilderSlot(core::num::NonZeroU32::new(number).ok_or(Impossible::Full)?);
        self.by_code.insert(*code, slot);
        Ok(Some(slot))
    }
}
