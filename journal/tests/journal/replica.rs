//! Cluster mode: what the leader seals, its copies, and the cut of what the log does not have.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use foretell_journal::batch::BatchHeader;
use foretell_journal::replica::{
    self, Item, LocalEnd, LogQueue, MAX_IN_FLIGHT, ReplicaError, ReplicaWriter, Written,
    read_set_aside, recover_replica,
};
use foretell_journal::segment::SegmentHeader;
use foretell_journal::{
    Appender, Follower, FrameVisitor, JournalError, JournalState, Next, Options, Preallocator,
    SyncStep, Syncer, scan, watermark,
};
use foretell_model::{FrameRef, Sequence};

use crate::common::disk::{Change, RecordingDisk};
use crate::common::{Writer, content, segment, small, time};

/// Watermarks at once, so that a test sees what they cover.
fn options() -> Options {
    Options {
        watermark_after: std::time::Duration::ZERO,
        staging_bytes: replica::MAX_ITEM_BYTES,
        ..small()
    }
}

#[derive(Default)]
struct Seen(Vec<u64>);

impl FrameVisitor for Seen {
    fn frame(&mut self, frame: &FrameRef<'_>) -> Result<(), String> {
        let (command, events, evidence) = content(frame.sequence.0);
        assert_eq!((*frame.command, frame.events), (command, &events[..]));
        assert_eq!(frame.evidence, evidence);
        self.0.push(frame.sequence.0);
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// A copy of the log that receives.
struct Copy {
    writer: ReplicaWriter,
    state: JournalState,
    _preallocator: Preallocator,
    recovered: Vec<u64>,
}

impl Copy {
    /// Opens a copy whose end was compared with the log.
    fn open(dir: &Path) -> Self {
        let mut seen = Seen::default();
        let recovered = recover_replica(dir, options(), Sequence(0), &mut seen).unwrap();
        let (writer, state, preallocator) = ReplicaWriter::open(recovered).unwrap();
        Self {
            writer,
            state,
            _preallocator: preallocator,
            recovered: seen.0,
        }
    }

    fn receive(&mut self, message: &[u8]) -> Result<Written, ReplicaError> {
        let item = Item::read(message).map_err(ReplicaError::Mismatch)?;
        self.writer.write(&item, message)
    }

    fn receive_all(&mut self, messages: &[Vec<u8>]) {
        for message in messages {
            self.receive(message).unwrap();
        }
        self.writer.sync().unwrap();
    }
}

/// A leader, driven step by step, and the log it writes to.
struct Leader {
    appender: Option<Appender>,
    syncer: Syncer,
    state: JournalState,
    queue: LogQueue,
    preallocator: Preallocator,
    log: Vec<Vec<u8>>,
}

impl Leader {
    /// Founds a journal and leads it.
    fn found(dir: &Path) -> Self {
        let header = replica::create(dir, &options(), None).unwrap();
        Self::take_over(Copy::open(dir), vec![header.page().to_vec()])
    }

    fn take_over(mut copy: Copy, mut log: Vec<Vec<u8>>) -> Self {
        let header = copy.writer.takeover_header(copy.writer.term() + 1);
        log.push(header.page().to_vec());
        copy.receive(log.last().unwrap()).unwrap();
        let (appender, syncer, queue) = copy.writer.lead();
        Self {
            appender: Some(appender),
            syncer,
            state: copy.state,
            queue,
            preallocator: copy._preallocator,
            log,
        }
    }

    /// Writes `frames` frames to the disk alone: one batch, or two at the end of a segment.
    fn write(&mut self, frames: usize) -> SyncStep {
        for _ in 0..frames {
            if !self.appender.as_mut().unwrap().has_room_for_largest() {
                self.step();
            }
            let appender = self.appender.as_mut().unwrap();
            assert!(appender.has_room_for_largest());
            let sequence = appender.last_sequence().next();
            let (command, events, evidence) = content(sequence.0);
            appender.append(sequence, time(sequence.0), &command, &events, &evidence);
        }
        self.appender.as_mut().unwrap().publish();
        self.step()
    }

    /// A step of the sync thread, once a segment is prepared.
    fn step(&mut self) -> SyncStep {
        loop {
            match self.syncer.step().unwrap() {
                SyncStep::Waiting if self.queue.in_flight() < MAX_IN_FLIGHT => {
                    assert!(self.preallocator.run_once());
                }
                step => return step,
            }
        }
    }

    /// The log takes everything that was submitted.
    fn confirm(&mut self) {
        while let Some(message) = self.queue.take() {
            self.log.push(message);
            self.queue.confirm();
        }
    }

    fn batch(&mut self, frames: usize) {
        self.write(frames);
        self.confirm();
    }
}

fn segments(dir: &Path) -> Vec<(u32, Vec<u8>)> {
    (1..)
        .map_while(|number| Some((number, fs::read(segment(dir, number)).ok()?)))
        .collect()
}

/// A whole run: founding, batches over a segment's end, a takeover, more batches.
fn history(dir: &Path) -> Vec<Vec<u8>> {
    let mut leader = Leader::found(dir);
    for frames in [1, 3, 700, 2, 700, 700, 700, 700, 1] {
        leader.batch(frames);
    }
    leader.log.clone()
}

#[test]
fn a_copy_has_the_leader_s_bytes() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = history(dir.path());
    let Ok(Item::Segment(first)) = Item::read(&log[0]) else {
        panic!("the first message is a header");
    };
    replica::create(other.path(), &options(), Some(first)).unwrap();
    let mut copy = Copy::open(other.path());
    copy.receive_all(&log[1..]);
    assert_eq!(copy.state.durable(), copy.writer.last_sequence());
    assert!(segments(dir.path()).len() > 2, "over a segment's end");
    assert_eq!(segments(other.path()), segments(dir.path()));
    copy.writer.finish().unwrap();
    // What the log holds is the journal, item by item.
    let mut items = Vec::new();
    replica::each_item(other.path(), &options(), &mut |item| {
        items.push(item.to_vec());
        Ok(())
    })
    .unwrap();
    assert_eq!(items, log);
}

#[test]
fn frames_become_durable_when_disk_and_log_have_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut leader = Leader::found(dir.path());
    assert_eq!(leader.write(3), SyncStep::Written);
    assert_eq!(leader.state.durable(), Sequence(0));
    assert_eq!(leader.write(2), SyncStep::Written);
    // The log takes the first batch only.
    leader.log.push(leader.queue.take().unwrap());
    assert_eq!(leader.queue.confirm(), Some(Sequence(3)));
    assert_eq!(leader.state.durable(), Sequence(3));
    leader.write(1);
    leader.confirm();
    assert_eq!(leader.state.durable(), Sequence(6));
    // The proven field of a batch is what both had when it was closed.
    let proven: Vec<u64> = leader.log[2..]
        .iter()
        .map(|message| BatchHeader::read(message).unwrap().proven.0)
        .collect();
    assert_eq!(proven, [0, 0, 3]);
    // The watermark follows, at the next step.
    leader.syncer.step().unwrap();
    let mark = watermark::read(dir.path()).unwrap().unwrap();
    assert_eq!(mark.sequence, Sequence(6));
}

