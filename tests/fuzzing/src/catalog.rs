//! Files of records: the records do not depend on chunking, encoding and compression, and the
//! stored form of a record can be read again.

use std::io::{self, Read, Write};

use foretell_catalog::import::{RawRecord, Records};
use foretell_catalog::record::{MAX_RECORD_BYTES, Record, Skip, read};

use crate::Seed;

/// The records of a file, and whether it could be read to its end.
type ReadRecords = (Vec<Result<RawRecord, Skip>>, bool);

pub(crate) fn run(bytes: &[u8]) {
    let whole = read_records(bytes);
    let is_packed = [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd]]
        .iter()
        .any(|mark| bytes.starts_with(mark));
    let is_coded = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if !is_packed {
        assert!(whole.1, "a file in memory can be read to its end");
        assert!(whole.0.len() <= bytes.len() + 1, "more records than bytes");
    }
    let piece = 1 + bytes.len() % 11;
    let in_pieces = read_records(Pieces(bytes, piece));
    assert_eq!(in_pieces.1, whole.1, "pieces of {piece}");
    // The decompressor decides how much of a broken file it returns before the fault.
    if whole.1 {
        assert_eq!(in_pieces, whole, "pieces of {piece}");
    }
    for raw in whole.0.iter().flatten() {
        assert!(raw.json.len() <= MAX_RECORD_BYTES);
        check_round_trip(raw);
    }
    if !is_packed && !is_coded {
        check_encodings(bytes, &whole);
    }
}

fn read_records(file: impl Read) -> ReadRecords {
    let records = match Records::open(file) {
        Ok(records) => records,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return (Vec::new(), false);
        }
    };
    let (mut read_records, mut is_whole) = (Vec::new(), true);
    for record in records {
        match record {
            Ok(record) => read_records.push(record),
            Err(_) => is_whole = false,
        }
    }
    (read_records, is_whole)
}

/// Reads a record, and its stored form again: the second reading finds no fault.
fn check_round_trip(raw: &RawRecord) {
    let first = match read(raw.kind, &raw.json) {
        Ok(read) => read.record,
        Err(skip) => {
            assert!(!skip.reason.to_string().is_empty());
            return;
        }
    };
    assert!((1..=i64::MAX.unsigned_abs()).contains(&first.id()));
    let stored_json = stored_json(&first);
    let again = read(Some(first.kind()), stored_json.as_bytes());
    let again = again
        .expect("the stored JSON of a record is a record")
        .record;
    assert_eq!(
        (again.id(), again.updated_at(), self::stored_json(&again)),
        (first.id(), first.updated_at(), stored_json)
    );
}

/// The JSON that the catalog stores of a record.
fn stored_json(record: &Record) -> &str {
    match record {
        Record::Event(event) => &event.raw,
        Record::Market(market) => &market.raw,
        Record::Series(series) => &series.raw,
        Record::Tag(tag) => &tag.raw,
    }
}

/// The same text in other encodings and compressions. Excluded are bytes that are not text, and
/// text with byte order marks inside: one encoding drops them and the other keeps them.
fn check_encodings(bytes: &[u8], whole: &ReadRecords) {
    assert_eq!(read_records(&*gzip(bytes)), *whole, "packed with gzip");
    assert_eq!(read_records(&*zstd(bytes)), *whole, "packed with zstd");
    let Some(text) = str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\u{feff}'))
    else {
        return;
    };
    let marked = format!("\u{feff}{text}");
    assert_eq!(
        read_records(marked.as_bytes()),
        *whole,
        "with a mark of order"
    );
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let coded: Vec<u8> = marked.encode_utf16().flat_map(order).collect();
        assert_eq!(read_records(&*coded), *whole, "as UTF-16");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let written = packed.write_all(bytes).and_then(|()| packed.finish());
    written.expect("memory takes everything")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory takes everything")
}

/// Reads a file in pieces of up to `self.1` bytes.
struct Pieces<'f>(&'f [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.len().min(self.1).min(buffer.len());
        let (piece, rest) = self.0.split_at(count);
        buffer[..count].copy_from_slice(piece);
        self.0 = rest;
        Ok(count)
    }
}

pub(crate) fn seeds() -> Vec<Seed> {
    const MARKET: &str = r#"{"id":"7","question":"Does it rain?","conditionId":"0x00000000000000000000000000000000000000000000000000000000000000c0","slug":"rain","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[\"11\",\"12\"]","active":true,"closed":"false","volume":"12.5","endDate":"2027-01-01T00:00:00Z","orderPriceMinTickSize":0.01,"orderMinSize":5,"negRisk":false,"events":[{"id":"3","slug":"weather"}]}"#;
    const EVENT: &str = r#"{"id":3,"slug":"weather","title":"Weather","tags":[{"id":1,"slug":"sky","label":"Sky"}],"series":[{"id":2,"slug":"days","title":"Days","seriesType":"single"}],"markets":[{"id":8,"question":"Snow?","slug":"snow"}],"updatedAt":"2026-11-20T10:00:00.123Z","eventMetadata":{"a":1}}"#;
    let lines = format!("{MARKET}\n{EVENT}\r\n{{\"id\":1,\"label\":\"x\",\"slug\":\"x\"}}\n");
    let wrapped = format!(r#"{{"limit":2,"markets":[{MARKET}],"next":"a"}}{{"data":[{EVENT}]}}"#);
    let array = format!("[{MARKET},{EVENT},[{{\"id\":5}}],null,\"a,b\"]");
    let utf16: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain("[{\"id\":1,\"label\":\"Łódź 🚀\"}]".encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    vec![
        ("array", array.clone().into_bytes()),
        ("lines", lines.into_bytes()),
        ("wrapped", wrapped.into_bytes()),
        ("cut", array.as_bytes()[..array.len() / 2].to_vec()),
        ("utf16", utf16),
        ("gzip", gzip(EVENT.as_bytes())),
        ("zstd", zstd(MARKET.as_bytes())),
        (
            "two-zstd",
            [zstd(b"[{\"id\":1}]"), zstd(b"{\"id\":2}")].concat(),
        ),
        ("html", b"<html>\n<body>".to_vec()),
    ]
}
