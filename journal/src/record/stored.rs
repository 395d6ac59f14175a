//! The little-endian bytes of each type of the model in a record.

use foretell_model::{
    AccountNumber, ApiKey, CloseReason, ConditionId, DomainNumber, EventId, EventNumber,
    FeeSchedule, Hold, HoldSet, KeyNumber, Lots, MarketNumber, MarketState, MarketTerms, MatchKind,
    Micros, OperatorName, OperatorNumber, OperatorRole, OrderId, OrderNumber, OrderType, Outcome,
    PaymentSettings, PaymentsUpdate, Payout, PolicyUpdate, Price, QuestionIndex, QuestionSet,
    Reference, RejectionReason, ResolutionPolicy, RoleSet, Sequence, Settings, SettingsUpdate,
    Side, SystemMode, TermsUpdate, Tick, TimeMs, TimeNs, TimeSeconds, TokenId, WalletAddress,
    WalletKind,
};
use rkyv::Portable;
use rkyv::bytecheck::CheckBytes;
use rkyv::rend::unaligned::{u16_ule, u32_ule, u64_ule};

/// A field as stored in a file: readable in place at any address.
pub(super) trait Raw: Copy {
    /// Bytes it takes.
    const BYTES: usize;
    /// Writes it to the start of `out`.
    fn put(self, out: &mut [u8]);
    /// Whether its padding is zero.
    fn is_clean(&self) -> bool {
        true
    }
}

impl Raw for u8 {
    const BYTES: usize = 1;
    #[inline]
    fn put(self, out: &mut [u8]) {
        out[0] = self;
    }
}

macro_rules! raw_integer {
    ($($raw:ty, $bytes:literal);+) => {$(
        impl Raw for $raw {
            const BYTES: usize = $bytes;
            #[inline]
            fn put(self, out: &mut [u8]) {
                out[..$bytes].copy_from_slice(&self.to_native().to_le_bytes());
            }
        }
    )+};
}
raw_integer!(u16_ule, 2; u32_ule, 4; u64_ule, 8);

impl<const N: usize> Raw for [u8; N] {
    const BYTES: usize = N;
    #[inline]
    fn put(self, out: &mut [u8]) {
        out[..N].copy_from_slice(&self);
    }
}

/// Two numbers.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct Pair {
    first: u64_ule,
    second: u64_ule,
}

impl Raw for Pair {
    const BYTES: usize = 16;
    #[inline]
    fn put(self, out: &mut [u8]) {
        self.first.put(out);
        self.second.put(&mut out[8..]);
    }
}

/// Zero bytes.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct Zero<const N: usize>([u8; N]);

impl<const N: usize> Zero<N> {
    pub(super) fn is_clean(&self) -> bool {
        self.0 == [0; N]
    }
}

/// A fee schedule: parts per million, exponent, three zero bytes.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct RawFee {
    rate_ppm: u32_ule,
    exponent: u8,
    zero: [u8; 3],
}

impl Raw for RawFee {
    const BYTES: usize = 8;
    #[inline]
    fn put(self, out: &mut [u8]) {
        self.rate_ppm.put(out);
        out[4] = self.exponent;
        out[5..8].fill(0);
    }
    fn is_clean(&self) -> bool {
        self.zero == [0; 3]
    }
}

/// A type of the model that can be a field of a record.
pub(super) trait Stored: Sized + Copy {
    /// The stored form.
    type Raw: Raw;
    /// Encodes the value.
    fn to_raw(self) -> Self::Raw;
    /// Decodes the value; `None` for undefined bytes.
    fn from_raw(raw: Self::Raw) -> Option<Self>;
}

