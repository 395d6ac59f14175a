//! WebSocket text frames of a server: a header and the unmasked text, the same bytes for all
//! receivers (RFC 6455, section 5.2).

use bytes::Bytes;

/// FIN and the opcode of a text frame.
const FINAL_TEXT: u8 = 0x81;
/// The second byte holds a length up to this.
const SHORT: usize = 125;

/// The frame of a text.
pub(crate) fn text_frame(text: &str) -> Bytes {
    let mut frame = Vec::with_capacity(text.len() + 10);
    frame.push(FINAL_TEXT);
    if let Ok(length @ 0..=125) = u8::try_from(text.len()) {
        frame.push(length);
    } else if let Ok(length) = u16::try_from(text.len()) {
        frame.push(126);
        frame.extend(length.to_be_bytes());
    } else {
        frame.push(127);
        frame.extend((text.len() as u64).to_be_bytes());
    }
    frame.extend(text.as_bytes());
    Bytes::from(frame)
}

/// The text of a frame that [`text_frame`] made.
pub(crate) fn text_of(frame: &[u8]) -> Option<&str> {
    let head = match usize::from(*frame.get(1)?) {
        0..=SHORT => 2,
        126 => 4,
        _ => 10,
    };
    core::str::from_utf8(frame.get(head..)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_one_three_or_nine_bytes() {
        for (length, head) in [
            (0, vec![0x81, 0]),
            (125, vec![0x81, 125]),
            (126, vec![0x81, 126, 0, 126]),
            (65_535, vec![0x81, 126, 0xFF, 0xFF]),
            (65_536, vec![0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] {
            let text = "x".repeat(length);
            let frame = text_frame(&text);
            assert_eq!(frame[..head.len()], head);
            assert_eq!(frame.len(), head.len() + length);
            assert_eq!(text_of(&frame), Some(text.as_str()));
        }
    }
}
