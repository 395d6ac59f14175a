//! Why the exchange says no. The numbers are pinned: they stand in journals and on the link.

use rkyv::{Archive, Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $code:literal),+ $(,)?) => {
        /// Every reason for a refusal. Where it says *details*, [`Refusal::details`] carries them.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Archive, Serialize, Deserialize)]
        #[repr(u16)]
        pub enum RefusalReason { $($(#[$doc])* $variant = $code),+ }

        impl RefusalReason {
            /// Every reason, in code order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The pinned number.
            #[must_use]
            pub const fn code(self) -> u16 {
                self as u16
            }

            /// The reason with this pinned number.
            #[must_use]
            pub const fn from_code(code: u16) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

reasons! {
    /// The memory of order ids or of references is full, or the ring is.
    Busy = 1,
    /// No account with this number or address.
    UnknownAccount = 2,
    /// No market with this number.
    UnknownMarket = 3,
    /// No event with this number.
    UnknownEvent = 4,
    /// No live trading key with this number.
    UnknownKey = 5,
    /// The key's owner is not the owner of the account.
    KeyOfAnotherOwner = 6,
    /// The market is registered, not yet active.
    MarketNotReady = 10,
    /// The market is paused.
    MarketPaused = 11,
    /// The market is closed or resolved.
    MarketClosed = 12,
    /// The system is paused.
    SystemPaused = 13,
    /// The system takes cancels only.
    CancelOnly = 14,
    /// The system takes post-only orders only.
    PostOnlyMode = 15,
    /// The account may only reduce.
    ClosedOnlyAccount = 17,
    /// An amount is 0.
    AmountZero = 20,
    /// The order is larger than 10^9 shares (or the value of so many).
    AmountTooLarge = 21,
    /// A share amount is finer than a lot. Details: micro-shares.
    SizeNotLots = 22,
    /// The price is not between one tick and 1 − one tick on the grid. Details: tick in price units.
    PriceOffTick = 23,
    /// Below the market's minimum. Details: lots, minimum lots.
    SizeBelowMinimum = 24,
    /// A marketable BUY below the minimum value. Details: micros, minimum micros.
    MarketableBelowMinimum = 25,
    /// GTD that is already due, or an expiration on another type.
    InvalidExpiration = 26,
    /// post-only on a FOK or FAK.
    PostOnlyNeedsResting = 27,
    /// post-only would cross.
    CrossesBook = 28,
    /// A FOK cannot be filled whole.
    FokNotFilled = 29,
    /// A FAK finds nothing.
    FakNoMatch = 30,
    /// Too little free collateral. Details: micros needed, micros free.
    NotEnoughCollateral = 31,
    /// Too few free shares. Details: lots needed, lots free.
    NotEnoughShares = 32,
    /// The account is at its cap of live orders. Details: live, cap.
    TooManyLiveOrders = 33,
    /// The signed timestamp is outside the window. Details: from, to, both milliseconds inclusive.
    TimestampOutOfWindow = 34,
    /// The id was used with other terms.
    Duplicate = 35,
    /// All deposits less withdrawals would pass the maximum balance. Details: micros, maximum.
    BalanceLimit = 36,
    /// The account has as many references of actions remembered as it may. Details: remembered,
    /// allowed.
    TooManyReferences = 37,
    /// The owner has as many order ids remembered as it may. Details: remembered, allowed.
    TooManyOrderIds = 38,
    /// No such live order.
    OrderNotFound = 40,
    /// The order is another owner's.
    OrderOfAnotherOwner = 41,
    /// The reference was used with other content.
    ReferenceReused = 50,
    /// The wallet is bound, or owns wallets or keys, so that it cannot be bound.
    WalletNotBindable = 51,
    /// The wallet has live orders.
    WalletHasLiveOrders = 52,
    /// The owner has a wallet of this kind, or the kind cannot be bound.
    WalletKindTaken = 53,
    /// The wallet is not bound.
    WalletNotBound = 54,
    /// The owner has 16 live keys.
    TooManyKeys = 55,
    /// The (owner, nonce, kind of key) was revoked.
    NonceRevoked = 56,
    /// The api key text or nonce belongs to another key.
    KeyTaken = 57,
    /// The account is bound to an owner and cannot own keys.
    NotAnOwner = 58,
    /// Another market under this condition id.
    MarketDiffers = 60,
    /// A token of the market is in use, or its two tokens are the same.
    TokenTaken = 61,
    /// The event's question list is frozen.
    EventFrozen = 62,
    /// The event has 128 questions.
    EventFull = 63,
    /// The state does not allow this. Details: the market's state code.
    InvalidTransition = 64,
    /// The market still has orders to cancel.
    BookNotEmpty = 65,
    /// Another question of the event resolved Yes.
    SecondYes = 66,
    /// This No would leave the event without a Yes.
    NoWouldLeaveNone = 67,
    /// ½ in a neg-risk event.
    HalfInNegRisk = 68,
    /// The tick is coarser than, or the same as, the market's. Details: the market's tick code.
    InvalidTick = 69,
    /// Rate above 1,000,000 ppm or exponent above 2.
    InvalidFee = 70,
    /// Below a lot or above the largest order.
    InvalidMinimumSize = 71,
    /// Another domain under this number.
    DomainDiffers = 72,
    /// The market is not resolved.
    NotResolved = 80,
    /// Nothing free to redeem.
    NothingToRedeem = 81,
    /// Empty, or names a question the event does not have.
    InvalidQuestions = 82,
    /// A question of the event is not active, or the event is not frozen.
    EventNotActive = 83,
    /// The settings break their bounds.
    InvalidSettings = 90,
    /// No such rules number, or one older than the rules in force.
    UnknownRules = 91,
    /// `Continue` must come first.
    WorkPending = 100,
    /// Nothing to continue.
    NothingPending = 101,
    /// Nothing is due.
    NothingDue = 102,
    /// The attested sequence is not applied yet.
    NotYetApplied = 103,
}

/// A refusal and its details; what the two numbers mean stands at the reason, 0 where it says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub reason: RefusalReason,
    /// Numbers for the text of the answer.
    pub details: [u64; 2],
}

impl Refusal {
    /// A refusal with details.
    #[must_use]
    pub const fn with(reason: RefusalReason, first: u64, second: u64) -> Self {
        Self {
            reason,
            details: [first, second],
        }
    }
}

impl From<RefusalReason> for Refusal {
    fn from(reason: RefusalReason) -> Self {
        Self {
            reason,
            details: [0, 0],
        }
    }
}
