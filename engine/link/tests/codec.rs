//! Every message survives encoding and decoding, split anywhere; all other bytes are rejected.

use foretell_link::layout::{HEADER_BYTES, MAX_ANSWER_BYTES, MAX_NAME_BYTES, MAX_REQUEST_BYTES};
use foretell_link::{
    Answer, AnswerDecoder, Busy, BusyReason, Goodbye, Heartbeat, HeartbeatAnswer, HeartbeatId,
    Hello, PROTOCOL_VERSION, Reply, Request, RequestDecoder, Role, SnapshotAnswer, SnapshotResult,
    SnapshotStatus, Stage, StageBuckets, StageSummary, Status, Submit, Timing, Violation, Welcome,
};
use foretell_model::command::{CancelAll, CancelMarketOrders, CancelOrder, Deposit, SetHeartbeat};
use foretell_model::limits::MAX_EVIDENCE_BYTES;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, Durability, FramePosition, KeyNumber, Lots,
    MarketNumber, Micros, OrderId, OrderResult, OrderStatus, OrderType, Outcome, PlaceOrder,
    Reference, Rejection, RejectionReason, Sequence, Side, SystemMode, TimeMs, TimeNs, TimeSeconds,
    Verdict, WalletAddress,
};
use proptest::prelude::*;

const HELLO: Request<'static> = Request::Hello(Hello {
    version: PROTOCOL_VERSION,
    role: Role::Trading,
    name: "gateway-1",
});

fn command() -> impl Strategy<Value = Command> {
    let place = (
        any::<[u8; 32]>(),
        any::<[u32; 3]>(),
        any::<[bool; 3]>(),
        0..4_usize,
        any::<[u64; 4]>(),
    )
        .prop_map(
            |(order, [account, key, market], [no, sell, post_only], kind, n)| {
                Command::PlaceOrder(PlaceOrder {
                    order: OrderId(order),
                    account: AccountNumber(account),
                    key: KeyNumber(key),
                    market: MarketNumber(market),
                    outcome: if no { Outcome::No } else { Outcome::Yes },
                    side: if sell { Side::Sell } else { Side::Buy },
                    order_type: OrderType::ALL[kind],
                    post_only,
                    maker_amount: n[0],
                    taker_amount: n[1],
                    expiration: TimeSeconds(n[2]),
                    timestamp: TimeMs(n[3]),
                })
            },
        );
    prop_oneof![
        place,
        (any::<u32>(), any::<[u8; 32]>()).prop_map(|(owner, order)| Command::CancelOrder(
            CancelOrder {
                owner: AccountNumber(owner),
                order: OrderId(order),
            }
        )),
        (any::<[u8; 20]>(), any::<u64>(), any::<[u8; 32]>()).prop_map(|(wallet, amount, text)| {
            Command::Deposit(Deposit {
                wallet: WalletAddress(wallet),
                amount: Micros(amount),
                reference: Reference(text),
            })
        }),
        any::<u32>().prop_map(|market| Command::CancelMarketOrders(CancelMarketOrders {
            owner: AccountNumber(7),
            market: MarketNumber(market),
            outcome: market.is_multiple_of(2).then_some(Outcome::No),
        })),
        Just(Command::SetMode {
            mode: SystemMode::CancelOnly
        }),
    ]
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        (any::<[u64; 3]>(), any::<u32>()).prop_map(|([lots, value, fee], fills)| {
            Verdict::Applied(CommandOutcome::Order(OrderResult {
                status: OrderStatus::Matched,
                lots: Lots(lots),
                value: Micros(value),
                fee: Micros(fee),
                fills,
            }))
        }),
        any::<[u64; 2]>().prop_map(|[first, last]| Verdict::Repeated {
            first: Sequence(first),
            last: Sequence(last),
            outcome: CommandOutcome::Done,
        }),
        (0..RejectionReason::ALL.len(), any::<[u64; 2]>()).prop_map(|(reason, details)| {
            Verdict::Rejected(Rejection {
                reason: RejectionReason::ALL[reason],
                details,
            })
        }),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        (any::<[u64; 4]>(), any::<[u32; 3]>(), verdict()).prop_map(|(n, place, verdict)| {
            Answer::Reply(Reply {
                request: n[0],
                verdict,
                sequence: Sequence(n[1]),
                last_sequence: Sequence(n[2]),
                epoch: n[3],
                place: FramePosition {
                    segment: place[0],
                    offset: place[1],
                    length: place[2],
                },
                timing: Timing {
                    ring_wait: place[0],
                    apply: place[1],
                    encode: place[2],
                    sync_wait: u32::MAX,
                },
            })
        }),
        any::<u64>().prop_map(|request| Answer::Busy(Busy {
            request,
            reason: BusyReason::DiskLow
        })),
        (any::<u64>(), any::<bool>(), any::<[u8; 16]>()).prop_map(|(request, accepted, id)| {
            Answer::Heartbeat(HeartbeatAnswer {
                request,
                accepted,
                id: HeartbeatId(id),
            })
        }),
        any::<u64>().prop_map(|request| Answer::Status(Box::new(status(request)))),
        (any::<u64>(), any::<Option<u64>>()).prop_map(|(request, sequence)| {
            let result = match sequence {
                Some(sequence) => SnapshotResult::Published {
                    sequence: Sequence(sequence),
                },
                None if request.is_multiple_of(2) => SnapshotResult::Failed,
                None => SnapshotResult::Off,
            };
            Answer::Snapshot(SnapshotAnswer { request, result })
        }),
        Just(Answer::Goodbye(Goodbye::Stopping)),
    ]
}

