//! The format: golden bytes of every structure, `FORMAT.md` compared with the code, and a verifier
//! written from `FORMAT.md` alone.
use crate::common;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use common::{Writer, small};
use foretell_journal::batch::{BatchHeader, HEADER_BYTES};
use foretell_journal::disk::RealDisk;
use foretell_journal::frame::{self, Frame, Scratch};
use foretell_journal::segment::SegmentHeader;
use foretell_journal::snapshot::{Image, LogName, PROOF, Proof, SnapshotStore};
use foretell_journal::watermark::Watermark;
use foretell_journal::{Options, chain, receipt, scan};
use foretell_model::command::MarketDetails;
use foretell_model::quote::QuoteLimits;
use foretell_model::record::{Field, Fields, Layout};
use foretell_model::state::StateKind;
use foretell_model::{
    AccountNumber, Command, CommandKind, CommandStamp, Event, EventKind, FeeSchedule, Fill,
    KeyNumber, Lots, MarketNumber, MarketTerms, MatchKind, Micros, OperatorNumber, OrderId,
    OrderNumber, OrderType, Outcome, PaymentSettings, PaymentsUpdate, PlaceOrder, PolicyUpdate,
    Price, QuestionSet, ResolutionPolicy, Sequence, Settings, SettingsUpdate, Side, TermsUpdate,
    TimeMs, TimeNs, TimeSeconds,
};

/// Bytes in hexadecimal: 32 a line.
fn hex_lines(bytes: &[u8]) -> String {
    bytes.chunks(32).fold(String::new(), |mut text, line| {
        writeln!(text, "{}", hex::encode(line)).unwrap();
        text
    })
}

