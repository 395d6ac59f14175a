//! For any commands in any order: the state stays consistent, a command without effect changes
//! nothing, no order trades worse than signed, and the layout in memory changes no result.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use foretell_fixtures::{market, trader};
use foretell_matching::{Capacity, Exchange, PrefetchState};
use foretell_model::command::{
    BindWallet, CancelAll, CancelMarketOrders, CancelOrder, Convert, DecreaseOrder, Deposit, Merge,
    PauseMarket, Redeem, RegisterMarket, RenewQuotes, ResolveMarket, ResumeMarket, RevokeKey,
    SetClosedOnly, SetQuoteLimits, SetQuotes, SetTick, Split, Withdraw, WithdrawFees,
};
use foretell_model::event::OrderKilled;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::quote::{Quote, QuoteLimits, QuoteWord};
use foretell_model::tail::Tail;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, Event, EventId, EventNumber, FeeSchedule, Hold,
    KeyNumber, Lots, MarketNumber, Micros, OrderId, OrderResult, OrderStatus, OrderType, Outcome,
    Payout, PlaceOrder, Price, QuestionSet, Reference, Rejection, Sequence, Settings, Side,
    SystemMode, Tick, TimeMs, TimeNs, TimeSeconds, Verdict, WalletAddress, WalletKind,
};
use proptest::prelude::*;
use proptest::sample::select;

const START: u64 = 1_700_000_000;
/// Three plain markets, then the questions of one event group.
const MARKETS: u32 = 6;
/// Three owners, and a bound wallet of the first.
const ACCOUNTS: u32 = 4;

/// Account and market numbers are small.
fn byte(number: u32) -> u8 {
    u8::try_from(number).unwrap()
}

fn wallet(account: u32) -> WalletAddress {
    trader(account).wallet
}

fn name(number: u64) -> [u8; 32] {
    let mut name = [0; 32];
    name[..8].copy_from_slice(&number.to_be_bytes());
    name
}

/// Commands at the start of every run.
fn prelude() -> Vec<Command> {
    let mut commands = Vec::new();
    commands.extend((0..ACCOUNTS).map(|account| trader(account).deposit(40)));
    commands.extend((0..3).map(|account| trader(account).register_key()));
    commands.push(Command::BindWallet(BindWallet {
        owner: wallet(0),
        wallet: wallet(3),
        kind: WalletKind::Safe,
    }));
    commands.push(Command::RegisterEvent { event: EventId(1) });
    for number in 0..MARKETS {
        commands.push(Command::RegisterMarket(RegisterMarket {
            tick: [Tick::Tenth, Tick::Hundredth, Tick::Thousandth][number as usize % 3],
            fee: FeeSchedule {
                rate_ppm: [0, 50_000, 1_000_000][number as usize % 3],
                exponent: byte(number % 3),
            },
            event: (number >= 3).then_some(EventNumber(0)),
            ..market(number).refines().terms
        }));
    }
    commands.extend((0..MARKETS).map(|market| Command::ActivateMarket {
        market: MarketNumber(market),
    }));
    for account in 0..ACCOUNTS {
        for market in 0..MARKETS {
            commands.push(trader(account).split(MarketNumber(market), 3));
        }
    }
    commands
}

/// Amounts mostly on the tick grid, sometimes off it.
fn amounts() -> impl Strategy<Value = (u64, u64)> {
    let on_grid = (1_u64..10, 1_u64..400).prop_map(|(tenths, lots)| (tenths * 1_000, lots));
    let fine = (1_u64..1_000, 1_u64..400).prop_map(|(thousandths, lots)| (thousandths * 10, lots));
    let shares = prop_oneof![6 => on_grid, 3 => fine]
        .prop_map(|(price, lots)| (lots * price, lots * 10_000));
    prop_oneof![12 => shares, 1 => (0_u64..3_000_000, 0_u64..3_000_000)]
}

