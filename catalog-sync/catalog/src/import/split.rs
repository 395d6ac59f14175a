//! The records of a file, one after another, without holding more than one of them.

use std::io::{self, BufRead, Read};

use super::encoding::decoded;
use super::scan::{Scan, Step};
use crate::record::{Kind, MAX_RECORD_BYTES, Skip, SkipReason};

/// Arrays and wrappers that may be open around a record.
const MAX_OPEN: usize = 8;
/// Fields that wrap records, and what they hold as far as their name says.
const WRAPPERS: &[(&str, Option<Kind>)] = &[
    ("data", None),
    ("value", None),
    ("markets", Some(Kind::Market)),
    ("events", Some(Kind::Event)),
    ("series", Some(Kind::Series)),
    ("tags", Some(Kind::Tag)),
];
/// Fields that a record has and a wrapper has not: after one of these, `markets` or `events` are
/// part of a record.
const OF_RECORDS: &[&str] = &[
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

/// A record as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// What it is, when the name of the array it stands in says so.
    pub kind: Option<Kind>,
    /// Its JSON.
    pub json: Vec<u8>,
}

/// What stands open around the place that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// An array of records.
    Array(Option<Kind>),
    /// An object, of which a field is an array of records.
    Wrapper,
}

/// The records of a file: an iterator that fails only when the file itself cannot be read. A part
/// that is no record comes as a [`Skip`], in its place.
pub struct Records<'r> {
    input: Box<dyn BufRead + 'r>,
    around: Vec<Around>,
    ended: bool,
}

impl core::fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Records")
            .field("around", &self.around)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

/// What reading a value from the input came to.
enum Value {
    Whole(Vec<u8>),
    /// The field of a wrapper that holds records, opened.
    Opened(Option<Kind>),
    Bad(SkipReason),
}

impl<'r> Records<'r> {
    /// Opens a file, or a page that is in memory.
    ///
    /// # Errors
    /// Its first bytes cannot be read or unpacked.
    pub fn open(file: impl Read + 'r) -> io::Result<Self> {
        Ok(Self {
            input: decoded(file)?,
            around: Vec::new(),
            ended: false,
        })
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    /// The next byte that is neither white space, a comma, nor a mark of order or of records.
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
                let cut = !std::mem::take(&mut self.around).is_empty();
                return Ok(cut.then(|| self.skipped(SkipReason::CutOff)));
            };
            let value = match (mark, self.around.last().copied()) {
                (b']', Some(Around::Array(_))) | (b'}', Some(Around::Wrapper)) => {
                    self.input.consume(1);
                    self.around.pop();
                    continue;
                }
                (b'"', Some(Around::Wrapper)) => match self.wrapper_field()? {
                    Some(reason) => Value::Bad(reason),
                    None => continue,
                },
                (b'[', around) if self.around.len() < MAX_OPEN => {
                    self.input.consume(1);
                    let kind = match around {
                        Some(Around::Array(kind)) => kind,
                        _ => None,
                    };
                    self.around.push(Around::Array(kind));
                    continue;
                }
                (b'{' | b'[', around) => self.value(around.is_none())?,
                _ => self.junk()?,
            };
            match value {
                Value::Whole(json) => {
                    let kind = match self.around.last() {
                        Some(Around::Array(kind)) => *kind,
                        _ => None,
                    };
                    return Ok(Some(Ok(RawRecord { kind, json })));
                }
                Value::Opened(kind) => self.around.extend([Around::Wrapper, Around::Array(kind)]),
                Value::Bad(reason) => return Ok(Some(self.skipped(reason))),
            }
        }
    }

    fn skipped(&self, reason: SkipReason) -> Result<RawRecord, Skip> {
        let kind = match self.around.last() {
            Some(Around::Array(kind)) => *kind,
            _ => None,
        };
        Err(Skip {
            kind,
            id: String::new(),
            reason,
        })
    }

    /// Reads one object or array to its end. One that stands alone may turn out to be a wrapper:
    /// then its array is opened instead.
    fn value(&mut self, alone: bool) -> io::Result<Value> {
        let mut reading = Reading::new(alone);
        loop {
            let chunk = self.input.fill_buf()?;
            if chunk.is_empty() {
                // Everything that was open ends with the file, and is told of once.
                self.around.clear();
                return Ok(Value::Bad(SkipReason::CutOff));
            }
            let (used, outcome) = reading.take(chunk);
            self.input.consume(used);
            if let Some(value) = outcome {
                return Ok(value);
            }
        }
    }

    /// Passes over a field of a wrapper beside its records, or opens another array of records.
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
                self.around.push(Around::Array(*kind));
                Ok(None)
            }
            (Some(b'{' | b'['), _) => Ok(match self.value(false)? {
                Value::Bad(reason) => Some(reason),
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

    /// Reads a text from its quote to its quote; `None` when it is broken or as long as no name is.
    fn text(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut scan = Scan::default();
        let mut text = Vec::new();
        while let Some(byte) = self.peek()? {
            self.input.consume(1);
            if scan.step(byte) == Step::Broken || text.len() > MAX_RECORD_BYTES {
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

    /// Passes over what begins no object: to the next element of an array, else to the end of the
    /// line.
    fn junk(&mut self) -> io::Result<Value> {
        let in_array = matches!(self.around.last(), Some(Around::Array(_)));
        if in_array && self.peek()? == Some(b'"') {
            self.text()?;
            return Ok(Value::Bad(SkipReason::NotAnObject));
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
                return Ok(Value::Bad(SkipReason::NotJson(format!("\"{shown}\""))));
            }
        }
    }
}

/// A value that is being read.
struct Reading {
    scan: Scan,
    json: Vec<u8>,
    too_long: bool,
    /// Whether it may still be a wrapper.
    keys: Option<Keys>,
    line_began: bool,
    alone: bool,
}

/// The fields of an object that may be a wrapper.
#[derive(Default)]
struct Keys {
    key: Vec<u8>,
    in_key: bool,
    after_colon: bool,
}

impl Reading {
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

    /// Takes bytes until the value ends; says how many it used.
    fn take(&mut self, chunk: &[u8]) -> (usize, Option<Value>) {
        for (at, byte) in chunk.iter().copied().enumerate() {
            // Of JSON lines, one that is cut off must not take the others with it.
            if self.alone && self.line_began && byte == b'{' && self.scan.depth() > 0 {
                return (at, Some(Value::Bad(SkipReason::CutOff)));
            }
            self.line_began = byte == b'\n';
            if let Some(kind) = self.wrapped(byte) {
                return (at + 1, Some(Value::Opened(kind)));
            }
            let step = self.scan.step(byte);
            if step == Step::Broken {
                let problem = "a line ends inside a text".to_owned();
                return (at + 1, Some(Value::Bad(SkipReason::NotJson(problem))));
            }
            self.too_long |= self.json.len() == MAX_RECORD_BYTES;
            if !self.too_long {
                self.json.push(byte);
            }
            if step == Step::End {
                let json = std::mem::take(&mut self.json);
                let value = if self.too_long {
                    Value::Bad(SkipReason::TooLong)
                } else {
                    Value::Whole(json)
                };
                return (at + 1, Some(value));
            }
        }
        (chunk.len(), None)
    }

    /// Follows the fields of the outermost object; `Some` when `byte` opens the array of a wrapper.
    fn wrapped(&mut self, byte: u8) -> Option<Option<Kind>> {
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
                if OF_RECORDS.iter().any(|name| name.as_bytes() == keys.key) {
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
