//! Orders and cancels through the engine's own socket: in groups, with a window of commands in
//! flight, or at a constant rate. Gateways only follow the journal meanwhile.

use std::collections::VecDeque;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use foretell_engine::client::Client;
use foretell_link::{Answer, Busy, BusyReason, Request, Role, Submit};
use foretell_model::command::CancelOrder;
use foretell_model::{
    AccountNumber, Command, OrderId, Outcome, PlaceOrder, Sequence, Side, Verdict,
};

use super::latency::{Stopwatch, nanos, now_ms};
use super::threads::joined;
use crate::error::MeasureError;
use crate::workloads::venue::LimitOrder;

/// Interval between groups of commands.
const TICK: Duration = Duration::from_millis(4);
/// Orders that rest; with one more the oldest is cancelled.
const RESTING: usize = 80;
/// Bid prices in cents; the lasting ask is above.
const PRICES: u64 = 30;
const LOWEST_CENTS: u64 = 10;
const LOTS: u64 = 1_000;
/// Placeholder with the size of a real order's evidence; this journal is never audited.
const EVIDENCE: [u8; 420] = [0; 420];
/// Pause between clock readings while sending at a constant rate.
const PAUSE: Duration = Duration::from_micros(50);
/// Maximum wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Changes the book of market 0: every command is a bid, or the cancel of the oldest one.
pub(crate) struct OrderFlow {
    client: Client,
    placed: u64,
    resting: VecDeque<OrderId>,
}

impl OrderFlow {
    /// Connects and places a lasting ask: a book without an ask has no midpoint. `number` is another
    /// one for each flow on an engine.
    pub(crate) fn connect(socket: &Path, number: u32) -> Result<Self, MeasureError> {
        let client = Client::connect(socket, "order flow", Role::Operator)?;
        let stream = client.stream();
        stream
            .set_read_timeout(Some(PATIENCE))
            .map_err(MeasureError::io("setting up a socket"))?;
        let mut flow = Self {
            client,
            placed: u64::from(number) << u32::BITS,
            resting: VecDeque::with_capacity(RESTING + 1),
        };
        let ask = flow.placement(Outcome::No);
        flow.ask(&[Command::PlaceOrder(ask)])?;
        Ok(flow)
    }

