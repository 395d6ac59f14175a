//! Encoding of state records: golden bytes of every kind, round trips, and decoding of arbitrary
//! bytes without a panic.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod any_record;
mod golden;
mod samples;

use any_record::any_record;
use foretell_model::codec::CodecError;
use foretell_model::digest::StateDigest;
use foretell_model::state::{StateKind, StateRecord};
use golden::GOLDEN;
use proptest::prelude::*;
use rstest::rstest;
use samples::samples;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn written(record: &StateRecord) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.write(&mut bytes);
    bytes
}

fn digest<'a>(records: impl IntoIterator<Item = &'a StateRecord>) -> [u8; 32] {
    let mut digest = StateDigest::default();
    records.into_iter().for_each(|record| digest.push(record));
    digest.finish()
}

#[test]
fn every_kind_has_its_bytes() {
    for (record, (bytes, expected)) in samples().iter().zip(GOLDEN) {
        assert_eq!(hex(&written(record)), bytes.replace(' ', ""), "{record:?}");
        assert_eq!(hex(&digest([record])), expected, "{record:?}");
    }
    assert_eq!(
        hex(&digest(&samples())),
        "59a8e2f3963d925b34b372734c9b5e794d612e111c28ba5036075603421411b8"
    );
}

#[test]
fn a_record_cut_anywhere_is_an_error_and_takes_nothing() {
    for record in samples() {
        let bytes = written(&record);
        for end in 1..bytes.len() {
            let mut image = &bytes[..end];
            assert_eq!(StateRecord::read(&mut image), Err(CodecError::Cut));
            assert_eq!(image.len(), end);
        }
    }
    assert_eq!(StateRecord::read(&mut [].as_slice()), Ok(None));
}

#[rstest]
#[case::tag_below(0, 0, 0, CodecError::UnknownTag(0))]
#[case::tag_above(0, 0, 21, CodecError::UnknownTag(21))]
#[case::mode(0, 21, 4, CodecError::InvalidValue { field: "mode", value: 4 })]
#[case::pending(0, 86, 5, CodecError::InvalidValue { field: "pending work", value: 5 })]
#[case::absent_market(0, 91, 0, CodecError::InvalidValue { field: "value that is not there", value: 1 })]
#[case::kind(2, 29, 9, CodecError::InvalidValue { field: "kind of wallet", value: 9 })]
#[case::flag(2, 30, 2, CodecError::InvalidValue { field: "flag", value: 2 })]
#[case::tick(5, 101, 7, CodecError::InvalidValue { field: "tick", value: 7 })]
#[case::payout(5, 128, 5, CodecError::InvalidValue { field: "payout", value: 5 })]
#[case::order_id_state(8, 49, 1, CodecError::InvalidValue { field: "order id state", value: 1 })]
#[case::name(11, 3, b'A', CodecError::InvalidValue { field: "name of an operator", value: 65 })]
#[case::roles(13, 5, 1, CodecError::InvalidValue { field: "set of roles", value: 1 })]
#[case::work(19, 9, 3, CodecError::InvalidValue { field: "background work", value: 3 })]
#[case::kill(8, 50, 231, CodecError::InvalidValue { field: "reason of a rejection", value: 231 })]
fn a_byte_that_writing_never_gives_is_named(
    #[case] sample: usize,
    #[case] at: usize,
    #[case] byte: u8,
    #[case] error: CodecError,
) {
    let mut bytes = written(&samples()[sample]);
    bytes[at] = byte;
    assert_eq!(StateRecord::read(&mut bytes.as_slice()), Err(error));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_is_read_back(records in prop::collection::vec(any_record(), 0..8)) {
        let mut image = Vec::new();
        records.iter().for_each(|record| record.write(&mut image));
        prop_assert_eq!(StateDigest::of_image(&image), digest(&records));
        let mut rest = image.as_slice();
        for record in &records {
            let before = rest.len();
            prop_assert_eq!(StateRecord::read(&mut rest), Ok(Some(*record)));
            prop_assert!(before - rest.len() <= 256);
        }
        prop_assert_eq!(StateRecord::read(&mut rest), Ok(None));
    }

    #[test]
    fn whatever_is_read_is_written_back(
        tag in 0..=u8::try_from(StateKind::ALL.len()).unwrap(),
        noise in prop::collection::vec(prop_oneof![3 => 0_u8..3, 1 => any::<u8>()], 0..300),
    ) {
        let bytes = [vec![tag], noise].concat();
        let mut rest = bytes.as_slice();
        if let Ok(Some(record)) = StateRecord::read(&mut rest) {
            prop_assert_eq!(written(&record), &bytes[..bytes.len() - rest.len()]);
        } else {
            prop_assert_eq!(rest, bytes.as_slice());
        }
    }
}
