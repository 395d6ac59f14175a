//! A minimal HTTP client: one connection, one request at a time, prepared bytes, so that little of
//! the measured time is the client's own.

use std::io::{self, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use foretell_model::Sequence;

use crate::error::MeasureError;

/// Maximum response size.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// Initial buffer size; it grows for longer responses.
const BUFFER_BYTES: usize = 64 << 10;
/// Retry interval until a gateway can answer.
const PAUSE: Duration = Duration::from_millis(2);
/// Maximum start time of a gateway on a long history, on a slow disk too.
const PATIENCE: Duration = Duration::from_secs(600);
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A keep-alive connection.
pub(crate) struct Connection {
    stream: TcpStream,
    answer: AnswerBuffer,
}

pub(crate) struct HttpAnswer<'a> {
    pub(crate) status: u16,
    /// Status line and headers, the empty line included.
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [u8],
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            answer: AnswerBuffer::new(),
        })
    }

    /// Sends a request and reads its complete response.
    pub(crate) fn ask(&mut self, request: &[u8]) -> io::Result<HttpAnswer<'_>> {
        self.send(request)?;
        self.receive()
    }

    /// Sends a request without reading the response.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request)
    }

    /// Reads the complete response of the open request; it must have a `Content-Length`.
    pub(crate) fn receive(&mut self) -> io::Result<HttpAnswer<'_>> {
        self.answer.clear();
        let answer = self.answer.receive(&mut self.stream)?;
        answer.ok_or_else(|| ErrorKind::WouldBlock.into())
    }
}

/// The bytes of a response, as they arrive.
pub(crate) struct AnswerBuffer {
    bytes: Vec<u8>,
    filled: usize,
    head: Option<Head>,
}

impl AnswerBuffer {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; BUFFER_BYTES],
            filled: 0,
            head: None,
        }
    }

    /// Begins the next response.
    pub(crate) const fn clear(&mut self) {
        (self.filled, self.head) = (0, None);
    }

    /// Reads until the response is complete; `None` when a non-blocking stream has no more bytes.
    pub(crate) fn receive(
        &mut self,
        stream: &mut impl io::Read,
    ) -> io::Result<Option<HttpAnswer<'_>>> {
        loop {
            match stream.read(&mut self.bytes[self.filled..]) {
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
            if self.head.is_none() {
                self.head = Head::read(&self.bytes[..self.filled])?;
            }
            let end = self.head.map(|head| head.bytes.saturating_add(head.length));
            match end {
                Some(end) if self.filled > end => {
                    return Err(io::Error::other(
                        "an answer is longer than its Content-Length",
                    ));
                }
                Some(end) if self.filled == end => break,
                _ => self.grow(end.unwrap_or(self.filled + 1))?,
            }
        }
        let head = self.head.expect("the response is complete");
        let (before, body) = self.bytes[..self.filled].split_at(head.bytes);
        Ok(Some(HttpAnswer {
            status: head.status,
            head: before,
            body,
        }))
    }

    /// Makes room for this many bytes in all.
    fn grow(&mut self, bytes: usize) -> io::Result<()> {
        if bytes > MAX_ANSWER_BYTES {
            return Err(io::Error::other("an answer is too long"));
        }
        if bytes > self.bytes.len() {
            self.bytes.resize(bytes.next_power_of_two(), 0);
        }
        Ok(())
    }
}

/// The bytes of a `GET`; `more` are whole header lines.
pub(crate) fn get(path: &str, more: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n{more}\r\n").into_bytes()
}

/// Asks a gateway for `path` until the response is a state at `minimum` or later.
pub(crate) fn await_state(
    address: SocketAddr,
    path: &str,
    minimum: Sequence,
) -> Result<(), MeasureError> {
    let request = get(path, &format!("x-min-sequence: {minimum}\r\n"));
    let end = Instant::now() + PATIENCE;
    let asking = || -> io::Result<()> {
        let mut connection = Connection::open(address)?;
        loop {
            match connection.ask(&request)?.status {
                200 => return Ok(()),
                status if Instant::now() > end => {
                    let text = format!("{path} has status {status} for too long");
                    return Err(io::Error::other(text));
                }
                _ => std::thread::park_timeout(PAUSE),
            }
        }
    };
    asking().map_err(MeasureError::io("asking a gateway"))
}

/// Checks that a response is a success with a JSON body.
pub(crate) fn success(answer: io::Result<HttpAnswer<'_>>) -> Result<HttpAnswer<'_>, MeasureError> {
    let answer = answer.map_err(MeasureError::io("waiting for an answer"))?;
    if answer.status == 200 && matches!(answer.body.first(), Some(b'{' | b'[')) {
        return Ok(answer);
    }
    let body = String::from_utf8_lossy(answer.body);
    Err(MeasureError::Wrong(format!("{} {body}", answer.status)))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Head {
    status: u16,
    /// Size of the head, the empty line included.
    bytes: usize,
    /// Size of the body.
    length: usize,
}

impl Head {
    /// The head of a response; `None` until it is complete.
    fn read(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some(end) = bytes
            .windows(END_OF_HEAD.len())
            .position(|window| window == END_OF_HEAD)
        else {
            return Ok(None);
        };
        let malformed = || io::Error::other("a malformed head");
        let text = std::str::from_utf8(&bytes[..end]).map_err(|_| malformed())?;
        let mut lines = text.split("\r\n");
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1)?.parse().ok())
            .ok_or_else(malformed)?;
        let length = lines
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse().ok())
            .ok_or_else(malformed)?;
        Ok(Some(Self {
            status,
            bytes: end + END_OF_HEAD.len(),
            length,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_once_it_is_whole() {
        let answer = b"HTTP/1.1 200 OK\r\nx-epoch: 1\r\nContent-Length: 2\r\n\r\n{}";
        let head = Head {
            status: 200,
            bytes: answer.len() - 2,
            length: 2,
        };
        assert_eq!(Head::read(answer).unwrap(), Some(head));
        assert_eq!(Head::read(&answer[..head.bytes - 1]).unwrap(), None);
        assert!(Head::read(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
