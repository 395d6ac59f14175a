//! Within its capacity the core does not allocate, however long it runs.

#![allow(
    unsafe_code,
    reason = "counting allocations takes a global allocator, whose trait is unsafe"
)]
#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use foretell_fixtures::{market, order_id, trader};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{CancelMarketOrders, ResolveMarket, SetQuotes, SetTerms};
use foretell_model::event::OrderClosed;
use foretell_model::limits::{MAX_EVENTS, MAX_TAIL_BYTES};
use foretell_model::quote::Quote;
use foretell_model::record::Record;
use foretell_model::tail::Tail;
use foretell_model::{
    CloseReason, Command, Event, EventId, EventNumber, Lots, MarketNumber, MarketTerms, Micros,
    OrderId, OrderType, Outcome, PaymentSettings, Payout, PlaceOrder, Price, Sequence, Settings,
    Side, TimeMs, TimeNs, TimeSeconds, Verdict,
};

struct Counting;

thread_local! {
    /// Of this thread only: the test harness has its own threads.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call is passed unchanged to the system's allocator; counting touches no memory of
// the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises about `layout` are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System.alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises about `pointer`, `layout` and `size` are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const EXPIRED: CloseReason = CloseReason::Expired;
const START: u64 = 1_700_000_000;
const ACCOUNTS: u32 = 8;
const MARKETS: u32 = 4;
const COMMANDS: u64 = 400_000;

const CAPACITY: Capacity = Capacity {
    accounts: 16,
    keys: 16,
    markets: 8,
    events: 1,
    orders: 4_096,
    expiring_orders: 4_096,
    delayed_orders: 4_096,
    positions: 64,
    order_ids: 40_000,
    timestamp_seconds: 512,
    references: 1_024,
};

/// Xorshift: every run is the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn small(&mut self, end: u32) -> u32 {
        u32::try_from(self.below(end.into())).unwrap()
    }
}

/// Accounts with collateral, keys and shares; active markets.
fn exchange(events: &mut Vec<Event>) -> Exchange {
    let mut commands = vec![Command::ChangeSettings {
        settings: Settings {
            timestamp_past_ms: 60_000,
            live_orders_per_account: 400,
            marketable_minimum: Micros(0),
            ..Settings::default()
        }
        .into(),
    }];
    for number in 0..MARKETS {
        commands.extend(market(number).fee(20_000).open());
    }
    for account in 0..ACCOUNTS {
        let trader = trader(account);
        commands.extend(trader.open(1_000_000));
        commands.extend((0..MARKETS).map(|it| trader.split(MarketNumber(it), 100_000)));
    }
    let mut exchange = Exchange::new(CAPACITY, 5);
    for command in commands {
        let verdict = exchange.apply(&command, TimeNs(START * 1_000_000_000), events);
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
    }
    exchange
}

/// The account that places the order with this number.
fn owner_of(number: u64) -> u32 {
    u32::try_from(number % u64::from(ACCOUNTS)).unwrap()
}

fn place(random: &mut Random, number: u64, now: TimeNs) -> Command {
    let account = owner_of(number);
    let pick = |random: &mut Random| usize::try_from(random.below(2)).unwrap();
    let (side, outcome) = (Side::ALL[pick(random)], Outcome::ALL[pick(random)]);
    // Bids mostly below 0.50 and asks mostly above, in Yes prices, so that a book builds up.
    let is_bid = (side == Side::Buy) == (outcome == Outcome::Yes);
    let yes_price = random.below(22) + if is_bid { 30 } else { 48 };
    let price = match outcome {
        Outcome::Yes => yes_price,
        Outcome::No => 100 - yes_price,
    };
    let lots = random.below(50) + 1;
    let order_type = [
        OrderType::Gtc,
        OrderType::Gtc,
        OrderType::Gtd,
        OrderType::Fok,
        OrderType::Fak,
    ][usize::try_from(random.below(5)).unwrap()];
    let expiration = match order_type {
        OrderType::Gtd => now.seconds().0 + 62 + random.below(8),
        _ => 0,
    };
    let order = trader(account).order(side, Lots(lots)).at_cents(price);
    let terms = order.of(outcome).id(order_id(number)).terms();
    Command::PlaceOrder(PlaceOrder {
        market: MarketNumber(random.small(MARKETS)),
        order_type,
        post_only: order_type.may_rest() && random.below(8) == 0,
        expiration: TimeSeconds(expiration),
        timestamp: TimeMs(now.millis().0 - random.below(50_000)),
        ..terms
    })
}

fn cancel(random: &mut Random, number: u64) -> Command {
    let owner = trader(random.small(ACCOUNTS));
    match random.below(400) {
        0 => owner.cancel_all(),
        1 => Command::CancelMarketOrders(CancelMarketOrders {
            owner: owner.account,
            market: MarketNumber(random.small(MARKETS)),
            outcome: None,
        }),
        _ => {
            let number = number - random.below(2_000).min(number);
            trader(owner_of(number)).cancel(order_id(number))
        }
    }
}

