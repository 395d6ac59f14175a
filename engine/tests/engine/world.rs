//! A market, two funded traders, and their orders.

use foretell_fixtures::{Order, Size, Trader, market, order_id, trader};
use foretell_link::{Reply, Role};
use foretell_model::{Command, CommandOutcome, MarketNumber, Side, TimeNs, Verdict};

use crate::harness::Engine;

/// The market and traders of the tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) market: MarketNumber,
    pub(crate) traders: [Trader; 2],
    /// Engine time of its creation.
    pub(crate) time: TimeNs,
}

fn outcome(reply: &Reply) -> CommandOutcome {
    match reply.verdict {
        Verdict::Applied(outcome) | Verdict::Repeated { outcome, .. } => outcome,
        Verdict::Rejected(refusal) => panic!("refused: {refusal:?}"),
    }
}

/// Registers the market and funds the traders. On an exchange that has all
/// of it, finds it again.
pub(crate) fn set_up(ask: &mut dyn FnMut(Command) -> CommandOutcome, time: TimeNs) -> World {
    let CommandOutcome::Market(market) = ask(market(0).register()) else {
        panic!("a market is registered");
    };
    World {
        market,
        traders: [0, 1].map(|number| open(ask, number)),
        time,
    }
}

impl World {
    /// Registers, activates, funds. On an engine that already has all of it, finds it again.
    pub(crate) fn build(engine: &Engine) -> Self {
        let world = Self::build_registered(engine);
        let market = world.market;
        let mut operator = engine.client(Role::Operator);
        operator.ask(Command::ActivateMarket { market }, &[]);
        world
    }

    /// Without activating the market.
    pub(crate) fn build_registered(engine: &Engine) -> Self {
        let mut operator = engine.client(Role::Operator);
        let time = operator.client.welcome.time;
        set_up(
            &mut |command| outcome(&operator.ask(command, b"set up")),
            time,
        )
    }

    /// A BUY of one share at 0.40: orders of trader 0 never cross each other.
    pub(crate) fn resting_buy(&self, number: u64) -> Order {
        self.buy(number, 0, 1).at("0.4")
    }

    /// A BUY in the market; its id is that of the number.
    pub(crate) fn buy(&self, number: u64, trader: usize, size: impl Into<Size>) -> Order {
        self.order(number, trader, Side::Buy, size)
    }

    /// A BUY or SELL.
    pub(crate) fn order(
        &self,
        number: u64,
        trader: usize,
        side: Side,
        size: impl Into<Size>,
    ) -> Order {
        let order = self.traders[trader].order(side, size).on(self.market);
        order.id(order_id(number)).signed(self.time.millis())
    }
}

/// Opens the account of a trader; both have the numbers that the engine says.
fn open(ask: &mut dyn FnMut(Command) -> CommandOutcome, number: u32) -> Trader {
    let opened = trader(number);
    match opened.open(1_000_000).map(ask) {
        [CommandOutcome::Account(account), CommandOutcome::Key(key)] => Trader {
            account,
            key,
            ..opened
        },
        other => panic!("{other:?}"),
    }
}
