//! A connection's requests: the changes of its subscription, and the answers.

use bytes::Bytes;
use foretell_journal::wall_clock;
use foretell_model::{MarketNumber, Outcome, Sequence};
use foretell_view::View;
use foretell_wire::errors::api_error::ApiError;
use foretell_wire::streams::extension::{self, RECOVERING, SnapshotReason};
use foretell_wire::streams::request::{Channel, RequestError, RequestErrorCode, StreamRequest};
use foretell_wire::streams::{Stamp, stream_id};
use foretell_wire::text::words::mode_word;

use crate::app::App;
use crate::policy::limits::STREAM_HEARTBEAT_MS;
use crate::streams::connection::close::Close;
use crate::streams::fan_out::journal_replay::ReplaySpan;
use crate::streams::fan_out::ring::EncodedFrame;
use crate::streams::fan_out::{Hub, HubState};
use crate::streams::render::text_frame::text_frame;
use crate::streams::subscription::demand::{Lease, Subject, Watched};
use crate::streams::subscription::member::{Member, MemberId};
use crate::view::shared_view::ViewState;

/// A connection while it handles a request.
#[derive(Clone, Copy)]
pub(crate) struct Session<'a> {
    pub(crate) app: &'a App,
    pub(crate) hub: &'a Hub,
    pub(crate) id: MemberId,
    /// Whether the request goes on with a replay that was answered before.
    pub(crate) is_continued: bool,
}

/// Why a request has no effect, or not yet.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// The connection ends.
    Close(Close),
    /// It is ignored.
    Error(RequestError),
    /// It is handled again after the view has caught up, once.
    CatchUp,
    /// It is handled again after the view has reached this sequence, once.
    Wait(Sequence),
    /// It is handled again with older messages from the journal, once.
    Replay(Box<ReplayOrder>),
    /// It goes on with a resume from this frame when the client has read everything sent.
    Continue(Sequence),
}

/// Messages to read from the journal.
#[derive(Debug)]
pub(crate) struct ReplayOrder {
    pub(crate) span: ReplaySpan,
    pub(crate) watched: Watched,
    /// Whether earlier parts of the same replay were sent.
    pub(crate) is_continued: bool,
    /// What the ring holds after the span stays encoded meanwhile.
    pub(crate) leases: Vec<Lease>,
}

/// Messages read from the journal: those of the frames up to `last`. `None` when that takes too
/// long, or too many clients ask for them.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(crate) frames: Option<Vec<EncodedFrame>>,
    pub(crate) last: Sequence,
    /// Whether these are all that the ring does not hold.
    pub(crate) is_whole: bool,
    pub(crate) _leases: Vec<Lease>,
}

/// What a request has waited for.
#[derive(Debug)]
pub(crate) enum Waited {
    /// Nothing yet.
    Not,
    /// The view has caught up, or could not.
    CaughtUp,
    /// For a sequence, with this result.
    ForSequence(Result<(), ApiError>),
    /// For messages from the journal.
    ForReplay(Replayed),
}

impl Waited {
    /// The messages of older frames, if they were read.
    pub(crate) const fn replayed(&self) -> Option<&Replayed> {
        match self {
            Self::ForReplay(replayed) => Some(replayed),
            _ => None,
        }
    }

    /// Whether names may be newer than the view.
    pub(crate) const fn may_wait(&self) -> bool {
        matches!(self, Self::Not)
    }
}

/// What a resume needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resume {
    /// The client has everything up to this frame, and later messages are held.
    From(Sequence),
    /// They are not.
    Snapshot(SnapshotReason),
}

