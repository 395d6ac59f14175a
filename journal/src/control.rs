//! The control page: the writer publishes the durable position to other processes.
//!
//! The file is recreated at each engine start and mapped by all readers. It proves nothing after a
//! power cut, so it contains the machine's boot id. Within one boot its content stays true, also
//! after the engine has ended.
//! ```text
//!   0 magic "FRTLCTRL" | 8 version u32 | 12 status u32
//!  16 epoch u64        | 24 generation u64 | 32 genesis, 32 bytes | 64 boot id, 16 bytes
//!  80 first segment of the epoch u32 | 84 zero u32
//!  88 first sequence of that segment u64 | 96 last sequence found at the start u64
//! 128 durable sequence u64 | 136 durable offset u32, segment u32 | 144 wake-up count u32
//! ```
//! Status, durable sequence, durable position and wake-up count change, each by an atomic store.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use foretell_model::Sequence;
use memmap2::MmapOptions;
use rustix::fs::OFlags;

use crate::bytes::{PAGE, hash_at, put_u32, put_u64, u32_at, u64_at};
use crate::error::{Context, JournalError};
use crate::map::open_for_reading;
use crate::primitives::fence;

#[cfg_attr(loom, path = "../tests/loom/shared_atomics.rs")]
mod shared_atomics;

pub(crate) use shared_atomics::SharedAtomics;

/// First bytes of the page.
pub const MAGIC: [u8; 8] = *b"FRTLCTRL";
/// The version of the page, and that of a copy of a replicated log: its epoch is a term, which may
/// stay the same at a start and rise while the engine runs.
pub const VERSION: u32 = 1;
/// The version of the page of a copy of a replicated log.
pub const REPLICA_VERSION: u32 = 2;

const STATUS_AT: usize = 12;
const SEQUENCE_AT: usize = 128;
const POSITION_AT: usize = 136;
const WAKE_AT: usize = 144;

/// Status of the engine that owns the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriterStatus {
    /// Running (or killed).
    Live,
    /// Ended in order.
    Closed,
    /// Ended on an I/O error; acknowledges nothing more.
    Failed,
    /// Another engine start has taken over; readers must open the new page.
    Superseded,
}

impl WriterStatus {
    const fn code(self) -> u32 {
        match self {
            Self::Live => 1,
            Self::Closed => 2,
            Self::Failed => 3,
            Self::Superseded => 4,
        }
    }

    const fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Live,
            2 => Self::Closed,
            3 => Self::Failed,
            _ => Self::Superseded,
        }
    }
}

/// The constant fields of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineStart {
    /// The epoch of the engine start.
    pub epoch: u64,
    /// A random number, different at every start, also after a restore from a copy.
    pub generation: u64,
    /// The random bytes that name the journal.
    pub genesis: [u8; 32],
    /// The segment this start began with.
    pub segment: u32,
    /// Sequence of that segment's first frame. Its frames up to `found` were rewritten at the
    /// start.
    pub first: Sequence,
    /// The last sequence at the start.
    pub found: Sequence,
    /// A copy of a replicated log: [`REPLICA_VERSION`].
    pub is_replica: bool,
}

/// The durable position: all bytes below `offset` of `segment`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct JournalPosition {
    /// Number of the segment.
    pub segment: u32,
    /// End of the last durable batch in it.
    pub offset: u32,
}

impl JournalPosition {
    fn pack(self) -> u64 {
        u64::from(self.segment) << 32 | u64::from(self.offset)
    }

    fn unpack(packed: u64) -> Self {
        let bytes = packed.to_le_bytes();
        Self {
            segment: u32_at(&bytes, 4),
            offset: u32_at(&bytes, 0),
        }
    }
}

/// The page's file.
#[must_use]
pub fn path(dir: &Path) -> PathBuf {
    dir.join("control")
}

/// The kernel's boot id; zero if it has none.
fn boot_id() -> [u8; 16] {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mut id = [0; 16];
    let digits = text
        .bytes()
        .filter_map(|byte| char::from(byte).to_digit(16));
    for (index, digit) in digits.take(32).enumerate() {
        let digit = u8::try_from(digit).expect("a hex digit is below 16");
        id[index / 2] = id[index / 2] << 4 | digit;
    }
    id
}

