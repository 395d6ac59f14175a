//! Restarts: the same state, or an error that states the reason.

use std::time::{Duration, UNIX_EPOCH};

use foretell_engine::{EXIT_REFUSED, EngineError, JOURNAL_DIRECTORY, PastWriter, SigningDomain};
use foretell_fixtures::deposit;
use foretell_journal::Options;
use foretell_link::Role;
use foretell_model::command::Begin;
use foretell_model::event::{AccountOpened, Deposited};
use foretell_model::{
    AccountNumber, Command, DomainNumber, Event, Micros, OperatorNumber, RejectionReason, Sequence,
    SettingsUpdate, SystemMode, TimeNs, Verdict, WalletAddress,
};

use crate::harness::{Engine, config, frames};
use crate::world::World;

#[test]
fn the_state_is_the_same_after_a_restart_and_the_epoch_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let world = World::build(&engine);
    let mut client = engine.client(Role::Trading);
    for number in 0..50 {
        client.ask(world.resting_buy(number).place(), b"signed");
    }
    let before = client.status();
    let (epoch, genesis) = (engine.ready.epoch, engine.ready.genesis);
    engine.stop();

    let engine = Engine::start(config(directory.path()));
    assert_eq!(engine.ready.sequence, before.sequence);
    assert_eq!(engine.ready.genesis, genesis);
    assert!(engine.ready.epoch > epoch);
    let mut client = engine.client(Role::Trading);
    let after = client.status();
    assert_eq!(
        (
            after.sequence,
            after.live_orders,
            after.markets,
            after.accounts
        ),
        (
            before.sequence,
            before.live_orders,
            before.markets,
            before.accounts
        )
    );
    assert!(after.time >= before.time);
    let again = client.ask(world.resting_buy(7).place(), b"signed");
    assert!(
        matches!(again.verdict, Verdict::Repeated { .. }),
        "{again:?}"
    );
    engine.stop();
}

#[test]
fn a_directory_has_one_engine() {
    let directory = tempfile::tempdir().unwrap();
    let engine = Engine::start(config(directory.path()));
    let second = Engine::try_start(config(directory.path())).err().unwrap();
    assert!(matches!(second, EngineError::InUse(_)), "{second:?}");
    assert_eq!(second.exit_code(), EXIT_REFUSED);
    // The first still has its socket and lock.
    engine.client(Role::Reader).status();
    engine.stop();
    Engine::start(config(directory.path())).stop();
}

#[test]
fn domains_and_settings_are_journalled_once_and_other_content_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.settings.gtd_safety_seconds = 7;
    config.domains = vec![SigningDomain {
        number: DomainNumber(1),
        separator: [5; 32],
        text: "a domain".to_owned(),
    }];
    Engine::start(config.clone()).stop();
    let first = frames(directory.path());
    assert_eq!(first.len(), 2);
    assert_eq!(
        first[0].command,
        Command::ChangeSettings {
            settings: config.settings.into()
        }
    );
    assert_eq!(first[1].evidence, b"a domain");
    assert!(matches!(first[1].command, Command::RegisterDomain(_)));

    // A repeat adds nothing; settings of a later start are not journalled.
    config.settings.gtd_safety_seconds = 9;
    Engine::start(config.clone()).stop();
    assert_eq!(frames(directory.path()), first);

    // The hours of the configuration count, which operators cannot change.
    config.settings.new_operator_hours = 24;
    for _ in 0..2 {
        Engine::start(config.clone()).stop();
    }
    let later = frames(directory.path());
    assert_eq!(later.len(), first.len() + 1);
    let hours = SettingsUpdate {
        new_operator_hours: Some(24),
        ..SettingsUpdate::default()
    };
    let settings = Command::ChangeSettings { settings: hours };
    assert_eq!(later.last().map(|frame| frame.command), Some(settings));

    config.domains[0].separator = [6; 32];
    let refused = Engine::try_start(config).err().unwrap();
    assert!(
        matches!(&refused, EngineError::Configuration { refusal, .. } if refusal.reason == RejectionReason::DomainDiffers),
        "{refused:?}"
    );
}