fn order() -> impl Strategy<Value = Command> {
    let who = (0..ACCOUNTS, 0..MARKETS, prop::bool::weighted(0.05));
    let what = (
        select(Outcome::ALL),
        select(Side::ALL),
        select(OrderType::ALL),
        prop::bool::weighted(0.15),
    );
    let when = (select(vec![0_u64, 61, 65, 100, 1_000]), any::<u64>());
    (who, what, amounts(), when).prop_map(|(who, what, (collateral, shares), (expires, id))| {
        let (account, market, wrong_key) = who;
        let (outcome, side, order_type, post_only) = what;
        let (maker_amount, taker_amount) = match side {
            Side::Buy => (collateral, shares),
            Side::Sell => (shares, collateral),
        };
        let key = if account == 3 { 0 } else { account };
        let expiration = match order_type {
            OrderType::Gtd => TimeSeconds(START + expires),
            _ => TimeSeconds(0),
        };
        Command::PlaceOrder(PlaceOrder {
            // Few ids, so that some repeat.
            order: OrderId(name(id % 400)),
            account: AccountNumber(account),
            key: KeyNumber((key + u32::from(wrong_key)) % 3),
            market: MarketNumber(market),
            outcome,
            side,
            order_type,
            post_only,
            maker_amount,
            taker_amount,
            expiration,
            timestamp: TimeMs((START + id % 90) * 1_000),
        })
    })
}

fn key_of(account: u32) -> KeyNumber {
    KeyNumber(if account == 3 { 0 } else { account })
}

/// A quote on one side of the middle, so that few sets cross themselves.
fn quote() -> impl Strategy<Value = Quote> {
    let token = (0_u16..2, select(Outcome::ALL), select(Side::ALL));
    (token, 1_u16..10, 1_u64..100, any::<bool>()).prop_map(
        |((condition, outcome, side), tenths, lots, grow_tail)| {
            let is_low = (tenths < 5) == (side == Side::Buy);
            let tenths = if is_low || tenths == 5 {
                tenths
            } else {
                10 - tenths
            };
            Quote {
                condition,
                outcome,
                side,
                price: Price(tenths * 1_000),
                lots: Lots(lots),
                grow_tail,
            }
        },
    )
}

/// A set of quotes in two markets, and its tail. The revision is how far it is beyond its place among the
/// commands.
fn set() -> impl Strategy<Value = (Command, Vec<u8>)> {
    let who = (0..ACCOUNTS, 0_u8..2, 0..MARKETS, 1..MARKETS);
    let seen = select(vec![0_u64, 40, 80, u64::MAX, u64::MAX]);
    let what = (prop::collection::vec(quote(), 0..6), seen, any::<u64>());
    (who, what, 0_u64..3, 1_u64..200_000).prop_map(
        |((account, group, market, step), (quotes, seen, name), revision, valid_ms)| {
            let markets = [market, (market + step) % MARKETS].map(MarketNumber);
            let mut tail = Vec::new();
            Tail::append(&markets, &mut tail);
            let words: Vec<QuoteWord> = quotes.iter().map(Quote::word).collect();
            Tail::append(&words, &mut tail);
            let mut digest = [0xD1; 32];
            digest[..8].copy_from_slice(&name.to_be_bytes());
            let set = Command::SetQuotes(SetQuotes {
                account: AccountNumber(account),
                key: key_of(account),
                digest: OrderId(digest),
                group,
                revision,
                seen: Sequence(seen),
                timestamp: TimeMs(START * 1_000),
                valid_until: TimeMs(START * 1_000 + valid_ms),
                conditions: 2,
                quotes: u8::try_from(words.len()).unwrap(),
            });
            (set, tail)
        },
    )
}

