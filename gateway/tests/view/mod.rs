//! A view for tests, folded from frames as a correct exchange would write them.

use foretell_fixtures::{order_id, trader};
use foretell_model::command::{PauseMarket, RegisterKey, RevokeKey, SetQuotes};
use foretell_model::event::{
    AccountOpened, Deposited, KeyRegistered, MarketRegistered, MarketStateSet, OrderClosed,
    OrderRested, QuotePlaced, QuotesSet,
};
use foretell_model::evidence::{OrderEvidence, QuotesEvidence, WORDS_BYTES};
use foretell_model::quote::Quote;
use foretell_model::tail::Tail;
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, Command, ConditionId, DomainNumber, Event, Fill,
    FramePosition, FrameRef, Hold, HoldSet, KeyNumber, Lots, MarketNumber, MarketState, MatchKind,
    Micros, OrderNumber, Outcome, Price, Sequence, Side, TimeMs, TimeNs, WalletAddress,
};
use foretell_view::View;

pub(crate) const ALICE: AccountNumber = AccountNumber(0);
pub(crate) const BOB: AccountNumber = AccountNumber(1);
pub(crate) const CAROL: AccountNumber = AccountNumber(2);
/// Price of BUY Yes and of BUY No.
const YES_PRICE: u16 = 6_000;

/// A view; its methods append frames.
pub(crate) struct TestView(pub(crate) View);

fn byte(account: AccountNumber) -> u8 {
    u8::try_from(account.0).expect("few accounts")
}

pub(crate) fn wallet(account: AccountNumber) -> WalletAddress {
    trader(account.0).wallet
}

pub(crate) fn condition(market: MarketNumber) -> ConditionId {
    foretell_fixtures::market(market.0).terms.condition
}

/// A fill of one lot of a resting BUY of No, of which `left` lots remain.
fn fill((maker, maker_order): (AccountNumber, OrderNumber), left: u64) -> Event {
    Event::Fill(Fill {
        rebate: Micros(0),
        maker_order,
        maker,
        kind: MatchKind::Mint,
        yes_price: Price(YES_PRICE),
        lots: Lots(1),
        maker_left: Lots(left),
        fee: Micros(0),
    })
}

impl TestView {
    /// A view with Alice, Bob and Carol, a key for each, and `markets` active markets.
    pub(crate) fn new(markets: u32) -> Self {
        let mut view = Self(View::new([0; 32]));
        for account in [ALICE, BOB, CAROL] {
            view.open(account);
        }
        for market in 0..markets {
            view.register(MarketNumber(market));
        }
        view
    }

    fn step(&mut self, command: &Command, events: &[Event], evidence: &[u8]) {
        let sequence = self.0.sequence().next();
        let frame = FrameRef {
            operator: foretell_model::OperatorNumber::NONE,
            touched: 0,
            sequence,
            time: TimeNs(sequence.0 * 1_000_000_000),
            command,
            events,
            evidence,
            place: FramePosition::default(),
        };
        self.0.apply(&frame).expect("a frame that follows");
    }

    fn open(&mut self, account: AccountNumber) {
        let (wallet, amount) = (wallet(account), Micros(1_000_000_000));
        let deposit = trader(account.0).deposit(amount);
        let opened = Event::AccountOpened(AccountOpened { account, wallet });
        let deposited = Event::Deposited(Deposited { account, amount });
        self.step(&deposit, &[opened, deposited], &[]);
        self.key(account, 0xFF);
    }

    /// Adds a key with this nonce to an account.
    pub(crate) fn key(&mut self, owner: AccountNumber, nonce: u8) -> KeyNumber {
        let mut api_key = ApiKey([nonce; 16]);
        api_key.0[0] = byte(owner);
        let register = Command::RegisterKey(RegisterKey {
            owner: wallet(owner),
            nonce: [nonce; 32],
            api_key,
            read_only: false,
        });
        let key = KeyNumber(u32::try_from(self.0.keys().count()).expect("few keys"));
        self.step(
            &register,
            &[Event::KeyRegistered(KeyRegistered { key, owner })],
            &[],
        );
        key
    }

    /// Revokes the key.
    pub(crate) fn revoke(&mut self, key: KeyNumber) {
        let revoke = Command::RevokeKey(RevokeKey {
            key,
            cancel_orders: false,
        });
        self.step(&revoke, &[Event::KeyRevoked { key }], &[]);
    }

    fn register(&mut self, market: MarketNumber) {
        let registered = Event::MarketRegistered(MarketRegistered {
            market,
            condition: condition(market),
            question: 0,
            has_slug: false,
        });
        let register = foretell_fixtures::market(market.0).register();
        self.step(&register, &[registered], &[]);
        self.set_state(market, MarketState::Active);
    }

    /// Activates or pauses the market.
    pub(crate) fn set_state(&mut self, market: MarketNumber, state: MarketState) {
        let command = match state {
            MarketState::Paused => Command::PauseMarket(PauseMarket {
                market,
                hold: Hold::Operator,
            }),
            _ => Command::ActivateMarket { market },
        };
        self.step(
            &command,
            &[Event::MarketStateSet(MarketStateSet {
                holds: HoldSet::NONE,
                market,
                state,
            })],
            &[],
        );
    }

