//! Generates the clients' intents: a small exchange to trade in, then orders, cancels and sets,
//! with prices close enough that most orders match.

use foretell_model::command::RegisterMarket;
use foretell_model::{
    ApiKey, Command, ConditionId, Digest16, FeeSchedule, Lots, Micros, OrderId, OrderType, Outcome,
    PlaceOrder, Reference, Side, Tick, TimeMs, TimeNs, TimeSeconds, TokenId, WalletAddress,
};

use super::context::SimContext;
use super::ledger::{Holder, Ledger};

/// Number of trading wallets.
pub(super) const WALLETS: u8 = 4;
const MARKETS: u8 = 2;

/// Generates commands. Ids and references are unique.
#[derive(Debug)]
pub(super) struct IntentGenerator {
    context: SimContext,
    names: u64,
    /// Maximum bytes of evidence.
    evidence: u64,
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

    fn name<const N: usize>(&mut self, kind: u8) -> [u8; N] {
        self.names += 1;
        let mut name = [kind; N];
        name[N - 8..].copy_from_slice(&self.names.to_be_bytes());
        name
    }

    /// Evidence of any length.
    pub(super) fn evidence(&self) -> Vec<u8> {
        let length = self.context.below(self.evidence);
        let byte = u8::try_from(self.context.below(256)).expect("below 256");
        vec![byte; usize::try_from(length).expect("a length")]
    }

    /// A command that sets up the exchange; each `step` needs the answers to all before it.
    pub(super) fn prelude(&mut self, step: usize, ledger: &Ledger) -> Option<Command> {
        let step = u8::try_from(step).ok()?;
        let wallet = |number: u8| WalletAddress([0xC0 + number; 20]);
        let second = step.checked_sub(MARKETS);
        let third = step.checked_sub(2 * MARKETS);
        Some(match (second, third) {
            (None, _) => Command::RegisterMarket(RegisterMarket {
                condition: ConditionId([7 + step; 32]),
                tokens: [TokenId([1 + 2 * step; 32]), TokenId([2 + 2 * step; 32])],
                tick: Tick::Hundredth,
                tick_refines: step == 1,
                minimum_size: Lots(1),
                fee: FeeSchedule {
                    rate_ppm: 20_000 * u32::from(step),
                    exponent: step,
                },
                event: None,
            }),
            (Some(number), None) => Command::ActivateMarket {
                market: *ledger.markets.get(usize::from(number))?,
            },
            (_, Some(number)) if number < WALLETS => Command::Deposit {
                wallet: wallet(number),
                amount: Micros(400_000_000),
                reference: Reference(self.name(0xD0)),
            },
            (_, Some(number)) if number < 2 * WALLETS => Command::RegisterKey {
                owner: wallet(number - WALLETS),
                nonce: [0; 32],
                api_key: ApiKey(self.name(0xE0)),
                read_only: false,
            },
            _ => return None,
        })
    }

    /// A command of an operator.
    pub(super) fn of_operator(&mut self, ledger: &Ledger) -> Option<Command> {
        let holder = self.holder(ledger)?;
        let market = ledger.markets[self.context.index(ledger.markets.len())];
        Some(match self.context.below(10) {
            0 => Command::PauseMarket { market },
            1..=4 => Command::ResumeMarket { market },
            5 => Command::Withdraw {
                wallet: holder.wallet,
                amount: Micros(1 + self.context.below(30_000_000)),
                reference: Reference(self.name(0xD0)),
            },
            _ => Command::Deposit {
                wallet: holder.wallet,
                amount: Micros(1 + self.context.below(30_000_000)),
                reference: Reference(self.name(0xD0)),
            },
        })
    }

    /// A command of a trader at this engine time.
    pub(super) fn of_trader(&mut self, ledger: &Ledger, now: TimeNs) -> Option<Command> {
        let holder = self.holder(ledger)?;
        let market = ledger.markets[self.context.index(ledger.markets.len())];
        let lots = Lots(1 + self.context.below(3_000));
        Some(match self.context.below(100) {
            0..=13 => Command::Split {
                account: holder.account,
                market,
                lots,
                reference: Reference(self.name(0xF0)),
            },
            14..=18 => Command::Merge {
                account: holder.account,
                market,
                lots,
                reference: Reference(self.name(0xF0)),
            },
            19..=26 => self.cancel(holder, ledger)?,
            27..=29 => Command::CancelAll {
                owner: holder.account,
                heartbeat: false,
                request: Digest16(self.name(0xB0)),
            },
            30..=32 => Command::CancelMarketOrders {
                owner: holder.account,
                market,
                outcome: None,
                request: Digest16(self.name(0xB0)),
            },
            _ => {
                let order = self.order(holder, now);
                Command::PlaceOrder(PlaceOrder { market, ..order })
            }
        })
    }

    fn holder(&self, ledger: &Ledger) -> Option<Holder> {
        if ledger.holders.len() < usize::from(WALLETS) {
            return None;
        }
        Some(ledger.holders[self.context.index(ledger.holders.len())])
    }

    /// A cancel of one of the most recent orders.
    fn cancel(&self, holder: Holder, ledger: &Ledger) -> Option<Command> {
        let back = self.context.index(30);
        let mut orders = ledger
            .intents
            .iter()
            .rev()
            .filter_map(|it| match it.command {
                Command::PlaceOrder(order) => Some(order.order),
                _ => None,
            });
        Some(Command::CancelOrder {
            owner: holder.account,
            order: orders.nth(back)?,
        })
    }

    fn order(&mut self, holder: Holder, now: TimeNs) -> PlaceOrder {
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
        PlaceOrder {
            order: OrderId(self.name(0xA0)),
            account: holder.account,
            key: holder.key,
            market: foretell_model::MarketNumber(0),
            outcome: self.context.pick(&[Outcome::Yes, Outcome::No]),
            side,
            order_type,
            post_only: order_type == OrderType::Gtc && self.context.percent(10),
            maker_amount,
            taker_amount,
            expiration,
            timestamp: TimeMs(now.millis().0),
        }
    }
}
