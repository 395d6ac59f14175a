//! Messages of the engine's socket, in both directions: a message that is read can be written
//! again, and the messages do not depend on the sizes of reads.

use foretell_link::{
    Answer, AnswerDecoder, Busy, BusyReason, Goodbye, Heartbeat, HeartbeatAnswer, HeartbeatId,
    Hello, PROTOCOL_VERSION, Request, RequestDecoder, Role, SnapshotAnswer, SnapshotResult, Submit,
    Violation, Welcome,
};
use foretell_model::command::CancelOrder;
use foretell_model::{AccountNumber, Command, Durability, OrderId, Sequence, TimeNs};

use crate::{Seed, world};

/// Messages of a stream, each re-encoded, and the error that ended it.
#[derive(PartialEq, Eq, Debug)]
struct Stream {
    messages: Vec<Vec<u8>>,
    violation: Option<Violation>,
}

/// A decoder of one direction.
trait Decoder: Default {
    fn space(&mut self) -> &mut [u8];
    fn filled(&mut self, count: usize);
    /// Takes the next message and passes its re-encoding to `second`, which must read the same.
    fn next_reencoded(&mut self, second: &mut Self) -> Result<Option<Vec<u8>>, Violation>;
    /// The required first message.
    fn greeting() -> Vec<u8>;
}

/// One end of a connection, and a second decoder for the re-encoded messages.
#[derive(Default)]
struct ConnectionEnd<D> {
    first: D,
    second: D,
}

impl<D: Decoder> ConnectionEnd<D> {
    /// One end, after the greeting or before it.
    fn new(greeted: bool) -> Self {
        let mut end = Self::default();
        if greeted {
            let greeting = end.read(&D::greeting(), usize::MAX);
            assert_eq!((greeting.messages.len(), greeting.violation), (1, None));
        }
        end
    }

    /// Takes bytes in pieces, and every message as soon as it is complete.
    fn read(&mut self, bytes: &[u8], piece: usize) -> Stream {
        let mut read = Stream {
            messages: Vec::new(),
            violation: None,
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = put_some(&mut self.first, rest, piece);
            loop {
                match self.first.next_reencoded(&mut self.second) {
                    Ok(Some(message)) => read.messages.push(message),
                    Ok(None) => break,
                    Err(violation) => {
                        assert!(!violation.to_string().is_empty());
                        read.violation = Some(violation);
                        return read;
                    }
                }
            }
        }
        read
    }
}

impl Decoder for RequestDecoder {
    fn space(&mut self) -> &mut [u8] {
        Self::space(self)
    }

    fn filled(&mut self, count: usize) {
        Self::filled(self, count);
    }

    fn next_reencoded(&mut self, second: &mut Self) -> Result<Option<Vec<u8>>, Violation> {
        let Some(request) = self.next_request()? else {
            return Ok(None);
        };
        let bytes = encoded(&[request]);
        put(second, &bytes);
        assert_eq!(second.next_request(), Ok(Some(request)));
        Ok(Some(bytes))
    }

    fn greeting() -> Vec<u8> {
        hello(Role::Operator)
    }
}

impl Decoder for AnswerDecoder {
    fn space(&mut self) -> &mut [u8] {
        Self::space(self)
    }

    fn filled(&mut self, count: usize) {
        Self::filled(self, count);
    }

    fn next_reencoded(&mut self, second: &mut Self) -> Result<Option<Vec<u8>>, Violation> {
        let Some(answer) = self.next_answer()? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        answer.encode(&mut bytes);
        put(second, &bytes);
        assert_eq!(second.next_answer(), Ok(Some(answer)));
        Ok(Some(bytes))
    }

    fn greeting() -> Vec<u8> {
        let mut bytes = Vec::new();
        Answer::Welcome(Welcome {
            epoch: 1,
            genesis: [7; 32],
            durable: Sequence(5),
            durability: Durability::Disk,
            time: TimeNs(9),
        })
        .encode(&mut bytes);
        bytes
    }
}

/// Puts up to `piece` bytes into a decoder; returns the rest.
fn put_some<'b>(decoder: &mut impl Decoder, bytes: &'b [u8], piece: usize) -> &'b [u8] {
    let space = decoder.space();
    let (now, rest) = bytes.split_at(bytes.len().min(piece).min(space.len()));
    space[..now.len()].copy_from_slice(now);
    decoder.filled(now.len());
    rest
}