/// The writer's side.
#[derive(Debug)]
pub(crate) struct ControlPage(pub(crate) SharedAtomics);

impl ControlPage {
    /// Writes a new page and renames it into place.
    pub(crate) fn create(
        dir: &Path,
        start: &EngineStart,
        durable: Sequence,
        position: JournalPosition,
    ) -> Result<Self, JournalError> {
        let mut page = vec![0; PAGE];
        page[..8].copy_from_slice(&MAGIC);
        let version = if start.is_replica {
            REPLICA_VERSION
        } else {
            VERSION
        };
        put_u32(&mut page, 8, version);
        put_u32(&mut page, STATUS_AT, WriterStatus::Live.code());
        put_u64(&mut page, 16, start.epoch);
        put_u64(&mut page, 24, start.generation);
        page[32..64].copy_from_slice(&start.genesis);
        page[64..80].copy_from_slice(&boot_id());
        put_u32(&mut page, 80, start.segment);
        put_u64(&mut page, 88, start.first.0);
        put_u64(&mut page, 96, start.found.0);
        put_u64(&mut page, SEQUENCE_AT, durable.0);
        put_u64(&mut page, POSITION_AT, position.pack());
        let fresh = dir.join("control.tmp");
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)
            .and_then(|mut file| file.write_all(&page))
            .context("write", &fresh)?;
        let map = Self(map_writable(&fresh).context("map", &fresh)?);
        fs::rename(&fresh, path(dir)).context("rename", &fresh)?;
        Ok(map)
    }

    /// Publishes that all frames up to `sequence`, which ends at `position`, are durable.
    pub(crate) fn raise(&self, sequence: Sequence, position: JournalPosition) {
        // The position first: a reader that sees the sequence also sees a position that covers it.
        self.0
            .u64(POSITION_AT)
            .store(position.pack(), Ordering::Release);
        self.0.u64(SEQUENCE_AT).store(sequence.0, Ordering::Release);
        self.wake();
    }

    pub(crate) fn set_status(&self, status: WriterStatus) {
        self.0
            .u32(STATUS_AT)
            .store(status.code(), Ordering::Release);
        self.wake();
    }

    pub(crate) fn wake(&self) {
        self.0.u32(WAKE_AT).fetch_add(1, Ordering::Release);
        self.0.wake_all();
    }

    pub(crate) fn wake_count(&self) -> u32 {
        self.0.u32(WAKE_AT).load(Ordering::Acquire)
    }

    pub(crate) fn wait(&self, seen: u32, timeout: Duration) {
        self.0.sleep(seen, timeout);
    }
}

fn map_writable(path: &Path) -> io::Result<SharedAtomics> {
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).expect("open flags are an int");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(no_follow)
        .open(path)?;
    if file.metadata()?.len() < PAGE as u64 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(SharedAtomics::new(
        MmapOptions::new().len(PAGE).map_raw(&file)?,
    ))
}

/// Marks the page of an earlier start as superseded for its readers, and removes it.
pub(crate) fn supersede(dir: &Path) -> Result<(), JournalError> {
    let path = path(dir);
    if let Ok(map) = map_writable(&path) {
        ControlPage(map).set_status(WriterStatus::Superseded);
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(JournalError::io("remove", &path, error))
        }
        _ => Ok(()),
    }
}

/// A reader's side.
#[derive(Debug)]
pub(crate) struct ControlView {
    pub(crate) atomics: SharedAtomics,
    /// Device and inode of the page's file.
    pub(crate) file: (u64, u64),
    pub(crate) start: EngineStart,
}

