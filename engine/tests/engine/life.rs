//! Random actions of two traders: orders that rest, cross and kill, cancels, splits and merges.

use foretell_fixtures::{deposit, order_id};
use foretell_model::command::{Merge, Split};
use foretell_model::{
    Command, CommandOutcome, Lots, Micros, OrderStatus, OrderType, Outcome, Reference, Side,
    Verdict, WalletAddress,
};

use crate::harness::TestClient;
use crate::world::World;

/// A random sequence of actions, determined by its seed and the engine's answers.
pub(crate) struct Life {
    state: u64,
    /// Counter for ids of orders and references.
    next: u64,
    /// Numbers of resting orders, with the trader.
    resting: Vec<(u64, usize)>,
}

impl Life {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            next: seed * 10_000,
            resting: Vec::new(),
        }
    }

    /// A number below `bound` (xorshift).
    fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % bound
    }

    fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap()
    }

    /// Sends this many commands; some are rejected.
    pub(crate) fn go_on(&mut self, world: &World, client: &mut TestClient, commands: u64) {
        for _ in 0..commands {
            self.next += 1;
            match self.below(10) {
                0 => self.cancel(world, client),
                1 => self.split_or_merge(world, client),
                2 => self.deposit(client),
                _ => self.place(world, client),
            }
        }
    }

    fn place(&mut self, world: &World, client: &mut TestClient) {
        let (number, trader) = (self.next, self.index(2));
        let (cents, shares) = (30 + self.below(40), 1 + self.below(9));

        let side = if self.below(3) == 0 {
            Side::Sell
        } else {
            Side::Buy
        };

        let outcome = if self.below(2) == 0 {
            Outcome::Yes
        } else {
            Outcome::No
        };
        let order_type = match self.below(6) {
            0 => OrderType::Fak,
            1 => OrderType::Fok,
            _ => OrderType::Gtc,
        };
        let order = world.order(number, trader, side, shares).at_cents(cents);
        let order = order.of(outcome).as_type(order_type);
        let reply = client.ask(order.place(), b"signed");
        if let Verdict::Applied(CommandOutcome::Order(result)) = reply.verdict
            && result.status == OrderStatus::Live
        {
            self.resting.push((number, trader));
        }
    }

    fn cancel(&mut self, world: &World, client: &mut TestClient) {
        if self.resting.is_empty() {
            return;
        }
        let at = self.index(self.resting.len());
        let (number, trader) = self.resting.swap_remove(at);
        let cancel = world.traders[trader].cancel(order_id(number));
        client.ask(cancel, &[]);
    }

    fn split_or_merge(&mut self, world: &World, client: &mut TestClient) {
        let account = world.traders[self.index(2)].account;
        let (market, reference) = (world.market, self.reference());
        let lots = Lots(100 * (1 + self.below(20)));
        let command = if self.below(3) > 0 {
            Command::Split(Split {
                account,
                market,
                lots,
                reference,
            })
        } else {
            Command::Merge(Merge {
                account,
                market,
                lots,
                reference,
            })
        };
        client.ask(command, b"reference");
    }

    fn deposit(&mut self, client: &mut TestClient) {
        let wallet = WalletAddress([u8::try_from(self.below(5)).unwrap(); 20]);
        let amount = Micros(1 + self.below(1_000_000));
        client.ask(deposit(wallet, amount, self.reference().0), b"reference");
    }

    fn reference(&self) -> Reference {
        let mut reference = [0xB0; 32];
        reference[24..].copy_from_slice(&self.next.to_be_bytes());
        Reference(reference)
    }
}
