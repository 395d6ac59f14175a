//! Counts of commands by their proof: a maker's signature, a gateway, the operator, the engine.

use std::fmt;

use foretell_model::command::CancelAll;
use foretell_model::{Command, Event, FrameRef, Micros, OperatorNumber, quantity::MICROS_PER_UNIT};
use serde::{Serialize, Serializer};

/// Counts of commands by their proof.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize)]
pub struct Counts {
    /// All commands.
    pub commands: u64,
    /// Orders with their maker's signature as evidence.
    pub signed_orders: u64,
    /// Sets of quotes with their maker's signature as evidence.
    pub signed_sets: u64,
    /// Orders of an operator of a sandbox, which nobody signed.
    pub unsigned_orders: u64,
    /// Orders rejected by the book: journalled without evidence because they changed nothing.
    pub killed_orders: u64,
    /// Cancels, account actions, keys, heartbeats: the gateway authenticated the client.
    pub gateway_attested: u64,
    /// Deposits, bindings, markets, modes, settings: given by the operator.
    pub operator: u64,
    /// Clock, deferred work, attested states: given by the engine.
    pub engine: u64,
    /// Trades.
    pub trades: u64,
    /// Deposits, which the operator alone attests.
    pub deposits: u64,
    /// Their sum.
    pub deposited: Total,
}

/// A sum of amounts. More may come in over time than there ever is, and a forged journal has any amount.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Total(u128);

impl Total {
    const fn add(&mut self, amount: Micros) {
        self.0 += amount.0 as u128;
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = u128::from(MICROS_PER_UNIT);
        write!(f, "{}.{:06}", self.0 / unit, self.0 % unit)
    }
}

impl Serialize for Total {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Counts {
    pub(crate) fn count(&mut self, frame: &FrameRef<'_>, has_evidence: bool) {
        self.commands += 1;
        *self.of(frame, has_evidence) += 1;
        for event in frame.events {
            match event {
                Event::Fill(_) => self.trades += 1,
                Event::Deposited(deposited) => {
                    self.deposits += 1;
                    self.deposited.add(deposited.amount);
                }
                _ => {}
            }
        }
    }

    fn of(&mut self, frame: &FrameRef<'_>, has_evidence: bool) -> &mut u64 {
        let senders = frame.command.kind().senders();
        match frame.command {
            Command::PlaceOrder(_) if frame.operator != OperatorNumber::NONE => {
                &mut self.unsigned_orders
            }
            Command::PlaceOrder(_) if has_evidence => &mut self.signed_orders,
            Command::PlaceOrder(_) => &mut self.killed_orders,
            Command::SetQuotes(_) => &mut self.signed_sets,
            Command::CancelAll(CancelAll {
                heartbeat: true, ..
            }) => &mut self.engine,
            Command::SetHeartbeat(_) => &mut self.gateway_attested,
            Command::AcceptDivergence { .. } => &mut self.operator,
            _ if senders.is_engine() => &mut self.engine,
            _ if senders.clients => &mut self.gateway_attested,
            _ => &mut self.operator,
        }
    }
}
