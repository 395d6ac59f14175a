//! The hash-chained, memory-mapped journal.
//!
//! # Signatures (being filled in; these names are settled)
//!
//! ```ignore
//! // ---- options.rs
//! pub enum Durability { Disk, Process, None }
//! pub struct Options { pub segment_bytes: u32 /* 64 MiB */, pub staging_bytes: usize /* 4 MiB, two of them */,
//!     pub durability: Durability, pub watermark_after: Duration /* 50 ms */, pub disk_reserve_bytes: u64,
//!     pub after_io_error: bool, pub disk: Arc<dyn Disk> /* the seam for tests */ }   // Default
//!
//! // ---- recover.rs: the only way to open a journal for writing. `after` is the sequence of the snapshot
//! // the engine starts from (0 = from the start); `visit` gets every frame above it, in order, before
//! // anything on disk is changed; its error stops recovery.
//! pub fn recover(dir: &Path, options: Options, after: Sequence,
//!     visit: &mut dyn FnMut(&FrameRef<'_>) -> Result<(), String>) -> Result<Recovered, JournalError>;
//! pub struct Recovered { pub report: Report, .. }
//! pub struct Report { pub genesis: [u8; 32], pub epoch: u64, pub last_sequence: Sequence, pub last_time: TimeNs,
//!     pub set_aside: Option<PathBuf>, pub rewritten: u64 /* frames */ }
//! impl Recovered { pub fn start(self) -> Result<(Appender, Syncer, JournalState), JournalError> }
//!
//! // ---- append.rs: owned by the matcher thread; never blocks.
//! impl Appender {
//!     pub fn has_room_for_largest(&mut self) -> bool;  // ask before taking a command; false = wait for the sync thread
//!     pub fn append(&mut self, sequence: Sequence, time: TimeNs, command: &Command, events: &[Event], evidence: &[u8])
//!         -> FramePlace;   // the place is final already; the frame is durable once state.durable() >= sequence
//!     pub fn publish(&mut self); // at the end of a burst (or after every command): the sync thread may take what is staged
//! }   // dropping the appender publishes the rest and lets the sync thread end
//!
//! // ---- sync.rs: moved into the sync thread.
//! impl Syncer { pub fn run(self, notify: impl FnMut(Sequence)) -> Result<(), JournalError>; // notify: after every rise of durable
//!               pub fn step(&mut self) -> Result<Step, JournalError>; }
//!
//! // ---- state.rs: cheap clone, any thread.
//! impl JournalState { pub fn durable(&self) -> Sequence; pub fn is_poisoned(&self) -> bool; pub fn failure(&self) -> Option<&str>;
//!     pub fn disk_low(&self) -> bool; pub fn epoch(&self) -> u64; pub fn genesis(&self) -> [u8; 32]; pub fn durability(&self) -> Durability;
//!     pub fn wait_durable(&self, sequence: Sequence, timeout: Duration) -> bool; }
//!
//! // ---- follow.rs: any process or thread. `after` = the last sequence the reader already has.
//! impl Follower {
//!     pub fn open(dir: &Path, after: Sequence) -> Result<Self, JournalError>;  // JournalError::NoEngine before the first start
//!     pub fn next_frame(&mut self) -> Result<Next<'_>, JournalError>;
//!     pub fn wait(&mut self, timeout: Duration);           // until something may be new
//!     pub fn durable(&self) -> Sequence; pub fn epoch(&self) -> u64; pub fn genesis(&self) -> [u8; 32];
//!     pub fn reader(&self) -> FrameReader;                 // for receipts, cheap clone
//! }
//! pub enum Next<'a> { Frame(Frame<'a>), UpToDate, NewEpoch { epoch: u64 } /* go on */, Rebuild { epoch: u64 } /* start over */ }
//! impl FrameReader { pub fn open(dir: &Path) -> Result<Self, JournalError>; pub fn frame(&self, place: FramePlace, sequence: Sequence) -> Result<Vec<u8>, JournalError>; }
//!
//! // ---- frame.rs
//! pub struct Frame<'a> { .. }  // verified bytes of one frame, in the map
//! impl<'a> Frame<'a> { pub fn sequence(&self) -> Sequence; pub fn time(&self) -> TimeNs; pub fn place(&self) -> FramePlace;
//!     pub fn bytes(&self) -> &'a [u8]; pub fn receipt(&self) -> [u8; 32];
//!     pub fn decode<'s>(&self, scratch: &'s mut Scratch) -> Result<FrameRef<'s>, FrameError> where 'a: 's; }
//! pub struct Scratch { .. }    // Default; holds the decoded command and events, reused
//! pub fn receipt(frame: &[u8]) -> [u8; 32];
//!
//! // ---- scan.rs: audit of a journal nobody writes (or below a live one's durable position).
//! pub fn scan(dir: &Path, after: Sequence, visit: &mut dyn FnMut(&Frame<'_>) -> Result<(), String>) -> Result<ScanReport, JournalError>;
//! ```
