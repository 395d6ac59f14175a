//! `POST /oracle/proposals`: the signed webhook of an oracle's adapter (docs/operate/market-life.md).
//!
//! The adapter signs `<timestamp>.<body>` by HMAC-SHA256 with its secret. The proposal is that of
//! the operator whose name is in the settings, so policy and journal treat it as any other.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use foretell_model::OperatorName;
use foretell_view::View;
use foretell_wire::api_error::FieldError;
use foretell_wire::operator::{ProposalRequest, read};
use foretell_wire::rejection::role_word;
use foretell_wire::{ApiError, ErrorCode};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::actor::Actor;
use super::{resolution, roles};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::operator_token::OperatorToken;
use crate::request_context::RequestContext;

/// Header with the time of the signature in unix seconds.
const TIMESTAMP: &str = "x-oracle-timestamp";
/// Header with the HMAC in hex.
const SIGNATURE: &str = "x-oracle-signature";
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

/// `POST /oracle/proposals`. A repeat with the same reference changes nothing.
pub(crate) async fn propose(mut context: RequestContext) -> Result<Answer, Failure> {
    let oracle = context.app.oracle.clone().ok_or(ApiError::NotFound)?;
    verify(&context, &oracle.secret, SystemTime::now())?;
    let find = |view: &View| {
        let found = view.people().by_name(&oracle.operator);
        found.map(|(number, operator)| (number, operator.role))
    };
    let found = context.app.find(find).await?;
    let (number, role) = found.ok_or(ErrorCode::OperatorNotFound)?;
    if !roles::may(role, "/markets/propose") {
        let role = vec![role_word(role).to_owned()];
        return Err(ApiError::Coded(ErrorCode::OperatorRole, role).into());
    }
    let wanted: ProposalRequest = read(&context.body)?;
    if wanted.wallet.is_some() {
        let problem = FieldError::wrong("wallet", "given", "absent: the adapter proposes itself");
        return Err(ApiError::from(problem).into());
    }
    context.actor = Some(Actor {
        number,
        role,
        reason: "proposal of the oracle".to_owned(),
    });
    resolution::propose_as(&context, &wanted, None).await
}

/// Checks the signature, then the timestamp that it covers.
fn verify(
    context: &RequestContext,
    secret: &OperatorToken,
    now: SystemTime,
) -> Result<(), ApiError> {
    let header = |name: &'static str| {
        let value = context.head.headers.get(name);
        let text = value.and_then(|value| value.to_str().ok());
        text.ok_or_else(|| ApiError::from(FieldError::missing(name, "a header of the adapter")))
    };
    let (timestamp, signature) = (header(TIMESTAMP)?, header(SIGNATURE)?);
    if !is_signed(secret.bytes(), timestamp, &context.body, signature) {
        return Err(ErrorCode::SignatureInvalid.into());
    }
    if !is_fresh(timestamp, now) {
        return Err(ApiError::Coded(ErrorCode::TimestampStale, vec![timestamp.to_owned()]));
    }
    Ok(())
}

fn is_signed(secret: &[u8], timestamp: &str, body: &[u8], signature: &str) -> bool {
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

fn is_fresh(timestamp: &str, now: SystemTime) -> bool {
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

    fn signature(timestamp: &str, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
        mac.update(&[timestamp.as_bytes(), b".", body].concat());
        hex::encode(mac.finalize().into_bytes())
    }

    #[test]
    fn a_signature_covers_secret_timestamp_and_body() {
        let signed = signature("1700000000", b"{}");
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
