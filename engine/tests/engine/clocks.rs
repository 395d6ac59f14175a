//! Steps of the wall clock: of a host that is alone, and of hosts of a cluster (docs/operate/troubleshooting.md#clock).

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use foretell_engine::{ClusterRole, EngineConfig, EngineError};
use foretell_link::{ClockState, ClusterStatus, Role, Status};
use foretell_log_model::Model;
use foretell_model::{
    Command, OperatorNumber, Rejection, RejectionReason, SystemMode, TimeMs, TimeNs, Verdict,
};

use crate::cluster::{Host, LONGER_THAN_SILENCE, acknowledged, followed, report};
use crate::harness::{Engine, TestClient, config, found, frames};
use crate::restart::now;
use crate::timed::{dispute, proposes_by_time};
use crate::world::World;

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A wall clock that the test steps.
#[derive(Clone, Copy)]
struct Steps(&'static AtomicI64);

impl Steps {
    fn new(error: i64) -> Self {
        Self(Box::leak(Box::new(AtomicI64::new(error))))
    }

    fn set(self, error: i64) {
        self.0.store(error, Ordering::Relaxed);
    }

    /// The stepped wall clock.
    fn wall(self) -> TimeNs {
        TimeNs(
            now()
                .0
                .saturating_add_signed(self.0.load(Ordering::Relaxed)),
        )
    }
}

fn host(model: &Model, name: &str, role: ClusterRole, clock: Steps) -> Host {
    let mut host = Host::new(model, name, role);
    host.config.wall_clock_error = Some(clock.0);
    host
}

/// The first status with this state of the clock.
fn awaited(client: &mut TestClient, state: ClockState) -> Status {
    found(|| Some(client.status()).filter(|status| status.clock == state))
}

#[test]
fn a_host_that_is_alone_follows_a_step_forward_and_awaits_one_back() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Steps::new(0);
    let engine = Engine::start(EngineConfig {
        wall_clock_error: Some(clock.0),
        ..config(directory.path())
    });
    let mut world = World::build(&engine);
    let mut client = engine.client(Role::Operator);
    let mut numbers = 1..;
    // An order signed by the clock of the machine.
    let mut trades = |client: &mut TestClient| {
        world.time = clock.wall();
        let order = world.resting_buy(numbers.next().unwrap());
        client.ask(order.place(), b"signed").verdict
    };
    assert!(matches!(trades(&mut client), Verdict::Applied(_)));

    clock.set(300 * SECOND);
    let stepped = awaited(&mut client, ClockState::Stepped);
    assert!(
        stepped.time < TimeNs(now().0 + 60_000_000_000),
        "it jumps only when the clock stands"
    );
    assert!(matches!(trades(&mut client), Verdict::Rejected(_)));
    let right = awaited(&mut client, ClockState::Right);
    assert!(right.time >= TimeNs(now().0 + 290_000_000_000));
    assert!(matches!(trades(&mut client), Verdict::Applied(_)));

    // Back by less than an order may be late: it stands still, and trades.
    clock.set(-180 * SECOND);
    let ahead = awaited(&mut client, ClockState::Ahead);
    assert!(matches!(trades(&mut client), Verdict::Applied(_)));
    // Back by more: it stands still where it was.
    clock.set(-1_200 * SECOND);
    awaited(&mut client, ClockState::Stepped);
    let stands = awaited(&mut client, ClockState::Ahead);
    assert!(stands.time.0 - ahead.time.0 < 10_000_000_000);
    let refused = trades(&mut client);
    let Verdict::Rejected(Rejection { reason, details }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(reason, RejectionReason::TimestampOutOfWindow);
    assert!(TimeMs(details[0]) > clock.wall().millis());

    // Beyond what a start follows: an operator's decision.
    clock.set(8 * DAY);
    let far = awaited(&mut client, ClockState::FarBehind);
    assert!(far.time < TimeNs(now().0 + 600_000_000_000));
    clock.set(0);
    awaited(&mut client, ClockState::Stepped);
    drop(client);
    engine.stop();
}

#[test]
fn a_step_that_is_followed_passes_over_no_window_of_a_proposal() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Steps::new(0);
    let engine = Engine::start(EngineConfig {
        wall_clock_error: Some(clock.0),
        ..config(directory.path())
    });
    let market = World::build(&engine).market;
    let mut client = engine.client(Role::Operator);
    for command in proposes_by_time(market) {
        let applied = client.ask_as(OperatorNumber::FIRST_ADMIN, command).verdict;
        assert!(matches!(applied, Verdict::Applied(_)), "{applied:?}");
    }
    clock.set(DAY);
    awaited(&mut client, ClockState::Stepped);
    let right = awaited(&mut client, ClockState::Right);
    dispute(&mut client, market);
    drop(client);
    engine.stop();
    let reopened = frames(directory.path()).into_iter().find_map(|frame| {
        let Command::Reopen { at } = frame.command else {
            return None;
        };
        Some((at, frame.stamp.time))
    });
    let (at, said) = reopened.expect("the jump is said");
    assert!(at <= right.time && at.0 > said.0 + (DAY - 60 * SECOND).unsigned_abs());
}