    /// Places `per_second` orders a second, and cancels as many, until `stop`. Calls `durable` with
    /// the last sequence right after each group's acknowledgement.
    pub(crate) fn run(
        &mut self,
        per_second: u32,
        stop: &AtomicBool,
        mut durable: impl FnMut(Sequence) -> Result<(), MeasureError>,
    ) -> Result<(), MeasureError> {
        let orders_by = |group: u32| (TICK * group).as_millis() * u128::from(per_second) / 1_000;
        let mut group = 0_u32;
        let start = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            group += 1;
            sleep_until(start + TICK * group);
            durable(self.group(orders_by(group) - orders_by(group - 1))?)?;
        }
        Ok(())
    }

    /// Places `orders` orders, cancels as many, and waits for all acknowledgements. Returns the last
    /// sequence.
    pub(crate) fn group(&mut self, orders: u128) -> Result<Sequence, MeasureError> {
        let mut commands = Vec::new();
        let mut left = orders;
        while left > 0 {
            let command = self.next();
            left -= u128::from(matches!(command, Command::PlaceOrder(_)));
            commands.push(command);
        }
        self.ask(&commands)
    }

    /// Commands per second with `window` of them in flight.
    pub(crate) fn full_rate(&mut self, window: usize, turn: Duration) -> Result<f64, MeasureError> {
        let begun = Instant::now();
        let (mut done, mut in_flight) = (0_u32, 0);
        let mut bytes = Vec::new();
        while begun.elapsed() < turn {
            bytes.clear();
            (0..window / 2).for_each(|_| self.encode_next(0, &mut bytes));
            let mut stream = self.client.stream();
            stream
                .write_all(&bytes)
                .map_err(MeasureError::io("sending"))?;
            in_flight += window / 2;
            while in_flight > window / 2 {
                self.applied()?;
                in_flight -= 1;
                done += 1;
            }
        }
        let rate = f64::from(done) / begun.elapsed().as_secs_f64();
        for _ in 0..in_flight {
            self.applied()?;
        }
        Ok(rate)
    }

    /// Sends at `rate` commands a second for `turn`, independent of the answers. Returns the time of
    /// each command from when it was sent; `None` if the engine's ring was full.
    pub(crate) fn open_loop(
        &mut self,
        rate: f64,
        turn: Duration,
    ) -> Result<Option<Stopwatch>, MeasureError> {
        let count = due_by(turn, rate);
        let requests: Vec<Vec<u8>> = (0..count)
            .map(|number| {
                let mut bytes = Vec::new();
                self.encode_next(number as u64, &mut bytes);
                bytes
            })
            .collect();
        let sent: Vec<AtomicU64> = (0..count).map(|_| AtomicU64::new(0)).collect();
        let stream = self.client.stream().try_clone();
        let mut stream = stream.map_err(MeasureError::io("setting up a socket"))?;
        let start = Instant::now();
        let times = std::thread::scope(|scope| {
            let sending = scope.spawn(|| send(&mut stream, &requests, rate, start, &sent));
            let times = self.answers(start, &sent);
            joined("the sender", sending.join())??;
            times
        })?;
        if times.is_none() {
            // It is unknown now which of the orders rest.
            self.resting.clear();
        }
        Ok(times)
    }

    /// The engine's last sequence.
    pub(crate) fn sequence(&mut self) -> Result<Sequence, MeasureError> {
        match self.client.ask(Request::Status { request: 0 })? {
            Answer::Status(status) => Ok(status.sequence),
            other => Err(unexpected(&other)),
        }
    }

    /// Receives the answers to all commands; `None` when one reports a full ring.
    fn answers(
        &mut self,
        start: Instant,
        sent: &[AtomicU64],
    ) -> Result<Option<Stopwatch>, MeasureError> {
        let (mut times, mut was_full) = (Stopwatch::new(), false);
        for _ in sent {
            let reply = match self.client.receive()? {
                Answer::Reply(reply) => reply,
                Answer::Busy(Busy {
                    reason: BusyReason::RingFull,
                    ..
                }) => {
                    was_full = true;
                    continue;
                }
                other => return Err(unexpected(&other)),
            };
            // A cancel is rejected if its order was not accepted.
            if !was_full && !matches!(reply.verdict, Verdict::Applied(_)) {
                return Err(unexpected(&Answer::Reply(reply)));
            }
            let at = usize::try_from(reply.request)
                .ok()
                .and_then(|at| sent.get(at));
            let at = at.ok_or_else(|| MeasureError::wrong("an answer without a request"))?;
            times.record(nanos(start.elapsed()).saturating_sub(at.load(Ordering::Acquire)));
        }
        Ok((!was_full).then_some(times))
    }

    /// Sends commands together, waits for all answers, and returns the last sequence.
    fn ask(&mut self, commands: &[Command]) -> Result<Sequence, MeasureError> {
        let requests: Vec<_> = (0..)
            .zip(commands)
            .map(|(request, command)| submit(request, *command))
            .collect();
        self.client.send(&requests)?;
        let mut last = Sequence(0);
        for _ in commands {
            last = last.max(self.applied()?);
        }
        Ok(last)
    }

    /// Receives the next answer, which must report success.
    fn applied(&mut self) -> Result<Sequence, MeasureError> {
        match self.client.receive()? {
            Answer::Reply(reply) if matches!(reply.verdict, Verdict::Applied(_)) => {
                Ok(reply.sequence)
            }
            other => Err(unexpected(&other)),
        }
    }

    fn next(&mut self) -> Command {
        if self.resting.len() > RESTING
            && let Some(order) = self.resting.pop_front()
        {
            let owner = AccountNumber(0);
            return Command::CancelOrder(CancelOrder { owner, order });
        }
        let order = self.placement(Outcome::Yes);
        self.resting.push_back(order.order);
        Command::PlaceOrder(order)
    }

    fn encode_next(&mut self, request: u64, out: &mut Vec<u8>) {
        let encoded = submit(request, self.next()).encode(out);
        encoded.expect("an order is far below the longest request");
    }

    /// A resting bid for an outcome; its number determines id and price.
    fn placement(&mut self, outcome: Outcome) -> PlaceOrder {
        self.placed += 1;
        let mut id = [0x55; 32];
        id[..8].copy_from_slice(&self.placed.to_le_bytes());
        let order = LimitOrder {
            account: 0,
            market: 0,
            outcome,
            side: Side::Buy,
            lots: LOTS,
            cents: LOWEST_CENTS + self.placed % PRICES,
        };
        order.placement(OrderId(id), now_ms())
    }
}

fn submit(request: u64, command: Command) -> Request<'static> {
    let evidence: &[u8] = match command {
        Command::PlaceOrder(_) => &EVIDENCE,
        _ => &[],
    };
    Request::Submit(Submit {
        request,
        operator: foretell_model::OperatorNumber::NONE,
        command,
        evidence,
    })
}

fn unexpected(answer: &Answer) -> MeasureError {
    MeasureError::Wrong(format!("a command of the order flow: {answer:?}"))
}

/// Sends every request when it is due and records when it was sent.
fn send(
    stream: &mut UnixStream,
    requests: &[Vec<u8>],
    rate: f64,
    start: Instant,
    sent: &[AtomicU64],
) -> Result<(), MeasureError> {
    let mut next = 0;
    let mut bytes = Vec::new();
    while next < requests.len() {
        let due = due_by(start.elapsed(), rate).min(requests.len());
        if due <= next {
            std::thread::park_timeout(PAUSE);
            continue;
        }
        bytes.clear();
        requests[next..due]
            .iter()
            .for_each(|request| bytes.extend_from_slice(request));
        let now = nanos(start.elapsed());
        sent[next..due]
            .iter()
            .for_each(|at| at.store(now, Ordering::Release));
        stream
            .write_all(&bytes)
            .map_err(MeasureError::io("sending"))?;
        next = due;
    }
    Ok(())
}

/// Number of commands due after a time.
pub(crate) fn due_by(elapsed: Duration, rate: f64) -> usize {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of some hundred thousand"
    )]
    let due = (elapsed.as_secs_f64() * rate) as usize;
    due
}

/// Sleeps until a time.
pub(crate) fn sleep_until(end: Instant) {
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}
