//! The thread that folds the journal into the shared view.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foretell_journal::{Follower, FrameError, JournalError, Next, Scratch};
use foretell_view::FoldError;
use thiserror::Error;

use crate::keeper::Keeper;
use crate::replica::{LOCK_HOLD, Replica, State};
use crate::start::{self, Begun, Doubted, Sources};

/// How long it sleeps when nothing is new; it is also how fast it hears that it shall stop.
const IDLE: Duration = Duration::from_millis(50);
/// Pause before it opens the journal again.
const RETRY: Duration = Duration::from_millis(200);
/// The longest: each try of a view that cannot follow folds the journal up to the same frame, unless
/// it was a file of the history that was damaged.
const LONGEST_RETRY: Duration = Duration::from_secs(600);

/// Why following broke off; it begins anew.
#[derive(Debug, Error)]
enum Broken {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Fold(#[from] FoldError),
    #[error("no thread for the history: {0}")]
    Thread(io::Error),
}

/// What comes after a batch.
enum Then {
    /// There may be more.
    More,
    /// Nothing is new.
    Wait,
    /// The engine was started anew, and what was read stands.
    NewEngine,
    /// The engine's recovery dropped frames this view has: it starts over.
    Rebuild,
}

/// Follows until `stop`. Never fails: a journal that is not there yet will be.
pub(crate) fn follow(sources: &Sources, replica: &Replica, stop: &AtomicBool) {
    let mut doubted = Doubted::default();
    let mut pause = RETRY;
    while !stop.load(Ordering::Relaxed) {
        let broken = match session(sources, &mut doubted, replica, stop) {
            Ok(()) => {
                pause = RETRY;
                continue;
            }
            Err(broken) => broken,
        };
        pause = match broken {
            Broken::Fold(error) => {
                tracing::error!(%error, "the view stopped: no reads; cancels and orders are taken");
                (2 * pause).min(LONGEST_RETRY)
            }
            Broken::Journal(JournalError::NoEngine(_)) => {
                tracing::debug!("no journal yet");
                RETRY
            }
            broken => {
                tracing::error!(%broken, "following the journal broke off");
                replica.lose();
                RETRY
            }
        };
        std::thread::park_timeout(pause);
    }
}

/// From the beginning of a view until it must start over, with a keeper of its history beside it.
fn session(
    sources: &Sources,
    doubted: &mut Doubted,
    replica: &Replica,
    stop: &AtomicBool,
) -> Result<(), Broken> {
    let begun = start::begin(sources, doubted)?;
    let Begun {
        state,
        follower,
        history,
    } = begun;
    let keeper = Keeper::new(sources, replica, follower.genesis());
    let ended = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("history".to_owned())
            .spawn_scoped(scope, || keeper.work(&history))
            .map_err(Broken::Thread)?;
        let _end = keeper.until_dropped(thread.thread().clone());
        let shown = || keeper.shown(thread.thread());
        let goes_on = || !stop.load(Ordering::Relaxed) && keeper.damaged().is_none();
        follow_view(sources, replica, state, follower, shown, goes_on)
    });
    if let Some(damaged) = keeper.damaged() {
        replica.lose();
        doubted.insert(damaged.clone());
    }
    ended
}

/// Catches up, shows the view, and keeps it up to date while it `goes_on`.
fn follow_view(
    sources: &Sources,
    replica: &Replica,
    mut state: State,
    mut follower: Follower,
    shown: impl FnOnce(),
    goes_on: impl Fn() -> bool,
) -> Result<(), Broken> {
    let journal = &sources.journal;
    let mut scratch = Scratch::default();
    let target = follower.durable();
    // Nobody reads this state yet, so it needs no lock; the pieces are for hearing of the end.
    while state.view.sequence() < target && goes_on() {
        match fold(&mut follower, &mut scratch, &mut state, IDLE) {
            Ok(Then::More | Then::NewEngine) => {}
            Ok(Then::Wait) => follower.wait(IDLE),
            Ok(Then::Rebuild) => return Ok(()),
            Err(Broken::Fold(error)) => {
                let frames = follower.reader();
                replica.replace_stopped(error.sequence, state, follower, frames);
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
        "the view is ready"
    );
    let control = Follower::open(journal, target)?;
    replica.replace(state, control, follower.reader());
    shown();
    while goes_on() {
        let then = replica.advance(|state| fold(&mut follower, &mut scratch, state, LOCK_HOLD));
        if let Err(Broken::Fold(error)) = &then {
            replica.stop(error.sequence);
        }
        match then? {
            Then::More => {}
            Then::Wait => follower.wait(IDLE),
            Then::NewEngine => {
                let control = Follower::open(journal, follower.last_sequence())?;
                replica.renew(control, follower.reader());
            }
            Then::Rebuild => {
                tracing::info!("the engine recovered to before this view, which starts over");
                replica.lose();
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Folds frames for at most `hold`, at least one if there is one.
fn fold(
    follower: &mut Follower,
    scratch: &mut Scratch,
    state: &mut State,
    hold: Duration,
) -> Result<Then, Broken> {
    let began = Instant::now();
    loop {
        match follower.next_frame()? {
            Next::Frame(frame) => state.view.apply(&frame.decode(scratch)?)?,
            Next::UpToDate => return Ok(Then::Wait),
            Next::NewEpoch { epoch } => {
                state.epoch = epoch;
                return Ok(Then::NewEngine);
            }
            Next::Rebuild { .. } => return Ok(Then::Rebuild),
        }
        if began.elapsed() >= hold {
            return Ok(Then::More);
        }
    }
}
