//! Reasons for a rejection. The codes are pinned: journals and the link store them.

use rkyv::{Archive, Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $code:literal),+ $(,)?) => {
        /// All reasons for a rejection. *Details* are the numbers in [`Rejection::details`].
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Archive, Serialize, Deserialize, serde::Serialize)]
        #[repr(u8)]
        pub enum RejectionReason { $($(#[$doc])* $variant = $code),+ }

        impl RejectionReason {
            /// Every reason, in code order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The pinned number.
            #[must_use]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The reason with this pinned number.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

reasons! {
    /// The memory of order ids or of references is full, or the command ring is.
    Busy = 1,
    /// No account with this number or address.
    UnknownAccount = 2,
    /// No market with this number.
    UnknownMarket = 3,
    /// No event group with this number.
    UnknownEvent = 4,
    /// No live trading key with this number.
    UnknownKey = 5,
    /// The key's owner is not the owner of the account.
    KeyOfAnotherOwner = 6,
    /// No operator with this number, or a revoked one.
    UnknownOperator = 7,
    /// The market is registered but not yet active.
    MarketNotReady = 10,
    /// The market is paused.
    MarketPaused = 11,
    /// The market is closed or resolved.
    MarketClosed = 12,
    /// The system is paused.
    SystemPaused = 13,
    /// The system accepts only cancels, merges and redemptions.
    CancelOnly = 14,
    /// The system accepts only post-only orders and cancels.
    PostOnlyMode = 15,
    /// The account accepts only reducing orders.
    ClosedOnlyAccount = 17,
    /// An amount is 0.
    AmountZero = 20,
    /// The order is larger than 10^9 shares, or than their full value.
    AmountTooLarge = 21,
    /// A share amount is not a multiple of a lot. Details: micro-shares.
    SizeNotLots = 22,
    /// The price is off the grid from one tick to 1 − one tick. Details: tick in price units.
    PriceOffTick = 23,
    /// The size is below the market's minimum. Details: lots, minimum lots.
    SizeBelowMinimum = 24,
    /// The value of a marketable BUY is below the minimum. Details: micros, minimum micros.
    MarketableBelowMinimum = 25,
    /// A GTD expiration that is already due, or an expiration on another order type.
    InvalidExpiration = 26,
    /// Post-only on a FOK or FAK.
    PostOnlyNeedsResting = 27,
    /// A post-only order would cross.
    CrossesBook = 28,
    /// The book cannot fill a FOK.
    FokNotFilled = 29,
    /// A FAK matches no order.
    FakNoMatch = 30,
    /// Too little free collateral. Details: micros needed, micros free.
    NotEnoughCollateral = 31,
    /// Too few free shares. Details: lots needed, lots free.
    NotEnoughShares = 32,
    /// The account has its maximum of live orders. Details: live, maximum.
    TooManyLiveOrders = 33,
    /// The signed timestamp is outside the window. Details: from, to, both milliseconds inclusive.
    TimestampOutOfWindow = 34,
    /// The id was used with other terms.
    Duplicate = 35,
    /// Deposits minus withdrawals would exceed the maximum balance. Details: micros, maximum.
    BalanceLimit = 36,
    /// The account has its maximum of remembered references of actions. Details: remembered,
    /// allowed.
    TooManyReferences = 37,
    /// The owner has its maximum of remembered order ids. Details: remembered, allowed.
    TooManyOrderIds = 38,
    /// A lease, a window or a limit of a group of quotes is out of range.
    InvalidQuoteLimits = 39,
    /// No such live order.
    OrderNotFound = 40,
    /// The order belongs to another owner.
    OrderOfAnotherOwner = 41,
    /// The order waits out a delay and is in no queue.
    OrderNotResting = 42,
    /// A set of quotes is malformed: its group, its counts, a condition or a quote. Details: its index.
    InvalidQuotes = 43,
    /// The revision of a set of quotes. Details: lowest, highest.
    RevisionOutOfRange = 44,
    /// A limit of the group of quotes was reached, and it was not reset.
    GroupFrozen = 45,
    /// Two quotes of a set have one token, side and price. Details: index, the other index.
    DuplicateQuote = 46,
    /// A bid of a set is at or above an ask of it. Details: index, the other index.
    QuotesCross = 47,
    /// The group was filled at this token and side after the fill that the set has seen.
    FilledSince = 48,
    /// The group has no live quotes.
    NoLiveQuotes = 49,
    /// The reference was already used with other contents.
    ReferenceReused = 50,
    /// The wallet is bound already, or owns wallets or keys.
    WalletNotBindable = 51,
    /// The wallet has live orders, or withdrawals that wait.
    WalletHasLiveOrders = 52,
    /// The owner already has a wallet of this kind, or the kind cannot be bound.
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
    /// The condition id is registered with other content.
    MarketDiffers = 60,
    /// A token of the market is in use, or its two tokens are equal.
    TokenTaken = 61,
    /// The question list of the event group is frozen.
    EventFrozen = 62,
    /// The event group has 128 questions.
    EventFull = 63,
    /// The market's state does not allow the transition. Details: its state code.
    InvalidTransition = 64,
    /// The market still has orders to cancel.
    BookNotEmpty = 65,
    /// A No would leave the event group without a Yes.
    NoWouldLeaveNone = 67,
    /// A payout of ½ in a neg-risk event group.
    HalfInNegRisk = 68,
    /// The tick does not divide the market's, or equals it. Details: the market's tick code.
    InvalidTick = 69,
    /// The rate exceeds 1,000,000 ppm or the exponent exceeds 2.
    InvalidFee = 70,
    /// The size is below one lot or above the largest order.
    InvalidMinimumSize = 71,
    /// The domain number is registered with other content.
    DomainDiffers = 72,
    /// The payout of the outside question, and the market is not the last open question of an event group
    /// whose others resolved No.
    OutsideNotLast = 73,
    /// The question index is used in the event group, or only some of its questions have one.
    InvalidQuestionIndex = 74,
    /// Another market has the slug. Details: its number.
    SlugTaken = 75,
    /// The market is not resolved.
    NotResolved = 80,
    /// The account has no free shares to redeem.
    NothingToRedeem = 81,
    /// The set is empty or names a question outside of the event group.
    InvalidQuestions = 82,
    /// A question of the event group is not active, or the group is not frozen.
    EventNotActive = 83,
    /// A setting is outside its bounds.
    InvalidSettings = 90,
    /// Unknown rules number, or older than the rules in force.
    UnknownRules = 91,
    /// Work is pending: `Continue` must come first.
    WorkPending = 100,
    /// No work is pending.
    NothingPending = 101,
    /// Nothing is due.
    NothingDue = 102,
    /// The attested sequence is not applied yet.
    NotYetApplied = 103,
    /// A thing is due at or before the command's time: `AdvanceTime` must come first.
    TimeDue = 104,
    /// A command was applied before.
    JournalBegun = 105,
    /// The exchange is no sandbox.
    NotSandbox = 106,
    /// The clock of a sandbox never goes back. Details: the time asked for and now, in milliseconds.
    ClockInPast = 107,
    /// The clock would pass the last time there is. Details: that, in milliseconds.
    ClockTooFar = 108,
    /// A term is outside its range: delay, rebate or a time.
    InvalidTerms = 110,
    /// `opens_at` is not before `closes_at`. Details: both, in milliseconds.
    ClockContradicts = 111,
    /// `closes_at` is not after now. Details: `closes_at` and now, in milliseconds.
    ClosesInPast = 112,
    /// A cancel of the same replace ended no order. The matcher's answer, not the core's.
    NotAllCanceled = 113,
    /// A payment of rebates is running.
    RebatesInProgress = 114,
    /// No rebate is accrued.
    NothingAccrued = 115,
    /// The role of the operator does not include the command. Details: role code, command code.
    OperatorRole = 120,
    /// The command needs an operator, or a wallet that proposes or disputes.
    OperatorRequired = 121,
    /// The second person is the first.
    SamePerson = 122,
    /// The policy asks for a second person: propose, then finalise.
    SecondPersonRequired = 123,
    /// The name, role or token hash of an operator is malformed.
    InvalidOperator = 124,
    /// A live operator has this name.
    OperatorNameTaken = 125,
    /// An operator has or had this token.
    OperatorTokenTaken = 126,
    /// 1,024 operators were added.
    TooManyOperators = 127,
    /// The last live admin cannot be revoked.
    LastAdmin = 128,
    /// No withdrawal with this number waits.
    UnknownWithdrawal = 129,
    /// The account, or all accounts together, have their maximum of withdrawals that wait. Details:
    /// waiting, allowed.
    TooManyWithdrawals = 130,
    /// One of two persons was added too recently. Details: number of that operator, and when it
    /// counts, in milliseconds.
    NewOperator = 131,
    /// An operator claimed the withdrawal. Details: its number.
    WithdrawalClaimed = 132,
    /// Nobody claimed the withdrawal.
    WithdrawalNotClaimed = 133,
    /// `valid_until` is outside its range. Details: earliest, latest, in milliseconds.
    ValidityOutOfRange = 134,
    /// The journal was restored and may lack commands; nobody has reconciled it yet.
    WithdrawalsShut = 135,
    /// The policy does not permit this operator or wallet to propose, dispute or withdraw it.
    NotPermitted = 140,
    /// The market has an undisputed proposal.
    AlreadyProposed = 141,
    /// The market has no proposal, or another one than named.
    NoProposal = 142,
    /// The proposal is disputed.
    ProposalDisputed = 143,
    /// The challenge window is open. Details: its end and now, in milliseconds.
    ChallengeOpen = 144,
    /// The window is outside the policy. Details: shortest, longest, in seconds.
    InvalidWindow = 145,
    /// The policy contradicts itself or exceeds a bound.
    InvalidPolicy = 146,
    /// The market has no policy of its own.
    NoPolicy = 147,
    /// The list has 64 wallets.
    ListFull = 148,
}

/// A rejection and its details. Each reason defines the two numbers; 0 where it does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Rejection {
    /// The reason.
    pub reason: RejectionReason,
    /// Numbers for the error text.
    pub details: [u64; 2],
}

impl Rejection {
    /// A rejection with details.
    #[must_use]
    pub const fn with(reason: RejectionReason, first: u64, second: u64) -> Self {
        Self {
            reason,
            details: [first, second],
        }
    }
}

impl From<RejectionReason> for Rejection {
    fn from(reason: RejectionReason) -> Self {
        Self {
            reason,
            details: [0, 0],
        }
    }
}
