//! L2: the secret of an API key signs a request (docs/api/authentication.md §3).
//!
//! Unknown key, wrong passphrase and wrong signature give one error and cost the same work: for a
//! key that does not exist, secrets are derived from a dummy origin.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_PAD_INDIFFERENT, URL_SAFE_PAD_INDIFFERENT};
use foretell_model::{TimeMs, WalletAddress};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

use crate::keys::{ApiSecret, KeyOrigin};
use crate::master::MasterSecret;
use crate::text::parse_address;
use crate::timestamp_window::{TimestampError, Window};

/// The headers of an L2 request as texts; a missing one is the empty text. `<P>_API_KEY` is not
/// here: the caller looks it up.
#[derive(Clone, Copy, Debug)]
pub struct L2Headers<'a> {
    /// `<P>_ADDRESS`: the key's owner.
    pub address: &'a str,
    /// `<P>_PASSPHRASE`: 64 hex digits.
    pub passphrase: &'a str,
    /// `<P>_TIMESTAMP`: seconds, or 13 digits of milliseconds; its text is signed.
    pub timestamp: &'a str,
    /// `<P>_SIGNATURE`: 64 lower-case hex digits, or base64url or base64, padded or not.
    pub signature: &'a str,
}

/// The signed parts of a request, exactly as received.
#[derive(Clone, Copy, Debug)]
pub struct L2Request<'a> {
    /// `GET`, `POST`, `DELETE`.
    pub method: &'a str,
    /// The raw path, without the query.
    pub path: &'a str,
    /// The body's bytes, empty without a body.
    pub body: &'a [u8],
}

/// Why an L2 request is rejected; always a 401.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum L2Error {
    /// Malformed, or outside the window.
    #[error(transparent)]
    Timestamp(#[from] TimestampError),
    /// Key, passphrase, address or signature do not match; the text never names which.
    #[error("Unauthorized/Invalid api key")]
    Credentials(Hint),
}

/// The check that failed, shown only in the developer's header (`dev_auth_hints`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hint {
    /// No such live key.
    Key,
    /// Not the address of the key's owner.
    Address,
    /// Not the key's passphrase.
    Passphrase,
    /// Not the HMAC of the request.
    Signature,
}

impl Hint {
    /// The text of the developer's header.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Key => "no such live API key",
            Self::Address => "the address is not the key's owner",
            Self::Passphrase => "wrong passphrase",
            Self::Signature => "the HMAC does not fit timestamp, method, path and body",
        }
    }
}

/// The origin against which the secrets of an unknown key are checked. An address of zeros cannot
/// sign an L1 statement, so no key has it.
pub(crate) const NO_ORIGIN: KeyOrigin = KeyOrigin {
    owner: WalletAddress::ZERO,
    nonce: [0xff; 32],
};

/// Checks an L2 request and returns its HMAC as bytes: one HMAC has several texts
/// (docs/api/authentication.md §3). `origin` belongs to the key that the request names; `None` when no such
/// live key exists.
///
/// # Errors
/// [`L2Error::Timestamp`], checked before any use of secrets; [`L2Error::Credentials`].
pub fn verify_l2(
    headers: &L2Headers<'_>,
    request: &L2Request<'_>,
    origin: Option<&KeyOrigin>,
    master: &MasterSecret,
    chain_id: u64,
    window: Window,
    now: TimeMs,
) -> Result<[u8; 32], L2Error> {
    window.check(headers.timestamp, now)?;
    let key = origin.unwrap_or(&NO_ORIGIN);
    let (secret, passphrase) = master.secrets(key, chain_id);
    let claimed = decode_hmac(headers.signature).unwrap_or_default();
    let address = parse_address(headers.address).unwrap_or_default();

    // All comparisons run before the first decision, so timing reveals none of them.
    let known = Choice::from(u8::from(origin.is_some()));
    let same_address = address.0.ct_eq(&key.owner.0);
    let same_passphrase = passphrase
        .text()
        .as_bytes()
        .ct_eq(headers.passphrase.as_bytes());
    let signed = hmac_fits(&secret, headers.timestamp, request, &claimed);
    if bool::from(known & same_address & same_passphrase & signed) {
        return Ok(claimed);
    }
    let hint = if !bool::from(known) {
        Hint::Key
    } else if !bool::from(same_address) {
        Hint::Address
    } else if !bool::from(same_passphrase) {
        Hint::Passphrase
    } else {
        Hint::Signature
    };
    Err(L2Error::Credentials(hint))
}

/// The HMAC of a request, as bytes.
#[must_use]
pub fn request_hmac(secret: &ApiSecret, timestamp: &str, request: &L2Request<'_>) -> [u8; 32] {
    let mut hmac = begin(secret, timestamp, request);
    hmac.update(request.body);
    hmac.finalize().into_bytes().into()
}