/// Counts of what a run did.
#[derive(Default)]
struct Seen {
    fills: u32,
    expired: u32,
    cancelled: u32,
    released: u32,
    rebates: u32,
}

/// Applies commands with these numbers and asserts that none allocates.
fn run(
    exchange: &mut Exchange,
    random: &mut Random,
    now: &mut TimeNs,
    numbers: std::ops::Range<u64>,
) -> Seen {
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let mut seen = Seen::default();
    let before = ALLOCATIONS.get();
    for number in numbers {
        // About 400 commands a second: the ids of 111 seconds stay within the memory.
        now.0 += random.below(5_000_000);
        let is_due = exchange.next_due().is_some_and(|due| due <= *now);
        let command = match random.below(10) {
            _ if is_due => Command::AdvanceTime,
            0 if exchange.has_background_work() => Command::Step,
            0..=5 => place(random, number, *now),
            6 => Command::AdvanceTime,
            _ => cancel(random, number),
        };
        events.clear();
        let verdict = exchange.apply(&command, *now, &mut events);
        for event in &events {
            match event {
                Event::Fill(_) => seen.fills += 1,
                Event::OrderReleased(_) => seen.released += 1,
                Event::RebatePaid(_) => seen.rebates += 1,
                Event::OrderClosed(OrderClosed { reason, .. }) => {
                    seen.expired += u32::from(*reason == EXPIRED)
                }
                _ => {}
            }
        }
        if matches!(command, Command::CancelOrder(_)) {
            seen.cancelled += u32::from(matches!(verdict, Verdict::Applied(_)));
        }
    }
    let allocated = ALLOCATIONS.get() - before;
    assert_eq!(allocated, 0);
    seen
}

#[test]
fn nothing_is_allocated_for_delays_and_rebates() {
    let mut exchange = exchange(&mut Vec::with_capacity(MAX_EVENTS));
    let mut now = TimeNs(START * 1_000_000_000);
    let terms = |market, taker_delay_ms| {
        Command::SetTerms(SetTerms {
            market: MarketNumber(market),
            terms: MarketTerms {
                taker_delay_ms,
                rebate_ppm: 250_000,
                ..MarketTerms::default()
            }
            .into(),
        })
    };
    let payments = PaymentSettings {
        rebates_daily: true,
        ..PaymentSettings::default()
    };
    for command in [
        Command::SetPayments {
            payments: payments.into(),
        },
        terms(0, 3_000),
        terms(1, 100),
        terms(2, 0),
    ] {
        let verdict = exchange.apply(&command, now, &mut Vec::new());
        assert!(matches!(verdict, Verdict::Applied(_)), "{verdict:?}");
    }
    // Ten minutes before midnight: a payment falls into the run.
    let day = 24 * 3_600 * 1_000_000_000;
    now.0 = (now.0 / day + 1) * day - 600 * 1_000_000_000;
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let seen = run(&mut exchange, &mut random, &mut now, 0..COMMANDS);
    assert!(seen.fills > 10_000, "{} fills", seen.fills);
    assert!(seen.released > 1_000, "{} released", seen.released);
    assert!(seen.rebates >= ACCOUNTS, "{} rebates", seen.rebates);
    exchange.check_invariants().unwrap();
}

#[test]
fn nothing_is_allocated_when_a_yes_ends_the_other_questions() {
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let mut exchange = exchange(&mut events);
    let now = TimeNs(START * 1_000_000_000);
    let first = MARKETS + 1;
    let question = |place| market(first + place).of(EventNumber(0));
    let winner = question(0).number;
    let mut commands = vec![Command::RegisterEvent { event: EventId(5) }];
    commands.extend((0..3).map(|place| question(place).register()));
    for place in 0..3 {
        let market = question(place).number;
        commands.push(Command::ActivateMarket { market });
        commands.push(trader(0).split(question(place).number, 10));
        let order = trader(1).buy(Lots(1)).at_cents(40);
        let order = order.on(question(place).number).id(order_id(place.into()));
        commands.push(order.signed(now.millis()).place());
    }
    commands.push(Command::CloseMarket { market: winner });
    let resolve = Command::ResolveMarket(ResolveMarket {
        market: winner,
        payout: Payout::Yes,
        replaces: None,
    });
    for command in commands {
        events.clear();
        let verdict = exchange.apply(&command, now, &mut events);
        assert!(matches!(verdict, Verdict::Applied(_)), "{verdict:?}");
    }
    events.clear();
    let before = ALLOCATIONS.get();
    let verdict = exchange.apply(&resolve, now, &mut events);
    let allocated = ALLOCATIONS.get() - before;
    assert!(matches!(verdict, Verdict::Applied(_)), "{verdict:?}");
    let is_end = |event: &&Event| matches!(event, Event::OrderClosed(_));
    assert_eq!(events.iter().filter(is_end).count(), 2);
    assert_eq!(allocated, 0);
    exchange.check_invariants().unwrap();
}