#[test]
fn a_watermark_never_covers_what_the_log_lacks() {
    let dir = tempfile::tempdir().unwrap();
    let mut leader = Leader::found(dir.path());
    leader.batch(4);
    leader.write(5);
    for _ in 0..3 {
        leader.syncer.step().unwrap();
    }
    let mark = watermark::read(dir.path()).unwrap().unwrap();
    assert_eq!(mark.sequence, Sequence(4));
}

#[test]
fn the_sync_thread_waits_while_the_log_lacks_too_many_items() {
    let dir = tempfile::tempdir().unwrap();
    let mut leader = Leader::found(dir.path());
    for _ in 0..MAX_IN_FLIGHT {
        assert_eq!(leader.write(1), SyncStep::Written);
    }
    assert_eq!(leader.write(1), SyncStep::Waiting);
    assert_eq!(leader.queue.in_flight(), MAX_IN_FLIGHT);
    leader.log.push(leader.queue.take().unwrap());
    leader.queue.confirm();
    assert_eq!(leader.syncer.step().unwrap(), SyncStep::Written);
    leader.confirm();
    assert_eq!(leader.state.durable(), Sequence(MAX_IN_FLIGHT as u64 + 1));
}

#[test]
fn a_start_resumes_in_the_middle_of_a_segment_and_rewrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let log = history(dir.path());
    let before = segments(dir.path());
    let copy = Copy::open(dir.path());
    assert_eq!(copy.recovered.len(), 3_507);
    assert_eq!(segments(dir.path()), before);
    let epoch = before
        .iter()
        .map(|(_, bytes)| SegmentHeader::read(bytes).unwrap().epoch);
    assert_eq!(copy.state.epoch(), epoch.max().unwrap());
    // The next leader begins a segment of the next term after it.
    let mut leader = Leader::take_over(copy, log);
    assert_eq!(leader.state.epoch(), 3);
    leader.batch(2);
    assert_eq!(leader.state.durable(), Sequence(3_509));
    let mut last = Sequence(0);
    let report = scan(dir.path(), Sequence(0), &mut |frame| {
        last = frame.sequence();
        Ok(())
    });
    assert_eq!((last, report.unwrap().epoch), (Sequence(3_509), 3));
}

