//! Audits the journal after a start against all promises: reads it whole, executes it on the naive
//! exchange and folds it into a new view.

use std::collections::BTreeSet;

use foretell_journal::snapshot::{Image, images};
use foretell_journal::{Scratch, receipt};
use foretell_model::command::{Deposit, Merge, Split, Withdraw};
use foretell_model::digest::StateDigest;
use foretell_model::{
    Command, CommandStamp, Event, FramePosition, FrameRef, Sequence, TimeNs, Verdict,
};
use foretell_view::View;

use super::checks::Promise;
use super::coverage::Situation;
use super::payments::{self, Payments};
use super::world::World;

/// A broken promise, with details.
pub(super) type Broken = (Promise, String);

/// A frame, owned.
pub(super) struct Frame {
    pub(super) sequence: Sequence,
    pub(super) stamp: CommandStamp,
    pub(super) command: Command,
    pub(super) events: Vec<Event>,
    evidence: Vec<u8>,
    pub(super) place: FramePosition,
    receipt: [u8; 32],
}

/// The allowed engine time of one life.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeSpan {
    /// First sequence stamped in it.
    pub(super) first: Sequence,
    /// Wall time at its start.
    pub(super) wall: u64,
    /// Its duration by the monotonic clock; large for the current life.
    pub(super) lasts: u64,
    /// The monotonic reading at its start.
    pub(super) began: u64,
    /// The most that a wall clock that stood in it was ahead of [`at_most`] of the monotonic clock: engine time may have
    /// jumped to it, and gone on from there.
    pub(super) stood: u64,
}

/// Runs all checks; `digest` is that of the recovered exchange.
pub(super) fn audit(world: &World, digest: [u8; 32], at: Sequence) -> Result<(), Broken> {
    let frames = read(world)?;
    acknowledged(world, &frames)?;
    visible(world, &frames)?;
    once(&frames)?;
    paid(world, &frames)?;
    time(world, &frames)?;
    replayed(world, &frames, digest, at)
}

fn read(world: &World) -> Result<Vec<Frame>, Broken> {
    let mut scratch = Scratch::default();
    let mut frames = Vec::new();
    let scanned = foretell_journal::scan(&world.journal_directory(), Sequence(0), &mut |frame| {
        let shown = frame
            .decode(&mut scratch)
            .map_err(|error| error.to_string())?;
        frames.push(Frame {
            sequence: shown.sequence,
            stamp: shown.stamp(),
            command: *shown.command,
            events: shown.events.to_vec(),
            evidence: shown.evidence.to_vec(),
            place: shown.place,
            receipt: receipt(frame.bytes()),
        });
        Ok(())
    });
    match scanned {
        Ok(_) => Ok(frames),
        Err(error) => Err((
            Promise::Serves,
            format!("the journal cannot be read: {error}"),
        )),
    }
}

fn at(frames: &[Frame], sequence: Sequence) -> Option<&Frame> {
    let index = usize::try_from(sequence.0.checked_sub(1)?).ok()?;
    frames.get(index)
}

/// Every acknowledged command has its acknowledged sequence and content.
fn acknowledged(world: &World, frames: &[Frame]) -> Result<(), Broken> {
    let ledger = world.ledger.borrow();
    let lost = |what: String| Err((Promise::NothingAcknowledgedLost, what));
    let last = frames.last().map_or(Sequence(0), |frame| frame.sequence);
    if ledger.promised > last {
        return lost(format!(
            "answers rested on {}, the journal ends at {last}",
            ledger.promised
        ));
    }
    for (sequence, command) in ledger.acknowledged() {
        match at(frames, sequence) {
            Some(frame) if frame.command == *command => {}
            Some(frame) => {
                return lost(format!(
                    "{command:?} was done at {sequence}, which is {:?}",
                    frame.command
                ));
            }
            None => return lost(format!("{command:?}, done at {sequence}")),
        }
    }
    Ok(())
}