fn status(n: u64) -> Status {
    let mut stages = [StageSummary::default(); Stage::COUNT];
    stages[Stage::SyncWait as usize] = StageSummary {
        count: n,
        p50: 1,
        p99: 2,
        p999: 3,
        max: 4,
    };
    Status {
        request: n,
        sequence: Sequence(n),
        durable: Sequence(n / 2),
        durability: Durability::Process,
        epoch: 4,
        time: TimeNs(n),
        mode: SystemMode::PostOnly,
        disk_low: n.is_multiple_of(2),
        live_orders: n,
        markets: 5,
        accounts: 6,
        connections: 7,
        ring_used: 8,
        ring_capacity: 9,
        busy: 10,
        clock_alarms: 11,
        clock: foretell_link::ClockState::Ahead,
        snapshots: SnapshotStatus {
            enabled: n.is_multiple_of(3),
            folded: Sequence(12),
            newest: Sequence(13),
            newest_time: TimeNs(14),
            unwritten: n.is_multiple_of(5),
            view_stopped: Sequence(15),
        },
        stages,
        seconds: stages,
        buckets: [StageBuckets {
            sum: n,
            counts: [n; 25],
        }; Stage::COUNT],
    }
}

const fn welcome() -> Answer {
    Answer::Welcome(Welcome {
        epoch: 3,
        genesis: [9; 32],
        durable: Sequence(12),
        durability: Durability::Disk,
        time: TimeNs(1),
    })
}

fn bytes_of(requests: &[Request<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for request in requests {
        request.encode(&mut bytes).expect("within bounds");
    }
    bytes
}

/// Feeds `bytes` in pieces of the given lengths (repeated); returns the decoded messages, printed.
fn requests_in_pieces(bytes: &[u8], pieces: &[usize]) -> Result<Vec<String>, Violation> {
    let mut decoder = RequestDecoder::new();
    let mut seen = Vec::new();
    for piece in cut(bytes, pieces) {
        let mut piece = piece;
        while !piece.is_empty() {
            let space = decoder.space();
            let count = piece.len().min(space.len());
            space[..count].copy_from_slice(&piece[..count]);
            decoder.filled(count);
            piece = &piece[count..];
            while let Some(request) = decoder.next_request()? {
                seen.push(format!("{request:?}"));
            }
        }
    }
    Ok(seen)
}

fn answers_in_pieces(bytes: &[u8], pieces: &[usize]) -> Result<Vec<Answer>, Violation> {
    let mut decoder = AnswerDecoder::new();
    let mut seen = Vec::new();
    for piece in cut(bytes, pieces) {
        decoder.space()[..piece.len()].copy_from_slice(piece);
        decoder.filled(piece.len());
        while let Some(answer) = decoder.next_answer()? {
            seen.push(answer);
        }
    }
    Ok(seen)
}

fn cut<'a>(mut bytes: &'a [u8], pieces: &[usize]) -> Vec<&'a [u8]> {
    let mut out = Vec::new();
    for length in pieces.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at((*length).clamp(1, bytes.len()));
        out.push(piece);
        bytes = rest;
    }
    out
}

