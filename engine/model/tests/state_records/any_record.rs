//! Arbitrary records, including ones that no state could hold.

use foretell_model::quantity::PRICE_ONE;
use foretell_model::state::{self, OrderIdState, PendingWork, StateRecord};
use foretell_model::{
    AccountNumber, ApiKey, Branch, CloseReason, CommandKind, ConditionId, ContentDigest,
    DomainNumber, EventId, EventNumber, FeeSchedule, HoldSet, KeyNumber, Lots, MarketNumber,
    MarketState, Micros, OrderId, OrderNumber, OrderType, Outcome, Payout, Price, QuestionIndex,
    QuestionSet, Reference, RejectionReason, SandboxClock, Sequence, Settings, Side, SlugDigest,
    SystemMode, Tick, TimeMs, TimeNs, TimeSeconds, TokenId, WalletAddress, WalletKind,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::samples::samples;

const TICKS: [Tick; 4] = [
    Tick::Tenth,
    Tick::Hundredth,
    Tick::Thousandth,
    Tick::TenThousandth,
];

/// Numbers for record fields: small, arbitrary, and the ends of the range.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..4, any::<u64>(), select(vec![0, u64::MAX])]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![0_u32..4, any::<u32>(), select(vec![0, u32::MAX])]
}

/// The next number must be representable.
fn sequence(number: u64) -> Sequence {
    Sequence(number.min(u64::MAX - 1))
}

fn order_number(number: u64) -> OrderNumber {
    OrderNumber(number.min(u64::MAX - 1))
}

/// The value at any price must be representable.
fn lots_of(number: u64) -> Lots {
    Lots(number.min(u64::MAX / u64::from(PRICE_ONE)))
}

fn price_of(number: u16) -> Price {
    Price(number.min(PRICE_ONE))
}

fn lots() -> impl Strategy<Value = [Lots; 2]> {
    [number(), number()].prop_map(|pair| pair.map(lots_of))
}

fn outcome() -> impl Strategy<Value = Outcome> {
    select(Outcome::ALL)
}

fn pending() -> impl Strategy<Value = Option<PendingWork>> {
    let reason = select(CloseReason::ALL);
    let market = prop::option::of(small().prop_map(MarketNumber));
    let outcome = prop::option::of(outcome());
    prop_oneof![
        Just(None),
        (small(), market, outcome, reason, number()).prop_map(
            |(owner, market, outcome, reason, first)| Some(PendingWork::CancelOwner {
                owner: AccountNumber(owner),
                market,
                outcome,
                reason,
                first: sequence(first),
            })
        ),
        small().prop_map(|market| Some(PendingWork::CloseMarket {
            market: MarketNumber(market)
        })),
        small().prop_map(|account| Some(PendingWork::ClosedOnly {
            account: AccountNumber(account)
        })),
        small().prop_map(|market| Some(PendingWork::ClearMarket {
            market: MarketNumber(market)
        })),
        Just(Some(PendingWork::FrozenQuotes)),
        small().prop_map(|key| Some(PendingWork::KeyQuotes {
            key: KeyNumber(key)
        })),
        small().prop_map(|event| Some(PendingWork::CloseQuestions {
            event: EventNumber(event)
        })),
    ]
}

