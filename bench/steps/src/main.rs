//! A fixed, deterministic run of the core whose instructions a tool counts: `foretell-steps
//! rest|trade|cancel`. Only the instructions in [`counted_step`] count; everything before it
//! prepares the exchange.
//!
//! A program of its own, for fast builds in its own profile with only the core as a dependency.
//! `tests/instructions.rs` runs it.

use std::process::ExitCode;

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{CancelOrder, Deposit, RegisterKey, RegisterMarket};
use foretell_model::limits::{MAX_BALANCE, MAX_EVENTS};
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, Event, FeeSchedule, KeyNumber, Lots, MarketNumber,
    Micros, OrderId, OrderType, Outcome, PlaceOrder, Reference, Settings, Side, Tick, TimeMs,
    TimeNs, TimeSeconds, TokenId, Verdict, WalletAddress,
};

/// Number of counted commands.
const COMMANDS: u32 = 20_000;
const MARKETS: u32 = 8;
const ACCOUNTS: u32 = 64;
/// Lots of every order.
const LOTS: Lots = Lots(500);
const UNITS_PER_CENT: u64 = 100;
const START: TimeNs = TimeNs(1_700_000_000_000_000_000);
/// Fixed key of the hash tables.
const INDEX_KEY: u64 = 0x5EED;

/// Kind of the counted commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rest,
    /// Orders that trade with a resting one.
    Trade,
    /// Cancels of resting orders.
    Cancel,
}

fn main() -> ExitCode {
    let kind = match std::env::args().nth(1).as_deref() {
        Some("rest") => Kind::Rest,
        Some("trade") => Kind::Trade,
        Some("cancel") => Kind::Cancel,
        _ => {
            eprintln!("usage: foretell-steps rest|trade|cancel");
            return ExitCode::FAILURE;
        }
    };
    let mut venue = Venue::open();
    if kind != Kind::Rest {
        (0..COMMANDS).for_each(|number| venue.ready(&bid(number)));
    }
    for number in 0..COMMANDS {
        let command = match kind {
            Kind::Rest => bid(number),
            Kind::Trade => taker(number),
            Kind::Cancel => cancel(number),
        };
        venue.events.clear();
        let verdict = counted_step(&mut venue.exchange, &command, &mut venue.events);
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
        let trades = venue
            .events
            .iter()
            .any(|event| matches!(event, Event::Fill(_)));
        assert_eq!(trades, kind == Kind::Trade, "{command:?}");
    }
    println!("{COMMANDS}");
    ExitCode::SUCCESS
}

/// The counted call; not inlined, so that the tool finds it.
#[inline(never)]
fn counted_step(exchange: &mut Exchange, command: &Command, events: &mut Vec<Event>) -> Verdict {
    exchange.apply(command, START, events)
}

/// An exchange with open markets and funded accounts.
struct Venue {
    exchange: Exchange,
    events: Vec<Event>,
}

impl Venue {
    fn open() -> Self {
        let capacity = Capacity {
            orders: COMMANDS as usize * 2,
            order_ids: COMMANDS as usize * 2,
            ..Capacity::default()
        };
        let mut venue = Self {
            exchange: Exchange::new(capacity, INDEX_KEY),
            events: Vec::with_capacity(MAX_EVENTS),
        };
        venue.ready(&Command::ChangeSettings {
            settings: Settings {
                marketable_minimum: Micros::ZERO,
                live_orders_per_account: u32::MAX,
                ..Settings::default()
            }
            .into(),
        });
        for number in 0..MARKETS {
            venue.ready(&Command::RegisterMarket(RegisterMarket {
                condition: ConditionId(name(number, 1)),
                tokens: [2, 3].map(|kind| TokenId(name(number, kind))),
                tick: Tick::Hundredth,
                tick_refines: false,
                minimum_size: Lots(1),
                fee: FeeSchedule {
                    rate_ppm: 20_000,
                    exponent: 1,
                },
                event: None,
                index: None,
                has_details: false,
            }));
            let market = MarketNumber(number);
            venue.ready(&Command::ActivateMarket { market });
        }
        (0..ACCOUNTS).for_each(|number| venue.open_account(number));
        venue
    }

    fn open_account(&mut self, number: u32) {
        let name = name(number, 4);
        let (mut wallet, mut api_key) = ([0; 20], [0; 16]);
        wallet.copy_from_slice(&name[..20]);
        api_key.copy_from_slice(&name[..16]);
        let wallet = WalletAddress(wallet);
        self.ready(&Command::RegisterKey(RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey(api_key),
            read_only: false,
        }));
        self.ready(&Command::Deposit(Deposit {
            wallet,
            amount: Micros(MAX_BALANCE.0 / u64::from(ACCOUNTS)),
            reference: Reference(name),
        }));
    }

    /// Applies a command that is not counted.
    fn ready(&mut self, command: &Command) {
        self.events.clear();
        let verdict = self.exchange.apply(command, START, &mut self.events);
        assert!(
            matches!(verdict, Verdict::Applied(_)),
            "{command:?}: {verdict:?}"
        );
    }
}

/// A bid for Yes at 0.01 to 0.49, cycling through the markets.
fn bid(number: u32) -> Command {
    place(
        number,
        number % ACCOUNTS,
        Outcome::Yes,
        1 + number / MARKETS % 49,
    )
}

/// A bid for No that meets the best bid for Yes of its market: complementary, both buy. All
/// bids in a market are of accounts of one parity and the taker has the other one.
fn taker(number: u32) -> Command {
    let account = (number + 1) % ACCOUNTS;
    place(COMMANDS + number, account, Outcome::No, 99)
}

fn cancel(number: u32) -> Command {
    Command::CancelOrder(CancelOrder {
        owner: AccountNumber(number % ACCOUNTS),
        order: id(number),
    })
}

fn place(number: u32, account: u32, outcome: Outcome, cents: u32) -> Command {
    Command::PlaceOrder(PlaceOrder {
        order: id(number),
        account: AccountNumber(account),
        key: KeyNumber(account),
        market: MarketNumber(number % MARKETS),
        outcome,
        side: Side::Buy,
        order_type: OrderType::Gtc,
        post_only: false,
        maker_amount: LOTS.0 * u64::from(cents) * UNITS_PER_CENT,
        taker_amount: LOTS.micro_shares(),
        expiration: TimeSeconds(0),
        timestamp: TimeMs(START.millis().0),
    })
}

/// An order's id: deterministic bytes that look random.
fn id(number: u32) -> OrderId {
    let mut bytes = [0; 32];
    let (words, _) = bytes.as_chunks_mut::<8>();
    let mut state = u64::from(number) + 1;
    for word in words {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        *word = (state ^ (state >> 29)).to_le_bytes();
    }
    OrderId(bytes)
}

/// A 32-byte name for a number and kind.
fn name(number: u32, kind: u8) -> [u8; 32] {
    let mut name = [kind; 32];
    name[..4].copy_from_slice(&number.to_le_bytes());
    name
}
