//! One connection to the engine from its beginning to its end, again and again.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use foretell_link::{
    Answer, AnswerDecoder, ClockState, Goodbye, Hello, PROTOCOL_VERSION, Request, Role, Violation,
    Welcome,
};
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

use super::pending::LinkError;
use super::{EngineLink, KnownEngine, THREAD_LINK, ThreadLink};
use crate::access::signature_gate::SignatureGate;

/// First pause after a connection failure; it doubles up to [`MAX_PAUSE`].
const MIN_PAUSE: Duration = Duration::from_millis(20);
/// Longest pause between two attempts: a host that takes over accepts orders this soon.
const MAX_PAUSE: Duration = Duration::from_millis(200);
/// Task switches, each with one signature check, for which queued requests wait for further orders:
/// about 250 µs. Each wake-up of the engine takes CPU time from those checks, and a sync takes as
/// long.
const COALESCE_TURNS: u32 = 6;

impl EngineLink {
    /// Keeps a connection established until `stop` is true, and assigns it to this thread, which
    /// alone may poll this; `gate` is the thread's own. It never fails: it reconnects to an engine
    /// that is unavailable.
    pub(crate) async fn run(
        self,
        link: usize,
        gate: Arc<SignatureGate>,
        socket: PathBuf,
        role: Role,
        mut stop: watch::Receiver<bool>,
    ) {
        THREAD_LINK.set(link);
        let link = &self.shared.links[link];
        let mut pause = MIN_PAUSE;
        loop {
            let session = async {
                let stream = UnixStream::connect(&socket)
                    .await
                    .map_err(ConnectionError::Io)?;
                self.session(link, &gate, stream, role).await
            };
            let error = tokio::select! {
                Err(error) = session => error,
                _ = stop.wait_for(|stop| *stop) => return self.disconnected(link),
            };
            if link.outbox.lock().connected {
                tracing::warn!(broken = %error, "engine connection lost");
                pause = MIN_PAUSE;
            } else {
                tracing::debug!(broken = %error, "engine connection failed");
            }
            self.disconnected(link);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Runs one connection to its end.
    async fn session(
        &self,
        link: &ThreadLink,
        gate: &SignatureGate,
        stream: UnixStream,
        role: Role,
    ) -> Result<(), ConnectionError> {
        let engine = stream.peer_cred().ok().and_then(|peer| peer.pid());
        (self.shared.engine).store(engine.unwrap_or_default(), Ordering::Relaxed);
        let (mut reader, mut writer) = stream.into_split();
        let mut hello = Vec::new();
        let name = format!("gateway {}", std::process::id());
        Request::Hello(Hello {
            version: PROTOCOL_VERSION,
            role,
            name: &name,
        })
        .encode(&mut hello)
        .expect("the name is shorter than its bound");
        writer
            .write_all(&hello)
            .await
            .map_err(ConnectionError::Io)?;
        let mut decoder = AnswerDecoder::new();
        tokio::select! {
            result = self.read(link, &mut reader, &mut decoder) => result,
            result = write(link, gate, &mut writer) => result,
        }
    }

    async fn read(
        &self,
        link: &ThreadLink,
        reader: &mut OwnedReadHalf,
        decoder: &mut AnswerDecoder,
    ) -> Result<(), ConnectionError> {
        loop {
            reader.readable().await.map_err(ConnectionError::Io)?;
            match reader.try_read(decoder.space()) {
                Ok(0) => return Err(ConnectionError::Closed),
                Ok(count) => decoder.filled(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(ConnectionError::Io(error)),
            }
            while let Some(answer) = decoder.next_answer().map_err(ConnectionError::Violation)? {
                self.deliver(link, answer)?;
            }
        }
    }

    fn deliver(&self, link: &ThreadLink, answer: Answer) -> Result<(), ConnectionError> {
        let request = match &answer {
            Answer::Welcome(welcome) => {
                self.connected(link, *welcome);
                return Ok(());
            }
            Answer::Goodbye(goodbye) => return Err(ConnectionError::Goodbye(*goodbye)),
            Answer::Reply(reply) => {
                let last = reply.sequence.max(reply.last_sequence);
                self.shared.acknowledged.fetch_max(last.0, Ordering::AcqRel);
                reply.request
            }
            Answer::Busy(busy) => busy.request,
            Answer::Heartbeat(answer) => answer.request,
            Answer::Status(status) => {
                self.shared.clock.note(status.time, status.clock);
                status.request
            }
            Answer::Snapshot(answer) => answer.request,
        };
        // The caller is gone when its client disconnected; that is no error.
        if let Some(sender) = link.outbox.lock().answered(request, &answer) {
            let _ = sender.send(Ok(answer));
        }
        Ok(())
    }

    fn connected(&self, link: &ThreadLink, welcome: Welcome) {
        let shared = &*self.shared;
        // A welcome tells no state: the first answer does, within a second.
        let state = self.time().map_or(ClockState::Right, |(_, state)| state);
        self.shared.clock.note(welcome.time, state);
        {
            let mut known = shared.known.lock();
            if known.genesis == welcome.genesis && known.epoch == welcome.epoch {
                // Another connection may have received a higher sequence of this engine.
                (shared.acknowledged).fetch_max(welcome.durable.0, Ordering::AcqRel);
            } else {
                // Everything an earlier engine acknowledged is durable now, or lost (below level
                // `disk`).
                (shared.acknowledged).store(welcome.durable.0, Ordering::Release);
            }
            *known = KnownEngine {
                genesis: welcome.genesis,
                epoch: welcome.epoch,
            };
        }
        link.outbox.lock().connected = true;
        let connected = shared.connected.fetch_add(1, Ordering::AcqRel) + 1;
        if connected == shared.links.len() {
            shared.welcome.send_replace(Some(welcome));
        }
        tracing::info!(
            epoch = welcome.epoch,
            durable = welcome.durable.0,
            "engine connected"
        );
    }

    fn disconnected(&self, link: &ThreadLink) {
        let mut outbox = link.outbox.lock();
        if std::mem::take(&mut outbox.connected) {
            self.shared.connected.fetch_sub(1, Ordering::AcqRel);
        }
        self.shared.welcome.send_replace(None);
        outbox.bytes.clear();
        outbox.groups.clear();
        for (_, sender) in outbox.waiting.drain() {
            let _ = sender.send(Err(LinkError::OutcomeUnknown));
        }
    }
}

/// Writes all queued bytes at once.
async fn write(
    link: &ThreadLink,
    gate: &SignatureGate,
    writer: &mut OwnedWriteHalf,
) -> Result<(), ConnectionError> {
    let mut bytes = Vec::new();
    loop {
        link.wake.notified().await;
        coalesce(gate).await;
        std::mem::swap(&mut bytes, &mut link.outbox.lock().bytes);
        writer
            .write_all(&bytes)
            .await
            .map_err(ConnectionError::Io)?;
        bytes.clear();
    }
}

/// Waits up to [`COALESCE_TURNS`] task switches while signature checks are in progress; else not at
/// all.
async fn coalesce(gate: &SignatureGate) {
    for _ in 0..COALESCE_TURNS {
        if !gate.is_busy() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Why a connection ended.
#[derive(Debug, Error)]
enum ConnectionError {
    #[error("{0}")]
    Io(io::Error),
    #[error("engine closed the connection")]
    Closed,
    #[error("engine violated the protocol: {0}")]
    Violation(Violation),
    #[error("engine ended the connection: {0:?}")]
    Goodbye(Goodbye),
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn what_is_to_be_sent_waits_a_few_turns_for_orders_being_checked() {
        let cx = &mut Context::from_waker(Waker::noop());
        let gate = SignatureGate::new();
        assert!(pin!(coalesce(&gate)).poll(cx).is_ready(), "nobody is there");
        let mut check = Box::pin(gate.run(|| ()));
        assert!(check.as_mut().poll(cx).is_pending(), "others have a turn");
        let mut gathering = Box::pin(coalesce(&gate));
        for _ in 0..COALESCE_TURNS {
            assert!(gathering.as_mut().poll(cx).is_pending());
        }
        assert!(gathering.as_mut().poll(cx).is_ready(), "long enough");
        let mut gathering = Box::pin(coalesce(&gate));
        assert!(gathering.as_mut().poll(cx).is_pending());
        drop(check);
        assert!(gathering.as_mut().poll(cx).is_ready(), "nobody any more");
    }
}
