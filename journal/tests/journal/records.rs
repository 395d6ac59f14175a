//! Records and frames: encoding and decoding round-trip to the byte; other bytes are refused.

mod commands;
mod events;
mod words;

use foretell_journal::frame::{self, Frame, FrameError, Scratch};
use foretell_model::record::{Layout, RecordError, Vocabulary, encode, is_canonical};
use foretell_model::{Command, CommandKind, Event, EventKind, Sequence, TimeNs};
use proptest::prelude::*;
use proptest::sample::select;

use crate::format::golden;
use crate::records::words::Words;

fn words() -> impl Strategy<Value = Words> {
    prop_oneof![
        8 => prop::collection::vec(any::<u64>(), 64..65),
        1 => Just(vec![0; 1]),
        1 => Just(vec![u64::MAX; 1]),
    ]
    .prop_map(|words| Words(words, 0))
}

fn command() -> impl Strategy<Value = Command> {
    let codes: Vec<u8> = CommandKind::ALL.iter().map(|kind| kind.code()).collect();
    (words(), select(codes)).prop_map(|(mut words, code)| commands::command(&mut words, code))
}

fn event() -> impl Strategy<Value = Event> {
    let codes: Vec<u8> = EventKind::ALL.iter().map(|kind| kind.code()).collect();
    (words(), select(codes)).prop_map(|(mut words, code)| events::event(&mut words, code))
}

/// Every command and event at three sources of values, with its place in a frame.
fn each(check: &mut dyn FnMut(&Layout, Words)) {
    for words in [vec![0], vec![u64::MAX], (1..60).collect()] {
        let all = CommandKind::RECORDS.iter().chain(EventKind::RECORDS);
        all.for_each(|record| check(record, Words(words.clone(), 0)));
    }
}

fn is_command(record: &Layout) -> bool {
    CommandKind::RECORDS
        .iter()
        .any(|known| std::ptr::eq(known, record))
}

fn used<T: Vocabulary>(code: u8) -> usize {
    T::BYTES_OF[usize::from(code)].into()
}

/// Encoded in a place of a frame, read again, and encoded once more.
fn survives<T: Vocabulary + Copy + PartialEq + std::fmt::Debug, const PLACE: usize>(
    value: T,
    code: u8,
) {
    let mut place = [0; PLACE];
    encode(&value, &mut place);
    assert_eq!(place[0], code);
    assert!(place[used::<T>(code)..].iter().all(|byte| *byte == 0));
    assert_eq!(T::read_in(&place), Ok(value));
    assert!(is_canonical(&value, &place));
}

#[test]
fn every_record_survives_at_both_extremes_under_its_pinned_code() {
    each(&mut |record, mut words| match is_command(record) {
        true => survives::<_, 128>(commands::command(&mut words, record.code), record.code),
        false => survives::<_, 48>(events::event(&mut words, record.code), record.code),
    });
}

#[test]
fn golden_records() {
    let words = || Words((1..60).collect(), 0);
    let (mut commands, mut events) = (Vec::new(), Vec::new());
    for kind in CommandKind::ALL {
        let mut place = [0; 128];
        encode(&commands::command(&mut words(), kind.code()), &mut place);
        commands.extend(place);
    }
    for kind in EventKind::ALL {
        let mut place = [0; 48];
        encode(&events::event(&mut words(), kind.code()), &mut place);
        events.extend(place);
    }
    golden("commands_v1", &commands);
    golden("events_v1", &events);
}

/// A byte behind the fields that is not zero, and a code of nothing.
fn refuses<T: Vocabulary + PartialEq + std::fmt::Debug, const PLACE: usize>(
    kinds: &[Layout],
    record: &Layout,
    value: &T,
) {
    let mut place = [0; PLACE];
    encode(value, &mut place);
    for at in used::<T>(record.code)..PLACE {
        let mut dirty = place;
        dirty[at] = 1;
        let padding = Err(RecordError::Padding(record.code));
        assert_eq!(T::read_in(&dirty), padding, "{} at {at}", record.name);
    }
    for code in 0..=u8::MAX {
        if kinds.iter().all(|known| known.code != code) {
            assert_eq!(T::read_in(&[code; PLACE]), Err(RecordError::Value(code)));
        }
    }
}

#[test]
fn every_byte_outside_a_field_must_be_zero_and_unknown_codes_are_refused() {
    each(&mut |record, mut words| match is_command(record) {
        true => refuses::<_, 128>(
            CommandKind::RECORDS,
            record,
            &commands::command(&mut words, record.code),
        ),
        false => refuses::<_, 48>(
            EventKind::RECORDS,
            record,
            &events::event(&mut words, record.code),
        ),
    });
}

