//! Fixed-size records: a command is 128 bytes, an event 48.
//!
//! Each line of the tables below is one record: its code, then its fields in file order. `[n]` is n
//! zero bytes; the rest of the record after the last field is zero too. `FORMAT.md` has the same
//! tables with offsets, and a test compares the two.

use core::mem::offset_of;

use foretell_model::limits::EVENT_RECORD_BYTES;
use foretell_model::{
    AccountNumber, ApiKey, CloseReason, Command, ConditionId, DomainNumber, Event, EventId,
    EventNumber, FeeSchedule, Hold, HoldSet, KeyNumber, Lots, MarketNumber, MarketState,
    MarketTerms, MatchKind, Micros, OperatorName, OperatorNumber, OperatorRole, OrderId,
    OrderNumber, OrderType, Outcome, PaymentSettings, PaymentsUpdate, Payout, PolicyUpdate, Price,
    QuestionIndex, QuestionSet, Reference, RejectionReason, ResolutionPolicy, Sequence,
    SettingsUpdate, Side, SystemMode, TermsUpdate, Tick, TimeMs, TimeNs, TimeSeconds, TokenId,
    WalletAddress, WalletKind, command, event,
};
use rkyv::Portable;
use rkyv::bytecheck::CheckBytes;
use rkyv::rancor::Failure;
use rkyv::rend::unaligned::u16_ule;

use crate::bytes::all_zero;
use stored::{Raw, Stored, Zero};

mod stored;

/// Bytes of a command record.
pub const COMMAND_BYTES: usize = 128;
/// Bytes of an event record.
pub const EVENT_BYTES: usize = EVENT_RECORD_BYTES;

/// Why a record cannot be read. With a valid checksum the bytes were written by another program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// No command or event has this code.
    #[error("unknown code {0}")]
    UnknownCode(u16),
    /// A byte that must be zero is not.
    #[error("non-zero padding in a record of code {0}")]
    Padding(u16),
    /// A field has an undefined value.
    #[error("a field of a record of code {0} is out of range")]
    Value(u16),
    /// The bytes do not have the size of a record.
    #[error("a record of the wrong size")]
    Size,
}

/// A field and the zero bytes after it.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
struct Field<T, const GAP: usize> {
    value: T,
    zero: Zero<GAP>,
}

impl<T: Raw, const GAP: usize> Field<T, GAP> {
    #[inline]
    fn is_clean(&self) -> bool {
        self.value.is_clean() && self.zero.is_clean()
    }
}

/// One field of a record, for tools that document or check the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldLayout {
    /// Its name in the model.
    pub name: &'static str,
    /// Its type in the model.
    pub word: &'static str,
    /// Its first byte in the record.
    pub offset: usize,
    /// Its size in bytes, without the zero bytes after it.
    pub bytes: usize,
}

/// One record's code, name and fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordLayout {
    /// Its pinned number.
    pub code: u16,
    /// Its name in the model.
    pub name: &'static str,
    /// Its fields, in order.
    pub fields: &'static [FieldLayout],
}

/// Constructs or destructures a variant: plain, or with an inner struct.
macro_rules! variant {
    ($enum:ident $module:ident $variant:ident () { $($field:ident),* }) => { $enum::$variant { $($field),* } };
    ($enum:ident $module:ident $variant:ident ($inner:ident) { $($field:ident),* }) => {
        $enum::$variant($module::$inner { $($field),* })
    };
}

