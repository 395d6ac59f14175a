//! One gateway's connection, with bounded input and output buffers.

use std::io::{self, Read, Write};

use foretell_link::{Answer, Goodbye, RequestDecoder, Role, Violation};
use thiserror::Error;

use crate::command_ring::ConnectionId;

/// Above this many unsent bytes the peer's requests are not read. Answers to requests already read
/// still add to it: at most five eighths of a ring.
const PAUSED_ABOVE_BYTES: usize = 256 * 1024;
/// Reads of one connection in one turn.
const READS_PER_STEP: usize = 4;

/// Why a connection ends.
#[derive(Debug, Error)]
pub(crate) enum DisconnectReason {
    #[error("connection closed by the peer")]
    Closed,
    #[error("{0}")]
    Violation(#[from] Violation),
    #[error("protocol version {0}")]
    Version(u32),
    #[error("command not allowed for the role of the peer")]
    NotAllowed,
    #[error("a connection sent a second hello: its role cannot change")]
    SecondGreeting,
    #[error("no hello before the timeout")]
    NoGreeting,
    #[error("the peer does not read its responses")]
    Stalled,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The part of a connection that the request handler needs: its identity and its output buffer.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) id: ConnectionId,
    /// `None` before the hello.
    pub(crate) role: Option<Role>,
    /// Its commands without an answer yet.
    pub(crate) in_flight: usize,
    /// Encoded answers; those before `sent` have been sent.
    out: Vec<u8>,
    sent: usize,
}

impl Peer {
    pub(crate) fn answer(&mut self, answer: &Answer) {
        answer.encode(&mut self.out);
    }

    fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Frees the space of sent bytes. A slow peer may always have unsent bytes, so this must not
    /// wait for an empty buffer. It moves the rest only after `PAUSED_ABOVE_BYTES` sent bytes, so
    /// the cost per byte is small.
    fn drop_sent(&mut self) {
        if self.unsent() == 0 {
            self.out.clear();
            self.sent = 0;
            if self.out.capacity() > 2 * PAUSED_ABOVE_BYTES {
                self.out = Vec::new();
            }
        } else if self.sent > PAUSED_ABOVE_BYTES {
            self.out.drain(..self.sent);
            self.sent = 0;
        }
    }
}

/// A connection over a non-blocking stream.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    stream: S,
    decoder: RequestDecoder,
    pub(crate) peer: Peer,
    /// The poll is edge-triggered: these stay true until the socket returns "would block".
    readable: bool,
    writable: bool,
    /// Monotonic reading of the accept, or of the last write.
    since: u64,
}

/// The result of a read turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadStep {
    /// Nothing more to do before the next event of the poll.
    Idle,
    /// More requests may be readable.
    MoreInput,
}

impl<S: Read + Write> Connection<S> {
    pub(crate) fn new(stream: S, id: ConnectionId, now: u64) -> Self {
        Self {
            stream,
            decoder: RequestDecoder::new(),
            peer: Peer {
                id,
                role: None,
                in_flight: 0,
                out: Vec::new(),
                sent: 0,
            },
            readable: true,
            writable: true,
            since: now,
        }
    }

    /// Records an event of the poll.
    pub(crate) fn mark_ready(&mut self, readable: bool, writable: bool) {
        self.readable |= readable;
        self.writable |= writable;
    }

