//! Many clients of a stream on one thread: they count messages, answer pings, and may note when each
//! message arrived.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream as StdStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use super::threads::joined;
use crate::error::MeasureError;

/// Longest wait for a delivery: far above every round.
const PATIENCE: Duration = Duration::from_secs(120);
/// Interval of looks at what was delivered, and at the end of the thread.
const PAUSE: Duration = Duration::from_millis(1);
const READ_BYTES: usize = 64 * 1024;
/// Receive buffer of a client that does not read.
const STALLED_BUFFER: usize = 4 * 1024;
/// A pong without a payload, masked with zeros.
const PONG: [u8; 6] = [0x8A, 0x80, 0, 0, 0, 0];

/// How a client begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Greeting<'a> {
    /// An upgrade, and this first message, if it is not empty.
    WebSocket(&'a str),
    /// Nothing: the server sends frames at once.
    Plain,
}

/// What a set of clients records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Record {
    /// The texts of the first client.
    Texts,
    /// When each message arrived, at every client.
    Arrivals,
}

/// Records of a set of clients.
#[derive(Default, Debug)]
pub(crate) struct Records {
    pub(crate) texts: Vec<Bytes>,
    /// Number of the message on its connection, and when it arrived.
    pub(crate) arrivals: Vec<(usize, Instant)>,
}

/// Clients that read all they get.
pub(crate) struct StreamClients {
    delivered: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Records>>,
}

impl StreamClients {
    /// Connects `count` clients.
    pub(crate) fn open(
        address: SocketAddr,
        count: usize,
        greeting: Greeting<'_>,
        record: Record,
    ) -> Result<Self, MeasureError> {
        let connected: io::Result<Vec<StdStream>> =
            (0..count).map(|_| connect(address, greeting)).collect();
        let connected = connected.map_err(MeasureError::io("connecting stream clients"))?;
        let (delivered, stop) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let shared = (Arc::clone(&delivered), Arc::clone(&stop));
        let (ready, started) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("stream-clients".to_owned())
            .spawn(move || {
                // The receiver waits below.
                let _ = ready.send(());
                read_all(connected, record, &shared.0, &shared.1)
            })
            .map_err(MeasureError::io("starting stream clients"))?;
        started.recv().map_err(MeasureError::wrong)?;
        Ok(Self {
            delivered,
            stop,
            thread,
        })
    }

    /// Messages that all clients got so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Acquire)
    }

    /// Waits until all clients got this number of messages.
    pub(crate) fn wait(&self, messages: u64) -> Result<(), MeasureError> {
        let begun = Instant::now();
        while self.delivered() < messages {
            if self.thread.is_finished() || begun.elapsed() > PATIENCE {
                let delivered = self.delivered();
                return Err(MeasureError::Wrong(format!(
                    "stream clients got {delivered} of {messages} messages"
                )));
            }
            std::thread::park_timeout(PAUSE);
        }
        Ok(())
    }

    /// Disconnects the clients.
    pub(crate) fn close(self) -> Result<Records, MeasureError> {
        self.stop.store(true, Ordering::Release);
        let read = joined("a client of the stream", self.thread.join())?;
        read.map_err(MeasureError::io("reading a stream"))
    }
}

/// Connects clients that never read.
pub(crate) fn stalled(
    address: SocketAddr,
    count: usize,
    subscription: &str,
) -> Result<Vec<StdStream>, MeasureError> {
    let connected = (0..count).map(|_| {
        let stream = connect(address, Greeting::WebSocket(subscription))?;
        rustix::net::sockopt::set_socket_recv_buffer_size(&stream, STALLED_BUFFER)?;
        Ok(stream)
    });
    let connected: io::Result<Vec<_>> = connected.collect();
    connected.map_err(MeasureError::io("connecting stalled clients"))
}

fn connect(address: SocketAddr, greeting: Greeting<'_>) -> io::Result<StdStream> {
    let mut stream = StdStream::connect(address)?;
    stream.set_nodelay(true)?;
    if let Greeting::WebSocket(subscription) = greeting {
        let request = format!(
            "GET /ws/market HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        // The server sends nothing after the head before it is asked to.
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte)?;
            head.extend(byte);
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            return Err(io::Error::other(
                String::from_utf8_lossy(&head).into_owned(),
            ));
        }
        if !subscription.is_empty() {
            stream.write_all(&masked(subscription.as_bytes()))?;
        }
    }
    Ok(stream)
}

