//! Hand-made frames through the fan-out of one thread.

use std::time::Duration;

use bytes::Bytes;
use foretell_model::{AccountNumber, KeyNumber, MarketNumber, Outcome, TimeMs};

use super::*;
use crate::http::connections::client_quotas::{Bound, Client, ClientQuotas};
use crate::streams::fan_out::ring::{RingLimits, UserMessage};
use crate::streams::subscription::demand::Demand;
use crate::streams::subscription::member::UserSubscription;
use crate::test_view::condition;

const ONE: MarketNumber = MarketNumber(1);
const TWO: MarketNumber = MarketNumber(2);
const ALICE: KeyNumber = KeyNumber(7);
const BOB: KeyNumber = KeyNumber(8);
use Outcome::{No, Yes};

struct Site {
    ring: StreamRing,
    hub: Arc<Hub>,
    unread: Arc<ClientQuotas>,
}

fn site(limits: StreamLimits) -> Site {
    let demand = Arc::new(Demand::new(Duration::from_secs(60)));
    let bounds = RingLimits {
        frames: 1_000,
        bytes: 1 << 20,
    };
    let ring = StreamRing::new(bounds, demand);
    let stats = Arc::new(StreamStats::new(1));
    let hub = Hub::new(0, &ring, limits, stats);
    let unread = ClientQuotas::new(Bound {
        total: usize::MAX,
        per_client: usize::MAX,
    });
    Site { ring, hub, unread }
}

impl Site {
    fn join(&self) -> MemberId {
        let client = Client::of([192, 0, 2, 1].into());
        self.hub
            .join(Outbox::new(client, Arc::clone(&self.unread)), None)
    }

    fn subscribe(&self, id: MemberId, market: MarketNumber, outcome: Outcome, from: u64) {
        let mut hub = self.hub.lock();
        let (member, index) = hub.parts(id).unwrap();
        member.markets.insert(market);
        member.tokens += 1;
        let tokens = index.tokens(market, id);
        tokens.wanted[outcome.index()] = true;
        tokens.from[outcome.index()] = Some(Sequence(from));
    }

    fn subscribe_user(&self, id: MemberId, key: KeyNumber, markets: Option<&[MarketNumber]>) {
        let mut hub = self.hub.lock();
        hub.index.join_key(key, AccountNumber(0), id);
        let from = Sequence(0);
        hub.member(id).unwrap().user = Some(UserSubscription {
            key,
            from,
            markets: markets.map(|it| it.iter().map(|market| (condition(*market), from)).collect()),
        });
    }

    /// Puts frames into the ring and distributes them.
    fn push(&self, frames: Vec<EncodedFrame>) {
        let head = frames.last().unwrap().sequence;
        self.ring.push(frames, head);
        assert_eq!(self.hub.pass(&self.ring), Pass::Done);
        assert_eq!(self.hub.pass(&self.ring), Pass::Idle);
    }

    /// What was added to a connection's outbox since the last call.
    fn got(&self, id: MemberId) -> String {
        let mut hub = self.hub.lock();
        let outbox = &mut hub.member(id).unwrap().outbox;
        let mut stream = Vec::new();
        let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
        assert!(
            outbox
                .poll_write(&mut stream, cx, &mut Default::default())
                .is_ready()
        );
        String::from_utf8_lossy(&stream).into_owned()
    }

    fn closing(&self, id: MemberId) -> Option<Close> {
        self.hub.lock().member(id).unwrap().closing.clone()
    }
}

