//! The layout of a deposit wallet's signature (type 3, docs/api/authentication.md §6): the bytes
//! that a contract wallet would receive to verify nested typed data.
//!
//! ```text
//! 65  signature of the owner's key
//! 32  domain separator of the exchange
//! 32  contents hash: the order's struct hash
//! 186 contents type: the text of the order's type
//! 2   length of that text, big-endian
//! ```

use crate::eip712::{Hash, ORDER_TYPE};
use crate::order_signature::SignatureError;
use crate::signature::SIGNATURE_BYTES;

const SEPARATOR_AT: usize = SIGNATURE_BYTES;
const CONTENTS_AT: usize = SEPARATOR_AT + 32;
const TYPE_AT: usize = CONTENTS_AT + 32;
const LENGTH_AT: usize = TYPE_AT + ORDER_TYPE.len();
/// Bytes of the whole signature.
pub const DEPOSIT_SIGNATURE_BYTES: usize = LENGTH_AT + 2;

const _: () = assert!(ORDER_TYPE.len() == 186);
const _: () = assert!(DEPOSIT_SIGNATURE_BYTES <= foretell_model::limits::MAX_SIGNATURE_BYTES);

/// The parts of a signature. Length and type have been checked, the hashes have not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DepositSignature<'a> {
    /// r, s, v of the owner's key.
    pub(crate) inner: &'a [u8],
    /// Claimed domain separator.
    pub(crate) separator: &'a [u8],
    /// Claimed contents hash.
    pub(crate) contents: &'a [u8],
}

/// Splits a signature into its parts.
pub(crate) fn split(bytes: &[u8]) -> Result<DepositSignature<'_>, SignatureError> {
    if bytes.len() != DEPOSIT_SIGNATURE_BYTES {
        return Err(SignatureError::DepositLength(bytes.len()));
    }
    if bytes[LENGTH_AT..] != type_length() {
        return Err(SignatureError::ContentsTypeLength);
    }
    if &bytes[TYPE_AT..LENGTH_AT] != ORDER_TYPE.as_bytes() {
        return Err(SignatureError::ContentsType);
    }
    Ok(DepositSignature {
        inner: &bytes[..SEPARATOR_AT],
        separator: &bytes[SEPARATOR_AT..CONTENTS_AT],
        contents: &bytes[CONTENTS_AT..TYPE_AT],
    })
}

/// Joins the parts of a signature.
#[must_use]
pub(crate) fn join(inner: &[u8; SIGNATURE_BYTES], separator: &Hash, contents: &Hash) -> Vec<u8> {
    [
        inner.as_slice(),
        separator,
        contents,
        ORDER_TYPE.as_bytes(),
        &type_length(),
    ]
    .concat()
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "186, asserted at compile time"
)]
const fn type_length() -> [u8; 2] {
    (ORDER_TYPE.len() as u16).to_be_bytes()
}
