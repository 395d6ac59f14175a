//! Lookups in a journal: replay, show, receipt, export, diff.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use foretell_model::{Command, Event};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use tempfile::TempDir;

use crate::audit::run::{CONTRADICTS, DAMAGED, DIFFERENT, NOT_FOUND, SOUND, UNREADABLE, audit};
use crate::audit::seal::{Loose, seal, unseal};
use crate::audit::site::{Site, busy};

fn sealed(frames: &[Loose]) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    seal(directory.path(), frames);
    directory
}

fn sound(directory: &Path, arguments: &[&str]) -> Value {
    let (code, answer) = audit(directory, arguments);
    assert_eq!(code, SOUND, "{arguments:?}: {answer:#}");
    answer
}

/// The first frame with trades, and their number.
fn first_trade(site: &Site) -> (&Loose, usize) {
    let fills = |frame: &Loose| {
        let fills = frame
            .events
            .iter()
            .filter(|event| matches!(event, Event::Fill(_)));
        fills.count()
    };
    let frame = site
        .frames
        .iter()
        .find(|frame| fills(frame) > 0)
        .expect("a trade");
    (frame, fills(frame))
}

#[test]
fn a_replay_ends_where_it_is_told_to() {
    let site = busy();
    let journal = sealed(&site.frames);
    let whole = sound(journal.path(), &["replay"]);
    assert_eq!(whole["sequence"], site.frames.len());
    let verified = sound(journal.path(), &["verify"]);
    assert_eq!(whole["digest"], verified["digest"]);

    let (trade, _) = first_trade(&site);
    let before = (trade.sequence - 1).to_string();
    let by_sequence = sound(journal.path(), &["replay", "--until", &before]);
    assert_eq!(by_sequence["sequence"], trade.sequence - 1);
    assert_eq!(by_sequence["fee_account_micros"], 0);
    assert_ne!(by_sequence["digest"], whole["digest"]);
    // Commands are a millisecond apart: a time between two selects the earlier one.
    let time = by_sequence["time"]
        .as_str()
        .expect("a time")
        .replace('Z', "5Z");
    let by_time = sound(journal.path(), &["replay", "--until", &time]);
    assert_eq!(by_time, by_sequence);

    let nothing = sound(journal.path(), &["replay", "--until", "0"]);
    assert_eq!(
        (&nothing["sequence"], &nothing["accounts"]),
        (&0.into(), &Value::Array(vec![]))
    );
    let (code, answer) = audit(journal.path(), &["replay", "--until", "100000"]);
    assert_eq!(code, NOT_FOUND, "{answer}");
}

#[test]
fn a_replay_stops_where_the_record_says_something_else() {
    let mut site = busy();
    let (trade, _) = first_trade(&site);
    let sequence = trade.sequence;
    let place = usize::try_from(sequence - 1).expect("small");
    site.frames[place].events.swap(0, 1);
    let journal = sealed(&site.frames);
    let (code, answer) = audit(journal.path(), &["replay"]);
    assert_eq!(code, CONTRADICTS);
    assert!(
        answer["error"]
            .as_str()
            .expect("a text")
            .contains(&format!("sequence {sequence}"))
    );
    let before = (sequence - 1).to_string();
    sound(journal.path(), &["replay", "--until", &before]);
}

