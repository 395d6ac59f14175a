//! Following across processes and engine restarts; kill -9 of the writer.
#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

#[path = "journal/common/mod.rs"]
mod common;

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{Writer, drain, recovered, segment, small};
use foretell_journal::batch::{BatchHeader, HEADER_BYTES};
use foretell_journal::control::WriterStatus;
use foretell_journal::{Follower, Next, Options, PAGE, recover, scan};
use foretell_model::Sequence;
use rstest::rstest;

const SOON: Duration = Duration::from_secs(30);
/// Marks a test process as the other process, and names its journal.
const DIRECTORY: &str = "FORETELL_TEST_JOURNAL";

/// Runs a test of this binary in another process with the journal's directory.
fn spawn(test: &str, dir: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--quiet"])
        .env(DIRECTORY, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// The rest of the child's next line that starts with `word`.
fn rest_of_line(output: &mut impl BufRead, word: &str) -> String {
    loop {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "the child ended");
        if let Some(rest) = line.trim().strip_prefix(word) {
            return rest.trim().to_owned();
        }
    }
}

/// The other process: prints every frame until the engine is gone.
fn print_followed_frames(dir: &Path) {
    let mut follower = Follower::open(dir, Sequence(0)).unwrap();
    println!("\nready");
    loop {
        // Read the status first: frames written before the end are then read below.
        let is_over = follower.status() == WriterStatus::Closed;
        match follower.next_frame().unwrap() {
            Next::Frame(frame) => {
                println!(
                    "frame {} {}",
                    frame.sequence(),
                    hex::encode(frame.receipt())
                );
                std::io::stdout().flush().unwrap();
            }
            Next::UpToDate if is_over => return,
            Next::UpToDate => follower.wait(SOON),
            Next::NewEpoch { .. } | Next::Rebuild { .. } => panic!("one engine"),
        }
    }
}

/// The other process: writes, and prints the durable sequence, until it is killed.
fn print_durable(dir: &Path) -> ! {
    let mut writer = Writer::open(dir);
    loop {
        writer.batch(3);
        println!("\ndurable {}", writer.state.durable());
        std::io::stdout().flush().unwrap();
    }
}

#[test]
fn another_process_follows_as_it_happens() {
    if let Some(dir) = env::var_os(DIRECTORY) {
        return print_followed_frames(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let (mut child, mut output) = spawn("another_process_follows_as_it_happens", dir.path());
    rest_of_line(&mut output, "ready");
    let mut seen = Vec::new();
    for frames in [1, 2, 5] {
        writer.batch(frames);
        // Each frame is seen before the next is written: no write needs a later one.
        for _ in 0..frames {
            seen.push(rest_of_line(&mut output, "frame"));
        }
    }
    while writer.batch(200)[0].segment < 3 {}
    let last = writer.state.durable().0;
    writer.close();
    while (seen.len() as u64) < last {
        seen.push(rest_of_line(&mut output, "frame"));
    }
    assert!(child.wait().unwrap().success());
    let mut expected = Vec::new();
    scan(dir.path(), Sequence(0), &mut |frame| {
        expected.push(format!(
            "{} {}",
            frame.sequence(),
            hex::encode(frame.receipt())
        ));
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, expected);
}

#[test]
fn kill_minus_nine_of_the_writer_loses_nothing_acknowledged() {
    const NAME: &str = "kill_minus_nine_of_the_writer_loses_nothing_acknowledged";
    if let Some(dir) = env::var_os(DIRECTORY) {
        print_durable(Path::new(&dir));
    }
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged: u64 = 0;
    for round in 1..=4 {
        let (mut child, mut output) = spawn(NAME, dir.path());
        for _ in 0..round * 10 {
            acknowledged = rest_of_line(&mut output, "durable").parse().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Acknowledged sequences that are still in the pipe count too.
        while let Some(Ok(text)) = (&mut output).lines().next() {
            if let Some(rest) = text.strip_prefix("durable ") {
                acknowledged = rest.parse().unwrap_or(acknowledged);
            }
        }
        let copy = common::copy(dir.path());
        let (seen, report) = recovered(copy.path()).unwrap();
        assert!(seen.len() as u64 >= acknowledged);
        assert_eq!(report.epoch, round + 1);
    }
}

#[test]
fn a_follower_goes_on_over_a_new_start_of_the_engine() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    writer.batch(3);
    writer.batch(4);
    assert_eq!(drain(&mut follower), [1, 2, 3, 4, 5, 6, 7]);
    let mut behind = Follower::open(dir.path(), Sequence(1)).unwrap();
    assert!(matches!(behind.next_frame().unwrap(), Next::Frame(_)));
    drop(writer);
    // The last batch was unproven, so it is rewritten; both followers continue.
    let mut writer = Writer::open(dir.path());
    assert_eq!(writer.report.rewritten, 4);
    assert!(matches!(
        follower.next_frame().unwrap(),
        Next::NewEpoch { epoch: 2 }
    ));
    assert_eq!(drain(&mut follower), Vec::<u64>::new());
    writer.batch(2);
    assert_eq!(drain(&mut follower), [8, 9]);
    let mut rest = Vec::new();
    loop {
        match behind.next_frame().unwrap() {
            Next::Frame(frame) => rest.push(frame.sequence().0),
            Next::NewEpoch { epoch } => assert_eq!(epoch, 2),
            Next::UpToDate => break,
            Next::Rebuild { .. } => panic!("nothing was lost"),
        }
    }
    assert_eq!(rest, [3, 4, 5, 6, 7, 8, 9]);
    // Once more, without a write in between.
    drop(writer);
    let third = Writer::open(dir.path());
    drop(third);
    let mut fourth = Writer::open(dir.path());
    fourth.batch(1);
    assert!(matches!(
        follower.next_frame().unwrap(),
        Next::NewEpoch { epoch: 4 }
    ));
    assert_eq!(drain(&mut follower), [10]);
}

#[test]
fn a_follower_that_read_what_is_lost_must_start_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    writer.batch(3);
    let places = writer.batch(4);
    assert_eq!(drain(&mut follower).len(), 7);
    // A follower that got the frames from elsewhere and has read none here.
    let mut fresh = Follower::open(dir.path(), Sequence(7)).unwrap();
    drop(writer);
    // The last batch is corrupted before the watermark covers it: the named limit of promise 2.
    let path = segment(dir.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(places[1].offset).unwrap()] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut writer = Writer::open(dir.path());
    assert_eq!(writer.report.last_sequence, Sequence(3));
    for _ in 0..2 {
        assert!(matches!(
            follower.next_frame().unwrap(),
            Next::Rebuild { epoch: 2 }
        ));
    }
    assert!(matches!(
        fresh.next_frame().unwrap(),
        Next::Rebuild { epoch: 2 }
    ));
    // The result is the same after as many other frames.
    writer.batch(9);
    assert!(matches!(
        follower.next_frame().unwrap(),
        Next::Rebuild { .. }
    ));
}

#[test]
fn a_follower_that_read_something_else_must_start_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    writer.batch(2);
    let saved = common::copy(dir.path());
    // Two continuations of one journal: the follower reads the first, then a backup is restored and
    // continued with other frames under the same sequences.
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    writer.batch(2);
    assert_eq!(drain(&mut follower), [1, 2, 3, 4]);
    drop(writer);
    for entry in fs::read_dir(dir.path()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    common::copy_into(saved.path(), dir.path());
    let writer = Writer::open(dir.path());
    assert_eq!(writer.report.last_sequence, Sequence(2));
    assert!(matches!(
        follower.next_frame().unwrap(),
        Next::Rebuild { .. }
    ));
}

#[rstest]
#[case::by_the_next_engine(1)]
#[case::by_one_it_slept_through(2)]
fn a_follower_whose_frames_were_replaced_by_others_must_start_over(#[case] starts: u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    writer.batch(2);
    let places = writer.batch(2);
    let seen = |follower: &mut Follower, count: u64| {
        for sequence in 1..=count {
            match follower.next_frame().unwrap() {
                Next::Frame(frame) => assert_eq!(frame.sequence(), Sequence(sequence)),
                other => panic!("{other:?}"),
            }
        }
    };
    seen(&mut follower, 4);
    drop(writer);
    // The last batch with another time in its last frame, valid in every other way. The follower
    // has the old bytes mapped, so the file is replaced, not written.
    let path = segment(dir.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let start = usize::try_from(places[0].offset).unwrap() - HEADER_BYTES;
    let header = BatchHeader::read(&bytes[start..]).unwrap();
    let before = BatchHeader::read(&bytes[start - PAGE..]).unwrap();
    let used = HEADER_BYTES + usize::try_from(header.payload).unwrap();
    let time = usize::try_from(places[1].offset).unwrap() + 16;
    bytes[time] ^= 1;
    let _ = BatchHeader::close(header, &before.hash, &mut bytes[start..start + used]);
    fs::remove_file(&path).unwrap();
    fs::write(&path, bytes).unwrap();
    let mut running = None;
    for _ in 0..starts {
        drop(running.take());
        let recovered = recover(dir.path(), small(), Sequence(0), &mut |_| Ok(())).unwrap();
        assert_eq!(recovered.report.last_sequence, Sequence(4));
        running = Some(recovered.start().unwrap());
    }
    match follower.next_frame().unwrap() {
        Next::Rebuild { epoch } => assert_eq!(epoch, 1 + starts),
        other => panic!("{other:?}"),
    }
    drop(running);
}

#[test]
fn a_follower_waits_through_the_time_between_two_engines() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    writer.batch(1);
    let path = dir.path().to_owned();
    let (saw, sees) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut follower = Follower::open(&path, Sequence(0)).unwrap();
        loop {
            match follower.next_frame().unwrap() {
                Next::Frame(frame) => saw.send(frame.sequence().0).unwrap(),
                Next::UpToDate => follower.wait(SOON),
                Next::NewEpoch { .. } => {}
                Next::Rebuild { .. } => panic!("nothing was lost"),
            }
            if follower.last_sequence() == Sequence(4) {
                return follower.epoch();
            }
        }
    });
    assert_eq!(sees.recv_timeout(SOON), Ok(1));
    drop(writer);
    let mut writer = Writer::open(dir.path());
    writer.batch(3);
    for sequence in 2..=4 {
        assert_eq!(sees.recv_timeout(SOON), Ok(sequence));
    }
    assert_eq!(reader.join().unwrap(), 2);
}

#[test]
fn a_live_journal_can_be_audited_up_to_what_is_durable() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(dir.path());
    while writer.batch(100)[0].segment < 2 {}
    // Half a batch has been written after the durable position.
    let end = fs::read(segment(dir.path(), 2))
        .unwrap()
        .iter()
        .rposition(|byte| *byte != 0)
        .unwrap();
    let mut bytes = fs::read(segment(dir.path(), 2)).unwrap();
    let next = (end + 1).next_multiple_of(PAGE);
    bytes[next..next + 50].fill(0xab);
    fs::write(segment(dir.path(), 2), bytes).unwrap();
    let report = scan(dir.path(), Sequence(0), &mut |_| Ok(())).unwrap();
    assert_eq!(report.last_sequence, writer.state.durable());
    assert_eq!(report.torn, None);
    assert_eq!(report.genesis, writer.state.genesis());
}

#[test]
fn an_audit_of_a_journal_at_rest_tells_a_torn_tail_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::open_with(
        dir.path(),
        Options {
            watermark_after: Duration::ZERO,
            ..small()
        },
    )
    .unwrap();
    writer.batch(5);
    drop(writer);
    let path = segment(dir.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[12_300] = 1;
    fs::write(&path, &bytes).unwrap();
    let report = scan(dir.path(), Sequence(2), &mut |frame| {
        assert!(frame.sequence() > Sequence(2));
        Ok(())
    })
    .unwrap();
    assert_eq!(report.last_sequence, Sequence(5));
    assert_eq!(report.proven_sequence, Sequence(5));
    assert_eq!(report.torn, Some((8_192, 16_384)));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}