/// Every shown frame is present with equal bytes, and no snapshot is ahead of the journal.
fn visible(world: &World, frames: &[Frame]) -> Result<(), Broken> {
    for (sequence, receipt) in &world.ledger.borrow().visible {
        let found = at(frames, *sequence).map(|frame| frame.receipt);
        if found != Some(*receipt) {
            let what = format!("frame {sequence} was shown and is gone or another");
            return Err((Promise::NothingVisibleLost, what));
        }
    }
    Ok(())
}

/// No order id and no reference is executed twice, and a cancel of many is journalled only if it
/// ended an order.
fn once(frames: &[Frame]) -> Result<(), Broken> {
    let mut names = BTreeSet::new();
    for frame in frames {
        let name: Option<Vec<u8>> = match &frame.command {
            Command::PlaceOrder(order) => Some(order.order.0.to_vec()),
            Command::Deposit(Deposit { reference, .. })
            | Command::Withdraw(Withdraw { reference, .. })
            | Command::Split(Split { reference, .. })
            | Command::Merge(Merge { reference, .. }) => Some(reference.0.to_vec()),
            _ => None,
        };
        let is_new = name.is_none_or(|name| names.insert(name));
        if !is_new {
            let what = format!("{:?} a second time at {}", frame.command, frame.sequence);
            return Err((Promise::NothingTwice, what));
        }
        let is_cancel = matches!(
            frame.command,
            Command::CancelAll(_) | Command::CancelMarketOrders(_)
        );
        if is_cancel && frame.events.is_empty() {
            let what = format!("the cancel at {} ended nothing", frame.sequence);
            return Err((Promise::NothingTwice, what));
        }
    }
    Ok(())
}

/// Nobody is paid twice or not at all; a replace is one piece.
fn paid(world: &World, frames: &[Frame]) -> Result<(), Broken> {
    let payments = Payments::of(frames).map_err(|what| (Promise::NothingTwice, what))?;
    let (settles, pays_rebates) = payments.runs();
    let seen = [
        (settles, Situation::SettlementInterrupted),
        (pays_rebates, Situation::RebatePaymentInterrupted),
        (payments.held() > 0, Situation::WithdrawalWaitsAtStart),
    ];
    for (_, situation) in seen.into_iter().filter(|(is_seen, _)| *is_seen) {
        world.context.count(situation);
    }
    let replaced = payments::replaces(frames).map_err(|what| (Promise::ReplaceIsOne, what))?;
    if replaced > 0 {
        world.context.count(Situation::ReplaceJournalled);
    }
    Ok(())
}

/// A settlement or a payment that has not ended.
pub(super) fn unfinished(world: &World) -> Option<String> {
    let frames = read(world).ok()?;
    Payments::of(&frames).ok()?.unfinished()
}

/// How far engine time goes while the monotonic clock goes this far.
pub(super) const fn at_most(monotonic: u64) -> u64 {
    monotonic + monotonic / 100 + 1
}

/// Engine time never goes back, and is at most 1% faster than the monotonic clock, or at a wall clock that stood.
fn time(world: &World, frames: &[Frame]) -> Result<(), Broken> {
    let spans = world.spans.borrow();
    let mut before = TimeNs(0);
    // The span of the last frame, and the engine time at its start.
    let (mut current, mut begins) = (None, 0);
    for frame in frames {
        let time = frame.stamp.time;
        let unsteady = |what: &str| {
            let what = format!("{what} at {}: {}, {}", frame.sequence, before.0, time.0);
            Err((Promise::TimeIsSteady, what))
        };
        if time < before {
            return unsteady("it went back");
        }
        let span = spans.iter().rposition(|span| span.first <= frame.sequence);
        if let Some(index) = span {
            let span = spans[index];
            if current != Some(index) {
                (current, begins) = (Some(index), span.wall.max(before.0));
            }
            let stood = span.stood + at_most(span.began + span.lasts);
            let most = stood.max(begins + at_most(span.lasts));
            if time.0 > most {
                return unsteady(&format!("it jumped beyond {most}"));
            }
        }
        before = time;
    }
    Ok(())
}

