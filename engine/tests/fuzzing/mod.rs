//! Fuzzes the engine with arbitrary bytes of a gateway: the real ingress and the real exchange, one
//! round at a time, without threads and without a disk.
//!
//! Input is that of the fuzz target `frames`: the first byte determines the split into reads and
//! whether a hello precedes. A second decoder reads the same bytes to find the expected requests.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::{Arc, LazyLock};

use foretell_journal::{Appender, JournalState, Options, Syncer, recover};
use foretell_link::{
    Answer, AnswerDecoder, Hello, PROTOCOL_VERSION, Request, RequestDecoder, Role, Stage,
};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{CancelAll, Deposit, RegisterKey, RegisterMarket, SetHeartbeat};
use foretell_model::{
    ApiKey, Command, ConditionId, FeeSchedule, FramePosition, Lots, MarketNumber, Micros,
    Reference, Sequence, Tick, TimeNs, TokenId, Verdict, WalletAddress,
};
use foretell_stages::{Durations, Recorder};
use parking_lot::Mutex;

use crate::clock::Clocks;
use crate::command_ring::{CommandRing, PendingReply};
use crate::gateways::{Gateways, MatcherPlacement, RoundResult};
use crate::heartbeat::Heartbeats;
use crate::publisher_mailbox::PublisherMailbox;
use crate::requests::RequestHandler;
use crate::stage_summary_cache::StageSummaryCache;
use crate::status::Gauges;
use crate::wait::{ThreadParker, Waiting};

/// Bytes of one input that are used.
const MOST: usize = 64 << 10;
/// Capacity of the request ring.
const RING: usize = 64;
/// Start time of the exchange under test.
const BEGINS: TimeNs = TimeNs(1_700_000_000_000_000_000);
/// Timeout for silent or stalled peers.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// A clock that never advances.
#[derive(Clone, Debug)]
struct Still;

impl Clocks for Still {
    fn monotonic(&self) -> u64 {
        0
    }

    fn wall(&self) -> u64 {
        BEGINS.0
    }
}

