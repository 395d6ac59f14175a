//! One gateway's connection: bytes in, bytes out, both bounded.

use std::io::{self, Read, Write};

use foretell_link::{Answer, Goodbye, RequestDecoder, Role, Violation};
use mio::net::UnixStream;
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
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
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

impl Connection {
    pub(crate) fn new(stream: UnixStream, id: ConnectionId, now: u64) -> Self {
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

    pub(crate) fn stream(&mut self) -> &mut UnixStream {
        &mut self.stream
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
                if self.peer.unsent() > PAUSED_ABOVE_BYTES {
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

    /// Sends what waits, as far as the socket takes it; `true` when something was sent.
    pub(crate) fn flush(&mut self, now: u64) -> Result<bool, CutOff> {
        let mut sent_any = false;
        while self.writable && self.peer.unsent() > 0 {
            match self.stream.write(&self.peer.out[self.peer.sent..]) {
                Ok(0) => return Err(CutOff::Closed),
                Ok(count) => {
                    self.peer.sent += count;
                    self.since = now;
                    sent_any = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if self.peer.unsent() == 0 {
            self.peer.out.clear();
            self.peer.sent = 0;
            if self.peer.out.capacity() > 2 * PAUSED_ABOVE_BYTES {
                self.peer.out = Vec::new();
            }
        }
        Ok(sent_any)
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
