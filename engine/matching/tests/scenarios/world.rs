//! A small exchange in a trader's terms: prices in ticks of 0.01, sizes in shares.

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::{Deposit, RegisterKey, RegisterMarket, ResolveMarket, Split};
use foretell_model::event::OrderClosed;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::state::{self, StateRecord};
use foretell_model::{
    AccountNumber, ApiKey, Command, CommandOutcome, CommandStamp, ConditionId, Event, EventId,
    EventNumber, FeeSchedule, Fill, KeyNumber, Lots, MarketNumber, Micros, OperatorNumber, OrderId,
    OrderResult, OrderType, Outcome, Payout, PlaceOrder, Reference, RejectionReason, Side, Tick,
    TimeMs, TimeNs, TimeSeconds, TokenId, Verdict, WalletAddress,
};

/// Start time of every world, in seconds.
pub(crate) const START: u64 = 1_700_000_000;

/// Micros in a whole unit.
pub(crate) const UNIT: u64 = 1_000_000;

pub(crate) struct World {
    pub(crate) exchange: Exchange,
    pub(crate) now: TimeNs,
    /// Whose commands follow.
    pub(crate) operator: OperatorNumber,
    /// Orders touched in earlier frames of the group of the commands that follow.
    pub(crate) touched: u16,
    /// Events of the last command.
    pub(crate) events: Vec<Event>,
    /// The next order id or reference.
    next_name: u64,
}

/// A trader: an account with its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trader {
    pub(crate) account: AccountNumber,
    pub(crate) key: KeyNumber,
    pub(crate) wallet: WalletAddress,
}

impl World {
    /// An empty exchange without a marketable minimum.
    pub(crate) fn new() -> Self {
        let capacity = Capacity {
            accounts: 4,
            keys: 4,
            markets: 4,
            events: 1,
            orders: 8,
            expiring_orders: 2,
            delayed_orders: 2,
            positions: 4,
            order_ids: 16,
            timestamp_seconds: 4,
            references: 4,
        };
        let mut world = Self {
            exchange: Exchange::new(capacity, 42),
            now: TimeNs(START * 1_000_000_000),
            operator: OperatorNumber::NONE,
            touched: 0,
            events: Vec::with_capacity(MAX_EVENTS),
            next_name: 1,
        };
        world.change_settings(|settings| settings.marketable_minimum = Micros(0));
        world
    }

    /// Applies a command; checks the state, and that a command without effect changes nothing.
    pub(crate) fn apply(&mut self, command: &Command) -> Verdict {
        self.events.clear();
        let (before, sequence) = (self.exchange.digest(), self.exchange.sequence());
        let stamp = CommandStamp {
            time: self.now,
            operator: self.operator,
            touched: self.touched,
        };
        let verdict = self.exchange.apply(command, stamp, &mut self.events);
        self.exchange.check_invariants().unwrap();
        self.check_image();
        if matches!(verdict, Verdict::Applied(_)) {
            assert_eq!(self.exchange.sequence(), sequence.next());
        } else {
            assert_eq!(self.exchange.digest(), before, "{command:?} left a trace");
            assert_eq!(self.events, []);
        }
        verdict
    }

    /// Checks that the state survives its image.
    fn check_image(&self) {
        let mut image = Vec::new();
        self.exchange.write_image(&mut image);
        let digest = self.exchange.digest();
        let restored = Exchange::read_image(Capacity::NONE, 7, &image, digest).unwrap();
        restored.check_invariants().unwrap();
        assert_eq!(restored.next_due(), self.exchange.next_due());
        let works = restored.has_background_work();
        assert_eq!(works, self.exchange.has_background_work());
    }

