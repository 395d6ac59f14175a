//! How much of a journal carries a signature, and who vouches for the rest.

use foretell_model::{Command, Event, FrameRef};
use serde_json::{Value, json};

/// Commands by what proves them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Orders with their maker's signature as evidence.
    pub signed_orders: u64,
    /// Orders that the book refused: journalled without evidence, because they changed nothing.
    pub killed_orders: u64,
    /// Cancels, account actions, keys, heartbeats: a gateway vouches for who asked.
    pub gateway_attested: u64,
    /// Deposits, bindings, markets, modes, settings: the operator's.
    pub operator: u64,
    /// Time, work that goes on, attested states: the engine's own.
    pub engine: u64,
    /// Trades.
    pub trades: u64,
}

impl Counts {
    pub(crate) fn count(&mut self, frame: &FrameRef<'_>) {
        *self.of(frame) += 1;
        let trades = frame
            .events
            .iter()
            .filter(|event| matches!(event, Event::Fill(_)));
        self.trades += crate::output::count(trades.count());
    }

    fn of(&mut self, frame: &FrameRef<'_>) -> &mut u64 {
        match frame.command {
            Command::PlaceOrder(_) if frame.evidence.is_empty() => &mut self.killed_orders,
            Command::PlaceOrder(_) => &mut self.signed_orders,
            Command::CancelAll {
                heartbeat: true, ..
            }
            | Command::AdvanceTime
            | Command::Continue
            | Command::AttestState { .. } => &mut self.engine,
            Command::CancelOrder { .. }
            | Command::CancelAll { .. }
            | Command::CancelMarketOrders { .. }
            | Command::RegisterKey { .. }
            | Command::RevokeKey { .. }
            | Command::SetHeartbeat { .. }
            | Command::Split { .. }
            | Command::Merge { .. }
            | Command::Redeem { .. }
            | Command::Convert { .. } => &mut self.gateway_attested,
            _ => &mut self.operator,
        }
    }

    /// All commands.
    #[must_use]
    pub const fn commands(&self) -> u64 {
        self.signed_orders
            + self.killed_orders
            + self.gateway_attested
            + self.operator
            + self.engine
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "commands": self.commands(),
            "signed_orders": self.signed_orders,
            "killed_orders": self.killed_orders,
            "gateway_attested": self.gateway_attested,
            "operator": self.operator,
            "engine": self.engine,
            "trades": self.trades,
        })
    }
}
