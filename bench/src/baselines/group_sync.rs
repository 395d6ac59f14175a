//! Durability baseline of a server: a thread that writes and syncs together whatever requests have
//! come, and then acknowledges them. Goals of latency at half load are ratios to checks and this.

use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use foretell_journal::PAGE;
use tokio::sync::oneshot;

use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::threads::joined;

/// Size of a record: an order's frame with its evidence.
const RECORD_BYTES: usize = 704;
/// Requests synced together at most: their records fit into the file.
const MOST_REQUESTS: usize = 1_000;

/// A number of records, and who waits for them.
type Request = (usize, oneshot::Sender<()>);

/// The thread, which ends with the last [`SyncLink`].
pub(crate) struct GroupSync {
    thread: JoinHandle<io::Result<()>>,
}

impl GroupSync {
    /// Starts the thread on a file in `directory`.
    pub(crate) fn start(directory: &Path) -> io::Result<(Self, SyncLink)> {
        let file = SyncFile::create(&directory.join("synced"))?;
        let (requests, received) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("bare-sync".to_owned())
            .spawn(move || serve(&received, file))?;
        Ok((Self { thread }, SyncLink { requests }))
    }

    /// Waits until it has ended.
    pub(crate) fn join(self) -> Result<(), MeasureError> {
        let served = joined("the floor's sync", self.thread.join())?;
        served.map_err(MeasureError::io("the floor's sync"))
    }
}

fn serve(received: &Receiver<Request>, mut file: SyncFile) -> io::Result<()> {
    let mut group = Vec::new();
    while let Ok(first) = received.recv() {
        group.push(first);
        group.extend(received.try_iter().take(MOST_REQUESTS - 1));
        let records: usize = group.iter().map(|(records, _)| records).sum();
        let bytes = (records * RECORD_BYTES).next_multiple_of(PAGE);
        file.write_and_sync(&vec![0x5A; bytes])?;
        for (_, waiting) in group.drain(..) {
            // The caller may have been dropped.
            let _ = waiting.send(());
        }
    }
    Ok(())
}

/// Client of the thread.
#[derive(Clone)]
pub(crate) struct SyncLink {
    requests: Sender<Request>,
}

impl SyncLink {
    /// Waits until `records` records are on disk; returns whether they are.
    pub(crate) async fn store(&self, records: usize) -> bool {
        let (waiting, stored) = oneshot::channel();
        self.requests.send((records, waiting)).is_ok() && stored.await.is_ok()
    }
}
