//! The hashes: the chain over batches, its start, and the receipt of a frame.

use foretell_model::digest::WIDE;

/// BLAKE3 of the genesis record: the previous hash of the first batch.
#[must_use]
pub fn chain_start(genesis: &[u8; 32]) -> [u8; 32] {
    *blake3::hash(genesis).as_bytes()
}

/// The hash of a batch: BLAKE3 of the previous hash, the header with its CRC and hash fields zero,
/// and the payload.
///
/// BLAKE3 uses SIMD only on aligned runs of chunks. The short header would misalign them, so header
/// and first chunks are copied into one buffer.
#[must_use]
pub fn link(previous: &[u8; 32], blank_header: &[u8], payload: &[u8]) -> [u8; 32] {
    let mut wide = [0; WIDE];
    let head = previous.len() + blank_header.len();
    let (first, rest) = payload.split_at(payload.len().min(WIDE - head));
    wide[..previous.len()].copy_from_slice(previous);
    wide[previous.len()..head].copy_from_slice(blank_header);
    wide[head..head + first.len()].copy_from_slice(first);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&wide[..head + first.len()]);
    hasher.update(rest);
    *hasher.finalize().as_bytes()
}

/// A frame's receipt: BLAKE3 of its bytes, header included. The API names it the transaction hash.
#[must_use]
pub fn receipt(frame: &[u8]) -> [u8; 32] {
    *blake3::hash(frame).as_bytes()
}