macro_rules! records {
    (
        $enum:ident, $module:ident, $code_type:ty, $code_int:ty, $size:expr, $layout:ident, $encode:ident, $decode:ident, $decode_to:ident, $table:ident;
        $( $code:literal $variant:ident $(($inner:ident))? {
            $([$first:literal])? $( $field:ident : $word:ty, $([$gap:literal])? )*
        } )+
    ) => {
        mod $layout {
            #![allow(non_snake_case, reason = "a module a record, named as its variant")]
            use super::*;
            $(
                #[derive(Clone, Copy, Portable, CheckBytes)]
                #[bytecheck(crate = rkyv::bytecheck)]
                #[repr(C)]
                pub(super) struct $variant {
                    pub(super) code: Field<$code_type, { 0 $(+ $first)? }>,
                    $(pub(super) $field: Field<<$word as Stored>::Raw, { 0 $(+ $gap)? }>,)*
                }
                impl $variant {
                    #[inline]
                    pub(super) fn is_clean(&self) -> bool {
                        self.code.is_clean() $(&& self.$field.is_clean())*
                    }
                }
                const _: () = assert!(size_of::<$variant>() <= $size);
            )+
        }

        #[doc = concat!("Every record of an `", stringify!($enum), "`, by code.")]
        pub const $table: &[RecordLayout] = &[$(
            RecordLayout {
                code: $code,
                name: stringify!($variant),
                fields: &[$(FieldLayout {
                    name: stringify!($field),
                    word: stringify!($word),
                    offset: offset_of!($layout::$variant, $field),
                    bytes: <<$word as Stored>::Raw as Raw>::BYTES,
                }),*],
            },
        )+];

        #[doc = concat!("Writes the record of an `", stringify!($enum), "`: every byte of `out`.")]
        #[inline]
        pub fn $encode(value: &$enum, out: &mut [u8; $size]) {
            *out = [0; $size];
            match *value {$(
                variant!($enum $module $variant ($($inner)?) { $($field),* }) => {
                    <$code_type>::from($code as $code_int).put(out);
                    $(Stored::to_raw($field).put(&mut out[offset_of!($layout::$variant, $field)..]);)*
                }
            )+}
        }

        #[doc = concat!("Reads the record of an `", stringify!($enum), "` in place.")]
        ///
        /// # Errors
        /// An unknown code, padding that is not zero, a field that means nothing.
        #[inline]
        pub fn $decode(bytes: &[u8; $size]) -> Result<$enum, RecordError> {
            $decode_to(bytes, |value| value)
        }

        /// The same, but passes the value to `take`, which can store it without a move.
        #[inline]
        pub fn $decode_to<R>(
            bytes: &[u8; $size],
            take: impl FnOnce($enum) -> R,
        ) -> Result<R, RecordError> {
            match code_of(bytes, size_of::<$code_type>()) {
                $($code => {
                    const USED: usize = size_of::<$layout::$variant>();
                    let (used, rest) = bytes.split_at(USED);
                    let record = rkyv::access::<$layout::$variant, Failure>(used).map_err(|_| RecordError::Size)?;
                    if !record.is_clean() || !all_zero(rest) {
                        return Err(RecordError::Padding($code));
                    }
                    $(let $field = <$word as Stored>::from_raw(record.$field.value).ok_or(RecordError::Value($code))?;)*
                    Ok(take(variant!($enum $module $variant ($($inner)?) { $($field),* })))
                })+
                unknown => Err(RecordError::UnknownCode(unknown)),
            }
        }
    };
}

/// The code at the start of a record: one byte (events) or two (commands).
#[inline]
const fn code_of(bytes: &[u8], width: usize) -> u16 {
    match width {
        1 => bytes[0] as u16,
        _ => u16::from_le_bytes([bytes[0], bytes[1]]),
    }
}

