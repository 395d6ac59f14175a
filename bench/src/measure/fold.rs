//! Cost of following: the CPU time of one thread to read, execute and fold every command of a
//! history, as the publisher does, and to read and fold it, as a gateway does.
//!
//! Files are in the page cache. No snapshot is written and no chunk is replaced by a mapping.

use std::path::Path;

use clap::Args;
use foretell_engine::JOURNAL_DIRECTORY;
use foretell_journal::{Follower, Next, Scratch};
use foretell_matching::{Capacity, Exchange, Replay};
use foretell_model::Sequence;
use foretell_view::{SeenChunks, View};

use super::{HistorySize, ScratchDir};
use crate::error::MeasureError;
use crate::harness::latency::{processor_nanos, ratio};
use crate::report::{Goal, Measure, Report};
use crate::workloads::history;

/// Maximum nanoseconds of CPU time a command, of the publisher and of a gateway.
const NANOS_GOAL: f64 = 3_000.0;
/// Maximum bytes of history a command.
const BYTES_GOAL: f64 = 300.0;

/// Arguments of `foretell-bench fold`.
#[derive(Debug, Args)]
pub struct FoldScope {
    /// Trades of the history, which is that of `foretell-bench recover`
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    trades: u32,
    /// Rounds; medians are reported
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    #[command(flatten)]
    size: HistorySize,
    #[command(flatten)]
    scratch: ScratchDir,
}

/// Work of a follower on each command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FollowerWork {
    /// Reading and decoding: part of the other two.
    Read,
    Gateway,
    Publisher,
}

impl FollowerWork {
    const ALL: [Self; 3] = [Self::Read, Self::Gateway, Self::Publisher];

    const fn name(self) -> &'static str {
        match self {
            Self::Read => "reading and decoding",
            Self::Gateway => "gateway: reading and folding",
            Self::Publisher => "publisher: reading, executing and folding",
        }
    }
}

/// Writes the history, and follows it in rounds.
pub(super) fn measure(scope: &FoldScope) -> Result<Report, MeasureError> {
    let mut report = Report::begin("fold", "none");
    let scratch = scope.scratch.directory("fold")?;
    let data = scratch.path().join("history");
    let (written, _) = history::write(&data, &scope.size.shape(scope.trades))?;
    let journal = data.join(JOURNAL_DIRECTORY);
    let mut lanes = FollowerWork::ALL.map(|_| Vec::new());
    let mut history_bytes = 0;
    for _ in 0..scope.rounds.max(1) {
        for (work, lane) in FollowerWork::ALL.into_iter().zip(&mut lanes) {
            let (nanos, bytes) = follow(&journal, work, written.last)?;
            lane.push(ratio(nanos, written.last.0));
            history_bytes = bytes;
        }
    }
    report.rounds = scope.rounds.max(1);
    report.scope = format!("{} commands with {} trades", written.last, scope.trades);
    for (work, lane) in FollowerWork::ALL.into_iter().zip(lanes) {
        let measure = Measure::of(work.name(), "ns a command", lane);
        if work != FollowerWork::Read {
            let what = format!("ns a command, {}", work.name());
            (report.goals).push(Goal::at_most(what, NANOS_GOAL, Some(measure.value)));
        }
        report.measures.push(measure);
    }
    let bytes = ratio(history_bytes, written.last.0);
    let what = "bytes of history a command";
    (report.measures).push(Measure::single(what, "bytes", bytes));
    report
        .goals
        .push(Goal::at_most(what, BYTES_GOAL, Some(bytes)));
    Ok(report.end())
}

/// CPU time of following the journal up to `last`, and the bytes of the view's full chunks.
fn follow(journal: &Path, work: FollowerWork, last: Sequence) -> Result<(u64, u64), MeasureError> {
    let begun = processor_nanos();
    let mut follower = Follower::open(journal, Sequence(0))?;
    let mut view = View::new(follower.genesis());
    let mut replay = Replay::new(Exchange::new(Capacity::default(), 0));
    let mut scratch = Scratch::default();
    let mut came = Sequence(0);
    while came < last {
        let frame = match follower.next_frame()? {
            Next::Frame(frame) => frame,
            Next::NewEpoch { .. } => continue,
            Next::UpToDate | Next::Rebuild { .. } => break,
        };
        let frame = frame.decode(&mut scratch).map_err(MeasureError::wrong)?;
        if work == FollowerWork::Publisher {
            let executed = replay.execute(&frame);
            executed.map_err(|differs| MeasureError::wrong(format!("{differs:?}")))?;
        }
        if work != FollowerWork::Read {
            view.apply(&frame).map_err(MeasureError::wrong)?;
        }
        came = frame.sequence;
    }
    let nanos = processor_nanos() - begun;
    if came != last {
        let what = format!("the journal ends at {came}, not {last}");
        return Err(MeasureError::wrong(what));
    }
    let chunks = view.new_chunks(&mut SeenChunks::default()).into_iter();
    let chunks = chunks.filter_map(|chunk| view.chunk_bytes(chunk.log, chunk.number));
    Ok((
        nanos,
        chunks
            .map(|bytes| bytes.as_ref().as_ref().len() as u64)
            .sum(),
    ))
}
