//! A full disk: a small file system on a loop device, filled to its last block (promise 24).
//! Mounting needs root; without it the test prints that and passes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command as Program;

use foretell_journal::{Appender, JournalState, Options, Preallocator, SyncStep, Syncer, recover};
use foretell_model::{Command, Sequence, TimeNs};
use tempfile::TempDir;

/// Bytes of the file system.
const SIZE: u64 = 16 << 20;
/// Below this free space the journal reports a low disk.
const RESERVE: u64 = 4 << 20;
/// Evidence of each frame, so that few frames fill the disk.
static EVIDENCE: [u8; 60_000] = [7; 60_000];
/// Steps without room after which the test gives up.
const ENOUGH: usize = 20;

/// A file system that is unmounted when this is dropped.
struct SmallDisk {
    _image: TempDir,
    root: PathBuf,
}

impl SmallDisk {
    /// Creates and mounts it, or returns the reason for the failure.
    fn mount() -> Result<Self, String> {
        let folder = tempfile::tempdir().expect("a directory");
        let (image, root) = (folder.path().join("image"), folder.path().join("root"));
        let made = File::create(&image).and_then(|image| image.set_len(SIZE));
        made.and_then(|()| fs::create_dir(&root))
            .map_err(|error| error.to_string())?;
        run(Program::new("mkfs.ext4").args(["-q", "-F"]).arg(&image))?;
        run(Program::new("mount")
            .args(["-o", "loop"])
            .args([&image, &root]))?;
        Ok(Self {
            _image: folder,
            root,
        })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if let Err(why) = run(Program::new("umount").arg(&self.root)) {
            println!("{why}");
        }
    }
}

fn run(program: &mut Program) -> Result<(), String> {
    let output = program.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program:?}: {said}"))
}

/// A journal in one thread: its parts run in turns.
struct Journal {
    appender: Appender,
    syncer: Syncer,
    preallocator: Preallocator,
    state: JournalState,
}

impl Journal {
    fn open(dir: &Path) -> Self {
        let options = Options {
            segment_bytes: Options::MIN_SEGMENT_BYTES,
            staging_bytes: 512 << 10,
            disk_reserve_bytes: RESERVE,
            ..Options::default()
        };
        let recovered = recover(dir, options, Sequence(0), &mut |_| Ok(()));
        let (appender, syncer, state, preallocator) =
            recovered.expect("a journal").open().expect("room");
        Self {
            appender,
            syncer,
            preallocator,
            state,
        }
    }

    /// Appends a frame if there is room, and runs one turn of each part.
    fn turn(&mut self) -> SyncStep {
        assert!(self.preallocator.run_once(), "the preallocator goes on");
        if self.appender.has_room_for_largest() {
            let next = self.appender.last_sequence().next();
            let command = Command::AdvanceTime;
            let time = TimeNs(next.0);
            self.appender.append(next, time, &command, &[], &EVIDENCE);
            self.appender.publish();
        }
        self.syncer.step().expect("a full disk is no I/O error")
    }

    /// Runs turns until nothing is written any more.
    fn fill(&mut self) {
        let mut waited = 0;
        while waited < ENOUGH {
            match self.turn() {
                SyncStep::Durable(_) => waited = 0,
                SyncStep::Waiting => waited += 1,
                SyncStep::Idle | SyncStep::Written => {}
                SyncStep::Ended => panic!("the appender is there"),
            }
        }
    }
}

#[test]
fn a_disk_that_is_really_full_delays_and_loses_nothing() {
    let disk = match SmallDisk::mount() {
        Ok(disk) => disk,
        Err(why) => {
            println!("skipped, no file system can be mounted here: {why}");
            return;
        }
    };
    let filler = disk.root.join("filler");
    fs::write(&filler, vec![1; 3 << 20]).unwrap();
    let dir = disk.root.join("journal");
    let mut journal = Journal::open(&dir);
    assert!(!journal.state.disk_low(), "there is room yet");
    journal.fill();
    assert!(journal.state.disk_low(), "it was told before it was full");
    assert!(!journal.state.is_poisoned());
    let full = journal.state.durable();
    assert!(full > Sequence(30), "{full}");

    fs::remove_file(&filler).unwrap();
    journal.fill();
    let after = journal.state.durable();
    assert!(
        after > full,
        "it goes on when there is room: {full}, {after}"
    );

    // After a kill: every acknowledged frame is there, on a disk with room for the next segment.
    drop(journal);
    let kept = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(&dir).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), kept.path().join(entry.file_name())).unwrap();
    }
    let mut shown = Sequence(0);
    let recovered = recover(kept.path(), Options::default(), Sequence(0), &mut |frame| {
        assert_eq!(frame.sequence, shown.next());
        assert_eq!(frame.evidence, EVIDENCE);
        shown = frame.sequence;
        Ok(())
    });
    recovered.unwrap();
    assert!(shown >= after, "{shown} of {after}");
}
