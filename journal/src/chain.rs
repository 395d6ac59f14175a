//! The hashes: the chain over batches, its start, and the receipt of a frame.

/// BLAKE3 of the genesis record: what the first batch's hash is chained to.
#[must_use]
pub fn chain_start(genesis: &[u8; 32]) -> [u8; 32] {
    *blake3::hash(genesis).as_bytes()
}

/// The hash of a batch: BLAKE3 of the previous hash, the header with its CRC and hash fields zero,
/// and the payload.
#[must_use]
pub fn link(previous: &[u8; 32], blank_header: &[u8], payload: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(previous);
    hasher.update(blank_header);
    hasher.update(payload);
    *hasher.finalize().as_bytes()
}

/// A frame's receipt: BLAKE3 of its bytes, header included. What the API calls the transaction hash.
#[must_use]
pub fn receipt(frame: &[u8]) -> [u8; 32] {
    *blake3::hash(frame).as_bytes()
}
