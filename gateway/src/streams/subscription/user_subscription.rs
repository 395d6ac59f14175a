//! Requests of the user channel.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use bytes::Bytes;
use foldhash::fast::RandomState;
use foretell_auth::text::parse_api_key;
use foretell_auth::verify_trio;
use foretell_model::{AccountNumber, ConditionId, KeyNumber, Sequence};
use foretell_view::View;
use foretell_wire::limits::MAX_UNKNOWN_IDS;
use foretell_wire::streams::extension::{
    CONFLATE_MS, Subscribed, resumed_replay, resumed_snapshot,
};
use foretell_wire::streams::request::{
    Channel, Credentials, Operation, RequestErrorCode, StreamRequest,
};
use foretell_wire::streams::stream_id;

use crate::access::authenticate::live_key;
use crate::policy::rate_limits::Writes;
use crate::streams::connection::close::Close;
use crate::streams::connection::session::{
    Interrupt, Resume, Session, Waited, error, keep_fitting, stamped,
};
use crate::streams::fan_out::HubState;
use crate::streams::fan_out::missed::Missed;
use crate::streams::fan_out::ring::UserMessage;
use crate::streams::subscription::demand::Subject;
use crate::streams::subscription::member::UserSubscription;
use crate::view::shared_view::ViewState;

/// The markets that a request names; `None` is all.
type Named = Option<HashSet<ConditionId, RandomState>>;

/// A subscription while it is made or changed.
struct Start<'a> {
    request: &'a StreamRequest,
    waited: &'a Waited,
    key: KeyNumber,
    /// The holder of the key.
    owner: AccountNumber,
    named: Named,
    /// Ids that name nothing, or nothing yet.
    unknown: Vec<String>,
}

