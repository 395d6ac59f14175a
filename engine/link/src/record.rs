//! Fixed-size values as bytes and back. Bytecheck validates every value before use; decoding does
//! not allocate.

use foretell_model::Command;
use rkyv::api::low::{LowSerializer, LowValidator, from_bytes, to_bytes_in_with_alloc};
use rkyv::bytecheck::CheckBytes;
use rkyv::de::pooling::Unpool;
use rkyv::rancor::{Failure, Strategy};
use rkyv::ser::allocator::SubAllocator;
use rkyv::ser::writer::Buffer;
use rkyv::util::Align;
use rkyv::{Archive, Archived, Deserialize, Serialize};

/// Bytes of an encoded command.
pub(crate) const COMMAND_BYTES: usize = size_of::<Archived<Command>>();
/// Upper bound of all record sizes; each kind of message asserts it.
pub(crate) const RECORD_MAX_BYTES: usize = 640;

const _: () = assert!(COMMAND_BYTES <= RECORD_MAX_BYTES);

/// Traits of a value that can be written as a record.
pub(crate) trait Writable:
    for<'a> Serialize<LowSerializer<Buffer<'a>, SubAllocator<'a>, Failure>>
{
}
impl<T> Writable for T where
    T: for<'a> Serialize<LowSerializer<Buffer<'a>, SubAllocator<'a>, Failure>>
{
}

/// Appends the record of `value`.
pub(crate) fn encode<T: Writable>(value: &T, out: &mut Vec<u8>) {
    let mut bytes = Align([0_u8; RECORD_MAX_BYTES]);
    let written = to_bytes_in_with_alloc::<_, _, Failure>(
        value,
        Buffer::from(&mut bytes.0),
        SubAllocator::new(&mut []),
    )
    .expect("a record fits RECORD_MAX_BYTES and points to nothing")
    .len();
    out.extend_from_slice(&bytes.0[..written]);
}

/// Decodes a record of exactly `bytes`; `None` when they are not valid. The copy provides the
/// alignment that a socket buffer lacks.
pub(crate) fn decode<T>(bytes: &[u8]) -> Option<T>
where
    T: Archive,
    T::Archived:
        for<'a> CheckBytes<LowValidator<'a, Failure>> + Deserialize<T, Strategy<Unpool, Failure>>,
{
    if bytes.len() != size_of::<T::Archived>() {
        return None;
    }
    let mut aligned = Align([0_u8; RECORD_MAX_BYTES]);
    let copy = &mut aligned.0[..bytes.len()];
    copy.copy_from_slice(bytes);
    from_bytes::<T, Failure>(copy).ok()
}
