//! The tail of a command: a list that its fields have no room for.
//!
//! A command has fixed fields and is copied. What it lists beyond them, at most [`MAX_TAIL_BYTES`], comes
//! first in the bytes beside it, before its evidence, on the socket, in the ring and in its frame. A field
//! of the command counts the items. Nothing decodes them on the way, and a reader decodes each where it
//! lies, without memory of its own.

use std::marker::PhantomData;

use crate::limits::{MAX_EVIDENCE_BYTES, MAX_TAIL_BYTES};
use crate::record::{self, Record};

const _: () = assert!(MAX_TAIL_BYTES < MAX_EVIDENCE_BYTES);

/// A list of records beside a command.
#[derive(Debug)]
pub struct Tail<'a, T> {
    bytes: &'a [u8],
    items: PhantomData<T>,
}

impl<'a, T: Record> Tail<'a, T> {
    /// Appends the tail of these items to the bytes beside a command.
    pub fn append(items: &[T], beside: &mut Vec<u8>) {
        let start = beside.len();
        beside.resize(start + items.len() * T::BYTES, 0);
        for (item, place) in items.iter().zip(beside[start..].chunks_exact_mut(T::BYTES)) {
            record::encode(item, place);
        }
    }

    /// Splits the bytes beside a command into its tail of `count` items and what follows: another list,
    /// or the evidence. `None` when the bytes end before, or the tail is longer than [`MAX_TAIL_BYTES`].
    #[must_use]
    pub fn split(beside: &'a [u8], count: usize) -> Option<(Self, &'a [u8])> {
        let length = count.checked_mul(T::BYTES)?;
        let (bytes, rest) = beside.split_at_checked(length)?;
        let items = PhantomData;
        (length <= MAX_TAIL_BYTES).then_some((Self { bytes, items }, rest))
    }

    /// The item at an index; `None` beyond the last, and for bytes that are no `T`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        let bytes = self.bytes.chunks_exact(T::BYTES).nth(index)?;
        record::decode(bytes)
    }

    /// Its items in order, each read where it lies; `None` for bytes that are no `T`.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Option<T>> + use<'a, T> {
        self.bytes.chunks_exact(T::BYTES).map(record::decode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lots, MarketNumber, Outcome};

    type Item = (MarketNumber, Outcome, Lots);

    fn items(count: usize) -> Vec<Item> {
        let item = |number| (MarketNumber(number), Outcome::No, Lots(u64::from(number)));
        (0..).map(item).take(count).collect()
    }

    #[test]
    fn a_tail_is_read_back_and_what_follows_is_left() {
        let mut beside = Vec::new();
        Tail::append(&items(3), &mut beside);
        beside.extend_from_slice(b"signature");
        let (tail, rest) = Tail::<Item>::split(&beside, 3).unwrap();
        assert_eq!(rest, b"signature");
        assert_eq!(tail.items().len(), 3);
        assert_eq!(tail.items().collect::<Option<Vec<_>>>(), Some(items(3)));
        let (none, rest) = Tail::<Item>::split(&beside, 0).unwrap();
        assert_eq!((none.items().count(), rest), (0, &beside[..]));
    }

    #[test]
    fn a_count_beyond_the_bytes_or_the_bound_is_refused() {
        let most = MAX_TAIL_BYTES / Item::BYTES;
        let mut beside = Vec::new();
        Tail::append(&items(most + 1), &mut beside);
        assert!(Tail::<Item>::split(&beside, most).is_some());
        assert!(Tail::<Item>::split(&beside, most + 1).is_none());
        assert!(Tail::<Item>::split(&beside[..10], 1).is_none());
        assert!(Tail::<Item>::split(&beside, usize::MAX).is_none());
    }

    #[test]
    fn bytes_that_are_no_item_are_none() {
        let mut beside = Vec::new();
        Tail::append(&items(2), &mut beside);
        beside[Item::BYTES + 4] = 9;
        let (tail, _) = Tail::<Item>::split(&beside, 2).unwrap();
        let read: Vec<_> = tail.items().collect();
        assert_eq!(read, [Some(items(1)[0]), None]);
    }
}
