//! An exchange that is ready for a stream: markets open, accounts funded to the last lot.

use std::collections::BTreeMap;

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::RegisterMarket;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, FeeSchedule, Lots, MarketNumber, Micros,
    Reference, Settings, Tick, TokenId, Verdict, WalletAddress,
};

use crate::dress::{self, Dress, Dressed};
use crate::journal_writer::name;
use crate::stream::Action;

/// Keys the hash tables of every run alike, so that runs differ in nothing.
const INDEX_KEY: u64 = 0x5EED;
/// A fee of 2% with exponent 1 is at most 50 micros a lot; and rounding up.
const HIGHEST_FEE_PER_LOT: u64 = 51;

/// What the accounts need for a stream.
pub(crate) struct Needs {
    /// Collateral by account.
    pub(crate) collateral: Vec<u64>,
    /// Shares by account and market.
    pub(crate) shares: BTreeMap<(AccountNumber, MarketNumber), u64>,
}

impl Needs {
    /// What is enough however the stream's orders trade.
    pub(crate) fn of(dressed: &Dressed<'_>) -> Self {
        let mut needs = Self {
            collateral: vec![0; dressed.accounts() as usize],
            shares: BTreeMap::new(),
        };
        for (entry, account) in dressed.entries() {
            let lots = u64::from(entry.quantity);
            match entry.action {
                Action::Cancel => {}
                Action::Buy => {
                    let cost = u64::from(dress::price(entry).0) + HIGHEST_FEE_PER_LOT;
                    needs.collateral[account.0 as usize] += lots * cost;
                }
                Action::Sell => {
                    let key = (account, MarketNumber(entry.book));
                    *needs.shares.entry(key).or_default() += lots;
                    needs.collateral[account.0 as usize] += Lots(lots).full_value().0;
                }
            }
        }
        needs
    }

    /// Room for the stream, so that nothing has to grow.
    pub(crate) fn capacity(&self, dressed: &Dressed<'_>, peak_orders: usize) -> Capacity {
        let mut buyers: Vec<_> = dressed
            .entries()
            .filter(|(entry, _)| entry.action == Action::Buy)
            .map(|(entry, account)| (account, entry.book))
            .collect();
        buyers.sort_unstable();
        buyers.dedup();
        let accounts = dressed.accounts() as usize;
        Capacity {
            accounts,
            keys: accounts,
            markets: dressed.stream.markets() as usize,
            events: 0,
            orders: peak_orders,
            expiring_orders: 0,
            positions: self.shares.len() + buyers.len() + 1,
            order_ids: dressed.stream.orders() as usize,
            timestamp_seconds: 1 << 10,
            references: self.shares.len() + accounts,
            requests: 0,
        }
    }
}

/// An exchange with all markets open and all accounts funded.
pub(crate) fn open(dressed: &Dressed<'_>, needs: &Needs, capacity: Capacity) -> Exchange {
    let mut exchange = Exchange::new(capacity, INDEX_KEY);
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let opened = set_up(dressed, needs, &mut |command| {
        events.clear();
        match exchange.apply(command, dress::time(0), &mut events) {
            Verdict::Applied(_) => Ok(()),
            verdict => Err(format!("{command:?}: {verdict:?}")),
        }
    });
    opened.expect("an empty exchange takes every command of a set-up");
    exchange
}

/// Hands over the commands that open the markets and fund the accounts.
///
/// # Errors
/// The first that whoever takes them gives.
pub(crate) fn set_up<E>(
    dressed: &Dressed<'_>,
    needs: &Needs,
    apply: &mut dyn FnMut(&Command) -> Result<(), E>,
) -> Result<(), E> {
    let mut venue = Venue {
        apply,
        references: 0,
    };
    let orders = dressed.stream.orders();
    venue.apply(&Command::ChangeSettings(Settings {
        marketable_minimum: Micros::ZERO,
        live_orders_per_account: u32::MAX,
        remembered_order_ids: orders.max(Settings::default().remembered_order_ids),
        ..Settings::default()
    }))?;
    for market in 0..dressed.stream.markets() {
        venue.open_market(market, dressed.dress)?;
    }
    for (account, collateral) in (0..).zip(&needs.collateral) {
        venue.open_account(account, Micros(*collateral))?;
    }
    for ((account, market), lots) in &needs.shares {
        let reference = venue.reference();
        venue.apply(&Command::Split {
            account: *account,
            market: *market,
            lots: Lots(*lots),
            reference,
        })?;
    }
    Ok(())
}

struct Venue<'a, E> {
    apply: &'a mut dyn FnMut(&Command) -> Result<(), E>,
    references: u32,
}

impl<E> Venue<'_, E> {
    fn apply(&mut self, command: &Command) -> Result<(), E> {
        (self.apply)(command)
    }

    fn open_market(&mut self, number: u32, dress: Dress) -> Result<(), E> {
        let rate_ppm = match dress {
            Dress::Plain => 0,
            Dress::Dressed => 20_000,
        };
        self.apply(&Command::RegisterMarket(RegisterMarket {
            condition: ConditionId(name(number, 0)),
            tokens: [1, 2].map(|kind| TokenId(name(number, kind))),
            tick: Tick::Hundredth,
            tick_refines: false,
            minimum_size: Lots(1),
            fee: FeeSchedule {
                rate_ppm,
                exponent: 1,
            },
            event: None,
        }))?;
        let market = MarketNumber(number);
        self.apply(&Command::ActivateMarket { market })
    }

    /// Accounts get their numbers, and keys the same ones, in the order they are opened.
    fn open_account(&mut self, number: u32, collateral: Micros) -> Result<(), E> {
        let wallet = wallet(number);
        let mut key = [0; 16];
        key.copy_from_slice(&wallet.0[..16]);
        self.apply(&Command::RegisterKey {
            owner: wallet,
            nonce: [0; 32],
            api_key: ApiKey(key),
            read_only: false,
        })?;
        if collateral.is_zero() {
            return Ok(());
        }
        let reference = self.reference();
        self.apply(&Command::Deposit {
            wallet,
            amount: collateral,
            reference,
        })
    }

    fn reference(&mut self) -> Reference {
        self.references += 1;
        Reference(name(self.references, 3))
    }
}

/// Of the account that is opened as number `number`.
pub(crate) fn wallet(number: u32) -> WalletAddress {
    let mut address = [0; 20];
    address[..4].copy_from_slice(&number.to_le_bytes());
    WalletAddress(address)
}