/// Takers need not wait until the wall clock has reached engine time.
#[test]
fn post_only_mode_after_a_restart_ends_although_engine_time_stands_still() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Steps::new(0);
    let config = EngineConfig {
        wall_clock_error: Some(clock.0),
        post_only_after_restart: Duration::from_millis(300),
        ..config(directory.path())
    };
    let engine = Engine::start(config.clone());
    World::build(&engine);
    engine.stop();
    clock.set(-60 * SECOND);
    let engine = Engine::start(config);
    let mut client = engine.client(Role::Operator);
    let status = client.wait_for(|status| status.mode == SystemMode::Running);
    assert_eq!(status.clock, ClockState::Ahead);
    drop(client);
    engine.stop();
}

fn differs(report: &ClusterStatus) -> bool {
    report.clock.contains("the clock differs from that of host")
}

#[test]
fn a_standby_whose_clock_is_ahead_neither_deposes_a_quiet_leader_nor_takes_over() {
    // Beyond the bound of a start, too: the term is not taken.
    for ahead in [DAY, 8 * DAY] {
        let (model, clock) = (Model::default(), Steps::new(ahead));
        let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
        let mut client = first.client();
        let last = acknowledged(&mut client, 1);
        let mut second = host(&model, "second", ClusterRole::Standby, clock).started();
        followed(&second.data(), last);
        let following = report(&second, differs);
        assert_eq!(
            (following.leading, following.state.as_str()),
            (false, "following")
        );
        std::thread::park_timeout(LONGER_THAN_SILENCE);
        acknowledged(&mut client, 2);
        assert_eq!(report(&second, differs).term, following.term);

        // The leader stops, and says so.
        drop(client);
        first.stop();
        let refused = "not taking over: the clock differs from that of host first";
        let waits = report(&second, |report| report.state.starts_with(refused));
        assert_eq!(waits.term, following.term);
        clock.set(0);
        acknowledged(&mut second.client(), 3);
        let leads = report(&second, |report| report.leading);
        assert!(leads.clock.is_empty(), "{}", leads.clock);
        second.stop();
    }
}

#[test]
fn a_host_that_is_more_than_a_week_ahead_takes_no_term_when_it_can_ask_nobody() {
    let (model, clock) = (Model::default(), Steps::new(0));
    let mut first = host(&model, "first", ClusterRole::Leader, clock).started();
    acknowledged(&mut first.client(), 1);
    let term = report(&first, |report| report.leading).term;
    first.stop();
    clock.set(8 * DAY);
    first.start();
    let refused = "not taking over: the clock of this machine is 8 days ahead";
    let waits = report(&first, |report| report.state.starts_with(refused));
    assert_eq!(waits.term, term);
    clock.set(0);
    acknowledged(&mut first.client(), 2);
    first.stop();
}

