//! A non-blocking keep-alive connection of the generator with one request at a time.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::harness::http::Head;

/// Initial buffer size; it grows.
const FIRST_BYTES: usize = 16 * 1024;
/// Maximum response size: a whole book.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

pub(super) struct LoadConnection {
    stream: TcpStream,
    /// Index and due time of the open request.
    pub(super) under_way: Option<(usize, u64)>,
    /// Bytes of the request already sent.
    sent: usize,
    buffer: Vec<u8>,
    filled: usize,
    head: Option<Head>,
    /// When its last response was complete.
    pub(super) idle_since: u64,
}

impl LoadConnection {
    /// Connects and registers with a poll.
    pub(super) fn open(address: SocketAddr, registry: &Registry, token: usize) -> io::Result<Self> {
        let stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut stream, Token(token), interest)?;
        Ok(Self {
            stream,
            under_way: None,
            sent: 0,
            buffer: vec![0; FIRST_BYTES],
            filled: 0,
            head: None,
            idle_since: 0,
        })
    }

    /// Begins a request; the connection must be idle.
    pub(super) fn start(&mut self, index: usize, due: u64, request: &[u8]) -> io::Result<()> {
        self.under_way = Some((index, due));
        self.sent = 0;
        self.filled = 0;
        self.head = None;
        self.send(request)
    }

    /// Sends as much of the open request as possible.
    pub(super) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        while self.sent < request.len() {
            match self.stream.write(&request[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads available bytes; returns the status when the response is complete.
    pub(super) fn receive(&mut self) -> io::Result<Option<u16>> {
        loop {
            if self.filled == self.buffer.len() {
                if self.filled >= MAX_ANSWER_BYTES {
                    return Err(io::Error::other("an answer is too long"));
                }
                self.buffer.resize(self.filled * 2, 0);
            }
            match self.stream.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    return Err(io::Error::other(
                        "the server closed a keep-alive connection",
                    ));
                }
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if self.under_way.is_none() {
                return Err(io::Error::other("an answer without a request"));
            }
            if self.head.is_none() {
                self.head = Head::read(&self.buffer[..self.filled])?;
            }
            if let Some(head) = self.head {
                match self.filled.cmp(&(head.bytes + head.length)) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => return Ok(Some(head.status)),
                    std::cmp::Ordering::Greater => {
                        return Err(io::Error::other(
                            "an answer is longer than its Content-Length",
                        ));
                    }
                }
            }
        }
    }

    /// Body of the complete response.
    pub(super) fn body(&self) -> &[u8] {
        let start = self.head.map_or(self.filled, |head| head.bytes);
        &self.buffer[start..self.filled]
    }
}
