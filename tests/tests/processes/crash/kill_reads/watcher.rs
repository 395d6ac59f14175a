//! A reader of books in a loop, over kept connections: each belongs to one gateway and breaks with
//! it.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use foretell_model::TokenId;
use foretell_tests::exchange::PATIENCE;
use serde_json::Value;

use crate::crash::kill_reads::naive::Levels;

/// A book observed at a gateway.
pub(crate) struct Seen {
    pub(crate) sequence: u64,
    pub(crate) token: TokenId,
    pub(crate) levels: Levels,
}

/// A reader on a thread of its own.
pub(crate) struct Watcher {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Seen>>,
}

impl Watcher {
    /// Reads the books of `tokens`, each with its API id, at `address`.
    pub(crate) fn start(address: &str, tokens: Vec<(TokenId, String)>) -> Self {
        let (address, stop) = (address.to_owned(), Arc::new(AtomicBool::new(false)));
        let stopping = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = Vec::new();
            while !stopping.load(Ordering::Relaxed) {
                // A killed gateway ends the connection; the next one may be to another gateway.
                let _ = watch(&address, &tokens, &stopping, &mut seen);
            }
            seen
        });
        Self { stop, thread }
    }

    /// All observed books.
    pub(crate) fn end(self) -> Vec<Seen> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("sequences never went back")
    }
}

/// Reads over one connection. The sequence of one gateway never goes back.
fn watch(
    address: &str,
    tokens: &[(TokenId, String)],
    stop: &AtomicBool,
    seen: &mut Vec<Seen>,
) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut newest = 0;
    for (token, text) in tokens.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        write!(
            stream,
            "GET /book?token_id={text} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )?;
        let (head, body) = answer(&mut stream)?;
        // The gateway may not be ready.
        if !head.starts_with("http/1.1 200") {
            continue;
        }
        let sequence = number(&head, "x-sequence");
        assert!(sequence >= newest, "{sequence} after {newest}");
        newest = sequence;
        let book: Value = serde_json::from_slice(&body)?;
        seen.push(Seen {
            sequence,
            token: *token,
            levels: [levels(&book["bids"]), levels(&book["asks"])],
        });
    }
    Ok(())
}

/// Head in lower case, and body.
fn answer(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head)
        .expect("a head is text")
        .to_lowercase();
    let length = usize::try_from(number(&head, "content-length")).expect("a short body");
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((head, body))
}

fn number(head: &str, name: &str) -> u64 {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let mut value = lines
        .filter(|(field, _)| *field == name)
        .map(|(_, value)| value);
    value
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("{name} in {head}"))
}

fn levels(side: &Value) -> std::collections::BTreeMap<u16, u64> {
    let scaled = |value: &Value, decimals: u32| {
        let text = value.as_str().expect("a decimal");
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let part = format!("{part:0<width$}", width = decimals as usize);
        let number = format!("{whole}{part}").parse::<u64>();
        number.unwrap_or_else(|_| panic!("{text} has more than {decimals} decimals"))
    };
    let levels = side.as_array().expect("levels").iter();
    let levels = levels.map(|level| {
        let price = u16::try_from(scaled(&level["price"], 4)).expect("a price");
        (price, scaled(&level["size"], 2))
    });
    levels.collect()
}