fn system() -> impl Strategy<Value = StateRecord> {
    let settings = (
        [number(), number(), number(), number()],
        [small(), small(), small()],
    )
        .prop_map(
            |([past, future, minimum, safety], [live, ids, hours])| Settings {
                timestamp_past_ms: past,
                timestamp_future_ms: future,
                marketable_minimum: Micros(minimum),
                gtd_safety_seconds: safety,
                live_orders_per_account: live,
                remembered_order_ids: ids,
                new_operator_hours: hours,
            },
        );
    let numbers = [(); 7].map(|()| number());
    let sandbox = (any::<[bool; 3]>(), number(), number());
    (
        small(),
        numbers,
        select(SystemMode::ALL),
        settings,
        pending(),
        (any::<[u8; 32]>(), any::<bool>()),
        sandbox,
    )
        .prop_map(
            |(rules, numbers, mode, settings, pending, restored, (marks, wall, engine))| {
                let [sequence, time, floor, collateral, fees, simulated, reopened] = numbers;
                StateRecord::System(state::System {
                    rules,
                    sequence: self::sequence(sequence),
                    time: TimeNs(time),
                    mode,
                    settings,
                    timestamp_floor: TimeMs(floor),
                    collateral: Micros(collateral),
                    fees: Micros(fees),
                    pending,
                    sandbox: marks[0],
                    pays_on_redeem: marks[1],
                    simulated_until: TimeNs(simulated),
                    clock: SandboxClock {
                        wall: TimeNs(wall),
                        engine: TimeNs(engine),
                        frozen: marks[2],
                    },
                    branch: Branch(restored.0),
                    withdrawals_shut: restored.1,
                    reopened: TimeNs(reopened),
                })
            },
        )
}

fn account() -> impl Strategy<Value = StateRecord> {
    let numbers = ([small(), small(), small()], [number(), number(), number()]);
    let marks = (any::<bool>(), any::<bool>(), select(WalletKind::ALL));
    (any::<[u8; 20]>(), numbers, marks).prop_map(
        |(wallet, ([account, owner, live_orders], [free, reserved, valid_until]), marks)| {
            let (closed_only, heartbeat, kind) = marks;
            StateRecord::Account(state::Account {
                account: AccountNumber(account),
                wallet: WalletAddress(wallet),
                owner: AccountNumber(owner),
                kind,
                closed_only,
                heartbeat,
                free: Micros(free),
                reserved: Micros(reserved),
                live_orders,
                withdrawal_valid_until: TimeMs(valid_until),
            })
        },
    )
}

fn key() -> impl Strategy<Value = StateRecord> {
    let names = (any::<[u8; 16]>(), any::<[u8; 32]>());
    (small(), small(), names, any::<bool>(), any::<bool>()).prop_map(
        |(key, owner, (api_key, nonce), read_only, live)| {
            StateRecord::Key(state::Key {
                key: KeyNumber(key),
                api_key: ApiKey(api_key),
                owner: AccountNumber(owner),
                nonce,
                read_only,
                live,
            })
        },
    )
}

fn market() -> impl Strategy<Value = StateRecord> {
    let names = (any::<[u8; 32]>(), any::<[u8; 32]>(), any::<[u8; 32]>());
    let rules = (
        select(&TICKS),
        any::<bool>(),
        number(),
        small(),
        any::<u8>(),
    );
    let question = prop::option::of((small().prop_map(EventNumber), small()));
    let payout = prop::option::of(select(Payout::ALL));
    let state = (select(MarketState::ALL), payout, any::<bool>());
    let index = prop::option::of((0_u8..=127).prop_map(QuestionIndex));
    let question = (question, index, 0_u8..=3);
    let digests: (_, _) = (any::<[u8; 16]>(), any::<[u8; 16]>());
    (small(), names, rules, question, state, (lots(), digests)).prop_map(
        |(market, (condition, yes, no), rules, question, (state, payout, archived), last)| {
            let (supply, (slug, content)) = last;
            let (tick, tick_refines, minimum_size, rate_ppm, exponent) = rules;
            let (question, index, holds) = question;
            StateRecord::Market(state::Market {
                market: MarketNumber(market),
                condition: ConditionId(condition),
                tokens: [TokenId(yes), TokenId(no)],
                tick,
                tick_refines,
                minimum_size: lots_of(minimum_size),
                fee: FeeSchedule { rate_ppm, exponent },
                question,
                index,
                state,
                holds: HoldSet::from_bits(holds).expect("two holds"),
                payout,
                archived,
                supply,
                slug: SlugDigest(slug),
                content: ContentDigest(content),
            })
        },
    )
}

