//! Durability baseline over a socket, and its client: a peer on a Unix socket writes and syncs each
//! batch of requests that arrived together, then acknowledges them.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use foretell_journal::PAGE;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Notify, oneshot};

use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::threads::joined;

/// Size of a record: an order's frame with its evidence.
const RECORD_BYTES: usize = 704;
/// Request number and length of its records, 8 bytes each.
const HEAD_BYTES: usize = 16;
/// Buffer for requests that arrive together.
const BUFFER_BYTES: usize = 4 << 20;

/// The peer, on its own thread; it ends with its connection.
pub(crate) struct SyncProcess {
    thread: JoinHandle<io::Result<()>>,
}

impl SyncProcess {
    /// Starts the peer; the returned stream is for a [`SyncLink`].
    pub(crate) fn start(directory: &Path) -> io::Result<(Self, StdStream)> {
        let file = SyncFile::create(&directory.join("synced"))?;
        let (ours, theirs) = StdStream::pair()?;
        let thread = std::thread::Builder::new()
            .name("bare-sync".to_owned())
            .spawn(move || serve(ours, file))?;
        Ok((Self { thread }, theirs))
    }

    /// Waits until it has ended.
    pub(crate) fn join(self) -> Result<(), MeasureError> {
        let served = joined("the floor's sync", self.thread.join())?;
        served.map_err(MeasureError::io("the floor's sync"))
    }
}

fn serve(mut stream: StdStream, mut file: SyncFile) -> io::Result<()> {
    let (mut buffer, mut filled) = (vec![0; BUFFER_BYTES], 0);
    let mut numbers = Vec::new();
    loop {
        let count = stream.read(&mut buffer[filled..])?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        numbers.clear();
        let mut whole = 0;
        while let Some(end) = end_of_ask(&buffer[whole..filled]) {
            numbers.extend_from_slice(&buffer[whole..whole + 8]);
            whole += end;
        }
        if whole > 0 {
            file.write_and_sync(&buffer[..whole.next_multiple_of(PAGE)])?;
            stream.write_all(&numbers)?;
            buffer.copy_within(whole..filled, 0);
            filled -= whole;
        }
    }
}

/// Length of the first request, once it is complete.
fn end_of_ask(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(8..HEAD_BYTES)?.try_into().ok()?;
    let end = HEAD_BYTES + usize::try_from(u64::from_le_bytes(length)).ok()?;
    (bytes.len() >= end).then_some(end)
}

/// Client of the peer for the tasks of one runtime.
#[derive(Clone)]
pub(crate) struct SyncLink {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    outbox: Mutex<Outbox>,
    wake: Notify,
}

#[derive(Default)]
struct Outbox {
    bytes: Vec<u8>,
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<()>>,
}

impl SyncLink {
    /// Serves `stream` on this runtime.
    pub(crate) fn open(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        let shared = Arc::<Shared>::default();
        tokio::spawn(send(Arc::clone(&shared), writer));
        tokio::spawn(receive(Arc::clone(&shared), reader));
        Ok(Self { shared })
    }

    /// Waits until `records` records are on disk; returns whether they are.
    pub(crate) async fn store(&self, records: usize) -> bool {
        let (sender, stored) = oneshot::channel();
        {
            let mut outbox = self.shared.outbox.lock();
            let number = outbox.next;
            outbox.next += 1;
            let length = records * RECORD_BYTES;
            outbox.bytes.extend_from_slice(&number.to_le_bytes());
            outbox
                .bytes
                .extend_from_slice(&(length as u64).to_le_bytes());
            let end = outbox.bytes.len() + length;
            outbox.bytes.resize(end, 0x5A);
            outbox.waiting.insert(number, sender);
        }
        self.shared.wake.notify_one();
        stored.await.is_ok()
    }
}

async fn send(shared: Arc<Shared>, mut writer: OwnedWriteHalf) -> io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        std::mem::swap(&mut bytes, &mut shared.outbox.lock().bytes);
        if bytes.is_empty() {
            shared.wake.notified().await;
        } else {
            writer.write_all(&bytes).await?;
        }
    }
}

async fn receive(shared: Arc<Shared>, mut reader: OwnedReadHalf) -> io::Result<()> {
    let (mut buffer, mut filled) = (vec![0; 64 * 1024], 0);
    loop {
        let count = reader.read(&mut buffer[filled..]).await?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        let whole = filled - filled % 8;
        let mut outbox = shared.outbox.lock();
        for number in buffer[..whole].chunks_exact(8) {
            let number = number.try_into().expect("chunks of eight");
            if let Some(waiting) = outbox.waiting.remove(&u64::from_le_bytes(number)) {
                // The caller may have been dropped.
                let _ = waiting.send(());
            }
        }
        drop(outbox);
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
}
