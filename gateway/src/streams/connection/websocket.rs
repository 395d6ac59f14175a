//! The server's side of RFC 6455: a reader of client frames, and the control frames of a server.
//! `text_frame` writes text frames.
//!
//! The reader holds no bytes between messages, so that an idle connection costs no buffer.

use bytes::Bytes;

/// Longest payload of a control frame.
const MAX_CONTROL: usize = 125;
/// Longest reason of a close frame: its code takes two bytes.
pub const MAX_REASON: usize = MAX_CONTROL - 2;
/// Longest header of a frame: two bytes, a length of eight, a mask of four.
const MAX_HEAD: usize = 14;
const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// What a client sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClientMessage {
    /// A whole text, its fragments joined.
    Text(String),
    /// To be answered by a pong with the same payload.
    Ping(Vec<u8>),
    /// The answer to a ping.
    Pong,
    /// The client ends the connection; nothing after it is read.
    Close,
}

/// A broken rule: the connection ends with this close code and reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The close code.
    pub code: u16,
    /// The rule, at most [`MAX_REASON`] bytes.
    pub reason: &'static str,
}

const fn framing(reason: &'static str) -> Violation {
    Violation { code: 1002, reason }
}

const BINARY_FRAME: Violation = Violation {
    code: 1003,
    reason: "binary frames are not accepted",
};
const NOT_UTF8: Violation = Violation {
    code: 1007,
    reason: "text is not UTF-8",
};
const TOO_LONG: Violation = Violation {
    code: 1009,
    reason: "message is too long",
};

/// Reads the frames of a client from pieces of any size.
#[derive(Debug)]
pub struct FrameReader {
    max_message: usize,
    head: [u8; MAX_HEAD],
    head_length: usize,
    /// The frame whose payload is being read.
    frame: Option<FrameState>,
    /// Payload of the control frame being read.
    control: Vec<u8>,
    /// Payload of the text read so far; `None` between messages.
    text: Option<Vec<u8>>,
    /// Whether texts are dropped instead of held.
    drops_texts: bool,
    /// Nothing more is read: after a close frame, or a broken rule.
    closed: bool,
}

#[derive(Clone, Copy, Debug)]
struct FrameState {
    is_final: bool,
    opcode: u8,
    mask: [u8; 4],
    /// Position in the mask of the next byte.
    phase: usize,
    left: usize,
}

impl FrameReader {
    /// A reader of messages of at most `max_message` bytes.
    #[must_use]
    pub fn new(max_message: usize) -> Self {
        Self {
            max_message,
            head: [0; MAX_HEAD],
            head_length: 0,
            frame: None,
            control: Vec::new(),
            text: None,
            drops_texts: false,
            closed: false,
        }
    }

    /// Takes bytes from the front of `bytes` until a message is complete; `None` when all of them
    /// are taken and none is.
    ///
    /// # Errors
    /// A rule is broken: all later bytes are dropped.
    pub fn read(&mut self, bytes: &mut &[u8]) -> Result<Option<ClientMessage>, Violation> {
        if self.closed {
            *bytes = &[];
            return Ok(None);
        }
        let read = self.read_message(bytes);
        if matches!(read, Err(_) | Ok(Some(ClientMessage::Close))) {
            self.closed = true;
            (self.control, self.text) = (Vec::new(), None);
        }
        read
    }

    /// From now on texts are read as empty ones: only control frames matter.
    pub fn drop_texts(&mut self) {
        self.drops_texts = true;
        self.text = self.text.take().map(|_| Vec::new());
    }

    /// Bytes held of a message that is not complete yet.
    #[must_use]
    pub fn held(&self) -> usize {
        self.text.as_ref().map_or(0, Vec::len)
    }

    fn read_message(&mut self, bytes: &mut &[u8]) -> Result<Option<ClientMessage>, Violation> {
        loop {
            let Some(mut frame) = self.frame.take() else {
                match self.take_head(bytes)? {
                    Some(frame) => self.frame = Some(frame),
                    None => return Ok(None),
                }
                continue;
            };
            let (payload, rest) = bytes.split_at(frame.left.min(bytes.len()));
            *bytes = rest;
            frame.left -= payload.len();
            if frame.opcode >= CLOSE {
                unmask(&mut self.control, payload, &mut frame);
            } else {
                let text = self.text.get_or_insert_default();
                if !self.drops_texts {
                    unmask(text, payload, &mut frame);
                }
            }
            if frame.left > 0 {
                self.frame = Some(frame);
                return Ok(None);
            }
            if let Some(message) = self.end_frame(frame)? {
                return Ok(Some(message));
            }
        }
    }

    /// Takes the bytes of a header; `None` while it is incomplete.
    fn take_head(&mut self, bytes: &mut &[u8]) -> Result<Option<FrameState>, Violation> {
        loop {
            let needed = self.head_bytes();
            if self.head_length < needed {
                let Some((byte, rest)) = bytes.split_first() else {
                    return Ok(None);
                };
                self.head[self.head_length] = *byte;
                self.head_length += 1;
                *bytes = rest;
                // The rules of the first two bytes need no more of the header.
                if self.head_length == 2 {
                    self.check_start()?;
                }
                continue;
            }
            self.head_length = 0;
            return self.parse_head(needed).map(Some);
        }
    }

