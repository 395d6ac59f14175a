//! A WebSocket connection that reads as few bytes as the test wants, and may stop anywhere.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::exchange::PATIENCE;

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;
/// Key and answer of the handshake in RFC 6455, section 1.3.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The server sent a close frame with a code and a reason.
    Close(u16, String),
    /// The connection broke.
    Broken,
}

/// One connection to a channel.
pub struct Connection {
    link: TcpStream,
    /// Bytes that are not part of a returned frame yet.
    unread: Vec<u8>,
    /// Bytes that may still be read before the cut; `None` without a cut.
    allowed: Option<usize>,
    /// The rest of an array of messages.
    array: VecDeque<Value>,
}

impl Connection {
    /// Connects to `channel` (`market` or `user`) of a trading surface.
    ///
    /// # Errors
    /// The gateway is not there or did not upgrade the connection.
    pub async fn open(base: &str, channel: &str) -> std::io::Result<Self> {
        Self::open_from(1, base, channel).await
    }

    /// As [`Self::open`] from 127.0.0.`client`: every address is another client.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_from(client: u8, base: &str, channel: &str) -> std::io::Result<Self> {
        let host = base.trim_start_matches("http://");
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::new(127, 0, 0, client), 0).into())?;
        let address = host.parse().map_err(std::io::Error::other)?;
        let mut link = socket.connect(address).await?;
        let request = format!(
            "GET /ws/{channel} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
        );
        link.write_all(request.as_bytes()).await?;
        let mut connection = Self {
            link,
            unread: Vec::new(),
            allowed: None,
            array: VecDeque::new(),
        };
        let head = loop {
            if let Some(end) = find(&connection.unread, b"\r\n\r\n") {
                break connection.unread.drain(..end + 4).collect::<Vec<_>>();
            }
            if connection.read().await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        };
        let head = String::from_utf8_lossy(&head).into_owned();
        if head.starts_with("HTTP/1.1 101") && head.contains(ACCEPT) {
            Ok(connection)
        } else {
            Err(std::io::Error::other(head))
        }
    }

    /// Connects and subscribes; tries again while the gateway restarts.
    ///
    /// # Panics
    /// The subscription cannot be sent.
    pub async fn subscribe(base: &str, channel: &str, subscription: &Value) -> Self {
        let opened = async {
            loop {
                if let Ok(mut connection) = Self::open(base, channel).await
                    && connection.send(subscription).await.is_ok()
                {
                    return connection;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, opened).await.expect("an upgrade")
    }

    /// Stops reading after so many further bytes, as a broken connection does.
    pub fn cut_after(&mut self, bytes: usize) {
        self.allowed = Some(bytes);
    }

    /// Sends a JSON message.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn send(&mut self, message: &Value) -> std::io::Result<()> {
        self.send_frame(0x1, message.to_string().as_bytes()).await
    }

    /// Sends one whole frame, masked with zeros.
    ///
    /// # Errors
    /// The connection is broken.
    pub async fn send_frame(&mut self, opcode: u8, payload: &[u8]) -> std::io::Result<()> {
        let mut frame = vec![0x80 | opcode];
        match u16::try_from(payload.len()) {
            Ok(length) if length < 126 => frame.push(0x80 | u8::try_from(length).unwrap_or(0)),
            Ok(length) => {
                frame.push(0x80 | 126);
                frame.extend(length.to_be_bytes());
            }
            Err(_) => {
                frame.push(0x80 | 127);
                frame.extend((payload.len() as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(payload);
        self.link.write_all(&frame).await
    }

    /// The next message, also of an array; pings are answered on the way.
    ///
    /// # Errors
    /// The connection ended.
    ///
    /// # Panics
    /// Nothing came in time, or a frame that a server must not send.
    pub async fn next(&mut self) -> Result<Value, End> {
        loop {
            if let Some(message) = self.array.pop_front() {
                return Ok(message);
            }
            let (opcode, payload) = self.frame().await?;
            match opcode {
                0x1 => {
                    let text = String::from_utf8(payload).expect("UTF-8");
                    if text == "PONG" {
                        return Ok(json!(text));
                    }
                    match serde_json::from_str(&text).expect("JSON") {
                        Value::Array(messages) => self.array.extend(messages),
                        message => return Ok(message),
                    }
                }
                0x9 => self
                    .send_frame(0xA, &payload)
                    .await
                    .map_err(|_| End::Broken)?,
                0x8 => {
                    let code = payload
                        .first_chunk()
                        .map_or(1005, |code| u16::from_be_bytes(*code));
                    let reason = payload.get(2..).unwrap_or_default();
                    return Err(End::Close(
                        code,
                        String::from_utf8_lossy(reason).into_owned(),
                    ));
                }
                other => assert_eq!(other, 0xA, "an opcode"),
            }
        }
    }

    /// Reads on until a message holds; returns all messages read, the one that holds last.
    ///
    /// # Panics
    /// The connection ended before.
    pub async fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut read = Vec::new();
        loop {
            match self.next().await {
                Ok(message) => read.push(message),
                Err(end) => panic!("{end:?} after {read:#?}"),
            }
            if read.last().is_some_and(&holds) {
                return read;
            }
        }
    }

    /// Reads on to a message of a type.
    ///
    /// # Panics
    /// The connection ended before.
    pub async fn until_type(&mut self, event_type: &str) -> Vec<Value> {
        self.until(|message| message["event_type"] == event_type)
            .await
    }

    async fn frame(&mut self) -> Result<(u8, Vec<u8>), End> {
        loop {
            if let Some((opcode, header, length)) = header(&self.unread)
                && self.unread.len() >= header + length
            {
                let frame: Vec<u8> = self.unread.drain(..header + length).collect();
                return Ok((opcode, frame[header..].to_vec()));
            }
            match timeout(PATIENCE, self.read()).await.expect("a message") {
                Ok(0) | Err(_) => return Err(End::Broken),
                Ok(_) => {}
            }
        }
    }

    async fn read(&mut self) -> std::io::Result<usize> {
        let room = self.allowed.unwrap_or(READ_BYTES).min(READ_BYTES);
        let mut bytes = vec![0; room];
        let count = self.link.read(&mut bytes).await?;
        self.unread.extend(&bytes[..count]);
        if let Some(allowed) = &mut self.allowed {
            *allowed -= count;
        }
        Ok(count)
    }
}

/// Opcode, bytes of the header and bytes of the payload of the first frame, once its header is there.
fn header(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let (&first, &second) = (bytes.first()?, bytes.get(1)?);
    assert_eq!(first & 0xF0, 0x80, "a whole frame without extensions");
    assert_eq!(second & 0x80, 0, "a frame of a server is not masked");
    let (header, length) = match second {
        126 => (
            4,
            u64::from(u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?)),
        ),
        127 => (10, u64::from_be_bytes(*bytes.get(2..)?.first_chunk()?)),
        short => (2, u64::from(short)),
    };
    Some((
        first & 0x0F,
        header,
        usize::try_from(length).expect("a length"),
    ))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}
