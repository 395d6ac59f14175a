//! Splits a file into records, with one record in memory at a time.
//!
//! By hand, because a bad record must not end a file. `serde_json`'s raw values, streamed or as elements of an array,
//! end at the first error, such as a number `01`, an escape `\x`, a byte that is not UTF-8 or a truncated line. Going on
//! behind it needs this scan anyway. They also hold a record of any length: one of 256 MiB took 270 MB, and none
//! here. They are slower: 118 MB in 100,000 records took 2.3 s, and 1.2 s here.

use std::io::{self, BufRead, Read};

use super::encoding::decoded;
use super::scan::{Scan, ScanStep};
use crate::record::{MAX_RECORD_BYTES, RecordKind, Skip, SkipReason};

/// Most open arrays and wrappers around a record.
const MAX_OPEN: usize = 8;
/// Wrapper fields that contain records, and the kind of the records if the name implies it.
const WRAPPERS: &[(&str, Option<RecordKind>)] = &[
    ("data", None),
    ("value", None),
    ("markets", Some(RecordKind::Market)),
    ("events", Some(RecordKind::Event)),
    ("series", Some(RecordKind::Series)),
    ("tags", Some(RecordKind::Tag)),
];
/// Fields of records that wrappers lack. In an object with one of them, `markets` or `events` are
/// part of the record.
const RECORD_FIELDS: &[&str] = &[
    "id",
    "slug",
    "ticker",
    "title",
    "question",
    "label",
    "conditionId",
    "active",
    "closed",
    "archived",
    "acceptingOrders",
    "approved",
    "createdAt",
    "description",
    "automaticallyActive",
];

/// A raw record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// Its kind, if the name of its array implies it.
    pub kind: Option<RecordKind>,
    /// Its JSON.
    pub json: Vec<u8>,
}

/// An open container around the current position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    /// An array of records.
    Array(Option<RecordKind>),
    /// An object with a field that is an array of records.
    Wrapper,
}

/// Iterator over the records of a file. It fails only when the file cannot be read; a part that is
/// not a record becomes a [`Skip`].
pub struct Records<'r> {
    input: Box<dyn BufRead + 'r>,
    containers: Vec<Container>,
    ended: bool,
}

impl core::fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Records")
            .field("containers", &self.containers)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

/// Result of reading a value.
enum RawValue {
    Whole(Vec<u8>),
    /// The array of records of a wrapper was opened.
    Opened(Option<RecordKind>),
    Bad(SkipReason),
}

