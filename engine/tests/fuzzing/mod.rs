//! What the engine makes of a gateway that sends arbitrary bytes: the real ingress and the real
//! exchange, a round at a time, without threads and without a disk under them.
//!
//! The bytes are those of the fuzz target `frames`: the first says how the rest is cut into reads
//! and whether the gateway has greeted. They are given to the decoder a second time, to know what
//! was asked.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::{Arc, LazyLock};

use foretell_journal::{Appender, JournalState, Options, Syncer, recover};
use foretell_link::{
    Answer, AnswerDecoder, Hello, PROTOCOL_VERSION, Request, RequestDecoder, Role, Stage,
};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::RegisterMarket;
use foretell_model::{
    ApiKey, Command, ConditionId, FeeSchedule, FramePlace, Lots, MarketNumber, Micros, Reference,
    Sequence, Tick, TimeNs, TokenId, Verdict, WalletAddress,
};
use foretell_stages::{Durations, Recorder};
use parking_lot::Mutex;

use crate::clock::Clocks;
use crate::gateways::{Gateways, Matching, Round};
use crate::hand_off::{Done, HandOff};
use crate::heartbeat::Heartbeats;
use crate::published::Published;
use crate::requests::Desk;
use crate::status::Gauges;
use crate::summaries::Summaries;
use crate::wait::{Sleeper, Waiting};

/// Bytes of one input that are looked at.
const MOST: usize = 64 << 10;
/// Commands that wait together.
const RING: usize = 64;
/// When the exchange of the test begins.
const BEGINS: TimeNs = TimeNs(1_700_000_000_000_000_000);
/// A peer may owe something for so long.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// A clock that stands still.
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

