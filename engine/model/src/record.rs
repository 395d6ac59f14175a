//! Records: the bytes of a value in journals, in images of the state and on the engine's socket.
//!
//! A record is the rkyv archive of a value: its fields in the order of their declaration, numbers
//! little-endian, without padding or pointers, at any address. An enum is a byte with its pinned code,
//! then the fields of the variant, then zeros up to the longest one. An option is 0 and zeros, or 1 and
//! the value. `journal/FORMAT.md` has the tables.
//!
//! Bytes are untrusted: reading never panics, and refuses codes and flags that are never written.

use rkyv::api::low::{LowSerializer, LowValidator, access, deserialize, to_bytes_in_with_alloc};
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::{Failure, Strategy};
use rkyv::ser::allocator::SubAllocator;
use rkyv::ser::writer::Buffer;
use rkyv::{Archive, Archived, Deserialize, Portable, Serialize};

/// Why bytes are not a record. With a valid checksum another program wrote them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// A code, a flag or another field has a value that is never written.
    #[error("an unknown code, or a field out of range, in a record of code {0}")]
    Value(u8),
    /// A byte that must be zero is not.
    #[error("non-zero padding in a record of code {0}")]
    Padding(u8),
    /// The bytes end inside a record.
    #[error("a record is cut off")]
    Cut,
}

/// A value that has a record.
pub trait Record:
    Sized
    + Archive<Archived: Readable<Self>>
    + for<'a> Serialize<LowSerializer<Buffer<'a>, SubAllocator<'a>, Failure>>
{
    /// Bytes of its record.
    const BYTES: usize = size_of::<Archived<Self>>();
}

impl<T> Record for T where
    T: Archive<Archived: Readable<T>>
        + for<'a> Serialize<LowSerializer<Buffer<'a>, SubAllocator<'a>, Failure>>
{
}

/// The archive of a [`Record`].
pub trait Readable<T>:
    Portable + for<'a> CheckBytes<LowValidator<'a, Failure>> + Deserialize<T, Strategy<(), Failure>>
{
}

impl<T, A> Readable<T> for A where
    A: Portable
        + for<'a> CheckBytes<LowValidator<'a, Failure>>
        + Deserialize<T, Strategy<(), Failure>>
{
}

/// Writes the record of a value to the start of `out`.
///
/// # Panics
/// `out` is shorter than the record.
#[inline]
pub fn encode<T: Record>(value: &T, out: &mut [u8]) {
    let (buffer, allocator) = (Buffer::from(out), SubAllocator::new(&mut []));
    to_bytes_in_with_alloc::<_, _, Failure>(value, buffer, allocator)
        .expect("a record fits its place and points to nothing");
}

/// The value of a record of exactly these bytes; `None` when they are none.
#[inline]
#[must_use]
pub fn decode<T: Record>(record: &[u8]) -> Option<T> {
    if record.len() != T::BYTES {
        return None;
    }
    let archived = access::<Archived<T>, Failure>(record).ok()?;
    deserialize::<T, Failure>(archived).ok()
}

/// A vocabulary: an enum of structs, each with a pinned code.
pub trait Vocabulary: Record {
    /// Bytes of the record of a value by its code, without the zeros after its fields; 0 of a code that
    /// nothing has.
    const BYTES_OF: &'static [u8; 256];

    /// Reads a record in a place that may be longer, with zeros after its fields.
    ///
    /// # Errors
    /// See [`RecordError`].
    #[inline]
    fn read_in<const PLACE: usize>(place: &[u8; PLACE]) -> Result<Self, RecordError> {
        const { assert!(Self::BYTES <= PLACE) };
        let code = place[0];
        let value = decode(&place[..Self::BYTES]).ok_or(RecordError::Value(code))?;
        match is_zero_from(place, Self::BYTES_OF[usize::from(code)].into()) {
            true => Ok(value),
            false => Err(RecordError::Padding(code)),
        }
    }

