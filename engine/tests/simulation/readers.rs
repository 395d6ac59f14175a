//! The followers: they fold views as gateways do, frame by frame, through every epoch. They live as
//! long as the machine; the engine's process may die meanwhile.

use foretell_journal::snapshot::newest_image;
use foretell_journal::{Follower, JournalError, Next, Scratch};
use foretell_model::command::CancelAll;
use foretell_model::event::MarketStateSet;
use foretell_model::{Command, Event, FrameRef, MarketState};
use foretell_view::{FoldError, Impossible, View};

use super::checks::{self, Promise};
use super::coverage::Situation;
use super::world::World;
use crate::snapshot_contents;

/// Maximum number of frames per step.
const PIECE: u64 = 12;

/// One follower and its view.
#[derive(Debug)]
pub(super) struct Reader {
    name: usize,
    followed: Option<(Follower, View)>,
    scratch: Scratch,
}

impl Reader {
    pub(super) fn new(name: usize) -> Self {
        Self {
            name,
            followed: None,
            scratch: Scratch::default(),
        }
    }

    /// Its machine dies.
    pub(super) fn die(&mut self) {
        self.followed = None;
    }

    /// The view, if it has started.
    pub(super) fn view(&self) -> Option<&View> {
        self.followed.as_ref().map(|(_, view)| view)
    }

    /// Reads a few frames; starts first if it has no view.
    pub(super) fn step(&mut self, world: &World) {
        if self.followed.is_none() {
            match begin(world) {
                Ok(followed) => self.followed = Some(followed),
                Err(JournalError::NoEngine(_)) => {}
                Err(error) => self.broken(&error.to_string(), world),
            }
            return;
        }
        for _ in 0..=world.context.below(PIECE) {
            match self.read(world) {
                Ok(true) => {}
                Ok(false) => return,
                Err(what) => return self.broken(&what, world),
            }
        }
    }

    /// Reads one frame; `false` when there is none.
    fn read(&mut self, world: &World) -> Result<bool, String> {
        let Some((follower, view)) = &mut self.followed else {
            return Ok(false);
        };
        match follower.next_frame().map_err(|error| error.to_string())? {
            Next::UpToDate => Ok(false),
            Next::NewEpoch { epoch } => {
                let name = self.name;
                world
                    .context
                    .note(|| format!("reader {name}: goes over to epoch {epoch}"));
                world.context.count(Situation::FollowerMetNewEpoch);
                Ok(true)
            }
            Next::Rebuild { epoch } => Err(format!("told to start over in epoch {epoch}")),
            Next::Frame(frame) => {
                let (sequence, receipt) = (frame.sequence(), frame.receipt());
                let shown = frame
                    .decode(&mut self.scratch)
                    .map_err(|error| error.to_string())?;
                if let Err(error) = view.apply(&shown) {
                    return self.refused(&error, world);
                }
                let place = shown.place;
                for event in shown.events {
                    if let Event::MarketSettled(_) = event {
                        world.context.count(Situation::MarketSettled);
                    }
                    if let Some(is_paying) = starts_or_ends_payment(event) {
                        world.is_paying.set(is_paying);
                    }
                }
                if let Some(situation) = situation_of(&shown) {
                    world.context.count(situation);
                }
                checks::shown(world, sequence, receipt, place);
                Ok(true)
            }
        }
    }

    /// A chunk that a living reader has mapped may rot after it was verified. The fold must stop
    /// there; the reader then starts again, and verifies what it maps.
    fn refused(&mut self, error: &FoldError, world: &World) -> Result<bool, String> {
        if error.what != Impossible::HistoryUnreadable
            || !world.context.has_occurred(Situation::RotInSnapshot)
        {
            return Err(error.to_string());
        }
        let name = self.name;
        let what = || format!("reader {name}: starts again, a mapped chunk is rotten");
        world.context.note(what);
        self.followed = None;
        Ok(false)
    }

    fn broken(&mut self, what: &str, world: &World) {
        let what = || format!("reader {}: {what}", self.name);
        world.context.broken(Promise::NothingVisibleLost, what);
        self.followed = None;
    }
}

const fn starts_or_ends_payment(event: &Event) -> Option<bool> {
    match event {
        Event::SettlementStarted(_) | Event::RebatePaymentStarted { .. } => Some(true),
        Event::MarketSettled(_) | Event::RebatePaymentEnded { .. } => Some(false),
        _ => None,
    }
}

/// What the engine did by itself.
fn situation_of(frame: &FrameRef<'_>) -> Option<Situation> {
    let is_by_time = *frame.command == Command::AdvanceTime;
    match (frame.command, frame.events.first()?) {
        (
            Command::CancelAll(CancelAll {
                heartbeat: true, ..
            }),
            _,
        ) => Some(Situation::HeartbeatMissed),
        (_, Event::OrderReleased(_)) => Some(Situation::OrderReleased),
        (_, Event::MarketCleared { .. }) => Some(Situation::MarketCleared),
        (_, Event::Disputed(_)) => Some(Situation::ProposalDisputed),
        (_, Event::MarketStateSet(MarketStateSet { state, .. })) if is_by_time => match state {
            MarketState::Active => Some(Situation::MarketOpened),
            _ => Some(Situation::MarketClosedByTime),
        },
        (_, Event::MarketResolved(_)) if is_by_time => Some(Situation::FinalisedByTime),
        (_, Event::RebatePaymentStarted { .. }) if is_by_time => Some(Situation::RebatesPaidByTime),
        _ => None,
    }
}

/// Starts after the newest snapshot, or at the first frame.
fn begin(world: &World) -> Result<(Follower, View), JournalError> {
    let journal = world.journal_directory();
    let beginning = Follower::open(&journal, foretell_model::Sequence(0))?;
    let genesis = beginning.genesis();
    if world.context.percent(50)
        && let Some(store) = world.store()
        && let Some(image) = newest_image(store.dir(), &genesis, beginning.durable())
        && let Ok((view, _)) = snapshot_contents::view_of(&image, store.dir(), store.genesis())
    {
        world.context.count(Situation::FollowerBeganAtImage);
        let follower = Follower::open(&journal, image.sequence())?;
        return Ok((follower, view));
    }
    let chunking = world.config.borrow().publishing.chunking;
    Ok((beginning, View::with_chunking(genesis, chunking)))
}