fn market(sequence: u64, messages: &[(Scope, &'static str)]) -> EncodedFrame {
    let message = |(scope, text): &(Scope, &'static str)| MarketMessage {
        scope: *scope,
        frame: Bytes::from_static(text.as_bytes()),
    };
    EncodedFrame {
        market: messages.iter().map(message).collect(),
        ..EncodedFrame::empty(Sequence(sequence), TimeMs(1_000 * sequence))
    }
}

fn user(sequence: u64, messages: &[(KeyNumber, MarketNumber, &'static str)]) -> EncodedFrame {
    let message = |(key, market, text): &(KeyNumber, MarketNumber, &'static str)| UserMessage {
        key: *key,
        market: Some(condition(*market)),
        frame: Bytes::from_static(text.as_bytes()),
    };
    EncodedFrame {
        user: messages.iter().map(message).collect(),
        ..market(sequence, &[])
    }
}

#[test]
fn every_scope_reaches_its_receivers_once() {
    let site = site(StreamLimits::default());
    let [yes, no, both, other, custom, extended] = [(); 6].map(|()| site.join());
    site.subscribe(yes, ONE, Yes, 0);
    site.subscribe(no, ONE, No, 0);
    site.subscribe(both, ONE, Yes, 0);
    site.subscribe(both, ONE, No, 0);
    site.subscribe(other, TWO, Yes, 0);
    for (id, outcome) in [(custom, Yes), (extended, No)] {
        site.subscribe(id, ONE, outcome, 0);
    }
    {
        let mut hub = site.hub.lock();
        hub.index.set_custom(custom, true);
        hub.member(custom).unwrap().custom = Some(Sequence(0));
        hub.index.extended.insert(extended);
        hub.member(extended).unwrap().extended = true;
    }
    site.push(vec![market(
        1,
        &[
            (Scope::Token(ONE, Yes), "a"),
            (Scope::OnlyToken(ONE, No), "b"),
            (Scope::CustomToken(ONE, Yes), "c"),
            (Scope::CustomToken(ONE, No), "d"),
            (Scope::Market(ONE), "e"),
            (Scope::CustomAll, "f"),
            (Scope::ExtendedMarket(ONE), "g"),
            (Scope::ExtendedAll, "h"),
        ],
    )]);
    let got = [yes, no, both, other, custom, extended].map(|id| site.got(id));
    assert_eq!(got, ["ae", "be", "ae", "", "acef", "begh"]);
    assert_eq!(site.got(yes), "");
}

#[test]
fn a_subscription_takes_effect_at_its_frame_and_its_book_comes_first() {
    let site = site(StreamLimits::default());
    let id = site.join();
    site.subscribe(id, ONE, Yes, 0);
    site.push(vec![market(1, &[(Scope::Market(ONE), "1")])]);
    // The view is at 3, the fan-out at 1.
    site.subscribe(id, TWO, Yes, 3);
    let book = vec![Bytes::from_static(b"(book 3)")];
    site.hub.lock().insert(id, Sequence(3), book);
    assert_eq!(site.got(id), "1");
    let both = |at, one, two| market(at, &[(Scope::Market(ONE), one), (Scope::Market(TWO), two)]);
    site.push(vec![both(2, "2", "x"), both(3, "3", "x")]);
    assert_eq!(
        site.got(id),
        "23(book 3)",
        "the frame of the book comes before it"
    );
    site.push(vec![both(4, "4", "four")]);
    assert_eq!(site.got(id), "4four");
    let second = vec![Bytes::from_static(b"(book 6)")];
    site.hub.lock().insert(id, Sequence(6), second);
    site.push(vec![both(5, "5", "five"), both(8, "8", "eight")]);
    assert_eq!(
        site.got(id),
        "5five(book 6)8eight",
        "also when no frame 6 is sent"
    );
}

#[test]
fn users_get_what_their_key_and_filter_cover() {
    let site = site(StreamLimits::default());
    let [all, some, bob] = [(); 3].map(|()| site.join());
    site.subscribe_user(all, ALICE, None);
    site.subscribe_user(some, ALICE, Some(&[TWO]));
    site.subscribe_user(bob, BOB, None);
    site.push(vec![user(
        1,
        &[(ALICE, ONE, "a1"), (BOB, ONE, "b1"), (ALICE, TWO, "a2")],
    )]);
    assert_eq!(
        [all, some, bob].map(|id| site.got(id)),
        ["a1a2", "a2", "b1"]
    );
    let mut last = user(2, &[(ALICE, ONE, "a3")]);
    last.revoked = [ALICE].into();
    site.push(vec![last]);
    assert!(site.got(all).starts_with("a3"), "then the close frame");
    assert_eq!(site.closing(all), Some(Close::revoked()));
    assert_eq!(site.closing(some), Some(Close::revoked()));
    assert_eq!(site.closing(bob), None);
}

fn confirmed(mut frame: EncodedFrame, text: &'static str) -> EncodedFrame {
    let mut messages = frame.user.clone();
    for message in &mut messages {
        message.frame = Bytes::from_static(text.as_bytes());
    }
    frame.confirmations = messages;
    frame
}

#[test]
fn trades_are_confirmed_later_and_before_the_connection_ends() {
    let site = site(StreamLimits::default());
    let id = site.join();
    site.subscribe_user(id, ALICE, None);
    site.push(vec![confirmed(user(1, &[(ALICE, ONE, "m1")]), "c1")]);
    assert_eq!(site.got(id), "m1");
    assert_eq!(site.hub.lock().confirmed(), Sequence(0));
    // The next frame is a second later.
    site.push(vec![confirmed(user(2, &[(ALICE, ONE, "m2")]), "c2")]);
    assert_eq!(site.got(id), "c1m2");
    assert_eq!(site.hub.lock().confirmed(), Sequence(1));
    site.hub.lock().confirm_all();
    assert_eq!(site.got(id), "c2");
    assert_eq!(site.hub.lock().confirmed(), Sequence(2));
    let mut last = confirmed(user(3, &[(ALICE, ONE, "m3")]), "c3");
    last.revoked = [ALICE].into();
    site.push(vec![last]);
    assert!(site.got(id).starts_with("m3c3"), "then the close frame");
    assert_eq!(site.closing(id), Some(Close::revoked()));
}

#[test]
fn a_slow_reader_is_closed_with_its_last_frame_and_others_go_on() {
    let site = site(StreamLimits {
        max_lag_bytes: 8,
        ..StreamLimits::default()
    });
    let [slow, quick] = [(); 2].map(|()| site.join());
    for id in [slow, quick] {
        site.subscribe(id, ONE, Yes, 0);
    }
    site.push(vec![market(1, &[(Scope::Market(ONE), "1111")])]);
    assert_eq!(site.got(slow), "1111");
    assert_eq!(site.got(quick), "1111");
    for (at, text) in [(4, "4444"), (5, "5555")] {
        site.push(vec![market(at, &[(Scope::Market(ONE), text)])]);
        site.got(quick);
    }
    assert_eq!(site.closing(slow), None);
    site.push(vec![market(6, &[(Scope::Market(ONE), "6666")])]);
    assert_eq!(site.closing(slow), Some(Close::slow(Some(Sequence(3)))));
    assert_eq!(site.closing(quick), None);
    let rest = site.got(slow);
    assert!(rest.ends_with("slow consumer; last_sequence=3"), "{rest}");
    assert!(!rest.contains("4444"), "what waits is dropped");
}

/// A client that resumed from a sequence would miss what it asked for.
#[test]
fn no_sequence_is_named_while_a_connection_lacks_what_it_asked_for() {
    let site = site(StreamLimits {
        max_lag_bytes: 8,
        ..StreamLimits::default()
    });
    let [nothing, asks, dumps, waits, whole] = [(); 5].map(|()| site.join());
    for id in [asks, dumps, waits, whole] {
        site.subscribe(id, ONE, Yes, 0);
    }
    {
        let mut hub = site.hub.lock();
        hub.member(asks).unwrap().is_asking = true;
        hub.member(dumps).unwrap().dump.insert((TWO, No));
        hub.insert(waits, Sequence(9), vec![Bytes::from_static(b"(book 9)")]);
        let all = [nothing, asks, dumps, waits, whole];
        let complete = all.map(|id| hub.member(id).unwrap().is_complete());
        assert_eq!(complete, [false, false, false, false, true]);
    }
    site.push(vec![market(4, &[(Scope::Market(ONE), "123456789")])]);
    for id in [asks, dumps, waits] {
        assert_eq!(site.closing(id), Some(Close::slow(None)));
        assert!(site.got(id).ends_with("slow consumer"));
    }
    assert_eq!(site.closing(whole), Some(Close::slow(Some(Sequence(0)))));
}

#[test]
fn a_rebuilt_view_ends_every_connection() {
    let site = site(StreamLimits::default());
    let id = site.join();
    site.ring.restart(Sequence(5));
    site.hub.pass(&site.ring);
    assert_eq!(site.closing(id), Some(Close::rebuilt()));
    let later = site.join();
    site.subscribe(later, ONE, Yes, 5);
    site.push(vec![market(6, &[(Scope::Market(ONE), "6")])]);
    assert_eq!(site.got(later), "6");
}

#[test]
fn who_leaves_is_forgotten_and_its_number_is_free() {
    let site = site(StreamLimits::default());
    let id = site.join();
    site.subscribe(id, ONE, Yes, 0);
    site.subscribe_user(id, ALICE, None);
    site.hub.leave(id);
    {
        let hub = site.hub.lock();
        assert!(hub.index.markets.is_empty() && hub.index.keys.is_empty());
    }
    assert_eq!(site.join(), id);
    site.push(vec![market(1, &[(Scope::Market(ONE), "1")])]);
    assert_eq!(site.got(id), "");
}
