//! The thread that folds the journal into the shared view.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use foretell_journal::{Follower, FrameError, JournalError, Next, Scratch};
use foretell_model::Sequence;
use foretell_view::{FoldError, View};
use thiserror::Error;

use crate::replica::{LOCK_HOLD, Replica, State};

/// How long it sleeps when nothing is new; it is also how fast it hears that it shall stop.
const IDLE: Duration = Duration::from_millis(50);
/// Pause before it opens the journal again.
const RETRY: Duration = Duration::from_millis(200);

/// Why following broke off; it begins anew.
#[derive(Debug, Error)]
enum Broken {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Fold(#[from] FoldError),
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
pub(crate) fn follow(journal: &Path, replica: &Replica, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        match session(journal, replica, stop) {
            Ok(()) => continue,
            Err(Broken::Journal(JournalError::NoEngine(_))) => {
                tracing::debug!("no journal yet");
            }
            Err(broken) => {
                tracing::error!(%broken, "following the journal broke off");
                replica.lose();
            }
        }
        std::thread::park_timeout(RETRY);
    }
}

/// From the first frame until the view must start over.
fn session(journal: &Path, replica: &Replica, stop: &AtomicBool) -> Result<(), Broken> {
    let mut follower = Follower::open(journal, Sequence(0))?;
    let mut scratch = Scratch::default();
    let mut state = State {
        view: View::new(follower.genesis()),
        epoch: follower.epoch(),
    };
    let target = follower.durable();
    // Nobody reads this state yet, so it needs no lock and no short batches.
    while state.view.sequence() < target && !stop.load(Ordering::Relaxed) {
        match fold(&mut follower, &mut scratch, &mut state, Duration::MAX)? {
            Then::More | Then::NewEngine => {}
            Then::Wait => follower.wait(IDLE),
            Then::Rebuild => return Ok(()),
        }
    }
    tracing::info!(
        sequence = state.view.sequence().0,
        epoch = state.epoch,
        "the view is ready"
    );
    let control = Follower::open(journal, target)?;
    replica.replace(state, control, follower.reader());
    while !stop.load(Ordering::Relaxed) {
        let then = replica.advance(|state| fold(&mut follower, &mut scratch, state, LOCK_HOLD))?;
        match then {
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
