//! Hosts of a cluster on an in-memory log: following, takeover, fencing, return.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foretell_engine::client::Client;
use foretell_engine::{
    CLUSTER_STATUS_NAME, ClusterConfig, ClusterRole, EXIT_SUPERSEDED, EngineConfig, EngineError,
    SOCKET_NAME,
};
use foretell_fixtures::order_id;
use foretell_journal::replica::{MAX_ITEM_BYTES, SET_ASIDE_DIRECTORY};
use foretell_journal::{Follower, Next, Options};
use foretell_link::{ClusterStatus, Role};
use foretell_log_model::Model;
use foretell_model::command::{AddOperator, CancelOrder, Deposit, ResolveMarket, SetTerms, Split};
use foretell_model::limits::FORMAT_ID;
use foretell_model::{
    Command, CommandOutcome, Event, Lots, MarketTerms, Micros, OperatorName, OperatorNumber,
    OperatorRole, Payout, Reference, Sequence, SystemMode, TimeMs, Verdict, WalletAddress,
};
use foretell_replication::{ConnectLog, HostRecord, Keys, LogError, ReplicatedLog, SignedLog};

use crate::harness::{Engine, OwnedFrame, TestClient, config, found, frames};
use crate::restart::now;
use crate::world::{World, set_up};

/// Silence after which a standby takes over; far longer than a busy machine delays a heartbeat.
const SILENCE: Duration = Duration::from_millis(1_500);
/// More than twice [`SILENCE`].
pub(crate) const LONGER_THAN_SILENCE: Duration = Duration::from_millis(3_200);

/// The secret of the cluster.
const SECRET: [u8; 32] = [1; 32];

fn keys(host: &str, secret: [u8; 32]) -> Keys {
    Keys::of_leader(host, &secret, &BTreeMap::new()).unwrap()
}

#[derive(Debug)]
struct Link {
    model: Model,
    is_reachable: Arc<AtomicBool>,
}

impl ConnectLog for Link {
    fn connect(&self) -> Result<Box<dyn ReplicatedLog>, LogError> {
        let is_reachable = Arc::clone(&self.is_reachable);
        Ok(Box::new(self.model.connect(is_reachable)))
    }
}

/// A host and its connection to the log.
pub(crate) struct Host {
    directory: tempfile::TempDir,
    pub(crate) config: EngineConfig,
    is_reachable: Arc<AtomicBool>,
    engine: Option<Engine>,
}

impl Host {
    pub(crate) fn new(model: &Model, name: &str, role: ClusterRole) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let is_reachable = Arc::new(AtomicBool::new(true));
        let plain = config(&directory.path().join("data"));
        let config = EngineConfig {
            journal: Options {
                staging_bytes: MAX_ITEM_BYTES,
                ..plain.journal
            },
            cluster: Some(ClusterConfig {
                role,
                host: name.to_owned(),
                address: format!("http://{name}"),
                takeover_after: SILENCE,
                fingerprint: "same".to_owned(),
                keys: keys(name, SECRET),
                log: Arc::new(Link {
                    model: model.clone(),
                    is_reachable: Arc::clone(&is_reachable),
                }),
            }),
            ..plain
        };
        Self {
            directory,
            config,
            is_reachable,
            engine: None,
        }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub(crate) fn start(&mut self) {
        self.engine = Some(Engine::start(self.config.clone()));
    }

    pub(crate) fn started(mut self) -> Self {
        self.start();
        self
    }

    /// A client of this host once it leads.
    pub(crate) fn client(&self) -> TestClient {
        let socket = self.data().join(SOCKET_NAME);
        found(|| Client::connect(&socket, "probe", Role::Operator).ok());
        TestClient::connect(&socket, Role::Operator)
    }

    pub(crate) fn stop(&mut self) {
        self.engine.take().unwrap().stop();
    }

    pub(crate) fn end(&mut self) -> Result<(), EngineError> {
        self.engine.take().unwrap().end()
    }
}

fn deposit(number: u8) -> Command {
    foretell_fixtures::deposit(WalletAddress([number; 20]), Micros(1_000), [number; 32])
}

