//! A journal written by hand: commands with the events that a correct exchange would record.

#![allow(dead_code, reason = "every test file uses its part of the scene")]
#![allow(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails its test"
)]

use foretell_fixtures::{self as fixtures, trader};
use foretell_model::command::{Merge, RegisterKey, RegisterMarket};
use foretell_model::event::{
    self, AccountOpened, Deposited, KeyRegistered, MarketRegistered, MarketStateSet, Merged,
    OrderRested,
};
use foretell_model::evidence::{ActEvidence, OrderEvidence, WORDS_BYTES};
use foretell_model::{
    AccountNumber, ApiKey, Command, DomainNumber, Event, EventNumber, Fill, FramePosition,
    FrameRef, HoldSet, KeyNumber, Lots, MarketNumber, MarketState, MatchKind, Micros,
    OperatorNumber, OrderId, OrderNumber, Outcome, PlaceOrder, Price, Reference, Sequence, Side,
    TimeNs, TokenId, WalletAddress,
};
use foretell_view::{FoldError, Order, Summary, TradeList, TradeSlot, View};

pub(crate) const GENESIS: [u8; 32] = [9; 32];
pub(crate) const ALICE: AccountNumber = AccountNumber(0);
pub(crate) const BOB: AccountNumber = AccountNumber(1);
pub(crate) const CAROL: AccountNumber = AccountNumber(2);
pub(crate) const MARKET: MarketNumber = MarketNumber(0);
pub(crate) const YES: Outcome = Outcome::Yes;
pub(crate) const NO: Outcome = Outcome::No;
pub(crate) const BUY: Side = Side::Buy;
pub(crate) const SELL: Side = Side::Sell;

/// Prices and lots, best first.
pub(crate) type Ladder = Vec<(u16, u64)>;

/// A view, and the time of the journal's end.
pub(crate) struct Scene {
    pub(crate) view: View,
    /// Seconds by which frames are later than their sequence.
    late: u64,
    /// The segment of further frames.
    pub(crate) segment: u32,
}

pub(crate) fn wallet(account: AccountNumber) -> WalletAddress {
    trader(account.0).wallet
}

pub(crate) fn order_id(number: u64) -> OrderId {
    let mut id = [0xA5; 32];
    id[..8].copy_from_slice(&number.to_be_bytes());
    OrderId(id)
}

pub(crate) fn token(market: MarketNumber, outcome: Outcome) -> TokenId {
    let mut token = [outcome.code(); 32];
    token[..4].copy_from_slice(&market.0.to_be_bytes());
    TokenId(token)
}

pub(crate) fn market_rules(market: MarketNumber, event: Option<EventNumber>) -> RegisterMarket {
    let market = fixtures::market(market.0).refines().minimum(Lots(500));
    RegisterMarket {
        event,
        ..market.terms
    }
}

/// A GTC order of whole lots at a price in its own token.
pub(crate) fn limit(
    account: AccountNumber,
    outcome: Outcome,
    side: Side,
    lots: u64,
    price: u16,
) -> PlaceOrder {
    let order = trader(account.0).order(side, Lots(lots)).of(outcome);
    order.at(Price(price)).terms()
}

pub(crate) fn fill(
    maker: (OrderNumber, AccountNumber),
    kind: MatchKind,
    yes_price: u16,
    lots: u64,
    left: u64,
) -> Fill {
    Fill {
        rebate: Micros(0),
        maker_order: maker.0,
        maker: maker.1,
        kind,
        yes_price: Price(yes_price),
        lots: Lots(lots),
        maker_left: Lots(left),
        fee: Micros(0),
    }
}

pub(crate) fn rested(lots: u64, price: u16) -> Event {
    Event::OrderRested(OrderRested {
        lots: Lots(lots),
        price: Price(price),
    })
}

/// Evidence of an order with a builder.
pub(crate) fn evidence_of_builder(builder: u8) -> Vec<u8> {
    let mut words = [0; WORDS_BYTES];
    words[10 * 32..].fill(builder);
    let mut bytes = Vec::new();
    OrderEvidence {
        words: &words,
        domain: DomainNumber(1),
        signature: &[1; 65],
    }
    .encode(&mut bytes);
    bytes
}

