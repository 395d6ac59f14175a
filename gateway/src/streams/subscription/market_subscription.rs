//! Requests of the market channel.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use foldhash::fast::RandomState;
use foretell_model::{MarketNumber, Outcome, Sequence};
use foretell_view::View;
use foretell_wire::limits::MAX_UNKNOWN_IDS;
use foretell_wire::streams::extension::{
    CONFLATE_MS, SnapshotReason, Subscribed, resumed_replay, resumed_snapshot,
};
use foretell_wire::streams::request::{Channel, Operation, StreamRequest};

use crate::resources::market_of;
use crate::streams::connection::session::{
    Interrupt, Resume, Session, Waited, keep_fitting, stamped,
};
use crate::streams::fan_out::HubState;
use crate::streams::fan_out::missed::Missed;
use crate::streams::fan_out::ring::{MarketMessage, Scope};
use crate::streams::subscription::demand::{Lease, Subject};
use crate::streams::subscription::index::{Tokens, market_of as market_of_message};
use crate::view::shared_view::ViewState;

type Token = (MarketNumber, Outcome);

/// What a subscription starts from.
struct Start<'a> {
    request: &'a StreamRequest,
    named: &'a Named,
    waited: &'a Waited,
    /// The lowest N after which every message of the named tokens is held.
    oldest: Option<Sequence>,
}

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
                    named
                        .tokens
                        .extend(both.iter().filter(|it| seen.insert(**it)));
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
            Operation::Subscribe => {
                let fits = self.keep_fitting_tokens(&mut named);
                if let Err(Interrupt::Close(_)) = fits {
                    return fits;
                }
                self.subscribe_market(request, &named, waited)?;
                fits
            }
            Operation::Unsubscribe => {
                let hub = &mut *self.hub.lock();
                self.unsubscribe_market(hub, &named);
                self.set_custom(hub, request);
                let sequence = self.app.shared_view.read().view.sequence();
                self.start_custom(hub, request, sequence);
                Ok(())
            }
        }
    }

    fn subscribe_market(
        &self,
        request: &StreamRequest,
        named: &Named,
        waited: &Waited,
    ) -> Result<(), Interrupt> {
        let _leases = self.order_market_replay(request, named, waited)?;
        let hub = &mut *self.hub.lock();
        let new = self.add_tokens(hub, named);
        self.set_custom(hub, request);
        // The leases are taken: every frame after this state is encoded.
        let state = self.app.shared_view.read();
        let oldest = self.oldest_resume(named, self.is_custom(hub, request));
        let start = Start {
            request,
            named,
            waited,
            oldest,
        };
        match self.resume(request, &state, oldest, waited) {
            Some(Resume::From(from)) => match self.missed(hub, &start, from) {
                Some(missed) => self.replay(hub, &state, &start, from, missed)?,
                None => {
                    let reason = Some(self.too_old());
                    self.snapshot(hub, &state, &start, &named.tokens, reason);
                }
            },
            Some(Resume::Snapshot(reason)) => {
                self.snapshot(hub, &state, &start, &named.tokens, Some(reason));
            }
            None => self.snapshot(hub, &state, &start, &new, None),
        }
        let books = self.next_books(hub, &state);
        drop(state);
        self.send_books(hub, books);
        Ok(())
    }

    fn order_market_replay(
        &self,
        request: &StreamRequest,
        named: &Named,
        waited: &Waited,
    ) -> Result<Vec<Lease>, Interrupt> {
        let is_custom = self.is_custom(&mut self.hub.lock(), request);
        let markets: HashSet<MarketNumber, RandomState> =
            named.tokens.iter().map(|token| token.0).collect();
        let markets = markets.into_iter().map(Subject::Market);
        let subjects = markets.chain(is_custom.then_some(Subject::Lifecycle));
        let subjects: Vec<_> = subjects.collect();
        self.order_replay(request, waited, &subjects, || {
            self.oldest_resume(named, is_custom)
        })
    }

    /// Drops the tokens that exceed the limit of a connection.
    fn keep_fitting_tokens(&self, named: &mut Named) -> Result<(), Interrupt> {
        let max = self.hub.limits.assets;
        let count = {
            let hub = &mut *self.hub.lock();
            let subscribed = hub.member(self.id).map_or(0, |member| member.tokens);
            keep_fitting(&mut named.tokens, (subscribed, max), |(market, outcome)| {
                hub.index.subscribed(*market, self.id).wanted[outcome.index()]
            })
        };
        self.fits("assets", count, max)
    }

    /// Adds the named tokens to the subscription; returns those that were not in it.
    fn add_tokens(&self, hub: &mut HubState, named: &Named) -> Vec<Token> {
        let is_new = |hub: &HubState, (market, outcome): Token| {
            !hub.index.subscribed(market, self.id).wanted[outcome.index()]
        };
        let tokens = named.tokens.iter().copied();
        let new: Vec<Token> = tokens.filter(|token| is_new(hub, *token)).collect();
        let Some((member, index)) = hub.parts(self.id) else {
            return Vec::new();
        };
        for (market, outcome) in &new {
            index.tokens(*market, self.id).wanted[outcome.index()] = true;
            member.markets.insert(*market);
        }
        member.tokens += new.len();
        self.hub.stats.subscribed(new.len());
        new
    }

    /// Applies the flag, if it is named, before the view is read: [`Self::start_custom`] follows.
    fn set_custom(&self, hub: &mut HubState, request: &StreamRequest) {
        if let Some(custom) = request.custom {
            hub.index.set_custom(self.id, custom);
        }
    }

    /// Messages for all with the flag are sent after `from`, unless they are sent already.
    fn start_custom(&self, hub: &mut HubState, request: &StreamRequest, from: Sequence) {
        if let (Some(custom), Some(member)) = (request.custom, hub.member(self.id)) {
            member.custom = custom.then(|| member.custom.unwrap_or(from));
        }
    }

    /// What the request names is sent after `from`, also where it was sent live before.
    fn resume_at(&self, hub: &mut HubState, start: &Start<'_>, from: Sequence) {
        self.start_at(hub, &start.named.tokens, from);
        let is_custom = self.is_custom(hub, start.request);
        if let Some(member) = hub.member(self.id) {
            member.custom = is_custom.then_some(from);
        }
    }

    fn is_custom(&self, hub: &mut HubState, request: &StreamRequest) -> bool {
        let is_set = hub.member(self.id).is_some_and(|it| it.custom.is_some());
        request.custom.unwrap_or(is_set)
    }

    /// The lowest N after which every message of the named tokens is held.
    fn oldest_resume(&self, named: &Named, is_custom: bool) -> Option<Sequence> {
        let ring = &self.app.stream_ring;
        let mut oldest = Sequence::default();
        for (market, _) in &named.tokens {
            oldest = oldest.max(ring.resumable(Subject::Market(*market))?);
        }
        if is_custom || named.tokens.is_empty() {
            oldest = oldest.max(ring.resumable(Subject::Lifecycle)?);
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
            assets: Some(member.tokens.to_string()),
            markets: None,
            unknown: &named.unknown,
            heartbeat_ms: member.heartbeat_ms,
            conflate_ms: CONFLATE_MS,
            cancel_on_disconnect: None,
            oldest_resume: self.oldest_replay(oldest, view),
            state: self.state_word(view),
        };
        Some(move |id: &str, at| stamped(id, at, |stamp| message.json(stamp)))
    }

    /// Subscribes without a replay: first books of `tokens`, then live. With a reason it answers a
    /// resume.
    fn snapshot(
        &self,
        hub: &mut HubState,
        state: &ViewState,
        start: &Start<'_>,
        tokens: &[Token],
        reason: Option<SnapshotReason>,
    ) {
        let (named, oldest) = (start.named, start.oldest);
        let (view, sequence) = (&state.view, state.view.sequence());
        self.start_custom(hub, start.request, sequence);
        let id = foretell_wire::streams::stream_id(view.branch());
        let subscribed = self.subscribed(hub, view, named, oldest);
        let mut frames: Vec<Bytes> = Vec::new();
        frames.extend(subscribed.map(|message| message(&id, sequence)));
        if let Some(reason) = reason {
            let oldest = self.oldest_replay(oldest, view);
            frames.push(stamped(&id, sequence, |stamp| {
                resumed_snapshot(reason, oldest, stamp)
            }));
        }
        if !frames.is_empty() {
            hub.insert(self.id, sequence, frames);
        }
        match start.request.initial_dump {
            Some(false) => self.start_at(hub, tokens, sequence),
            None => Self::dump(hub, self.id, tokens),
            Some(true) => Self::dump(hub, self.id, &named.tokens),
        }
    }

    /// Messages of these tokens after `from` are sent from now on.
    fn start_at(&self, hub: &mut HubState, tokens: &[Token], from: Sequence) {
        for (market, outcome) in tokens {
            let tokens = hub.index.tokens(*market, self.id);
            tokens.from[outcome.index()] = Some(from);
        }
    }

    /// Sends the missed messages, then goes on live, or with the rest.
    fn replay(
        &self,
        hub: &mut HubState,
        state: &ViewState,
        start: &Start<'_>,
        from: Sequence,
        missed: Missed,
    ) -> Result<(), Interrupt> {
        let (named, oldest) = (start.named, start.oldest);
        let (reached, is_whole) = (missed.reached, missed.is_whole);
        let to = hub.cursor.max(reached);
        let id = foretell_wire::streams::stream_id(state.view.branch());
        let subscribed = self.subscribed(hub, &state.view, named, oldest);
        let mut frames: Vec<Bytes> = Vec::new();
        frames.extend(subscribed.map(|message| message(&id, to)));
        frames.push(stamped(&id, to, |stamp| resumed_replay(from, to, stamp)));
        self.send_missed(hub, frames, missed);
        if !is_whole {
            // Nothing is sent live before what was missed.
            self.resume_at(hub, start, Sequence(u64::MAX));
            return Err(Interrupt::Continue(reached));
        }
        self.resume_at(hub, start, reached);
        if start.request.initial_dump == Some(true) {
            Self::dump(hub, self.id, &named.tokens);
        }
        Ok(())
    }

    /// The messages of the named tokens after `from`: those that were read from the journal, then
    /// those of the ring.
    fn missed(&self, hub: &mut HubState, start: &Start<'_>, from: Sequence) -> Option<Missed> {
        let to = hub.cursor.max(Self::ring_after(from, start.waited));
        let is_custom = self.is_custom(hub, start.request);
        let mut wanted: HashMap<MarketNumber, Tokens, RandomState> = HashMap::default();
        for (market, outcome) in &start.named.tokens {
            wanted.entry(*market).or_default().from[outcome.index()] = Some(from);
        }
        let is_wanted = |message: &MarketMessage, sequence| match market_of_message(message) {
            Some(market) => (wanted.get(&market))
                .is_some_and(|tokens| tokens.receives(message.scope, sequence, (is_custom, true))),
            None => message.scope == Scope::ExtendedAll || is_custom,
        };
        Missed::collect(
            &self.app.stream_ring,
            start.waited,
            (from, to),
            self.hub.limits.replay_bytes(),
            |frame, add| {
                for message in &frame.market {
                    if is_wanted(message, frame.sequence) {
                        add(&message.frame);
                    }
                }
            },
        )
    }

    fn unsubscribe_market(&self, hub: &mut HubState, named: &Named) {
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
            member.dump.remove(&(*market, *outcome));
            if tokens.wanted == [false; 2] {
                index.leave_market(*market, id);
                member.markets.remove(market);
            }
            self.hub.stats.unsubscribed(1);
        }
    }
}