/// Deposits once, and returns the sequence of the acknowledgement.
pub(crate) fn acknowledged(client: &mut TestClient, number: u8) -> Sequence {
    let reply = client.ask(deposit(number), &[]);
    assert!(matches!(reply.verdict, Verdict::Applied(_)), "{reply:?}");
    reply.sequence
}

/// The frames of a host, once it has everything up to `sequence`.
pub(crate) fn followed(directory: &Path, sequence: Sequence) -> Vec<OwnedFrame> {
    let journal = directory.join(foretell_engine::JOURNAL_DIRECTORY);
    found(|| {
        let follower = foretell_journal::Follower::open(&journal, Sequence(0)).ok()?;
        (follower.durable() >= sequence).then(|| frames(directory))
    })
}

/// Two hosts have the same frames up to a sequence, and after it as far as both have them: a leader may
/// attest a state at any time.
pub(crate) fn assert_same(one: &Path, other: &Path, last: Sequence) {
    let (one, other) = (followed(one, last), followed(other, last));
    let both = one.len().min(other.len());
    assert_eq!(one[..both], other[..both]);
}

fn deposits(frames: &[OwnedFrame]) -> Vec<u8> {
    let number = |frame: &OwnedFrame| match frame.command {
        Command::Deposit(Deposit { reference, .. }) => Some(reference.0[0]),
        _ => None,
    };
    frames.iter().filter_map(number).collect()
}

#[test]
fn every_host_has_the_leader_s_journal_and_a_standby_takes_over_from_one_that_stops() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    for number in 1..=5 {
        acknowledged(&mut client, number);
    }
    let mut second = Host::new(&model, "second", ClusterRole::Standby).started();
    let mut reader = Host::new(&model, "reader", ClusterRole::Reader).started();
    let last = acknowledged(&mut client, 6);
    assert_same(&second.data(), &first.data(), last);
    assert_same(&reader.data(), &first.data(), last);
    assert!(
        !second.data().join(SOCKET_NAME).exists(),
        "it does not lead"
    );

    drop(client);
    first.stop();
    let mut client = second.client();
    let next = acknowledged(&mut client, 7);
    assert!(next > last);
    // The same deposit again is recognised, as ever.
    let repeated = client.ask(deposit(6), &[]);
    assert!(
        matches!(repeated.verdict, Verdict::Repeated { .. }),
        "{repeated:?}"
    );
    first.start();
    let last = acknowledged(&mut client, 8);
    assert_eq!(
        deposits(&followed(&first.data(), last)),
        (1..=8).collect::<Vec<u8>>()
    );
    assert_same(&reader.data(), &second.data(), last);
    drop(client);
    second.stop();
    // The host that had led before leads again; a reader never does.
    let mut client = first.client();
    acknowledged(&mut client, 9);
    drop(client);
    first.stop();
    reader.stop();
}

#[test]
fn a_leader_that_was_cut_off_acknowledges_nothing_and_returns_as_a_standby() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    let mut second = Host::new(&model, "second", ClusterRole::Standby).started();
    acknowledged(&mut client, 1);
    first.is_reachable.store(false, Ordering::Relaxed);
    // It writes them to its own disk; no answer comes.
    client.send(deposit(2), &[]).unwrap();
    client.send(deposit(3), &[]).unwrap();
    let mut other = second.client();
    let taken = acknowledged(&mut other, 4);
    first.is_reachable.store(true, Ordering::Relaxed);
    let ended = first.end().unwrap_err();
    assert!(matches!(ended, EngineError::Superseded(_)), "{ended}");
    assert_eq!(ended.exit_code(), EXIT_SUPERSEDED);
    assert!(
        client.client.receive().is_err(),
        "no answer after the takeover"
    );
    let before = deposits(&frames(&first.data()));
    assert_eq!(before, [1, 2, 3], "its own disk had them");

    first.start();
    assert_eq!(deposits(&followed(&first.data(), taken)), [1, 4]);
    let aside = first.data().join("journal").join(SET_ASIDE_DIRECTORY);
    assert_eq!(std::fs::read_dir(aside).unwrap().count(), 1);
    let last = acknowledged(&mut other, 5);
    assert_same(&first.data(), &second.data(), last);
    drop(other);
    second.stop();
    let mut client = first.client();
    // What was never acknowledged can be sent again.
    acknowledged(&mut client, 2);
    drop(client);
    first.stop();
}