#[test]
fn what_the_log_lacks_is_set_aside_at_every_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut leader = Leader::found(dir.path());
    for frames in [5, 700, 700] {
        leader.batch(frames);
    }
    leader.write(703);
    drop((leader.appender.take(), leader.syncer));
    let whole = LocalEnd::open(dir.path(), &options()).unwrap();
    let items = whole.items().to_vec();
    drop(whole);
    let confirmed = items.iter().rposition(|item| item.confirmed).unwrap();
    assert_eq!(items[confirmed].last, Sequence(1_405));
    assert!(
        items.last().unwrap().segment > items[confirmed].segment,
        "a segment is cut too"
    );
    for kept in confirmed + 1..=items.len() {
        let copy = tempfile::tempdir().unwrap();
        crate::common::copy_into(dir.path(), copy.path());
        let local = LocalEnd::open(copy.path(), &options()).unwrap();
        let aside = local.keep(kept).unwrap();
        assert_eq!(aside.is_some(), kept < items.len(), "{kept}");
        let end = items[kept - 1];
        // A second comparison finds nothing more, and the journal goes on from there.
        let again = LocalEnd::open(copy.path(), &options()).unwrap();
        assert_eq!(again.items(), &items[..kept]);
        assert_eq!(again.keep(kept).unwrap(), None);
        let mut resumed = Copy::open(copy.path());
        assert_eq!(resumed.writer.last_sequence(), end.last);
        let header = resumed.writer.takeover_header(7);
        resumed.receive(&header.page()[..]).unwrap();
        // Every frame that was cut can be read from the files that were set aside.
        let mut cut: Vec<u64> = Vec::new();
        let folder = copy.path().join(replica::SET_ASIDE_DIRECTORY);
        let mut files: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let batches = read_set_aside(&file).unwrap();
            for (_, frames) in batches.batches() {
                cut.extend(frames.map(|frame| frame.unwrap().sequence().0));
            }
        }
        let expected: Vec<u64> = (end.last.0 + 1..=2_108).collect();
        assert_eq!(cut, expected, "{kept}");
    }
}

#[test]
fn a_confirmed_item_is_never_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut leader = Leader::found(dir.path());
    leader.batch(5);
    leader.batch(2);
    leader.syncer.step().unwrap();
    drop((leader.appender.take(), leader.syncer));
    let before = segments(dir.path());
    for kept in 0..3 {
        let local = LocalEnd::open(dir.path(), &options()).unwrap();
        let count = local.items().len();
        assert_eq!(count, 3, "the header of term 2 and two batches");
        let refused = local.keep(kept);
        assert!(
            matches!(refused, Err(JournalError::NotInLog(_))),
            "{kept}: {refused:?}"
        );
    }
    assert_eq!(segments(dir.path()), before);
}

