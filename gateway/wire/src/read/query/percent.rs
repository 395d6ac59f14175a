//! Percent-decoding of query strings.

use std::borrow::Cow;

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;

/// Decodes one name or value; `+` is a space.
pub(crate) fn decode(text: &str) -> Result<Cow<'_, str>, ApiError> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Ok(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (digits, after) = rest
                    .split_first_chunk::<2>()
                    .ok_or(ErrorCode::InvalidQuery.with([&"% without two hex digits"]))?;
                rest = after;
                let mut decoded = [0];
                hex::decode_to_slice(digits, &mut decoded)
                    .map_err(|_| ErrorCode::InvalidQuery.with([&"% without two hex digits"]))?;
                bytes.push(decoded[0]);
            }
            other => bytes.push(*other),
        }
    }
    let decoded = String::from_utf8(bytes);
    decoded
        .map(Cow::Owned)
        .map_err(|_| ErrorCode::InvalidQuery.with([&"not UTF-8"]))
}
