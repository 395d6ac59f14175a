//! Restore in the middle of work that takes more than one command.

use foretell_fixtures::{market, order_id, trader};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{CancelAll, CancelMarketOrders, SetClosedOnly};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, Command, Event, Lots, MarketNumber, Micros, Outcome, Settings, TimeMs, TimeNs,
    Verdict,
};

use crate::properties::restore_agrees::{restored, step};

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
            wallet: trader(0).wallet,
            closed_only: true,
        }),
    ];
    for start in starts {
        let mut original = full_book();
        applied(&mut original, &start);
        assert!(original.has_pending_work());
        let mut copy = restored(&original, Capacity::NONE, 3);
        let ended = step(&mut original, &mut copy, &Command::Continue, &[], NOW);
        assert_eq!(ended.len() as u64, MANY - MAX_VISITED_ORDERS as u64);
        // The same again: nothing is left to end.
        step(&mut original, &mut copy, &start, &[], NOW);
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
    let settings = Command::ChangeSettings {
        settings: settings.into(),
    };
    let open = trader(0).open(1_000_000).into_iter();
    let open = open.chain(market(0).refines().open());
    for command in [settings].into_iter().chain(open).chain((0..MANY).map(bid)) {
        applied(&mut exchange, &command);
    }
    exchange
}

fn bid(number: u64) -> Command {
    let order = trader(0).buy(Lots(1)).at_cents(1 + number % 98);
    let signed = TimeMs(NOW.millis().0 - number % 5_000);
    order.id(order_id(number)).signed(signed).place()
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