#[test]
fn a_torn_tail_is_cut_and_received_again() {
    let dir = tempfile::tempdir().unwrap();
    let log = history(dir.path());
    let (number, bytes) = segments(dir.path()).pop().unwrap();
    let at = LocalEnd::open(dir.path(), &options())
        .unwrap()
        .items()
        .last()
        .unwrap()
        .offset;
    // The last batch's first page is lost, as after a power cut before its sync.
    let mut torn = bytes;
    let start = usize::try_from(at).unwrap();
    torn[start..start + 100].fill(0xAA);
    // The watermark does not cover it.
    let behind = dir.path().join("watermark");
    let mark = {
        let mut mark = watermark::read(dir.path()).unwrap().unwrap();
        let previous = {
            let local = LocalEnd::open(dir.path(), &options()).unwrap();
            let items = local.items();
            items[items.len() - 2]
        };
        let header = BatchHeader::read(&torn[usize::try_from(previous.offset).unwrap()..]).unwrap();
        mark.count += 1;
        (mark.sequence, mark.end, mark.hash) = (header.last, previous.end, header.hash);
        mark
    };
    let page = mark.page();
    let slot = usize::try_from(mark.count % 2).unwrap() * 4_096;
    let mut file = fs::read(&behind).unwrap();
    file[slot..slot + 4_096].copy_from_slice(&page[..]);
    fs::write(&behind, file).unwrap();
    fs::write(segment(dir.path(), number), &torn).unwrap();
    let refused = recover_replica(dir.path(), options(), Sequence(0), &mut Seen::default());
    assert!(
        refused.is_err(),
        "a torn tail must be compared with the log first"
    );
    let local = LocalEnd::open(dir.path(), &options()).unwrap();
    let count = local.items().len();
    assert!(local.keep(count).unwrap().is_some());
    let mut copy = Copy::open(dir.path());
    copy.receive(log.last().unwrap()).unwrap();
    copy.writer.sync().unwrap();
    assert_eq!(copy.writer.last_sequence(), Sequence(3_507));
}

#[test]
fn a_message_that_does_not_follow_is_refused_and_changes_nothing() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let log = history(dir.path());
    let Ok(Item::Segment(first)) = Item::read(&log[0]) else {
        panic!("the first message is a header");
    };
    replica::create(other.path(), &options(), Some(first)).unwrap();
    let mut copy = Copy::open(other.path());
    for at in 1..log.len() {
        let before = segments(other.path());
        // Skipped, repeated, damaged at its start and at its end.
        if let Some(skipping) = log.get(at + 1) {
            assert!(copy.receive(skipping).is_err(), "{at} skipped");
        }
        assert!(copy.receive(&log[at - 1]).is_err(), "{at} repeated");
        for byte in [9, 40, 65, log[at].len() - 1] {
            let mut damaged = log[at].clone();
            damaged[byte] ^= 1;
            assert!(copy.receive(&damaged).is_err(), "{at}, byte {byte}");
        }
        assert!(
            copy.receive(&log[at][..log[at].len() - 1]).is_err(),
            "{at} cut"
        );
        assert_eq!(segments(other.path()), before);
        copy.receive(&log[at]).unwrap();
    }
    // A leader of an earlier term.
    let mut late = copy.writer.takeover_header(1);
    assert!(copy.receive(&late.page()[..]).is_err());
    late.epoch = 2;
    late.bytes = 12_345;
    assert!(copy.receive(&late.page()[..]).is_err());
}