    /// Reads and decodes requests for one bounded turn, and calls `handle` for each.
    pub(crate) fn read_requests(
        &mut self,
        mut handle: impl FnMut(&mut Peer, foretell_link::Request<'_>) -> Result<(), DisconnectReason>,
    ) -> Result<ReadStep, DisconnectReason> {
        for _ in 0..READS_PER_STEP {
            loop {
                if self.is_paused() {
                    return Ok(ReadStep::Idle);
                }
                match self.decoder.next_request()? {
                    Some(request) => handle(&mut self.peer, request)?,
                    None => break,
                }
            }
            if !self.readable || !self.read()? {
                return Ok(ReadStep::Idle);
            }
        }
        Ok(ReadStep::MoreInput)
    }

    /// One read; `false` when no bytes are available.
    fn read(&mut self) -> Result<bool, DisconnectReason> {
        loop {
            match self.stream.read(self.decoder.space()) {
                Ok(0) => return Err(DisconnectReason::Closed),
                Ok(count) => {
                    self.decoder.filled(count);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.readable = false;
                    return Ok(false);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends queued bytes until the socket is full. Returns `true` if the connection was paused and
    /// may read again: requests already in its buffer cause no event of the poll.
    pub(crate) fn flush(&mut self, now: u64) -> Result<bool, DisconnectReason> {
        let was_paused = self.is_paused();
        while self.writable && self.peer.unsent() > 0 {
            match self.stream.write(&self.peer.out[self.peer.sent..]) {
                Ok(0) => return Err(DisconnectReason::Closed),
                Ok(count) => {
                    self.peer.sent += count;
                    self.since = now;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.peer.drop_sent();
        Ok(was_paused && !self.is_paused())
    }

    /// Whether reading is paused because the peer has too many unsent bytes.
    fn is_paused(&self) -> bool {
        self.peer.unsent() > PAUSED_ABOVE_BYTES
    }

    /// Whether all queued bytes have been sent.
    pub(crate) fn is_flushed(&self) -> bool {
        self.peer.unsent() == 0
    }

    /// Monotonic time at which this peer is cut off for a missing hello or for unread answers.
    /// `None` = it owes neither.
    pub(crate) fn cut_deadline(&self, patience: u64) -> Option<u64> {
        let owes = self.peer.role.is_none() || !self.is_flushed();
        owes.then(|| self.since.saturating_add(patience))
    }

    /// The reason for cutting it off at that time.
    pub(crate) const fn cut_reason(&self) -> DisconnectReason {
        if self.peer.role.is_none() {
            DisconnectReason::NoGreeting
        } else {
            DisconnectReason::Stalled
        }
    }

    /// Sends the reason for the disconnection, if the socket accepts it.
    pub(crate) fn say_goodbye(&mut self, why: Goodbye, now: u64) {
        self.peer.answer(&Answer::Goodbye(why));
        if let Err(error) = self.flush(now) {
            tracing::debug!(%error, "cannot send the goodbye");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream as Other;

    use foretell_link::{Hello, PROTOCOL_VERSION, Request};
    use mio::net::UnixStream;

    use super::*;

    fn pair() -> (Connection<UnixStream>, Other) {
        let (ours, other) = Other::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        other.set_nonblocking(true).unwrap();
        let id = ConnectionId {
            slot: 0,
            generation: 0,
        };
        (Connection::new(UnixStream::from_std(ours), id, 0), other)
    }

    /// Reads up to `most` available bytes.
    fn take(other: &mut Other, most: usize) -> usize {
        let mut sink = [0; 16 * 1024];
        let mut taken = 0;
        while taken < most
            && let Ok(count @ 1..) = other.read(&mut sink)
        {
            taken += count;
        }
        taken
    }

    #[test]
    fn a_peer_that_is_always_a_little_behind_costs_bounded_memory() {
        const ANSWERS: usize = 64 * 1024;
        let (mut connection, mut other) = pair();
        let mut taken = 0;
        while taken < 16 * PAUSED_ABOVE_BYTES {
            while connection.peer.unsent() < 2 * ANSWERS {
                connection.peer.out.extend_from_slice(&[7; ANSWERS]);
                connection.mark_ready(false, true);
                connection.flush(0).unwrap();
            }
            taken += take(&mut other, ANSWERS);
            connection.mark_ready(false, true);
            connection.flush(0).unwrap();
            assert!(!connection.is_flushed());
            assert!(connection.peer.out.len() < 2 * PAUSED_ABOVE_BYTES);
        }
    }

    #[test]
    fn requests_that_waited_for_a_slow_reader_go_on_as_soon_as_it_has_read() {
        let (mut connection, mut other) = pair();
        let mut requests = Vec::new();
        let hello = Request::Hello(Hello {
            version: PROTOCOL_VERSION,
            role: Role::Reader,
            name: "",
        });
        for request in [hello, Request::Status { request: 1 }] {
            request.encode(&mut requests).unwrap();
        }
        other.write_all(&requests).unwrap();
        let step = |connection: &mut Connection<UnixStream>| {
            let mut handled = 0;
            let read = connection.read_requests(|_, _| {
                handled += 1;
                Ok(())
            });
            (read.unwrap(), handled)
        };
        connection.peer.out.resize(3 * PAUSED_ABOVE_BYTES, 7);
        assert_eq!(step(&mut connection), (ReadStep::Idle, 0));

        let mut resumed = 0;
        while !connection.is_flushed() {
            resumed += usize::from(connection.flush(0).unwrap());
            take(&mut other, usize::MAX);
            connection.mark_ready(false, true);
        }
        assert_eq!(resumed, 1);
        assert_eq!(step(&mut connection), (ReadStep::Idle, 2));
    }
}
