//! One order at a time: no batching, and every thread sleeps in between.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use foretell_journal::PAGE;

use crate::baselines::sync_file::SyncFile;
use crate::error::MeasureError;
use crate::harness::book_writer::BookWriter;
use crate::harness::latency::Stopwatch;

/// An engine client, and an echo thread.
pub(super) struct Idle {
    writer: BookWriter,
    echo: UnixStream,
}

impl Idle {
    pub(super) fn open(socket: &Path) -> Result<Self, MeasureError> {
        let pair = UnixStream::pair().map_err(MeasureError::io("making a pair of sockets"))?;
        let (echo, mut other) = pair;
        // The echo thread ends when the other end of the socket pair closes.
        std::thread::spawn(move || {
            let mut byte = [0];
            while other.read_exact(&mut byte).is_ok() && other.write_all(&byte).is_ok() {}
        });
        Ok(Self {
            writer: BookWriter::connect(socket)?,
            echo,
        })
    }

    /// Times write and sync, echo, and acknowledgement, alternating per order: another program that
    /// takes the CPU for a while disturbs all three.
    pub(super) fn turn(
        &mut self,
        file: &mut SyncFile,
        orders: u32,
    ) -> Result<[Stopwatch; 3], MeasureError> {
        let [mut sync, mut echo, mut acknowledged] = std::array::from_fn(|_| Stopwatch::new());
        // The frames of an order and a cancel fit into one page, so the batch is one page.
        let page = [0x5A; PAGE];
        for _ in 0..orders.max(1) {
            sync.time(|| file.write_and_sync(&page))
                .map_err(MeasureError::io("the floor's sync"))?;
            echo.time(|| {
                let mut byte = [1];
                self.echo.write_all(&byte)?;
                self.echo.read_exact(&mut byte)
            })
            .map_err(MeasureError::io("an echo"))?;
            acknowledged.time(|| self.writer.group(1))?;
        }
        Ok([sync, echo, acknowledged])
    }
}