records! {
    Command, command, u16_ule, u16, COMMAND_BYTES, commands, encode_command, decode_command, decode_command_to, COMMANDS;
    1 PlaceOrder(PlaceOrder) {
        outcome: Outcome, side: Side, order_type: OrderType, post_only: bool, [2]
        order: OrderId,
        account: AccountNumber, key: KeyNumber, market: MarketNumber, [4]
        maker_amount: u64, taker_amount: u64, expiration: TimeSeconds, timestamp: TimeMs,
    }
    2 CancelOrder(CancelOrder) { [2] owner: AccountNumber, order: OrderId, }
    3 CancelAll(CancelAll) { heartbeat: bool, [1] owner: AccountNumber, }
    4 CancelMarketOrders(CancelMarketOrders) {
        outcome: Option<Outcome>, [1] owner: AccountNumber, market: MarketNumber,
    }
    10 Deposit(Deposit) { [2] wallet: WalletAddress, amount: Micros, reference: Reference, }
    11 Withdraw(Withdraw) { [2] wallet: WalletAddress, amount: Micros, reference: Reference, }
    12 WithdrawFees(WithdrawFees) { [6] amount: Micros, reference: Reference, }
    13 BindWallet(BindWallet) { kind: WalletKind, [1] owner: WalletAddress, wallet: WalletAddress, }
    14 UnbindWallet { [2] wallet: WalletAddress, }
    15 SetClosedOnly(SetClosedOnly) { closed_only: bool, [1] wallet: WalletAddress, }
    16 RegisterKey(RegisterKey) {
        read_only: bool, [1] owner: WalletAddress, nonce: [u8; 32], api_key: ApiKey,
    }
    17 RevokeKey(RevokeKey) { cancel_orders: bool, [1] key: KeyNumber, }
    18 SetHeartbeat(SetHeartbeat) { on: bool, [1] owner: AccountNumber, }
    19 Split(Split) { [2] account: AccountNumber, market: MarketNumber, [4] lots: Lots, reference: Reference, }
    20 Merge(Merge) { [2] account: AccountNumber, market: MarketNumber, [4] lots: Lots, reference: Reference, }
    21 Redeem(Redeem) { [2] account: AccountNumber, market: MarketNumber, [4] reference: Reference, }
    22 Convert(Convert) {
        [2] account: AccountNumber, event: EventNumber, [4] questions: QuestionSet, lots: Lots,
        reference: Reference,
    }
    23 ConfirmWithdrawal { [6] reference: Reference, }
    24 ReleaseWithdrawal { [6] reference: Reference, }
    25 PayRebates {}
    30 RegisterEvent { [6] event: EventId, }
    31 RegisterMarket(RegisterMarket) {
        tick: Tick, tick_refines: bool, index: Option<QuestionIndex>, [3] minimum_size: Lots, fee: FeeSchedule,
        event: Option<EventNumber>, condition: ConditionId, tokens: [TokenId; 2],
    }
    32 ActivateMarket { [2] market: MarketNumber, }
    33 PauseMarket(PauseMarket) { hold: Hold, [1] market: MarketNumber, }
    34 ResumeMarket(ResumeMarket) { hold: Hold, [1] market: MarketNumber, }
    35 CloseMarket { [2] market: MarketNumber, }
    36 ResolveMarket(ResolveMarket) { payout: Payout, [1] market: MarketNumber, }
    37 ArchiveMarket(ArchiveMarket) { archived: bool, [1] market: MarketNumber, }
    38 SetTick(SetTick) { tick: Tick, [1] market: MarketNumber, }
    39 SetMinimumSize(SetMinimumSize) { [2] market: MarketNumber, minimum_size: Lots, }
    40 SetFee(SetFee) { [2] market: MarketNumber, fee: FeeSchedule, }
    41 SetTerms(SetTerms) { [2] market: MarketNumber, terms: TermsUpdate, }
    42 Propose(Propose) {
        payout: Payout, [1] market: MarketNumber, by: Option<AccountNumber>, window_seconds: Option<u32>,
        evidence: [u8; 32], reference: Reference,
    }
    43 Dispute(Dispute) { counter: Option<Payout>, [1] market: MarketNumber, by: Option<AccountNumber>, }
    44 WithdrawProposal(WithdrawProposal) { [2] market: MarketNumber, by: Option<AccountNumber>, }
    45 Finalise(Finalise) { [2] market: MarketNumber, proposal: Sequence, }
    46 SetPolicy(SetPolicy) { [6] market: Option<MarketNumber>, policy: PolicyUpdate, }
    47 ClearPolicy { [2] market: MarketNumber, }
    48 ListWallet(ListWallet) {
        propose: bool, dispute: bool, [4] market: Option<MarketNumber>, wallet: WalletAddress,
    }
    50 SetMode { mode: SystemMode, }
    51 ChangeSettings { [6] settings: SettingsUpdate, }
    52 SwitchRules { [2] rules: u32, }
    53 AcceptDivergence { [6] sequence: Sequence, }
    54 RegisterDomain(RegisterDomain) { domain: DomainNumber, [5] separator: [u8; 32], }
    55 AdvanceTime {}
    56 Continue {}
    57 AttestState(AttestState) { [6] sequence: Sequence, state: [u8; 32], snapshot: [u8; 32], }
    58 Step {}
    59 SetPayments { [6] payments: PaymentsUpdate, }
    60 AddOperator(AddOperator) { role: OperatorRole, [5] name: OperatorName, token: [u8; 32], }
    61 RevokeOperator { operator: OperatorNumber, }
    62 DescribeEvent { [2] event: EventNumber, }
    63 DescribeMarket { [2] market: MarketNumber, }
    64 DescribeWallet { [2] wallet: WalletAddress, }
}