fn order() -> impl Strategy<Value = StateRecord> {
    let numbers = ([number(), number(), number()], [small(), small()]);
    let kind = (outcome(), select(Side::ALL), any::<u16>());
    let group = prop::option::of(any::<u8>());
    (any::<[u8; 32]>(), numbers, kind, group).prop_map(
        |(id, ([order, lots, expiration], [account, market]), (outcome, side, price), group)| {
            StateRecord::Order(state::Order {
                order: order_number(order),
                id: OrderId(id),
                account: AccountNumber(account),
                market: MarketNumber(market),
                outcome,
                side,
                price: price_of(price),
                lots: lots_of(lots),
                expiration: TimeSeconds(expiration),
                group,
            })
        },
    )
}

fn remembered_order() -> impl Strategy<Value = StateRecord> {
    let state = prop_oneof![
        Just(OrderIdState::Live),
        Just(OrderIdState::Done),
        (select(RejectionReason::ALL), prop_oneof![Just(0), number()]).prop_map(
            |(reason, minimum)| {
                let minimum = Micros(minimum);
                OrderIdState::Killed { reason, minimum }
            }
        ),
    ];
    let marks = (any::<bool>(), any::<bool>(), select(OrderType::ALL));
    let numbers = [number(), number(), number()];
    (any::<[u8; 32]>(), numbers, state, marks, small()).prop_map(
        |(
            id,
            [order, timestamp, expiration],
            state,
            (in_expiry_queue, post_only, order_type),
            key,
        )| {
            StateRecord::RememberedOrder(state::RememberedOrder {
                order: order_number(order),
                id: OrderId(id),
                timestamp: TimeMs(timestamp),
                state,
                in_expiry_queue,
                order_type,
                expiration: TimeSeconds(expiration),
                post_only,
                key: KeyNumber(key),
            })
        },
    )
}

fn remembered_reference() -> impl Strategy<Value = StateRecord> {
    let numbers = [number(), number(), number(), number(), number(), number()];
    let scope = prop::option::of(small().prop_map(AccountNumber));
    let what = (select(CommandKind::ALL), small(), small());
    (any::<[u8; 32]>(), numbers, scope, what).prop_map(
        |(reference, [sequence, time, amount, low, high, collateral], scope, what)| {
            let (kind, account, object) = what;
            StateRecord::RememberedReference(state::RememberedReference {
                sequence: self::sequence(sequence),
                time: TimeNs(time),
                scope,
                reference: Reference(reference),
                kind,
                account: AccountNumber(account),
                object,
                amount,
                questions: QuestionSet { low, high },
                collateral: Micros(collateral),
                released: collateral % 2 == 1,
            })
        },
    )
}

/// A record of any kind.
pub(crate) fn any_record() -> impl Strategy<Value = StateRecord> {
    prop_oneof![
        system(),
        (any::<u8>(), any::<[u8; 32]>()).prop_map(|(domain, separator)| StateRecord::Domain(
            state::Domain {
                domain: DomainNumber(domain),
                separator,
            }
        )),
        account(),
        key(),
        (
            [small(), small(), small()],
            [number(), number()],
            any::<bool>()
        )
            .prop_map(|([event, questions, outside], [id, converted], frozen)| {
                StateRecord::Event(state::Event {
                    event: EventNumber(event),
                    id: EventId(id),
                    frozen,
                    questions,
                    converted: lots_of(converted),
                    outside: MarketNumber(outside),
                })
            }),
        market(),
        (small(), small(), lots(), lots()).prop_map(|(account, market, free, reserved)| {
            StateRecord::Position(state::Position {
                account: AccountNumber(account),
                market: MarketNumber(market),
                free,
                reserved,
            })
        }),
        order(),
        remembered_order(),
        remembered_reference(),
        select(samples()[10..].to_vec()),
    ]
}