#[test]
fn a_frame_is_shown_by_sequence_and_by_receipt() {
    let site = busy();
    let journal = sealed(&site.frames);
    let (trade, fills) = first_trade(&site);
    let shown = sound(journal.path(), &["show", &trade.sequence.to_string()]);
    let receipt = format!(
        "0x{}",
        hex::encode(foretell_journal::receipt(&trade.bytes()))
    );
    assert_eq!(shown["receipt"], receipt);
    assert!(fills > 0 && shown["trade_id"].is_string());
    let Command::PlaceOrder(order) = trade.command else {
        panic!("orders trade");
    };
    let command = &shown["command"]["PlaceOrder"];
    assert_eq!(command["order"], order.order.to_string());
    assert_eq!(command["account"]["is"], site.wallet(1).to_string());
    assert_eq!(
        (&command["side"], &command["order_type"]),
        (&"BUY".into(), &"GTC".into())
    );
    let signed = &shown["evidence"]["signed_order"];
    assert_eq!(signed["maker"], site.wallet(1).to_string());
    assert_eq!(signed["makerAmount"], order.maker_amount);
    let fill = &shown["events"][0]["Fill"];
    assert_eq!(
        (&fill["kind"], &fill["yes_price"]),
        (&"mint".into(), &"0.6000".into())
    );

    let inclusion = &shown["inclusion"];
    let (first, last) = (
        inclusion["first_sequence"].as_u64(),
        inclusion["last_sequence"].as_u64(),
    );
    assert!(
        first <= Some(trade.sequence) && Some(trade.sequence) <= last,
        "{inclusion}"
    );
    assert_chained(journal.path(), inclusion);

    assert_eq!(sound(journal.path(), &["receipt", &receipt]), shown);
    let (code, _) = audit(journal.path(), &["receipt", &"00".repeat(32)]);
    assert_eq!(code, NOT_FOUND);
    let (code, _) = audit(journal.path(), &["show", "100000"]);
    assert_eq!(code, NOT_FOUND);
}

/// The named batch's hash follows from the previous hash.
fn assert_chained(journal: &Path, inclusion: &Value) {
    let field = |name: &str| {
        let number = inclusion[name].as_u64().expect("a number");
        usize::try_from(number).expect("a small number")
    };
    let segment = u32::try_from(field("segment")).expect("a small number");
    let file = fs::read(foretell_journal::segment::path(journal, segment)).expect("a segment");
    let at = field("batch_offset");
    let header = foretell_journal::batch::BatchHeader::read(&file[at..]).expect("a batch");
    let payload = &file[at + 128..at + 128 + field("batch_payload_bytes")];
    let mut previous = [0; 32];
    let text = inclusion["previous_hash"].as_str().expect("a hash");
    hex::decode_to_slice(text, &mut previous).expect("hex");
    let expected = header.expected_hash(&previous, payload);
    assert_eq!(inclusion["hash"], hex::encode(expected));
}

#[test]
fn every_frame_can_be_shown() {
    let site = busy();
    let journal = sealed(&site.frames);
    for frame in &site.frames {
        let shown = sound(journal.path(), &["show", &frame.sequence.to_string()]);
        let events = shown["events"].as_array().expect("events");
        assert_eq!(events.len(), frame.events.len());
        assert!(!shown.to_string().contains("unknown"), "{shown:#}");
    }
}

#[test]
fn exported_tables_hold_every_trade_order_and_balance() {
    let site = busy();
    let journal = sealed(&site.frames);
    let out = tempfile::tempdir().expect("a directory");
    let path = |name: &str| out.path().join(name).to_str().expect("text").to_owned();
    let (trades, orders, balances) = (path("t.csv"), path("o.csv"), path("b.csv"));
    let arguments = [
        "export",
        "--trades",
        &trades,
        "--orders",
        &orders,
        "--balances",
        &balances,
    ];
    let written = sound(journal.path(), &arguments);

    let verified = sound(journal.path(), &["verify"]);
    let rows = |file: &str| -> Vec<Vec<String>> {
        let reader = csv::ReaderBuilder::new().has_headers(false).from_path(file);
        let rows = reader.expect("a table").into_deserialize();
        rows.map(|row| row.expect("a row")).collect()
    };
    let trades = rows(&trades);
    assert_eq!(
        trades.len() as u64 - 1,
        verified["counts"]["trades"].as_u64().expect("a count")
    );
    assert_eq!(written["trades"], trades.len() - 1);
    let orders = rows(&orders);
    let placed = site
        .frames
        .iter()
        .filter(|it| matches!(it.command, Command::PlaceOrder(_)));
    assert_eq!(orders.len() - 1, placed.count());
    for table in [&trades, &orders] {
        assert!(table.iter().all(|row| row.len() == table[0].len()));
    }
    let replayed = sound(journal.path(), &["replay"]);
    let open = orders.iter().filter(|row| row[14] == "live").count();
    assert_eq!(Some(open), replayed["orders"].as_array().map(Vec::len));

    let total: f64 = rows(&balances)
        .iter()
        .filter(|row| row[1] == "collateral")
        .flat_map(|row| {
            [
                row[3].parse::<f64>().unwrap(),
                row[4].parse::<f64>().unwrap(),
            ]
        })
        .sum();
    let accounts = replayed["accounts"].as_array().expect("accounts");
    let micros: u64 = accounts
        .iter()
        .map(|row| row["free_micros"].as_u64().unwrap() + row["reserved_micros"].as_u64().unwrap())
        .sum();
    assert!(
        (total * 1e6 - micros as f64).abs() < 1.0,
        "{total} and {micros}"
    );
    let (code, _) = audit_usage(journal.path());
    assert_eq!(code, 2, "an export of nothing");
}

