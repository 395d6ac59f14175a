//! Changes a book at a constant rate: places bids and later cancels them, directly through the
//! engine's socket, so that gateways only follow the journal.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foretell_engine::client::Client;
use foretell_link::{Answer, Request, Role, Submit};
use foretell_model::{
    AccountNumber, Command, KeyNumber, Lots, MarketNumber, OrderId, OrderType, Outcome, PlaceOrder,
    Sequence, Side, TimeMs, TimeSeconds, Verdict,
};

use crate::error::MeasureError;

/// Interval between groups of commands.
const TICK: Duration = Duration::from_millis(4);
/// Lifetime of an order, in groups.
const LIFE: usize = 8;
/// Number of bid prices, from 0.10 up; the ask is at 1 less the lowest.
const PRICES: u64 = 30;
const LOWEST_UNITS: u64 = 1_000;
const UNITS_PER_CENT: u64 = 100;
const LOTS: Lots = Lots(1_000);
/// Placeholder with the size of a real order's evidence; this journal is never audited.
pub(crate) const EVIDENCE: [u8; 420] = [0; 420];

/// Changes one market's book.
pub(crate) struct BookWriter {
    client: Client,
    placed: u64,
    live: VecDeque<Vec<OrderId>>,
}

impl BookWriter {
    /// Connects and places a lasting ask: a book without an ask has no midpoint.
    pub(crate) fn connect(socket: &Path) -> Result<Self, MeasureError> {
        Self::connect_again(socket, 0)
    }

    /// Connects after earlier writers; `number` must be unique.
    pub(crate) fn connect_again(socket: &Path, number: u32) -> Result<Self, MeasureError> {
        let mut writer = Self {
            client: Client::connect(socket, "book writer", Role::Operator)?,
            placed: u64::from(number) << u32::BITS,
            live: VecDeque::new(),
        };
        let ask = PlaceOrder {
            outcome: Outcome::No,
            ..writer.placement()
        };
        writer.ask(vec![Command::PlaceOrder(ask)])?;
        Ok(writer)
    }

    /// Places `per_second` orders a second, and cancels as many, until `stop`. Calls `durable` with
    /// the last sequence right after each group's acknowledgement.
    pub(crate) fn run(
        &mut self,
        per_second: u32,
        stop: &AtomicBool,
        mut durable: impl FnMut(Sequence) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let mut group = 0_u32;
        let start = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            group += 1;
            let due = start + TICK * group;
            while let Some(left) = due.checked_duration_since(Instant::now()) {
                std::thread::park_timeout(left);
            }
            // Orders due by now minus the orders placed.
            let orders = (TICK * group).as_millis() * u128::from(per_second) / 1_000
                - (TICK * (group - 1)).as_millis() * u128::from(per_second) / 1_000;
            durable(self.group(orders)?)?;
        }
        Ok(())
    }

    /// Places `orders` orders, cancels an older group, and waits for all acknowledgements.
    pub(crate) fn group(&mut self, orders: u128) -> Result<Sequence, MeasureError> {
        let mut commands = Vec::new();
        if self.live.len() == LIFE {
            let over = self.live.pop_front().unwrap_or_default();
            let owner = AccountNumber(0);
            commands.extend(
                over.into_iter()
                    .map(|order| Command::CancelOrder { owner, order }),
            );
        }
        let mut names = Vec::new();
        for _ in 0..orders {
            let command = self.placement();
            names.push(command.order);
            commands.push(Command::PlaceOrder(command));
        }
        self.live.push_back(names);
        self.ask(commands)
    }

    /// Sends commands together, waits for all answers, and returns the last sequence.
    fn ask(&mut self, commands: Vec<Command>) -> Result<Sequence, MeasureError> {
        let requests: Vec<Request<'_>> = (0..)
            .zip(commands)
            .map(|(request, command)| {
                let evidence: &[u8] = match command {
                    Command::PlaceOrder(_) => &EVIDENCE,
                    _ => &[],
                };
                Request::Submit(Submit {
                    request,
                    command,
                    evidence,
                })
            })
            .collect();
        self.client.send(&requests)?;
        let mut last = Sequence(0);
        for _ in &requests {
            match self.client.receive()? {
                Answer::Reply(reply) if matches!(reply.verdict, Verdict::Applied(_)) => {
                    last = last.max(reply.sequence);
                }
                other => return Err(MeasureError::Wrong(format!("the book writer: {other:?}"))),
            }
        }
        Ok(last)
    }

    fn placement(&mut self) -> PlaceOrder {
        self.placed += 1;
        placement(self.placed)
    }
}

/// A resting bid; its number determines id and price.
pub(crate) fn placement(number: u64) -> PlaceOrder {
    let mut name = [0x55; 32];
    name[..8].copy_from_slice(&number.to_le_bytes());
    let units = LOWEST_UNITS + number % PRICES * UNITS_PER_CENT;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    PlaceOrder {
        order: OrderId(name),
        account: AccountNumber(0),
        key: KeyNumber(0),
        market: MarketNumber(0),
        outcome: Outcome::Yes,
        side: Side::Buy,
        order_type: OrderType::Gtc,
        post_only: false,
        maker_amount: LOTS.0 * units,
        taker_amount: LOTS.micro_shares(),
        expiration: TimeSeconds(0),
        timestamp: TimeMs(u64::try_from(now.as_millis()).unwrap_or_default()),
    }
}