    /// Appends a record of its own size: the number of its bytes up to the last one that is not zero, then
    /// those.
    fn append(&self, out: &mut Vec<u8>) {
        let mut place = [0; MOST_BYTES];
        encode(self, &mut place);
        let most = usize::from(Self::BYTES_OF[usize::from(place[0])]);
        let end = place[..most].iter().rposition(|byte| *byte != 0);
        let bytes = &place[..=end.expect("no code is zero")];
        out.push(u8::try_from(bytes.len()).expect("a place has at most 255 bytes"));
        out.extend_from_slice(bytes);
    }

    /// Takes the next record from the front of `list`; `None` at its end. What it reads it would append.
    ///
    /// # Errors
    /// See [`RecordError`]; `list` is unchanged then.
    fn take_next(list: &mut &[u8]) -> Result<Option<Self>, RecordError> {
        let Some((length, rest)) = list.split_first() else {
            return Ok(None);
        };
        let (bytes, rest) = rest
            .split_at_checked(usize::from(*length))
            .ok_or(RecordError::Cut)?;
        let mut place = [0; MOST_BYTES];
        place[..bytes.len()].copy_from_slice(bytes);
        let value = Self::read_in(&place)?;
        if !is_canonical(&value, &place) || bytes.last() == Some(&0) {
            return Err(RecordError::Padding(place[0]));
        }
        *list = rest;
        Ok(Some(value))
    }
}

/// Whether all bytes from one on are zero: in words, as every record that is read has some.
#[inline]
fn is_zero_from<const PLACE: usize>(place: &[u8; PLACE], start: usize) -> bool {
    const { assert!(PLACE.is_multiple_of(16)) };
    let (before, words) = place[start..].as_rchunks::<16>();
    let is_zero = words.iter().all(|word| u128::from_ne_bytes(*word) == 0);
    // The bytes before the whole words are the last ones of a word, too.
    let end = start + before.len();
    let last = place[..end]
        .last_chunk::<16>()
        .filter(|_| !before.is_empty());
    is_zero && last.is_none_or(|word| u128::from_le_bytes(*word) >> (8 * (16 - before.len())) == 0)
}

/// The most bytes of a record of its own size.
const MOST_BYTES: usize = 256;

/// Whether these are the bytes that a value is written as: those of an absent one are zero.
#[must_use]
pub fn is_canonical<T: Record>(value: &T, record: &[u8]) -> bool {
    let mut again = [0; MOST_BYTES];
    encode(value, &mut again);
    record.get(..T::BYTES) == Some(&again[..T::BYTES])
}

/// A field of a record, for tools that document or check the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub word: &'static str,
    /// Its first byte in the record.
    pub offset: usize,
    /// Its size in bytes.
    pub bytes: usize,
}

/// A struct whose record is documented.
pub trait Fields {
    /// Its fields, in order.
    const FIELDS: &'static [Field];
}

/// A line of a vocabulary.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Its pinned code.
    pub code: u8,
    /// Its name.
    pub name: &'static str,
    /// Its fields in order; their offsets do not count the code.
    pub fields: &'static [Field],
}

/// Declares structs that have records, with the derives and the list of fields of each.
macro_rules! records {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)+ }
    )+) => {$(
        #[derive(
            Clone, Copy, PartialEq, Eq, Debug, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize,
            serde::Serialize,
        )]
        $(#[$meta])*
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)+ }

        impl $crate::record::Fields for $name {
            const FIELDS: &'static [$crate::record::Field] = &[$($crate::record::Field {
                name: stringify!($field),
                word: stringify!($type),
                offset: core::mem::offset_of!(rkyv::Archived<Self>, $field),
                bytes: size_of::<rkyv::Archived<$type>>(),
            },)+];
        }
    )+};
}
pub(crate) use records;

/// Reads the archive of a type that not every number is a value of.
macro_rules! checked {
    ($($name:ident from $from:ident;)+) => {$(
        impl<D> rkyv::Deserialize<$name, D> for rkyv::Archived<$name>
        where
            D: rkyv::rancor::Fallible<Error: rkyv::rancor::Source> + ?Sized,
        {
            #[inline]
            fn deserialize(&self, _: &mut D) -> Result<$name, D::Error> {
                match $name::$from(self.0) {
                    Some(value) => Ok(value),
                    None => rkyv::rancor::fail!($crate::record::RecordError::Value(self.0)),
                }
            }
        }
    )+};
}
pub(crate) use checked;