macro_rules! stored_number {
    ($($name:ident: $raw:ty),+ $(,)?) => {$(
        impl Stored for $name {
            type Raw = $raw;
            #[inline]
            fn to_raw(self) -> $raw {
                <$raw>::from(self.0)
            }
            #[inline]
            fn from_raw(raw: $raw) -> Option<Self> {
                Some(Self(raw.into()))
            }
        }
    )+};
}
stored_number!(
    AccountNumber: u32_ule,
    MarketNumber: u32_ule,
    EventNumber: u32_ule,
    KeyNumber: u32_ule,
    DomainNumber: u8,
    EventId: u64_ule,
    Sequence: u64_ule,
    OrderNumber: u64_ule,
    Lots: u64_ule,
    Micros: u64_ule,
    Price: u16_ule,
    TimeMs: u64_ule,
    TimeSeconds: u64_ule,
    TimeNs: u64_ule,
    OperatorNumber: u16_ule,
);

macro_rules! stored_bytes {
    ($($name:ident: $len:literal),+ $(,)?) => {$(
        impl Stored for $name {
            type Raw = [u8; $len];
            #[inline]
            fn to_raw(self) -> [u8; $len] {
                self.0
            }
            #[inline]
            fn from_raw(raw: [u8; $len]) -> Option<Self> {
                Some(Self(raw))
            }
        }
    )+};
}
stored_bytes!(
    OrderId: 32,
    WalletAddress: 20,
    ConditionId: 32,
    TokenId: 32,
    Reference: 32,
    ApiKey: 16,
    OperatorName: 32,
);

macro_rules! stored_code {
    ($($name:ident),+ $(,)?) => {$(
        impl Stored for $name {
            type Raw = u8;
            #[inline]
            fn to_raw(self) -> u8 {
                self as u8
            }
            #[inline]
            fn from_raw(raw: u8) -> Option<Self> {
                Self::from_code(raw)
            }
        }
    )+};
}
stored_code!(
    Side,
    Outcome,
    OrderType,
    MatchKind,
    CloseReason,
    MarketState,
    Hold,
    Payout,
    SystemMode,
    WalletKind,
    Tick,
    OperatorRole,
);

impl Stored for RejectionReason {
    type Raw = u16_ule;
    #[inline]
    fn to_raw(self) -> u16_ule {
        self.code().into()
    }
    #[inline]
    fn from_raw(raw: u16_ule) -> Option<Self> {
        Self::from_code(raw.to_native())
    }
}

impl Stored for HoldSet {
    type Raw = u8;
    #[inline]
    fn to_raw(self) -> u8 {
        self.bits()
    }
    #[inline]
    fn from_raw(raw: u8) -> Option<Self> {
        Self::from_bits(raw)
    }
}

