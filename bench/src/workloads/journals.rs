//! Whole journals: mixed traffic, and orders that all rest.

use std::path::Path;

use foretell_auth::Signer;
use foretell_matching::Capacity;
use foretell_model::limits::MAX_BALANCE;
use foretell_model::{Command, OrderId, Outcome, PlaceOrder, Side, TimeNs};
use rand::RngExt as _;

use super::evidence::Evidence;
use super::generate::generate;
use super::journal_writer::{JournalWriter, Written};
use super::random::{random_bytes, seeded};
use super::venue::{self, Account, FEE_PPM, LimitOrder, Venue};
use super::workload::{STEP_NS, Workload, WorkloadKind};
use crate::error::MeasureError;
use crate::measure::ScratchDir;

/// Markets of mixed traffic.
pub(crate) const TRAFFIC_MARKETS: u32 = 1_000;
/// One command of mixed traffic in this many is an order that rests at the same time as others.
const RESTING_PART: u32 = 20;
/// Markets and accounts of resting orders.
const RESTING_MARKETS: u32 = 100;
const RESTING_ACCOUNTS: u32 = 1_000;
/// Bids on either token are at most 0.49, so no two of them cross.
const HIGHEST_CENTS: u64 = 49;
/// Marks the seeds of order ids; those of the orders' other fields are below.
const ID_SEEDS: u64 = 2 << 32;

/// Contents of a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Orders that rest, trade and are cancelled, as for the replay measurement.
    Stream,
    /// Resting orders only.
    Resting,
    /// Resting orders with real signatures, which take most of the time to make.
    Signed,
}

/// Writes a journal of about `commands` commands into a temporary directory under `scratch`, passes
/// it to `work`, and removes it.
///
/// # Errors
/// The disk or the journal fails.
pub fn with_journal<T>(
    scratch: &Path,
    commands: u32,
    contents: Contents,
    work: impl FnOnce(&Path) -> T,
) -> Result<T, MeasureError> {
    let scratch = ScratchDir::under(scratch).directory("journal")?;
    let journal = scratch.path().join("journal");
    match contents {
        Contents::Stream => write_traffic(&journal, commands)?,
        Contents::Resting => write_resting(&journal, commands, false)?,
        Contents::Signed => write_resting(&journal, commands, true)?,
    };
    Ok(work(&journal))
}

/// Generates a stream of `commands` commands and writes it as a realistic workload into a new
/// directory. Each placement has evidence with a random signature. Late cancels are rejected, and
/// rejected commands are not journalled.
pub(crate) fn write_traffic(journal: &Path, commands: u32) -> Result<Written, MeasureError> {
    let stream = generate(TRAFFIC_MARKETS, commands, commands / RESTING_PART);
    let workload = Workload::new(&stream, WorkloadKind::Realistic);
    let (venue, mut evidence) = (workload.venue(), Evidence::new()?);
    let mut writer = JournalWriter::create(journal, workload.capacity(&venue), STEP_NS)?;
    open(&mut writer, &evidence, &venue)?;
    for (at, entry) in stream.entries().iter().enumerate() {
        let command = workload.command(at);
        if let Command::PlaceOrder(order) = &command {
            let owner = venue.accounts[order.account.0 as usize].owner;
            writer.apply(&command, evidence.unsigned(order, entry.id, owner))?;
        } else {
            writer.try_apply(&command, &[])?;
        }
    }
    writer.finish()
}

/// Writes a journal with `orders` resting placements into a new directory. The evidence matches the
/// commands; signatures are random unless `signed`, because making them takes most of the time.
pub(crate) fn write_resting(
    journal: &Path,
    orders: u32,
    signed: bool,
) -> Result<Written, MeasureError> {
    let capacity = Capacity {
        orders: orders as usize,
        order_ids: orders as usize,
        ..Capacity::default()
    };
    let mut writer = JournalWriter::create(journal, capacity, STEP_NS)?;
    let (mut evidence, signers) = (Evidence::new()?, signers()?);
    let funds = MAX_BALANCE.0 / u64::from(RESTING_ACCOUNTS);
    let venue = Venue {
        settings: Venue::open_settings(orders),
        markets: RESTING_MARKETS,
        fee_ppm: FEE_PPM,
        accounts: signers
            .iter()
            .map(|signer| Account::new(signer.address(), funds))
            .collect(),
        shares: Default::default(),
    };
    open(&mut writer, &evidence, &venue)?;
    for number in 0..orders {
        let mut order = resting_order(number, writer.time());
        let signer = &signers[order.account.0 as usize];
        let evidence = if signed {
            evidence.signed(&mut order, number, signer)
        } else {
            evidence.unsigned(&order, number, signer.address())
        };
        if writer.apply(&Command::PlaceOrder(order), evidence)? > 0 {
            return Err(MeasureError::Wrong(format!("{order:?} traded")));
        }
    }
    writer.finish()
}

/// Writes a journal of a venue, and of the commands `then`, into a new
/// directory.
pub(crate) fn write_venue(
    journal: &Path,
    venue: &Venue,
    then: impl Iterator<Item = Command>,
) -> Result<Written, MeasureError> {
    let mut writer = JournalWriter::create(journal, Capacity::default(), STEP_NS)?;
    open(&mut writer, &Evidence::new()?, venue)?;
    for command in then {
        writer.apply(&command, &[])?;
    }
    writer.finish()
}

/// Registers the signing domain, and opens a venue.
fn open(
    writer: &mut JournalWriter,
    evidence: &Evidence,
    venue: &Venue,
) -> Result<(), MeasureError> {
    let (domain, text) = evidence.registration();
    writer.opening = 1 + venue.commands().count() as u64;
    writer.apply(&domain, &text)?;
    for command in venue.commands() {
        writer.apply(&command, &[])?;
    }
    Ok(())
}

/// A bid on either token; account and market are random, so consecutive orders share neither.
fn resting_order(number: u32, time: TimeNs) -> PlaceOrder {
    let mut random = seeded(number.into());
    let order = LimitOrder {
        account: random.random_range(0..RESTING_ACCOUNTS),
        market: random.random_range(0..RESTING_MARKETS),
        outcome: match random.random() {
            true => Outcome::Yes,
            false => Outcome::No,
        },
        side: Side::Buy,
        lots: random.random_range(100..1_000),
        cents: random.random_range(1..=HIGHEST_CENTS),
    };
    let id = OrderId(random_bytes(ID_SEEDS | u64::from(number)));
    order.placement(id, time.millis())
}

/// Signers of the accounts' owners.
fn signers() -> Result<Vec<Signer>, MeasureError> {
    let key = |number| {
        Signer::from_bytes(&venue::name(number, 3))
            .ok_or_else(|| MeasureError::Wrong(format!("account {number} has no key")))
    };
    (0..RESTING_ACCOUNTS).map(key).collect()
}

/// Commands of a journal of resting orders besides these: settings, domain, and two for each
/// market and account.
#[cfg(test)]
pub(crate) const RESTING_VENUE_COMMANDS: u64 =
    2 + 2 * (RESTING_MARKETS as u64 + RESTING_ACCOUNTS as u64);