#[test]
fn nothing_is_allocated_within_capacity() {
    let mut exchange = exchange(&mut Vec::with_capacity(MAX_EVENTS));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut now = TimeNs(START * 1_000_000_000);
    let seen = run(&mut exchange, &mut random, &mut now, 0..COMMANDS);
    // The run exercised its cases.
    assert!(seen.fills > 20_000, "{} fills", seen.fills);
    assert!(seen.expired > 1_000, "{} orders expired", seen.expired);
    assert!(seen.cancelled > 1_000, "{} single cancels", seen.cancelled);
    let live = exchange.live_orders();
    assert!(live > 100, "{live} rest");
    exchange.check_invariants().unwrap();

    // The contents of a restored exchange count towards its capacity.
    let mut image = Vec::new();
    exchange.write_image(&mut image);
    let mut restored = Exchange::read_image(CAPACITY, 6, &image, exchange.digest()).unwrap();
    let seen = run(
        &mut restored,
        &mut random,
        &mut now,
        COMMANDS..COMMANDS * 5 / 4,
    );
    assert!(seen.fills > 4_000, "{} fills", seen.fills);
    restored.check_invariants().unwrap();
}

/// A set of an account, of up to 48 bids around the touch in market 0, and the bytes beside it.
fn set(random: &mut Random, revision: u64, now: TimeNs) -> (Command, Vec<u8>) {
    let maker = trader(random.small(ACCOUNTS));
    let quote = |cents: u64, outcome| Quote {
        condition: 0,
        outcome,
        side: Side::Buy,
        price: Price(u16::try_from(cents * 100).unwrap()),
        lots: Lots(100),
        grow_tail: false,
    };
    let mut words = Vec::new();
    for cents in 20..44 {
        for outcome in [Outcome::Yes, Outcome::No] {
            let lots = Lots(100 + random.below(3));
            let grow_tail = random.below(2) == 0;
            if random.below(3) > 0 {
                let sized = Quote {
                    lots,
                    grow_tail,
                    ..quote(cents, outcome)
                };
                words.push(sized.word());
            }
        }
    }
    let mut beside = Vec::new();
    Tail::append(&[MarketNumber(0)], &mut beside);
    Tail::append(&words, &mut beside);
    let mut digest = [0xD0; 32];
    digest[..8].copy_from_slice(&revision.to_be_bytes());
    let command = Command::SetQuotes(SetQuotes {
        account: maker.account,
        key: maker.key,
        digest: OrderId(digest),
        group: 0,
        revision,
        seen: Sequence(u64::MAX),
        timestamp: now.millis(),
        valid_until: TimeMs(now.millis().0 + 1 + random.below(1_000)),
        conditions: 1,
        quotes: u8::try_from(words.len()).unwrap(),
    });
    (command, beside)
}

#[test]
fn nothing_is_allocated_for_sets_of_quotes() {
    let mut exchange = exchange(&mut Vec::with_capacity(MAX_EVENTS));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut now = TimeNs(START * 1_000_000_000);
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let (mut placed, mut filled, mut ended) = (0, 0, 0);
    // The first set of each group may reserve its memory.
    for number in 1..30_000 {
        now.0 += random.below(20_000_000);
        let is_due = exchange.next_due().is_some_and(|due| due <= now);
        let (command, beside) = match random.below(4) {
            _ if is_due => (Command::AdvanceTime, Vec::new()),
            0 => set(&mut random, number, now),
            _ => (place(&mut random, number, now), Vec::new()),
        };
        events.clear();
        let before = ALLOCATIONS.get();
        exchange.apply_with(&command, &beside, now, &mut events);
        if number > 2_000 {
            assert_eq!(ALLOCATIONS.get(), before, "{command:?}");
        }
        let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
        placed += count(|event| matches!(event, Event::QuotePlaced(_)));
        filled += count(|event| matches!(event, Event::Fill(_)));
        ended += count(|event| {
            let lease = CloseReason::LeaseEnded;
            matches!(event, Event::OrderClosed(OrderClosed { reason, .. }) if *reason == lease)
        });
    }
    assert!(
        placed > 10_000 && filled > 500 && ended > 100,
        "{placed} {filled} {ended}"
    );
    exchange.check_invariants().unwrap();
}

#[test]
fn the_tail_of_a_command_is_read_without_memory_of_its_own() {
    type Leg = (MarketNumber, Outcome, Lots);
    let legs: Vec<Leg> = (0..)
        .map(|number| (MarketNumber(number), Outcome::No, Lots(number.into())))
        .take(MAX_TAIL_BYTES / Leg::BYTES)
        .collect();
    let mut beside = Vec::new();
    Tail::append(&legs, &mut beside);
    beside.extend_from_slice(b"signature");
    let before = ALLOCATIONS.get();
    let (tail, evidence) = Tail::<Leg>::split(&beside, legs.len()).unwrap();
    let lots: u64 = tail.items().map(|leg| leg.unwrap().2.0).sum();
    assert_eq!(ALLOCATIONS.get(), before);
    let count = legs.len() as u64;
    assert_eq!(
        (lots, evidence),
        (count * (count - 1) / 2, &b"signature"[..])
    );
}