#[test]
fn a_cut_off_standby_does_not_count_silence_and_a_reader_never_leads() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    let mut second = Host::new(&model, "second", ClusterRole::Standby).started();
    let last = acknowledged(&mut client, 1);
    followed(&second.data(), last);
    second.is_reachable.store(false, Ordering::Relaxed);
    std::thread::park_timeout(LONGER_THAN_SILENCE);
    second.is_reachable.store(true, Ordering::Relaxed);
    // The first one still leads.
    let last = acknowledged(&mut client, 2);
    assert_same(&second.data(), &first.data(), last);
    second.stop();
    let mut reader = Host::new(&model, "reader", ClusterRole::Reader).started();
    drop(client);
    first.stop();
    std::thread::park_timeout(LONGER_THAN_SILENCE);
    assert!(!reader.data().join(SOCKET_NAME).exists());
    reader.stop();
}

#[test]
fn a_host_that_starts_without_the_log_serves_what_it_has_until_the_log_answers() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    let mut second = Host::new(&model, "second", ClusterRole::Standby).started();
    let had = acknowledged(&mut client, 1);
    followed(&second.data(), had);
    second.stop();
    let newer = acknowledged(&mut client, 2);
    // As after a start of the machine.
    let journal = second.data().join(foretell_engine::JOURNAL_DIRECTORY);
    std::fs::remove_file(journal.join("control")).unwrap();
    for boots in [true, false] {
        second.is_reachable.store(false, Ordering::Relaxed);
        second.start();
        let follower = Follower::open(&journal, Sequence(0)).unwrap();
        let durable = follower.durable();
        assert!(durable >= had && durable < newer, "boots: {boots}");
        assert_eq!(deposits(&frames(&second.data())), [1]);
        assert!(!second.data().join(SOCKET_NAME).exists());
        if boots {
            // The page is from an earlier start of the engine now.
            second.stop();
        }
    }
    let mut follower = Follower::open(&journal, Sequence(0)).unwrap();
    second.is_reachable.store(true, Ordering::Relaxed);
    while follower.last_sequence() < newer {
        match follower.next_frame().unwrap() {
            Next::UpToDate => follower.wait(SILENCE),
            Next::Rebuild { .. } => panic!("what was read is not in the journal any more"),
            Next::Frame(_) | Next::NewEpoch { .. } => {}
        }
    }
    assert_same(&second.data(), &first.data(), newer);
    drop(client);
    first.stop();
    second.stop();
}

#[test]
fn hosts_with_other_secrets_are_refused() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    acknowledged(&mut client, 1);
    let mut second = Host::new(&model, "second", ClusterRole::Standby);
    let cluster = second.config.cluster.as_mut().unwrap();
    cluster.fingerprint = "other".to_owned();
    let refused = Engine::try_start(second.config.clone())
        .map(drop)
        .unwrap_err();
    assert!(matches!(refused, EngineError::Cluster(_)), "{refused}");
    assert!(refused.to_string().contains("host first"), "{refused}");
    drop(client);
    first.stop();
    // What a host said before its secrets changed, sent again.
    let other = |record: &mut HostRecord| {
        record.fingerprint = "other".to_owned();
        record.wall_ms -= 60_000;
    };
    announce(&model, "second", ClusterRole::Standby, other);
    first.start();
    acknowledged(&mut first.client(), 2);
    first.stop();
}

