//! Time of stream connections: pings, heartbeats, books of quiet connections, and the limits of
//! silent and slow clients. One check of a thread's connections at an interval needs no timers.

use foretell_model::{MarketNumber, Outcome, Sequence};
use foretell_wire::streams::extension;
use foretell_wire::streams::request::Channel;

use crate::app::App;
use crate::policy::limits::{STREAM_BUSY_HEARTBEATS, StreamLimits};
use crate::streams::connection::close::Close;
use crate::streams::connection::outbox::{Millis, millis};
use crate::streams::connection::session::{Session, stamped};
use crate::streams::connection::websocket::PING_FRAME;
use crate::streams::fan_out::{Hub, HubState};
use crate::streams::subscription::index::Index;
use crate::streams::subscription::member::{Member, MemberId};

/// The limits in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Due {
    ping: Millis,
    idle: Millis,
    quiet: Millis,
    lag: Millis,
}

impl Due {
    fn of(limits: &StreamLimits) -> Self {
        Self {
            ping: millis(limits.ping),
            idle: millis(limits.idle),
            quiet: millis(limits.quiet_book),
            lag: millis(limits.max_lag),
        }
    }
}

/// How long this thread has had durable frames to distribute.
#[derive(Default, Debug)]
pub(crate) struct Lag {
    /// A durable frame, and when it was first noticed.
    noticed: (Sequence, Millis),
}

impl Lag {
    /// Time since a durable frame was noticed that is not distributed yet; 0 when there is none.
    fn read(&mut self, durable: Sequence, cursor: Sequence, now: Millis) -> Millis {
        if self.noticed.0 <= cursor {
            self.noticed = (durable, now);
        }
        match self.noticed.0 > cursor {
            true => now - self.noticed.1,
            false => 0,
        }
    }
}

/// Checks all connections of a thread.
pub(crate) fn check(hub: &Hub, app: &App, lag: &mut Lag) {
    let due = Due::of(&hub.limits);
    let mut state = hub.lock();
    let (now, cursor) = (state.now(), state.cursor);
    let mut oldest = 0;
    let mut heartbeats = Vec::new();
    state.for_each(|id, member, index| {
        oldest = oldest.max(check_one(id, member, index, due, (cursor, now)));
        if member.closing.is_none() && needs_heartbeat(member, now) {
            heartbeats.push(id);
        }
    });
    hub.stats.lag(hub.thread, oldest);
    let durable = app.shared_view.durable().unwrap_or_default();
    let lag_ms = lag.read(durable, cursor, now);
    if !heartbeats.is_empty() {
        send_heartbeats(app, &mut state, &heartbeats, lag_ms);
    }
}

/// Checks one connection; returns the age of its oldest waiting message.
fn check_one(
    id: MemberId,
    member: &mut Member,
    index: &Index,
    due: Due,
    (cursor, now): (Sequence, Millis),
) -> Millis {
    let waits = member.outbox.oldest().map_or(0, |since| now - since);
    if member.closing.is_some() {
        return waits;
    }
    let times = &mut member.times;
    if waits > due.lag {
        member.close_slow(cursor, now);
    } else if now - times.life >= due.idle {
        member.close(Close::idle(), true, now);
    } else if now - times.ping >= due.ping {
        times.ping = now;
        let fits = member.push(PING_FRAME, None, now);
        debug_assert!(fits, "two bytes need no share");
        member.wake();
    }
    let times = &mut member.times;
    let is_quiet = due.quiet > 0 && now - times.event >= due.quiet;
    if is_quiet && member.channel == Some(Channel::Market) && member.dump.is_empty() {
        times.event = now;
        if let Some(token) = quiet_token(id, member, index, now / due.quiet) {
            member.dump.insert(token);
            member.wake();
        }
    }
    waits
}

/// A subscribed token of a quiet connection: another one each time.
fn quiet_token(
    id: MemberId,
    member: &Member,
    index: &Index,
    turn: Millis,
) -> Option<(MarketNumber, Outcome)> {
    let count = member.markets.len() as u64;
    let turn = usize::try_from(turn.checked_rem(count)?).ok()?;
    let market = *member.markets.iter().nth(turn)?;
    let wanted = index.subscribed(market, id).wanted;
    let outcome = [Outcome::Yes, Outcome::No]
        .into_iter()
        .find(|it| wanted[it.index()])?;
    Some((market, outcome))
}

