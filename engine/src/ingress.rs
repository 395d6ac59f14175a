//! The ingress thread: it sleeps until a gateway, a wake-up or a stop wakes it, and then runs a
//! round of the connected gateways.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mio::net::{UnixListener, UnixStream};
use mio::{Events, Interest, Poll, Token};

use crate::clock::Clocks;
use crate::gateways::{Gateways, RoundResult, ServeEnd};
use crate::stop::Stop;
use crate::wait::PollWaker;

const LISTENER: Token = Token(0);
pub(crate) const WAKER: Token = Token(1);
const STOP: Token = Token(2);
/// The token of the connection in slot 0.
const FIRST_SLOT: usize = 3;

#[derive(Debug)]
pub(crate) struct Ingress<C> {
    pub(crate) poll: Poll,
    pub(crate) waker: Arc<PollWaker>,
    pub(crate) stop: Stop,
    /// `None` while stopping.
    pub(crate) listener: Option<UnixListener>,
    pub(crate) gateways: Gateways<C, UnixStream>,
}

impl<C: Clocks> Ingress<C> {
    /// Registers listener and stop with the poll.
    fn register(&mut self) -> io::Result<()> {
        let registry = self.poll.registry();
        if let Some(listener) = &mut self.listener {
            registry.register(listener, LISTENER, Interest::READABLE)?;
        }
        registry.register(&mut self.stop.receiver, STOP, Interest::READABLE)
    }

    /// Serves until stopped or the journal fails.
    ///
    /// # Errors
    /// The poll itself failed.
    pub(crate) fn serve(&mut self) -> io::Result<ServeEnd> {
        self.register()?;
        let mut events = Events::with_capacity(256);
        let mut more_work = false;
        loop {
            self.sleep(&mut events, more_work)?;
            let at = self.gateways.now();
            self.note(&events, at);
            more_work = match self.gateways.round(at) {
                RoundResult::MoreWork => true,
                RoundResult::Idle => false,
                RoundResult::Ended(ended) => return Ok(ended),
            };
        }
    }

    fn sleep(&mut self, events: &mut Events, more_work: bool) -> io::Result<()> {
        let timeout = if more_work {
            Duration::ZERO
        } else {
            self.waker.arm();
            if self.gateways.has_work() {
                Duration::ZERO
            } else {
                self.gateways.until_due()
            }
        };
        let polled = self.poll.poll(events, Some(timeout));
        self.waker.disarm();
        match polled {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            polled => polled,
        }
    }

    fn note(&mut self, events: &Events, at: u64) {
        for event in events {
            match event.token() {
                LISTENER => self.accept(at),
                STOP => {
                    self.gateways.begin_stop(at);
                    self.listener = None;
                }
                WAKER => {}
                Token(token) => {
                    let slot = token - FIRST_SLOT;
                    self.gateways
                        .mark_ready(slot, event.is_readable(), event.is_writable());
                }
            }
        }
    }

    fn accept(&mut self, at: u64) {
        while let Some(listener) = &self.listener {
            match listener.accept() {
                Ok((stream, _)) => self.seat(stream, at),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Out of descriptors: the next connection attempt triggers another accept.
                    tracing::warn!(%error, "cannot accept a gateway connection");
                    return;
                }
            }
        }
    }

    /// Puts a new connection into a slot, or turns it away. Closing its socket removes it from the
    /// poll.
    fn seat(&mut self, mut stream: UnixStream, at: u64) {
        let Some(slot) = self.gateways.free_slot() else {
            self.gateways.reject(stream, at);
            return;
        };
        let interest = Interest::READABLE | Interest::WRITABLE;
        let token = Token(slot + FIRST_SLOT);
        let registry = self.poll.registry();
        match registry.register(&mut stream, token, interest) {
            Ok(()) => self.gateways.add_connection(slot, stream, at),
            Err(error) => tracing::warn!(%error, "cannot poll a gateway connection"),
        }
    }
}