    /// A BUY of `lots`.
    fn buy(
        &mut self,
        account: AccountNumber,
        (market, outcome): (MarketNumber, Outcome),
        lots: u64,
        builder: u8,
        events: &[Event],
    ) -> OrderNumber {
        let number = self.0.sequence().next().0;
        let price = match outcome {
            Outcome::Yes => YES_PRICE,
            Outcome::No => 10_000 - YES_PRICE,
        };
        let order = trader(account.0).buy(Lots(lots)).at(Price(price));
        let order = order.of(outcome).on(market).id(order_id(number));
        let mut words = [0; WORDS_BYTES];
        words[10 * 32..].fill(builder);
        let mut evidence = Vec::new();
        OrderEvidence {
            words: &words,
            domain: DomainNumber(1),
            signature: &[1; 65],
        }
        .encode(&mut evidence);
        self.step(&order.place(), events, &evidence);
        OrderNumber(number)
    }

    /// Rests a BUY of No.
    pub(crate) fn rest(&mut self, account: AccountNumber, lots: u64) -> OrderNumber {
        self.rest_in(MarketNumber(0), account, lots, 0)
    }

    fn rest_in(
        &mut self,
        market: MarketNumber,
        account: AccountNumber,
        lots: u64,
        builder: u8,
    ) -> OrderNumber {
        let rested = Event::OrderRested(OrderRested {
            lots: Lots(lots),
            price: Price(10_000 - YES_PRICE),
        });
        self.buy(account, (market, Outcome::No), lots, builder, &[rested])
    }

    /// Rests quotes of a set: a BUY of No of one lot each, at prices from 0.01 on.
    pub(crate) fn quote(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        quotes: u8,
    ) -> Vec<OrderNumber> {
        let sequence = self.0.sequence().next();
        let mut digest = order_id(sequence.0);
        // Only the last byte differs within a set.
        digest.0.reverse();
        let placed = |index| OrderNumber::of(sequence, index);
        let words = (0..quotes).map(|index| Quote {
            condition: 0,
            outcome: Outcome::No,
            side: Side::Buy,
            price: Price(100 + u16::from(index)),
            lots: Lots(1),
            grow_tail: false,
        });
        let words: Vec<_> = words.map(|quote| quote.word()).collect();
        let mut beside = Vec::new();
        Tail::append(&[market], &mut beside);
        Tail::append(&words, &mut beside);
        QuotesEvidence {
            signer: wallet(account),
            signature_type: 0,
            builder: [0; 32],
            chain: 80_002,
            signature: &[1; 65],
        }
        .encode(&mut beside);
        let set = Command::SetQuotes(SetQuotes {
            account,
            key: KeyNumber(account.0),
            digest,
            group: 0,
            revision: sequence.0,
            seen: Sequence(u64::MAX),
            timestamp: TimeMs(sequence.0 * 1_000),
            valid_until: TimeMs(sequence.0 * 1_000 + 60_000),
            conditions: 1,
            quotes,
        });
        let until = TimeNs(sequence.0 * 1_000_000_000 + 60_000_000_000);
        let placings = (0..quotes).map(|index| {
            let (order, lots) = (placed(index), Lots(1));
            Event::QuotePlaced(QuotePlaced { order, lots })
        });
        let events: Vec<_> = [Event::QuotesSet(QuotesSet { until })]
            .into_iter()
            .chain(placings)
            .collect();
        self.step(&set, &events, &beside);
        (0..quotes).map(placed).collect()
    }

    /// A BUY of Yes takes one lot of such an order; `left` lots remain.
    pub(crate) fn take(
        &mut self,
        taker: (AccountNumber, u8),
        market: MarketNumber,
        maker: (AccountNumber, OrderNumber),
        left: u64,
    ) {
        let events = [fill(maker, left), Event::OrderCompleted];
        self.buy(taker.0, (market, Outcome::Yes), 1, taker.1, &events);
    }

    /// One trade: an order takes one lot of a new order of each maker, all with builders; 0 is none.
    pub(crate) fn sweep(
        &mut self,
        market: MarketNumber,
        taker: (AccountNumber, u8),
        makers: &[(AccountNumber, u8)],
    ) {
        let rest = |&(maker, builder)| (maker, self.rest_in(market, maker, 1, builder));
        let resting: Vec<_> = makers.iter().map(rest).collect();
        let fills = resting.into_iter().map(|maker| fill(maker, 0));
        let events: Vec<_> = fills.chain([Event::OrderCompleted]).collect();
        let lots = makers.len() as u64;
        self.buy(taker.0, (market, Outcome::Yes), lots, taker.1, &events);
    }

    /// A trade of one lot between two accounts, each with a builder; 0 is none.
    pub(crate) fn trade(
        &mut self,
        market: MarketNumber,
        taker: (AccountNumber, u8),
        maker: (AccountNumber, u8),
    ) {
        let resting = self.rest_in(market, maker.0, 1, maker.1);
        self.take(taker, market, (maker.0, resting), 0);
    }

    /// Cancels the order.
    pub(crate) fn cancel(&mut self, account: AccountNumber, order: OrderNumber, lots: u64) {
        let closed = Event::OrderClosed(OrderClosed {
            order,
            account,
            lots: Lots(lots),
            reason: CloseReason::User,
        });
        self.step(&Command::AdvanceTime, &[closed], &[]);
    }
}
