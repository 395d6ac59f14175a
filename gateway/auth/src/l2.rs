//! L2: a request is signed with the secret of an API key (protocol 7).
//!
//! Unknown key, wrong passphrase and wrong signature are one error, and take the same work: the
//! secrets of a key that does not exist are derived from an origin nobody has.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_PAD_INDIFFERENT, URL_SAFE_PAD_INDIFFERENT};
use foretell_model::{TimeMs, WalletAddress};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

use crate::keys::{ApiSecret, KeyOrigin};
use crate::master::MasterSecret;
use crate::text::parse_address;
use crate::window::{TimestampError, Window};

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

/// What was signed of a request, exactly as received.
#[derive(Clone, Copy, Debug)]
pub struct L2Request<'a> {
    /// `GET`, `POST`, `DELETE`.
    pub method: &'a str,
    /// The raw path, without the query.
    pub path: &'a str,
    /// The bytes of the body, empty when there is none.
    pub body: &'a [u8],
}

/// Why an L2 request is refused; always a 401.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum L2Error {
    /// Malformed, or outside the window.
    #[error(transparent)]
    Timestamp(#[from] TimestampError),
    /// Something about key, passphrase, address or signature; the text never says what.
    #[error("Unauthorized/Invalid api key")]
    Credentials(Hint),
}

/// What was wrong, for a developer's header (`dev_auth_hints`) and nobody else.
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

/// A request that was signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct L2Proof {
    /// The key's owner.
    pub owner: WalletAddress,
    /// The HMAC as bytes. One HMAC has several texts, so whoever remembers requests must remember
    /// this (protocol 7).
    pub hmac: [u8; 32],
}

/// Checks an L2 request. `origin` is what the key it names was derived from, `None` when there is
/// no such live key.
///
/// # Errors
/// [`L2Error::Timestamp`], found before anything secret is touched; [`L2Error::Credentials`].
pub fn verify_l2(
    headers: &L2Headers<'_>,
    request: &L2Request<'_>,
    origin: Option<&KeyOrigin>,
    master: &MasterSecret,
    chain_id: u64,
    window: Window,
    now: TimeMs,
) -> Result<L2Proof, L2Error> {
    window.check(headers.timestamp, now)?;
    // An address of zeros cannot sign an L1 statement, so no key has this origin.
    let nobody = KeyOrigin {
        owner: WalletAddress::ZERO,
        nonce: [0xff; 32],
    };
    let key = origin.unwrap_or(&nobody);
    let (secret, passphrase) = master.secrets(key, chain_id);
    let claimed = decode_hmac(headers.signature).unwrap_or_default();
    let address = parse_address(headers.address).unwrap_or_default();

    // Everything is computed before anything is judged.
    let known = Choice::from(u8::from(origin.is_some()));
    let same_address = address.0.ct_eq(&key.owner.0);
    let same_passphrase = passphrase
        .text()
        .as_bytes()
        .ct_eq(headers.passphrase.as_bytes());
    let signed = hmac_fits(&secret, headers.timestamp, request, &claimed);
    if bool::from(known & same_address & same_passphrase & signed) {
        return Ok(L2Proof {
            owner: key.owner,
            hmac: claimed,
        });
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

/// Two client families sign a body after turning `'` into `"`. That form is tried where it reads back
/// to one JSON text only: see [`only_apostrophes`].
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

/// Whether each `'` of a body stands where no JSON text has a `"`.
///
/// Every `"` of a JSON text opens a string (the byte before it, spaces aside, is one of `{[,:` or the
/// text begins), closes one (the byte after it is one of `}],:` or the text ends), or is escaped (a
/// backslash before it). None of these bytes is a quote, so they are the same in all bodies that
/// differ in their quotes only. So of those no two are JSON and pass here, nor does one beside the
/// quoted form itself: one HMAC fits one body.
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

/// 64 lower-case hex digits, or base64 in either alphabet, padded or not; `None` when it is not 32
/// bytes.
fn decode_hmac(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() == 64 && !text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        hex::decode_to_slice(text, &mut bytes).ok()?;
        return Some(bytes);
    }
    // Longer than 44 characters it cannot be; the buffer holds what 44 can.
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
    fn known_answers_of_protocol_7() {
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
        // Chosen so that both alphabets differ: 0xfb 0xff gives '-', '_' or '+', '/'.
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
