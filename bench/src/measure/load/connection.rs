//! A non-blocking keep-alive connection of the generator with one request at a time.

use std::io::{self, ErrorKind, Write as _};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use crate::harness::http::{AnswerBuffer, HttpAnswer};

pub(super) struct LoadConnection {
    stream: TcpStream,
    /// Index and due time of the open request.
    pub(super) under_way: Option<(usize, u64)>,
    /// Bytes of the request already sent.
    sent: usize,
    answer: AnswerBuffer,
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
            answer: AnswerBuffer::new(),
            idle_since: 0,
        })
    }

    /// Begins a request; the connection must be idle.
    pub(super) fn start(&mut self, index: usize, due: u64, request: &[u8]) -> io::Result<()> {
        self.under_way = Some((index, due));
        self.sent = 0;
        self.answer.clear();
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

    /// Reads available bytes; returns the response when it is complete.
    pub(super) fn receive(&mut self) -> io::Result<Option<HttpAnswer<'_>>> {
        self.answer.receive(&mut self.stream)
    }
}
