//! Little-endian numbers at fixed offsets, and pages.

/// The unit of writing: a batch starts on a page and fills whole pages.
pub const PAGE: usize = 4_096;

/// `length` rounded up to whole pages.
pub(crate) const fn whole_pages(length: usize) -> usize {
    length.next_multiple_of(PAGE)
}

macro_rules! integer {
    ($put:ident, $get:ident, $int:ty) => {
        #[inline]
        pub(crate) fn $put(out: &mut [u8], at: usize, value: $int) {
            out[at..at + size_of::<$int>()].copy_from_slice(&value.to_le_bytes());
        }
        #[inline]
        pub(crate) fn $get(bytes: &[u8], at: usize) -> $int {
            let mut value = [0; size_of::<$int>()];
            value.copy_from_slice(&bytes[at..at + size_of::<$int>()]);
            <$int>::from_le_bytes(value)
        }
    };
}
integer!(put_u16, u16_at, u16);
integer!(put_u32, u32_at, u32);
integer!(put_u64, u64_at, u64);

/// The 32 bytes at an offset.
pub(crate) fn hash_at(bytes: &[u8], at: usize) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(&bytes[at..at + 32]);
    hash
}

#[inline]
pub(crate) fn all_zero(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<16>();
    words.iter().all(|word| u128::from_ne_bytes(*word) == 0) && rest.iter().all(|byte| *byte == 0)
}

/// A length or offset inside a segment as the 32-bit number of the format.
pub(crate) fn to_u32(value: usize) -> u32 {
    u32::try_from(value).expect("segments are below 4 GiB: Options::check")
}

/// A 32-bit number of the format as an index.
pub(crate) fn to_usize(value: u32) -> usize {
    usize::try_from(value).expect("foretell runs on 64-bit systems")
}