/// The engine's end of a connection in memory; it closes when all bytes were read.
#[derive(Debug)]
struct Pipe {
    input: VecDeque<u8>,
    piece: usize,
    sent: Arc<Mutex<Vec<u8>>>,
    /// After the input, this many reads would block before the stream ends.
    lingers: u32,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.input.is_empty() {
            if self.lingers == 0 {
                return Ok(0);
            }
            self.lingers -= 1;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let most = buffer.len().min(self.piece);
        self.input.read(&mut buffer[..most])
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sent.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A journal that is opened once and never written, so its state is constant and all durable.
static JOURNAL: LazyLock<(JournalState, Mutex<(Appender, Syncer)>)> = LazyLock::new(|| {
    let name = format!("foretell-fuzz-engine-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let options = Options {
        segment_bytes: Options::MIN_SEGMENT_BYTES,
        ..Options::default()
    };
    let recovered = recover(&directory, options, Sequence(0), &mut |_| Ok(()));
    let opened = recovered.expect("a new journal").open();
    let (appender, syncer, state, _helper) = opened.expect("a new journal");
    // The mappings remain valid without the names.
    std::fs::remove_dir_all(&directory).expect("our own directory");
    (state, Mutex::new((appender, syncer)))
});

/// A sink: no time is measured.
static DURATIONS: LazyLock<Arc<Durations<Stage>>> = LazyLock::new(Arc::default);

/// The requests according to the decoder alone.
#[derive(Default)]
struct Asked {
    /// Ids of requests that need an answer.
    requests: Vec<u64>,
    /// Number of commands among them.
    commands: usize,
    /// Whether the rest was rejected, by the decoder or for the role.
    cut_off: bool,
}

/// Feeds one connection's bytes to the engine and compares its answers with the decoded requests.
///
/// # Panics
/// When a promise is broken, which is the finding of the fuzzer.
pub fn handle(bytes: &[u8]) {
    let Some((&first, stream)) = bytes.split_first() else {
        return;
    };
    let stream = &stream[..stream.len().min(MOST)];
    let mut input = Vec::new();
    if first & 1 == 1 {
        let role = Role::Operator;
        let (version, name) = (PROTOCOL_VERSION, "fuzzer");
        let hello = Request::Hello(Hello {
            version,
            role,
            name,
        });
        hello.encode(&mut input).expect("a short name");
    }
    input.extend_from_slice(stream);
    let asked = asked(&input);
    let mut rig = Rig::new(input, 1 + usize::from(first >> 1));
    let applied = rig.run();
    // A command accepted before the cut is still applied; no other command is.
    assert!(applied <= asked.commands, "{applied} of {}", asked.commands);
    let answered = rig.answered();
    let asked_for = |id: &u64| asked.requests.contains(id);
    assert!(answered.iter().all(asked_for), "an answer to nothing");
    assert!(answered.len() <= asked.requests.len(), "answered twice");
    if !asked.cut_off {
        assert_eq!(answered.len(), asked.requests.len(), "no answer");
    }
    assert_eq!(rig.exchange.check_invariants(), Ok(()));
}

/// Decodes the requests up to the first invalid or forbidden one.
fn asked(bytes: &[u8]) -> Asked {
    let mut asked = Asked::default();
    let mut decoder = RequestDecoder::new();
    let mut role = None;
    let mut rest = bytes;
    while !rest.is_empty() {
        let space = decoder.space();
        let count = rest.len().min(space.len());
        space[..count].copy_from_slice(&rest[..count]);
        decoder.filled(count);
        rest = &rest[count..];
        loop {
            let (request, allowed) = match decoder.next_request() {
                Ok(None) => break,
                Ok(Some(Request::Hello(hello))) if hello.version == PROTOCOL_VERSION => {
                    role = Some(hello.role);
                    continue;
                }
                Ok(Some(Request::Submit(it))) => {
                    let may = role.is_some_and(|role| role.may_submit(&it.command))
                        && (it.operator.0 == 0 || role == Some(Role::Operator));
                    asked.commands += usize::from(may);
                    (it.request, may)
                }
                Ok(Some(Request::Heartbeat(it))) => {
                    asked.commands += usize::from(role >= Some(Role::Trading));
                    (it.request, role >= Some(Role::Trading))
                }
                Ok(Some(Request::Replace(it))) => {
                    let may = role >= Some(Role::Trading);
                    if !may {
                        asked.cut_off = true;
                        return asked;
                    }
                    let (cancels, orders) = it.counts();
                    asked.commands += cancels + orders;
                    let ids = (0..).map(|index| it.request.wrapping_add(index));
                    asked.requests.extend(ids.take(cancels + orders));
                    continue;
                }
                Ok(Some(Request::Status { request })) => (request, true),
                Ok(Some(Request::Snapshot { request })) => (request, role == Some(Role::Operator)),
                Ok(Some(Request::Hello(_))) | Err(_) => {
                    asked.cut_off = true;
                    return asked;
                }
            };
            if !allowed {
                asked.cut_off = true;
                return asked;
            }
            asked.requests.push(request);
        }
    }
    asked
}

/// Ingress with one connection, and an exchange after its ring.
struct Rig {
    gateways: Gateways<Still, Pipe>,
    ring: Arc<CommandRing>,
    exchange: Exchange,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Rig {
    fn new(input: Vec<u8>, piece: usize) -> Self {
        let journal = JOURNAL.0.clone();
        let ring = Arc::new(CommandRing::new(RING));
        let durations = Arc::clone(&DURATIONS);
        let handler = RequestHandler {
            ring: Arc::clone(&ring),
            journal,
            gauges: Arc::<Gauges>::default(),
            mailbox: Arc::new(PublisherMailbox::new(false)),
            recorder: Recorder::new(Arc::clone(&durations)),
            durations,
            summaries: StageSummaryCache::default(),
            heartbeats: Heartbeats::resume(PATIENCE, &[], 1, 0),
            clocks: Still,
            own: VecDeque::new(),
            in_flight: 0,
            connections: 0,
            busy: 0,
            stopping: false,
        };
        let wake = ThreadParker::new(Waiting::Park).waker();
        let mut gateways = Gateways::new(handler, MatcherPlacement::Apart(wake), 1, PATIENCE);
        let sent = Arc::<Mutex<Vec<u8>>>::default();
        let pipe = Pipe {
            input: input.into(),
            piece,
            sent: Arc::clone(&sent),
            lingers: 4,
        };
        gateways.add_connection(0, pipe, 0);
        Self {
            gateways,
            ring,
            exchange: exchange(),
            sent,
        }
    }

    /// Runs rounds until none makes progress; returns the number of applied commands.
    fn run(&mut self) -> usize {
        let mut applied = 0;
        let mut quiet = 0;
        while quiet < 8 {
            let round = self.gateways.round(0);
            let before = applied;
            applied += self.match_all();
            // As the poll would report: bytes, or the end.
            self.gateways.mark_ready(0, true, true);
            match round {
                RoundResult::MoreWork => quiet = 0,
                RoundResult::Idle if applied > before => quiet = 0,
                RoundResult::Idle => quiet += 1,
                RoundResult::Ended(ended) => panic!("nobody stopped it: {ended:?}"),
            }
        }
        assert_eq!(self.ring.waiting(), 0);
        applied
    }

    /// Replaces the matcher: applies and answers all waiting commands.
    fn match_all(&mut self) -> usize {
        let mut applied = 0;
        while self.ring.has_reply_room()
            && let Some(queued) = self.ring.pop()
        {
            applied += 1;
            let verdict = apply(&mut self.exchange, &queued.command);
            self.ring.recycle(queued.evidence);
            self.ring.push_reply(PendingReply {
                origin: queued.origin,
                verdict,
                // Durable at once: this journal's durable sequence is 0.
                sequence: Sequence(0),
                last_sequence: Sequence(0),
                place: FramePosition::default(),
                staged: 0,
                timing: foretell_link::Timing::default(),
            });
        }
        applied
    }

    /// Ids of the answered requests.
    fn answered(&self) -> Vec<u64> {
        let sent = self.sent.lock();
        let mut decoder = AnswerDecoder::new();
        let mut answered = Vec::new();
        let mut rest = sent.as_slice();
        while !rest.is_empty() {
            let space = decoder.space();
            let count = rest.len().min(space.len());
            space[..count].copy_from_slice(&rest[..count]);
            decoder.filled(count);
            rest = &rest[count..];
            while let Some(answer) = decoder
                .next_answer()
                .expect("the engine keeps the protocol")
            {
                answered.extend(match answer {
                    Answer::Reply(it) => Some(it.request),
                    Answer::Busy(it) => Some(it.request),
                    Answer::Heartbeat(it) => Some(it.request),
                    Answer::Status(it) => Some(it.request),
                    Answer::Snapshot(it) => Some(it.request),
                    Answer::Welcome(_) | Answer::Goodbye(_) => None,
                });
            }
        }
        answered
    }
}

/// Applies a command and its `Continue` commands.
fn apply(exchange: &mut Exchange, command: &Command) -> Verdict {
    let mut events = Vec::new();
    let verdict = exchange.apply(command, BEGINS, &mut events);
    while exchange.has_pending_work() {
        events.clear();
        let more = exchange.apply(&Command::Continue, BEGINS, &mut events);
        assert!(matches!(more, Verdict::Applied(_)), "{more:?}");
    }
    verdict
}

/// An exchange with an active market, two accounts with money, and a key each.
fn exchange() -> Exchange {
    let mut exchange = Exchange::new(room(), 7);
    let mut must = |command: Command| {
        let verdict = apply(&mut exchange, &command);
        assert!(matches!(verdict, Verdict::Applied(_)), "{verdict:?}");
    };
    must(Command::RegisterMarket(RegisterMarket {
        index: None,
        has_details: false,
        condition: ConditionId([0xC0; 32]),
        tokens: [TokenId([0xA0; 32]), TokenId([0xB0; 32])],
        tick: Tick::Hundredth,
        tick_refines: false,
        minimum_size: Lots(1),
        fee: FeeSchedule::default(),
        event: None,
    }));
    must(Command::ActivateMarket {
        market: MarketNumber(0),
    });
    for number in 1..3 {
        let wallet = WalletAddress([number; 20]);
        must(Command::Deposit(Deposit {
            wallet,
            amount: Micros(1_000_000_000),
            reference: Reference([number; 32]),
        }));
        must(Command::RegisterKey(RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey([number; 16]),
            read_only: false,
        }));
    }
    exchange
}

/// Small initial capacity, which grows.
fn room() -> Capacity {
    Capacity {
        accounts: 8,
        keys: 8,
        markets: 8,
        events: 8,
        orders: 32,
        expiring_orders: 8,
        delayed_orders: 8,
        positions: 32,
        order_ids: 32,
        timestamp_seconds: 8,
        references: 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_inputs_of_frames_keep_the_promises() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fuzz/corpus/frames");
        let mut inputs = 0;
        for entry in std::fs::read_dir(corpus).expect("a corpus") {
            let path = entry.expect("an entry").path();
            handle(&std::fs::read(&path).expect("an input"));
            inputs += 1;
        }
        assert!(inputs > 0, "{corpus} is empty");
    }

    #[test]
    fn a_gateway_that_keeps_the_protocol_is_answered_request_by_request() {
        let mut bytes = vec![1];
        let owner = foretell_model::AccountNumber(0);
        for request in [
            Request::Status { request: 1 },
            Request::Submit(foretell_link::Submit {
                request: 2,
                operator: foretell_model::OperatorNumber::NONE,
                command: Command::SetHeartbeat(SetHeartbeat { owner, on: true }),
                evidence: &[],
            }),
        ] {
            request.encode(&mut bytes).unwrap();
        }
        // The engine's own command is not allowed on a socket: earlier requests are answered.
        assert!(asked(&bytes[1..]).cut_off);
        handle(&bytes);

        let mut input = Vec::new();
        let (version, name, role) = (PROTOCOL_VERSION, "", Role::Trading);
        let hello = Request::Hello(Hello {
            version,
            role,
            name,
        });
        hello.encode(&mut input).unwrap();
        for request in 1..=100 {
            let cancel = Command::CancelAll(CancelAll {
                owner,
                heartbeat: false,
            });
            let submit = Request::Submit(foretell_link::Submit {
                request,
                operator: foretell_model::OperatorNumber::NONE,
                command: cancel,
                evidence: b"evidence",
            });
            submit.encode(&mut input).unwrap();
        }
        let mut rig = Rig::new(input, 100);
        assert!(rig.run() > 0);
        let mut answered = rig.answered();
        answered.sort_unstable();
        assert_eq!(answered, (1..=100).collect::<Vec<u64>>());
    }
}
