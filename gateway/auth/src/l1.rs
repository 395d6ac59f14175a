//! L1: the holder of an address proves control of it to request an API key
//! (docs/api/authentication.md §2).

use foretell_model::{TimeMs, WalletAddress};

use crate::eip712::l1_digest;
use crate::keys::KeyOrigin;
use crate::signature::{MalformedSignature, SIGNATURE_BYTES, Signature};
use crate::text::{parse_address, parse_decimal_256, parse_hex_bytes};
use crate::timestamp_window::{TimestampError, Window};

/// The headers of an L1 request as texts; a missing mandatory one is the empty text.
#[derive(Clone, Copy, Debug)]
pub struct L1Headers<'a> {
    /// `<P>_ADDRESS`.
    pub address: &'a str,
    /// `<P>_SIGNATURE`: `0x` and 130 hex digits.
    pub signature: &'a str,
    /// `<P>_TIMESTAMP`: seconds; its text is signed.
    pub timestamp: &'a str,
    /// `<P>_NONCE`: a decimal below 2^256; absent = 0.
    pub nonce: Option<&'a str>,
    /// `X-Chain-Id`; no known client sends it.
    pub chain_id: Option<&'a str>,
}

/// The address whose control was proved, and the nonce; an API key is derived from both.
pub type L1Identity = KeyOrigin;

/// Why an L1 request is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum L1Error {
    /// `X-Chain-Id` differs from the deployment's chain: 400.
    #[error("invalid X-Chain-Id: {0} expected")]
    Chain(u64),
    /// Not a decimal below 2^256: 400.
    #[error("invalid nonce: a decimal below 2^256 expected")]
    Nonce,
    /// No address: 401.
    #[error("invalid address: 0x and 40 hex digits expected")]
    Address,
    /// Malformed timestamp, or outside the window: 401.
    #[error(transparent)]
    Timestamp(#[from] TimestampError),
    /// Not `0x` and 130 hex digits: 401.
    #[error("invalid L1 signature: 0x and 130 hex digits expected")]
    SignatureText,
    /// r, s, v are not well-formed: 401.
    #[error("invalid L1 signature: {0}")]
    Signature(#[from] MalformedSignature),
    /// Another key signed, or the signed statement differs: 401.
    #[error("invalid L1 signature: the recovered address is not the one claimed")]
    OtherSigner,
}

/// Checks an L1 request for a deployment's chain.
///
/// # Errors
/// The first check that fails; the recovery is the last.
pub fn verify_l1(
    headers: &L1Headers<'_>,
    chain_id: u64,
    window: Window,
    now: TimeMs,
) -> Result<L1Identity, L1Error> {
    if let Some(claimed) = headers.chain_id
        && claimed != chain_id.to_string()
    {
        return Err(L1Error::Chain(chain_id));
    }
    let nonce = parse_decimal_256(headers.nonce.unwrap_or("0")).ok_or(L1Error::Nonce)?;
    let owner: WalletAddress = parse_address(headers.address).ok_or(L1Error::Address)?;
    window.check_seconds(headers.timestamp, now)?;
    let signature =
        parse_hex_bytes(headers.signature, SIGNATURE_BYTES).ok_or(L1Error::SignatureText)?;
    if signature.len() != SIGNATURE_BYTES {
        return Err(L1Error::SignatureText);
    }
    let digest = l1_digest(owner, headers.timestamp, &nonce, chain_id);
    if Signature::parse(&signature)?.recover(&digest)? != owner {
        return Err(L1Error::OtherSigner);
    }
    Ok(KeyOrigin { owner, nonce })
}
