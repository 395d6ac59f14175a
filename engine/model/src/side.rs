//! Sides, outcomes and types of orders, kinds of match, reasons for closing.

use rkyv::{Archive, Deserialize, Serialize};

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $code:literal),+ $(,)? }) => {
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Archive, Serialize, Deserialize,
            serde::Serialize,
        )]
        $(#[$doc])*
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $code),+ }

        impl $name {
            /// Every variant, in code order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The pinned code, used outside of the process.
            #[must_use]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The variant with this pinned code.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use codes;

codes!(
    /// Side of an order in its own token; the code is the signed one.
    #[serde(rename_all = "UPPERCASE")]
    Side { /// Buys shares.
        Buy = 0, /// Sells shares.
        Sell = 1 }
);
codes!(
    /// Outcome of a binary market.
    #[serde(rename_all = "kebab-case")]
    Outcome { /// Outcome 0.
        Yes = 0, /// Outcome 1.
        No = 1 }
);
codes!(
    /// Order type: time in force (docs/verify/rules.md §4).
    #[serde(rename_all = "UPPERCASE")]
    OrderType {
        /// Good till cancelled.
        Gtc = 0,
        /// Good till date.
        Gtd = 1,
        /// Fill or kill.
        Fok = 2,
        /// Fill and kill: fills what it can, the rest is cancelled.
        Fak = 3,
    }
);
codes!(
    /// Kind of match of taker and maker (docs/verify/rules.md §5).
    #[serde(rename_all = "kebab-case")]
    MatchKind {
        /// Buyer and seller of one token: shares change hands.
        Complementary = 0,
        /// Two buyers of opposite tokens: a full set is created.
        Mint = 1,
        /// Two sellers of opposite tokens: a full set is destroyed.
        Merge = 2,
    }
);
codes!(
    /// Why an order ended with an unfilled rest.
    #[serde(rename_all = "kebab-case")]
    CloseReason {
        /// Cancelled by its owner (by id, all, by market), or with the owner's revoked key.
        User = 1,
        /// It expired.
        Expired = 2,
        /// The owner's heartbeat stopped.
        Heartbeat = 3,
        /// The taker had the same account.
        SelfTrade = 4,
        /// The rest of a FAK.
        FakRest = 5,
        /// A taker reached the bound on visited orders (docs/verify/rules.md §5).
        TooManyFills = 6,
        /// The market closed.
        MarketClosed = 7,
        /// The account became closed-only; its BUYs are cancelled.
        ClosedOnly = 8,
        /// A budget BUY stopped because a fee used up the free collateral
        /// (docs/verify/rules.md §4).
        FeeStopped = 9,
        /// The market's book was cleared at its game start (docs/verify/rules.md §21).
        Cleared = 10,
        /// A delayed FOK that the book could not fill when it was due (docs/verify/rules.md §22).
        FokNotFilled = 11,
        /// A set of quotes ended it (docs/verify/rules.md §32).
        Requoted = 12,
        /// The lease of its group of quotes ran out.
        LeaseEnded = 13,
        /// A limit of its group of quotes was reached.
        LimitReached = 14,
        /// The key whose set of quotes placed it was revoked.
        KeyRevoked = 15,
    }
);

impl Side {
    /// The other side.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }
}

impl Outcome {
    /// The other outcome.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
        }
    }

    /// Index in a pair `[yes, no]`.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl OrderType {
    /// GTC and GTD may rest; FOK and FAK never do.
    #[must_use]
    pub const fn may_rest(self) -> bool {
        matches!(self, Self::Gtc | Self::Gtd)
    }
}

impl MatchKind {
    /// The maker's side, given the taker's.
    #[must_use]
    pub const fn maker_side(self, taker: Side) -> Side {
        match self {
            Self::Complementary => taker.opposite(),
            Self::Mint | Self::Merge => taker,
        }
    }

    /// The maker's outcome, given the taker's.
    #[must_use]
    pub const fn maker_outcome(self, taker: Outcome) -> Outcome {
        match self {
            Self::Complementary => taker,
            Self::Mint | Self::Merge => taker.opposite(),
        }
    }
}