#[test]
fn a_journal_of_another_log_is_refused() {
    let (model, other) = (Model::default(), Model::default());
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    acknowledged(&mut first.client(), 1);
    first.stop();
    let mut foreign = Host::new(&other, "foreign", ClusterRole::Leader).started();
    acknowledged(&mut foreign.client(), 1);
    foreign.stop();
    foreign.config.cluster.as_mut().unwrap().log = Arc::new(Link {
        model,
        is_reachable: Arc::new(AtomicBool::new(true)),
    });
    let refused = Engine::try_start(foreign.config.clone())
        .map(drop)
        .unwrap_err();
    assert!(matches!(refused, EngineError::Cluster(_)), "{refused}");
    let empty = Model::default();
    foreign.config.cluster.as_mut().unwrap().log = Arc::new(Link {
        model: empty,
        is_reachable: Arc::new(AtomicBool::new(true)),
    });
    let refused = Engine::try_start(foreign.config).map(drop).unwrap_err();
    assert!(
        refused.to_string().contains("cluster init --from"),
        "{refused}"
    );
}

/// The market of the tests, open, where each trader has ten full sets; added by an operator.
fn open_market(client: &mut TestClient) -> (World, OperatorNumber) {
    let time = client.client.welcome.time;
    let admin = OperatorNumber::FIRST_ADMIN;
    let mut ask = |command| match client.ask(command, &[]).verdict {
        Verdict::Applied(outcome) => outcome,
        other => panic!("{command:?}: {other:?}"),
    };
    let world = set_up(&mut ask, time);
    let market = world.market;
    ask(Command::ActivateMarket { market });
    let (role, name) = (OperatorRole::Resolver, OperatorName::new("ann").unwrap());
    let token = [7; 32];
    let added = client.ask_as(
        admin,
        Command::AddOperator(AddOperator { role, name, token }),
    );
    let Verdict::Applied(CommandOutcome::Operator(ann)) = added.verdict else {
        panic!("{added:?}");
    };
    for trader in world.traders {
        let split = Command::Split(Split {
            account: trader.account,
            market,
            lots: Lots(1_000),
            reference: Reference([8; 32]),
        });
        let reply = client.ask(split, &[]);
        assert!(matches!(reply.verdict, Verdict::Applied(_)), "{reply:?}");
    }
    (world, ann)
}

fn settled(frames: &[OwnedFrame]) -> Vec<Event> {
    let events = frames.iter().flat_map(|frame| &frame.events);
    let is_paid = |event: &&Event| matches!(event, Event::Redeemed(_) | Event::MarketSettled(_));
    events.filter(is_paid).copied().collect()
}

#[test]
fn a_new_leader_does_what_is_due_first_and_goes_on_with_a_settlement() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader);
    let mut second = Host::new(&model, "second", ClusterRole::Standby);
    for host in [&mut first, &mut second] {
        host.config.post_only_after_restart = Duration::from_secs(60);
    }
    first.start();
    let mut client = first.client();
    let (world, ann) = open_market(&mut client);
    let (market, owner) = (world.market, world.traders[0].account);
    second.start();
    let commands = [1, 2, 3].map(|number| world.resting_buy(number).place());
    let replies = client.replace(false, &commands);
    let order = order_id(1);
    let commands = [
        Command::CancelOrder(CancelOrder { owner, order }),
        world.resting_buy(4).place(),
    ];
    client.replace(true, &commands);
    let closes_at = TimeMs(now().millis().0 + 300);
    let terms = MarketTerms {
        closes_at,
        ..MarketTerms::default()
    };
    let last = client
        .ask(
            Command::SetTerms(SetTerms {
                market,
                terms: terms.into(),
            }),
            &[],
        )
        .sequence;
    let before = followed(&second.data(), last).len();
    // Its own close, at its time, reaches nobody.
    first.is_reachable.store(false, Ordering::Relaxed);
    let mut other = second.client();
    first.is_reachable.store(true, Ordering::Relaxed);
    assert!(matches!(first.end(), Err(EngineError::Superseded(_))));
    let payout = Payout::Half;
    let resolved = other.ask_as(
        ann,
        Command::ResolveMarket(ResolveMarket {
            market,
            payout,
            replaces: None,
        }),
    );
    assert!(
        matches!(resolved.verdict, Verdict::Applied(_)),
        "{resolved:?}"
    );
    // It may end before the steps.
    drop(other);
    second.stop();
    first.start();
    let mut client = first.client();
    let last = acknowledged(&mut client, 1);
    while settled(&followed(&first.data(), last)).len() < 3 {
        client.status();
    }
    second.start();
    let last = acknowledged(&mut client, 2);
    let journal = followed(&second.data(), last);
    assert_same(&second.data(), &first.data(), last);
    let touched = |sequence: Sequence| {
        let frame = journal.iter().find(|frame| frame.sequence == sequence);
        frame.map(|frame| frame.stamp.touched)
    };
    assert_eq!(touched(Sequence(replies[2].sequence.0 + 2)), Some(1));
    let taken_over: Vec<Command> = journal[before..].iter().map(|it| it.command).collect();
    let mode = SystemMode::PostOnly;
    assert_eq!(
        taken_over[..2],
        [Command::SetMode { mode }, Command::AdvanceTime]
    );
    let paid = settled(&journal);
    assert_eq!(paid.len(), 3, "two holders, each once: {paid:?}");
    drop(client);
    first.stop();
    second.stop();
}

