//! Baselines of a stream: one thread that sends the same bytes to every connection, by tokio-tungstenite
//! or by plain writes.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::sync::mpsc;
use std::thread::JoinHandle;

use bytes::Bytes;
use futures_util::SinkExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::serving_thread::ServingThread;
use crate::error::MeasureError;
use crate::harness::threads::joined;

/// Thread names of the servers.
pub(crate) const BROADCAST_THREAD: &str = "bare-broadcast";
pub(crate) const WRITE_THREAD: &str = "bare-write";
/// Messages that a connection of the broadcast may be late.
const LATE: usize = 4_096;

/// Sends each text to every connection through tokio-tungstenite: one task a connection.
pub(crate) struct BroadcastServer {
    server: ServingThread,
    texts: broadcast::Sender<Utf8Bytes>,
}

impl BroadcastServer {
    pub(crate) fn start() -> io::Result<Self> {
        let (texts, _) = broadcast::channel(LATE);
        let sender = texts.clone();
        let server = ServingThread::start(BROADCAST_THREAD, |listener| accept(listener, sender))?;
        Ok(Self { server, texts })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Sends a text to every connection.
    pub(crate) fn send(&self, text: &Utf8Bytes) {
        // Without a connection there is no receiver.
        let _ = self.texts.send(text.clone());
    }

    pub(crate) fn stop(self) -> Result<(), MeasureError> {
        self.server.stop()
    }
}

async fn accept(listener: TcpListener, texts: broadcast::Sender<Utf8Bytes>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(forward(stream, texts.subscribe()));
    }
}

async fn forward(stream: TcpStream, mut texts: broadcast::Receiver<Utf8Bytes>) {
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else {
        return;
    };
    while let Ok(text) = texts.recv().await {
        if socket.send(Message::Text(text)).await.is_err() {
            return;
        }
    }
}

/// Writes finished frames to every connection, without a handshake.
pub(crate) struct WriteServer {
    pub(crate) address: SocketAddr,
    frames: mpsc::Sender<Bytes>,
    thread: JoinHandle<io::Result<()>>,
}

impl WriteServer {
    /// Starts a server of so many connections.
    pub(crate) fn start(connections: usize) -> io::Result<Self> {
        let listener = StdListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (frames, to_write) = mpsc::channel::<Bytes>();
        let (running, is_running) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(WRITE_THREAD.to_owned())
            .spawn(move || {
                drop(running);
                let mut accepted: Vec<StdStream> = Vec::with_capacity(connections);
                while accepted.len() < connections {
                    let (stream, _) = listener.accept()?;
                    stream.set_nodelay(true)?;
                    accepted.push(stream);
                }
                for frame in to_write {
                    for stream in &mut accepted {
                        stream.write_all(&frame)?;
                    }
                }
                Ok(())
            })?;
        // A thread takes its name when it begins, and is measured by it. `Err`: the sender is gone.
        let _: Result<(), _> = is_running.recv();
        Ok(Self {
            address,
            frames,
            thread,
        })
    }

    /// Writes a frame to every connection.
    pub(crate) fn send(&self, frame: &Bytes) {
        // A server that failed reports it when it is stopped.
        let _ = self.frames.send(frame.clone());
    }

    pub(crate) fn stop(self) -> Result<(), MeasureError> {
        drop(self.frames);
        let written = joined("a baseline's server", self.thread.join())?;
        written.map_err(MeasureError::io("writing to clients"))
    }
}
