//! Encoding of state records: golden bytes of every kind, round trips, and decoding of arbitrary
//! bytes without a panic.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod any_record;
mod samples;

use std::path::Path;

use any_record::any_record;
use foretell_model::digest::StateDigest;
use foretell_model::record::{Layout, Record, RecordError, Vocabulary};
use foretell_model::state::{StateKind, StateRecord};
use proptest::prelude::*;
use rstest::rstest;
use samples::samples;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn written(record: &StateRecord) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.append(&mut bytes);
    bytes
}

fn digest<'a>(records: impl IntoIterator<Item = &'a StateRecord>) -> [u8; 32] {
    let mut digest = StateDigest::default();
    records.into_iter().for_each(|record| digest.push(record));
    digest.finish()
}

/// Bytes and digest of each sample, and the digest of all. A run with `FORETELL_WRITE_GOLDEN=1` writes a
/// missing file.
#[test]
fn every_kind_has_its_bytes() {
    let line =
        |record: &StateRecord| format!("{} {}\n", hex(&written(record)), hex(&digest([record])));
    let lines: String = samples().iter().map(line).collect();
    let golden = format!("{lines}{}\n", hex(&digest(&samples())));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/state_records/golden.txt");
    if !path.exists() && std::env::var_os("FORETELL_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &golden).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), golden);
}

#[test]
fn a_record_cut_anywhere_is_an_error_and_takes_nothing() {
    for record in samples() {
        let bytes = written(&record);
        for end in 1..bytes.len() {
            let mut image = &bytes[..end];
            assert_eq!(StateRecord::take_next(&mut image), Err(RecordError::Cut));
            assert_eq!(image.len(), end);
        }
    }
    assert_eq!(StateRecord::take_next(&mut [].as_slice()), Ok(None));
}

/// The first byte of a field, after its length and its code, with a value that is never written.
#[rstest]
#[case(0, "mode", 4)]
#[case(0, "pending", 2)]
#[case(7, "group", 2)]
#[case(2, "kind", 9)]
#[case(2, "closed_only", 2)]
#[case(5, "tick", 7)]
#[case(5, "payout", 2)]
#[case(8, "state", 3)]
#[case(13, "policy", 1)]
#[case(19, "work", 3)]
#[case(20, "frozen", 2)]
fn a_byte_that_writing_never_gives_is_refused(
    #[case] sample: usize,
    #[case] name: &str,
    #[case] byte: u8,
) {
    let record = samples()[sample];
    let layout: &Layout = &StateKind::RECORDS[sample];
    let field = layout.fields.iter().find(|field| field.name == name);
    let mut bytes = written(&record);
    bytes[2 + field.unwrap().offset] = byte;
    let refused = StateRecord::take_next(&mut bytes.as_slice());
    assert_eq!(refused, Err(RecordError::Value(record.code())));
}

#[rstest]
#[case::no_code(&[0], RecordError::Value(0))]
#[case::code_above(&[1, 24], RecordError::Value(24))]
#[case::zero_at_the_end(&[2, 7, 0], RecordError::Padding(7))]
#[case::behind_the_fields(&[&[35, 2][..], &[0; 33], &[1]].concat(), RecordError::Padding(2))]
#[case::value_that_is_absent(&[3, 15, 0, 1], RecordError::Padding(15))]
#[case::cut(&[3, 15, 0], RecordError::Cut)]
fn what_is_not_canonical_is_refused(#[case] bytes: &[u8], #[case] error: RecordError) {
    let mut list = bytes;
    assert_eq!(StateRecord::take_next(&mut list), Err(error));
    assert_eq!(list, bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_is_read_back(records in prop::collection::vec(any_record(), 0..8)) {
        let mut image = Vec::new();
        records.iter().for_each(|record| record.append(&mut image));
        prop_assert_eq!(StateDigest::of_image(&image), digest(&records));
        let mut rest = image.as_slice();
        for record in &records {
            let before = rest.len();
            prop_assert_eq!(StateRecord::take_next(&mut rest), Ok(Some(*record)));
            prop_assert!(before - rest.len() <= 1 + StateRecord::BYTES);
        }
        prop_assert_eq!(StateRecord::take_next(&mut rest), Ok(None));
    }

    #[test]
    fn whatever_is_read_is_written_back(
        tag in 0..=u8::try_from(StateKind::ALL.len()).unwrap(),
        noise in prop::collection::vec(prop_oneof![3 => 0_u8..3, 1 => any::<u8>()], 0..200),
        length in prop::option::of(any::<u8>()),
    ) {
        let length = length.unwrap_or(1 + u8::try_from(noise.len()).unwrap());
        let bytes = [vec![length, tag], noise].concat();
        let mut rest = bytes.as_slice();
        if let Ok(Some(record)) = StateRecord::take_next(&mut rest) {
            prop_assert_eq!(written(&record), &bytes[..bytes.len() - rest.len()]);
        } else {
            prop_assert_eq!(rest, bytes.as_slice());
        }
    }
}
