//! The promises (docs/verify/guarantees.md) as checked by this simulation: at every acknowledgement,
//! at every shown frame, and over the whole journal after every start.

use std::fmt;

use foretell_journal::segment;
use foretell_link::Reply;
use foretell_model::{Durability, FramePosition, RejectionReason, Sequence, Verdict};

use super::coverage::Situation;
use super::world::World;

/// A promise of the engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Promise {
    /// 1, 2: an acknowledged command survives any crash.
    NothingAcknowledgedLost,
    /// 2: it is on the disk when the acknowledgement leaves.
    AcknowledgedIsDurable,
    /// 3: a visible frame can no longer be lost.
    NothingVisibleLost,
    /// 4: replay gives identical events, digests and views.
    ReplayIsEqual,
    /// 5: damage at or below the watermark is found before serving, and not repaired silently.
    DamageIsFound,
    /// 6: after the first I/O error nothing is acknowledged.
    NothingAfterIoError,
    /// 8 to 10: money is exact.
    MoneyIsExact,
    /// 18: nothing executes twice.
    NothingTwice,
    /// The commands of a replace stand next to each other in one batch.
    ReplaceIsOne,
    /// 25: engine time never goes back, and jumps only to a wall clock that stands.
    TimeIsSteady,
    /// An engine starts, serves and stops in the absence of faults.
    Serves,
    /// The protocol between gateway and engine holds.
    Protocol,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A client received an answer.
pub(super) fn acknowledged(world: &World, intent: usize, reply: &Reply) {
    let context = &world.context;
    match reply.verdict {
        Verdict::Repeated { .. } => context.count(Situation::RepeatedAnswered),
        Verdict::Rejected(rejection) if is_engine_s_own(rejection.reason) => {
            let what = || format!("the engine let a command in too early: {rejection:?}");
            context.broken(Promise::Protocol, what);
        }
        _ => {}
    }
    if world.durability() == Durability::Disk && !is_safe(world, reply.place) {
        let what = || format!("{} at {:?}", reply.sequence, reply.place);
        context.broken(Promise::AcknowledgedIsDurable, what);
    }
    if let Err(what) = world.ledger.borrow_mut().answered(intent, reply) {
        context.broken(Promise::NothingTwice, || what);
    }
}

/// Whether the engine has to prevent this rejection: it continues work and advances time first.
const fn is_engine_s_own(reason: RejectionReason) -> bool {
    matches!(
        reason,
        RejectionReason::WorkPending | RejectionReason::TimeDue
    )
}

/// A follower was shown a frame.
pub(super) fn shown(world: &World, sequence: Sequence, receipt: [u8; 32], place: FramePosition) {
    if world.is_syncing.get() {
        world.context.count(Situation::FollowerReadDuringSync);
    }
    if world.durability() == Durability::Disk && !is_safe(world, place) {
        let what = || format!("frame {sequence} was shown before it was on the disk");
        world.context.broken(Promise::NothingVisibleLost, what);
    }
    let mut ledger = world.ledger.borrow_mut();
    let before = *ledger.visible.entry(sequence).or_insert(receipt);
    if before != receipt {
        let what = || format!("frame {sequence} was shown with two contents");
        world.context.broken(Promise::NothingVisibleLost, what);
    }
}

/// Whether the frame's segment is on the disk up to the frame's end. A rejection has no frame.
fn is_safe(world: &World, place: FramePosition) -> bool {
    let path = segment::path(&world.journal_directory(), place.segment);
    let end = u64::from(place.offset) + u64::from(place.length);
    place == FramePosition::default() || world.disk.is_safe(&path, end)
}
