//! Decompression and decoding of input files to UTF-8.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const UTF16_LITTLE: &[u8] = &[0xff, 0xfe];
const UTF16_BIG: &[u8] = &[0xfe, 0xff];

/// A file as UTF-8: decompressed if it starts like gzip or zstd, then decoded if it starts with a
/// UTF-16 byte order mark. The splitter skips UTF-8 marks, because concatenated files have several.
pub(super) fn decoded<'r>(file: impl Read + 'r) -> io::Result<Box<dyn BufRead + 'r>> {
    let (start, file) = peeked(file)?;
    let unpacked: Box<dyn Read + 'r> = if start.starts_with(GZIP) {
        Box::new(MultiGzDecoder::new(file))
    } else if start.starts_with(ZSTD) || is_skippable(&start) {
        Box::new(ZstdFrames {
            file,
            frame: FrameDecoder::new(),
        })
    } else {
        Box::new(file)
    };
    let (start, text) = peeked(unpacked)?;
    if start.starts_with(UTF16_LITTLE) {
        Ok(Box::new(BufReader::new(Utf16::new(
            text,
            u16::from_le_bytes,
        ))))
    } else if start.starts_with(UTF16_BIG) {
        Ok(Box::new(BufReader::new(Utf16::new(
            text,
            u16::from_be_bytes,
        ))))
    } else {
        Ok(Box::new(text))
    }
}

/// Whether a zstd frame begins that holds no content, as some writers put before the others.
fn is_skippable(start: &[u8]) -> bool {
    matches!(start, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

/// A reader with its first bytes put back.
type Peeked<R> = BufReader<io::Chain<Cursor<Vec<u8>>, R>>;

/// The first four bytes, and a reader that still returns them.
fn peeked<R: Read>(mut file: R) -> io::Result<(Vec<u8>, Peeked<R>)> {
    let mut start = Vec::with_capacity(4);
    file.by_ref().take(4).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(file);
    Ok((start, BufReader::with_capacity(64 * 1024, whole)))
}

/// Unpacks zstd frames put end to end; skippable frames are left out.
struct ZstdFrames<R> {
    file: R,
    frame: FrameDecoder,
}

impl<R: BufRead> ZstdFrames<R> {
    /// Ends a frame and begins the next one; false at the end of the file.
    fn next_frame(&mut self) -> io::Result<bool> {
        if let Some(checksum) = self.frame.get_checksum_from_data()
            && Some(checksum) != self.frame.get_calculated_checksum()
        {
            return Err(io::Error::other("a zstd frame has another checksum"));
        }
        if self.file.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.frame.init(&mut self.file) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let mut skipped = self.file.by_ref().take(length.into());
                io::copy(&mut skipped, &mut io::sink())?;
            }
            begun => begun.map_err(io::Error::other)?,
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.frame.can_collect() > 0 {
                return self.frame.read(buffer);
            }
            if self.frame.is_finished() {
                if !self.next_frame()? {
                    return Ok(0);
                }
            } else {
                let some = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.frame.decode_blocks(&mut self.file, some);
                decoded.map_err(io::Error::other)?;
            }
        }
    }
}

/// Converts UTF-16 to UTF-8, without the byte order mark; invalid units become U+FFFD.
struct Utf16<R> {
    inner: R,
    order: fn([u8; 2]) -> u16,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    /// Decoded UTF-8 that the reader has not taken yet.
    ready: Vec<u8>,
    at: usize,
}

impl<R: BufRead> Utf16<R> {
    const fn new(inner: R, order: fn([u8; 2]) -> u16) -> Self {
        Self {
            inner,
            order,
            high: None,
            ready: Vec::new(),
            at: 0,
        }
    }

    /// Decodes the next few thousand units.
    fn refill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.at = 0;
        let mut bytes = Vec::new();
        self.inner.by_ref().take(8 * 1024).read_to_end(&mut bytes)?;
        let mut pairs = bytes.chunks_exact(2);
        let units = pairs.by_ref().map(|pair| (self.order)([pair[0], pair[1]]));
        let units = self.high.take().into_iter().chain(units);
        let mut text = String::new();
        let mut units: Vec<u16> = units.collect();
        let full = bytes.len() == 8 * 1024;
        if full
            && let Some(last) = units.last()
            && (0xd800..0xdc00).contains(last)
        {
            self.high = units.pop();
        }
        for character in char::decode_utf16(units) {
            match character {
                Ok('\u{feff}') => {}
                Ok(character) => text.push(character),
                Err(_) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        if !pairs.remainder().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        self.ready = text.into_bytes();
        Ok(())
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            self.refill()?;
            // A refill that only read byte order marks is not the end.
            while self.ready.is_empty() && !self.inner.fill_buf()?.is_empty() {
                self.refill()?;
            }
        }
        let part = self.ready.get(self.at..).unwrap_or_default();
        let count = part.len().min(buffer.len());
        buffer[..count].copy_from_slice(&part[..count]);
        self.at += count;
        Ok(count)
    }
}
