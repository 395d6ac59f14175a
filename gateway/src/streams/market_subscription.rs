//! Requests of the market channel.

use std::collections::HashSet;

use bytes::Bytes;
use foldhash::fast::RandomState;
use foretell_model::{MarketNumber, Outcome, Sequence};
use foretell_view::View;
use foretell_wire::limits::MAX_UNKNOWN_IDS;
use foretell_wire::streams::extension::{Subscribed, resumed_replay, resumed_snapshot};
use foretell_wire::streams::request::{Channel, Operation, StreamRequest};

use crate::limits::STREAM_PASS_FRAMES;
use crate::resources::market_of;
use crate::shared_view::ViewState;
use crate::streams::close::Close;
use crate::streams::fan_out::HubState;
use crate::streams::index::{Tokens, market_of as market_of_message};
use crate::streams::ring::Scope;
use crate::streams::session::{Interrupt, Resume, Session, Waited, stamped};

type Token = (MarketNumber, Outcome);

/// The tokens that a request names.
#[derive(Default)]
struct Named {
    tokens: Vec<Token>,
    /// Ids that name nothing.
    unknown: Vec<String>,
}

impl Named {
    fn of(request: &StreamRequest, view: &View) -> Self {
        let mut named = Self {
            unknown: request.malformed.clone(),
            ..Self::default()
        };
        let mut seen: HashSet<Token, RandomState> = HashSet::default();
        for token in &request.tokens {
            match market_of(view, token) {
                Some(found) if seen.insert(found) => named.tokens.push(found),
                Some(_) => {}
                None => named.unknown.push(token.to_string()),
            }
        }
        for condition in &request.markets {
            match view.markets().by_condition(condition) {
                Some((market, _)) => {
                    let both = [Outcome::Yes, Outcome::No].map(|outcome| (market, outcome));
                    named.tokens.extend(both.iter().filter(|it| seen.insert(**it)));
                }
                None => named.unknown.push(condition.to_string()),
            }
        }
        named
    }
}