/// Renewals and limits of groups.
fn group() -> impl Strategy<Value = Command> {
    let who = (0..ACCOUNTS, 0_u8..2);
    let limits = (
        select(vec![0_u32, 500, 5_000]),
        select(vec![100_u32, 60_000]),
        1_u64..300,
        0_u64..2_000_000,
        0_u64..100,
    );
    prop_oneof![
        1 => (who.clone(), 0_u64..400).prop_map(|((account, group), revision)| {
            Command::RenewQuotes(RenewQuotes {
                account: AccountNumber(account),
                key: key_of(account),
                group,
                revision,
            })
        }),
        2 => (who, limits, any::<bool>()).prop_map(|((account, group), limits, reset)| {
            let (lease_ms, window_ms, lots, value, net) = limits;
            Command::SetQuoteLimits(SetQuoteLimits {
                account: AccountNumber(account),
                key: key_of(account),
                group,
                limits: QuoteLimits {
                    lease_ms,
                    window_ms,
                    lots: Lots(lots),
                    value: Micros(value),
                    net_lots: Lots(net),
                },
                reset,
            })
        }),
    ]
}

fn cancel() -> impl Strategy<Value = Command> {
    let owner = (0..ACCOUNTS).prop_map(AccountNumber);
    let outcome = select(vec![None, Some(Outcome::Yes), Some(Outcome::No)]);
    prop_oneof![
        6 => (owner.clone(), 0_u64..400).prop_map(|(owner, id)| Command::CancelOrder(CancelOrder {
            owner,
            order: OrderId(name(id)),
        })),
        4 => (owner.clone(), 0_u64..400, 0_u64..60).prop_map(|(owner, id, lots)| Command::DecreaseOrder(DecreaseOrder {
            owner,
            order: OrderId(name(id)),
            lots: Lots(lots),
        })),
        1 => (owner.clone(), any::<bool>()).prop_map(|(owner, heartbeat)| Command::CancelAll(CancelAll {
            owner,
            heartbeat,
        })),
        2 => (owner, 0..MARKETS, outcome).prop_map(|(owner, market, outcome)| Command::CancelMarketOrders(CancelMarketOrders {
                owner,
                market: MarketNumber(market),
                outcome,
            })),
        3 => Just(Command::AdvanceTime),
        1 => Just(Command::Continue),
    ]
}

fn money() -> impl Strategy<Value = Command> {
    let who = (0..ACCOUNTS + 1).prop_map(AccountNumber);
    let reference = (0_u64..1_000).prop_map(|number| Reference(name(number)));
    let market = (0..MARKETS).prop_map(MarketNumber);
    let lots = (0_u64..200).prop_map(Lots);
    let amount = (0_u64..3_000_000).prop_map(Micros);
    let to = (0..ACCOUNTS + 2).prop_map(wallet);
    prop_oneof![
        (to.clone(), amount.clone(), reference.clone()).prop_map(|(wallet, amount, reference)| {
            Command::Deposit(Deposit {
                wallet,
                amount,
                reference,
            })
        }),
        (to, amount.clone(), reference.clone()).prop_map(|(wallet, amount, reference)| {
            Command::Withdraw(Withdraw {
                wallet,
                amount,
                reference,
            })
        }),
        (amount, reference.clone()).prop_map(|(amount, reference)| {
            Command::WithdrawFees(WithdrawFees {
                amount: Micros(amount.0 / 1_000),
                reference,
            })
        }),
        (who.clone(), market.clone(), lots.clone(), reference.clone()).prop_map(
            |(account, market, lots, reference)| Command::Split(Split {
                account,
                market,
                lots,
                reference
            })
        ),
        (who.clone(), market.clone(), lots.clone(), reference.clone()).prop_map(
            |(account, market, lots, reference)| Command::Merge(Merge {
                account,
                market,
                lots,
                reference
            })
        ),
        (who.clone(), market, reference.clone()).prop_map(|(account, market, reference)| {
            Command::Redeem(Redeem {
                account,
                market,
                reference,
            })
        }),
        (who, 0_u64..16, lots, reference).prop_map(|(account, low, lots, reference)| {
            Command::Convert(Convert {
                account,
                event: EventNumber(0),
                questions: QuestionSet { low, high: 0 },
                lots,
                reference,
            })
        }),
    ]
}