#[test]
fn settings_refused_at_the_first_start_are_journalled_once_corrected() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.domains = vec![SigningDomain {
        number: DomainNumber(1),
        separator: [5; 32],
        text: "a domain".to_owned(),
    }];
    config.settings.timestamp_past_ms = 0;
    let refused = Engine::try_start(config.clone()).err().unwrap();
    assert!(
        matches!(&refused, EngineError::Configuration { refusal, .. } if refusal.reason == RejectionReason::InvalidSettings),
        "{refused:?}"
    );
    assert_eq!(frames(directory.path()), []);

    config.settings.timestamp_past_ms = 90_000;
    Engine::start(config.clone()).stop();
    let journal = frames(directory.path());
    let settings = Command::ChangeSettings {
        settings: config.settings.into(),
    };
    assert!(journal.iter().any(|frame| frame.command == settings));
}

#[test]
fn a_restart_may_be_post_only_for_a_while() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = config(directory.path());
    config.post_only_after_restart = Duration::from_millis(300);
    let engine = Engine::start(config.clone());
    World::build(&engine);
    assert_eq!(
        engine.client(Role::Reader).status().mode,
        SystemMode::Running
    );
    engine.stop();

    let engine = Engine::start(config.clone());
    engine
        .client(Role::Reader)
        .wait_for(|status| status.mode == SystemMode::Running);
    // A stricter mode set by the operator stays.
    let mode = SystemMode::CancelOnly;
    engine
        .client(Role::Operator)
        .ask(Command::SetMode { mode }, &[]);
    engine.stop();
    let modes: Vec<Command> = frames(directory.path())
        .into_iter()
        .map(|frame| frame.command)
        .filter(|command| matches!(command, Command::SetMode { .. }))
        .collect();
    let expected = [SystemMode::PostOnly, SystemMode::Running, mode];
    assert_eq!(modes, expected.map(|mode| Command::SetMode { mode }));

    let engine = Engine::start(config);
    assert_eq!(engine.client(Role::Reader).status().mode, mode);
    engine.stop();
}

/// A journal whose second frame records a larger deposit than its command.
pub(crate) fn doctored_journal(directory: &std::path::Path) {
    journal_of(directory, now(), |account| {
        Event::Deposited(Deposited {
            account,
            amount: Micros(101),
        })
    });
}

pub(crate) fn now() -> TimeNs {
    let since = UNIX_EPOCH.elapsed().unwrap();
    TimeNs(u64::try_from(since.as_nanos()).unwrap())
}

/// A journal of three deposits at this time; the caller supplies the recorded event of the second.
pub(crate) fn journal_of(
    directory: &std::path::Path,
    time: TimeNs,
    second: impl FnOnce(AccountNumber) -> Event,
) {
    let wallet = WalletAddress([1; 20]);
    let account = AccountNumber(0);
    let deposit = |number: u8| deposit(wallet, Micros(100), [number; 32]);
    let deposited = Event::Deposited(Deposited {
        account,
        amount: Micros(100),
    });
    let opened = Event::AccountOpened(AccountOpened { account, wallet });
    let rows = [
        (deposit(1), vec![opened, deposited]),
        (deposit(2), vec![second(account)]),
        (deposit(3), vec![deposited]),
    ];
    journal_of_rows(directory, time, &rows);
}

/// A journal of these commands and events at this time.
pub(crate) fn journal_of_rows(
    directory: &std::path::Path,
    time: TimeNs,
    rows: &[(Command, Vec<Event>)],
) {
    let options = Options {
        segment_bytes: 4 << 20,
        staging_bytes: 1 << 20,
        ..Options::default()
    };
    let journal = directory.join(JOURNAL_DIRECTORY);
    std::fs::create_dir_all(&journal).unwrap();
    let recovered =
        foretell_journal::recover(&journal, options, Sequence(0), &mut |_| Ok(())).unwrap();
    let (mut appender, syncer, _state) = recovered.start().unwrap();
    for (sequence, (command, events)) in (1..).zip(rows) {
        assert!(appender.has_room_for_largest());
        appender.append(Sequence(sequence), time, command, events, &[]);
    }
    drop(appender);
    syncer.run(|_| {}).unwrap();
}