impl Stored for bool {
    type Raw = u8;
    #[inline]
    fn to_raw(self) -> u8 {
        u8::from(self)
    }
    #[inline]
    fn from_raw(raw: u8) -> Option<Self> {
        match raw {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for u32 {
    type Raw = u32_ule;
    #[inline]
    fn to_raw(self) -> u32_ule {
        self.into()
    }
    #[inline]
    fn from_raw(raw: u32_ule) -> Option<Self> {
        Some(raw.to_native())
    }
}

impl Stored for u64 {
    type Raw = u64_ule;
    #[inline]
    fn to_raw(self) -> u64_ule {
        self.into()
    }
    #[inline]
    fn from_raw(raw: u64_ule) -> Option<Self> {
        Some(raw.to_native())
    }
}

impl Stored for [u8; 32] {
    type Raw = Self;
    #[inline]
    fn to_raw(self) -> Self {
        self
    }
    #[inline]
    fn from_raw(raw: Self) -> Option<Self> {
        Some(raw)
    }
}

macro_rules! optional_code {
    ($($name:ident),+) => {$(
        /// 0 = none, else one more than the code.
        impl Stored for Option<$name> {
            type Raw = u8;
            #[inline]
            fn to_raw(self) -> u8 {
                self.map_or(0, |value| value.code() + 1)
            }
            #[inline]
            fn from_raw(raw: u8) -> Option<Self> {
                match raw {
                    0 => Some(None),
                    code => $name::from_code(code - 1).map(Some),
                }
            }
        }
    )+};
}
optional_code!(Outcome, Payout, QuestionIndex);

macro_rules! optional_number {
    ($($name:ident),+) => {$(
        /// 0 = none, else one more than the number.
        impl Stored for Option<$name> {
            type Raw = u64_ule;
            #[inline]
            fn to_raw(self) -> u64_ule {
                self.map_or(0, |value| u64::from(value.0) + 1).into()
            }
            #[inline]
            fn from_raw(raw: u64_ule) -> Option<Self> {
                match raw.to_native() {
                    0 => Some(None),
                    number => u32::try_from(number - 1)
                        .ok()
                        .map(|number| Some($name(number))),
                }
            }
        }
    )+};
}
optional_number!(AccountNumber, EventNumber, MarketNumber);

/// 0 = none, else one more than the number.
impl Stored for Option<u32> {
    type Raw = u64_ule;
    #[inline]
    fn to_raw(self) -> u64_ule {
        self.map_or(0, |value| u64::from(value) + 1).into()
    }
    #[inline]
    fn from_raw(raw: u64_ule) -> Option<Self> {
        match raw.to_native() {
            0 => Some(None),
            number => u32::try_from(number - 1).ok().map(Some),
        }
    }
}

impl Stored for [TokenId; 2] {
    type Raw = [u8; 64];
    #[inline]
    fn to_raw(self) -> [u8; 64] {
        let mut both = [0; 64];
        both[..32].copy_from_slice(&self[0].0);
        both[32..].copy_from_slice(&self[1].0);
        both
    }
    #[inline]
    fn from_raw(raw: [u8; 64]) -> Option<Self> {
        let (tokens, _) = raw.as_chunks::<32>();
        Some([TokenId(tokens[0]), TokenId(tokens[1])])
    }
}

impl Stored for [Lots; 2] {
    type Raw = Pair;
    #[inline]
    fn to_raw(self) -> Pair {
        Pair {
            first: self[0].0.into(),
            second: self[1].0.into(),
        }
    }
    #[inline]
    fn from_raw(raw: Pair) -> Option<Self> {
        Some([Lots(raw.first.to_native()), Lots(raw.second.to_native())])
    }
}

impl Stored for [u64; 2] {
    type Raw = Pair;
    #[inline]
    fn to_raw(self) -> Pair {
        Pair {
            first: self[0].into(),
            second: self[1].into(),
        }
    }
    #[inline]
    fn from_raw(raw: Pair) -> Option<Self> {
        Some([raw.first.to_native(), raw.second.to_native()])
    }
}

impl Stored for QuestionSet {
    type Raw = Pair;
    #[inline]
    fn to_raw(self) -> Pair {
        Pair {
            first: self.low.into(),
            second: self.high.into(),
        }
    }
    #[inline]
    fn from_raw(raw: Pair) -> Option<Self> {
        Some(Self {
            low: raw.first.to_native(),
            high: raw.second.to_native(),
        })
    }
}

impl Stored for FeeSchedule {
    type Raw = RawFee;
    #[inline]
    fn to_raw(self) -> RawFee {
        RawFee {
            rate_ppm: self.rate_ppm.into(),
            exponent: self.exponent,
            zero: [0; 3],
        }
    }
    #[inline]
    fn from_raw(raw: RawFee) -> Option<Self> {
        Some(Self {
            rate_ppm: raw.rate_ppm.to_native(),
            exponent: raw.exponent,
        })
    }
}

/// Terms of a market: delay, rebate (both 4 bytes), the three times, the flag, three zero bytes.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct RawTerms {
    taker_delay_ms: u32_ule,
    rebate_ppm: u32_ule,
    opens_at: u64_ule,
    closes_at: u64_ule,
    game_start_time: u64_ule,
    clear_book_on_start: u8,
    zero: [u8; 3],
}

impl Raw for RawTerms {
    const BYTES: usize = 36;
    #[inline]
    fn put(self, out: &mut [u8]) {
        self.taker_delay_ms.put(out);
        self.rebate_ppm.put(&mut out[4..]);
        self.opens_at.put(&mut out[8..]);
        self.closes_at.put(&mut out[16..]);
        self.game_start_time.put(&mut out[24..]);
        out[32] = self.clear_book_on_start;
        out[33..36].fill(0);
    }
    fn is_clean(&self) -> bool {
        self.zero == [0; 3]
    }
}

impl Stored for MarketTerms {
    type Raw = RawTerms;
    #[inline]
    fn to_raw(self) -> RawTerms {
        RawTerms {
            taker_delay_ms: self.taker_delay_ms.into(),
            rebate_ppm: self.rebate_ppm.into(),
            opens_at: self.opens_at.0.into(),
            closes_at: self.closes_at.0.into(),
            game_start_time: self.game_start_time.0.into(),
            clear_book_on_start: self.clear_book_on_start.into(),
            zero: [0; 3],
        }
    }
    #[inline]
    fn from_raw(raw: RawTerms) -> Option<Self> {
        Some(Self {
            opens_at: TimeMs(raw.opens_at.to_native()),
            closes_at: TimeMs(raw.closes_at.to_native()),
            game_start_time: TimeMs(raw.game_start_time.to_native()),
            clear_book_on_start: bool::from_raw(raw.clear_book_on_start)?,
            taker_delay_ms: raw.taker_delay_ms.to_native(),
            rebate_ppm: raw.rebate_ppm.to_native(),
        })
    }
}

/// A policy: shortest window (4 bytes), proposers, disputers, second person, by time.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct RawPolicy {
    minimum_window_seconds: u32_ule,
    proposers: u8,
    disputers: u8,
    second_person: u8,
    by_time: u8,
}

impl Raw for RawPolicy {
    const BYTES: usize = 8;
    #[inline]
    fn put(self, out: &mut [u8]) {
        self.minimum_window_seconds.put(out);
        out[4] = self.proposers;
        out[5] = self.disputers;
        out[6] = self.second_person;
        out[7] = self.by_time;
    }
}

impl Stored for ResolutionPolicy {
    type Raw = RawPolicy;
    #[inline]
    fn to_raw(self) -> RawPolicy {
        RawPolicy {
            minimum_window_seconds: self.minimum_window_seconds.into(),
            proposers: self.proposers.bits(),
            disputers: self.disputers.bits(),
            second_person: self.second_person.into(),
            by_time: self.by_time.into(),
        }
    }
    #[inline]
    fn from_raw(raw: RawPolicy) -> Option<Self> {
        Some(Self {
            proposers: RoleSet::from_bits(raw.proposers)?,
            disputers: RoleSet::from_bits(raw.disputers)?,
            minimum_window_seconds: raw.minimum_window_seconds.to_native(),
            second_person: bool::from_raw(raw.second_person)?,
            by_time: bool::from_raw(raw.by_time)?,
        })
    }
}

/// Settings of payments: limit (8 bytes), flag, three zero bytes.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct RawPayments {
    withdrawal_limit: u64_ule,
    rebates_daily: u8,
    zero: [u8; 3],
}

