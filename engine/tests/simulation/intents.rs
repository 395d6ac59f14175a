//! Generates the clients' intents: a small exchange to trade in, then orders, cancels, sets and
//! replaces, with prices close enough that most orders match. `operator_intents.rs` has the
//! operators' commands.

use foretell_model::command::{
    CancelAll, CancelMarketOrders, CancelOrder, Convert, DecreaseOrder, Deposit, Merge, Redeem,
    RegisterKey, RegisterMarket, Split,
};
use foretell_model::{
    ApiKey, Command, ConditionId, EventId, EventNumber, FeeSchedule, Lots, MarketNumber, Micros,
    OperatorNumber, OrderId, OrderType, Outcome, PlaceOrder, QuestionIndex, QuestionSet, Reference,
    Side, Tick, TimeMs, TimeNs, TimeSeconds, TokenId, WalletAddress,
};

use super::context::SimContext;
use super::ledger::{Holder, Ledger};

/// Number of trading wallets.
pub(super) const WALLETS: u8 = 4;
/// Plain markets that the prelude registers.
const PLAIN: u8 = 2;
/// Questions of its event group.
const QUESTIONS: u8 = 3;
/// Markets that the prelude registers.
pub(super) const MARKETS: u8 = PLAIN + QUESTIONS;
/// Its event group.
const EVENT: EventNumber = EventNumber(0);
/// Cancels, and orders, of a replace: all of it fits into the smallest ring.
const MOST_OF_A_REPLACE: u64 = 3;

/// A command and who sends it.
pub(super) type Act = (OperatorNumber, Command);

/// Generates commands. Ids and references are unique.
#[derive(Debug)]
pub(super) struct IntentGenerator {
    pub(super) context: SimContext,
    names: u64,
    /// Maximum bytes of evidence.
    evidence: u64,
}

/// The command that registers the event group.
pub(super) fn register_event() -> Command {
    Command::RegisterEvent { event: EventId(5) }
}

/// The number of a registered market: 0 is the outside question.
pub(super) fn market_number(registered: u8) -> MarketNumber {
    MarketNumber(1 + u32::from(registered))
}

/// The command that registers a market; the markets differ in tick and fee.
pub(super) fn register_market(number: u8) -> Command {
    let kind = number % PLAIN;
    let is_question = (PLAIN..MARKETS).contains(&number);
    let ticks = [Tick::Hundredth, Tick::HalfHundredth, Tick::QuarterHundredth];
    Command::RegisterMarket(RegisterMarket {
        index: is_question.then_some(QuestionIndex(10 * number)),
        condition: ConditionId([7 + number; 32]),
        tokens: [
            TokenId([101 + 2 * number; 32]),
            TokenId([102 + 2 * number; 32]),
        ],
        tick: ticks[usize::from(number) % ticks.len()],
        tick_refines: kind == 1,
        minimum_size: Lots(1),
        fee: FeeSchedule {
            rate_ppm: 20_000 * u32::from(kind),
            exponent: kind,
        },
        event: is_question.then_some(EVENT),
        has_details: false,
    })
}

impl IntentGenerator {
    pub(super) fn new(context: SimContext) -> Self {
        let evidence = context.pick(&[300, 600, 2_000, 60_000]);
        Self {
            context,
            names: 0,
            evidence,
        }
    }

    pub(super) fn name<const N: usize>(&mut self, kind: u8) -> [u8; N] {
        self.names += 1;
        let mut name = [kind; N];
        name[N - 8..].copy_from_slice(&self.names.to_be_bytes());
        name
    }

    /// Evidence of any length up to `most`. That of an operator begins with an empty reason.
    pub(super) fn evidence(&self, operator: OperatorNumber, most: u64) -> Vec<u8> {
        let length = self.context.below(self.evidence.min(most));
        let byte = u8::try_from(self.context.below(256)).expect("below 256");
        let mut evidence = vec![byte; usize::try_from(length).expect("a length")];
        if operator != OperatorNumber::NONE {
            evidence.splice(0..0, [0, 0]);
        }
        evidence
    }

    /// A command that sets up the exchange; each `step` needs the answers to all before it.
    pub(super) fn prelude(&mut self, step: usize, ledger: &Ledger) -> Option<Act> {
        let step = u8::try_from(step).ok()?;
        let wallet = |number: u8| WalletAddress([0xC0 + number; 20]);
        let nobody = OperatorNumber::NONE;
        let (markets, people) = (1 + 2 * MARKETS, 1 + 2 * MARKETS + Self::PEOPLE);
        Some(match step {
            0 => (nobody, register_event()),
            _ if step <= MARKETS => (nobody, register_market(step - 1)),
            _ if step < markets => {
                let market = *ledger.markets.get(usize::from(step - 1 - MARKETS))?;
                (nobody, Command::ActivateMarket { market })
            }
            _ if step < people => self.people(step - markets, ledger)?,
            _ if step < people + WALLETS => {
                let deposit = Command::Deposit(Deposit {
                    wallet: wallet(step - people),
                    amount: Micros(400_000_000),
                    reference: Reference(self.name(0xD0)),
                });
                (nobody, deposit)
            }
            _ if step < people + 2 * WALLETS => {
                let register = Command::RegisterKey(RegisterKey {
                    owner: wallet(step - people - WALLETS),
                    nonce: [0; 32],
                    api_key: ApiKey(self.name(0xE0)),
                    read_only: false,
                });
                (nobody, register)
            }
            _ => return None,
        })
    }

