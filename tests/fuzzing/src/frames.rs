//! The frames of the engine's socket, in both directions: what is read can be written, however the
//! stream is cut into reads.

use foretell_link::{
    Answer, AnswerDecoder, Busy, BusyReason, Durability, Goodbye, Heartbeat, HeartbeatAnswer,
    HeartbeatId, Hello, PROTOCOL_VERSION, Request, RequestDecoder, Role, SnapshotAnswer,
    SnapshotResult, Submit, Violation, Welcome,
};
use foretell_model::{AccountNumber, Command, OrderId, Sequence, TimeNs};

use crate::{Seed, world};

/// Messages of a stream, each written again, and what ended it.
#[derive(PartialEq, Eq, Debug)]
struct Stream {
    messages: Vec<Vec<u8>>,
    violation: Option<Violation>,
}

/// A decoder of one direction.
trait Decoder: Default {
    fn space(&mut self) -> &mut [u8];
    fn filled(&mut self, count: usize);
    /// Takes the next message and gives it, written again, to `second`, which must read the same.
    fn next_again(&mut self, second: &mut Self) -> Result<Option<Vec<u8>>, Violation>;
    /// The message that must come first.
    fn greeting() -> Vec<u8>;
}

/// An end of a connection, and a second decoder that is given what the first has read.
#[derive(Default)]
struct End<D> {
    first: D,
    second: D,
}

impl<D: Decoder> End<D> {
    /// An end, behind the greeting or before it.
    fn begun(greeted: bool) -> Self {
        let mut end = Self::default();
        if greeted {
            let greeting = end.read(&D::greeting(), usize::MAX);
            assert_eq!((greeting.messages.len(), greeting.violation), (1, None));
        }
        end
    }

    /// Takes bytes in pieces, and every message out as soon as it is whole.
    fn read(&mut self, bytes: &[u8], piece: usize) -> Stream {
        let mut read = Stream {
            messages: Vec::new(),
            violation: None,
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = put_some(&mut self.first, rest, piece);
            loop {
                match self.first.next_again(&mut self.second) {
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

    fn next_again(&mut self, second: &mut Self) -> Result<Option<Vec<u8>>, Violation> {
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

    fn next_again(&mut self, second: &mut Self) -> Result<Option<Vec<u8>>, Violation> {
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

/// Puts up to `piece` bytes into a decoder; gives the rest.
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
    // An odd first byte: behind a greeting, so that the fuzzer need not find one.
    let (greeted, piece) = (first & 1 == 1, 1 + usize::from(first >> 1));
    both_ways::<RequestDecoder>(stream, greeted, piece);
    both_ways::<AnswerDecoder>(stream, greeted, piece);
}

/// However the stream is cut, the messages are the same.
fn both_ways<D: Decoder>(stream: &[u8], greeted: bool, piece: usize) {
    let whole = End::<D>::begun(greeted).read(stream, usize::MAX);
    is_what_was_sent(&whole, stream);
    assert_eq!(End::<D>::begun(greeted).read(stream, piece), whole);
}

/// The messages take as many bytes as came, in their order; only what cannot be a message is left.
fn is_what_was_sent(read: &Stream, sent: &[u8]) {
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
            Command::CancelOrder {
                owner,
                order: OrderId([9; 32]),
            },
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
