//! Rules and states of markets, event groups, wallets and the system
//! (docs/verify/rules.md §3, §7, §12, §17).

use rkyv::{Archive, Deserialize, Serialize};

use crate::side::codes;

codes!(
    /// Market state (docs/verify/rules.md §12). `archived` is a separate flag.
    MarketState {
        /// Not trading yet.
        Registered = 0,
        /// Trading.
        Active = 1,
        /// Trading interrupted; cancels and merges work.
        Paused = 2,
        /// Trading has ended; its orders are being cancelled or are cancelled.
        Closed = 3,
        /// The payout is set.
        Resolved = 4,
    }
);
codes!(
    /// Payout per share of a resolved market: (Yes, No).
    Payout {
        /// (1, 0)
        Yes = 0,
        /// (0, 1)
        No = 1,
        /// (½, ½); plain markets only.
        Half = 2,
    }
);
codes!(
    /// Requests the system accepts (docs/verify/rules.md §13). `recovering` is the engine's, not
    /// the core's.
    SystemMode {
        /// All requests.
        Running = 0,
        /// Post-only orders and cancels.
        PostOnly = 1,
        /// Cancels, merge and redeem.
        CancelOnly = 2,
        /// As cancel-only, with another error text.
        Paused = 3,
    }
);
codes!(
    /// Relation of a wallet to its owner; the code is the order's signature type
    /// (docs/api/authentication.md §6).
    WalletKind {
        /// The owner itself (an EOA).
        Eoa = 0,
        /// A proxy wallet.
        Proxy = 1,
        /// A safe.
        Safe = 2,
        /// A deposit wallet (ERC-1271 with nested typed data).
        Deposit = 3,
    }
);

impl Payout {
    /// Payout per lot of `[yes, no]` in price units (of 0.0001): lots × this = micros.
    #[must_use]
    pub const fn price_units(self) -> [u16; 2] {
        match self {
            Self::Yes => [10_000, 0],
            Self::No => [0, 10_000],
            Self::Half => [5_000, 5_000],
        }
    }
}

/// `fee = shares × rate × (p(1−p))^exponent`, paid by the taker, floored once to 5 decimals
/// (docs/verify/rules.md §7).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Archive, Serialize, Deserialize)]
pub struct FeeSchedule {
    /// Parts per million, 0 to 1,000,000.
    pub rate_ppm: u32,
    /// 0, 1 or 2.
    pub exponent: u8,
}

/// A set of questions of one neg-risk event group; bit i is question i of its frozen list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Archive, Serialize, Deserialize)]
pub struct QuestionSet {
    /// Questions 0 to 63.
    pub low: u64,
    /// Questions 64 to 127.
    pub high: u64,
}

impl QuestionSet {
    /// Whether question `index` is in the set.
    #[must_use]
    pub const fn contains(self, index: u32) -> bool {
        match index {
            0..=63 => self.low >> index & 1 == 1,
            64..=127 => self.high >> (index - 64) & 1 == 1,
            _ => false,
        }
    }

    /// The set with question `index` added; `index` is below 128.
    #[must_use]
    pub const fn with(self, index: u32) -> Self {
        match index {
            0..=63 => Self {
                low: self.low | 1 << index,
                high: self.high,
            },
            _ => Self {
                low: self.low,
                high: self.high | 1 << (index - 64),
            },
        }
    }

    /// Number of questions in the set.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.low.count_ones() + self.high.count_ones()
    }

    /// The highest question in the set plus one; 0 when empty.
    #[must_use]
    pub const fn end(self) -> u32 {
        if self.high != 0 {
            128 - self.high.leading_zeros()
        } else {
            64 - self.low.leading_zeros()
        }
    }
}