/// Announces a host with the key of the cluster.
fn announce(model: &Model, name: &str, role: ClusterRole, change: impl FnOnce(&mut HostRecord)) {
    let log = model.connect(Arc::new(AtomicBool::new(true)));
    let mut log = SignedLog::new(Box::new(log), keys(name, SECRET));
    let mut record = HostRecord {
        host: name.to_owned(),
        role: role.name().to_owned(),
        sequence: 0,
        message: 0,
        format: FORMAT_ID,
        fingerprint: "same".to_owned(),
        wall_ms: now().0 / 1_000_000,
        place: String::new(),
        life: 1,
        count: 1,
    };
    change(&mut record);
    log.announce(&record);
}

#[test]
fn a_host_waits_for_one_of_another_format_that_runs_and_may_lead() {
    let model = Model::default();
    let older = |wall_ms| {
        move |record: &mut HostRecord| {
            record.format -= 1;
            record.wall_ms = wall_ms;
        }
    };
    let present = now().0 / 1_000_000;
    // Its own record, a reader's, and those of hosts that do not run now, stop nobody.
    announce(&model, "new", ClusterRole::Standby, older(present));
    announce(&model, "reader", ClusterRole::Reader, older(present));
    announce(&model, "old", ClusterRole::Standby, older(0));
    announce(&model, "ahead", ClusterRole::Standby, older(1 << 63));
    let mut host = Host::new(&model, "new", ClusterRole::Leader).started();
    acknowledged(&mut host.client(), 1);
    host.stop();

    announce(&model, "old", ClusterRole::Standby, older(present));
    // With a journal it serves reads meanwhile.
    host.start();
    let waits = report(&host, |report| report.state.starts_with("not starting"));
    let named = "host old runs a build of format";
    assert!(waits.state.contains(named), "{}", waits.state);
    announce(&model, "old", ClusterRole::Standby, older(0));
    acknowledged(&mut host.client(), 2);
    host.stop();
}

/// Writes foreign messages, heartbeats and records until the guard is dropped, about 100 a second.
struct Flood(Arc<AtomicBool>, Option<std::thread::JoinHandle<u64>>);

impl Flood {
    fn start(model: &Model) -> Self {
        let (model, ends) = (model.clone(), Arc::new(AtomicBool::new(false)));
        let ended = Arc::clone(&ends);
        let write = move || {
            let mut number = 0_u64;
            while !ended.load(Ordering::Relaxed) {
                number += 1;
                let overheard = model.overheard();
                let index = usize::try_from(number).unwrap() % overheard.len().max(1);
                let payload = match overheard.get(index) {
                    Some(publish) if number.is_multiple_of(2) => publish.payload.clone(),
                    _ => b"22 bytes of garbage...".to_vec(),
                };
                model.put_beat(b"host x".to_vec());
                model.put_record("second", payload.clone());
                model.intrude(format!("flood {number}"), payload);
                std::thread::park_timeout(Duration::from_millis(10));
            }
            number
        };
        Self(ends, Some(std::thread::spawn(write)))
    }

    fn end(mut self) -> u64 {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().unwrap().join().unwrap()
    }
}