#[test]
fn a_clock_far_ahead_of_the_journal_stops_the_start_until_an_operator_accepts_it() {
    let directory = tempfile::tempdir().unwrap();
    let eight_days_ago = TimeNs(now().0 - 8 * 86_400 * 1_000_000_000);
    journal_of(directory.path(), eight_days_ago, |account| {
        Event::Deposited(Deposited {
            account,
            amount: Micros(100),
        })
    });
    let mut config = config(directory.path());
    let before = frames(directory.path());

    let refused = Engine::try_start(config.clone()).err().unwrap();
    assert!(
        matches!(&refused, EngineError::ClockJumped { days: 8, .. }),
        "{refused:?}"
    );
    assert_eq!(refused.exit_code(), EXIT_REFUSED);
    assert_eq!(frames(directory.path()).len(), before.len());

    config.accept_clock_jump = true;
    let engine = Engine::start(config.clone());
    let late = deposit(WalletAddress([1; 20]), Micros(100), [9; 32]);
    engine.client(Role::Operator).ask(late, &[]);
    engine.stop();
    // The deposit has the current time.
    config.accept_clock_jump = false;
    Engine::start(config).stop();
}

/// It is a sandbox, whose clock may be anywhere: also one that was left for longer than other exchanges accept.
#[test]
fn an_engine_starts_on_a_simulated_past_that_ends_now() {
    const DAY: u64 = 86_400 * 1_000_000_000;
    for ended_days_ago in [0, 8] {
        let directory = tempfile::tempdir().unwrap();
        let config = config(directory.path());
        let until = TimeNs(now().0 - ended_days_ago * DAY);
        let from = TimeNs(until.0 - 30 * DAY);
        let mut past = PastWriter::begin(&config, from, until).unwrap().unwrap();
        let other = PastWriter::begin(&config, from, until).err().unwrap();
        assert!(matches!(other, EngineError::InUse(_)), "{other:?}");
        for day in 0..=30 {
            past.set_time(TimeNs(from.0 + day * DAY));
            let reference = [day.to_le_bytes()[0]; 32];
            let deposit = deposit(WalletAddress([1; 20]), Micros(100), reference);
            let verdict = past.apply(OperatorNumber::FIRST_ADMIN, &deposit, &[0; 2]);
            assert!(
                matches!(verdict, Ok(Ok(Verdict::Applied(_)))),
                "{verdict:?}"
            );
        }
        let last = past.finish().unwrap();
        assert!(PastWriter::begin(&config, from, until).unwrap().is_none());
        let frames = frames(directory.path());
        let begin = Begin {
            sandbox: true,
            simulated_until: until,
            ..Begin::default()
        };
        assert_eq!(frames[0].command, Command::Begin(begin));
        assert_eq!(frames.last().unwrap().stamp.time, until);

        let engine = Engine::start(config);
        assert!(engine.ready.sequence >= last);
        engine.stop();
    }
}

#[test]
fn a_divergence_stops_the_start_until_an_operator_accepts_it() {
    let directory = tempfile::tempdir().unwrap();
    doctored_journal(directory.path());
    let mut config = config(directory.path());

    let refused = Engine::try_start(config.clone()).err().unwrap();
    assert!(
        matches!(
            &refused,
            EngineError::Diverged {
                sequence: Sequence(2),
                ..
            }
        ),
        "{refused:?}"
    );
    assert!(refused.to_string().contains("--accept-divergence 2"));
    // Accepting another sequence does not help.
    config.accept_divergence = Some(Sequence(3));
    assert!(Engine::try_start(config.clone()).is_err());
    config.accept_divergence = Some(Sequence(2));
    Engine::start(config.clone()).stop();
    // The acceptance is journalled now.
    config.accept_divergence = None;
    Engine::start(config).stop();
    let accepted = Command::AcceptDivergence {
        sequence: Sequence(2),
    };
    let journal = frames(directory.path());
    assert_eq!(
        journal
            .iter()
            .filter(|frame| frame.command == accepted)
            .count(),
        1
    );
}