records! {
    Event, event, u8, u8, EVENT_BYTES, events, encode_event, decode_event, decode_event_to, EVENTS;
    1 Fill(Fill) {
        kind: MatchKind, yes_price: Price, maker: AccountNumber, maker_order: OrderNumber, lots: Lots,
        maker_left: Lots, fee: Micros, rebate: Micros,
    }
    2 OrderRested(OrderRested) { [1] price: Price, [4] lots: Lots, }
    3 OrderCompleted {}
    4 OrderClosed(OrderClosed) { reason: CloseReason, [2] account: AccountNumber, order: OrderNumber, lots: Lots, }
    5 OrderKilled(OrderKilled) { [1] reason: RejectionReason, [4] details: [u64; 2], }
    6 OrderDelayed(OrderDelayed) { [1] price: Price, [4] lots: Lots, reserved: u64, due: TimeNs, }
    7 OrderReleased(OrderReleased) { [3] account: AccountNumber, order: OrderNumber, market: MarketNumber, }
    8 CancelRequested(CancelRequested) { reason: CloseReason, [2] account: AccountNumber, order: OrderNumber, }
    10 AccountOpened(AccountOpened) { [3] account: AccountNumber, wallet: WalletAddress, }
    11 Deposited(Deposited) { [3] account: AccountNumber, amount: Micros, }
    12 Withdrawn(Withdrawn) { [3] account: AccountNumber, amount: Micros, }
    13 FeesWithdrawn { [7] amount: Micros, }
    14 WalletBound(WalletBound) { kind: WalletKind, [2] owner: AccountNumber, wallet: AccountNumber, }
    15 WalletUnbound(WalletUnbound) { [3] owner: AccountNumber, wallet: AccountNumber, }
    16 ClosedOnlySet(ClosedOnlySet) { closed_only: bool, [2] account: AccountNumber, }
    17 KeyRegistered(KeyRegistered) { [3] key: KeyNumber, owner: AccountNumber, }
    18 KeyRevoked { [3] key: KeyNumber, }
    19 HeartbeatSet(HeartbeatSet) { on: bool, [2] owner: AccountNumber, }
    20 Split(Split) { [3] account: AccountNumber, market: MarketNumber, [4] lots: Lots, }
    21 Merged(Merged) { [3] account: AccountNumber, market: MarketNumber, [4] lots: Lots, }
    22 Redeemed(Redeemed) { [3] account: AccountNumber, market: MarketNumber, [4] lots: [Lots; 2], payout: Micros, }
    23 Converted(Converted) {
        [3] account: AccountNumber, event: EventNumber, [4] questions: QuestionSet, lots: Lots,
        collateral: Micros,
    }
    24 WithdrawalHeld(WithdrawalHeld) { [3] account: AccountNumber, amount: Micros, }
    25 WithdrawalReleased(WithdrawalReleased) { [3] account: AccountNumber, amount: Micros, asked: Sequence, }
    26 RebatePaymentStarted { [3] accounts: u32, }
    27 RebatePaid(RebatePaid) { [3] account: AccountNumber, amount: Micros, }
    28 RebatePaymentEnded { [7] paid: Micros, }
    30 EventRegistered(EventRegistered) { [3] event: EventNumber, id: EventId, outside: MarketNumber, }
    31 EventFrozen { [3] event: EventNumber, }
    32 MarketRegistered(MarketRegistered) { [3] market: MarketNumber, condition: ConditionId, question: u32, }
    33 MarketStateSet(MarketStateSet) { state: MarketState, holds: HoldSet, [1] market: MarketNumber, }
    34 MarketResolved(MarketResolved) { payout: Payout, [2] market: MarketNumber, }
    35 MarketArchived(MarketArchived) { archived: bool, [2] market: MarketNumber, }
    36 TickSet(TickSet) { tick: Tick, [2] market: MarketNumber, }
    37 MinimumSizeSet(MinimumSizeSet) { [3] market: MarketNumber, minimum_size: Lots, }
    38 FeeSet(FeeSet) { [3] market: MarketNumber, fee: FeeSchedule, }
    39 TermsSet(TermsSet) { clear_armed: bool, [2] market: MarketNumber, terms: MarketTerms, }
    40 MarketCleared { [3] market: MarketNumber, }
    41 Proposed(Proposed) {
        payout: Payout, by_time: bool, second_person: bool, market: MarketNumber,
        challenge_ends: TimeNs,
    }
    42 Disputed(Disputed) { counter: Option<Payout>, [2] market: MarketNumber, }
    43 ProposalWithdrawn { [3] market: MarketNumber, }
    44 SettlementStarted(SettlementStarted) { [3] market: MarketNumber, accounts: u32, }
    45 MarketSettled(MarketSettled) { [3] market: MarketNumber, paid: Micros, }
    46 PolicySet(PolicySet) { [7] market: Option<MarketNumber>, policy: ResolutionPolicy, }
    47 PolicyCleared { [3] market: MarketNumber, }
    48 WalletListed(WalletListed) {
        propose: bool, dispute: bool, [1] account: AccountNumber, market: Option<MarketNumber>,
    }
    50 ModeSet { mode: SystemMode, }
    51 SettingsChanged {}
    52 RulesSwitched { [3] rules: u32, }
    53 DivergenceAccepted {}
    54 DomainRegistered { domain: DomainNumber, }
    55 WorkPending {}
    56 StateAttested {}
    57 PaymentsSet { [7] payments: PaymentSettings, }
    58 OperatorAdded { [1] operator: OperatorNumber, }
    59 OperatorRevoked { [1] operator: OperatorNumber, }
    60 EventDescribed { [3] event: EventNumber, }
    61 MarketDescribed { [3] market: MarketNumber, }
    62 WalletDescribed { [3] wallet: WalletAddress, }
}