    #[track_caller]
    pub(crate) fn done(&mut self, command: &Command) -> CommandOutcome {
        match self.apply(command) {
            Verdict::Applied(outcome) => outcome,
            other => panic!("{command:?}: {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn refused(&mut self, command: &Command, reason: RejectionReason) -> [u64; 2] {
        match self.apply(command) {
            Verdict::Rejected(rejection) if rejection.reason == reason => rejection.details,
            other => panic!("{command:?}: {other:?} instead of {reason:?}"),
        }
    }

    /// Applies a command that must be a repeat; returns its answer.
    #[track_caller]
    pub(crate) fn repeated(&mut self, command: &Command) -> (u64, u64, CommandOutcome) {
        match self.apply(command) {
            Verdict::Repeated {
                first,
                last,
                outcome,
            } => (first.0, last.0, outcome),
            other => panic!("{command:?}: {other:?} instead of a repeat"),
        }
    }

    pub(crate) fn change_settings(&mut self, change: impl FnOnce(&mut foretell_model::Settings)) {
        let mut settings = self.settings();
        change(&mut settings);
        self.done(&Command::ChangeSettings {
            settings: settings.into(),
        });
    }

    pub(crate) fn settings(&self) -> foretell_model::Settings {
        let mut found = None;
        self.exchange.visit_state(&mut |record| {
            if let StateRecord::System(state::System { settings, .. }) = record {
                found = Some(*settings);
            }
        });
        found.unwrap()
    }

    /// Advances the clock.
    pub(crate) fn wait(&mut self, seconds: u64) {
        self.now.0 += seconds * 1_000_000_000;
    }

    pub(crate) fn name(&mut self) -> [u8; 32] {
        let mut name = [0; 32];
        name[24..].copy_from_slice(&self.next_name.to_be_bytes());
        self.next_name += 1;
        name
    }

    pub(crate) fn reference(&mut self) -> Reference {
        Reference(self.name())
    }

    /// Deposits `units` of collateral into a wallet.
    #[track_caller]
    pub(crate) fn deposit(&mut self, wallet: WalletAddress, units: u64) -> AccountNumber {
        let reference = self.reference();
        let command = Command::Deposit(Deposit {
            wallet,
            amount: Micros(units * UNIT),
            reference,
        });
        match self.done(&command) {
            CommandOutcome::Account(account) => account,
            other => panic!("{other:?}"),
        }
    }

    /// Creates a trader with `units` of collateral.
    pub(crate) fn trader(&mut self, name: u8, units: u64) -> Trader {
        let wallet = WalletAddress([name; 20]);
        let account = self.deposit(wallet, units);
        let key = Command::RegisterKey(RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey([name; 16]),
            read_only: false,
        });
        match self.done(&key) {
            CommandOutcome::Key(key) => Trader {
                account,
                key,
                wallet,
            },
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn description(&mut self, event: Option<EventNumber>) -> RegisterMarket {
        RegisterMarket {
            index: None,
            condition: ConditionId(self.name()),
            tokens: [TokenId(self.name()), TokenId(self.name())],
            tick: Tick::Hundredth,
            tick_refines: false,
            minimum_size: Lots(1),
            fee: FeeSchedule::default(),
            event,
        }
    }

    #[track_caller]
    pub(crate) fn register(&mut self, market: RegisterMarket) -> MarketNumber {
        match self.done(&Command::RegisterMarket(market)) {
            CommandOutcome::Market(market) => market,
            other => panic!("{other:?}"),
        }
    }

    /// Creates an active market.
    pub(crate) fn market(&mut self) -> MarketNumber {
        self.market_with(|_| ())
    }

    pub(crate) fn market_with(&mut self, change: impl FnOnce(&mut RegisterMarket)) -> MarketNumber {
        let mut description = self.description(None);
        change(&mut description);
        let market = self.register(description);
        self.done(&Command::ActivateMarket { market });
        market
    }

    /// Creates an event group of `questions` active questions.
    pub(crate) fn neg_risk(&mut self, questions: usize) -> (EventNumber, Vec<MarketNumber>) {
        let id = EventId(self.next_name);
        let CommandOutcome::Event(event) = self.done(&Command::RegisterEvent { event: id }) else {
            panic!("no event");
        };
        let markets: Vec<_> = (0..questions)
            .map(|_| {
                let description = self.description(Some(event));
                self.register(description)
            })
            .collect();
        for market in &markets {
            self.done(&Command::ActivateMarket { market: *market });
        }
        (event, markets)
    }

    #[track_caller]
    pub(crate) fn resolve(&mut self, market: MarketNumber, payout: Payout) {
        self.done(&Command::ResolveMarket(ResolveMarket {
            market,
            payout,
            replaces: None,
        }));
    }

    #[track_caller]
    pub(crate) fn split(&mut self, trader: Trader, market: MarketNumber, shares: u64) {
        let reference = self.reference();
        self.done(&Command::Split(Split {
            account: trader.account,
            market,
            lots: Lots(shares * 100),
            reference,
        }));
    }

    /// A GTC limit order: `shares` at `cents`.
    pub(crate) fn limit(
        &mut self,
        trader: Trader,
        market: MarketNumber,
        (side, outcome): (Side, Outcome),
        shares: u64,
        cents: u64,
    ) -> PlaceOrder {
        let (collateral, micro_shares) = (shares * cents * UNIT / 100, shares * UNIT);
        let (maker_amount, taker_amount) = match side {
            Side::Buy => (collateral, micro_shares),
            Side::Sell => (micro_shares, collateral),
        };
        PlaceOrder {
            order: OrderId(self.name()),
            account: trader.account,
            key: trader.key,
            market,
            outcome,
            side,
            order_type: OrderType::Gtc,
            post_only: false,
            maker_amount,
            taker_amount,
            expiration: TimeSeconds(0),
            timestamp: TimeMs(self.now.0 / 1_000_000),
        }
    }

    #[track_caller]
    pub(crate) fn place(&mut self, order: PlaceOrder) -> OrderResult {
        match self.done(&Command::PlaceOrder(order)) {
            CommandOutcome::Order(result) => result,
            other => panic!("{other:?}"),
        }
    }

    /// Places a limit order that must rest whole; returns its number.
    #[track_caller]
    pub(crate) fn rest(
        &mut self,
        trader: Trader,
        market: MarketNumber,
        what: (Side, Outcome),
        shares: u64,
        cents: u64,
    ) -> u64 {
        let order = self.limit(trader, market, what, shares, cents);
        let result = self.place(order);
        assert_eq!(result.status, foretell_model::OrderStatus::Live);
        self.exchange.sequence().0
    }

    pub(crate) fn fills(&self) -> Vec<Fill> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Fill(fill) => Some(*fill),
                _ => None,
            })
            .collect()
    }

