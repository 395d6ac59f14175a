//! How fast an engine restarts: a journal of placements that all rest is written once, and engines
//! start on it; beside them, in turns, the same files are only read and their CRC32C taken.

use std::fmt::{self, Display};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foretell_engine::{EngineConfig, JOURNAL_DIRECTORY};
use foretell_journal::{Appender, Durability, Options, Step, Syncer, segment};
use foretell_matching::{Capacity, Exchange};
use foretell_model::command::RegisterMarket;
use foretell_model::evidence::{OrderEvidence, WORDS_BYTES};
use foretell_model::limits::{MAX_BALANCE, MAX_EVENTS};
use foretell_model::{
    AccountNumber, ApiKey, Command, ConditionId, DomainNumber, Event, FeeSchedule, FramePlace,
    KeyNumber, Lots, MarketNumber, Micros, OrderId, OrderType, Outcome, PlaceOrder, Reference,
    Sequence, Settings, Side, Tick, TimeNs, TimeSeconds, TokenId, Verdict, WalletAddress,
};
use serde::Serialize;

use crate::dress::scramble;
use crate::error::MeasureError;
use crate::latency::median;
use crate::report::Goal;

/// Most seconds a restart over a million placements may take.
const GOAL_SECONDS: f64 = 5.0;
const MILLION: f64 = 1e6;
const MARKETS: u32 = 100;
const ACCOUNTS: u32 = 1_000;
/// Commands of a batch: what the matcher publishes at once under load.
const BURST: u32 = 64;
/// When the journal begins, and what passes between two commands.
const START_NS: u64 = 1_700_000_000_000_000_000;
const STEP_NS: u64 = 10_000;
/// Bids on either token stay at or below 0.49, so no two of them can meet.
const HIGHEST_CENT: u64 = 49;
const UNITS_PER_CENT: u64 = 100;
const SIGNATURE_BYTES: usize = 65;
const READ_BYTES: usize = 1 << 20;

/// What restarts took: medians over the rounds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Placements in the journal; all of them rest.
    pub orders: u32,
    /// All commands in it.
    pub commands: u64,
    /// Rounds.
    pub rounds: usize,
    /// Bytes from the start of the first segment to the last frame's end.
    pub journal_bytes: u64,
    /// From the engine's start until gateways can connect.
    pub seconds: f64,
    /// The slowest of the rounds.
    pub slowest_seconds: f64,
    /// Commands executed again a second, everything a restart does included.
    pub commands_per_second: f64,
    /// Reading the same bytes and taking their CRC32C.
    pub floor_seconds: f64,
    /// Restart to floor.
    pub ratio: f64,
}

impl Report {
    /// The one goal, as seconds for a million placements.
    #[must_use]
    pub fn goal(&self) -> Goal {
        Goal {
            name: "seconds for 1,000,000 orders",
            most: GOAL_SECONDS,
            found: Some(self.seconds * MILLION / f64::from(self.orders)),
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} orders, {} commands, {} bytes of journal, medians of {} rounds",
            self.orders, self.commands, self.journal_bytes, self.rounds
        )?;
        writeln!(
            f,
            "restart           {:>8.3} s  {:.0} commands/s, slowest {:.3} s",
            self.seconds, self.commands_per_second, self.slowest_seconds
        )?;
        writeln!(
            f,
            "read and CRC32C   {:>8.3} s  restart is {:.1} times that",
            self.floor_seconds, self.ratio
        )?;
        writeln!(f, "{}", self.goal())
    }
}

/// Writes a journal with `orders` resting orders under `directory` (a temporary one is made there
/// and removed) and restarts an engine on it `rounds` times.
///
/// # Errors
/// The disk, the journal or the engine fails, or an engine comes back with another state.
pub fn measure(directory: &Path, orders: u32, rounds: usize) -> Result<Report, MeasureError> {
    let (orders, rounds) = (orders.max(1), rounds.max(1));
    let scratch = tempfile::Builder::new()
        .prefix("foretell-recover-")
        .tempdir_in(directory)
        .map_err(MeasureError::io("making a temporary directory"))?;
    let data = scratch.path();
    let written = write_journal(&data.join(JOURNAL_DIRECTORY), orders)?;
    let files = files(&data.join(JOURNAL_DIRECTORY), written.end)?;

    let (mut restarts, mut reads, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut journal_bytes = 0;
    for _ in 0..rounds {
        let (read, bytes) =
            read_and_check(&files).map_err(MeasureError::io("reading the journal"))?;
        journal_bytes = bytes;
        let restart = restart(data, written.last)?.as_secs_f64();
        reads.push(read.as_secs_f64());
        restarts.push(restart);
        ratios.push(restart / read.as_secs_f64());
    }
    let seconds = median(&restarts);
    #[allow(
        clippy::cast_precision_loss,
        reason = "a count far below 2^53, for a rate"
    )]
    let commands_per_second = written.last.0 as f64 / seconds;
    Ok(Report {
        orders,
        commands: written.last.0,
        rounds,
        journal_bytes,
        seconds,
        slowest_seconds: restarts.iter().copied().fold(0.0, f64::max),
        commands_per_second,
        floor_seconds: median(&reads),
        ratio: median(&ratios),
    })
}

