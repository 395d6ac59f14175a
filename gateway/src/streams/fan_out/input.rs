//! What a client sends: bytes become messages, no faster than the limit on messages, and messages
//! become requests.

use std::collections::VecDeque;
use std::sync::Arc;

use foretell_wire::streams::request::{RequestError, StreamRequest, read_requests};

use crate::policy::limits::StreamLimits;
use crate::streams::connection::outbox::Millis;
use crate::streams::connection::websocket::{ClientMessage, FrameReader, Violation};

/// A text message of a client.
pub(crate) enum Text {
    /// The text `PING`: the keep-alive of stock clients.
    Ping,
    /// Nothing to do.
    Nothing,
    /// Requests, each with the text of the message.
    Requests(VecDeque<Asked>),
}

/// One request of a message.
pub(crate) struct Asked {
    pub(crate) request: Result<StreamRequest, RequestError>,
    pub(crate) text: Arc<str>,
    /// Whether it goes on with a replay that was answered before.
    pub(crate) is_continued: bool,
}

impl Asked {
    /// Bytes that it keeps, apart from the text.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.request.as_ref().map_or(0, StreamRequest::list_bytes);
        size_of::<Self>() + lists
    }
}

impl Text {
    pub(crate) fn of(text: &str) -> Self {
        let trimmed = text.trim();
        if trimmed.eq_ignore_ascii_case("PING") {
            return Self::Ping;
        }
        if trimmed.is_empty() || trimmed.eq_ignore_ascii_case("PONG") {
            return Self::Nothing;
        }
        let text: Arc<str> = text.into();
        let requests = read_requests(&text).into_iter();
        let asked = requests.map(|request| Asked {
            request,
            text: Arc::clone(&text),
            is_continued: false,
        });
        Self::Requests(asked.collect())
    }
}

/// Bytes of a client that are not yet messages.
pub(crate) struct Input {
    reader: FrameReader,
    bytes: Vec<u8>,
    /// Bytes taken from the front.
    taken: usize,
    credit: Credit,
}

impl Input {
    pub(crate) fn new(early: Vec<u8>, limits: &StreamLimits, now: Millis) -> Self {
        Self {
            reader: FrameReader::new(limits.message),
            bytes: early,
            taken: 0,
            credit: Credit::new(limits, now),
        }
    }

    /// Whether bytes are left that may hold messages.
    pub(crate) fn has_bytes(&self) -> bool {
        self.taken < self.bytes.len()
    }

    /// From now on only the client's close frame matters.
    pub(crate) fn drop_texts(&mut self) {
        self.reader.drop_texts();
    }

    /// Bytes held of a message that is not complete yet.
    pub(crate) fn held(&self) -> usize {
        self.reader.held()
    }

    /// Takes bytes that were read; all earlier ones are taken.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.taken = 0;
    }

    /// Milliseconds until the next message may be read; 0 = now.
    pub(crate) fn pause(&mut self, now: Millis) -> Millis {
        self.credit.pause(now)
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Result<Option<ClientMessage>, Violation> {
        let mut rest = &self.bytes[self.taken..];
        let message = self.reader.read(&mut rest);
        self.taken = self.bytes.len() - rest.len();
        if !self.has_bytes() {
            // An idle connection holds no buffer.
            self.bytes = Vec::new();
            self.taken = 0;
        }
        if let Ok(Some(_)) = message {
            self.credit.spend();
        }
        message
    }
}

/// Messages that a client may send now, in thousandths.
struct Credit {
    thousandths: u64,
    burst: u64,
    per_second: u64,
    since: Millis,
}

impl Credit {
    fn new(limits: &StreamLimits, now: Millis) -> Self {
        let burst = u64::from(limits.message_burst.max(1)) * 1_000;
        Self {
            thousandths: burst,
            burst,
            per_second: u64::from(limits.messages_per_second.max(1)),
            since: now,
        }
    }

    fn pause(&mut self, now: Millis) -> Millis {
        let passed = now.saturating_sub(self.since);
        self.since = now;
        let gained = passed.saturating_mul(self.per_second);
        self.thousandths = self.thousandths.saturating_add(gained).min(self.burst);
        let missing = 1_000_u64.saturating_sub(self.thousandths);
        missing.div_ceil(self.per_second)
    }

    fn spend(&mut self) {
        self.thousandths = self.thousandths.saturating_sub(1_000);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_alive_texts_are_no_requests() {
        for text in ["PING", "ping", " Ping\n"] {
            assert!(matches!(Text::of(text), Text::Ping), "{text}");
        }
        for text in ["PONG", "pong ", "", " \n"] {
            assert!(matches!(Text::of(text), Text::Nothing), "{text}");
        }
        for text in ["PINGPING", "{}", "[]", "garbage"] {
            assert!(matches!(Text::of(text), Text::Requests(_)), "{text}");
        }
    }

    #[test]
    fn after_a_burst_messages_come_at_the_rate() {
        let limits = StreamLimits {
            messages_per_second: 20,
            message_burst: 3,
            ..StreamLimits::default()
        };
        let mut credit = Credit::new(&limits, 1_000);
        for _ in 0..3 {
            assert_eq!(credit.pause(1_000), 0);
            credit.spend();
        }
        assert_eq!(credit.pause(1_000), 50);
        assert_eq!(credit.pause(1_049), 1);
        assert_eq!(credit.pause(1_050), 0);
        credit.spend();
        assert_eq!(credit.pause(1_050), 50);
        assert_eq!(credit.pause(100_000), 0);
        assert_eq!(credit.thousandths, 3_000, "at most a burst");
    }
}