fn audit_usage(journal: &Path) -> (i32, String) {
    let done = foretell_tests::exchange::foretell()
        .args(["audit", "--journal"])
        .arg(journal)
        .arg("export")
        .output()
        .expect("the binary runs");
    (
        done.status.code().expect("a code"),
        String::from_utf8_lossy(&done.stderr).into_owned(),
    )
}

#[test]
fn two_journals_are_the_same_one_goes_on_or_they_part() {
    let mut site = busy();
    let journal = sealed(&site.frames);
    let count = site.frames.len();
    let compare = |other: &[Loose]| {
        let other = sealed(other);
        let (first, second) = (journal.path().to_str(), other.path().to_str());
        audit(
            journal.path(),
            &["diff", first.expect("text"), second.expect("text")],
        )
    };
    let (code, same) = compare(&site.frames);
    assert_eq!((code, &same["relation"]), (SOUND, &"same".into()));
    assert_eq!(same["common_frames"], count);

    let (code, shorter) = compare(&site.frames[..count - 3]);
    assert_eq!(
        (code, &shorter["relation"]),
        (SOUND, &"first goes on".into())
    );
    let mut longer = site.frames.clone();
    site.idle();
    longer.extend(site.frames.last().cloned());
    let (code, longer) = compare(&longer);
    assert_eq!(
        (code, &longer["relation"]),
        (SOUND, &"second goes on".into())
    );

    let mut other = unseal(journal.path());
    other[9].evidence.push(1);
    let (code, other) = compare(&other);
    assert_eq!((code, &other["relation"]), (DIFFERENT, &"different".into()));
    assert_eq!(
        (&other["common_frames"], &other["first_difference"]),
        (&9.into(), &10.into())
    );
}

/// Offset of a frame in the middle of the first segment.
fn damage(journal: &Path) {
    let path = foretell_journal::segment::path(journal, 1);
    let mut bytes = fs::read(&path).expect("a segment");
    let middle = bytes.len() / 2 / 4_096 * 4_096 + 200;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("written");
}

/// The file always contains a complete table, the new one or the old one.
#[test]
fn an_export_that_cannot_be_finished_leaves_everything_as_it_was() {
    let journal = sealed(&busy().frames);
    let out = tempfile::tempdir().expect("a directory");
    let table = out.path().join("t.csv");
    let arguments = ["export", "--trades", table.to_str().expect("text")];
    sound(journal.path(), &arguments);
    let whole = fs::read(&table).expect("a table");
    let plain = fs::File::create(out.path().join("plain")).expect("a file");
    let mode = |file: &fs::Metadata| file.permissions().mode();
    let made = fs::metadata(&table).expect("a file");
    assert_eq!(mode(&made), mode(&plain.metadata().expect("a file")));

    damage(journal.path());
    let (code, answer) = audit(journal.path(), &arguments);
    assert_eq!(code, DAMAGED, "{answer}");
    assert_eq!(fs::read(&table).expect("a table"), whole);
    let files = fs::read_dir(out.path()).expect("a directory").count();
    assert_eq!(files, 2, "nothing else is left there");
    let (code, answer) = audit(journal.path(), &["export", "--trades", "/no/such/t.csv"]);
    assert_eq!(code, 1, "{answer}");
}

