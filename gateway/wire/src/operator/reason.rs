//! The reason of an operator's command.

use foretell_model::evidence::ActEvidence;
use foretell_model::limits::MAX_REASON_CHARS;
use serde::Deserialize;

use crate::errors::api_error::ApiError;
use crate::read::body::TRADING;
use crate::read::form::{Form, OrDefault, forms};
use crate::read::forms::SHOWN;
use crate::text::printable::is_direction_control;

forms! {
    pub(crate) ReasonText(String, str = { "maxLength": MAX_REASON_CHARS, "pattern": SHOWN }): "a text of at most 256 characters without controls, also of direction", reason;
}

fn reason(text: &str) -> Option<String> {
    let is_reason = ActEvidence::is_reason(text) && !text.chars().any(is_direction_control);
    is_reason.then(|| text.to_owned())
}

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
