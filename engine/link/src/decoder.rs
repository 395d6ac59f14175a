//! Decoders from socket bytes to messages, with bounded buffers.

use foretell_model::codec::Stored;

use crate::layout::{self, HEADER_BYTES, MAX_ANSWER_BYTES, MAX_REQUEST_BYTES};
use crate::message::{Answer, Request};
use crate::violation::Violation;

/// Space offered to one read, in addition to a partial message.
const READ_BYTES: usize = 16 * 1024;

/// The engine's end: decodes the requests of one gateway.
#[derive(Debug)]
pub struct RequestDecoder {
    buffer: ReceiveBuffer,
    greeted: bool,
}

/// A gateway's end: decodes the answers of the engine.
#[derive(Debug)]
pub struct AnswerDecoder {
    buffer: ReceiveBuffer,
    greeted: bool,
}

impl RequestDecoder {
    /// A decoder at the start of a connection.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buffer: ReceiveBuffer::new(MAX_REQUEST_BYTES),
            greeted: false,
        }
    }

    /// Buffer for the next bytes; never empty. Report the number read to [`Self::filled`].
    pub fn space(&mut self) -> &mut [u8] {
        self.buffer.space()
    }

    /// `count` bytes were written to [`Self::space`].
    ///
    /// # Panics
    /// `count` exceeds the offered space.
    pub fn filled(&mut self, count: usize) {
        self.buffer.filled(count);
    }

    /// The next whole request, `None` when more bytes are needed. It borrows from the decoder.
    ///
    /// # Errors
    /// [`Violation`]: the connection must be closed; the decoder is unusable.
    pub fn next_request(&mut self) -> Result<Option<Request<'_>>, Violation> {
        let Some((kind, payload)) = self.buffer.next_message()? else {
            return Ok(None);
        };
        match (kind == layout::HELLO, self.greeted) {
            (true, true) => return Err(Violation::SecondGreeting),
            (false, false) => return Err(Violation::NotGreeted(kind)),
            _ => self.greeted = true,
        }
        Request::decode(kind, payload).map(Some)
    }
}

impl AnswerDecoder {
    /// A decoder at the start of a connection.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buffer: ReceiveBuffer::new(MAX_ANSWER_BYTES),
            greeted: false,
        }
    }

    /// Buffer for the next bytes; never empty. Report the number read to [`Self::filled`].
    pub fn space(&mut self) -> &mut [u8] {
        self.buffer.space()
    }

    /// `count` bytes were written to [`Self::space`].
    ///
    /// # Panics
    /// `count` exceeds the offered space.
    pub fn filled(&mut self, count: usize) {
        self.buffer.filled(count);
    }

    /// The next whole answer, `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`Violation`]: the connection must be closed; the decoder is unusable.
    pub fn next_answer(&mut self) -> Result<Option<Answer>, Violation> {
        let Some((kind, payload)) = self.buffer.next_message()? else {
            return Ok(None);
        };
        match (kind, self.greeted) {
            (layout::GOODBYE, _) => {}
            (layout::WELCOME, true) => return Err(Violation::SecondGreeting),
            (layout::WELCOME, false) => self.greeted = true,
            (_, false) => return Err(Violation::NotGreeted(kind)),
            (_, true) => {}
        }
        Answer::decode(kind, payload).map(Some)
    }
}

impl Default for RequestDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for AnswerDecoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Buffer of whole and partial messages. A header is validated on arrival, so the buffer holds at
/// most one message of the maximum length and one read.
#[derive(Debug)]
struct ReceiveBuffer {
    limit: usize,
    bytes: Vec<u8>,
    /// First unconsumed byte.
    start: usize,
    /// One past the last byte received.
    end: usize,
}

impl ReceiveBuffer {
    const fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: Vec::new(),
            start: 0,
            end: 0,
        }
    }

    fn space(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.bytes.len() - self.end < READ_BYTES {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() - self.end < READ_BYTES {
            self.bytes.resize(self.end + READ_BYTES, 0);
        }
        &mut self.bytes[self.end..]
    }

    fn filled(&mut self, count: usize) {
        assert!(
            count <= self.bytes.len() - self.end,
            "more than was offered"
        );
        self.end += count;
    }

    fn next_message(&mut self) -> Result<Option<(u8, &[u8])>, Violation> {
        let bytes = &self.bytes[self.start..self.end];
        let Some((head, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let (length, kind, reserved) =
            <(u32, u8, [u8; 3])>::take(&mut &head[..]).expect("any eight bytes are a header");
        if reserved != [0; 3] {
            return Err(Violation::Reserved);
        }
        let limit = self.limit;
        let too_long = Violation::TooLong { length, limit };
        let wanted = usize::try_from(length).map_err(|_| too_long)?;
        if wanted > limit {
            return Err(too_long);
        }
        let Some(payload) = rest.get(..wanted) else {
            return Ok(None);
        };
        self.start += HEADER_BYTES + wanted;
        Ok(Some((kind, payload)))
    }
}