/// Compares with the golden file. A run with `FORETELL_WRITE_GOLDEN=1` writes a missing one; the files
/// of a release never change.
pub(crate) fn golden(name: &str, bytes: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.golden"));
    if !path.exists() && std::env::var_os("FORETELL_WRITE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, hex_lines(bytes)).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    assert_eq!(kept, hex_lines(bytes), "{}", path.display());
}

fn sample_frame() -> Vec<u8> {
    let command = Command::PlaceOrder(PlaceOrder {
        order: OrderId(std::array::from_fn(|index| {
            u8::try_from(index).unwrap() + 0x10
        })),
        account: AccountNumber(0x0101),
        key: KeyNumber(0x0202),
        market: MarketNumber(0x0303),
        outcome: Outcome::No,
        side: Side::Sell,
        order_type: OrderType::Fak,
        post_only: true,
        maker_amount: 0x1122_3344_5566_7788,
        taker_amount: 0x0102_0304_0506_0708,
        expiration: TimeSeconds(1_800_000_000),
        timestamp: TimeMs(1_700_000_000_123),
    });
    let events = [
        Event::Fill(Fill {
            rebate: Micros(0),
            maker_order: OrderNumber(7),
            maker: AccountNumber(8),
            kind: MatchKind::Merge,
            yes_price: Price(6_200),
            lots: Lots(9_000),
            maker_left: Lots(1),
            fee: Micros(260),
        }),
        Event::OrderCompleted,
    ];
    let mut bytes = vec![0; frame::length(events.len(), 5)];
    frame::encode(
        &mut bytes,
        Sequence(0x0a0b),
        CommandStamp {
            time: TimeNs(1_700_000_000_456_000_000),
            operator: OperatorNumber(0x0304),
            touched: 0x0506,
        },
        &command,
        &events,
        b"proof",
    );
    bytes
}

fn sample_batch() -> (BatchHeader, Vec<u8>) {
    let mut batch = vec![0; HEADER_BYTES];
    batch.extend(sample_frame());
    let header = BatchHeader {
        frames: 1,
        payload: 0,
        segment: 3,
        offset: 8_192,
        epoch: 5,
        first: Sequence(0x0a0b),
        last: Sequence(0x0a0b),
        proven: Sequence(0x0a0a),
        payload_crc: 0,
        hash: [0; 32],
    };
    let header = BatchHeader::close(header, &chain::chain_start(&[0x47; 32]), &mut batch);
    (header, batch)
}

#[test]
fn golden_snapshots() {
    let dir = tempfile::tempdir().unwrap();
    let store = SnapshotStore::open(dir.path(), Arc::new(RealDisk), [0x47; 32]).unwrap();
    let log = LogName::new("trades").unwrap();
    let rows: Vec<u8> = (0..96).collect();
    let place = (log, 0x0102);
    let chunk = store.write_chunk(place, 0x0304, 2, &rows).unwrap();
    let file = fs::read(chunk.path(dir.path())).unwrap();
    golden("chunk_v1", &file);
    snapshot_by_hand(&file);

    let mut image = store
        .begin_image(Sequence(0x0a0c), 0x0304, &[chunk])
        .unwrap();
    image.begin("state.v1").unwrap();
    image.write(b"records of the state").unwrap();
    image.begin("view.orders").unwrap();
    image.begin(PROOF).unwrap();
    let proof = Proof {
        digest: [0xd1; 32],
        receipt: [0xe2; 32],
    };
    image.write(&proof.encode()).unwrap();
    image.finish().unwrap();
    let file = fs::read(dir.path().join("00000000000000002572.image")).unwrap();
    golden("image_v1", &file);
    snapshot_by_hand(&file);
    Image::open(dir.path(), Sequence(0x0a0c), &[0x47; 32]).unwrap();
}

/// Reads a snapshot by `FORMAT.md` alone.
fn snapshot_by_hand(file: &[u8]) {
    let number = |at: usize, size: usize| {
        let bytes = file[at..at + size].iter().rev();
        bytes.fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let index = |at, size| usize::try_from(number(at, size)).unwrap();
    assert_eq!(&file[..8], b"FRTLSNAP");
    assert_eq!((number(8, 2), number(24, 8)), (1, file.len() as u64));
    let mut header = file[..128].to_vec();
    header[92..96].fill(0);
    assert_eq!(u64::from(crc32c::crc32c(&header)), number(92, 4));
    header[96..].fill(0);
    let hash = blake3::hash(&[&file[128..], &header].concat());
    assert_eq!(hash.as_bytes(), &file[96..128]);
    let (table, sections) = (index(64, 8), index(72, 4));
    assert_eq!(table + 64 * sections, file.len());
    assert_eq!(u64::from(crc32c::crc32c(&file[table..])), number(76, 4));
    let mut end = 128;
    for row in (table..file.len()).step_by(64) {
        let (offset, length) = (index(row + 40, 8), index(row + 48, 8));
        assert_eq!(offset % 64, 0);
        assert!(file[end..offset].iter().all(|byte| *byte == 0));
        assert!(
            file[row..row + 40]
                .iter()
                .any(|byte| byte.is_ascii_lowercase())
        );
        end = offset + length;
    }
    assert!(file[end..table].iter().all(|byte| *byte == 0));
}

#[test]
fn golden_frame() {
    let bytes = sample_frame();
    golden("frame_v1", &bytes);
    let frame = Frame::parse(&bytes, 3, 8_192 + 128).unwrap();
    let mut scratch = Scratch::default();
    let shown = frame.decode(&mut scratch).unwrap();
    assert_eq!(shown.sequence, Sequence(0x0a0b));
    assert_eq!(shown.events.len(), 2);
    assert_eq!(shown.evidence, b"proof");
    assert_eq!(shown.operator, OperatorNumber(0x0304));
    assert_eq!(shown.touched, 0x0506);
    golden("frame_v1_receipt", &frame.receipt());
}

#[test]
fn golden_batch() {
    let (header, batch) = sample_batch();
    golden("batch_v1", &batch);
    assert_eq!(BatchHeader::read(&batch).unwrap(), header);
}

#[test]
fn golden_segment_header_and_watermark() {
    let header = SegmentHeader {
        number: 3,
        epoch: 5,
        first: Sequence(0x0a0b),
        bytes: 64 << 20,
        previous_end: 0x0012_3000,
        previous_hash: [0x48; 32],
        genesis: [0x47; 32],
    };
    golden("segment_v1", header.page().as_slice());
    assert_eq!(
        SegmentHeader::read(header.page().as_slice()).unwrap(),
        header
    );
    let mark = Watermark {
        count: 9,
        epoch: 5,
        sequence: Sequence(0x0a0b),
        segment: 3,
        end: 12_288,
        hash: [0x48; 32],
        genesis: [0x47; 32],
    };
    golden("watermark_v1", mark.page().as_slice());
}

/// A line of a table of records in `FORMAT.md`; bytes count from the code.
fn record_line(record: &Layout) -> String {
    let fields = record.fields.iter();
    let fields = fields.map(|field| field_text(field, 1 + field.offset));
    let fields: Vec<String> = fields.collect();
    format!(
        "| {} | {} | {} |\n",
        record.code,
        record.name,
        fields.join(", ")
    )
}

/// A line of the table of structs within records.
fn struct_line<T: Fields>(name: &str) -> String {
    let fields = T::FIELDS
        .iter()
        .map(|field| field_text(field, field.offset));
    let fields: Vec<String> = fields.collect();
    format!("| {name} | {} |\n", fields.join(", "))
}

fn field_text(field: &Field, offset: usize) -> String {
    format!("{offset} `{}` {} ({})", field.name, field.word, field.bytes)
}

/// The tables of `FORMAT.md` that the code declares, each after the line that names it.
fn tables() -> [(&'static str, String); 4] {
    let records = |all: &[Layout]| all.iter().map(record_line).collect();
    let structs = [
        struct_line::<FeeSchedule>("FeeSchedule"),
        struct_line::<MarketTerms>("MarketTerms"),
        struct_line::<MarketDetails>("MarketDetails"),
        struct_line::<ResolutionPolicy>("ResolutionPolicy"),
        struct_line::<PaymentSettings>("PaymentSettings"),
        struct_line::<Settings>("Settings"),
        struct_line::<QuestionSet>("QuestionSet"),
        struct_line::<QuoteLimits>("QuoteLimits"),
        struct_line::<TermsUpdate>("TermsUpdate"),
        struct_line::<PolicyUpdate>("PolicyUpdate"),
        struct_line::<PaymentsUpdate>("PaymentsUpdate"),
        struct_line::<SettingsUpdate>("SettingsUpdate"),
    ];
    [
        ("| struct | fields |\n|---|---|\n", structs.concat()),
        (
            "| code | command | fields |\n|---|---|---|\n",
            records(CommandKind::RECORDS),
        ),
        (
            "| code | event | fields |\n|---|---|---|\n",
            records(EventKind::RECORDS),
        ),
        (
            "| code | state | fields |\n|---|---|---|\n",
            records(StateKind::RECORDS),
        ),
    ]
}

/// With `FORETELL_BLESS=1` the tables are written.
#[test]
fn format_md_has_the_tables_that_the_code_declares() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("FORMAT.md");
    let mut text = fs::read_to_string(&path).unwrap();
    for (head, rows) in tables() {
        let start = text.find(head).expect(head) + head.len();
        let rows_now = text[start..].split_inclusive('\n');
        let rows_now = rows_now.take_while(|line| line.starts_with('|'));
        let end = start + rows_now.map(str::len).sum::<usize>();
        if std::env::var_os("FORETELL_BLESS").is_some() {
            text.replace_range(start..end, &rows);
        } else {
            assert_eq!(text[start..end], rows, "after {head}");
        }
    }
    if std::env::var_os("FORETELL_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
}

/// A verifier written from `FORMAT.md` alone. It uses no code of the crate.
mod reference_verifier {
    use std::fs;
    use std::path::Path;

    fn u32_at(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
            .try_into()
            .unwrap()
    }

    fn u64_at(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    /// Verifies all segments; returns (sequence, receipt) of every frame and the last chain hash.
    pub(super) fn verify(dir: &Path) -> (Vec<(u64, [u8; 32])>, [u8; 32]) {
        let mut segments = Vec::new();
        while let Ok(bytes) = fs::read(dir.join(format!("{:08}.segment", segments.len() + 1))) {
            segments.push(bytes);
        }
        let genesis = segments[0][72..104].to_vec();
        let mut hash = *blake3::hash(&genesis).as_bytes();
        let mut frames = Vec::new();
        for (index, bytes) in segments.iter().enumerate() {
            assert_eq!(&bytes[..8], b"FRTLSEGM");
            assert_eq!(
                u32_at(bytes, 4_092),
                crc32c::crc32c(&bytes[..4_092]) as usize
            );
            assert_eq!(u32_at(bytes, 12), index + 1);
            assert_eq!(bytes.len(), u32_at(bytes, 32));
            assert_eq!(bytes[72..104], genesis);
            assert_eq!(bytes[40..72], hash);
            assert_eq!(u64_at(bytes, 24), frames.len() as u64 + 1);
            let end = segments.get(index + 1).map(|next| u32_at(next, 36));
            let mut at = 4_096;
            while end.map_or(bytes[at..at + 8] != [0; 8], |end| at < end) {
                at += batch(bytes, at, index + 1, &mut hash, &mut frames);
            }
        }
        (frames, hash)
    }

    fn batch(
        bytes: &[u8],
        at: usize,
        segment: usize,
        hash: &mut [u8; 32],
        frames: &mut Vec<(u64, [u8; 32])>,
    ) -> usize {
        let length = u32_at(bytes, at + 16);
        let mut header = bytes[at..at + 128].to_vec();
        let payload = &bytes[at + 128..at + 128 + length];
        let total = (128 + length).next_multiple_of(4_096);
        assert_eq!(&header[..8], b"FRTLBTCH");
        assert_eq!(u32_at(&header, 20), segment);
        assert_eq!(u32_at(&header, 24), at);
        assert_eq!(
            u64_at(&header, 32),
            u64_at(bytes, 16),
            "the segment's epoch"
        );
        assert_eq!(u64_at(&header, 40), frames.len() as u64 + 1);
        assert!(
            bytes[at + 128 + length..at + total]
                .iter()
                .all(|byte| *byte == 0)
        );
        let header_crc = u32_at(&header, 64);
        header[64..68].fill(0);
        assert_eq!(header_crc, crc32c::crc32c(&header) as usize);
        assert_eq!(u32_at(&header, 68), crc32c::crc32c(payload) as usize);
        let carried: [u8; 32] = header[96..128].try_into().unwrap();
        header[68..72].fill(0);
        header[96..128].fill(0);
        let mut hasher = blake3::Hasher::new();
        hasher.update(hash).update(&header).update(payload);
        *hash = *hasher.finalize().as_bytes();
        assert_eq!(carried, *hash);
        let mut rest = payload;
        while !rest.is_empty() {
            let frame = &rest[..u32_at(rest, 0)];
            frames.push((u64_at(frame, 8), *blake3::hash(frame).as_bytes()));
            rest = &rest[frame.len()..];
        }
        assert_eq!(u64_at(&header, 48), frames.len() as u64);
        total
    }
}

#[test]
fn a_journal_is_verified_from_format_md_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    while writer.batch(100)[0].segment < 2 {}
    drop(writer);
    // A second epoch that rewrote a batch, and a third after an orderly end.
    let mut writer = Writer::open_with(dir.path(), Options { ..small() }).unwrap();
    assert!(writer.report.rewritten > 0);
    writer.batch(5);
    writer.close();
    let mut writer = Writer::open(dir.path());
    writer.batch(2);
    writer.close();
    let (frames, hash) = reference_verifier::verify(dir.path());
    let mut expected = Vec::new();
    let report = scan(dir.path(), Sequence(0), &mut |frame| {
        expected.push((frame.sequence().0, receipt(frame.bytes())));
        Ok(())
    })
    .unwrap();
    assert_eq!(frames, expected);
    assert_eq!(hash, report.hash);
}