/// A text frame of a client, masked with zeros.
fn masked(payload: &[u8]) -> Vec<u8> {
    let mut frame = head(payload.len());
    frame[1] |= 0x80;
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

/// A text frame of a server.
pub(crate) fn text_frame(payload: &[u8]) -> Bytes {
    let mut frame = head(payload.len());
    frame.extend(payload);
    frame.into()
}

fn head(length: usize) -> Vec<u8> {
    match u16::try_from(length) {
        Ok(short) if short < 126 => vec![0x81, short.to_be_bytes()[1]],
        Ok(medium) => {
            let [high, low] = medium.to_be_bytes();
            vec![0x81, 126, high, low]
        }
        Err(_) => {
            let mut head = vec![0x81, 127];
            head.extend((length as u64).to_be_bytes());
            head
        }
    }
}

/// One client: the part of a frame that it has not read yet.
struct Client {
    stream: TcpStream,
    head: Vec<u8>,
    /// Opcode and bytes left of the frame whose head was read.
    payload: Option<(u8, usize)>,
    text: Vec<u8>,
    messages: usize,
}

impl Client {
    /// Consumes bytes; calls `message` with the number and, if `keep`, the text of each message.
    fn consume(
        &mut self,
        mut bytes: &[u8],
        keep: bool,
        mut message: impl FnMut(usize, &[u8]),
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            let Some((opcode, left)) = self.payload else {
                self.head.push(bytes[0]);
                bytes = &bytes[1..];
                self.payload = payload(&self.head);
                if self.payload.is_some() {
                    self.head.clear();
                    self.end(keep, &mut message)?;
                }
                continue;
            };
            let (part, rest) = bytes.split_at(left.min(bytes.len()));
            if keep {
                self.text.extend(part);
            }
            bytes = rest;
            self.payload = Some((opcode, left - part.len()));
            self.end(keep, &mut message)?;
        }
        Ok(())
    }

    /// Ends a frame that is complete.
    fn end(&mut self, keep: bool, message: &mut impl FnMut(usize, &[u8])) -> io::Result<()> {
        match self.payload {
            Some((0x1, 0)) => {
                message(self.messages, &self.text);
                self.messages += 1;
            }
            Some((0x9, 0)) => self.stream.write_all(&PONG)?,
            Some((0x8, 0)) => return Err(io::Error::other("the server closed a stream")),
            _ => return Ok(()),
        }
        if keep {
            self.text.clear();
        }
        self.payload = None;
        Ok(())
    }
}

/// Opcode and length of a frame of a server, once its head is complete.
fn payload(head: &[u8]) -> Option<(u8, usize)> {
    let (&first, &second) = (head.first()?, head.get(1)?);
    let length = match second {
        126 => u64::from(u16::from_be_bytes(*head.get(2..)?.first_chunk()?)),
        127 => u64::from_be_bytes(*head.get(2..)?.first_chunk()?),
        short => u64::from(short),
    };
    Some((first & 0x0F, usize::try_from(length).unwrap_or(usize::MAX)))
}

fn read_all(
    connected: Vec<StdStream>,
    record: Record,
    delivered: &AtomicU64,
    stop: &AtomicBool,
) -> io::Result<Records> {
    let mut poll = Poll::new()?;
    let mut clients = Vec::with_capacity(connected.len());
    for (number, stream) in connected.into_iter().enumerate() {
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let registry = poll.registry();
        registry.register(&mut stream, Token(number), Interest::READABLE)?;
        clients.push(Client {
            stream,
            head: Vec::new(),
            payload: None,
            text: Vec::new(),
            messages: 0,
        });
    }
    let (mut events, mut buffer) = (Events::with_capacity(1_024), vec![0; READ_BYTES]);
    let mut records = Records::default();
    while !stop.load(Ordering::Acquire) {
        poll.poll(&mut events, Some(Duration::from_millis(20)))?;
        for event in &events {
            let Token(number) = event.token();
            let keep = record == Record::Texts && number == 0;
            let client = &mut clients[number];
            let mut count = 0;
            loop {
                let read = match client.stream.read(&mut buffer) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                };
                client.consume(&buffer[..read], keep, |index, text| {
                    count += 1;
                    if keep {
                        records.texts.push(Bytes::copy_from_slice(text));
                    }
                    if record == Record::Arrivals {
                        records.arrivals.push((index, Instant::now()));
                    }
                })?;
            }
            delivered.fetch_add(count, Ordering::AcqRel);
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_counted_wherever_the_bytes_are_cut() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let stream = StdStream::connect(listener.local_addr().unwrap()).unwrap();
        let texts = [
            "",
            "a",
            &"b".repeat(125),
            &"c".repeat(126),
            &"d".repeat(70_000),
        ];
        let bytes: Vec<u8> = texts
            .iter()
            .flat_map(|text| text_frame(text.as_bytes()))
            .collect();
        for size in [1, 2, 3, 1_000, bytes.len()] {
            let mut client = Client {
                stream: TcpStream::from_std(stream.try_clone().unwrap()),
                head: Vec::new(),
                payload: None,
                text: Vec::new(),
                messages: 0,
            };
            let mut read = Vec::new();
            for part in bytes.chunks(size) {
                let note = |number, text: &[u8]| read.push((number, text.to_vec()));
                client.consume(part, true, note).unwrap();
            }
            let expected: Vec<_> = texts
                .iter()
                .map(|text| text.as_bytes().to_vec())
                .enumerate()
                .collect();
            assert_eq!(read, expected);
        }
    }
}