/// The naive exchange produces the same events, money and digest; snapshots equal its state and a
/// new view at their sequence.
fn replayed(
    world: &World,
    frames: &[Frame],
    digest: [u8; 32],
    end: Sequence,
) -> Result<(), Broken> {
    let directory = world.snapshot_directory();
    let genesis = world.genesis();
    let chunking = world.config.borrow().publishing.chunking;
    let wanted: BTreeSet<Sequence> = images(&directory).unwrap_or_default().into_iter().collect();
    let mut twin = foretell_reference::Exchange::new();
    let mut view = View::with_chunking(genesis, chunking);
    let mut events = Vec::new();
    for frame in frames {
        let differs = |what: String| {
            let what = format!("at {}, {:?}: {what}", frame.sequence, frame.command);
            Err((Promise::ReplayIsEqual, what))
        };
        events.clear();
        let verdict = twin.apply(&frame.command, frame.stamp, &mut events);
        if !matches!(verdict, Verdict::Applied(_)) || events != frame.events {
            return differs(format!("{verdict:?}, {events:?} for {:?}", frame.events));
        }
        if let Err(what) = view.apply(&frame.shown()) {
            return differs(what.to_string());
        }
        if wanted.contains(&frame.sequence) {
            is_image_of(world, frame.sequence, &twin, &view)?;
        }
        if frame.sequence == end && twin.digest() != digest {
            return differs("the recovered exchange has another digest".to_owned());
        }
    }
    same_views(world, &view)?;
    twin.conservation()
        .map_err(|what| (Promise::MoneyIsExact, what))
}

impl Frame {
    fn shown(&self) -> FrameRef<'_> {
        FrameRef {
            operator: self.stamp.operator,
            touched: self.stamp.touched,
            sequence: self.sequence,
            time: self.stamp.time,
            command: &self.command,
            events: &self.events,
            evidence: &self.evidence,
            place: self.place,
        }
    }
}

/// The snapshot at a sequence, unless damaged, has the right digest and view. A snapshot may stem
/// from a run whose frames were lost where loss is allowed; recovery skips those.
fn is_image_of(
    world: &World,
    sequence: Sequence,
    twin: &foretell_reference::Exchange,
    view: &View,
) -> Result<(), Broken> {
    let Ok(image) = Image::open(&world.snapshot_directory(), sequence, &world.genesis()) else {
        return Ok(());
    };
    let state = image.section("state.v2").unwrap_or_default();
    let own = view.snapshot().expect("it refused no frame");
    // A view contains places of frames, which change when frames are rewritten.
    let same_state = StateDigest::of_image(state) == twin.digest();
    if image.proof().digest != twin.digest() || !same_state {
        let what = format!("the image at {sequence} proves another digest");
        return Err((Promise::ReplayIsEqual, what));
    }
    for (name, bytes) in &own.sections {
        if has_no_places(name) && image.section(name) != Some(bytes.as_slice()) {
            let what = format!("section {name} of the image at {sequence} is another");
            return Err((Promise::ReplayIsEqual, what));
        }
    }
    Ok(())
}

/// Whether a section of a view contains no places of frames.
fn has_no_places(name: &str) -> bool {
    matches!(
        name,
        "system"
            | "accounts"
            | "keys"
            | "events"
            | "markets"
            | "books"
            | "builders"
            | "holdings"
            | "turnover"
            | "open-midpoints"
    )
}

/// Every follower that is up to date has the view of a fresh fold.
fn same_views(world: &World, fresh: &View) -> Result<(), Broken> {
    for reader in world.readers.borrow().iter().flatten() {
        let Some(view) = reader.view() else { continue };
        if view.sequence() != fresh.sequence() {
            continue;
        }
        let (own, theirs) = (fresh.snapshot(), view.snapshot());
        let (own, theirs) = (own.expect("it follows"), theirs.expect("it follows"));
        for ((name, ours), (_, theirs)) in own.sections.iter().zip(&theirs.sections) {
            if has_no_places(name) && ours != theirs {
                let what = format!("{name} of a follower differs at {}", fresh.sequence());
                return Err((Promise::ReplayIsEqual, what));
            }
        }
    }
    Ok(())
}
