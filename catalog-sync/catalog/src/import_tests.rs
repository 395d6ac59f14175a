use std::io::{self, Read, Write};

use super::*;
use crate::record::{RecordKind, SkipReason};
use proptest::prelude::*;
use rstest::rstest;

/// The ids of a file's records, with `!` for each skipped part.
fn found(file: &[u8]) -> String {
    let mut found = Vec::new();
    for record in Records::open(file).unwrap() {
        found.push(match record.unwrap() {
            Ok(raw) => {
                let value: serde_json::Value = serde_json::from_slice(&raw.json).unwrap();
                let kind = raw.kind.map_or("", RecordKind::word);
                format!("{kind}{}", value["id"])
            }
            Err(skip) => format!("!{}", skip.reason.to_string().split(' ').next().unwrap()),
        });
    }
    found.join(" ")
}

#[rstest]
#[case::nothing("", "")]
#[case::array(r#"[{"id":1},{"id":2}]"#, "1 2")]
#[case::empty_array("[]", "")]
#[case::pretty("[\n  {\n    \"id\": 1\n  },\n  {\n    \"id\": 2\n  }\n]\n", "1 2")]
#[case::lines("{\"id\":1}\n{\"id\":2}\r\n\n{\"id\":3}", "1 2 3")]
#[case::glued(r#"[{"id":1}][{"id":2},{"id":3}]  [{"id":4}]"#, "1 2 3 4")]
#[case::pages_of_pages(r#"[[{"id":1}],[{"id":2}]]"#, "1 2")]
#[case::one(r#"{"id":1,"markets":[{"id":2}]}"#, "1")]
#[case::data(r#"{"data":[{"id":1},{"id":2}],"next_cursor":"a"}"#, "1 2")]
#[case::markets(
    r#"{"limit":2,"markets":[{"id":1}],"more":{"a":[1,"]"]},"x":null}"#,
    "market1"
)]
#[case::events(
    r#"{"events":[{"id":1,"markets":[{"id":9}]}],"markets":[{"id":2}]}"#,
    "event1 market2"
)]
#[case::value(
    r#"{"@odata.context":"x","value":[{"id":1}]} {"value":[{"id":2}]}"#,
    "1 2"
)]
#[case::wrapper_then_lines("{\"data\":[{\"id\":1}]}\n{\"id\":2}", "1 2")]
#[case::sorted_keys(r#"{"active":true,"events":[{"id":9}],"id":1}"#, "1")]
#[case::quotes(r#"[{"id":1,"a":"]}\"]\\"},{"id":2}]"#, "1 2")]
#[case::scalars(r#"[1,"a,b]",null,{"id":2}]"#, "!not !not !not 2")]
#[case::html("<html>\n<body>\n", "!not !not")]
#[case::cut_array(r#"[{"id":1},{"id":2"#, "1 !the")]
#[case::cut_between(r#"[{"id":1},"#, "1 !the")]
#[case::cut_wrapper(r#"{"data":[{"id":1},{"#, "1 !the")]
#[case::cut_line("{\"id\":1}\n{\"id\":2,\"a\":[\n{\"id\":3}", "1 !the 3")]
#[case::broken_text("{\"id\":1,\"a\":\"b\n{\"id\":2}", "!not 2")]
#[case::stray("}{\"id\":1}", "!not")]
fn records_are_found(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(found(text.as_bytes()), expected);
    // A leading byte order mark changes nothing.
    assert_eq!(found(format!("\u{feff}{text}").as_bytes()), expected);
}

const SAMPLE: &str = r#"[{"id":1,"question":"Łódź — 東京 🚀 \ud83d\ude80"},{"id":2}]"#;

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    "\u{feff}"
        .encode_utf16()
        .chain(text.encode_utf16())
        .flat_map(order)
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

#[rstest]
fn every_coding_in_every_packing_is_the_same_text(
    #[values(0, 1, 2, 3)] coding: u8,
    #[values(0, 1, 2)] packing: u8,
) {
    let coded = match coding {
        0 => SAMPLE.as_bytes().to_vec(),
        1 => format!("\u{feff}{SAMPLE}").into_bytes(),
        2 => utf16(SAMPLE, u16::to_le_bytes),
        _ => utf16(SAMPLE, u16::to_be_bytes),
    };
    let packed = match packing {
        0 => coded,
        1 => gzip(&coded),
        _ => zstd(&coded),
    };
    let texts: Vec<Vec<u8>> = Records::open(packed.as_slice())
        .unwrap()
        .map(|record| record.unwrap().unwrap().json)
        .collect();
    assert_eq!(
        String::from_utf8(texts[0].clone()).unwrap(),
        &SAMPLE[1..SAMPLE.find(",{").unwrap()]
    );
    assert_eq!(texts.len(), 2);
}