impl Session<'_> {
    pub(crate) fn market_request(
        &self,
        request: &StreamRequest,
        waited: &Waited,
    ) -> Result<(), Interrupt> {
        let mut named = {
            let state = self.app.shared_view.read();
            if self.awaits(request, &state.view, waited) {
                return Err(Interrupt::Wait(request.resume_from.unwrap_or_default()));
            }
            Named::of(request, &state.view)
        };
        if named.unknown.len() > request.malformed.len() && waited.may_wait() {
            // A market may be newer than this gateway's view.
            return Err(Interrupt::CatchUp);
        }
        named.unknown.truncate(MAX_UNKNOWN_IDS);
        match request.operation {
            Operation::Subscribe => self.subscribe_market(request, &named),
            Operation::Unsubscribe => {
                self.unsubscribe_market(&named);
                self.set_custom(&mut self.hub.lock(), request);
                Ok(())
            }
        }
    }

    fn subscribe_market(&self, request: &StreamRequest, named: &Named) -> Result<(), Interrupt> {
        let hub = &mut *self.hub.lock();
        let new = self.add_tokens(hub, named)?;
        self.set_custom(hub, request);
        // The leases are taken: every frame after this state is encoded.
        let state = self.app.shared_view.read();
        if let (Some(custom), Some(member)) = (request.custom, hub.member(self.id)) {
            let since = member.custom.unwrap_or(state.view.sequence());
            member.custom = custom.then_some(since);
        }
        let oldest = self.oldest_resume(hub, named);
        match self.resume(request, &state, oldest) {
            Some(Resume::From(from)) => {
                if self.replay(hub, &state, (request, named), from, oldest) {
                    return Ok(());
                }
                self.snapshot(hub, &state, (request, named), &named.tokens, oldest);
            }
            Some(Resume::Snapshot(_)) => {
                self.snapshot(hub, &state, (request, named), &named.tokens, oldest);
            }
            None => self.snapshot(hub, &state, (request, named), &new, oldest),
        }
        Ok(())
    }

    /// Adds the named tokens to the subscription; returns those that were not in it.
    fn add_tokens(&self, hub: &mut HubState, named: &Named) -> Result<Vec<Token>, Interrupt> {
        let max = self.hub.limits.assets;
        let is_new = |hub: &HubState, (market, outcome): Token| {
            !hub.index.subscribed(market, self.id).wanted[outcome.index()]
        };
        let tokens = named.tokens.iter().copied();
        let new: Vec<Token> = tokens.filter(|token| is_new(hub, *token)).collect();
        let Some((member, index)) = hub.parts(self.id) else {
            return Ok(Vec::new());
        };
        let count = member.tokens + new.len();
        if count > max {
            return Err(Interrupt::Close(Close::too_many("assets", count, max)));
        }
        for (market, outcome) in &new {
            index.tokens(*market, self.id).wanted[outcome.index()] = true;
            member.markets.insert(*market);
        }
        member.tokens = count;
        self.hub.stats.subscribed(new.len());
        Ok(new)
    }

    /// Applies the flag; `None` leaves it unchanged.
    fn set_custom(&self, hub: &mut HubState, request: &StreamRequest) {
        if let Some(custom) = request.custom {
            hub.index.set_custom(self.id, custom);
            if let Some(member) = hub.member(self.id)
                && !custom
            {
                member.custom = None;
            }
        }
    }

    /// The lowest N after which every message of the named tokens is held.
    fn oldest_resume(&self, hub: &mut HubState, named: &Named) -> Option<Sequence> {
        let ring = &self.app.stream_ring;
        let mut oldest = Sequence::default();
        for (market, _) in &named.tokens {
            oldest = oldest.max(ring.resumable_market(*market)?);
        }
        let is_custom = hub.member(self.id).is_some_and(|it| it.custom.is_some());
        if is_custom || named.tokens.is_empty() {
            oldest = oldest.max(ring.resumable_lifecycle()?);
        }
        Some(oldest)
    }

    fn subscribed(
        &self,
        hub: &mut HubState,
        view: &View,
        named: &Named,
        oldest: Option<Sequence>,
    ) -> Option<impl FnOnce(&str, Sequence) -> Bytes> {
        let member = hub.member(self.id).filter(|member| member.extended)?;
        let message = Subscribed {
            channel: Channel::Market,
            count: member.tokens,
            unknown: &named.unknown,
            heartbeat_ms: member.heartbeat_ms,
            oldest_resume: oldest.unwrap_or(view.sequence()).0,
            state: self.state_word(view),
        };
        Some(move |id: &str, at| stamped(id, at, |stamp| message.json(stamp)))
    }

    /// Subscribes without a replay: first books of `tokens`, then live. The same answers a resume
    /// that needs messages that are gone.
    fn snapshot(
        &self,
        hub: &mut HubState,
        state: &ViewState,
        (request, named): (&StreamRequest, &Named),
        tokens: &[Token],
        oldest: Option<Sequence>,
    ) {
        let (view, sequence) = (&state.view, state.view.sequence());
        let id = foretell_wire::streams::stream_id(view.genesis());
        let subscribed = self.subscribed(hub, view, named, oldest);
        let mut frames: Vec<Bytes> = Vec::new();
        frames.extend(subscribed.map(|message| message(&id, sequence)));
        if let Some(resume) = self.resume(request, state, oldest) {
            let reason = match resume {
                Resume::Snapshot(reason) => reason,
                Resume::From(_) => self.too_old(),
            };
            let oldest = oldest.unwrap_or(sequence).0;
            frames.push(stamped(&id, sequence, |stamp| {
                resumed_snapshot(reason, oldest, stamp)
            }));
        }
        if !frames.is_empty() {
            hub.insert(self.id, sequence, frames);
        }
        match request.initial_dump {
            Some(false) => self.start_at(hub, tokens, sequence),
            None => Self::dump(hub, self.id, tokens),
            Some(true) => Self::dump(hub, self.id, &named.tokens),
        }
        self.send_books(hub, state);
    }

    /// Messages of these tokens after `from` are sent from now on.
    fn start_at(&self, hub: &mut HubState, tokens: &[Token], from: Sequence) {
        for (market, outcome) in tokens {
            let tokens = hub.index.tokens(*market, self.id);
            tokens.from[outcome.index()] = Some(from);
        }
    }

    /// Sends what the ring holds of the named tokens after `from`, then goes on live; false when
    /// that is no longer held, or too much.
    fn replay(
        &self,
        hub: &mut HubState,
        state: &ViewState,
        (request, named): (&StreamRequest, &Named),
        from: Sequence,
        oldest: Option<Sequence>,
    ) -> bool {
        let to = hub.cursor.max(from);
        let Some(missed) = self.missed(hub, named, from, to) else {
            return false;
        };
        let id = foretell_wire::streams::stream_id(state.view.genesis());
        let subscribed = self.subscribed(hub, &state.view, named, oldest);
        let mut frames: Vec<Bytes> = Vec::new();
        frames.extend(subscribed.map(|message| message(&id, to)));
        frames.push(stamped(&id, to, |stamp| {
            resumed_replay(from.0, to.0, stamp)
        }));
        let cursor = hub.cursor;
        hub.insert(self.id, cursor, frames);
        for (sequence, frame) in missed {
            let now = hub.now();
            let fits = (hub.member(self.id)).is_none_or(|it| it.deliver(&frame, sequence, now));
            hub.after_push(self.id, fits);
        }
        self.start_at(hub, &named.tokens, to);
        if request.initial_dump == Some(true) {
            Self::dump(hub, self.id, &named.tokens);
            self.send_books(hub, state);
        }
        true
    }

    /// The messages of the named tokens after `from`, up to `to`.
    fn missed(
        &self,
        hub: &mut HubState,
        named: &Named,
        from: Sequence,
        to: Sequence,
    ) -> Option<Vec<(Sequence, Bytes)>> {
        let mut wanted: std::collections::HashMap<MarketNumber, Tokens, RandomState> =
            std::collections::HashMap::default();
        for (market, outcome) in &named.tokens {
            wanted.entry(*market).or_default().from[outcome.index()] = Some(from);
        }
        let limit = self.hub.limits.max_lag_bytes / 2;
        let member = hub.member(self.id)?;
        let (mut missed, mut bytes, mut cursor) = (Vec::new(), 0, from);
        loop {
            let frames = if cursor < to {
                self.app.stream_ring.after(cursor, STREAM_PASS_FRAMES)?
            } else {
                Vec::new()
            };
            let is_last = frames.len() < STREAM_PASS_FRAMES;
            for frame in frames.iter().take_while(|frame| frame.sequence <= to) {
                for message in &frame.market {
                    let is_wanted = match market_of_message(message) {
                        Some(market) => wanted.get(&market).is_some_and(|tokens| {
                            tokens.receives(message.scope, frame.sequence, member)
                        }),
                        None => message.scope == Scope::ExtendedAll || member.custom.is_some(),
                    };
                    if is_wanted {
                        bytes += message.frame.len();
                        missed.push((frame.sequence, message.frame.clone()));
                    }
                }
                cursor = frame.sequence;
            }
            if bytes > limit {
                return None;
            }
            if is_last || cursor >= to {
                return Some(missed);
            }
        }
    }

    fn unsubscribe_market(&self, named: &Named) {
        let mut hub = self.hub.lock();
        let id = self.id;
        for (market, outcome) in &named.tokens {
            let before = hub.index.subscribed(*market, id);
            if !before.wanted[outcome.index()] {
                continue;
            }
            let Some((member, index)) = hub.parts(id) else {
                return;
            };
            let tokens = index.tokens(*market, id);
            tokens.wanted[outcome.index()] = false;
            tokens.from[outcome.index()] = None;
            member.tokens -= 1;
            if tokens.wanted == [false; 2] {
                index.leave_market(*market, id);
                member.markets.remove(market);
            }
            self.hub.stats.unsubscribed(1);
        }
    }
}