impl Session<'_> {
    pub(crate) fn user_request(
        &self,
        request: &StreamRequest,
        waited: &Waited,
    ) -> Result<(), Interrupt> {
        let key = self
            .hub
            .lock()
            .member(self.id)
            .and_then(|it| Some(it.user.as_ref()?.key));
        let mut unknown = {
            let state = self.app.shared_view.read();
            if self.awaits(request, &state.view, waited) {
                return Err(Interrupt::Wait(request.resume_from.unwrap_or_default()));
            }
            unknown_markets(request, &state.view)
        };
        if unknown.len() > request.malformed.len() && waited.may_wait() {
            return Err(Interrupt::CatchUp);
        }
        unknown.truncate(MAX_UNKNOWN_IDS);
        match (key, request.operation) {
            (None, Operation::Unsubscribe) => Err(error(
                RequestErrorCode::NotSubscribed,
                "unsubscribe before a subscription, allowed: subscribe".to_owned(),
            )),
            (Some(key), Operation::Unsubscribe) => {
                self.check_same_key(request, key)?;
                self.unsubscribe_user(&request.markets);
                Ok(())
            }
            (_, Operation::Subscribe) => {
                let (key, owner) = self.holder(key, request, waited)?;
                let mut markets = request.markets.clone();
                let fits = self.keep_fitting_markets(&mut markets);
                if let Err(Interrupt::Close(_)) = fits {
                    return fits;
                }
                // Names that cannot be read must not widen the filter to all.
                let is_named = !request.markets.is_empty() || !request.malformed.is_empty();
                let start = Start {
                    request,
                    waited,
                    key,
                    owner,
                    named: is_named.then(|| markets.into_iter().collect()),
                    unknown,
                };
                self.subscribe_user(&start)?;
                fits
            }
        }
    }

    /// The key of the subscription, or of the credentials of the first one, and its owner.
    fn holder(
        &self,
        key: Option<KeyNumber>,
        request: &StreamRequest,
        waited: &Waited,
    ) -> Result<(KeyNumber, AccountNumber), Interrupt> {
        let unauthorized = || Interrupt::Close(Close::unauthorized());
        if let Some(key) = key {
            self.check_same_key(request, key)?;
            let state = self.app.shared_view.read();
            let owner = state.view.keys().get(key).map(|key| key.owner);
            return Ok((key, owner.ok_or_else(unauthorized)?));
        }
        let auth = request.auth.as_ref().ok_or_else(unauthorized)?;
        match self.authenticate(auth) {
            Some(found) => Ok(found),
            // The key may be newer than the view.
            None if waited.may_wait() => Err(Interrupt::CatchUp),
            None => Err(unauthorized()),
        }
    }

    /// Drops the markets that exceed the limit of a connection.
    fn keep_fitting_markets(&self, markets: &mut Vec<ConditionId>) -> Result<(), Interrupt> {
        let max = self.hub.limits.markets;
        let mut seen: HashSet<ConditionId, RandomState> = HashSet::default();
        markets.retain(|market| seen.insert(*market));
        let count = {
            let hub = &mut *self.hub.lock();
            let filter = hub
                .member(self.id)
                .and_then(|it| it.user.as_ref()?.markets.as_ref());
            let subscribed = filter.map_or(0, HashMap::len);
            keep_fitting(markets, (subscribed, max), |market| {
                filter.is_some_and(|filter| filter.contains_key(market))
            })
        };
        self.fits("markets", count, max)
    }

    /// Makes the subscription, or changes it, and answers.
    fn subscribe_user(&self, start: &Start<'_>) -> Result<(), Interrupt> {
        let ring = &self.app.stream_ring;
        let subject = start.subject();
        let _leases = self.order_replay(start.request, start.waited, &[subject], || {
            ring.resumable(subject)
        })?;
        let repeated = match start.request.resume_from {
            Some(from) if !self.is_continued => {
                self.repeated_confirmations(start.key, start.owner, from)
            }
            _ => Vec::new(),
        };
        let hub = &mut *self.hub.lock();
        hub.index.join_key(start.key, start.owner, self.id);
        // The lease is taken: every frame after this state is encoded.
        let state = self.app.shared_view.read();
        self.change_filter(hub, start, state.view.sequence());
        let key = state.view.keys().get(start.key);
        if !key.is_some_and(|key| key.is_live()) {
            return Err(Interrupt::Close(Close::unauthorized()));
        }
        self.set_cancels(hub, &state.view, start);
        self.answer(hub, &state, start, repeated)
    }

    /// Turns `cancel_on_disconnect` on or off. It stays off at a host that does not lead, and above the limit
    /// of cancels: it counts as one.
    fn set_cancels(&self, hub: &mut HubState, view: &View, start: &Start<'_>) {
        let Some(wanted) = start.request.cancel_on_disconnect else {
            return;
        };
        let Some(member) = hub.member(self.id) else {
            return;
        };
        if !wanted || member.cancels.is_some() {
            member.cancels = member.cancels.filter(|_| wanted);
            return;
        }
        let limiter = &self.app.policy.limiter;
        let by = (start.owner, start.key);
        let counted = limiter.writes(limiter.at(Instant::now()), by, Writes::Cancels, 1);
        let is_possible = self.app.cluster.may_lead() && counted.is_ok();
        let account = view.accounts().get(start.owner).filter(|_| is_possible);
        member.cancels = account.map(|account| account.wallet);
    }

    /// The key and owner of credentials; `None` when one of the three is wrong. Every failure takes
    /// the same time, so that time does not tell which.
    fn authenticate(&self, claimed: &Credentials) -> Option<(KeyNumber, AccountNumber)> {
        let auth = &self.app.auth;
        let key = {
            let state = self.app.shared_view.read();
            let text = parse_api_key(&claimed.api_key);
            let live = text.and_then(|text| live_key(&state.view, text, false));
            live.and_then(|(number, origin)| {
                Some((number, state.view.keys().get(number)?.owner, origin))
            })
        };
        let origin = key.as_ref().map(|(_, _, origin)| origin);
        let is_right = verify_trio(
            &claimed.secret,
            &claimed.passphrase,
            origin,
            &auth.master,
            auth.domains.chain_id(),
        );
        let (number, owner, _) = key?;
        is_right.then_some((number, owner))
    }

    /// Later requests may repeat the credentials of the same key.
    fn check_same_key(&self, request: &StreamRequest, key: KeyNumber) -> Result<(), Interrupt> {
        let Some(auth) = &request.auth else {
            return Ok(());
        };
        let state = self.app.shared_view.read();
        let own = state.view.keys().get(key).map(|key| key.api_key);
        match parse_api_key(&auth.api_key) == own {
            true => Ok(()),
            false => Err(Interrupt::Close(Close::unauthorized())),
        }
    }

    /// Narrows to named markets, adds them to the filter, or widens it to all. A first subscription
    /// holds after `sequence`. The key's messages are encoded already for a later one: it holds from
    /// the fan-out's next frame.
    fn change_filter(&self, hub: &mut HubState, start: &Start<'_>, sequence: Sequence) {
        let cursor = hub.cursor;
        let Some(member) = hub.member(self.id) else {
            return;
        };
        let Some(user) = &mut member.user else {
            let named = start.named.iter().flatten();
            let markets = named.map(|market| (*market, sequence)).collect();
            member.user = Some(UserSubscription {
                key: start.key,
                from: sequence,
                markets: start.named.is_some().then_some(markets),
            });
            self.hub.stats.subscribed(1);
            return;
        };
        match (&start.named, &mut user.markets) {
            (Some(named), Some(filter)) => {
                for market in named {
                    filter.entry(*market).or_insert(cursor);
                }
            }
            // None of the names can be read: all stays subscribed.
            (Some(named), None) if named.is_empty() => {}
            (Some(named), filter) => {
                let from = |market: &ConditionId| (*market, user.from);
                *filter = Some(named.iter().map(from).collect());
            }
            (None, Some(_)) => widen(user, cursor),
            (None, None) => {}
        }
    }

    /// Takes markets off the filter. Without its last one it is all: the official client widens a
    /// filter so.
    fn unsubscribe_user(&self, markets: &[ConditionId]) {
        let mut hub = self.hub.lock();
        let cursor = hub.cursor;
        let user = hub.member(self.id).and_then(|it| it.user.as_mut());
        if let Some(user) = user
            && let Some(filter) = &mut user.markets
        {
            let left = |market: &ConditionId| !markets.contains(market);
            match filter.keys().any(left) || filter.is_empty() {
                true => filter.retain(|market, _| left(market)),
                false => widen(user, cursor),
            }
        }
    }

    /// Confirms the subscription and starts the replay, if the request contains one, after what is
    /// `repeated` of the frames before.
    fn answer(
        &self,
        hub: &mut HubState,
        state: &ViewState,
        start: &Start<'_>,
        repeated: Vec<UserMessage>,
    ) -> Result<(), Interrupt> {
        let oldest = self.app.stream_ring.resumable(start.subject());
        let (view, sequence) = (&state.view, state.view.sequence());
        let id = stream_id(view.branch());
        let resume = self.resume(start.request, state, oldest, start.waited);
        let Some(member) = hub.member(self.id).filter(|member| member.extended) else {
            return Ok(());
        };
        let markets = member.user.as_ref().and_then(|user| user.markets.as_ref());
        let message = Subscribed {
            channel: Channel::User,
            assets: None,
            markets: Some(markets.map_or(0, HashMap::len).to_string()),
            unknown: &start.unknown,
            heartbeat_ms: member.heartbeat_ms,
            conflate_ms: CONFLATE_MS,
            cancel_on_disconnect: Some(member.cancels.is_some()),
            oldest_resume: self.oldest_replay(oldest, view),
            state: self.state_word(view),
        };
        let told = |at| stamped(&id, at, |stamp| message.json(stamp));
        if let Some(Resume::From(from)) = resume
            && let repeated = covered_by(start, repeated)
            && let Some(missed) = self.missed_by(hub.cursor, start, from, bytes_of(&repeated))
        {
            let (reached, is_whole) = (missed.reached, missed.is_whole);
            let to = hub.cursor.max(reached);
            let resumed = stamped(&id, to, |stamp| resumed_replay(from, to, stamp));
            let answer = [told(to), resumed].into_iter().chain(repeated);
            self.send_missed(hub, answer.collect(), missed);
            if !is_whole {
                // Nothing is sent live before what was missed.
                self.start_user_at(hub, &start.named, Sequence(u64::MAX));
                return Err(Interrupt::Continue(reached));
            }
            self.start_user_at(hub, &start.named, reached);
            return Ok(());
        }
        let mut frames = vec![told(sequence)];
        if let Some(resume) = resume {
            let reason = match resume {
                Resume::Snapshot(reason) => reason,
                Resume::From(_) => self.too_old(),
            };
            let oldest = self.oldest_replay(oldest, view);
            frames.push(stamped(&id, sequence, |stamp| {
                resumed_snapshot(reason, oldest, stamp)
            }));
        }
        if self.is_continued {
            self.start_user_at(hub, &start.named, sequence);
        }
        hub.insert(self.id, sequence, frames);
        Ok(())
    }

    /// Messages of the named markets after `from` are sent from now on.
    fn start_user_at(&self, hub: &mut HubState, named: &Named, from: Sequence) {
        let Some(user) = hub.member(self.id).and_then(|it| it.user.as_mut()) else {
            return;
        };
        match (named, &mut user.markets) {
            (None, _) => user.from = from,
            (Some(named), filter) => {
                let markets = named.iter().map(|market| (*market, from));
                filter.get_or_insert_default().extend(markets);
            }
        }
    }

    /// The messages of the named markets after `from`, beside `taken` bytes of the outbox; `None` when
    /// they are no longer held.
    fn missed_by(
        &self,
        cursor: Sequence,
        start: &Start<'_>,
        from: Sequence,
        taken: usize,
    ) -> Option<Missed> {
        let to = cursor.max(Self::ring_after(from, start.waited));
        Missed::collect(
            &self.app.stream_ring,
            start.waited,
            (from, to),
            self.hub.limits.replay_bytes().saturating_sub(taken),
            |frame, add| {
                for message in frame.own_messages() {
                    if message.key == start.key && start.covers(message.market.as_ref()) {
                        add(&message.frame);
                    }
                }
            },
        )
    }
}

