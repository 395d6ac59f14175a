//! The ingress thread: it sleeps until a gateway, the bell or a stop wakes it, and gives the
//! connected gateways their rounds.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mio::net::{UnixListener, UnixStream};
use mio::{Events, Interest, Poll, Token};

use crate::clock::Clocks;
use crate::gateways::{Ended, Gateways, Round};
use crate::stop::Stop;
use crate::wait::Bell;

const LISTENER: Token = Token(0);
pub(crate) const BELL: Token = Token(1);
const STOP: Token = Token(2);
/// The token of the connection in slot 0.
const FIRST_SLOT: usize = 3;

/// The thread's state.
#[derive(Debug)]
pub(crate) struct Ingress<C> {
    pub(crate) poll: Poll,
    pub(crate) bell: Arc<Bell>,
    pub(crate) stop: Stop,
    /// `None` once stopping.
    pub(crate) listener: Option<UnixListener>,
    pub(crate) gateways: Gateways<C, UnixStream>,
}

impl<C: Clocks> Ingress<C> {
    /// Puts listener and stop into the poll.
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
    pub(crate) fn serve(&mut self) -> io::Result<Ended> {
        self.register()?;
        let mut events = Events::with_capacity(256);
        let mut may_go_on = false;
        loop {
            self.sleep(&mut events, may_go_on)?;
            let at = self.gateways.now();
            self.note(&events, at);
            may_go_on = match self.gateways.round(at) {
                Round::MayGoOn => true,
                Round::Waits => false,
                Round::Ended(ended) => return Ok(ended),
            };
        }
    }

    fn sleep(&mut self, events: &mut Events, may_go_on: bool) -> io::Result<()> {
        let timeout = if may_go_on {
            Duration::ZERO
        } else {
            self.bell.arm();
            if self.gateways.has_something() {
                Duration::ZERO
            } else {
                self.gateways.until_due()
            }
        };
        let polled = self.poll.poll(events, Some(timeout));
        self.bell.disarm();
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
                BELL => {}
                Token(token) => {
                    let slot = token - FIRST_SLOT;
                    self.gateways
                        .note(slot, event.is_readable(), event.is_writable());
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
                    // Out of descriptors: the next connection attempt tries again.
                    tracing::warn!(%error, "accepting a gateway");
                    return;
                }
            }
        }
    }

    /// Gives a new connection a slot, or turns it away. Closing its socket takes it out of the poll.
    fn seat(&mut self, mut stream: UnixStream, at: u64) {
        let Some(slot) = self.gateways.free_slot() else {
            self.gateways.turn_away(stream, at);
            return;
        };
        let interest = Interest::READABLE | Interest::WRITABLE;
        let token = Token(slot + FIRST_SLOT);
        let registry = self.poll.registry();
        match registry.register(&mut stream, token, interest) {
            Ok(()) => self.gateways.seat(slot, stream, at),
            Err(error) => tracing::warn!(%error, "polling a gateway"),
        }
    }
}