impl Session<'_> {
    /// Applies a request.
    pub(crate) fn handle(&self, request: &StreamRequest, waited: &Waited) -> Result<(), Interrupt> {
        if !self.app.shared_view.is_ready() {
            return Err(Interrupt::Close(Close::try_again()));
        }
        let channel = self.channel(request)?;
        if request.opts_in() {
            self.extend(request);
        }
        if let Waited::ForSequence(Err(_)) = waited {
            let asked = request.resume_from.unwrap_or_default();
            return Err(not_yet(asked));
        }
        match channel {
            Channel::Market => self.market_request(request, waited),
            Channel::User => self.user_request(request, waited),
        }
    }

    /// The connection's channel; a path without one takes that of the request.
    fn channel(&self, request: &StreamRequest) -> Result<Channel, Interrupt> {
        let mut hub = self.hub.lock();
        let Some(member) = hub.member(self.id) else {
            return Err(Interrupt::Close(Close::normal()));
        };
        match (member.channel, request.channel) {
            (Some(channel), None) => Ok(channel),
            (Some(channel), Some(asked)) if channel == asked => Ok(channel),
            (Some(channel), Some(asked)) => Err(error(
                RequestErrorCode::WrongChannel,
                format!("type is {}, allowed: {}", asked.name(), channel.name()),
            )),
            (None, Some(asked)) => {
                member.channel = Some(asked);
                self.hub.stats.left(None);
                self.hub.stats.joined(Some(asked));
                Ok(asked)
            }
            (None, None) => Err(error(
                RequestErrorCode::BadField,
                "type is missing, allowed: market, user".to_owned(),
            )),
        }
    }

    /// Opts in to the extension.
    fn extend(&self, request: &StreamRequest) {
        let mut hub = self.hub.lock();
        let now = hub.now();
        let Some((member, index)) = hub.parts(self.id) else {
            return;
        };
        member.extended = true;
        index.extended.insert(self.id);
        if let Some(asked) = request.heartbeat_ms {
            let (least, most) = (*STREAM_HEARTBEAT_MS.start(), *STREAM_HEARTBEAT_MS.end());
            member.heartbeat_ms = if asked == 0 {
                0
            } else {
                asked.clamp(least, most)
            };
            member.times.heartbeat = now;
        }
    }

    /// Whether all names of a request fit a limit; what exceeds it is not subscribed. A first request
    /// above it ends the connection, which has nothing to keep.
    pub(crate) fn fits(&self, what: &str, count: usize, max: usize) -> Result<(), Interrupt> {
        if count <= max {
            return Ok(());
        }
        let is_first = |member: &Member| !member.is_subscribed();
        match self
            .hub
            .lock()
            .member(self.id)
            .is_none_or(|it| is_first(it))
        {
            true => Err(Interrupt::Close(Close::too_many(what, count, max))),
            false => Err(error(
                RequestErrorCode::BadField,
                format!("{count} {what} are subscribed, allowed: {max}; the last ones are refused"),
            )),
        }
    }

    /// Reports an ignored request, if the connection opted in.
    pub(crate) fn ignored(&self, problem: &RequestError, text: &str) {
        self.hub.stats.bad_request();
        let mut hub = self.hub.lock();
        if hub.member(self.id).is_some_and(|member| member.extended) {
            let stamped = self.stamped(hub.cursor, |stamp| extension::error(problem, text, stamp));
            let cursor = hub.cursor;
            hub.insert(self.id, cursor, vec![stamped]);
        }
    }

    /// A message of the extension about this sequence, as a finished frame.
    pub(crate) fn stamped(
        &self,
        sequence: Sequence,
        text: impl FnOnce(&Stamp<'_>) -> String,
    ) -> Bytes {
        let id = stream_id(self.app.shared_view.read().view.branch());
        stamped(&id, sequence, text)
    }

    /// The frame before those that the ring must hold: the resume point, or the end of what was
    /// read from the journal.
    pub(crate) fn ring_after(from: Sequence, waited: &Waited) -> Sequence {
        let read = waited.replayed().filter(|read| read.frames.is_some());
        read.map_or(from, |read| read.last.max(from))
    }

    /// The outcome of `resume_from`, when the messages of all named tokens or of the key are held
    /// after `oldest`.
    pub(crate) fn resume(
        &self,
        request: &StreamRequest,
        state: &ViewState,
        oldest: Option<Sequence>,
        waited: &Waited,
    ) -> Option<Resume> {
        let from = request.resume_from?;
        let own = stream_id(state.view.branch());
        if request.stream_id.as_ref().is_some_and(|id| *id != own) {
            return Some(Resume::Snapshot(SnapshotReason::OtherStream));
        }
        if (waited.replayed()).is_some_and(|read| read.frames.is_some() && !read.is_whole) {
            return Some(Resume::From(from));
        }
        // Every frame after the view's sequence will be encoded.
        let after = Self::ring_after(from, waited);
        if after >= state.view.sequence() || oldest.is_some_and(|oldest| after >= oldest) {
            return Some(Resume::From(from));
        }
        Some(Resume::Snapshot(self.too_old()))
    }

    /// The lowest N that replays: from the ring if it holds everything after `held`, or from the
    /// journal.
    pub(crate) fn oldest_replay(&self, held: Option<Sequence>, view: &View) -> Sequence {
        let newest = view.sequence();
        let snapshots = &self.app.view_sources.snapshots;
        let reached = self.app.replay_reach.oldest(snapshots, newest);
        held.unwrap_or(newest).min(reached)
    }

    pub(crate) fn too_old(&self) -> SnapshotReason {
        // The first history begins when the view is first published.
        match self.app.stream_ring.history() {
            0 | 1 => SnapshotReason::TooOld,
            _ => SnapshotReason::HistoryRebuilt,
        }
    }

    /// Whether the request must wait for the sequence from which it resumes.
    pub(crate) fn awaits(&self, request: &StreamRequest, view: &View, waited: &Waited) -> bool {
        let is_own = |id: &String| *id == stream_id(view.branch());
        waited_not(waited)
            && request.stream_id.as_ref().is_none_or(is_own)
            && (request.resume_from).is_some_and(|from| from > view.sequence())
    }

    /// The state of the exchange in messages.
    pub(crate) fn state_word(&self, view: &View) -> &'static str {
        match self.app.engine.welcome() {
            Some(_) => mode_word(view.system().mode),
            None => RECOVERING,
        }
    }

    /// Puts the first books of tokens on the list, unless they are on it.
    pub(crate) fn dump(hub: &mut HubState, id: MemberId, tokens: &[(MarketNumber, Outcome)]) {
        if let Some(member) = hub.member(id) {
            member.dump.extend(tokens);
        }
    }

    /// Asks for messages of the journal when the ring no longer holds what the client misses of some
    /// subjects. Returns leases of them, which last until the subscription has its own: what the ring
    /// holds now stays encoded. `oldest` is the lowest N after which every message is held.
    pub(crate) fn order_replay(
        &self,
        request: &StreamRequest,
        waited: &Waited,
        subjects: &[Subject],
        oldest: impl FnOnce() -> Option<Sequence>,
    ) -> Result<Vec<Lease>, Interrupt> {
        let Some(after) = request.resume_from else {
            return Ok(Vec::new());
        };
        let demand = self.app.stream_ring.demand();
        let leases = subjects.iter().map(|subject| demand.lease(*subject));
        let leases = leases.collect();
        if waited.replayed().is_some() {
            return Ok(leases);
        }
        // The leases are taken: every frame after this state is encoded.
        let state = self.app.shared_view.read();
        match self.resume(request, &state, oldest(), waited) {
            Some(Resume::Snapshot(SnapshotReason::OtherStream)) | Some(Resume::From(_)) | None => {
                Ok(leases)
            }
            Some(Resume::Snapshot(_)) => Err(Interrupt::Replay(Box::new(ReplayOrder {
                span: ReplaySpan {
                    after,
                    last: state.view.sequence(),
                },
                watched: Watched::of(subjects.iter().copied()),
                is_continued: self.is_continued,
                leases,
            }))),
        }
    }
}

