//! Replays of older messages from the journal: one at a time, each on a thread of low priority that
//! ends with its connection. A client pays for the time: one that is in debt when it asks gets a
//! snapshot instead. A replay that was begun goes on in its parts.

use std::sync::Arc;
use std::time::Instant;

use foretell_model::Sequence;
use tokio::sync::oneshot;

use crate::app::App;
use crate::http::connections::client_quotas::Client;
use crate::http::surface::Surface;
use crate::policy::limits::{MAX_REPLAY_TIME, STREAM_PASS_FRAMES};
use crate::streams::connection::session::{ReplayOrder, Replayed, Waited};
use crate::streams::fan_out::journal_replay::{JournalReplay, ReplayError, ReplaySpan};
use crate::streams::fan_out::ring::EncodedFrame;
use crate::streams::subscription::demand::Watched;

/// Messages, oldest first, and the frame that they reach.
type Read = (Vec<EncodedFrame>, Sequence);

/// Reads what a resume needs of the journal, about `max_bytes` of it.
pub(crate) async fn read_journal(
    app: Arc<App>,
    client: Client,
    order: ReplayOrder,
    max_bytes: usize,
) -> Waited {
    let (span, leases) = (order.span, order.leases);
    let wanted = (span, order.watched);
    let read = read(&app, client, wanted, order.is_continued, max_bytes).await;
    let (frames, last) = match read {
        Some((frames, reached)) => (Some(frames), reached),
        None => (None, span.last),
    };
    Waited::ForReplay(Replayed {
        frames,
        last,
        is_whole: last >= span.last,
        _leases: leases,
    })
}

/// `None` when the client is in debt before the first part or waits for too many, and when the journal cannot be followed
/// or takes too long.
async fn read(
    app: &Arc<App>,
    client: Client,
    (span, watched): (ReplaySpan, Watched),
    is_continued: bool,
    max_bytes: usize,
) -> Option<Read> {
    let account = app.replay_work.of(client);
    let replays = &app.bounds.of(Surface::Trading).replays;
    let _share = replays.take(client, 1).ok()?;
    let turn = Arc::clone(&app.stream_replays).acquire_owned().await.ok()?;
    if !is_continued && !account.wait(Instant::now()).is_zero() {
        return None;
    }
    let (sender, receiver) = oneshot::channel();
    let app = Arc::clone(app);
    let replay = move || {
        let read = account.run(|| {
            let (sources, descriptions) = (&app.view_sources, &app.descriptions);
            let replay = JournalReplay::open(sources, descriptions, span, watched, turn)?;
            read_some(replay, max_bytes, || sender.is_closed())
        });
        // A client that has left needs nothing.
        let _ = sender.send(read);
    };
    if let Err(error) = std::thread::Builder::new()
        .name("replay".into())
        .spawn(replay)
    {
        tracing::error!(%error, "cannot start a thread to replay the journal");
        return None;
    }
    let read = receiver.await.ok()?;
    let report = |error: &ReplayError| tracing::debug!(%error, "no replay from the journal");
    read.inspect_err(report).ok()?
}

/// Messages of a replay, of about `max_bytes`; `None` when that takes too long or nobody waits.
fn read_some(
    mut replay: JournalReplay<'_>,
    max_bytes: usize,
    is_over: impl Fn() -> bool,
) -> Result<Option<Read>, ReplayError> {
    let began = Instant::now();
    let (mut read, mut bytes) = (Vec::new(), 0);
    while bytes <= max_bytes
        && let Some(frames) = replay.next(STREAM_PASS_FRAMES)?
    {
        bytes += frames.iter().map(EncodedFrame::bytes).sum::<usize>();
        read.extend(frames);
        if is_over() || began.elapsed() > MAX_REPLAY_TIME {
            return Ok(None);
        }
    }
    Ok(Some((read, replay.sequence())))
}