#[test]
fn a_copy_syncs_through_the_proven_field_before_it_writes_the_batch() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut leader = Leader::found(dir.path());
    leader.batch(1);
    leader.write(1);
    leader.write(1);
    leader.confirm();
    leader.batch(1);
    let proven: Vec<u64> = leader.log[2..]
        .iter()
        .map(|message| BatchHeader::read(message).unwrap().proven.0)
        .collect();
    assert_eq!(proven, [0, 1, 1, 3]);
    let Ok(Item::Segment(first)) = Item::read(&leader.log[0]) else {
        panic!("the first message is a header");
    };
    let disk = RecordingDisk::default();
    let watched = Options {
        disk: Arc::new(disk.clone()),
        ..small()
    };
    replica::create(other.path(), &watched, Some(first)).unwrap();
    let recovered = recover_replica(other.path(), watched, Sequence(0), &mut Seen::default());
    let opened = ReplicaWriter::open(recovered.unwrap());
    let (mut writer, state, _preallocator) = opened.unwrap();
    let mut syncs = Vec::new();
    for message in &leader.log[1..] {
        disk.reset_counts();
        writer
            .write(&Item::read(message).unwrap(), message)
            .unwrap();
        syncs.push(disk.counts().1);
    }
    // The header syncs its own file; the batches sync only what a proven field covers.
    assert_eq!(&syncs[1..], [0, 1, 0, 1]);
    assert_eq!(state.durable(), Sequence(3), "what was synced on the way");
    writer.sync().unwrap();
    assert_eq!(state.durable(), Sequence(4));
}

#[test]
fn followers_of_a_copy_see_a_takeover_as_a_new_epoch() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut leader = Leader::found(dir.path());
    leader.batch(2);
    let Ok(Item::Segment(first)) = Item::read(&leader.log[0]) else {
        panic!("the first message is a header");
    };
    replica::create(other.path(), &options(), Some(first)).unwrap();
    let mut copy = Copy::open(other.path());
    let mut follower = Follower::open(other.path(), Sequence(0)).unwrap();
    assert_eq!(follower.epoch(), 1);
    copy.receive_all(&leader.log[1..]);
    let mut seen = Vec::new();
    let mut epochs = Vec::new();
    let mut drain = |follower: &mut Follower, seen: &mut Vec<u64>| loop {
        match follower.next_frame().unwrap() {
            Next::Frame(frame) => seen.push(frame.sequence().0),
            Next::NewEpoch { epoch } => epochs.push(epoch),
            Next::UpToDate => return,
            other => panic!("{other:?}"),
        }
    };
    drain(&mut follower, &mut seen);
    let mut second = Leader::take_over(copy, leader.log.clone());
    second.batch(1);
    drain(&mut follower, &mut seen);
    // A restart in the same term continues, too.
    second.syncer.step().unwrap();
    drop((second.appender.take(), second.syncer));
    let mut again = Copy::open(other.path());
    drain(&mut follower, &mut seen);
    let header = again.writer.takeover_header(4);
    again.receive(&header.page()[..]).unwrap();
    let (mut appender, mut syncer, queue) = again.writer.lead();
    let (command, events, evidence) = content(4);
    assert!(appender.has_room_for_largest());
    appender.append(Sequence(4), time(4), &command, &events, &evidence);
    appender.publish();
    syncer.step().unwrap();
    drain(&mut follower, &mut seen);
    assert_eq!(seen, [1, 2, 3], "not visible before the log has it");
    queue.confirm();
    drain(&mut follower, &mut seen);
    assert_eq!(seen, [1, 2, 3, 4]);
    assert_eq!(epochs, [2, 3, 3, 4]);
}