/// The first byte of a field of some records, with a value that is never written.
#[test]
fn codes_that_mean_nothing_are_refused() {
    let at = |all: &[Layout], code: u8, name: &str| {
        let layout = all.iter().find(|record| record.code == code).unwrap();
        let field = layout.fields.iter().find(|known| known.name == name);
        1 + field.unwrap().offset
    };
    for (code, name, wrong) in [
        (1, "outcome", &[2][..]),
        (1, "side", &[2]),
        (1, "order_type", &[4]),
        (1, "post_only", &[2]),
        (31, "index", &[1, 128]),
        (31, "index", &[2]),
        (33, "hold", &[2]),
        (36, "payout", &[4]),
        (38, "tick", &[0]),
        (60, "role", &[8]),
    ] {
        let mut place = [0; 128];
        encode(&commands::command(&mut Words(vec![0], 0), code), &mut place);
        place[at(CommandKind::RECORDS, code, name)..][..wrong.len()].copy_from_slice(wrong);
        assert_eq!(
            Command::read_in(&place),
            Err(RecordError::Value(code)),
            "{code} {name}"
        );
    }
    for (code, name, wrong) in [
        (1, "kind", 3),
        (5, "reason", 0),
        (33, "holds", 4),
        (46, "market", 2),
        (46, "policy", 1),
    ] {
        let mut place = [0; 48];
        encode(&events::event(&mut Words(vec![0], 0), code), &mut place);
        place[at(EventKind::RECORDS, code, name)] = wrong;
        assert_eq!(
            Event::read_in(&place),
            Err(RecordError::Value(code)),
            "{code} {name}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn frames_come_back_as_they_went_in(
        sequence in any::<u64>(),
        time in any::<u64>(),
        command in command(),
        events in prop::collection::vec(event(), 0..12),
        evidence in prop::collection::vec(any::<u8>(), 0..700),
        before in 0_usize..9,
    ) {
        let length = frame::length(events.len(), evidence.len());
        let mut out = vec![0xa5; before + length + 16];
        let written = frame::encode(
            &mut out[before..], Sequence(sequence), TimeNs(time), &command, &events, &evidence,
        );
        prop_assert_eq!(written, length);
        prop_assert!(out[before + length..].iter().all(|byte| *byte == 0xa5));
        // At any address, aligned or not.
        let frame = Frame::parse(&out[before..], 7, 8).unwrap();
        let mut scratch = Scratch::default();
        let shown = frame.decode(&mut scratch).unwrap();
        prop_assert_eq!(shown.sequence, Sequence(sequence));
        prop_assert_eq!(shown.time, TimeNs(time));
        prop_assert_eq!(*shown.command, command);
        prop_assert_eq!(shown.events, &events[..]);
        prop_assert_eq!(shown.evidence, &evidence[..]);
        prop_assert_eq!(frame.bytes(), &out[before..before + length]);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_what_is_taken_is_canonical(
        mut bytes in prop::collection::vec(any::<u8>(), 0..600),
        events in 0_u32..5,
        plausible in any::<bool>(),
    ) {
        if plausible && bytes.len() >= 200 {
            let length = u32::try_from(bytes.len() / 8 * 8).unwrap();
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            bytes[4..8].copy_from_slice(&[1, 0, 1, 0]);
            bytes[152..156].copy_from_slice(&events.to_le_bytes());
            bytes[156..160].fill(0);
        }
        if let Ok(frame) = Frame::parse(&bytes, 1, 0) {
            let mut scratch = Scratch::default();
            if let Ok(shown) = frame.decode(&mut scratch) {
                let mut again = vec![0; frame::length(shown.events.len(), shown.evidence.len())];
                frame::encode(
                    &mut again, shown.sequence, shown.stamp(), shown.command, shown.events, shown.evidence,
                );
                prop_assert_eq!(again == frame.bytes(), frame.is_canonical(shown.command, shown.events));
            }
        }
    }

    #[test]
    fn a_changed_byte_is_refused_seen_or_means_something_else(
        event in event(), at in 0_usize..48, value in any::<u8>(),
    ) {
        let mut bytes = [0; 48];
        encode(&event, &mut bytes);
        let before = std::mem::replace(&mut bytes[at], value);
        if let Ok(read) = Event::read_in(&bytes) {
            prop_assert_eq!(read == event, value == before || !is_canonical(&read, &bytes));
        }
    }
}

#[test]
fn cut_frames_and_frames_of_newer_versions_are_refused() {
    let mut out = vec![0; 512];
    let length = frame::encode(
        &mut out,
        Sequence(1),
        TimeNs(2),
        &Command::AdvanceTime,
        &[Event::WorkPending],
        b"evidence",
    );
    out.truncate(length);
    for cut in 0..length {
        assert_eq!(
            Frame::parse(&out[..cut], 1, 0).unwrap_err(),
            FrameError::Length,
            "cut at {cut}"
        );
    }
    // The stated length is shorter than any frame, or longer than the bytes.
    for said in (0..length).chain([length + 1, length + 8]) {
        let mut lying = out.clone();
        lying[..4].copy_from_slice(&u32::try_from(said).unwrap().to_le_bytes());
        assert_eq!(
            Frame::parse(&lying, 1, 0).unwrap_err(),
            FrameError::Length,
            "says {said}"
        );
    }
    for (at, byte, kind, version) in [(4, 2, 2, 1), (6, 2, 1, 2), (6, 0, 1, 0)] {
        let mut newer = out.clone();
        newer[at] = byte;
        assert_eq!(
            Frame::parse(&newer, 1, 0).unwrap_err(),
            FrameError::Unknown { kind, version }
        );
    }
    let mut padded = out.clone();
    padded[length - 1] = 1;
    assert_eq!(
        Frame::parse(&padded, 1, 0).unwrap_err(),
        FrameError::Padding
    );
}