    /// A command of a trader at this engine time.
    pub(super) fn of_trader(&mut self, ledger: &Ledger, now: TimeNs) -> Option<Command> {
        let holder = self.holder(ledger)?;
        let market = self.market(ledger);
        let lots = Lots(1 + self.context.below(3_000));
        Some(match self.context.below(100) {
            0..=13 => Command::Split(Split {
                account: holder.account,
                market,
                lots,
                reference: Reference(self.name(0xF0)),
            }),
            14..=15 => self.convert(holder),
            16..=17 => Command::Merge(Merge {
                account: holder.account,
                market,
                lots,
                reference: Reference(self.name(0xF0)),
            }),
            18..=20 => Command::Redeem(Redeem {
                account: holder.account,
                market: self.any_market(ledger),
                reference: Reference(self.name(0xF0)),
            }),
            21..=27 => self.end(holder, ledger)?,
            28..=30 => Command::CancelAll(CancelAll {
                owner: holder.account,
                heartbeat: false,
            }),
            31..=33 => Command::CancelMarketOrders(CancelMarketOrders {
                owner: holder.account,
                market,
                outcome: None,
            }),
            _ => self.order(holder, market, now),
        })
    }

    fn convert(&mut self, holder: Holder) -> Command {
        let given = (0..QUESTIONS).filter(|_| self.context.percent(50));
        let questions = given.fold(QuestionSet::default(), |set, place| set.with(place.into()));
        Command::Convert(Convert {
            account: holder.account,
            event: EVENT,
            questions,
            lots: Lots(1 + self.context.below(1_000)),
            reference: Reference(self.name(0xF0)),
        })
    }

    /// Cancels and orders of one trader that are sent together.
    pub(super) fn replace(&mut self, ledger: &Ledger, now: TimeNs) -> Option<Vec<Command>> {
        let holder = self.holder(ledger)?;
        let market = self.market(ledger);
        let cancels = self.context.below(MOST_OF_A_REPLACE + 1);
        let orders = 1 + self.context.below(MOST_OF_A_REPLACE);
        let cancels = (0..cancels).filter_map(|_| {
            let (owner, order) = (holder.account, self.recent(ledger)?);
            Some(Command::CancelOrder(CancelOrder { owner, order }))
        });
        let mut commands: Vec<Command> = cancels.collect();
        commands.extend((0..orders).map(|_| self.order(holder, market, now)));
        Some(commands)
    }

    pub(super) fn holder(&self, ledger: &Ledger) -> Option<Holder> {
        if ledger.holders.len() < usize::from(WALLETS) {
            return None;
        }
        Some(ledger.holders[self.context.index(ledger.holders.len())])
    }

    /// One of the newest markets.
    fn market(&self, ledger: &Ledger) -> MarketNumber {
        let newest = ledger.markets.len().min(3);
        ledger.markets[ledger.markets.len() - 1 - self.context.index(newest)]
    }

    pub(super) fn any_market(&self, ledger: &Ledger) -> MarketNumber {
        ledger.markets[self.context.index(ledger.markets.len())]
    }

    /// A cancel or a decrease of one of the most recent orders.
    fn end(&mut self, holder: Holder, ledger: &Ledger) -> Option<Command> {
        let (owner, order) = (holder.account, self.recent(ledger)?);
        Some(match self.context.below(4) {
            0 => Command::DecreaseOrder(DecreaseOrder {
                owner,
                order,
                lots: Lots(1 + self.context.below(1_000)),
            }),
            _ => Command::CancelOrder(CancelOrder { owner, order }),
        })
    }

    /// One of the most recent orders.
    fn recent(&self, ledger: &Ledger) -> Option<OrderId> {
        let back = self.context.index(30);
        let mut orders = ledger
            .intents
            .iter()
            .rev()
            .filter_map(|it| match it.command {
                Command::PlaceOrder(order) => Some(order.order),
                _ => None,
            });
        orders.nth(back)
    }

    fn order(&mut self, holder: Holder, market: MarketNumber, now: TimeNs) -> Command {
        const MICRO_SHARES: u64 = 10_000;
        const GTD_SAFETY: u64 = 60;
        let lots = 1 + self.context.below(2_000);
        let cents = 45 + self.context.below(11);
        let (shares, value) = (lots * MICRO_SHARES, lots * cents * 100);
        let side = self.context.pick(&[Side::Buy, Side::Buy, Side::Sell]);
        let (maker_amount, taker_amount) = match side {
            Side::Buy => (value, shares),
            Side::Sell => (shares, value),
        };
        let order_type = self.context.pick(&[
            OrderType::Gtc,
            OrderType::Gtc,
            OrderType::Gtc,
            OrderType::Gtd,
            OrderType::Fok,
            OrderType::Fak,
        ]);
        let seconds = now.0 / 1_000_000_000;
        let expiration = match order_type {
            OrderType::Gtd => TimeSeconds(seconds + GTD_SAFETY + 2 + self.context.below(60)),
            _ => TimeSeconds(0),
        };
        Command::PlaceOrder(PlaceOrder {
            order: OrderId(self.name(0xA0)),
            account: holder.account,
            key: holder.key,
            market,
            outcome: self.context.pick(&[Outcome::Yes, Outcome::No]),
            side,
            order_type,
            post_only: order_type == OrderType::Gtc && self.context.percent(10),
            maker_amount,
            taker_amount,
            expiration,
            timestamp: TimeMs(now.millis().0),
        })
    }
}