#[test]
fn two_tables_do_not_go_to_one_file_and_what_is_no_file_is_written_to() {
    let journal = sealed(&busy().frames);
    symlink(".", journal.path().join("here")).expect("a link");
    for same in ["t.csv", "./t.csv", "here/t.csv"] {
        let twice = ["export", "--trades", "t.csv", "--balances", same];
        let (code, answer) = audit(journal.path(), &twice);
        assert_eq!(code, 2, "{answer}");
        assert!(!journal.path().join("t.csv").exists());
    }
    let to_nowhere = ["export", "--trades", "/dev/null", "--orders", "o.csv"];
    sound(journal.path(), &to_nowhere);
    assert!(journal.path().join("o.csv").exists());
    assert!(fs::metadata("/dev/null").is_ok_and(|there| !there.is_file()));

    // The target of a link is written, and a file that others may not read keeps its mode.
    let at = |name: &str| journal.path().join(name);
    symlink("o.csv", at("link.csv")).expect("a link");
    let through_a_link = ["export", "--trades", "link.csv", "--orders", "o.csv"];
    assert_eq!(audit(journal.path(), &through_a_link).0, 2);
    fs::set_permissions(at("o.csv"), fs::Permissions::from_mode(0o600)).expect("a mode");
    for table in ["link.csv", "o.csv"] {
        fs::write(at("o.csv"), "before").expect("a file");
        sound(journal.path(), &["export", "--orders", table]);
        let written = fs::read_to_string(at("o.csv")).expect("a table");
        assert!(written.starts_with("sequence,"), "{written}");
        let file = fs::symlink_metadata(at("o.csv")).expect("a file");
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        assert!(at("link.csv").is_symlink());
    }
}

#[test]
fn of_two_journals_the_damaged_one_is_named() {
    let site = busy();
    let (first, second) = (sealed(&site.frames), sealed(&site.frames));
    damage(second.path());
    let damaged = second.path().to_str().expect("text");
    for pair in [[first.path(), second.path()], [second.path(), first.path()]] {
        let [one, other] = pair.map(|path| path.to_str().expect("text"));
        let (code, answer) = audit(first.path(), &["diff", one, other]);
        assert_eq!(code, DAMAGED, "{answer}");
        let said = answer["error"].as_str().expect("a text");
        assert!(said.starts_with(damaged), "{said}");
    }
}

/// The audited party made these files: none may block the auditor or exhaust its memory.
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let journal = sealed(&busy().frames);
    let mark = journal.path().join("watermark");
    symlink("/dev/zero", &mark).expect("a link");
    assert_eq!(audit(journal.path(), &["verify"]).0, UNREADABLE);
    fs::remove_file(&mark).expect("it is there");
    let long = fs::File::create(&mark).expect("a file");
    long.set_len(1 << 40).expect("a sparse file");
    assert_eq!(audit(journal.path(), &["verify"]).0, DAMAGED);
    let segment = foretell_journal::segment::path(journal.path(), 1);
    for path in [&mark, &segment] {
        fs::remove_file(path).expect("it is there");
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, path, FileType::Fifo, mode, 0).expect("a pipe");
        let (code, answer) = audit(journal.path(), &["verify"]);
        assert_eq!(code, UNREADABLE, "{answer}");
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|error| error.contains("not a regular file")),
            "{answer}"
        );
        fs::remove_file(path).expect("it is there");
    }
}

#[test]
fn an_export_does_not_take_the_place_of_the_journal() {
    let journal = sealed(&busy().frames);
    let before = fs::read(foretell_journal::segment::path(journal.path(), 1)).expect("a segment");
    for own in ["00000001.segment", "./00000002.segment", "watermark"] {
        let (code, answer) = audit(journal.path(), &["export", "--trades", own]);
        assert_eq!(code, 2, "{own}: {answer}");
    }
    let after = fs::read(foretell_journal::segment::path(journal.path(), 1)).expect("a segment");
    assert!(after == before);
    assert!(!journal.path().join("watermark").exists());
}

#[test]
fn segments_that_are_links_are_told_to_be_copied() {
    let journal = sealed(&busy().frames);
    let links = tempfile::tempdir().expect("a directory");
    let name = foretell_journal::segment::path(Path::new(""), 1);
    symlink(journal.path().join(&name), links.path().join(&name)).expect("a link");
    for command in ["verify", "replay"] {
        let (code, answer) = audit(links.path(), &[command]);
        assert_eq!(code, UNREADABLE, "{answer}");
        assert!(
            answer["hint"]
                .as_str()
                .is_some_and(|hint| hint.contains("copy"))
        );
    }
}
