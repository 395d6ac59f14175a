//! Rules and states of markets, event groups, wallets and the system
//! (docs/verify/rules.md §3, §7, §12, §17, §21 to §24).

use rkyv::{Archive, Deserialize, Serialize};

use crate::limits::{
    MAX_CLOCK_MS, MAX_QUESTIONS, MAX_REBATE_PPM, MAX_TAKER_DELAY_MS, MAX_WINDOW_SECONDS,
};
use crate::operator::{OperatorRole, RoleSet};
use crate::record::{checked, records};
use crate::side::codes;
use crate::time::TimeMs;

codes!(
    /// Market state (docs/verify/rules.md §12). `archived` is a separate flag.
    #[serde(rename_all = "kebab-case")]
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
    /// When a market opens that is being registered (docs/verify/rules.md §12).
    #[derive(Default)]
    #[serde(rename_all = "kebab-case")]
    Opening {
        /// At its `opens_at`, or when it is activated.
        #[default]
        Later = 0,
        /// At once.
        Now = 1,
        /// Never: it is registered closed.
        Never = 2,
    }
);
codes!(
    /// Payout per share of a resolved market: (Yes, No).
    #[serde(rename_all = "kebab-case")]
    Payout {
        /// (1, 0)
        Yes = 0,
        /// (0, 1)
        No = 1,
        /// (½, ½); plain markets only.
        Half = 2,
        /// None of the listed: (0, 1) of the last open question of its event group, whose outside
        /// question pays Yes. A market's own payout is never this (docs/verify/rules.md §26).
        Outside = 3,
    }
);
codes!(
    /// Who keeps a market from trading (docs/verify/rules.md §12).
    #[serde(rename_all = "kebab-case")]
    Hold {
        /// An operator.
        Operator = 0,
        /// The upstream that the market follows.
        Upstream = 1,
    }
);
codes!(
    /// Requests the system accepts (docs/verify/rules.md §13). `recovering` is the engine's, not
    /// the core's.
    #[serde(rename_all = "kebab-case")]
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
    #[serde(rename_all = "kebab-case")]
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
            Self::No | Self::Outside => [0, 10_000],
            Self::Half => [5_000, 5_000],
        }
    }
}

records! {
    /// `fee = shares × rate × (p(1−p))^exponent`, paid by the taker, floored once to 5 decimals
    /// (docs/verify/rules.md §7).
    #[derive(Default)]
    pub struct FeeSchedule {
        /// Parts per million, 0 to 1,000,000.
        pub rate_ppm: u32,
        /// 0, 1 or 2.
        pub exponent: u8,
    }
}

records! {
    /// Clock, delay and rebate of a market (docs/verify/rules.md §21 to §23). All zero without them. Times are engine time; 0 = none.
    #[derive(Default)]
    pub struct MarketTerms {
        /// When a registered market becomes active.
        pub opens_at: TimeMs,
        /// When the market closes; it resolves nothing.
        pub closes_at: TimeMs,
        /// When the game starts; it matters to the core only with `clear_book_on_start`.
        pub game_start_time: TimeMs,
        /// Whether orders end (`Cleared`) at `game_start_time`.
        pub clear_book_on_start: bool,
        /// How long an order waits that could trade on arrival: 0 to
        /// [`crate::limits::MAX_TAKER_DELAY_MS`].
        pub taker_delay_ms: u32,
        /// The maker's share of the taker's fee: 0 to [`crate::limits::MAX_REBATE_PPM`].
        pub rebate_ppm: u32,
    }
}

impl MarketTerms {
    /// Whether delay, rebate and times are in range (otherwise `InvalidTerms`).
    #[must_use]
    pub const fn are_in_range(&self) -> bool {
        self.taker_delay_ms <= MAX_TAKER_DELAY_MS
            && self.rebate_ppm <= MAX_REBATE_PPM
            && self.opens_at.0 <= MAX_CLOCK_MS
            && self.closes_at.0 <= MAX_CLOCK_MS
            && self.game_start_time.0 <= MAX_CLOCK_MS
    }
}