impl ControlView {
    /// Maps the page of the engine that runs here, or was the last to run since the machine
    /// started.
    pub(crate) fn open(dir: &Path) -> Result<Self, JournalError> {
        let path = path(dir);
        let file = match open_for_reading(&path, OFlags::empty()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(JournalError::NoEngine(dir.to_owned()));
            }
            Err(error) => return Err(JournalError::io("open", &path, error)),
        };
        let mut page = vec![0; PAGE];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut page, 0).context("read", &path)?;
        let boot = boot_id();
        if page[..8] != MAGIC || page[64..80] != boot || boot == [0; 16] {
            return Err(JournalError::NoEngine(dir.to_owned()));
        }
        let version = u32_at(&page, 8);
        if ![VERSION, REPLICA_VERSION].contains(&version) {
            return Err(JournalError::Newer {
                what: format!("control page version {version}"),
            });
        }
        let meta = file.metadata().context("stat", &path)?;
        let map = MmapOptions::new()
            .len(PAGE)
            .map_raw_read_only(&file)
            .context("map", &path)?;
        Ok(Self {
            atomics: SharedAtomics::new(map),
            file: (meta.dev(), meta.ino()),
            start: EngineStart {
                epoch: u64_at(&page, 16),
                generation: u64_at(&page, 24),
                genesis: hash_at(&page, 32),
                segment: u32_at(&page, 80),
                first: Sequence(u64_at(&page, 88)),
                found: Sequence(u64_at(&page, 96)),
                is_replica: version == REPLICA_VERSION,
            },
        })
    }

    /// In a copy of a replicated log the epoch rises with a segment that is read. Returns whether it
    /// did.
    pub(crate) const fn note_term(&mut self, term: u64) -> bool {
        let is_newer = self.start.is_replica && term > self.start.epoch;
        if is_newer {
            self.start.epoch = term;
        }
        is_newer
    }

    pub(crate) fn status(&self) -> WriterStatus {
        let code = self.atomics.u32(STATUS_AT).load(Ordering::Relaxed);
        // A reader that sees the final status also sees everything published before it.
        fence(Ordering::Acquire);
        WriterStatus::from_code(code)
    }

    pub(crate) fn durable(&self) -> Sequence {
        let sequence = self.atomics.u64(SEQUENCE_AT).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        Sequence(sequence)
    }

    pub(crate) fn position(&self) -> JournalPosition {
        let packed = self.atomics.u64(POSITION_AT).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        JournalPosition::unpack(packed)
    }

    pub(crate) fn wake_count(&self) -> u32 {
        let count = self.atomics.u32(WAKE_AT).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        count
    }

    pub(crate) fn wait(&self, seen: u32, timeout: Duration) {
        self.atomics.sleep(seen, timeout);
    }

    /// Whether the path still names this page. An engine killed in the middle of its start could
    /// leave a page that it did not mark as superseded.
    pub(crate) fn is_current(&self, dir: &Path) -> bool {
        fs::metadata(path(dir)).is_ok_and(|meta| (meta.dev(), meta.ino()) == self.file)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// Lines of 32 bytes; the boot id, which every machine has its own of, is zero.
    fn lines(mut page: Vec<u8>) -> String {
        page[64..80].fill(0);
        page.chunks(32).fold(String::new(), |mut text, line| {
            line.iter()
                .for_each(|byte| write!(text, "{byte:02x}").expect("hex digits"));
            text + "\n"
        })
    }

    #[test]
    fn golden_pages() {
        let mut start = EngineStart {
            epoch: 0x0102_0304_0506_0708,
            generation: 0x1112_1314_1516_1718,
            genesis: [0x47; 32],
            segment: 0x2122_2324,
            first: Sequence(0x3132_3334_3536_3738),
            found: Sequence(0x4142_4344_4546_4748),
            is_replica: false,
        };
        let position = JournalPosition {
            segment: 0x6162_6364,
            offset: 0x7172_7374,
        };
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        for (name, is_replica) in [("control_v1", false), ("control_v2", true)] {
            start.is_replica = is_replica;
            let dir = tempfile::tempdir().unwrap();
            let durable = Sequence(0x5152_5354_5556_5758);
            let page = ControlPage::create(dir.path(), &start, durable, position).unwrap();
            page.set_status(WriterStatus::Closed);
            let written = lines(fs::read(path(dir.path())).unwrap());
            let file = golden.join(format!("{name}.golden"));
            if !file.exists() && std::env::var_os("FORETELL_WRITE_GOLDEN").is_some() {
                fs::write(&file, &written).unwrap();
            }
            let kept = fs::read_to_string(&file).unwrap();
            assert_eq!(kept, written, "{}", file.display());
            let read = ControlView::open(dir.path()).unwrap();
            assert_eq!(read.start, start);
            assert_eq!((read.durable(), read.position()), (durable, position));
            assert_eq!(read.status(), WriterStatus::Closed);
        }
    }
}
