//! Restore in the middle of work that takes more than one command.

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{
    CancelAll, CancelMarketOrders, Deposit, RegisterKey, RegisterMarket, SetClosedOnly,
};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, Event, FeeSchedule, KeyNumber, Lots, MarketNumber,
    Micros, OrderId, OrderType, Outcome, PlaceOrder, Reference, Settings, Side, Tick, TimeMs,
    TimeNs, TimeSeconds, TokenId, Verdict, WalletAddress,
};

use crate::restore_agrees::{restored, step};

const NOW: TimeNs = TimeNs(1_700_000_000_000_000_000);
const OWNER: AccountNumber = AccountNumber(0);
const MARKET: MarketNumber = MarketNumber(0);
/// More orders than one command can end, fewer than two can.
const MANY: u64 = MAX_VISITED_ORDERS as u64 + 100;

#[test]
fn pending_work_goes_on_after_a_restore() {
    let starts = [
        Command::CancelAll(CancelAll {
            owner: OWNER,
            heartbeat: true,
        }),
        Command::CancelMarketOrders(CancelMarketOrders {
            owner: OWNER,
            market: MARKET,
            outcome: Some(Outcome::Yes),
        }),
        Command::CloseMarket { market: MARKET },
        Command::SetClosedOnly(SetClosedOnly {
            wallet: WalletAddress([0; 20]),
            closed_only: true,
        }),
    ];
    for start in starts {
        let mut original = full_book();
        applied(&mut original, &start);
        assert!(original.has_pending_work());
        let mut copy = restored(&original, Capacity::NONE, 3);
        let ended = step(&mut original, &mut copy, &Command::Continue, NOW);
        assert_eq!(ended.len() as u64, MANY - MAX_VISITED_ORDERS as u64);
        // The same again: nothing is left to end.
        step(&mut original, &mut copy, &start, NOW);
    }
}

/// Bids of one owner, at many prices.
fn full_book() -> Exchange {
    let mut exchange = Exchange::new(Capacity::default(), 7);
    let settings = Settings {
        marketable_minimum: Micros::ZERO,
        live_orders_per_account: 20_000,
        ..Settings::default()
    };
    let wallet = WalletAddress([0; 20]);
    let prelude = [
        Command::ChangeSettings {
            settings: settings.into(),
        },
        Command::Deposit(Deposit {
            wallet,
            amount: Micros(1_000_000_000_000),
            reference: Reference([1; 32]),
        }),
        Command::RegisterKey(RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey([1; 16]),
            read_only: false,
        }),
        Command::RegisterMarket(RegisterMarket {
            index: None,
            condition: ConditionId([1; 32]),
            tokens: [TokenId([2; 32]), TokenId([3; 32])],
            tick: Tick::Hundredth,
            tick_refines: true,
            minimum_size: Lots(1),
            fee: FeeSchedule::default(),
            event: None,
        }),
        Command::ActivateMarket { market: MARKET },
    ];
    for command in prelude.into_iter().chain((0..MANY).map(bid)) {
        applied(&mut exchange, &command);
    }
    exchange
}

fn bid(number: u64) -> Command {
    let mut id = [0; 32];
    id[..8].copy_from_slice(&number.to_be_bytes());
    Command::PlaceOrder(PlaceOrder {
        order: OrderId(id),
        account: OWNER,
        key: KeyNumber(0),
        market: MARKET,
        outcome: Outcome::Yes,
        side: Side::Buy,
        order_type: OrderType::Gtc,
        post_only: false,
        maker_amount: (1 + number % 98) * 100,
        taker_amount: 10_000,
        expiration: TimeSeconds(0),
        timestamp: TimeMs(NOW.millis().0 - number % 5_000),
    })
}

fn applied(exchange: &mut Exchange, command: &Command) -> Vec<Event> {
    let mut events = Vec::new();
    let verdict = exchange.apply(command, NOW, &mut events);
    assert!(
        matches!(verdict, Verdict::Applied(_)),
        "{command:?}: {verdict:?}"
    );
    events
}
