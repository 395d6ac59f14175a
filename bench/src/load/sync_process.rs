//! The floor of durability behind a socket: a peer on a Unix socket that writes what it is sent
//! and syncs it, all that came together at once, and then says so; and its client.

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

use crate::sync_file::SyncFile;

/// Bytes a record takes: those of an order's frame with its evidence.
const RECORD_BYTES: usize = 704;
/// Number of the ask and length of its records, 8 bytes each.
const HEAD_BYTES: usize = 16;
/// Room for what comes together.
const BUFFER_BYTES: usize = 4 << 20;

/// The peer, on a thread of its own; it ends with its connection.
pub(super) struct SyncProcess {
    thread: JoinHandle<io::Result<()>>,
}

impl SyncProcess {
    /// Starts it; the other end is for a [`SyncLink`].
    pub(super) fn start(directory: &Path) -> io::Result<(Self, StdStream)> {
        let file = SyncFile::create(&directory.join("synced"))?;
        let (ours, theirs) = StdStream::pair()?;
        let thread = std::thread::Builder::new()
            .name("bare-sync".to_owned())
            .spawn(move || serve(ours, file))?;
        Ok((Self { thread }, theirs))
    }

    /// Waits until it ended.
    pub(super) fn join(self) -> io::Result<()> {
        self.thread.join().expect("the peer does not panic")
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

/// Bytes of the first ask, once it is whole.
fn end_of_ask(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(8..HEAD_BYTES)?.try_into().ok()?;
    let end = HEAD_BYTES + usize::try_from(u64::from_le_bytes(length)).ok()?;
    (bytes.len() >= end).then_some(end)
}

/// The client's end, for the tasks of one runtime.
#[derive(Clone)]
pub(super) struct SyncLink {
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
    /// Serves `stream` on this runtime, as long as that runs.
    pub(super) fn open(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        let shared = Arc::<Shared>::default();
        tokio::spawn(send(Arc::clone(&shared), writer));
        tokio::spawn(receive(Arc::clone(&shared), reader));
        Ok(Self { shared })
    }

    /// Waits until so many records are on the disk; whether they are.
    pub(super) async fn store(&self, records: usize) -> bool {
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
                // Whoever asked may have gone.
                let _ = waiting.send(());
            }
        }
        drop(outbox);
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
}
