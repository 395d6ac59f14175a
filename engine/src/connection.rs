//! One gateway's connection: bytes in, bytes out, both bounded.

use std::io::{self, Read, Write};

use foretell_link::{Answer, Goodbye, RequestDecoder, Role, Violation};
use thiserror::Error;

use crate::hand_off::ConnectionId;

/// While more than this waits to be sent, the peer's requests are not read. What waits can still
/// grow by the answers to what was read before: at most five eighths of a ring of them.
const PAUSED_ABOVE_BYTES: usize = 256 * 1024;
/// Reads of one connection before the others have their turn.
const READS_PER_TURN: usize = 4;

/// Why a connection ends.
#[derive(Debug, Error)]
pub(crate) enum CutOff {
    #[error("the peer closed it")]
    Closed,
    #[error("{0}")]
    Violation(#[from] Violation),
    #[error("protocol version {0}")]
    Version(u32),
    #[error("a command its role may not submit")]
    NotAllowed,
    #[error("no greeting in time")]
    NoGreeting,
    #[error("the peer does not read")]
    Stalled,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// What the rest of the engine needs of a peer: who it is, and where its answers go.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) id: ConnectionId,
    /// `None` until it has greeted.
    pub(crate) role: Option<Role>,
    /// Commands of it that are not answered yet.
    pub(crate) in_flight: usize,
    /// Encoded answers; those before `sent` have left.
    out: Vec<u8>,
    sent: usize,
}

impl Peer {
    /// Queues an answer.
    pub(crate) fn answer(&mut self, answer: &Answer) {
        answer.encode(&mut self.out);
    }

    fn unsent(&self) -> usize {
        self.out.len() - self.sent
    }

    /// Gives up the bytes that have left. A peer may always be a little behind, so this must not
    /// wait until nothing is unsent; it moves what is rarely enough to cost little a byte.
    fn forget_sent(&mut self) {
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

/// A connection over a stream that never blocks: it says "would block" instead.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    stream: S,
    decoder: RequestDecoder,
    pub(crate) peer: Peer,
    /// The poll is edge-triggered: these stay true until the socket says "would block".
    readable: bool,
    writable: bool,
    /// Monotonic reading: when it was accepted, or something last left with more to send.
    since: u64,
}

/// What a turn of reading came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Nothing more to do until the poll says so.
    Waits,
    /// There may be more.
    MayGoOn,
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

    /// The poll named this connection.
    pub(crate) fn note(&mut self, readable: bool, writable: bool) {
        self.readable |= readable;
        self.writable |= writable;
    }

    /// Takes requests and reads more, for one bounded turn. `handle` is given each request.
    pub(crate) fn turn(
        &mut self,
        mut handle: impl FnMut(&mut Peer, foretell_link::Request<'_>) -> Result<(), CutOff>,
    ) -> Result<Turn, CutOff> {
        for _ in 0..READS_PER_TURN {
            loop {
                if self.is_paused() {
                    return Ok(Turn::Waits);
                }
                match self.decoder.next_request()? {
                    Some(request) => handle(&mut self.peer, request)?,
                    None => break,
                }
            }
            if !self.readable || !self.read()? {
                return Ok(Turn::Waits);
            }
        }
        Ok(Turn::MayGoOn)
    }

    /// One read; `false` when nothing is there.
    fn read(&mut self) -> Result<bool, CutOff> {
        loop {
            match self.stream.read(self.decoder.space()) {
                Ok(0) => return Err(CutOff::Closed),
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

    /// Sends what waits, as far as the socket takes it; `true` when with it requests may be taken
    /// again: those already read wait for no event of the poll.
    pub(crate) fn flush(&mut self, now: u64) -> Result<bool, CutOff> {
        let was_paused = self.is_paused();
        while self.writable && self.peer.unsent() > 0 {
            match self.stream.write(&self.peer.out[self.peer.sent..]) {
                Ok(0) => return Err(CutOff::Closed),
                Ok(count) => {
                    self.peer.sent += count;
                    self.since = now;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.peer.forget_sent();
        Ok(was_paused && !self.is_paused())
    }

    /// Whether its requests are left alone until it has taken answers.
    fn is_paused(&self) -> bool {
        self.peer.unsent() > PAUSED_ABOVE_BYTES
    }

    /// Whether everything queued has left.
    pub(crate) fn is_flushed(&self) -> bool {
        self.peer.unsent() == 0
    }

    /// When the engine's patience with this peer ends, on the monotonic clock: it owes a greeting,
    /// or reading what waits for it. `None` = it owes nothing.
    pub(crate) fn patience_ends(&self, patience: u64) -> Option<u64> {
        let owes = self.peer.role.is_none() || !self.is_flushed();
        owes.then(|| self.since.saturating_add(patience))
    }

    /// What it is cut off for when patience has ended.
    pub(crate) const fn impatience(&self) -> CutOff {
        if self.peer.role.is_none() {
            CutOff::NoGreeting
        } else {
            CutOff::Stalled
        }
    }

    /// Says why it ends, if the socket takes it.
    pub(crate) fn say_goodbye(&mut self, why: Goodbye, now: u64) {
        self.peer.answer(&Answer::Goodbye(why));
        if let Err(error) = self.flush(now) {
            tracing::debug!(%error, "saying goodbye");
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

    /// Reads at most `most` bytes, as far as there are any.
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
                connection.note(false, true);
                connection.flush(0).unwrap();
            }
            taken += take(&mut other, ANSWERS);
            connection.note(false, true);
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
        let turn = |connection: &mut Connection<UnixStream>| {
            let mut handled = 0;
            let went = connection.turn(|_, _| {
                handled += 1;
                Ok(())
            });
            (went.unwrap(), handled)
        };
        connection.peer.out.resize(3 * PAUSED_ABOVE_BYTES, 7);
        assert_eq!(turn(&mut connection), (Turn::Waits, 0));

        let mut resumed = 0;
        while !connection.is_flushed() {
            resumed += usize::from(connection.flush(0).unwrap());
            take(&mut other, usize::MAX);
            connection.note(false, true);
        }
        assert_eq!(resumed, 1);
        assert_eq!(turn(&mut connection), (Turn::Waits, 2));
    }
}