/// It took over with this clock, and nobody says that it is wrong: engine time waits for it, also when heartbeats are sent.
#[test]
fn a_host_that_can_ask_nobody_awaits_the_clock_with_which_it_took_over() {
    let (model, clock) = (Model::default(), Steps::new(0));
    let mut first = host(&model, "first", ClusterRole::Leader, clock).started();
    acknowledged(&mut first.client(), 1);
    first.stop();
    clock.set(-60 * SECOND);
    first.start();
    let mut client = first.client();
    awaited(&mut client, ClockState::Ahead);
    std::thread::park_timeout(LONGER_THAN_SILENCE);
    assert_eq!(client.status().clock, ClockState::Ahead);
    // Another step counts only if another host agrees.
    clock.set(-120 * SECOND);
    awaited(&mut client, ClockState::Unconfirmed);
    drop(client);
    first.stop();
}

#[test]
fn a_leader_whose_clock_is_stepped_goes_on_until_another_host_agrees() {
    let (model, clock) = (Model::default(), Steps::new(0));
    let mut first = host(&model, "first", ClusterRole::Leader, clock).started();
    let mut client = first.client();
    acknowledged(&mut client, 1);
    let other = Steps::new(0);
    let mut second = host(&model, "second", ClusterRole::Standby, other).started();
    report(&second, |report| report.state == "following");
    clock.set(DAY);
    let alone = awaited(&mut client, ClockState::Unconfirmed);
    assert!(alone.time < TimeNs(now().0 + 60_000_000_000));
    report(&first, differs);
    acknowledged(&mut client, 2);
    // The other host was the wrong one.
    other.set(DAY);
    let right = awaited(&mut client, ClockState::Right);
    assert!(right.time.0 > now().0 + DAY.unsigned_abs() - 60_000_000_000);
    report(&first, |report| report.clock.is_empty());
    drop(client);
    first.stop();
    second.stop();
}

#[test]
fn a_leader_whose_clock_is_behind_all_others_stays_as_long_as_it_is_heard() {
    let (model, clock) = (Model::default(), Steps::new(0));
    let mut first = host(&model, "first", ClusterRole::Leader, clock).started();
    let mut client = first.client();
    acknowledged(&mut client, 1);
    let mut others =
        ["second", "third"].map(|name| Host::new(&model, name, ClusterRole::Standby).started());
    let term = report(&first, |report| report.leading).term;
    for other in &others {
        report(other, |report| report.state == "following");
    }
    // Two agree with each other, so that no clock keeps them from taking over.
    clock.set(-DAY);
    report(&first, differs);
    // Engine time goes on, and a follower's gateway tells it.
    let told = report(&others[0], |report| report.engine_ahead_ms != 0);
    assert!(
        told.engine_ahead_ms.abs() < 10_000,
        "{}",
        told.engine_ahead_ms
    );
    std::thread::park_timeout(LONGER_THAN_SILENCE);
    acknowledged(&mut client, 2);
    for other in &others {
        assert_eq!(report(other, |report| report.clock.is_empty()).term, term);
    }
    assert_eq!(report(&first, |report| report.leading).term, term);
    drop(client);
    first.stop();
    for other in &mut others {
        other.stop();
    }
}

#[test]
fn the_second_host_of_one_name_is_refused_by_it() {
    let model = Model::default();
    let mut first = Host::new(&model, "alpha", ClusterRole::Leader).started();
    let mut client = first.client();
    acknowledged(&mut client, 1);
    let term = report(&first, |report| report.leading).term;
    let twin = Host::new(&model, "alpha", ClusterRole::Standby);
    let refused = Engine::try_start(twin.config.clone())
        .map(drop)
        .unwrap_err();
    assert!(matches!(refused, EngineError::Cluster(_)), "{refused}");
    let named = "another host with cluster.host = \"alpha\" runs";
    assert!(refused.to_string().contains(named), "{refused}");
    assert_eq!(refused.exit_code(), foretell_engine::EXIT_REFUSED);
    acknowledged(&mut client, 2);
    assert_eq!(report(&first, |report| report.leading).term, term);
    drop(client);
    first.stop();
    // The one that ended is no other host: the machine may be a new one.
    let mut twin = twin.started();
    acknowledged(&mut twin.client(), 3);
    twin.stop();
}