    /// Numbers and reasons of the orders that the last command closed.
    pub(crate) fn closed(&self) -> Vec<(u64, foretell_model::CloseReason)> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::OrderClosed(OrderClosed { order, reason, .. }) => Some((order.0, *reason)),
                _ => None,
            })
            .collect()
    }

    /// Free and reserved collateral.
    pub(crate) fn money(&self, trader: Trader) -> (u64, u64) {
        let mut found = None;
        self.exchange.visit_state(&mut |record| match record {
            StateRecord::Account(state::Account {
                account,
                free,
                reserved,
                ..
            }) if *account == trader.account => found = Some((free.0, reserved.0)),
            _ => {}
        });
        found.unwrap()
    }

    /// Free plus reserved shares of `[Yes, No]`, in lots.
    pub(crate) fn shares(&self, trader: Trader, market: MarketNumber) -> [u64; 2] {
        let mut found = [0; 2];
        self.exchange.visit_state(&mut |record| match record {
            StateRecord::Position(state::Position {
                account,
                market: of,
                free,
                reserved,
            }) if (*account, *of) == (trader.account, market) => {
                found = [0, 1].map(|index| free[index].0 + reserved[index].0);
            }
            _ => {}
        });
        found
    }

    pub(crate) fn supply(&self, market: MarketNumber) -> [u64; 2] {
        let mut found = None;
        self.exchange.visit_state(&mut |record| match record {
            StateRecord::Market(state::Market {
                market: of, supply, ..
            }) if *of == market => found = Some(supply.map(|lots| lots.0)),
            _ => {}
        });
        found.unwrap()
    }

    /// Numbers and lots of the live orders, in book order.
    pub(crate) fn book(&self) -> Vec<(u64, u64)> {
        let mut orders = Vec::new();
        self.exchange.visit_state(&mut |record| {
            if let StateRecord::Order(state::Order { order, lots, .. }) = record {
                orders.push((order.0, lots.0));
            }
        });
        orders
    }
}
