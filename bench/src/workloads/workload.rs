//! Converts a stream's commands to exchange commands with accounts and order ids.

use foretell_model::{
    AccountNumber, Command, KeyNumber, Lots, MarketNumber, OrderId, OrderType, Outcome, PlaceOrder,
    Price, Side, TimeMs, TimeNs, TimeSeconds,
};

use crate::workloads::stream::{Action, Entry, Stream};

/// Price units of 0.0001 in a cent.
const UNITS_PER_CENT: u16 = 100;
/// Accounts per side of a realistic stream.
const ACCOUNTS_PER_SIDE: u32 = 5_000;
/// Start time of a stream, and interval between commands.
const START_NS: u64 = 1_700_000_000_000_000_000;
pub(crate) const STEP_NS: u64 = 10_000;

/// How stream commands become exchange commands. Buyers have even account numbers and sellers odd
/// ones, so taker and maker always differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WorkloadKind {
    /// Two accounts, sequential ids, no fee.
    Plain,
    /// 10,000 accounts with Zipf-distributed activity, random 32-byte ids, a 2% fee.
    Realistic,
}

/// A stream with the account of every command.
pub(crate) struct Workload<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) kind: WorkloadKind,
    accounts: Vec<u32>,
}

impl<'a> Workload<'a> {
    pub(crate) fn new(stream: &'a Stream, kind: WorkloadKind) -> Self {
        let ranks = Ranks::new(match kind {
            WorkloadKind::Plain => 1,
            WorkloadKind::Realistic => ACCOUNTS_PER_SIDE,
        });
        let mut of_order = vec![0; stream.orders() as usize + 1];
        let accounts = stream
            .entries()
            .iter()
            .map(|entry| {
                let account = &mut of_order[entry.id as usize];
                if entry.action != Action::Cancel {
                    let side = u32::from(entry.action == Action::Sell);
                    *account = ranks.of(entry.id) * 2 + side;
                }
                *account
            })
            .collect();
        Self {
            stream,
            kind,
            accounts,
        }
    }

    /// Number of accounts, idle ones included.
    pub(crate) const fn accounts(&self) -> u32 {
        match self.kind {
            WorkloadKind::Plain => 2,
            WorkloadKind::Realistic => ACCOUNTS_PER_SIDE * 2,
        }
    }

    /// Every command of the stream with its account.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Entry, AccountNumber)> {
        let accounts = self.accounts.iter().copied().map(AccountNumber);
        self.stream.entries().iter().zip(accounts)
    }

    /// The command at an index of the stream.
    pub(crate) fn command(&self, at: usize) -> Command {
        let entry = &self.stream.entries()[at];
        let account = AccountNumber(self.accounts[at]);
        let order = self.order_id(entry.id);
        let side = match entry.action {
            Action::Buy => Side::Buy,
            Action::Sell => Side::Sell,
            Action::Cancel => {
                return Command::CancelOrder {
                    owner: account,
                    order,
                };
            }
        };
        let lots = Lots(entry.quantity.into());
        let (value, shares) = (lots.value_at(price(entry)).0, lots.micro_shares());
        let (maker_amount, taker_amount) = match side {
            Side::Buy => (value, shares),
            Side::Sell => (shares, value),
        };
        Command::PlaceOrder(PlaceOrder {
            order,
            account,
            key: KeyNumber(account.0),
            market: MarketNumber(entry.book),
            outcome: Outcome::Yes,
            side,
            order_type: OrderType::Gtc,
            post_only: false,
            maker_amount,
            taker_amount,
            expiration: TimeSeconds(0),
            timestamp: TimeMs(time(at).millis().0),
        })
    }

    pub(crate) fn order_id(&self, id: u32) -> OrderId {
        let mut bytes = [0; 32];
        let (words, _) = bytes.as_chunks_mut::<8>();
        match self.kind {
            WorkloadKind::Plain => words[0] = u64::from(id).to_le_bytes(),
            WorkloadKind::Realistic => (0_u64..).zip(words).for_each(|(index, word)| {
                *word = scramble(u64::from(id) << 2 | index).to_le_bytes();
            }),
        }
        OrderId(bytes)
    }
}

/// Time of the command at an index: 100,000 commands a second.
pub(crate) const fn time(at: usize) -> TimeNs {
    TimeNs(START_NS + at as u64 * STEP_NS)
}

/// Limit price of an order in the exchange's units.
pub(crate) fn price(entry: &Entry) -> Price {
    Price(u16::from(entry.price) * UNITS_PER_CENT)
}

/// Draws ranks by Zipf's law: rank r with weight 1 / (r + 1).
pub(crate) struct Ranks {
    /// Cumulative weights on a scale of 2^32.
    ends: Vec<u64>,
}

impl Ranks {
    pub(crate) fn new(ranks: u32) -> Self {
        // Integer weights: even the lowest is above 10^8.
        const SCALE: u64 = 1 << 40;
        let weights = (1..=u64::from(ranks)).map(|rank| SCALE / rank);
        let ends: Vec<u64> = weights
            .scan(0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        Self { ends }
    }

    /// The rank drawn for a number.
    pub(crate) fn of(&self, id: u32) -> u32 {
        let total = self.ends.last().copied().unwrap_or(1);
        let point = scramble(!u64::from(id)) % total;
        let rank = self.ends.partition_point(|end| *end <= point);
        u32::try_from(rank).expect("there are u32 ranks")
    }

    /// Share of a rank in `whole`, proportional to its weight, rounded down.
    pub(crate) fn share(&self, rank: u32, whole: u64) -> u64 {
        let end = |rank: usize| self.ends.get(rank).copied().unwrap_or(0);
        let below = (rank as usize).checked_sub(1).map_or(0, end);
        let total = self.ends.last().copied().unwrap_or(1);
        let part = u128::from(whole) * u128::from(end(rank as usize) - below) / u128::from(total);
        u64::try_from(part).expect("a part is at most the whole")
    }
}

/// Hashes a number to 64 bits (the finalizer of splitmix64).
pub(crate) const fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
