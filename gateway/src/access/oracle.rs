//! The adapter of an oracle: its settings, its signatures.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use foretell_model::OperatorName;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::access::operator_token::OperatorToken;

/// Largest distance of a timestamp from now.
const WINDOW: Duration = Duration::from_mins(5);

/// The adapter that may send proposals.
#[derive(Clone, Debug)]
pub struct OracleConfig {
    /// The secret that it shares with the exchange; its file obeys the rules of a token's.
    pub secret: OperatorToken,
    /// The operator whose proposals they are.
    pub operator: OperatorName,
}

/// The signature of a webhook that the exchange sends: as of one that it takes.
#[must_use]
pub fn sign_webhook(secret: &[u8], timestamp: &str, body: &[u8]) -> String {
    // HMAC takes keys of any length.
    let mac = Hmac::<Sha256>::new_from_slice(secret);
    mac.map_or_else(
        |_| String::new(),
        |mut mac| {
            mac.update(timestamp.as_bytes());
            mac.update(b".");
            mac.update(body);
            hex::encode(mac.finalize().into_bytes())
        },
    )
}

/// Whether a signature is the HMAC of `<timestamp>.<body>`.
pub(crate) fn is_signed(secret: &[u8], timestamp: &str, body: &[u8], signature: &str) -> bool {
    let Ok(signature) = hex::decode(signature) else {
        return false;
    };
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return false;
    };
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.verify_slice(&signature).is_ok()
}

/// Whether a timestamp is at most five minutes from now.
pub(crate) fn is_fresh(timestamp: &str, now: SystemTime) -> bool {
    let is_digits = !timestamp.is_empty() && timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = timestamp.parse::<u64>().ok().filter(|_| is_digits);
    let now = now.duration_since(UNIX_EPOCH).map(|since| since.as_secs());
    match (seconds, now) {
        (Some(seconds), Ok(now)) => now.abs_diff(seconds) <= WINDOW.as_secs(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

    #[test]
    fn a_signature_covers_secret_timestamp_and_body() {
        let signed = sign_webhook(SECRET, "1700000000", b"{}");
        assert!(is_signed(SECRET, "1700000000", b"{}", &signed));
        assert!(!is_signed(SECRET, "1700000001", b"{}", &signed));
        assert!(!is_signed(SECRET, "1700000000", b"{ }", &signed));
        assert!(!is_signed(b"another", "1700000000", b"{}", &signed));
        assert!(!is_signed(SECRET, "1700000000", b"{}", &signed[1..]));
        assert!(!is_signed(SECRET, "1700000000", b"{}", ""));
    }

    #[test]
    fn a_timestamp_is_at_most_five_minutes_from_now() {
        let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for (timestamp, fresh) in [
            ("1700000000", true),
            ("1699999700", true),
            ("1700000300", true),
            ("1699999699", false),
            ("1700000301", false),
            ("", false),
            ("+1700000000", false),
            ("99999999999999999999", false),
        ] {
            assert_eq!(is_fresh(timestamp, now), fresh, "{timestamp}");
        }
    }
}