fn operator() -> impl Strategy<Value = Command> {
    let market = (0..MARKETS).prop_map(MarketNumber);
    let settings = (
        select(vec![1_000_u64, 60_000, 600_000]),
        0_u64..70,
        1_u32..30,
        1_u32..60,
    );
    prop_oneof![
           1 => market.clone().prop_map(|market| Command::PauseMarket(PauseMarket { market, hold: Hold::Operator })),
           3 => market.clone().prop_map(|market| Command::ResumeMarket(ResumeMarket { market, hold: Hold::Operator })),
           1 => market.clone().prop_map(|market| Command::CloseMarket { market }),
           3 => (market.clone(), select(Payout::ALL)).prop_map(|(market, payout)| {
               Command::ResolveMarket(ResolveMarket {
    market,
    payout,
    replaces: None,
    })
           }),
           1 => (market, select(vec![Tick::Hundredth, Tick::Thousandth, Tick::TenThousandth]))
               .prop_map(|(market, tick)| Command::SetTick(SetTick { market, tick })),
           1 => (0..ACCOUNTS, any::<bool>()).prop_map(|(account, closed_only)| Command::SetClosedOnly(SetClosedOnly {
               wallet: wallet(account),
               closed_only,
           })),
           1 => (0..ACCOUNTS, 0..ACCOUNTS, select(WalletKind::ALL)).prop_map(|(owner, of, kind)| {
               Command::BindWallet(BindWallet { owner: wallet(owner), wallet: wallet(of), kind })
           }),
           1 => (0..ACCOUNTS).prop_map(|of| Command::UnbindWallet { wallet: wallet(of) }),
           1 => (0_u32..4, any::<bool>()).prop_map(|(key, cancel_orders)| Command::RevokeKey(RevokeKey {
               key: KeyNumber(key),
               cancel_orders,
           })),
           1 => select(SystemMode::ALL).prop_map(|mode| Command::SetMode { mode }),
           4 => Just(Command::SetMode { mode: SystemMode::Running }),
           1 => settings.prop_map(|(past, safety, live, ids)| Command::ChangeSettings { settings: Settings {
               timestamp_past_ms: past,
               timestamp_future_ms: 120_000,
               marketable_minimum: Micros(safety * 10_000),
               gtd_safety_seconds: safety,
               live_orders_per_account: live,
               remembered_order_ids: ids * 10,
               new_operator_hours: 0,
           }.into() }),
       ]
}

/// A command and its tail.
fn command() -> impl Strategy<Value = (Command, Vec<u8>)> {
    let plain =
        prop_oneof![30 => order(), 8 => cancel(), 5 => money(), 2 => group(), 1 => operator()];
    prop_oneof![46 => plain.prop_map(|command| (command, Vec::new())), 12 => set()]
}

/// Commands, each with its tail and the milliseconds before it.
fn commands() -> impl Strategy<Value = Vec<((Command, Vec<u8>), u64)>> {
    let pause = prop_oneof![8 => 0_u64..300, 1 => 0_u64..5_000, 1 => Just(95_000_u64)];
    prop::collection::vec((command(), pause), 1..250)
}