proptest! {
    #[test]
    fn requests_come_back_whatever_the_pieces(
        commands in prop::collection::vec((any::<u64>(), command(), 0..2_000_usize), 1..20),
        pieces in prop::collection::vec(1..3_000_usize, 1..8),
    ) {
        let evidence = vec![0xA5; 2_000];
        let mut requests = vec![HELLO];
        for (request, command, length) in &commands {
            requests.push(Request::Submit(Submit {
                request: *request,
                operator: foretell_model::OperatorNumber::NONE,
                command: *command,
                evidence: &evidence[..*length],
            }));
            requests.push(Request::Heartbeat(Heartbeat {
                request: *request,
                owner: AccountNumber(3),
                id: HeartbeatId([1; 16]),
            }));
            requests.push(Request::Status { request: *request });
            requests.push(Request::Snapshot { request: *request });
        }
        let expected: Vec<String> = requests.iter().map(|r| format!("{r:?}")).collect();
        prop_assert_eq!(requests_in_pieces(&bytes_of(&requests), &pieces), Ok(expected));
    }

    #[test]
    fn answers_come_back_whatever_the_pieces(
        answers in prop::collection::vec(answer(), 1..30),
        pieces in prop::collection::vec(1..2_000_usize, 1..8),
    ) {
        let mut expected = vec![welcome()];
        expected.extend(answers);
        let mut bytes = Vec::new();
        for answer in &expected {
            answer.encode(&mut bytes);
        }
        prop_assert_eq!(answers_in_pieces(&bytes, &pieces), Ok(expected));
    }

    /// Noise never causes a panic, and the buffer stays bounded whatever the headers claim.
    #[test]
    fn noise_is_refused_or_waited_for(noise in prop::collection::vec(any::<u8>(), 0..4_000), pieces in prop::collection::vec(1..500_usize, 1..4)) {
        let _ = requests_in_pieces(&noise, &pieces);
        let _ = answers_in_pieces(&noise, &pieces);
        let mut greeted = bytes_of(&[HELLO]);
        greeted.extend_from_slice(&noise);
        let _ = requests_in_pieces(&greeted, &pieces);
    }

    /// A damaged command is rejected or decodes to another valid command.
    #[test]
    fn flipped_bytes_never_pass_unchecked(command in command(), at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let mut bytes = bytes_of(&[HELLO, Request::Submit(Submit { request: 1, operator: foretell_model::OperatorNumber::NONE, command, evidence: b"proof" })]);
        let start = bytes_of(&[HELLO]).len() + HEADER_BYTES;
        let at = start + at.index(bytes.len() - start);
        bytes[at] ^= flip;
        match requests_in_pieces(&bytes, &[4_096]) {
            Ok(seen) => prop_assert_eq!(seen.len(), 2),
            Err(violation) => prop_assert_eq!(violation, Violation::Malformed(2)),
        }
    }
}

#[test]
fn every_single_cut_gives_the_same_messages() {
    let requests = [
        HELLO,
        Request::Submit(Submit {
            request: 1,
            operator: foretell_model::OperatorNumber::NONE,
            command: Command::AdvanceTime,
            evidence: b"evidence",
        }),
        Request::Status { request: 2 },
    ];
    let bytes = bytes_of(&requests);
    let whole = requests_in_pieces(&bytes, &[bytes.len()]).unwrap();
    assert_eq!(whole.len(), 3);
    for at in 1..bytes.len() {
        assert_eq!(
            requests_in_pieces(&bytes, &[at, bytes.len() - at]).as_ref(),
            Ok(&whole),
            "cut at {at}"
        );
    }
}

#[test]
fn the_largest_request_passes_and_a_larger_cannot_be_sent() {
    let evidence = vec![1; MAX_EVIDENCE_BYTES + 1];
    let submit = |length: usize| {
        Request::Submit(Submit {
            request: u64::MAX,
            operator: foretell_model::OperatorNumber::NONE,
            command: Command::Continue,
            evidence: &evidence[..length],
        })
    };
    let bytes = bytes_of(&[HELLO, submit(MAX_EVIDENCE_BYTES)]);
    assert_eq!(requests_in_pieces(&bytes, &[777]).unwrap().len(), 2);

    let mut out = vec![9];
    let refused = submit(MAX_EVIDENCE_BYTES + 1).encode(&mut out).unwrap_err();
    assert_eq!(
        (refused.length, out.as_slice()),
        (MAX_EVIDENCE_BYTES + 1, &[9][..])
    );
    let name = "n".repeat(MAX_NAME_BYTES + 1);
    let hello = Request::Hello(Hello {
        version: 1,
        role: Role::Reader,
        name: &name,
    });
    assert!(hello.encode(&mut out).is_err());
}

