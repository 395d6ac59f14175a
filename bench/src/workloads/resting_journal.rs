//! A journal of resting placements, for restarts and for audits at their most expensive.

use std::path::Path;

use foretell_auth::Signer;
use foretell_matching::Capacity;
use foretell_model::command::RegisterMarket;
use foretell_model::limits::MAX_BALANCE;
use foretell_model::limits::NEWEST_RULES;
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, Event, FeeSchedule, KeyNumber, Lots, MarketNumber,
    Micros, OrderId, OrderType, Outcome, PlaceOrder, Reference, Settings, Side, Tick, TimeNs,
    TimeSeconds, TokenId,
};

use crate::error::MeasureError;
use crate::workloads::evidence::Evidence;
use crate::workloads::journal_writer::{JournalWriter, Written, name, random_bytes};
use crate::workloads::workload::scramble;

pub(crate) const MARKETS: u32 = 100;
pub(crate) const ACCOUNTS: u32 = 1_000;
/// Interval between commands.
const STEP_NS: u64 = 10_000;
/// Bids on either token are at most 0.49, so no two of them cross.
const HIGHEST_CENT: u64 = 49;
const UNITS_PER_CENT: u64 = 100;

/// Writes a journal with `orders` resting placements into a new directory. The evidence matches the
/// commands; signatures are random unless `signed`, because making them takes most of the time.
///
/// # Errors
/// The disk or the journal fails.
pub(crate) fn write_journal(
    journal: &Path,
    orders: u32,
    signed: bool,
) -> Result<Written, MeasureError> {
    let capacity = Capacity {
        orders: orders as usize,
        order_ids: orders as usize,
        ..Capacity::default()
    };
    let mut writer = RestingWriter {
        journal: JournalWriter::create(journal, capacity, STEP_NS)?,
        evidence: Evidence::new()?,
        signers: signers()?,
        signed,
    };
    writer.open_venue(orders)?;
    for number in 0..orders {
        writer.place(number)?;
    }
    writer.journal.finish()
}

struct RestingWriter {
    journal: JournalWriter,
    evidence: Evidence,
    signers: Vec<Signer>,
    signed: bool,
}

impl RestingWriter {
    fn open_venue(&mut self, orders: u32) -> Result<(), MeasureError> {
        // As an engine leaves it, so that a start adds no command.
        self.apply(&Command::SwitchRules {
            rules: NEWEST_RULES,
        })?;
        self.apply(&Command::ChangeSettings(Settings {
            live_orders_per_account: u32::MAX,
            remembered_order_ids: orders.max(Settings::default().remembered_order_ids),
            ..Settings::default()
        }))?;
        let (domain, text) = self.evidence.registration();
        self.journal.apply(&domain, &text)?;
        for number in 0..MARKETS {
            self.apply(&Command::RegisterMarket(RegisterMarket {
                condition: ConditionId(name(number, 0)),
                tokens: [1, 2].map(|kind| TokenId(name(number, kind))),
                tick: Tick::Hundredth,
                tick_refines: false,
                minimum_size: Lots(1),
                fee: FeeSchedule {
                    rate_ppm: 20_000,
                    exponent: 1,
                },
                event: None,
            }))?;
            let market = MarketNumber(number);
            self.apply(&Command::ActivateMarket { market })?;
        }
        for number in 0..ACCOUNTS {
            let name = name(number, 3);
            let mut api_key = [0; 16];
            api_key.copy_from_slice(&name[..16]);
            let wallet = self.signers[number as usize].address();
            self.apply(&Command::RegisterKey {
                owner: wallet,
                nonce: [0; 32],
                api_key: ApiKey(api_key),
                read_only: false,
            })?;
            self.apply(&Command::Deposit {
                wallet,
                amount: Micros(MAX_BALANCE.0 / u64::from(ACCOUNTS)),
                reference: Reference(name),
            })?;
        }
        Ok(())
    }

    /// One resting order with the evidence of a gateway.
    fn place(&mut self, number: u32) -> Result<(), MeasureError> {
        let mut order = placement(number, self.journal.time());
        let signer = &self.signers[order.account.0 as usize];
        let evidence = if self.signed {
            self.evidence.signed(&mut order, number, signer)
        } else {
            self.evidence.unsigned(&order, number, signer.address())
        };
        let command = Command::PlaceOrder(order);
        does_not_trade(&command, self.journal.apply(&command, evidence)?)
    }

    /// Applies a command, which must not trade, and journals it.
    fn apply(&mut self, command: &Command) -> Result<(), MeasureError> {
        does_not_trade(command, self.journal.apply(command, &[])?)
    }
}

fn does_not_trade(command: &Command, events: &[Event]) -> Result<(), MeasureError> {
    if events.iter().any(|event| matches!(event, Event::Fill(_))) {
        return Err(MeasureError::Wrong(format!("{command:?} traded")));
    }
    Ok(())
}

/// A bid on either token; account and market are random, so consecutive orders share neither.
fn placement(number: u32, time: TimeNs) -> PlaceOrder {
    let draw = scramble(u64::from(number));
    let at_most = |bits: u64, bound: u32| {
        u32::try_from(bits % u64::from(bound)).expect("smaller than the bound")
    };
    let account = at_most(draw >> 8, ACCOUNTS);
    let lots = Lots(100 + (draw >> 24) % 900);
    let units = (1 + (draw >> 40) % HIGHEST_CENT) * UNITS_PER_CENT;
    let mut order = [0; 32];
    random_bytes(u64::from(number) << 8 | 0xC0, &mut order);
    PlaceOrder {
        order: OrderId(order),
        account: AccountNumber(account),
        key: KeyNumber(account),
        market: MarketNumber(at_most(draw >> 48, MARKETS)),
        outcome: if draw & 1 == 0 {
            Outcome::Yes
        } else {
            Outcome::No
        },
        side: Side::Buy,
        order_type: OrderType::Gtc,
        post_only: false,
        maker_amount: lots.0 * units,
        taker_amount: lots.micro_shares(),
        expiration: TimeSeconds(0),
        timestamp: time.millis(),
    }
}

/// Signers of the accounts' owners.
fn signers() -> Result<Vec<Signer>, MeasureError> {
    let key = |number| {
        Signer::from_bytes(&name(number, 3))
            .ok_or_else(|| MeasureError::Wrong(format!("account {number} has no key")))
    };
    (0..ACCOUNTS).map(key).collect()
}