fn setting() -> Command {
    Command::ChangeSettings {
        settings: Settings {
            marketable_minimum: Micros(0),
            live_orders_per_account: 20,
            ..Settings::default()
        }
        .into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn every_state_is_consistent_and_no_layout_matters(commands in commands()) {
        let mut exchange = Exchange::new(Capacity { orders: 64, ..Capacity::NONE }, 1);
        let mut other = Exchange::new(Capacity::NONE, 999);
        let (mut events, mut others) = (Vec::new(), Vec::new());
        let mut now = TimeNs(START * 1_000_000_000);
        let prelude = std::iter::once(setting()).chain(prelude());
        let prelude = prelude.map(|command| ((command, Vec::new()), 0));
        let mut commands: Vec<_> = prelude.chain(commands).collect();
        for (at, ((command, _), _)) in commands.iter_mut().enumerate() {
            if let Command::SetQuotes(set) = command {
                set.revision += at as u64;
            }
        }
        let mut prefetch_states = vec![PrefetchState::NONE; commands.len()];
        for (at, ((command, tail), pause)) in commands.iter().enumerate() {
            // One of the two prefetches, which changes no result.
            let coming = commands.iter().zip(&mut prefetch_states).skip(at);
            for (((coming, _), _), state) in coming.take(PrefetchState::STEPS) {
                other.prefetch(coming, state);
            }
            now.0 += pause * 1_000_000;
            let (before, due) = (exchange.digest(), exchange.next_due());
            let is_pending = exchange.has_pending_work();
            events.clear();
            others.clear();
            let verdict = exchange.apply_with(command, tail, now, &mut events);
            prop_assert_eq!(other.apply_with(command, tail, now, &mut others), verdict);
            prop_assert_eq!(&events, &others);
            prop_assert!(events.len() <= MAX_EVENTS);
            let digest = exchange.digest();
            prop_assert_eq!(other.digest(), digest);
            exchange.check_invariants().map_err(TestCaseError::fail)?;
            other.check_invariants().map_err(TestCaseError::fail)?;
            match verdict {
                Verdict::Applied(_) => prop_assert_ne!(digest, before),
                _ => {
                    prop_assert_eq!(digest, before);
                    prop_assert!(events.is_empty());
                }
            }
            if *command == Command::AdvanceTime {
                let is_due = !is_pending && due.is_some_and(|due| due <= now);
                prop_assert_eq!(is_due, matches!(verdict, Verdict::Applied(_)));
            }
            if let (Command::PlaceOrder(order), Verdict::Applied(CommandOutcome::Order(result))) =
                (*command, verdict)
            {
                check_order(&order, &result, &events)?;
            }
        }
    }
}

/// Checks promises 14 to 16, and `event` in the frame of an order.
fn check_order(
    order: &PlaceOrder,
    result: &OrderResult,
    events: &[Event],
) -> Result<(), TestCaseError> {
    let (mut lots, mut value, mut fee, mut fills) = (0, 0, 0, 0);
    for event in events {
        let Event::Fill(fill) = event else { continue };
        let price = match order.outcome {
            Outcome::Yes => fill.yes_price,
            Outcome::No => fill.yes_price.complement(),
        };
        // Never worse than the signed ratio: price ≤ collateral / shares for a BUY, ≥ for a SELL.
        let signed = |collateral: u64, shares: u64| {
            (
                u128::from(price.0) * u128::from(shares),
                u128::from(collateral) * 10_000,
            )
        };
        match order.side {
            Side::Buy => {
                let (paid, limit) = signed(order.maker_amount, order.taker_amount);
                prop_assert!(paid <= limit);
            }
            Side::Sell => {
                let (got, limit) = signed(order.taker_amount, order.maker_amount);
                prop_assert!(got >= limit);
            }
        }
        prop_assert!(!fill.lots.is_zero());
        lots += fill.lots.0;
        value += fill.lots.value_at(price).0;
        fee += fill.fee.0;
        fills += 1;
    }
    let sums = (result.lots.0, result.value.0, result.fee.0, result.fills);
    prop_assert_eq!(sums, (lots, value, fee, fills));
    let traded = match order.side {
        Side::Buy if !order.order_type.may_rest() => value,
        _ => lots * 10_000,
    };
    let signed = match (order.side, order.order_type.may_rest()) {
        (Side::Buy, true) => order.taker_amount,
        _ => order.maker_amount,
    };
    prop_assert!(traded <= signed);
    let last = events
        .iter()
        .rev()
        .find(|event| !matches!(event, Event::TickSet(_) | Event::WorkPending));
    let ends_well = match result.status {
        OrderStatus::Killed(Rejection { reason, details }) => {
            events == [Event::OrderKilled(OrderKilled { reason, details })]
        }
        OrderStatus::Live => matches!(last, Some(Event::OrderRested(_))),
        OrderStatus::Matched if order.order_type == OrderType::Fok => {
            last == Some(&Event::OrderCompleted)
        }
        OrderStatus::Matched => fills > 0 && !matches!(last, Some(Event::Fill(_))),
        OrderStatus::Unmatched | OrderStatus::Delayed => false,
    };
    prop_assert!(ends_well, "{:?}: {:?}", result, events);
    Ok(())
}