impl Start<'_> {
    fn subject(&self) -> Subject {
        Subject::Key(self.key, self.owner)
    }

    /// Whether the request asks for this market; for a message of none it asks without names.
    fn covers(&self, market: Option<&ConditionId>) -> bool {
        (self.named.as_ref()).is_none_or(|named| market.is_some_and(|it| named.contains(it)))
    }
}

/// Takes the filter off. The confirmations of what it covered are still to be sent.
fn widen(user: &mut UserSubscription, cursor: Sequence) {
    let covered = user.markets.take().unwrap_or_default();
    user.from = covered.into_values().min().unwrap_or(cursor);
}

/// The messages of the markets that the request asks for.
fn covered_by(start: &Start<'_>, messages: Vec<UserMessage>) -> Vec<Bytes> {
    let asked = |message: &UserMessage| start.covers(message.market.as_ref());
    let messages = messages.into_iter().filter(asked);
    messages.map(|message| message.frame).collect()
}

fn bytes_of(frames: &[Bytes]) -> usize {
    frames.iter().map(Bytes::len).sum()
}

/// The ids that name nothing, or no market yet.
fn unknown_markets(request: &StreamRequest, view: &View) -> Vec<String> {
    let markets = view.markets();
    let unknown = request.markets.iter();
    let unknown = unknown.filter(|market| markets.by_condition(market).is_none());
    let malformed = request.malformed.iter().cloned();
    malformed.chain(unknown.map(ToString::to_string)).collect()
}
