//! `foretell audit diff`: compares two journals and finds their first difference.
//!
//! Frames are compared by their receipts, which cover every byte. Batch boundaries and segments may
//! differ: a start rewrites batches and keeps the frames.

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use foretell_journal::{JournalError, ScanReport};
use foretell_model::Sequence;
use serde_json::{Value, json};

use crate::error::AuditError as Failure;
use crate::exit_codes::DIFFERENT;
use crate::read::source::Source;
use foretell_terminal::Output;

/// Receipts per message, and messages that may wait in the channel.
const CHUNK: usize = 1_024;
const WAITING: usize = 4;

type Receipts = Vec<[u8; 32]>;

/// Result of comparing two journals.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    same_genesis: bool,
    /// Number of identical frames from the first on.
    common: u64,
    /// Whether each journal has further frames.
    goes_on: [bool; 2],
}

/// Compares two journals frame by frame.
///
/// # Errors
/// A journal cannot be read, or the part that has to be read is damaged.
pub(crate) fn run(sources: [&Source; 2], output: Output) -> Result<ExitCode, Failure> {
    let [first, second] = sources;
    let genesis = |source: &Source| source.genesis().map_err(|error| source.failure(&error));
    let genesis = [genesis(first)?, genesis(second)?];
    let (common, goes_on) = compare(first, second)?;
    let comparison = Comparison {
        same_genesis: genesis[0] == genesis[1],
        common,
        goes_on,
    };
    output.answer(&comparison.json(), |_| comparison.text());
    let code = if comparison.differs() { DIFFERENT } else { 0 };
    Ok(ExitCode::from(code))
}

/// Length of the common prefix, and which journal continues after it.
fn compare(first: &Source, second: &Source) -> Result<(u64, [bool; 2]), Failure> {
    thread::scope(|scope| {
        let (sender, receipts) = sync_channel(WAITING);
        let reader = scope.spawn(move || send_all(first, &sender));
        let mut theirs = Incoming::new(receipts);
        let (mut common, mut parted, mut first_ended) = (0, false, false);
        let read = second.each(&mut |frame| match theirs.next() {
            Some(receipt) if receipt == frame.receipt() => {
                common += 1;
                ControlFlow::Continue(())
            }
            other => {
                first_ended = other.is_none();
                parted = true;
                ControlFlow::Break(())
            }
        });
        let first_goes_on = !first_ended && (parted || theirs.next().is_some());
        // The other thread stops when its next send fails.
        drop(theirs);
        let first_read = match reader.join() {
            Ok(read) => read,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let has_difference = first_goes_on && parted;
        for (source, read) in [(first, first_read), (second, read)] {
            // Damage after the first difference is not read and not reported.
            if let Err(error) = read
                && !has_difference
            {
                return Err(source.failure(&error));
            }
        }
        Ok((common, [first_goes_on, parted]))
    })
}

fn send_all(
    source: &Source,
    sender: &SyncSender<Receipts>,
) -> Result<Option<ScanReport>, JournalError> {
    let mut chunk = Receipts::with_capacity(CHUNK);
    let read = source.each(&mut |frame| {
        chunk.push(frame.receipt());
        if chunk.len() < CHUNK {
            return ControlFlow::Continue(());
        }
        match sender.send(std::mem::take(&mut chunk)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    // The receiver is gone if the journals have diverged.
    let _ = sender.send(chunk);
    read
}

/// Receipts of the other journal, one by one.
struct Incoming {
    receipts: Receiver<Receipts>,
    chunk: std::vec::IntoIter<[u8; 32]>,
}

impl Incoming {
    fn new(receipts: Receiver<Receipts>) -> Self {
        Self {
            receipts,
            chunk: Vec::new().into_iter(),
        }
    }

    fn next(&mut self) -> Option<[u8; 32]> {
        loop {
            if let Some(receipt) = self.chunk.next() {
                return Some(receipt);
            }
            self.chunk = self.receipts.recv().ok()?.into_iter();
        }
    }
}

impl Comparison {
    /// Whether the journals differ: both continue after the common prefix, or they have different
    /// genesis bytes.
    const fn differs(&self) -> bool {
        !self.same_genesis || (self.goes_on[0] && self.goes_on[1])
    }

    const fn relation(&self) -> &'static str {
        match (self.differs(), self.goes_on) {
            (true, _) => "different",
            (false, [false, false]) => "same",
            (false, [false, true]) => "second goes on",
            (false, _) => "first goes on",
        }
    }

    fn json(&self) -> Value {
        let parts = self.goes_on[0] && self.goes_on[1];
        json!({
            "relation": self.relation(),
            "same_genesis": self.same_genesis,
            "common_frames": self.common,
            "first_difference": parts.then(|| Sequence(self.common).next().0),
        })
    }

    fn text(&self) -> String {
        let common = self.common;
        let genesis = if self.same_genesis {
            ""
        } else {
            "two journals with different genesis; "
        };
        let rest = match (self.goes_on, self.same_genesis) {
            ([true, true], _) => format!("the first difference is at sequence {}", common + 1),
            ([true, false], _) => "the first journal continues after them".to_owned(),
            ([false, true], _) => "the second journal continues after them".to_owned(),
            _ => "they end there".to_owned(),
        };
        format!("{genesis}{common} frames are the same, {rest}")
    }
}