#[test]
fn packed_files_put_end_to_end_are_one() {
    let (one, two) = (br#"[{"id":1}]"#, br#"[{"id":2}]"#);
    assert_eq!(found(&[gzip(one), gzip(two)].concat()), "1 2");
    assert_eq!(found(&[zstd(one), zstd(two)].concat()), "1 2");
    // A skippable frame of three bytes, and an empty frame, between them.
    let skipped = [b"\x50\x2a\x4d\x18\x03\0\0\0".as_slice(), b"any"].concat();
    let parts = [zstd(one), skipped.clone(), zstd(b""), zstd(two)];
    assert_eq!(found(&parts.concat()), "1 2");
    assert_eq!(found(&[skipped, zstd(one)].concat()), "1");
}

#[test]
fn zstd_is_unpacked_as_the_reference_packs_it() {
    let record = |id: u32| {
        format!(
            r#"{{"id":{id},"text":"{}"}}"#,
            "rain ".repeat(id as usize % 90)
        )
    };
    let lines: Vec<String> = (0..4_000).map(record).collect();
    let text = lines.join("\n");
    for level in [-5, 3, 19] {
        let mut packed = zstd::Encoder::new(Vec::new(), level).unwrap();
        packed.include_checksum(true).unwrap();
        packed.write_all(text.as_bytes()).unwrap();
        let mut packed = packed.finish().unwrap();
        let records = Records::open(packed.as_slice()).unwrap();
        let read: Vec<Vec<u8>> = records
            .map(|record| record.unwrap().unwrap().json)
            .collect();
        assert!(read.iter().eq(lines.iter().map(String::as_bytes)));
        // The last four bytes are the checksum.
        *packed.last_mut().unwrap() ^= 1;
        let damaged: Result<Vec<_>, _> = Records::open(packed.as_slice()).unwrap().collect();
        assert!(damaged.is_err());
    }
}

#[test]
fn a_packed_file_that_is_cut_off_is_an_error_of_the_file() {
    for packed in [gzip(SAMPLE.as_bytes()), zstd(SAMPLE.as_bytes())] {
        let cut = &packed[..packed.len() - 9];
        let outcome = Records::open(cut).and_then(Iterator::collect::<Result<Vec<_>, io::Error>>);
        assert!(outcome.is_err());
    }
}

#[test]
fn long_units_and_halves_of_pairs_survive_the_edges_of_a_buffer() {
    // A surrogate pair at every offset around the buffer's end, and a file that ends inside a unit.
    for padding in 4_080..4_110 {
        let text = format!(r#"[{{"id":1,"a":"{}🚀"}}]"#, "x".repeat(padding));
        let record = Records::open(utf16(&text, u16::to_le_bytes).as_slice())
            .unwrap()
            .next();
        let json = record.unwrap().unwrap().unwrap().json;
        assert_eq!(json, &text.as_bytes()[1..text.len() - 1]);
    }
    let mut odd = utf16(r#"[{"id":1}]"#, u16::to_be_bytes);
    odd.push(0);
    assert_eq!(found(&odd), "1 !not");
}

/// Reads a file in pieces of at most this many bytes.
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

#[test]
fn an_endless_record_is_left_out_without_being_held() {
    let endless = io::repeat(b'x').take(64 << 20);
    let file = (&br#"[{"id":1,"a":""#[..])
        .chain(endless)
        .chain(&br#""},{"id":2}]"#[..]);
    let found: Vec<_> = Records::open(file)
        .unwrap()
        .map(|record| record.unwrap())
        .collect();
    assert_eq!(found[0].as_ref().unwrap_err().reason, SkipReason::TooLong);
    assert_eq!(found[1].as_ref().unwrap().json, br#"{"id":2}"#);
    assert_eq!(found.len(), 2);
}

#[test]
fn nesting_costs_nothing() {
    let deep = format!(
        "[{{\"a\":{}{}}},{{\"id\":2}}]",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(Records::open(deep.as_bytes()).unwrap().count(), 2);
    let open = "[".repeat(100_000);
    assert!(Records::open(open.as_bytes()).unwrap().count() < 10);
}

proptest! {
    #[test]
    fn pieces_do_not_matter(piece in 1_usize..40, cut in 0_usize..1_000) {
        let text = "\u{feff}{\"limit\":1,\"data\":[{\"id\":1,\"a\":\"\\\"]\"},{\"id\":2}]}\n[{\"id\":3}]{\"id\":4,\"events\":[{\"id\":9}]}";
        let text = &text.as_bytes()[..text.len().min(cut)];
        let whole: Vec<_> = Records::open(text).unwrap().map(Result::unwrap).collect();
        let pieces = Records::open(Pieces(text, piece)).unwrap();
        let pieces: Vec<_> = pieces.map(Result::unwrap).collect();
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn no_bytes_panic_or_go_on_for_ever(bytes in prop::collection::vec(
        prop_oneof![any::<u8>(), prop::sample::select(b"[]{}\",:\\\n1a".to_vec())], 0..300,
    )) {
        let Ok(records) = Records::open(bytes.as_slice()) else { return Ok(()); };
        prop_assert!(records.take(1_000).count() < 1_000);
    }
}