records! {
    /// Who resolves a market, and how (docs/verify/rules.md §24).
    pub struct ResolutionPolicy {
        /// Roles that propose. Listed wallets may, too.
        pub proposers: RoleSet,
        /// Roles that dispute. Listed wallets may, too.
        pub disputers: RoleSet,
        /// The shortest challenge window of a proposal, 0 to
        /// [`crate::limits::MAX_WINDOW_SECONDS`].
        pub minimum_window_seconds: u32,
        /// Whether another operator than the proposer finalises.
        pub second_person: bool,
        /// Whether time finalises an undisputed proposal at the end of its window; never together with
        /// `second_person`.
        pub by_time: bool,
    }
}

impl Default for ResolutionPolicy {
    fn default() -> Self {
        Self {
            proposers: RoleSet::NONE
                .with(OperatorRole::Admin)
                .with(OperatorRole::Resolver),
            disputers: RoleSet::NONE
                .with(OperatorRole::Admin)
                .with(OperatorRole::Markets)
                .with(OperatorRole::Resolver)
                .with(OperatorRole::Cashier)
                .with(OperatorRole::Support),
            minimum_window_seconds: 0,
            second_person: false,
            by_time: false,
        }
    }
}

impl ResolutionPolicy {
    /// Whether the policy is consistent and in bounds (otherwise `InvalidPolicy`).
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.minimum_window_seconds <= MAX_WINDOW_SECONDS && !(self.second_person && self.by_time)
    }
}

/// The holds on a paused market: bit n is the hold with code n. Other bits are zero.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, serde::Serialize)]
#[serde(into = "Vec<Hold>")]
pub struct HoldSet(u8);
checked! { HoldSet from from_bits; }

impl From<HoldSet> for Vec<Hold> {
    fn from(holds: HoldSet) -> Self {
        let all = Hold::ALL.iter().copied();
        all.filter(|hold| holds.contains(*hold)).collect()
    }
}

impl HoldSet {
    /// No hold: the market trades.
    pub const NONE: Self = Self(0);

    /// The set with these bits; `None` when a bit stands for no hold.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits >> Hold::ALL.len() == 0 {
            Some(Self(bits))
        } else {
            None
        }
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set with a hold added.
    #[must_use]
    pub const fn with(self, hold: Hold) -> Self {
        Self(self.0 | 1 << hold.code())
    }

    /// The set without a hold.
    #[must_use]
    pub const fn without(self, hold: Hold) -> Self {
        Self(self.0 & !(1 << hold.code()))
    }

    /// Whether a hold is in the set.
    #[must_use]
    pub const fn contains(self, hold: Hold) -> bool {
        self.0 >> hold.code() & 1 == 1
    }
}

/// The bit by which signed conversions name a question: that of the family (the last byte of its question
/// id), from 0 to 127. Unique in its event group; gaps are kept (docs/verify/rules.md §11).
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Archive, Serialize, serde::Serialize,
)]
pub struct QuestionIndex(pub u8);
checked! { QuestionIndex from from_code; }

impl QuestionIndex {
    /// The index with this number, if it is below 128.
    #[must_use]
    pub const fn from_code(number: u8) -> Option<Self> {
        if (number as u32) < MAX_QUESTIONS {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Its number.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }
}

records! {
    /// A set of questions of one neg-risk event group; bit i is question i of its frozen list.
    #[serde(into = "Vec<u32>")]
    #[derive(Default)]
    pub struct QuestionSet {
        /// Questions 0 to 63.
        pub low: u64,
        /// Questions 64 to 127.
        pub high: u64,
    }
}

impl From<QuestionSet> for Vec<u32> {
    fn from(questions: QuestionSet) -> Self {
        (0..questions.end())
            .filter(|index| questions.contains(*index))
            .collect()
    }
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