/// Starts an engine, stops it as soon as it is ready, and says how long that took.
fn restart(data: &Path, last: Sequence) -> Result<Duration, MeasureError> {
    let mut config = EngineConfig::new(data.to_owned());
    // Ctrl-C ends the measurement, not one of its engines.
    config.handle_signals = false;
    // What is measured is the whole journal, and no second execution beside it.
    config.ignore_images = true;
    config.publishing.enabled = false;
    let start = Instant::now();
    let mut ready_after = None;
    foretell_engine::run(&config, |ready| {
        ready_after = Some((start.elapsed(), ready.sequence));
        ready.stop.stop();
    })?;
    match ready_after {
        Some((elapsed, sequence)) if sequence == last => Ok(elapsed),
        other => Err(MeasureError::Wrong(format!(
            "an engine came back at {other:?}, written were {last:?}"
        ))),
    }
}

/// The segments up to the last frame, in order, with the bytes of each that count.
fn files(journal: &Path, end: FramePlace) -> Result<Vec<(PathBuf, u64)>, MeasureError> {
    let failed = MeasureError::io("listing the journal");
    let listed = || -> std::io::Result<Vec<(PathBuf, u64)>> {
        (1..=end.segment)
            .map(|number| segment::path(journal, number))
            .filter(|path| path.exists())
            .map(|path| Ok((path.clone(), path.metadata()?.len())))
            .collect()
    };
    let mut files = listed().map_err(failed)?;
    match files.last_mut() {
        Some((_, bytes)) => *bytes = u64::from(end.offset) + u64::from(end.length),
        None => return Err(MeasureError::Wrong("the journal has no segment".to_owned())),
    }
    Ok(files)
}

fn read_and_check(files: &[(PathBuf, u64)]) -> std::io::Result<(Duration, u64)> {
    let mut buffer = vec![0; READ_BYTES];
    let (mut crc, mut total) = (0, 0);
    let start = Instant::now();
    for (path, bytes) in files {
        let mut file = File::open(path)?.take(*bytes);
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            crc = crc32c::crc32c_append(crc, &buffer[..count]);
            total += count as u64;
        }
    }
    let elapsed = start.elapsed();
    std::hint::black_box(crc);
    Ok((elapsed, total))
}

/// What was written.
struct Written {
    last: Sequence,
    end: FramePlace,
}

fn write_journal(journal: &Path, orders: u32) -> Result<Written, MeasureError> {
    // Synced when a segment is full and at the end: the engines find everything proven durable.
    let options = Options {
        durability: Durability::Process,
        ..Options::default()
    };
    let recovered = foretell_journal::recover(journal, options, Sequence(0), &mut |_| Ok(()))?;
    let (appender, syncer, _state) = recovered.start()?;
    let mut writer = Writer {
        exchange: Exchange::new(
            Capacity {
                orders: orders as usize,
                order_ids: orders as usize,
                ..Capacity::default()
            },
            scramble(0),
        ),
        events: Vec::with_capacity(MAX_EVENTS),
        evidence: Vec::new(),
        appender,
        syncer,
        staged: 0,
        end: FramePlace::default(),
    };
    writer.open_venue(orders)?;
    for number in 0..orders {
        writer.place(number)?;
    }
    writer.finish()
}

/// The core and the journal on one thread, as the matcher and the sync thread use them.
struct Writer {
    exchange: Exchange,
    events: Vec<Event>,
    evidence: Vec<u8>,
    appender: Appender,
    syncer: Syncer,
    /// Frames of the batch being filled.
    staged: u32,
    /// Of the last frame.
    end: FramePlace,
}