#[test]
fn readers_of_a_copy_whose_log_is_silent_see_what_disk_and_log_had() {
    let dir = tempfile::tempdir().unwrap();
    let mut leader = Leader::found(dir.path());
    leader.batch(2);
    leader.write(1);
    let earlier = fs::read(watermark::path(dir.path())).unwrap();
    leader.confirm();
    leader.write(1);
    let term = leader.state.epoch();
    drop(leader);
    // The last batch proves the one before, which the watermark does not cover; the log lacks it.
    fs::write(watermark::path(dir.path()), earlier).unwrap();
    let mark = watermark::read(dir.path()).unwrap().unwrap();
    assert_eq!(mark.sequence, Sequence(2));
    let publish = || replica::publish_confirmed(dir.path(), &options()).unwrap();
    let page = || fs::read(dir.path().join("control")).unwrap();
    let before = page();
    assert_eq!(publish().map(|end| end.last), Some(Sequence(3)));
    assert_eq!(page(), before, "the page of this boot is as good");
    fs::remove_file(dir.path().join("control")).unwrap();
    let end = publish().unwrap();
    assert_eq!((end.last, end.term), (Sequence(3), term));

    let mut follower = Follower::open(dir.path(), Sequence(0)).unwrap();
    for sequence in 1..=3 {
        let Next::Frame(frame) = follower.next_frame().unwrap() else {
            panic!("no frame {sequence}");
        };
        assert_eq!(frame.sequence(), Sequence(sequence));
    }
    assert!(matches!(follower.next_frame().unwrap(), Next::UpToDate));
    // The log answers: it does not have the last batch.
    let local = LocalEnd::open(dir.path(), &options()).unwrap();
    let kept = local.items().len() - 1;
    assert!(local.keep(kept).unwrap().is_some());
    let copy = Copy::open(dir.path());
    assert_eq!(copy.recovered, [1, 2, 3]);
    assert!(matches!(
        follower.next_frame().unwrap(),
        Next::NewEpoch { .. }
    ));
    assert!(matches!(follower.next_frame().unwrap(), Next::UpToDate));
    let empty = tempfile::tempdir().unwrap();
    let none = replica::publish_confirmed(empty.path(), &options());
    assert_eq!(none.unwrap(), None);
}

#[test]
fn a_superseded_leader_makes_nothing_durable_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let mut leader = Leader::found(dir.path());
    leader.batch(2);
    leader.write(3);
    leader.queue.supersede("another host leads");
    assert!(leader.state.is_poisoned());
    assert!(matches!(
        leader.syncer.step(),
        Err(JournalError::Poisoned(_))
    ));
    assert_eq!(leader.state.durable(), Sequence(2));
    let marker = foretell_journal::marker_path(dir.path());
    assert!(!marker.exists(), "the disk is not at fault");
}

#[test]
fn a_marked_copy_does_not_start_alone() {
    let dir = tempfile::tempdir().unwrap();
    history(dir.path());
    fs::write(replica::marker_path(dir.path()), "").unwrap();
    let refused = Writer::open_with(dir.path(), options());
    assert!(matches!(refused.map(drop), Err(JournalError::Replica(_))));
    fs::remove_file(replica::marker_path(dir.path())).unwrap();
    let alone = Writer::open_with(dir.path(), options()).unwrap();
    assert_eq!(alone.report.last_sequence, Sequence(3_507));
}

/// Cluster mode must cost a host that is alone nothing: one write and one sync a batch, as ever.
#[test]
fn a_journal_that_is_alone_writes_and_syncs_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let disk = RecordingDisk::default();
    let options = Options {
        disk: Arc::new(disk.clone()),
        ..small()
    };
    let mut writer = Writer::open_with(dir.path(), options).unwrap();
    let begun = disk.changes().len();
    let mut batches = Vec::new();
    for frames in [1, 4, 2] {
        writer.batch(frames);
        batches.push(frames);
    }
    let ours = segment(dir.path(), 1);
    let calls: Vec<String> = disk.changes()[begun..]
        .iter()
        .filter_map(|change| match change {
            Change::Write(path, offset, bytes) if *path == ours => {
                Some(format!("write {offset} {}", bytes.len()))
            }
            Change::Sync(path) if *path == ours => Some("sync".to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(
        calls,
        [
            "write 4096 4096",
            "sync",
            "write 8192 4096",
            "sync",
            "write 12288 4096",
            "sync"
        ]
    );
    let proven: Vec<u64> = [4_096, 8_192, 12_288]
        .map(|at| {
            BatchHeader::read(&fs::read(&ours).unwrap()[at..])
                .unwrap()
                .proven
                .0
        })
        .to_vec();
    assert_eq!(proven, [0, 1, 5]);
}