fn waited_not(waited: &Waited) -> bool {
    !matches!(waited, Waited::ForSequence(_) | Waited::ForReplay(_))
}

/// A message as a finished frame.
pub(crate) fn stamped(
    stream_id: &str,
    sequence: Sequence,
    text: impl FnOnce(&Stamp<'_>) -> String,
) -> Bytes {
    let stamp = Stamp {
        sequence,
        prev_sequence: None,
        stream_id,
        server_time: wall_clock::now().millis(),
    };
    text_frame(&text(&stamp))
}

/// Keeps the names that are subscribed, and as many new ones as fit a limit, in their order. Returns
/// how many would be subscribed with all.
pub(crate) fn keep_fitting<T>(
    names: &mut Vec<T>,
    (subscribed, max): (usize, usize),
    is_subscribed: impl Fn(&T) -> bool,
) -> usize {
    let mut count = subscribed;
    names.retain(|name| {
        let is_new = !is_subscribed(name);
        count += usize::from(is_new);
        !is_new || count <= max
    });
    count
}

/// A request that is ignored.
pub(crate) fn error(code: RequestErrorCode, message: String) -> Interrupt {
    Interrupt::Error(RequestError::new(code, message))
}

/// A resume from a frame that this gateway does not have yet.
fn not_yet(asked: Sequence) -> Interrupt {
    let message = format!("not yet at sequence {}", asked.0);
    error(RequestErrorCode::NotSubscribed, message)
}