fn head(length: u32, kind: u8) -> Vec<u8> {
    let mut head = length.to_le_bytes().to_vec();
    head.extend_from_slice(&[kind, 0, 0, 0]);
    head
}

#[test]
fn what_breaks_the_order_or_a_bound_is_named() {
    let hello = bytes_of(&[HELLO]);
    let after_hello = |bytes: &[u8]| [&hello[..], bytes].concat();
    let too_long = u32::try_from(MAX_REQUEST_BYTES + 1).unwrap();
    let cases = [
        (
            "submit first",
            bytes_of(&[Request::Status { request: 1 }]),
            Violation::NotGreeted(4),
        ),
        (
            "two greetings",
            bytes_of(&[HELLO, HELLO]),
            Violation::SecondGreeting,
        ),
        (
            "unknown kind",
            after_hello(&head(0, 77)),
            Violation::UnknownKind(77),
        ),
        (
            "an answer's kind",
            after_hello(&head(0, 129)),
            Violation::UnknownKind(129),
        ),
        (
            "absurd length",
            after_hello(&head(u32::MAX, 2)),
            Violation::TooLong {
                length: u32::MAX,
                limit: MAX_REQUEST_BYTES,
            },
        ),
        (
            "one byte too long",
            after_hello(&head(too_long, 2)),
            Violation::TooLong {
                length: too_long,
                limit: MAX_REQUEST_BYTES,
            },
        ),
        (
            "reserved bytes",
            vec![0, 0, 0, 0, 1, 0, 0, 1],
            Violation::Reserved,
        ),
        (
            "empty submit",
            after_hello(&head(0, 2)),
            Violation::Malformed(2),
        ),
        (
            "short status",
            after_hello(&[head(4, 4), vec![0; 4]].concat()),
            Violation::Malformed(4),
        ),
        (
            "unknown role",
            [head(5, 1), vec![1, 0, 0, 0, 9]].concat(),
            Violation::Malformed(1),
        ),
        (
            "name not text",
            [head(6, 1), vec![1, 0, 0, 0, 1, 0xFF]].concat(),
            Violation::Malformed(1),
        ),
        (
            "long name",
            [head(70, 1), vec![1; 70]].concat(),
            Violation::Malformed(1),
        ),
    ];
    for (name, bytes, violation) in cases {
        assert_eq!(
            requests_in_pieces(&bytes, &[bytes.len()]),
            Err(violation),
            "{name}"
        );
    }
}

#[test]
fn a_gateway_checks_the_engine_too() {
    let mut reply_first = Vec::new();
    Answer::Busy(Busy {
        request: 1,
        reason: BusyReason::RingFull,
    })
    .encode(&mut reply_first);
    assert_eq!(
        answers_in_pieces(&reply_first, &[99]),
        Err(Violation::NotGreeted(130))
    );

    let mut goodbye = Vec::new();
    Answer::Goodbye(Goodbye::Version).encode(&mut goodbye);
    assert_eq!(
        answers_in_pieces(&goodbye, &[3]),
        Ok(vec![Answer::Goodbye(Goodbye::Version)])
    );

    let long = u32::try_from(MAX_ANSWER_BYTES + 1).unwrap();
    assert!(matches!(
        answers_in_pieces(&head(long, 129), &[8]),
        Err(Violation::TooLong { .. })
    ));
}

#[test]
fn the_engines_own_commands_come_from_no_socket() {
    let cancel_all = |heartbeat| {
        Command::CancelAll(CancelAll {
            owner: AccountNumber(1),
            heartbeat,
        })
    };
    let mode = Command::SetMode {
        mode: SystemMode::Paused,
    };
    // command; may a reader, a trading gateway, an operator submit it
    let table = [
        (cancel_all(false), [false, true, true]),
        (cancel_all(true), [false, false, false]),
        (mode, [false, false, true]),
        (Command::AdvanceTime, [false, false, false]),
        (Command::Continue, [false, false, false]),
        (
            Command::AcceptDivergence {
                sequence: Sequence(1),
            },
            [false, false, false],
        ),
        (
            Command::SetHeartbeat(SetHeartbeat {
                owner: AccountNumber(1),
                on: true,
            }),
            [false, false, false],
        ),
    ];
    for (command, expected) in table {
        let may =
            [Role::Reader, Role::Trading, Role::Operator].map(|role| role.may_submit(&command));
        assert_eq!(may, expected, "{command:?}");
    }
}
