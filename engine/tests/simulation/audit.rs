//! What the journal says after a start, against what was promised: read whole, executed by the
//! naive exchange and folded into a view anew.

use std::collections::BTreeSet;

use foretell_journal::snapshot::{Image, images};
use foretell_journal::{Scratch, receipt};
use foretell_model::digest::StateDigest;
use foretell_model::{Command, Event, FramePlace, FrameRef, Sequence, TimeNs, Verdict};
use foretell_view::View;

use super::checks::Promise;
use super::world::World;

/// A broken promise and how.
pub(super) type Broken = (Promise, String);

/// A frame, owned.
struct Frame {
    sequence: Sequence,
    time: TimeNs,
    command: Command,
    events: Vec<Event>,
    evidence: Vec<u8>,
    place: FramePlace,
    receipt: [u8; 32],
}

/// Engine time in one life, as the clocks allow it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// First sequence stamped in it.
    pub(super) first: Sequence,
    /// Wall time when it began.
    pub(super) wall: u64,
    /// How long it lasted by the monotonic clock; much while it still does.
    pub(super) lasts: u64,
    /// The monotonic reading when it began.
    pub(super) began: u64,
}

/// Checks everything; `digest` is that of the exchange that was just recovered.
pub(super) fn audit(world: &World, digest: [u8; 32], at: Sequence) -> Result<(), Broken> {
    let frames = read(world)?;
    acknowledged(world, &frames)?;
    visible(world, &frames)?;
    once(&frames)?;
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
            time: shown.time,
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

/// Every acknowledged command stands where the acknowledgement said, as it was asked.
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

/// Every frame that was shown is there, to the byte, and no image is ahead of the journal.
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

/// No order id and no reference is executed twice, and a cancel of many stands there only if it ended
/// an order.
fn once(frames: &[Frame]) -> Result<(), Broken> {
    let mut names = BTreeSet::new();
    for frame in frames {
        let name: Option<Vec<u8>> = match &frame.command {
            Command::PlaceOrder(order) => Some(order.order.0.to_vec()),
            Command::Deposit { reference, .. }
            | Command::Withdraw { reference, .. }
            | Command::Split { reference, .. }
            | Command::Merge { reference, .. } => Some(reference.0.to_vec()),
            _ => None,
        };
        let is_new = name.is_none_or(|name| names.insert(name));
        if !is_new {
            let what = format!("{:?} a second time at {}", frame.command, frame.sequence);
            return Err((Promise::NothingTwice, what));
        }
        let is_cancel = matches!(
            frame.command,
            Command::CancelAll { .. } | Command::CancelMarketOrders { .. }
        );
        if is_cancel && frame.events.is_empty() {
            let what = format!("the cancel at {} ended nothing", frame.sequence);
            return Err((Promise::NothingTwice, what));
        }
    }
    Ok(())
}

/// Engine time does not go back, nor faster than the monotonic clock and a hundredth.
fn time(world: &World, frames: &[Frame]) -> Result<(), Broken> {
    let spans = world.spans.borrow();
    let mut before = TimeNs(0);
    // The span of the last frame, and the engine time it began with.
    let (mut current, mut begins) = (None, 0);
    for frame in frames {
        let unsteady = |what: &str| {
            let what = format!(
                "{what} at {}: {}, {}",
                frame.sequence, before.0, frame.time.0
            );
            Err((Promise::TimeIsSteady, what))
        };
        if frame.time < before {
            return unsteady("it went back");
        }
        let span = spans.iter().rposition(|span| span.first <= frame.sequence);
        if let Some(index) = span {
            let span = spans[index];
            if current != Some(index) {
                (current, begins) = (Some(index), span.wall.max(before.0));
            }
            let most = begins + span.lasts + span.lasts / 100 + 1;
            if frame.time.0 > most {
                return unsteady(&format!("it jumped beyond {most}"));
            }
        }
        before = frame.time;
    }
    Ok(())
}

/// The naive exchange comes to the same events, money and digest; images hold what it and a fresh
/// view come to at their sequence.
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
    let mut twin = foretell_twin::Exchange::new();
    let mut view = View::with_chunking(genesis, chunking);
    let mut events = Vec::new();
    for frame in frames {
        let differs = |what: String| {
            let what = format!("at {}, {:?}: {what}", frame.sequence, frame.command);
            Err((Promise::ReplayIsEqual, what))
        };
        events.clear();
        let verdict = twin.apply(&frame.command, frame.time, &mut events);
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
            sequence: self.sequence,
            time: self.time,
            command: &self.command,
            events: &self.events,
            evidence: &self.evidence,
            place: self.place,
        }
    }
}

/// The image at a sequence, unless it is damaged, proves the digest and holds the view there. An
/// image may be of a run whose frames were lost where that is allowed; recovery passes those over.
fn is_image_of(
    world: &World,
    sequence: Sequence,
    twin: &foretell_twin::Exchange,
    view: &View,
) -> Result<(), Broken> {
    let Ok(image) = Image::open(&world.snapshot_directory(), sequence, &world.genesis()) else {
        return Ok(());
    };
    let state = image.section("state.v2").unwrap_or_default();
    let own = view.image().expect("it refused no frame");
    // Places of frames are part of a view, and change when frames are written anew.
    let same_state = StateDigest::of_image(state) == twin.digest();
    if image.proof().digest != twin.digest() || !same_state {
        let what = format!("the image at {sequence} proves another digest");
        return Err((Promise::ReplayIsEqual, what));
    }
    for (name, bytes) in &own.sections {
        if is_placeless(name) && image.section(name) != Some(bytes.as_slice()) {
            let what = format!("section {name} of the image at {sequence} is another");
            return Err((Promise::ReplayIsEqual, what));
        }
    }
    Ok(())
}

/// Whether a section of a view says nothing of where frames stand.
fn is_placeless(name: &str) -> bool {
    matches!(
        name,
        "system"
            | "accounts"
            | "keys"
            | "events"
            | "markets"
            | "books"
            | "builders"
            | "open-positions"
            | "traded-markets"
            | "turnover"
            | "open-midpoints"
    )
}

/// Every follower that is up to date has the view a fresh fold gives.
fn same_views(world: &World, fresh: &View) -> Result<(), Broken> {
    for reader in world.readers.borrow().iter().flatten() {
        let Some(view) = reader.view() else { continue };
        if view.sequence() != fresh.sequence() {
            continue;
        }
        let (own, theirs) = (fresh.image(), view.image());
        let (own, theirs) = (own.expect("it follows"), theirs.expect("it follows"));
        for ((name, ours), (_, theirs)) in own.sections.iter().zip(&theirs.sections) {
            if is_placeless(name) && ours != theirs {
                let what = format!("{name} of a follower differs at {}", fresh.sequence());
                return Err((Promise::ReplayIsEqual, what));
            }
        }
    }
    Ok(())
}
