//! An exchange prepared for a stream: markets open, accounts funded to the last lot.

use std::collections::BTreeMap;

use foretell_matching::{Capacity, Exchange};
use foretell_model::command::RegisterMarket;
use foretell_model::limits::MAX_EVENTS;
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, FeeSchedule, Lots, MarketNumber, Micros,
    Reference, Settings, Tick, TokenId, Verdict, WalletAddress,
};

use crate::workloads::journal_writer::name;
use crate::workloads::stream::Action;
use crate::workloads::workload::{self, Workload, WorkloadKind};

/// Fixed key of the hash tables, for reproducible runs.
const INDEX_KEY: u64 = 0x5EED;
/// Maximum fee per lot: a fee of 2% with exponent 1 is at most 50 micros; plus rounding.
const HIGHEST_FEE_PER_LOT: u64 = 51;

/// Funds of the accounts for a stream.
pub(crate) struct Funding {
    /// Collateral by account.
    pub(crate) collateral: Vec<u64>,
    /// Shares by account and market.
    pub(crate) shares: BTreeMap<(AccountNumber, MarketNumber), u64>,
}

impl Funding {
    /// Funds that suffice however the stream's orders trade.
    pub(crate) fn of(workload: &Workload<'_>) -> Self {
        let mut funding = Self {
            collateral: vec![0; workload.accounts() as usize],
            shares: BTreeMap::new(),
        };
        for (entry, account) in workload.entries() {
            let lots = u64::from(entry.quantity);
            match entry.action {
                Action::Cancel => {}
                Action::Buy => {
                    let cost = u64::from(workload::price(entry).0) + HIGHEST_FEE_PER_LOT;
                    funding.collateral[account.0 as usize] += lots * cost;
                }
                Action::Sell => {
                    let key = (account, MarketNumber(entry.book));
                    *funding.shares.entry(key).or_default() += lots;
                    funding.collateral[account.0 as usize] += Lots(lots).full_value().0;
                }
            }
        }
        funding
    }

    /// Capacity for the stream, so that nothing has to grow.
    pub(crate) fn capacity(&self, workload: &Workload<'_>, peak_orders: usize) -> Capacity {
        let mut buyers: Vec<_> = workload
            .entries()
            .filter(|(entry, _)| entry.action == Action::Buy)
            .map(|(entry, account)| (account, entry.book))
            .collect();
        buyers.sort_unstable();
        buyers.dedup();
        let accounts = workload.accounts() as usize;
        Capacity {
            accounts,
            keys: accounts,
            markets: workload.stream.markets() as usize,
            events: 0,
            orders: peak_orders,
            expiring_orders: 0,
            positions: self.shares.len() + buyers.len() + 1,
            order_ids: workload.stream.orders() as usize,
            timestamp_seconds: 1 << 10,
            references: self.shares.len() + accounts,
            requests: 0,
        }
    }
}

/// An exchange with all markets open and all accounts funded.
pub(crate) fn open(workload: &Workload<'_>, funding: &Funding, capacity: Capacity) -> Exchange {
    let mut exchange = Exchange::new(capacity, INDEX_KEY);
    let mut events = Vec::with_capacity(MAX_EVENTS);
    let opened = set_up(workload, funding, &mut |command| {
        events.clear();
        match exchange.apply(command, workload::time(0), &mut events) {
            Verdict::Applied(_) => Ok(()),
            verdict => Err(format!("{command:?}: {verdict:?}")),
        }
    });
    opened.expect("an empty exchange takes every command of a set-up");
    exchange
}

/// Passes the commands that open the markets and fund the accounts to `apply`.
///
/// # Errors
/// The first error of `apply`.
pub(crate) fn set_up<E>(
    workload: &Workload<'_>,
    funding: &Funding,
    apply: &mut dyn FnMut(&Command) -> Result<(), E>,
) -> Result<(), E> {
    let mut venue = Venue {
        apply,
        references: 0,
    };
    let orders = workload.stream.orders();
    venue.apply(&Command::ChangeSettings(Settings {
        marketable_minimum: Micros::ZERO,
        live_orders_per_account: u32::MAX,
        remembered_order_ids: orders.max(Settings::default().remembered_order_ids),
        ..Settings::default()
    }))?;
    for market in 0..workload.stream.markets() {
        venue.open_market(market, workload.kind)?;
    }
    for (account, collateral) in (0..).zip(&funding.collateral) {
        venue.open_account(account, Micros(*collateral))?;
    }
    for ((account, market), lots) in &funding.shares {
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

    fn open_market(&mut self, number: u32, kind: WorkloadKind) -> Result<(), E> {
        let rate_ppm = match kind {
            WorkloadKind::Plain => 0,
            WorkloadKind::Realistic => 20_000,
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

    /// Accounts and keys get their numbers in the order in which they are opened.
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

/// Wallet of the account opened as number `number`.
pub(crate) fn wallet(number: u32) -> WalletAddress {
    let mut address = [0; 20];
    address[..4].copy_from_slice(&number.to_le_bytes());
    WalletAddress(address)
}
