//! Percent-decoding of query strings.

use crate::failure::Failure;

/// Decodes one name or value; `+` is a space.
pub(super) fn decode(text: &str) -> Result<String, Failure> {
    if !text.contains(['%', '+']) {
        return Ok(text.to_owned());
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
                    .ok_or(Failure::InvalidQuery("% without two hex digits"))?;
                rest = after;
                let mut decoded = [0];
                hex::decode_to_slice(digits, &mut decoded)
                    .map_err(|_| Failure::InvalidQuery("% without two hex digits"))?;
                bytes.push(decoded[0]);
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).map_err(|_| Failure::InvalidQuery("not UTF-8"))
}
