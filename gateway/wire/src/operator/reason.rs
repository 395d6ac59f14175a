//! The reason of an operator's command.

use serde::Deserialize;

use crate::errors::api_error::ApiError;
use crate::read::body::TRADING;
use crate::values::{OrDefault, ReasonText};

/// The reason of the command: the field `reason` of any body; empty without one.
///
/// # Errors
/// It is no text, is longer than 256 characters, or has a control character, also of direction.
pub fn read_reason(body: &[u8]) -> Result<String, ApiError> {
    #[derive(Deserialize)]
    struct Reason {
        #[serde(with = "OrDefault::<ReasonText>")]
        reason: String,
    }
    TRADING.read(body).map(|Reason { reason }| reason)
}