impl<'r> Records<'r> {
    /// Opens a file, or a page in memory.
    ///
    /// # Errors
    /// Its first bytes cannot be read or unpacked.
    pub fn open(file: impl Read + 'r) -> io::Result<Self> {
        Ok(Self {
            input: decoded(file)?,
            containers: Vec::new(),
            ended: false,
        })
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    /// Peeks the next byte, skipping white space, commas, byte order marks and record separators.
    fn next_mark(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x1e | 0xef | 0xbb | 0xbf) => {
                    self.input.consume(1);
                }
                other => return Ok(other),
            }
        }
    }

    fn step(&mut self) -> io::Result<Option<Result<RawRecord, Skip>>> {
        loop {
            let Some(mark) = self.next_mark()? else {
                self.ended = true;
                let cut = !std::mem::take(&mut self.containers).is_empty();
                return Ok(cut.then(|| self.skipped(SkipReason::CutOff)));
            };
            let value = match (mark, self.containers.last().copied()) {
                (b']', Some(Container::Array(_))) | (b'}', Some(Container::Wrapper)) => {
                    self.input.consume(1);
                    self.containers.pop();
                    continue;
                }
                (b'"', Some(Container::Wrapper)) => match self.wrapper_field()? {
                    Some(reason) => RawValue::Bad(reason),
                    None => continue,
                },
                (b'[', container) if self.containers.len() < MAX_OPEN => {
                    self.input.consume(1);
                    let kind = match container {
                        Some(Container::Array(kind)) => kind,
                        _ => None,
                    };
                    self.containers.push(Container::Array(kind));
                    continue;
                }
                (b'{' | b'[', container) => self.value(container.is_none())?,
                _ => self.skip_garbage()?,
            };
            match value {
                RawValue::Whole(json) => {
                    let kind = match self.containers.last() {
                        Some(Container::Array(kind)) => *kind,
                        _ => None,
                    };
                    return Ok(Some(Ok(RawRecord { kind, json })));
                }
                RawValue::Opened(kind) => self
                    .containers
                    .extend([Container::Wrapper, Container::Array(kind)]),
                RawValue::Bad(reason) => return Ok(Some(self.skipped(reason))),
            }
        }
    }

    fn skipped(&self, reason: SkipReason) -> Result<RawRecord, Skip> {
        let kind = match self.containers.last() {
            Some(Container::Array(kind)) => *kind,
            _ => None,
        };
        Err(Skip {
            kind,
            id: String::new(),
            reason,
        })
    }

    /// Reads one object or array to its end. If a top-level object is a wrapper, opens its array
    /// instead.
    fn value(&mut self, alone: bool) -> io::Result<RawValue> {
        let mut reader = ValueReader::new(alone);
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                // The end of the file closes all containers; report it once.
                self.containers.clear();
                return Ok(RawValue::Bad(SkipReason::CutOff));
            }
            let (used, outcome) = reader.take(chunk);
            self.input.consume(used);
            if let Some(value) = outcome {
                return Ok(value);
            }
        }
    }

    /// Skips a field of a wrapper, or opens it if it is another array of records.
    fn wrapper_field(&mut self) -> io::Result<Option<SkipReason>> {
        let Some(key) = self.text()? else {
            return Ok(Some(SkipReason::NotJson("a broken field name".to_owned())));
        };
        while matches!(self.peek()?, Some(b' ' | b'\t' | b'\r' | b'\n' | b':')) {
            self.input.consume(1);
        }
        let records = WRAPPERS.iter().find(|(name, _)| name.as_bytes() == key);
        match (self.peek()?, records) {
            (Some(b'['), Some((_, kind))) => {
                self.input.consume(1);
                self.containers.push(Container::Array(*kind));
                Ok(None)
            }
            (Some(b'{' | b'['), _) => Ok(match self.value(false)? {
                RawValue::Bad(reason) => Some(reason),
                _ => None,
            }),
            (Some(b'"'), _) => Ok(match self.text()? {
                Some(_) => None,
                None => Some(SkipReason::NotJson("a broken text".to_owned())),
            }),
            _ => {
                while !matches!(self.peek()?, None | Some(b',' | b'}' | b']' | b'\n')) {
                    self.input.consume(1);
                }
                Ok(None)
            }
        }
    }

    /// Reads a text between its quotes; `None` when it is broken or longer than a record.
    fn text(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut scan = Scan::default();
        let mut text = Vec::new();
        while let Some(byte) = self.peek()? {
            self.input.consume(1);
            if scan.step(byte) == ScanStep::Broken || text.len() > MAX_RECORD_BYTES {
                return Ok(None);
            }
            text.push(byte);
            if text.len() > 1 && !scan.in_text() {
                text.pop();
                text.remove(0);
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Skips bytes that start no object: to the next element of an array, else to the end of the
    /// line.
    fn skip_garbage(&mut self) -> io::Result<RawValue> {
        let in_array = matches!(self.containers.last(), Some(Container::Array(_)));
        if in_array && self.peek()? == Some(b'"') {
            self.text()?;
            return Ok(RawValue::Bad(SkipReason::NotAnObject));
        }
        let ends = |byte: &u8| *byte == b'\n' || (in_array && matches!(byte, b',' | b']'));
        let mut shown = Vec::new();
        loop {
            let chunk = self.input.fill_buf()?;
            let end = chunk.iter().position(ends);
            let used = end.unwrap_or(chunk.len());
            let room = 48_usize.saturating_sub(shown.len());
            shown.extend_from_slice(&chunk[..used.min(room)]);
            let done = end.is_some() || chunk.is_empty();
            self.input.consume(used);
            if done {
                let shown = String::from_utf8_lossy(&shown).escape_debug().to_string();
                return Ok(RawValue::Bad(SkipReason::NotJson(format!("\"{shown}\""))));
            }
        }
    }
}

/// A value during reading.
struct ValueReader {
    scan: Scan,
    json: Vec<u8>,
    too_long: bool,
    /// `Some` while the value may still be a wrapper.
    keys: Option<Keys>,
    line_began: bool,
    alone: bool,
}

/// Field names of an object that may be a wrapper.
#[derive(Default)]
struct Keys {
    key: Vec<u8>,
    in_key: bool,
    after_colon: bool,
}

impl ValueReader {
    fn new(alone: bool) -> Self {
        Self {
            scan: Scan::default(),
            json: Vec::new(),
            too_long: false,
            keys: alone.then(Keys::default),
            line_began: false,
            alone,
        }
    }

    /// Consumes bytes until the value ends; returns the number of used bytes.
    fn take(&mut self, chunk: &[u8]) -> (usize, Option<RawValue>) {
        for (at, byte) in chunk.iter().copied().enumerate() {
            // In JSON lines, a truncated line must not swallow the following lines.
            if self.alone && self.line_began && byte == b'{' && self.scan.depth() > 0 {
                return (at, Some(RawValue::Bad(SkipReason::CutOff)));
            }
            self.line_began = byte == b'\n';
            if let Some(kind) = self.wrapped(byte) {
                return (at + 1, Some(RawValue::Opened(kind)));
            }
            let step = self.scan.step(byte);
            if step == ScanStep::Broken {
                let problem = "a line ends inside a text".to_owned();
                return (at + 1, Some(RawValue::Bad(SkipReason::NotJson(problem))));
            }
            self.too_long |= self.json.len() == MAX_RECORD_BYTES;
            if !self.too_long {
                self.json.push(byte);
            }
            if step == ScanStep::End {
                let json = std::mem::take(&mut self.json);
                let value = if self.too_long {
                    RawValue::Bad(SkipReason::TooLong)
                } else {
                    RawValue::Whole(json)
                };
                return (at + 1, Some(value));
            }
        }
        (chunk.len(), None)
    }

    /// Tracks the fields of the outermost object; `Some` when `byte` opens the array of a wrapper.
    fn wrapped(&mut self, byte: u8) -> Option<Option<RecordKind>> {
        let keys = self.keys.as_mut()?;
        if self.scan.depth() != 1 {
            return None;
        }
        match (byte, self.scan.in_text()) {
            (b'"', false) if !keys.after_colon => {
                keys.in_key = true;
                keys.key.clear();
            }
            (b'"', true) => keys.in_key = false,
            (_, true) if keys.in_key && keys.key.len() < 64 => keys.key.push(byte),
            (b':', false) => {
                keys.after_colon = true;
                if RECORD_FIELDS.iter().any(|name| name.as_bytes() == keys.key) {
                    self.keys = None;
                }
            }
            (b',', false) => keys.after_colon = false,
            (b'[', false) if keys.after_colon => {
                let found = WRAPPERS
                    .iter()
                    .find(|(name, _)| name.as_bytes() == keys.key);
                return found.map(|(_, kind)| *kind);
            }
            _ => {}
        }
        None
    }
}

impl Iterator for Records<'_> {
    type Item = io::Result<Result<RawRecord, Skip>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.step() {
            Ok(record) => record.map(Ok),
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}