impl Raw for RawPayments {
    const BYTES: usize = 12;
    #[inline]
    fn put(self, out: &mut [u8]) {
        self.withdrawal_limit.put(out);
        out[8] = self.rebates_daily;
        out[9..12].fill(0);
    }
    fn is_clean(&self) -> bool {
        self.zero == [0; 3]
    }
}

impl Stored for PaymentSettings {
    type Raw = RawPayments;
    #[inline]
    fn to_raw(self) -> RawPayments {
        RawPayments {
            withdrawal_limit: self.withdrawal_limit.0.into(),
            rebates_daily: self.rebates_daily.into(),
            zero: [0; 3],
        }
    }
    #[inline]
    fn from_raw(raw: RawPayments) -> Option<Self> {
        Some(Self {
            withdrawal_limit: Micros(raw.withdrawal_limit.to_native()),
            rebates_daily: bool::from_raw(raw.rebates_daily)?,
        })
    }
}

/// Settings of the core: four and two numbers.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct RawSettings {
    timestamp_past_ms: u64_ule,
    timestamp_future_ms: u64_ule,
    marketable_minimum: u64_ule,
    gtd_safety_seconds: u64_ule,
    live_orders_per_account: u32_ule,
    remembered_order_ids: u32_ule,
}

impl Raw for RawSettings {
    const BYTES: usize = 40;
    #[inline]
    fn put(self, out: &mut [u8]) {
        self.timestamp_past_ms.put(out);
        self.timestamp_future_ms.put(&mut out[8..]);
        self.marketable_minimum.put(&mut out[16..]);
        self.gtd_safety_seconds.put(&mut out[24..]);
        self.live_orders_per_account.put(&mut out[32..]);
        self.remembered_order_ids.put(&mut out[36..]);
    }
}