/// Two client families sign the body with `"` in place of `'` but send it with `'`. That form is
/// also tried, but only for bodies that fit one JSON text: see [`only_apostrophes`].
fn hmac_fits(
    secret: &ApiSecret,
    timestamp: &str,
    request: &L2Request<'_>,
    claimed: &[u8; 32],
) -> Choice {
    let fits = request_hmac(secret, timestamp, request).ct_eq(claimed);
    if !request.body.contains(&b'\'') || !only_apostrophes(request.body) {
        return fits;
    }
    let mut hmac = begin(secret, timestamp, request);
    for (index, piece) in request.body.split(|byte| *byte == b'\'').enumerate() {
        if index > 0 {
            hmac.update(b"\"");
        }
        hmac.update(piece);
    }
    let quoted: [u8; 32] = hmac.finalize().into_bytes().into();
    fits | quoted.ct_eq(claimed)
}

/// Whether every `'` of a body stands at a position where no JSON text can have a `"`.
///
/// In JSON every `"` opens a string (preceded, ignoring spaces, by one of `{[,:` or the start),
/// closes one (followed by one of `}],:` or the end), or is escaped (preceded by a backslash). None
/// of these neighbours is a quote, so bodies that differ only in quotes share them. Hence among
/// such bodies at most one is JSON and passes here, and the quoted form itself excludes all others:
/// one HMAC fits one body.
fn only_apostrophes(body: &[u8]) -> bool {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    body.iter().enumerate().all(|(at, byte)| {
        if *byte != b'\'' {
            return true;
        }
        let (before, after) = (&body[..at], &body[at + 1..]);
        let opens = matches!(
            before.iter().rfind(|byte| !is_space(byte)),
            None | Some(b'{' | b'[' | b',' | b':')
        );
        let closes = matches!(
            after.iter().find(|byte| !is_space(byte)),
            None | Some(b'}' | b']' | b',' | b':')
        );
        !opens && !closes && before.last() != Some(&b'\\')
    })
}

fn begin(secret: &ApiSecret, timestamp: &str, request: &L2Request<'_>) -> Hmac<Sha256> {
    let mut hmac =
        Hmac::<Sha256>::new_from_slice(&secret.0).expect("HMAC takes keys of any length");
    hmac.update(timestamp.as_bytes());
    hmac.update(request.method.as_bytes());
    hmac.update(request.path.as_bytes());
    hmac
}

/// Parses 64 lower-case hex digits, or base64 in either alphabet, padded or not; `None` unless the
/// result has 32 bytes.
fn decode_hmac(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() == 64 && !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        hex::decode_to_slice(text, &mut bytes).ok()?;
        return Some(bytes);
    }
    // 32 bytes need at most 44 characters of base64, and the buffer fits 44.
    if text.len() > 44 {
        return None;
    }
    let mut buffer = [0; 33];
    let length = URL_SAFE_PAD_INDIFFERENT
        .decode_slice(text, &mut buffer)
        .or_else(|_| STANDARD_PAD_INDIFFERENT.decode_slice(text, &mut buffer))
        .ok()?;
    buffer[..length].try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_hmac() {
        let secret = ApiSecret::parse(&format!("{}=", "A".repeat(43))).unwrap();
        let hmac = |timestamp, method, path, body: &str| {
            let request = L2Request {
                method,
                path,
                body: body.as_bytes(),
            };
            base64::engine::general_purpose::URL_SAFE
                .encode(request_hmac(&secret, timestamp, &request))
        };
        assert_eq!(
            hmac("1", "GET", "/", ""),
            "eHaylCwqRSOa2LFD77Nt_SaTpbsxzN8eTEI3LryhEj4="
        );
        assert_eq!(
            hmac("1000000", "test-sign", "/orders", r#"{"hash":"0x123"}"#),
            "4gJVbox-R6XlDK4nlaicig0_ANVL1qdcahiL8CXfXLM="
        );
    }

    #[test]
    fn one_hmac_has_these_texts_and_no_others() {
        // 0xfb 0xff encodes to '-' and '_' in one alphabet and to '+' and '/' in the other.
        let mut bytes = [0xfb; 32];
        bytes[1] = 0xff;
        let hex = hex::encode(bytes);
        let url = base64::engine::general_purpose::URL_SAFE.encode(bytes);
        let standard = base64::engine::general_purpose::STANDARD.encode(bytes);
        assert_ne!(url, standard);
        for text in [
            hex.as_str(),
            &url,
            url.trim_end_matches('='),
            &standard,
            standard.trim_end_matches('='),
        ] {
            assert_eq!(decode_hmac(text), Some(bytes), "{text}");
        }
        let mixed = url.replacen('-', "+", 1);
        for text in [
            "",
            &hex[..63],
            &format!("{hex}0"),
            &format!("0x{hex}"),
            &hex.to_uppercase(),
            &format!("g{}", &hex[1..]),
            &mixed,
            &url[..42],
            &format!("{url}="),
            &format!("{url}A"),
            &format!(" {url}"),
            &url.replace('=', "=\n"),
        ] {
            assert_eq!(decode_hmac(text), None, "{text}");
        }
    }
}
