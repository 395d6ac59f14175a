//! The thread that folds the journal into the shared view.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foretell_journal::{
    DurableEnd, Follower, FrameError, FrameReader, JournalError, Next, Scratch,
};
use foretell_view::FoldError;
use thiserror::Error;

use crate::catalog::descriptions::Descriptions;
use crate::streams::fan_out::feed::StreamFeed;
use crate::streams::fan_out::ring::StreamRing;
use crate::view::chunk_adopter::ChunkAdopter;
use crate::view::shared_view::{LOCK_HOLD, SharedView, ViewState};
use crate::view::view_bootstrap::{self, BootstrappedView, SuspectFiles, ViewSources};

/// Sleep when no frame is new; also the longest delay until it notices `stop`.
const IDLE: Duration = Duration::from_millis(50);
/// Pause before it reopens the journal.
const RETRY: Duration = Duration::from_millis(200);
/// The longest pause: each retry of a view that cannot follow folds the journal up to the same
/// frame, unless the cause was a damaged file of the history.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

/// Why following failed; it then restarts.
#[derive(Debug, Error)]
enum FollowError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Fold(#[from] FoldError),
    #[error("cannot start the history thread: {0}")]
    Thread(io::Error),
}

/// What follows the journal: the view, and the ring of stream messages.
#[derive(Clone, Copy)]
pub(crate) struct Followers<'a> {
    pub(crate) shared_view: &'a SharedView,
    pub(crate) ring: &'a StreamRing,
    pub(crate) descriptions: &'a Descriptions,
}

/// The next action after a batch.
enum FoldStep {
    /// There may be more frames.
    More,
    /// No new frame.
    UpToDate,
    /// The engine restarted; all frames read so far remain valid.
    NewEngine,
    /// The engine's recovery dropped frames of this view: rebuild.
    Rebuild,
}

/// Follows until `stop`. It never fails: it waits for a journal that does not exist yet.
pub(crate) fn follow(sources: &ViewSources, followers: Followers<'_>, stop: &AtomicBool) {
    let shared_view = followers.shared_view;
    let mut suspects = SuspectFiles::default();
    let mut pause = RETRY;
    while !stop.load(Ordering::Relaxed) {
        let broken = match session(sources, &mut suspects, followers, stop) {
            Ok(()) => {
                pause = RETRY;
                continue;
            }
            Err(broken) => broken,
        };
        pause = match broken {
            FollowError::Fold(error) => {
                tracing::error!(%error, "view stopped: rejecting reads, accepting orders and cancels");
                (2 * pause).min(LONGEST_RETRY)
            }
            FollowError::Journal(JournalError::NoEngine(_)) => {
                tracing::debug!("waiting for the journal");
                RETRY
            }
            broken => {
                tracing::error!(%broken, "following the journal failed");
                shared_view.mark_unavailable();
                RETRY
            }
        };
        std::thread::park_timeout(pause);
    }
}

/// Runs one view until a rebuild, with an adopter thread for its history.
fn session(
    sources: &ViewSources,
    suspects: &mut SuspectFiles,
    followers: Followers<'_>,
    stop: &AtomicBool,
) -> Result<(), FollowError> {
    let shared_view = followers.shared_view;
    let bootstrapped = view_bootstrap::bootstrap(sources, suspects)?;
    let BootstrappedView {
        state,
        follower,
        history,
    } = bootstrapped;
    let adopter = ChunkAdopter::new(sources, shared_view, follower.genesis());
    let ended = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("history".to_owned())
            .spawn_scoped(scope, || adopter.run(&history))
            .map_err(FollowError::Thread)?;
        let _guard = adopter.stop_guard(thread.thread().clone());
        let published = || adopter.view_published(thread.thread());
        let goes_on = || !stop.load(Ordering::Relaxed) && adopter.damaged().is_none();
        follow_view(sources, followers, state, follower, published, goes_on)
    });
    if let Some(damaged) = adopter.damaged() {
        shared_view.mark_unavailable();
        suspects.insert(damaged.clone());
    }
    ended
}

/// Catches up, publishes the view, and keeps it up to date while `goes_on` is true.
fn follow_view(
    sources: &ViewSources,
    followers: Followers<'_>,
    mut state: ViewState,
    mut follower: Follower,
    published: impl FnOnce(),
    goes_on: impl Fn() -> bool,
) -> Result<(), FollowError> {
    let journal = &sources.journal;
    let shared_view = followers.shared_view;
    let mut scratch = Scratch::default();
    let target = follower.durable();
    // No reader has this state yet, so it needs no lock; each slice ends so that `goes_on` is
    // checked.
    while state.view.sequence() < target && goes_on() {
        match fold(&mut follower, &mut scratch, &mut state, None, IDLE) {
            Ok(FoldStep::More | FoldStep::NewEngine) => {}
            Ok(FoldStep::UpToDate) => follower.wait(IDLE),
            Ok(FoldStep::Rebuild) => return Ok(()),
            Err(FollowError::Fold(error)) => {
                let (end, frames) = (DurableEnd::open(journal)?, FrameReader::new(journal));
                shared_view.replace_stopped(error.sequence, state, end, frames);
                return Err(error.into());
            }
            Err(broken) => return Err(broken),
        }
    }
    if !goes_on() {
        return Ok(());
    }
    tracing::info!(
        sequence = state.view.sequence().0,
        epoch = state.epoch,
        "view ready"
    );
    let control = DurableEnd::open(journal)?;
    let head = state.view.sequence();
    shared_view.replace(state, control, FrameReader::new(journal));
    let mut feed = StreamFeed::start(followers.ring, followers.descriptions, head);
    published();
    while goes_on() {
        let step = shared_view.advance(|state| {
            let feed = Some(&mut feed);
            fold(&mut follower, &mut scratch, state, feed, LOCK_HOLD)
        });
        feed.publish();
        if let Err(FollowError::Fold(error)) = &step {
            shared_view.stop(error.sequence);
        }
        match step? {
            FoldStep::More => {}
            FoldStep::UpToDate => follower.wait(IDLE),
            FoldStep::NewEngine => {
                let control = DurableEnd::open(journal)?;
                shared_view.set_journal(control, FrameReader::new(journal));
            }
            FoldStep::Rebuild => {
                tracing::info!("engine recovered to an earlier frame: rebuilding view");
                shared_view.mark_unavailable();
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Folds frames for about `hold`, at least one if available; `feed` notes what streams show.
fn fold(
    follower: &mut Follower,
    scratch: &mut Scratch,
    state: &mut ViewState,
    mut feed: Option<&mut StreamFeed<'_>>,
    hold: Duration,
) -> Result<FoldStep, FollowError> {
    let began = Instant::now();
    if let Some(feed) = &mut feed {
        feed.begin_batch(&state.view);
    }
    loop {
        match follower.next_frame()? {
            Next::Frame(frame) => {
                let folded = frame.decode(scratch)?;
                match &mut feed {
                    Some(feed) => feed.apply(&mut state.view, &folded, || frame.receipt())?,
                    None => state.view.apply(&folded)?,
                }
            }
            Next::UpToDate => return Ok(FoldStep::UpToDate),
            Next::NewEpoch { epoch } => {
                state.epoch = epoch;
                return Ok(FoldStep::NewEngine);
            }
            Next::Rebuild { .. } => return Ok(FoldStep::Rebuild),
        }
        if began.elapsed() >= hold {
            return Ok(FoldStep::More);
        }
    }
}
