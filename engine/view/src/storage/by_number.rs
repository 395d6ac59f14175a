//! A list indexed by one kind of the exchange's dense numbers.

use core::hash::Hash;
use core::marker::PhantomData;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::codec::{CodecError, Stored};
use foretell_model::{AccountNumber, EventNumber, KeyNumber, MarketNumber};

use crate::error::Impossible;

/// A dense number: the first of its kind is 0.
pub(crate) trait Number: Copy {
    fn get(self) -> u32;
    fn of(index: u32) -> Self;
}

macro_rules! numbers {
    ($($name:ident),+) => {
        $(impl Number for $name {
            fn get(self) -> u32 {
                self.0
            }
            fn of(index: u32) -> Self {
                Self(index)
            }
        })+
    };
}
numbers!(AccountNumber, MarketNumber, EventNumber, KeyNumber);

/// Entries in the order of their numbers.
#[derive(Debug)]
pub(crate) struct ByNumber<N, T> {
    entries: Vec<T>,
    number: PhantomData<N>,
}

impl<N, T> Default for ByNumber<N, T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            number: PhantomData,
        }
    }
}

impl<N, T: Stored> Stored for ByNumber<N, T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.entries.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        Ok(Self {
            entries: Stored::take(from)?,
            number: PhantomData,
        })
    }
}

impl<N: Number, T> ByNumber<N, T> {
    pub(crate) fn get(&self, number: N) -> Option<&T> {
        self.entries.get(number.get() as usize)
    }

    pub(crate) fn get_mut(&mut self, number: N) -> Option<&mut T> {
        self.entries.get_mut(number.get() as usize)
    }

    /// Adds the entry of the next number.
    pub(crate) fn push(&mut self, number: N, entry: T) -> Result<(), Impossible> {
        let expected = u32::try_from(self.entries.len()).map_err(|_| Impossible::Full)?;
        if number.get() != expected {
            return Err(Impossible::NumberNotNext {
                got: number.get(),
                expected,
            });
        }
        self.entries.push(entry);
        Ok(())
    }

    /// The numbers of the entries by name; `None` for duplicate names.
    pub(crate) fn by_name<K: Eq + Hash>(
        &self,
        name: impl Fn(&T) -> K,
    ) -> Option<HashMap<K, N, RandomState>> {
        let entries = self.iter();
        let names: HashMap<_, _, _> = entries
            .map(|(number, entry)| (name(entry), number))
            .collect();
        (names.len() == self.len()).then_some(names)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Entries by number.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (N, &T)> + ExactSizeIterator {
        (self.entries.iter().enumerate()).map(numbered)
    }

    /// Entries whose numbers are below `end`, all without one; the highest number first. It costs
    /// nothing to leave out the others.
    pub(crate) fn before(&self, end: Option<N>) -> impl Iterator<Item = (N, &T)> {
        let end = end.map_or(self.entries.len(), |end| end.get() as usize);
        let entries = &self.entries[..end.min(self.entries.len())];
        entries.iter().enumerate().rev().map(numbered)
    }
}

fn numbered<N: Number, T>((index, entry): (usize, &T)) -> (N, &T) {
    let index = u32::try_from(index).expect("push gives numbers of 32 bits only");
    (N::of(index), entry)
}

/// The entry of a dense number in a list that grows to the numbers that are used.
pub(crate) fn entry_of<T: Clone + Default>(entries: &mut Vec<T>, number: usize) -> &mut T {
    if entries.len() <= number {
        entries.resize(number + 1, T::default());
    }
    &mut entries[number]
}