impl Writer {
    fn open_venue(&mut self, orders: u32) -> Result<(), MeasureError> {
        self.apply(&Command::ChangeSettings(Settings {
            live_orders_per_account: u32::MAX,
            remembered_order_ids: orders.max(Settings::default().remembered_order_ids),
            ..Settings::default()
        }))?;
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
            let (mut owner, mut api_key) = ([0; 20], [0; 16]);
            owner.copy_from_slice(&name[..20]);
            api_key.copy_from_slice(&name[..16]);
            let wallet = WalletAddress(owner);
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

    /// One resting order with evidence of the size a real one has.
    fn place(&mut self, number: u32) -> Result<(), MeasureError> {
        let mut words = [0; WORDS_BYTES];
        random_bytes(u64::from(number) << 8, &mut words);
        let mut signature = [0; SIGNATURE_BYTES];
        random_bytes(u64::from(number) << 8 | 0x80, &mut signature);
        self.evidence.clear();
        OrderEvidence {
            words: &words,
            domain: DomainNumber(1),
            signature: &signature,
        }
        .encode(&mut self.evidence);
        let command = Command::PlaceOrder(placement(number, self.time()));
        self.apply(&command)
    }

    fn time(&self) -> TimeNs {
        TimeNs(START_NS + self.exchange.sequence().0 * STEP_NS)
    }

    /// Applies a command, journals it with the evidence at hand, and writes whole bursts.
    fn apply(&mut self, command: &Command) -> Result<(), MeasureError> {
        if !self.appender.has_room_for_largest() {
            self.write()?;
        }
        let time = self.time();
        self.events.clear();
        let verdict = self.exchange.apply(command, time, &mut self.events);
        let traded = self
            .events
            .iter()
            .any(|event| matches!(event, Event::Fill(_)));
        if !matches!(verdict, Verdict::Applied(_)) || traded {
            return Err(MeasureError::Wrong(format!("{command:?}: {verdict:?}")));
        }
        let sequence = self.exchange.sequence();
        self.end = self
            .appender
            .append(sequence, time, command, &self.events, &self.evidence);
        self.staged += 1;
        if self.staged == BURST {
            self.write()?;
        }
        Ok(())
    }

    /// Writes what is staged. A segment that is still being prepared is waited for.
    fn write(&mut self) -> Result<(), MeasureError> {
        self.appender.publish();
        self.staged = 0;
        while self.syncer.step()? == Step::Waiting {
            std::thread::yield_now();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Written, MeasureError> {
        let last = self.exchange.sequence();
        self.write()?;
        drop(self.appender);
        while self.syncer.step()? != Step::Ended {
            std::thread::yield_now();
        }
        Ok(Written {
            last,
            end: self.end,
        })
    }
}

/// A bid on either token; account and market are drawn, so neighbours share neither.
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

/// Fills `bytes` from a seed; each eight bytes take the next seed, so seeds stand apart.
fn random_bytes(seed: u64, bytes: &mut [u8]) {
    for (seed, chunk) in (seed..).zip(bytes.chunks_mut(8)) {
        chunk.copy_from_slice(&scramble(seed).to_le_bytes()[..chunk.len()]);
    }
}

/// A 32-byte name of a numbered thing of some kind.
fn name(number: u32, kind: u8) -> [u8; 32] {
    let mut name = [kind; 32];
    name[..4].copy_from_slice(&number.to_le_bytes());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_come_back_with_every_order() {
        let orders = 3 * BURST + 1;
        let report = measure(&std::env::temp_dir(), orders, 2).unwrap();
        let set_up = u64::from(1 + 2 * MARKETS + 2 * ACCOUNTS);
        assert_eq!(report.commands, u64::from(orders) + set_up);
        let evidence = (WORDS_BYTES + SIGNATURE_BYTES) as u64;
        assert!(report.journal_bytes > u64::from(orders) * evidence);
        assert!(report.slowest_seconds >= report.seconds);
    }

    #[test]
    fn the_goal_is_for_a_million() {
        let report = Report {
            orders: 250_000,
            commands: 250_000,
            rounds: 1,
            journal_bytes: 1,
            seconds: 1.0,
            slowest_seconds: 1.0,
            commands_per_second: 250_000.0,
            floor_seconds: 1.0,
            ratio: 1.0,
        };
        assert_eq!(report.goal().found, Some(4.0));
        assert!(report.goal().is_met());
    }
}
