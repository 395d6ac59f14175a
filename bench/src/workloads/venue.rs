//! The one builder of markets and accounts: the commands that open them on an empty exchange.

use std::collections::BTreeMap;

use foretell_model::command::{Deposit, RegisterKey, RegisterMarket, Split};
use foretell_model::limits::{ORDER_ID_SHARES, REFERENCES_PER_ACCOUNT, REQUEST_MEMORY_NS};
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, FeeSchedule, KeyNumber, Lots, MarketNumber,
    Micros, OrderId, OrderType, Outcome, PlaceOrder, Reference, Settings, Side, Tick, TimeMs,
    TimeNs, TimeSeconds, TokenId, WalletAddress,
};

/// Fee rate of realistic markets: 2%.
pub(crate) const FEE_PPM: u32 = 20_000;
/// Price units of 0.0001 in a cent.
pub(crate) const UNITS_PER_CENT: u64 = 100;
/// Time from which journals and streams trade; what opens their venue comes before.
pub(crate) const START_NS: u64 = 1_700_000_000_000_000_000;
/// Interval between the commands that open a venue: an account may split in any number of markets,
/// because its oldest reference has given way before it has too many.
const OPENING_STEP_NS: u64 = REQUEST_MEMORY_NS / REFERENCES_PER_ACCOUNT as u64 + 1;

/// Markets and accounts; both get their numbers in order.
pub(crate) struct Venue {
    pub(crate) settings: Settings,
    pub(crate) markets: u32,
    pub(crate) fee_ppm: u32,
    pub(crate) accounts: Vec<Account>,
    /// Full sets to split, by account and market.
    pub(crate) shares: BTreeMap<(AccountNumber, MarketNumber), u64>,
}

/// An account with one API key.
pub(crate) struct Account {
    pub(crate) owner: WalletAddress,
    pub(crate) api_key: ApiKey,
    pub(crate) collateral: Micros,
}

impl Account {
    /// An account whose API key derives from its owner's address.
    pub(crate) fn new(owner: WalletAddress, collateral: u64) -> Self {
        let mut api_key = [0; 16];
        api_key.copy_from_slice(&owner.0[..16]);
        Self {
            owner,
            api_key: ApiKey(api_key),
            collateral: Micros(collateral),
        }
    }
}

impl Venue {
    /// Settings under which no order of a workload is rejected: no minimum value, no cap on live
    /// orders, and `orders` remembered ids of each owner.
    pub(crate) fn open_settings(orders: u32) -> Settings {
        let defaults = Settings::default();
        Settings {
            marketable_minimum: Micros::ZERO,
            live_orders_per_account: u32::MAX,
            remembered_order_ids: orders
                .saturating_mul(ORDER_ID_SHARES)
                .max(defaults.remembered_order_ids),
            ..defaults
        }
    }

    /// The commands, in order.
    pub(crate) fn commands(&self) -> impl Iterator<Item = Command> {
        let settings = Command::ChangeSettings {
            settings: self.settings.into(),
        };
        let markets = (0..self.markets).flat_map(|number| {
            let market = MarketNumber(number);
            [self.market(number), Command::ActivateMarket { market }]
        });
        let accounts = (0..).zip(&self.accounts).flat_map(account_commands);
        let first = u32::try_from(self.accounts.len()).expect("accounts are u32");
        let splits = (first..).zip(&self.shares);
        let splits = splits.map(|(number, ((account, market), lots))| {
            Command::Split(Split {
                account: *account,
                market: *market,
                lots: Lots(*lots),
                reference: reference(number),
            })
        });
        std::iter::once(settings)
            .chain(markets)
            .chain(accounts)
            .chain(splits)
    }

    fn market(&self, number: u32) -> Command {
        Command::RegisterMarket(RegisterMarket {
            index: None,
            has_details: false,
            condition: condition(number),
            tokens: tokens(number),
            tick: Tick::Hundredth,
            tick_refines: false,
            minimum_size: Lots(1),
            fee: FeeSchedule {
                rate_ppm: self.fee_ppm,
                exponent: 1,
            },
            event: None,
        })
    }
}

fn account_commands((number, account): (u32, &Account)) -> impl Iterator<Item = Command> {
    let key = Command::RegisterKey(RegisterKey {
        owner: account.owner,
        nonce: [0; 32],
        api_key: account.api_key,
        read_only: false,
    });
    let deposit = Command::Deposit(Deposit {
        wallet: account.owner,
        amount: account.collateral,
        reference: reference(number),
    });
    std::iter::once(key).chain((!account.collateral.is_zero()).then_some(deposit))
}

/// Time of a command that opens a venue; `left` is the number of those from it on, at least 1.
pub(crate) const fn opening_time(left: u64) -> TimeNs {
    TimeNs(START_NS - left * OPENING_STEP_NS)
}

/// A limit order, good till cancelled. Account and key have the same number.
#[derive(Clone, Copy)]
pub(crate) struct LimitOrder {
    pub(crate) account: u32,
    pub(crate) market: u32,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    pub(crate) lots: u64,
    pub(crate) cents: u64,
}

impl LimitOrder {
    pub(crate) fn placement(self, order: OrderId, timestamp: TimeMs) -> PlaceOrder {
        let shares = Lots(self.lots).micro_shares();
        let value = self.lots * self.cents * UNITS_PER_CENT;
        let (maker_amount, taker_amount) = match self.side {
            Side::Buy => (value, shares),
            Side::Sell => (shares, value),
        };
        PlaceOrder {
            order,
            account: AccountNumber(self.account),
            key: KeyNumber(self.account),
            market: MarketNumber(self.market),
            outcome: self.outcome,
            side: self.side,
            order_type: OrderType::Gtc,
            post_only: false,
            maker_amount,
            taker_amount,
            expiration: TimeSeconds(0),
            timestamp,
        }
    }
}

/// Condition id of a market.
pub(crate) const fn condition(market: u32) -> ConditionId {
    ConditionId(name(market, 0))
}

/// Token ids of a market: Yes, No.
pub(crate) const fn tokens(market: u32) -> [TokenId; 2] {
    [TokenId(name(market, 1)), TokenId(name(market, 2))]
}

/// Wallet of an account.
pub(crate) fn wallet(account: u32) -> WalletAddress {
    let mut address = [0; 20];
    address.copy_from_slice(&name(account, 3)[..20]);
    WalletAddress(address)
}

/// Reference of a deposit, split, merge or redeem.
pub(crate) const fn reference(number: u32) -> Reference {
    Reference(name(number, 4))
}

/// A 32-byte name for a number and kind.
pub(crate) const fn name(number: u32, kind: u8) -> [u8; 32] {
    let mut name = [kind; 32];
    [name[0], name[1], name[2], name[3]] = number.to_le_bytes();
    name
}
