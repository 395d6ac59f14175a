//! Shared by the journal's tests: small journals, made-up commands, a failing file system.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses a part of it"
)]

pub mod disk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use foretell_journal::{
    Appender, Follower, JournalError, JournalState, Next, Options, RecoveryReport, Scratch,
    SyncStep, Syncer, recover,
};
use foretell_model::command::{CancelOrder, Deposit};
use foretell_model::event::{AccountOpened, Deposited};
use foretell_model::{
    AccountNumber, Command, Durability, Event, FramePosition, Micros, OrderId, Reference, Sequence,
    TimeNs, WalletAddress,
};

/// Small segments and buffers.
pub fn small() -> Options {
    Options {
        segment_bytes: Options::MIN_SEGMENT_BYTES,
        staging_bytes: 768 << 10,
        watermark_after: Duration::from_secs(3_600),
        ..Options::default()
    }
}

/// The made-up command of a sequence, its events and its evidence; different for each sequence.
pub fn content(sequence: u64) -> (Command, Vec<Event>, Vec<u8>) {
    let byte = u8::try_from(sequence % 251).unwrap();
    let account = AccountNumber(u32::try_from(sequence % 1_000).unwrap());
    match sequence % 3 {
        0 => (
            Command::CancelOrder(CancelOrder {
                owner: account,
                order: OrderId([byte; 32]),
            }),
            Vec::new(),
            vec![byte; usize::try_from(sequence % 700).unwrap()],
        ),
        1 => (
            Command::Deposit(Deposit {
                wallet: WalletAddress([byte; 20]),
                amount: Micros(sequence),
                reference: Reference([byte; 32]),
            }),
            vec![
                Event::AccountOpened(AccountOpened {
                    account,
                    wallet: WalletAddress([byte; 20]),
                }),
                Event::Deposited(Deposited {
                    account,
                    amount: Micros(sequence),
                }),
            ],
            Vec::new(),
        ),
        _ => (
            Command::AdvanceTime,
            vec![Event::WorkPending],
            vec![1, 2, 3],
        ),
    }
}

pub fn time(sequence: u64) -> TimeNs {
    TimeNs(1_700_000_000_000_000_000 + sequence * 1_000)
}

/// A journal driven step by step in one thread.
pub struct Writer {
    pub appender: Option<Appender>,
    pub syncer: Syncer,
    pub state: JournalState,
    pub report: RecoveryReport,
}

impl Writer {
    pub fn open(dir: &Path) -> Self {
        Self::open_with(dir, small()).unwrap()
    }

    pub fn open_with(dir: &Path, options: Options) -> Result<Self, JournalError> {
        let recovered = recover(dir, options, Sequence(0), &mut |frame| {
            let (command, events, evidence) = content(frame.sequence.0);
            assert_eq!(*frame.command, command, "at {:?}", frame.sequence);
            assert_eq!(frame.events, events);
            assert_eq!(frame.evidence, evidence);
            assert_eq!(frame.time, time(frame.sequence.0));
            Ok(())
        })?;
        let report = recovered.report.clone();
        let (appender, syncer, state) = recovered.start()?;
        Ok(Self {
            appender: Some(appender),
            syncer,
            state,
            report,
        })
    }

    /// Stages the next frame.
    pub fn append(&mut self) -> FramePosition {
        if !self.appender.as_mut().unwrap().has_room_for_largest() {
            self.commit();
        }
        let appender = self.appender.as_mut().unwrap();
        assert!(appender.has_room_for_largest());
        let sequence = appender.last_sequence().next();
        let (command, events, evidence) = content(sequence.0);
        appender.append(sequence, time(sequence.0), &command, &events, &evidence)
    }

    /// Publishes the staged frames and writes them as one batch.
    pub fn commit(&mut self) -> Sequence {
        self.try_commit().unwrap()
    }

    pub fn try_commit(&mut self) -> Result<Sequence, JournalError> {
        self.appender.as_mut().unwrap().publish();
        loop {
            match self.syncer.step()? {
                SyncStep::Durable(sequence) => return Ok(sequence),
                SyncStep::Waiting => {
                    // The helper wakes no thread here: yield the CPU to it.
                    std::thread::yield_now();
                }
                other => panic!("nothing to commit: {other:?}"),
            }
        }
    }

    /// Writes a batch of `frames` frames.
    pub fn batch(&mut self, frames: usize) -> Vec<FramePosition> {
        let places = (0..frames).map(|_| self.append()).collect();
        self.commit();
        places
    }

    /// Ends in order.
    pub fn close(mut self) {
        self.appender = None;
        loop {
            match self.syncer.step().unwrap() {
                SyncStep::Ended => return,
                SyncStep::Durable(_) | SyncStep::Written | SyncStep::Idle | SyncStep::Waiting => {}
            }
        }
    }
}

/// Copies a directory: the state after kill -9.
pub fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    copy_into(from, to.path());
    to
}

pub fn copy_into(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap();
    }
}

pub fn segment(dir: &Path, number: u32) -> PathBuf {
    foretell_journal::segment::path(dir, number)
}

/// All sequences that a recovery of `dir` passes on, and its report.
pub fn recovered(dir: &Path) -> Result<(Vec<u64>, RecoveryReport), JournalError> {
    recovered_with(dir, small())
}

pub fn recovered_with(
    dir: &Path,
    options: Options,
) -> Result<(Vec<u64>, RecoveryReport), JournalError> {
    let mut seen = Vec::new();
    let recovered = recover(dir, options, Sequence(0), &mut |frame| {
        let (command, events, evidence) = content(frame.sequence.0);
        assert_eq!(*frame.command, command);
        assert_eq!(frame.events, events);
        assert_eq!(frame.evidence, evidence);
        seen.push(frame.sequence.0);
        Ok(())
    })?;
    Ok((seen, recovered.report))
}

/// Reads all frames that are durable now.
pub fn drain(follower: &mut Follower) -> Vec<u64> {
    let mut scratch = Scratch::default();
    let mut seen = Vec::new();
    loop {
        match follower.next_frame().unwrap() {
            Next::Frame(frame) => {
                let shown = frame.decode(&mut scratch).unwrap();
                let (command, events, evidence) = content(shown.sequence.0);
                assert_eq!(*shown.command, command);
                assert_eq!(shown.events, events);
                assert_eq!(shown.evidence, evidence);
                seen.push(shown.sequence.0);
            }
            Next::UpToDate => return seen,
            other => panic!("unexpected {other:?}"),
        }
    }
}

pub fn process_durability() -> Options {
    Options {
        durability: Durability::Process,
        ..small()
    }
}
