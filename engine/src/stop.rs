//! Stops the engine by signal or by handle: both write a byte to a socket that ingress polls.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::net::RecvFlags;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};

/// Stops a running engine, from any thread.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<UnixStream>);

impl StopHandle {
    /// Requests a clean stop: accept no more requests, answer the accepted ones, sync, end. A
    /// repeat, or a call after the engine has ended, has no effect.
    pub fn stop(&self) {
        if let Err(error) = (&*self.0).write(&[1]) {
            tracing::debug!(%error, "cannot request a stop");
        }
    }
}

/// The receiving side of a stop.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) handle: StopHandle,
    pub(crate) receiver: mio::net::UnixStream,
    signals: Vec<SigId>,
}

impl Stop {
    /// A new stop; with `signals`, SIGTERM and SIGINT trigger it until this is dropped.
    pub(crate) fn new(signals: bool) -> io::Result<Self> {
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        receiver.set_nonblocking(true)?;
        let mut stop = Self {
            handle: StopHandle(Arc::new(sender)),
            receiver: mio::net::UnixStream::from_std(receiver),
            signals: Vec::new(),
        };
        if signals {
            for signal in [SIGTERM, SIGINT] {
                let sender = stop.handle.0.try_clone()?;
                stop.signals
                    .push(signal_hook::low_level::pipe::register(signal, sender)?);
            }
        }
        Ok(stop)
    }
}

impl Stop {
    /// Whether a stop was requested; for a thread that does not poll.
    pub(crate) fn is_requested(&self) -> bool {
        let mut byte = [0; 1];
        let peeked = rustix::net::recv(&self.receiver, &mut byte, RecvFlags::PEEK);
        peeked.is_ok_and(|(_, read)| read > 0)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        for signal in self.signals.drain(..) {
            signal_hook::low_level::unregister(signal);
        }
    }
}