/// The bits are those of the fields that are *not* named: an older record has none, and names all.
impl Stored for SettingsUpdate {
    type Raw = RawUpdate<RawSettings>;
    #[inline]
    fn to_raw(self) -> Self::Raw {
        let values = self.values();
        RawUpdate {
            values: RawSettings {
                timestamp_past_ms: values.timestamp_past_ms.into(),
                timestamp_future_ms: values.timestamp_future_ms.into(),
                marketable_minimum: values.marketable_minimum.0.into(),
                gtd_safety_seconds: values.gtd_safety_seconds.into(),
                live_orders_per_account: values.live_orders_per_account.into(),
                remembered_order_ids: values.remembered_order_ids.into(),
            },
            named: self.named() ^ Self::ALL,
            zero: [0; 3],
        }
    }
    #[inline]
    fn from_raw(raw: Self::Raw) -> Option<Self> {
        let values = raw.values;
        let values = Settings {
            timestamp_past_ms: values.timestamp_past_ms.to_native(),
            timestamp_future_ms: values.timestamp_future_ms.to_native(),
            marketable_minimum: Micros(values.marketable_minimum.to_native()),
            gtd_safety_seconds: values.gtd_safety_seconds.to_native(),
            live_orders_per_account: values.live_orders_per_account.to_native(),
            remembered_order_ids: values.remembered_order_ids.to_native(),
        };
        Self::from_stored(values, raw.named ^ Self::ALL)
    }
}

/// A change of some fields: the whole, the named fields as bits, three zero bytes. Fields that are not
/// named are zero.
#[derive(Clone, Copy, Portable, CheckBytes)]
#[bytecheck(crate = rkyv::bytecheck)]
#[repr(C)]
pub(super) struct RawUpdate<T> {
    values: T,
    named: u8,
    zero: [u8; 3],
}

impl<T: Raw> Raw for RawUpdate<T> {
    const BYTES: usize = T::BYTES + 4;
    #[inline]
    fn put(self, out: &mut [u8]) {
        self.values.put(out);
        out[T::BYTES] = self.named;
        out[T::BYTES + 1..T::BYTES + 4].fill(0);
    }
    fn is_clean(&self) -> bool {
        self.values.is_clean() && self.zero == [0; 3]
    }
}

macro_rules! stored_update {
    ($($update:ident: $whole:ident),+ $(,)?) => {$(
        impl Stored for $update {
            type Raw = RawUpdate<<$whole as Stored>::Raw>;
            #[inline]
            fn to_raw(self) -> Self::Raw {
                RawUpdate {
                    values: self.values().to_raw(),
                    named: self.named(),
                    zero: [0; 3],
                }
            }
            #[inline]
            fn from_raw(raw: Self::Raw) -> Option<Self> {
                Self::from_stored($whole::from_raw(raw.values)?, raw.named)
            }
        }
    )+};
}
stored_update!(
    TermsUpdate: MarketTerms,
    PolicyUpdate: ResolutionPolicy,
    PaymentsUpdate: PaymentSettings,
);
