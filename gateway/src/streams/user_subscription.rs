//! Requests of the user channel.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_auth::text::parse_api_key;
use foretell_auth::verify_trio;
use foretell_model::{AccountNumber, KeyNumber, MarketNumber, Sequence};
use foretell_view::View;
use foretell_wire::limits::MAX_UNKNOWN_IDS;
use foretell_wire::streams::extension::{
    SnapshotReason, Subscribed, resumed_replay, resumed_snapshot,
};
use foretell_wire::streams::request::{
    Channel, Credentials, Operation, RequestErrorCode, StreamRequest,
};
use foretell_wire::streams::stream_id;

use crate::authenticate::live_key;
use crate::streams::close::Close;
use crate::streams::demand::Watched;
use crate::streams::fan_out::HubState;
use crate::streams::journal_replay::ReplaySpan;
use crate::streams::member::UserSubscription;
use crate::streams::missed::Missed;
use crate::streams::session::{Interrupt, ReplayOrder, Resume, Session, Waited, error, stamped};

type Filter = HashMap<MarketNumber, Sequence, RandomState>;

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
        let (markets, mut unknown) = {
            let state = self.app.shared_view.read();
            if self.awaits(request, &state.view, waited) {
                return Err(Interrupt::Wait(request.resume_from.unwrap_or_default()));
            }
            named_markets(request, &state.view)
        };
        if unknown.len() > request.malformed.len() && waited.may_wait() {
            return Err(Interrupt::CatchUp);
        }
        unknown.truncate(MAX_UNKNOWN_IDS);
        // Named markets that do not exist must not widen the filter to all.
        let is_filtered = !request.markets.is_empty() || !request.malformed.is_empty();
        let named = is_filtered.then_some(&markets[..]);
        match (key, request.operation) {
            (None, Operation::Unsubscribe) => Err(error(
                RequestErrorCode::NotSubscribed,
                "unsubscribe before a subscription, allowed: subscribe".to_owned(),
            )),
            (None, Operation::Subscribe) => self.first(request, waited, named, &unknown),
            (Some(key), operation) => {
                self.check_same_key(request, key)?;
                self.change_filter(operation, named)?;
                if operation == Operation::Subscribe {
                    self.answer(request, key, &unknown, waited)?;
                }
                Ok(())
            }
        }
    }

    /// The first subscription: checks the credentials.
    fn first(
        &self,
        request: &StreamRequest,
        waited: &Waited,
        named: Option<&[MarketNumber]>,
        unknown: &[String],
    ) -> Result<(), Interrupt> {
        let unauthorized = || Interrupt::Close(Close::unauthorized());
        let auth = request.auth.as_ref().ok_or_else(unauthorized)?;
        let (key, owner) = match self.authenticate(auth) {
            Some(found) => found,
            // The key may be newer than the view.
            None if waited.may_wait() => return Err(Interrupt::CatchUp),
            None => return Err(unauthorized()),
        };
        check_count(named.map_or(0, <[_]>::len), self.hub.limits.markets)?;
        let mut hub = self.hub.lock();
        hub.index.join_key(key, owner, self.id);
        {
            // The lease is taken: every frame after this state is encoded.
            let state = self.app.shared_view.read();
            let from = state.view.sequence();
            let is_live = state.view.keys().get(key).is_some_and(|key| key.is_live());
            let markets = named.map(|named| named.iter().map(|it| (*it, from)).collect());
            if let Some(member) = hub.member(self.id) {
                member.user = Some(UserSubscription { key, from, markets });
                self.hub.stats.subscribed(1);
            }
            if !is_live {
                return Err(unauthorized());
            }
        }
        drop(hub);
        self.answer(request, key, unknown, waited)
    }

    /// The key and owner of a trio; takes as long for every failure.
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

    /// Adds markets to the filter, takes them away, or widens it to all. The key's messages are
    /// encoded already, so a change holds from the fan-out's next frame.
    fn change_filter(
        &self,
        operation: Operation,
        named: Option<&[MarketNumber]>,
    ) -> Result<(), Interrupt> {
        let mut hub = self.hub.lock();
        let (cursor, max) = (hub.cursor, self.hub.limits.markets);
        let Some(user) = hub.member(self.id).and_then(|it| it.user.as_mut()) else {
            return Ok(());
        };
        match (operation, named, &mut user.markets) {
            (Operation::Unsubscribe, Some(named), Some(filter)) => {
                let had_markets = !filter.is_empty();
                filter.retain(|market, _| !named.contains(market));
                // No named market means all: the official client widens a filter so.
                if had_markets && filter.is_empty() {
                    user.markets = None;
                    user.from = cursor;
                }
            }
            (Operation::Unsubscribe, _, _) | (Operation::Subscribe, Some(_), None) => {}
            (Operation::Subscribe, None, filter) => {
                if filter.take().is_some() {
                    user.from = cursor;
                }
            }
            (Operation::Subscribe, Some(named), Some(filter)) => {
                for market in named {
                    filter.entry(*market).or_insert(cursor);
                }
                check_count(filter.len(), max)?;
            }
        }
        Ok(())
    }

    /// Confirms the subscription and starts the replay, if the request contains one.
    fn answer(
        &self,
        request: &StreamRequest,
        key: KeyNumber,
        unknown: &[String],
        waited: &Waited,
    ) -> Result<(), Interrupt> {
        let mut hub = self.hub.lock();
        let hub = &mut *hub;
        let oldest = self.app.stream_ring.resumable_key(key);
        let state = self.app.shared_view.read();
        let (view, sequence) = (&state.view, state.view.sequence());
        let id = stream_id(view.genesis());
        let resume = self.resume(request, &state, oldest, waited);
        if waited.replayed().is_none()
            && let Some(Resume::Snapshot(SnapshotReason::TooOld | SnapshotReason::HistoryRebuilt)) =
                resume
        {
            let after = request.resume_from.unwrap_or_default();
            let order = self.order_user_replay(key, after, view);
            // Nothing is sent live before what was missed.
            self.start_user_at(hub, Sequence(u64::MAX));
            return Err(order);
        }
        let Some(member) = hub.member(self.id).filter(|member| member.extended) else {
            return Ok(());
        };
        let markets = member.user.as_ref().and_then(|user| user.markets.as_ref());
        let message = Subscribed {
            channel: Channel::User,
            count: markets.map_or(0, HashMap::len),
            unknown,
            heartbeat_ms: member.heartbeat_ms,
            oldest_resume: oldest.unwrap_or(sequence).0,
            state: self.state_word(view),
        };
        let told = |at| stamped(&id, at, |stamp| message.json(stamp));
        let replay = match resume {
            Some(Resume::From(from)) => {
                (self.missed_by(hub, key, from, waited)).map(|it| (from, it))
            }
            _ => None,
        };
        if let Some((from, missed)) = replay {
            let to = hub.cursor.max(Self::ring_after(from, waited));
            let resumed = stamped(&id, to, |stamp| resumed_replay(from.0, to.0, stamp));
            let cursor = hub.cursor;
            hub.insert(self.id, cursor, vec![told(to), resumed]);
            for (sequence, frame) in missed.frames {
                let now = hub.now();
                let fits = (hub.member(self.id)).is_none_or(|it| it.deliver(&frame, sequence, now));
                hub.after_push(self.id, fits);
            }
            self.start_user_at(hub, to);
            return Ok(());
        }
        let mut frames = vec![told(sequence)];
        if let Some(resume) = resume {
            let reason = match resume {
                Resume::Snapshot(reason) => reason,
                Resume::From(_) => self.too_old(),
            };
            let oldest = oldest.unwrap_or(sequence).0;
            frames.push(stamped(&id, sequence, |stamp| {
                resumed_snapshot(reason, oldest, stamp)
            }));
        }
        hub.insert(self.id, sequence, frames);
        if waited.replayed().is_some() {
            self.start_user_at(hub, sequence);
        }
        Ok(())
    }

    /// The messages of a key that the ring no longer holds. The subscription starts after them.
    fn order_user_replay(&self, key: KeyNumber, after: Sequence, view: &View) -> Interrupt {
        let owner = view.keys().get(key).map(|key| key.owner);
        let owner = owner.unwrap_or(AccountNumber(u32::MAX));
        Interrupt::Replay(Box::new(ReplayOrder {
            span: ReplaySpan {
                after,
                last: view.sequence(),
            },
            watched: Watched::of([], [(key, owner)], false),
            leases: (Vec::new(), None, None),
        }))
    }

    /// Messages of frames after `from` are sent from now on.
    fn start_user_at(&self, hub: &mut HubState, from: Sequence) {
        if let Some(user) = hub.member(self.id).and_then(|it| it.user.as_mut()) {
            user.from = from;
            for since in user.markets.iter_mut().flat_map(Filter::values_mut) {
                *since = from;
            }
        }
    }

    /// The messages of a key after `from` that are distributed already; `None` when they are no
    /// longer held, or too many.
    fn missed_by(
        &self,
        hub: &mut HubState,
        key: KeyNumber,
        from: Sequence,
        waited: &Waited,
    ) -> Option<Missed> {
        let to = hub.cursor.max(Self::ring_after(from, waited));
        let user = hub.member(self.id)?.user.as_ref()?;
        let filter = user.markets.as_ref();
        let covers = |market| filter.is_none_or(|filter| filter.contains_key(&market));
        let mut missed = Missed::new(self.hub.limits.max_lag_bytes / 2);
        missed.collect(&self.app.stream_ring, waited, (from, to), |frame, add| {
            for message in &frame.user {
                if message.key == key && covers(message.market) {
                    add(&message.frame);
                }
            }
        })?;
        Some(missed)
    }
}

fn check_count(count: usize, max: usize) -> Result<(), Interrupt> {
    match count > max {
        true => Err(Interrupt::Close(Close::too_many("markets", count, max))),
        false => Ok(()),
    }
}

/// The markets that a request names, and the ids that name nothing.
fn named_markets(request: &StreamRequest, view: &View) -> (Vec<MarketNumber>, Vec<String>) {
    let (mut markets, mut unknown) = (Vec::new(), request.malformed.clone());
    for condition in &request.markets {
        match view.markets().by_condition(condition) {
            Some((market, _)) => markets.push(market),
            None => unknown.push(condition.to_string()),
        }
    }
    (markets, unknown)
}
