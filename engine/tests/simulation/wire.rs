//! A socket between a client and the engine: two byte queues, read in pieces, which can be cut at
//! any byte.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::Arc;

use parking_lot::Mutex;

/// Capacity of the queue to the client, in bytes; a write to a full queue would block.
const ROOM: usize = 64 << 10;

#[derive(Debug, Default)]
struct Queues {
    to_engine: VecDeque<u8>,
    to_client: VecDeque<u8>,
    /// Bytes ever sent by the engine.
    sent: u64,
    client_is_gone: bool,
    engine_is_gone: bool,
}

/// The engine's non-blocking end. At most `piece` bytes pass per call.
#[derive(Debug)]
pub(super) struct EngineEnd {
    queues: Arc<Mutex<Queues>>,
    piece: usize,
}

/// The client's end; dropping it closes the connection.
#[derive(Debug)]
pub(super) struct ClientEnd(Arc<Mutex<Queues>>);

/// A connection.
pub(super) fn pair(piece: usize) -> (EngineEnd, ClientEnd) {
    let queues = Arc::<Mutex<Queues>>::default();
    let engine = EngineEnd {
        queues: Arc::clone(&queues),
        piece: piece.max(1),
    };
    (engine, ClientEnd(queues))
}

impl Read for EngineEnd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut queues = self.queues.lock();
        if queues.to_engine.is_empty() {
            return if queues.client_is_gone {
                Ok(0)
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            };
        }
        let piece = self.piece.min(buffer.len());
        queues.to_engine.read(&mut buffer[..piece])
    }
}

impl Write for EngineEnd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut queues = self.queues.lock();
        if queues.client_is_gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = ROOM.saturating_sub(queues.to_client.len());
        let taken = bytes.len().min(self.piece).min(room);
        if taken == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        queues.to_client.extend(&bytes[..taken]);
        queues.sent += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for EngineEnd {
    fn drop(&mut self) {
        self.queues.lock().engine_is_gone = true;
    }
}

impl ClientEnd {
    pub(super) fn send(&self, bytes: &[u8]) {
        self.0.lock().to_engine.extend(bytes);
    }

    /// Moves received bytes into `space`; returns their number.
    pub(super) fn receive(&self, space: &mut [u8]) -> usize {
        let mut queues = self.0.lock();
        queues
            .to_client
            .read(space)
            .expect("a queue in memory can be read")
    }

    /// Whether the engine has closed it and all bytes were read.
    pub(super) fn is_over(&self) -> bool {
        let queues = self.0.lock();
        queues.engine_is_gone && queues.to_client.is_empty()
    }

    /// Bytes ever sent by the engine.
    pub(super) fn sent(&self) -> u64 {
        self.0.lock().sent
    }
}

impl Drop for ClientEnd {
    fn drop(&mut self) {
        self.0.lock().client_is_gone = true;
    }
}