/// A list of trades, oldest first, after checking that every way to read it agrees.
pub(crate) fn listed<S: Summary>(slots: TradeList<'_, S>) -> Vec<TradeSlot> {
    let mut listed: Vec<_> = slots.newest_first().collect();
    listed.reverse();
    assert_eq!(
        (slots.len(), slots.is_empty()),
        (listed.len(), listed.is_empty())
    );
    for (index, slot) in listed.iter().enumerate() {
        assert_eq!(slots.get(index), Some(*slot));
    }
    assert_eq!(slots.get(listed.len()), None);
    listed
}

impl Scene {
    /// An empty view.
    pub(crate) fn empty() -> Self {
        Self {
            view: View::new(GENESIS),
            late: 0,
            segment: 1,
        }
    }

    /// Alice, Bob and Carol with 1,000 units each and a key each, and one active market.
    pub(crate) fn trading() -> Self {
        Self::trading_in(View::new(GENESIS))
    }

    /// The same in an empty view.
    pub(crate) fn trading_in(view: View) -> Self {
        let mut scene = Self {
            view,
            late: 0,
            segment: 1,
        };
        for account in [ALICE, BOB, CAROL] {
            scene.deposit(account, 1_000_000_000);
            scene.key(KeyNumber(account.0), account);
        }
        scene.market(MARKET, None, 0);
        scene.activate(MARKET);
        scene
    }

    pub(crate) fn next(&self) -> u64 {
        self.view.sequence().0 + 1
    }

    /// Each frame is one second after the previous one.
    pub(crate) fn time(&self) -> TimeNs {
        TimeNs((self.next() + self.late) * 1_000_000_000)
    }

    /// Sets the time of the next frame to this second, which must not be in the past.
    pub(crate) fn wait_until(&mut self, second: u64) {
        self.late = second.checked_sub(self.next()).unwrap();
    }

    pub(crate) fn try_step(
        &mut self,
        command: &Command,
        events: &[Event],
        evidence: &[u8],
    ) -> Result<Sequence, FoldError> {
        self.try_act(OperatorNumber::NONE, command, events, evidence)
    }

    /// A command of an operator, whose evidence begins with a reason.
    pub(crate) fn act(
        &mut self,
        operator: OperatorNumber,
        command: Command,
        events: &[Event],
        own: &[u8],
    ) -> Sequence {
        let mut evidence = Vec::new();
        let reason = "a reason";
        ActEvidence { reason, own }.encode(&mut evidence);
        self.try_act(operator, &command, events, &evidence).unwrap()
    }

    fn try_act(
        &mut self,
        operator: OperatorNumber,
        command: &Command,
        events: &[Event],
        evidence: &[u8],
    ) -> Result<Sequence, FoldError> {
        let sequence = Sequence(self.next());
        let place = FramePosition {
            segment: self.segment,
            offset: u32::try_from(sequence.0).unwrap() * 512,
            length: 100,
        };
        let frame = FrameRef {
            operator,
            touched: 0,
            sequence,
            time: self.time(),
            command,
            events,
            evidence,
            place,
        };
        self.view.apply(&frame).map(|()| sequence)
    }

    pub(crate) fn step(&mut self, command: Command, events: &[Event]) -> Sequence {
        self.try_step(&command, events, &[]).unwrap()
    }

    /// Places an order whose id is derived from its number.
    pub(crate) fn place(&mut self, order: PlaceOrder, events: &[Event]) -> OrderNumber {
        self.place_with(order, events, &[])
    }

    pub(crate) fn place_with(
        &mut self,
        mut order: PlaceOrder,
        events: &[Event],
        evidence: &[u8],
    ) -> OrderNumber {
        order.order = order_id(self.next());
        let command = Command::PlaceOrder(order);
        OrderNumber(self.try_step(&command, events, evidence).unwrap().0)
    }

