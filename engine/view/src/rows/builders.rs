//! Builders: the 32-byte codes in orders, each stored once.

use core::num::NonZeroU32;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use foretell_model::codec::{CodecError, Fixed, Stored, invalid};

use crate::error::Impossible;

/// A builder code as signed: a wallet left-padded to 32 bytes; never all zero.
pub type Builder = [u8; 32];

/// Index of a builder code; an order without builder has `None`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BuilderSlot(NonZeroU32);

impl BuilderSlot {
    /// Counted from 1.
    pub(crate) fn number(self) -> usize {
        self.0.get() as usize
    }
}

impl Stored for BuilderSlot {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.get().put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let number = NonZeroU32::new(u32::take(from)?);
        number.map(Self).ok_or(invalid("builder slot", 0_u8))
    }
}

impl Fixed for BuilderSlot {
    const SIZE: usize = u32::SIZE;
}

/// All builder codes seen so far.
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
        self.all.get(slot.number() - 1)
    }

    /// The code at an index, counted from 0 in the order of first use.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Builder> {
        self.all.get(index)
    }

    /// Number of distinct codes.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The index of a code, new or known; `None` for the zero code.
    pub(crate) fn intern(&mut self, code: &Builder) -> Result<Option<BuilderSlot>, Impossible> {
        if *code == [0; 32] {
            return Ok(None);
        }
        if let Some(slot) = self.find(code) {
            return Ok(Some(slot));
        }
        self.all.push(*code);
        let number = u32::try_from(self.all.len()).map_err(|_| Impossible::Full)?;
        let slot = BuilderSlot(NonZeroU32::new(number).ok_or(Impossible::Full)?);
        self.by_code.insert(*code, slot);
        Ok(Some(slot))
    }
}

impl Stored for Builders {
    fn put(&self, out: &mut Vec<u8>) {
        self.all.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let mut builders = Self::default();
        for code in Vec::<Builder>::take(from)? {
            let slot = builders.intern(&code).ok().flatten();
            slot.ok_or(CodecError::Inconsistent("builder codes"))?;
        }
        Ok(builders)
    }
}
