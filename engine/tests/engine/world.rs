//! A market, two funded traders, and their orders.

use foretell_link::{Reply, Role};
use foretell_model::command::{Deposit, RegisterKey};
use foretell_model::{
    AccountNumber, ApiKey, Command, CommandOutcome, ConditionId, FeeSchedule, KeyNumber, Lots,
    MarketNumber, Micros, OrderId, OrderType, Outcome, PlaceOrder, Reference, Side, Tick, TimeMs,
    TimeNs, TimeSeconds, TokenId, Verdict, WalletAddress,
};

use crate::harness::Engine;

/// A trader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trader {
    pub(crate) wallet: WalletAddress,
    pub(crate) account: AccountNumber,
    pub(crate) key: KeyNumber,
}

/// The market and traders of the tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) market: MarketNumber,
    pub(crate) traders: [Trader; 2],
    /// Engine time of its creation.
    pub(crate) time: TimeNs,
}

fn bytes<const N: usize>(kind: u8, number: u64) -> [u8; N] {
    let mut bytes = [kind; N];
    bytes[N - 8..].copy_from_slice(&number.to_be_bytes());
    bytes
}

pub(crate) fn order_id(number: u64) -> OrderId {
    OrderId(bytes(0xA0, number))
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
    let register = Command::RegisterMarket(foretell_model::command::RegisterMarket {
        index: None,
        condition: ConditionId([7; 32]),
        tokens: [TokenId([1; 32]), TokenId([2; 32])],
        tick: Tick::Hundredth,
        tick_refines: false,
        minimum_size: Lots(1),
        fee: FeeSchedule::default(),
        event: None,
    });
    let CommandOutcome::Market(market) = ask(register) else {
        panic!("a market is registered");
    };
    World {
        market,
        traders: [1, 2].map(|number| Trader::open(ask, number)),
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

    /// A GTC BUY of one share at 0.40: orders of trader 0 never cross each other.
    pub(crate) fn resting_buy(&self, number: u64) -> PlaceOrder {
        self.order(
            number,
            0,
            Side::Buy,
            Outcome::Yes,
            OrderType::Gtc,
            400_000,
            1_000_000,
        )
    }

    #[allow(clippy::too_many_arguments, reason = "an order has so many terms")]
    pub(crate) fn order(
        &self,
        number: u64,
        trader: usize,
        side: Side,
        outcome: Outcome,
        order_type: OrderType,
        maker_amount: u64,
        taker_amount: u64,
    ) -> PlaceOrder {
        PlaceOrder {
            order: order_id(number),
            account: self.traders[trader].account,
            key: self.traders[trader].key,
            market: self.market,
            outcome,
            side,
            order_type,
            post_only: false,
            maker_amount,
            taker_amount,
            expiration: TimeSeconds(0),
            timestamp: TimeMs(self.time.millis().0),
        }
    }
}

impl Trader {
    fn open(ask: &mut dyn FnMut(Command) -> CommandOutcome, number: u64) -> Self {
        let wallet = WalletAddress(bytes(0xC0, number));
        let funded = ask(Command::Deposit(Deposit {
            wallet,
            amount: Micros(1_000_000_000_000),
            reference: Reference(bytes(0xD0, number)),
        }));
        let registered = ask(Command::RegisterKey(RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey(bytes(0xE0, number)),
            read_only: false,
        }));
        match (funded, registered) {
            (CommandOutcome::Account(account), CommandOutcome::Key(key)) => Self {
                wallet,
                account,
                key,
            },
            other => panic!("{other:?}"),
        }
    }
}