fn needs_heartbeat(member: &Member, now: Millis) -> bool {
    let (every, times) = (member.heartbeat_ms, &member.times);
    if every == 0 || !member.is_complete() {
        return false;
    }
    now - times.sent.max(times.heartbeat) >= every
        || now - times.heartbeat >= every * STREAM_BUSY_HEARTBEATS
}

/// The same heartbeat for all of a channel: everything up to its sequence is in their outboxes.
fn send_heartbeats(app: &App, state: &mut HubState, ids: &[MemberId], lag_ms: Millis) {
    let now = state.now();
    let id = foretell_wire::streams::stream_id(app.shared_view.read().view.branch());
    let heartbeat = |sequence| {
        let place = app.stream_ring.head_place();
        let place = place.filter(|(head, _)| *head == sequence);
        let receipt = place.and_then(|(head, place)| app.shared_view.receipt(place, head));
        stamped(&id, sequence, |stamp| {
            extension::heartbeat(lag_ms, receipt.as_ref(), stamp)
        })
    };
    let [market, user] = [state.cursor, state.confirmed()].map(heartbeat);
    for id in ids {
        let Some(member) = state.member(*id) else {
            continue;
        };
        member.times.heartbeat = now;
        let frame = match member.channel {
            Some(Channel::User) => &user,
            _ => &market,
        };
        let fits = member.push(frame.clone(), None, now);
        member.wake();
        state.after_push(*id, fits);
    }
}

/// Tells connections of the extension that the engine is unavailable, or back.
pub(crate) fn engine_changed(hub: &Hub, app: &App) {
    let mut state = hub.lock();
    let session = Session {
        app,
        hub,
        id: 0,
        is_continued: false,
    };
    let word = session.state_word(&app.shared_view.read().view);
    let cursor = state.cursor;
    let frame = session.stamped(cursor, |stamp| extension::system_status(word, stamp));
    let ids: Vec<_> = state.index.extended.iter().copied().collect();
    for id in ids {
        let now = state.now();
        let Some(member) = state.member(id) else {
            continue;
        };
        let fits = member.push(frame.clone(), None, now);
        member.wake();
        state.after_push(id, fits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::connection::outbox::Outbox;

    #[test]
    fn a_heartbeat_waits_for_what_was_asked_for() {
        let unread = crate::http::connections::client_quotas::ClientQuotas::new(
            crate::http::connections::client_quotas::Bound {
                total: 0,
                per_client: 0,
            },
        );
        let client = crate::http::connections::client_quotas::Client::of([192, 0, 2, 1].into());
        let mut member = Member::new(Outbox::new(client, unread), None, 0);
        member.heartbeat_ms = 500;
        assert!(!needs_heartbeat(&member, 1_000), "nothing is subscribed");
        member.tokens = 1;
        assert!(!needs_heartbeat(&member, 499));
        assert!(needs_heartbeat(&member, 500));
        member.is_asking = true;
        assert!(!needs_heartbeat(&member, 9_000), "it waits for a replay");
        member.is_asking = false;
        member.dump.insert((MarketNumber(1), Outcome::Yes));
        assert!(!needs_heartbeat(&member, 9_000), "a book is missing");
    }

    #[test]
    fn lag_is_the_time_that_one_frame_waits() {
        let mut lag = Lag::default();
        let mut read = |durable, cursor, now| lag.read(Sequence(durable), Sequence(cursor), now);
        assert_eq!(read(5, 5, 1_000), 0);
        assert_eq!(read(7, 5, 1_100), 0, "just noticed");
        assert_eq!(read(9, 6, 1_200), 100);
        assert_eq!(read(12, 7, 1_300), 0, "another frame");
        assert_eq!(read(12, 8, 1_500), 200);
        assert_eq!(read(12, 12, 1_600), 0);
    }
}