    /// Places a resting order without a match.
    pub(crate) fn rest(
        &mut self,
        account: AccountNumber,
        outcome: Outcome,
        side: Side,
        lots: u64,
        price: u16,
    ) -> OrderNumber {
        let order = limit(account, outcome, side, lots, price);
        self.place(order, &[rested(lots, price)])
    }

    pub(crate) fn deposit(&mut self, account: AccountNumber, amount: u64) {
        let wallet = wallet(account);
        let command = trader(account.0).deposit(Micros(amount));
        let opened = Event::AccountOpened(AccountOpened { account, wallet });
        let deposited = Event::Deposited(Deposited {
            account,
            amount: Micros(amount),
        });
        if self.view.accounts().get(account).is_none() {
            self.step(command, &[opened, deposited]);
        } else {
            self.step(command, &[deposited]);
        }
    }

    pub(crate) fn key(&mut self, key: KeyNumber, owner: AccountNumber) -> Sequence {
        let byte = u8::try_from(key.0).unwrap();
        let command = Command::RegisterKey(RegisterKey {
            owner: wallet(owner),
            nonce: [byte; 32],
            api_key: ApiKey([byte + 1; 16]),
            read_only: false,
        });
        let registered = Event::KeyRegistered(KeyRegistered { key, owner });
        self.step(command, &[registered])
    }

    pub(crate) fn market(
        &mut self,
        market: MarketNumber,
        event: Option<EventNumber>,
        question: u32,
    ) -> Sequence {
        let rules = market_rules(market, event);
        let registered = Event::MarketRegistered(MarketRegistered {
            market,
            condition: rules.condition,
            question,
            has_slug: false,
        });
        let command = Command::RegisterMarket(rules);
        self.try_step(&command, &[registered], b"about it").unwrap()
    }

    pub(crate) fn activate(&mut self, market: MarketNumber) -> Sequence {
        let active = Event::MarketStateSet(MarketStateSet {
            holds: HoldSet::NONE,
            market,
            state: MarketState::Active,
        });
        self.step(Command::ActivateMarket { market }, &[active])
    }

    pub(crate) fn split(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        lots: u64,
    ) -> Sequence {
        let lots = Lots(lots);
        let command = trader(account.0).split(market, lots);
        let split = Event::Split(event::Split {
            account,
            market,
            lots,
        });
        self.step(command, &[split])
    }

    pub(crate) fn merge(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        lots: u64,
    ) -> Sequence {
        let lots = Lots(lots);
        let command = Command::Merge(Merge {
            account,
            market,
            lots,
            reference: Reference::ZERO,
        });
        let merged = Event::Merged(Merged {
            account,
            market,
            lots,
        });
        self.step(command, &[merged])
    }

    /// The order with this number, live or finished.
    pub(crate) fn order(&self, number: OrderNumber) -> Option<Order> {
        self.view.orders().by_id(&order_id(number.0))
    }

    /// Free and reserved collateral.
    pub(crate) fn collateral(&self, account: AccountNumber) -> (u64, u64) {
        let account = self.view.accounts().get(account).unwrap();
        (account.free.0, account.reserved.0)
    }

    /// Free Yes, free No, reserved Yes, reserved No.
    pub(crate) fn shares(&self, account: AccountNumber) -> [u64; 4] {
        let held = self.view.holdings().balance(account, MARKET);
        [
            held.free[0].0,
            held.free[1].0,
            held.reserved[0].0,
            held.reserved[1].0,
        ]
    }

    pub(crate) fn supply(&self, market: MarketNumber) -> [u64; 2] {
        self.view
            .markets()
            .get(market)
            .unwrap()
            .supply
            .map(|lots| lots.0)
    }

    /// Bids and asks of a token, best first.
    pub(crate) fn book(&self, outcome: Outcome) -> (Ladder, Ladder) {
        let book = self.view.books().get(MARKET).unwrap().of(outcome);
        let plain = |level: foretell_view::Level| (level.price.0, level.lots.0);
        (
            book.bids().map(plain).collect(),
            book.asks().map(plain).collect(),
        )
    }
}