#[test]
fn strangers_stop_nothing_and_what_they_write_counts_nowhere() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    let mut client = first.client();
    acknowledged(&mut client, 1);
    let flood = Flood::start(&model);
    let mut second = Host::new(&model, "second", ClusterRole::Standby).started();
    for number in 2..=20 {
        acknowledged(&mut client, number);
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let last = acknowledged(&mut client, 21);
    assert_same(&second.data(), &first.data(), last);
    // The leader is lost without a word, and the standby takes over in the flood.
    first.is_reachable.store(false, Ordering::Relaxed);
    let mut other = second.client();
    let last = acknowledged(&mut other, 22);
    first.is_reachable.store(true, Ordering::Relaxed);
    assert!(matches!(first.end(), Err(EngineError::Superseded(_))));
    first.start();
    assert_same(&first.data(), &second.data(), last);
    let mut reader = Host::new(&model, "reader", ClusterRole::Reader).started();
    let last = acknowledged(&mut other, 23);
    assert_same(&reader.data(), &second.data(), last);
    let written = flood.end();
    assert!(written > 50, "{written} foreign messages");
    assert_eq!(
        deposits(&followed(&reader.data(), last)),
        (1..=23).collect::<Vec<u8>>()
    );
    let report = report(&reader, |report| report.message > 0);
    assert!(report.foreign_messages > 0, "they are counted");
    drop((client, other));
    second.stop();
    first.stop();
    reader.stop();
}

/// The first report of the host that is the one awaited.
pub(crate) fn report(host: &Host, is_awaited: impl Fn(&ClusterStatus) -> bool) -> ClusterStatus {
    let path = host.data().join(CLUSTER_STATUS_NAME);
    found(|| {
        let report = ClusterStatus::decode(&std::fs::read(&path).ok()?);
        report.filter(&is_awaited)
    })
}

#[test]
fn a_host_with_another_key_neither_leads_nor_follows() {
    let model = Model::default();
    let mut first = Host::new(&model, "first", ClusterRole::Leader).started();
    acknowledged(&mut first.client(), 1);
    for role in [
        ClusterRole::Leader,
        ClusterRole::Standby,
        ClusterRole::Reader,
    ] {
        let mut other = Host::new(&model, "other", role);
        other.config.cluster.as_mut().unwrap().keys = keys("other", [2; 32]);
        let refused = Engine::try_start(other.config.clone()).map(drop);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("cluster.key"), "{refused}");
    }
    first.stop();
    // Its journal is of this log, and its key is not.
    first.config.cluster.as_mut().unwrap().keys = keys("first", [2; 32]);
    let refused = Engine::try_start(first.config.clone())
        .map(drop)
        .unwrap_err();
    assert!(refused.to_string().contains("cluster.key"), "{refused}");
}

/// As a restore of a backup leaves it.
#[test]
fn a_restored_host_founds_no_log_and_gets_what_it_lacks_as_a_standby() {
    let model = Model::default();
    let leader = Host::new(&model, "alpha", ClusterRole::Leader).started();
    let mut client = leader.client();
    let first = acknowledged(&mut client, 1);
    let mut restored = Host::new(&model, "beta", ClusterRole::Standby).started();
    assert_same(&leader.data(), &restored.data(), first);
    restored.stop();
    let marker = restored.data().join("journal/RESTORED");
    std::fs::write(&marker, format!("{first} {}\n", "07".repeat(32))).unwrap();
    let last = acknowledged(&mut client, 2);

    let role = |host: &mut Host, role| host.config.cluster.as_mut().unwrap().role = role;
    role(&mut restored, ClusterRole::Leader);
    let refused = Engine::try_start(restored.config.clone()).map(drop);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("restored from a backup"), "{refused}");
    assert!(refused.contains("cluster.role = \"standby\""), "{refused}");
    assert!(marker.exists(), "the next start is refused, too");

    role(&mut restored, ClusterRole::Standby);
    restored.start();
    assert_same(&leader.data(), &restored.data(), last);
    assert!(!marker.exists(), "it has what the log has");
}