    /// Bytes of the header, as its first two bytes announce.
    fn head_bytes(&self) -> usize {
        if self.head_length < 2 {
            return 2;
        }
        match self.head[1] & !MASKED {
            126 => 2 + 2 + 4,
            127 => MAX_HEAD,
            _ => 2 + 4,
        }
    }

    fn check_start(&self) -> Result<(), Violation> {
        let [first, second, ..] = self.head;
        let opcode = first & 0x0F;
        if first & RESERVED != 0 {
            return Err(framing("reserved bits are set"));
        }
        if second & MASKED == 0 {
            return Err(framing("frame is not masked"));
        }
        match opcode {
            CONTINUATION if self.text.is_none() => {
                return Err(framing("continuation without a message"));
            }
            TEXT if self.text.is_some() => {
                return Err(framing("message inside a fragmented message"));
            }
            CONTINUATION | TEXT => return Ok(()),
            BINARY => return Err(BINARY_FRAME),
            CLOSE | PING | PONG => {}
            _ => return Err(framing("unknown opcode")),
        }
        if first & FINAL == 0 {
            return Err(framing("control frame is fragmented"));
        }
        if usize::from(second & !MASKED) > MAX_CONTROL {
            return Err(framing("control frame is longer than 125 bytes"));
        }
        Ok(())
    }

    fn parse_head(&self, length: usize) -> Result<FrameState, Violation> {
        let extended = &self.head[2..length - 4];
        let long = extended
            .iter()
            .fold(0_u64, |length, byte| length << 8 | u64::from(*byte));
        let left = match extended {
            [] => usize::from(self.head[1] & !MASKED),
            _ => usize::try_from(long).map_err(|_| TOO_LONG)?,
        };
        let opcode = self.head[0] & 0x0F;
        let before = self.text.as_ref().map_or(0, Vec::len);
        if opcode < CLOSE && left > self.max_message - before {
            return Err(TOO_LONG);
        }
        let mask = &self.head[length - 4..length];
        Ok(FrameState {
            is_final: self.head[0] & FINAL != 0,
            opcode,
            mask: mask.try_into().expect("four bytes"),
            phase: 0,
            left,
        })
    }

    /// The message that the end of a frame completes.
    fn end_frame(&mut self, frame: FrameState) -> Result<Option<ClientMessage>, Violation> {
        let payload = match frame.opcode {
            PING => return Ok(Some(ClientMessage::Ping(std::mem::take(&mut self.control)))),
            PONG => {
                self.control.clear();
                return Ok(Some(ClientMessage::Pong));
            }
            CLOSE => {
                check_close(&self.control)?;
                return Ok(Some(ClientMessage::Close));
            }
            _ if !frame.is_final => return Ok(None),
            _ => self.text.take().unwrap_or_default(),
        };
        let text = String::from_utf8(payload).map_err(|_| NOT_UTF8)?;
        Ok(Some(ClientMessage::Text(text)))
    }
}

/// Appends the unmasked payload.
fn unmask(target: &mut Vec<u8>, payload: &[u8], frame: &mut FrameState) {
    let begin = target.len();
    target.extend_from_slice(payload);
    let mut mask = frame.mask;
    mask.rotate_left(frame.phase);
    for chunk in target[begin..].chunks_mut(4) {
        for (byte, mask) in chunk.iter_mut().zip(mask) {
            *byte ^= mask;
        }
    }
    frame.phase = (frame.phase + payload.len()) % 4;
}

/// Checks the payload of a close frame: nothing, or a code and a reason.
fn check_close(payload: &[u8]) -> Result<(), Violation> {
    let [high, low, reason @ ..] = payload else {
        return match payload {
            [] => Ok(()),
            _ => Err(framing("close frame of one byte")),
        };
    };
    match u16::from_be_bytes([*high, *low]) {
        1000..=1003 | 1007..=1014 | 3000..=4999 => {}
        _ => return Err(framing("close code is not allowed")),
    }
    match core::str::from_utf8(reason) {
        Ok(_) => Ok(()),
        Err(_) => Err(NOT_UTF8),
    }
}

/// A close frame; the reason is cut to [`MAX_REASON`] bytes.
pub(crate) fn close_frame(code: u16, reason: &str) -> Bytes {
    let reason = &reason[..reason.floor_char_boundary(MAX_REASON)];
    let payload = [&code.to_be_bytes(), reason.as_bytes()].concat();
    control_frame(CLOSE, &payload)
}

/// A ping without a payload.
pub(crate) const PING_FRAME: Bytes = Bytes::from_static(&[FINAL | PING, 0]);

/// The pong that answers a ping.
pub(crate) fn pong_frame(payload: &[u8]) -> Bytes {
    control_frame(PONG, payload)
}

fn control_frame(opcode: u8, payload: &[u8]) -> Bytes {
    let length = u8::try_from(payload.len().min(MAX_CONTROL)).expect("at most 125");
    let mut frame = vec![FINAL | opcode, length];
    frame.extend(&payload[..usize::from(length)]);
    Bytes::from(frame)
}

#[cfg(test)]
#[path = "websocket_tests.rs"]
mod tests;