/// The engine's end of a connection in memory, which ends when all bytes were read.
#[derive(Debug)]
struct Pipe {
    input: VecDeque<u8>,
    piece: usize,
    sent: Arc<Mutex<Vec<u8>>>,
    /// After its input it says "would block" so often before it says that it is closed.
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

/// A journal that is opened once and never written, so that its state stays as it is: everything of
/// it is durable.
static JOURNAL: LazyLock<(JournalState, Mutex<(Appender, Syncer)>)> = LazyLock::new(|| {
    let name = format!("foretell-fuzz-engine-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let options = Options {
        segment_bytes: Options::SMALLEST_SEGMENT,
        ..Options::default()
    };
    let recovered = recover(&directory, options, Sequence(0), &mut |_| Ok(()));
    let opened = recovered.expect("a new journal").open();
    let (appender, syncer, state, _helper) = opened.expect("a new journal");
    // What is mapped stays, whatever becomes of the names.
    std::fs::remove_dir_all(&directory).expect("our own directory");
    (state, Mutex::new((appender, syncer)))
});

/// Where no time is measured.
static DURATIONS: LazyLock<Arc<Durations<Stage>>> = LazyLock::new(Arc::default);

/// What was asked, as the decoder alone sees it.
#[derive(Default)]
struct Asked {
    /// Requests that want an answer, by their ids.
    requests: Vec<u64>,
    /// Commands among them.
    commands: usize,
    /// What follows was refused: by the decoder, or for the role.
    cut_off: bool,
}

/// Gives one connection's bytes to the engine and holds what it does against what was asked.
///
/// # Panics
/// When a promise is broken: that is what the fuzzer looks for.
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
    // A command taken before the cut is still applied; none is that was not asked for.
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

/// Reads the requests as far as they are well-formed and allowed.
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
                    let may = role.is_some_and(|role| role.may_submit(&it.command));
                    asked.commands += usize::from(may);
                    (it.request, may)
                }
                Ok(Some(Request::Heartbeat(it))) => {
                    asked.commands += usize::from(role >= Some(Role::Trading));
                    (it.request, role >= Some(Role::Trading))
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

/// Ingress with one connection, and an exchange behind its ring.
struct Rig {
    gateways: Gateways<Still, Pipe>,
    hand_off: Arc<HandOff>,
    exchange: Exchange,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Rig {
    fn new(input: Vec<u8>, piece: usize) -> Self {
        let journal = JOURNAL.0.clone();
        let hand_off = Arc::new(HandOff::new(RING));
        let durations = Arc::clone(&DURATIONS);
        let desk = Desk {
            hand_off: Arc::clone(&hand_off),
            journal,
            gauges: Arc::<Gauges>::default(),
            published: Arc::new(Published::new(false)),
            recorder: Recorder::new(Arc::clone(&durations)),
            durations,
            summaries: Summaries::default(),
            heartbeats: Heartbeats::resume(PATIENCE, &[], 1, 0),
            clocks: Still,
            own: VecDeque::new(),
            in_flight: 0,
            connections: 0,
            busy: 0,
            stopping: false,
        };
        let wake = Sleeper::new(Waiting::Park).wake();
        let mut gateways = Gateways::new(desk, Matching::Apart(wake), 1, PATIENCE);
        let sent = Arc::<Mutex<Vec<u8>>>::default();
        let pipe = Pipe {
            input: input.into(),
            piece,
            sent: Arc::clone(&sent),
            lingers: 4,
        };
        gateways.seat(0, pipe, 0);
        Self {
            gateways,
            hand_off,
            exchange: exchange(),
            sent,
        }
    }

    /// Rounds until nothing is left to do; how many commands reached the exchange.
    fn run(&mut self) -> usize {
        let mut applied = 0;
        let mut quiet = 0;
        while quiet < 8 {
            let round = self.gateways.round(0);
            let before = applied;
            applied += self.match_all();
            // The poll would say so: there are bytes, or the end.
            self.gateways.note(0, true, true);
            match round {
                Round::MayGoOn => quiet = 0,
                Round::Waits if applied > before => quiet = 0,
                Round::Waits => quiet += 1,
                Round::Ended(ended) => panic!("nobody stopped it: {ended:?}"),
            }
        }
        assert_eq!(self.hand_off.waiting(), 0);
        applied
    }

    /// Does the matcher's part: everything that waits is applied and answered.
    fn match_all(&mut self) -> usize {
        let mut applied = 0;
        while self.hand_off.has_reply_room()
            && let Some(work) = self.hand_off.pop()
        {
            applied += 1;
            let verdict = apply(&mut self.exchange, &work.command);
            self.hand_off.give_back(work.evidence);
            self.hand_off.push_reply(Done {
                origin: work.origin,
                verdict,
                // Durable, for this journal's state names nothing above it.
                sequence: Sequence(0),
                last_sequence: Sequence(0),
                place: FramePlace::default(),
                staged: 0,
                timing: foretell_link::Timing::default(),
            });
        }
        applied
    }

    /// The requests that were answered, by their ids.
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

/// Applies a command and what it leaves to be continued.
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
        must(Command::Deposit {
            wallet,
            amount: Micros(1_000_000_000),
            reference: Reference([number; 32]),
        });
        must(Command::RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey([number; 16]),
            read_only: false,
        });
    }
    exchange
}

/// Room for little: it grows by itself.
fn room() -> Capacity {
    Capacity {
        accounts: 8,
        keys: 8,
        markets: 8,
        events: 8,
        orders: 32,
        expiring_orders: 8,
        positions: 32,
        order_ids: 32,
        timestamp_seconds: 8,
        references: 16,
        requests: 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_inputs_of_frames_keep_the_promises() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/frames");
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
                command: Command::SetHeartbeat { owner, on: true },
                evidence: &[],
            }),
        ] {
            request.encode(&mut bytes).unwrap();
        }
        // The engine's own command may come from no socket: what was asked before is answered.
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
            let cancel = Command::CancelAll {
                owner,
                heartbeat: false,
                request: foretell_model::Digest16::ZERO,
            };
            let submit = Request::Submit(foretell_link::Submit {
                request,
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