/// Puts a whole message into a decoder.
fn put(decoder: &mut impl Decoder, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        rest = put_some(decoder, rest, usize::MAX);
    }
}

pub(crate) fn run(bytes: &[u8]) {
    let Some((&first, stream)) = bytes.split_first() else {
        return;
    };
    // An odd first byte: after a greeting, so that the fuzzer need not find one.
    let (greeted, piece) = (first & 1 == 1, 1 + usize::from(first >> 1));
    check_read_sizes::<RequestDecoder>(stream, greeted, piece);
    check_read_sizes::<AnswerDecoder>(stream, greeted, piece);
}

/// The messages do not depend on the sizes of reads.
fn check_read_sizes<D: Decoder>(stream: &[u8], greeted: bool, piece: usize) {
    let whole = ConnectionEnd::<D>::new(greeted).read(stream, usize::MAX);
    check_same_bytes(&whole, stream);
    assert_eq!(ConnectionEnd::<D>::new(greeted).read(stream, piece), whole);
}

/// The messages are the bytes that were sent, in order; only bytes that cannot be a message remain.
fn check_same_bytes(read: &Stream, sent: &[u8]) {
    let bytes: usize = read.messages.iter().map(Vec::len).sum();
    assert!(bytes <= sent.len(), "more was read than was sent");
    let mut at = 0;
    for message in &read.messages {
        assert_eq!(message[..8], sent[at..at + 8], "another head at byte {at}");
        at += message.len();
    }
}

fn hello(role: Role) -> Vec<u8> {
    encoded(&[Request::Hello(Hello {
        version: PROTOCOL_VERSION,
        role,
        name: "gateway",
    })])
}

fn encoded(requests: &[Request<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for request in requests {
        request.encode(&mut bytes).expect("a small message");
    }
    bytes
}

pub(crate) fn seeds() -> Vec<Seed> {
    let submit = |request, command, evidence| {
        Request::Submit(Submit {
            request,
            operator: foretell_model::OperatorNumber::NONE,
            command,
            evidence,
        })
    };
    let site = world::site();
    let commands = site.frames.iter();
    let submits: Vec<Request<'_>> = (1..)
        .zip(commands)
        .map(|(request, frame)| submit(request, frame.command, &frame.evidence))
        .collect();
    let owner = AccountNumber(0);
    let beat = |id| {
        Request::Heartbeat(Heartbeat {
            request: 3,
            owner,
            id,
        })
    };
    let others = [
        Request::Status { request: 1 },
        Request::Snapshot { request: 2 },
        beat(HeartbeatId::NONE),
        beat(HeartbeatId([7; 16])),
        submit(
            4,
            Command::CancelOrder(CancelOrder {
                owner,
                order: OrderId([9; 32]),
            }),
            &[],
        ),
        submit(5, Command::AdvanceTime, &[]),
    ];
    let mut answers = Vec::new();
    for answer in [
        Answer::Busy(Busy {
            request: 1,
            reason: BusyReason::DiskLow,
        }),
        Answer::Heartbeat(HeartbeatAnswer {
            request: 2,
            accepted: true,
            id: HeartbeatId([1; 16]),
        }),
        Answer::Snapshot(SnapshotAnswer {
            request: 3,
            result: SnapshotResult::Failed,
        }),
        Answer::Goodbye(Goodbye::Stopping),
    ] {
        answer.encode(&mut answers);
    }
    let behind = |mut first: Vec<u8>, rest: &[u8]| {
        first.extend(rest);
        first
    };
    vec![
        ("commands", behind(vec![1], &encoded(&submits))),
        ("others", behind(vec![0x21], &encoded(&others))),
        ("answers", behind(vec![1], &answers)),
        (
            "greeted",
            behind(behind(vec![0x10], &hello(Role::Trading)), &encoded(&others)),
        ),
        (
            "reader",
            behind(behind(vec![0], &hello(Role::Reader)), &encoded(&others)),
        ),
        ("too-long", vec![1, 0xFF, 0xFF, 0xFF, 0x7F, 2, 0, 0, 0]),
    ]
}
