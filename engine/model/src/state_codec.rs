//! The bytes of a state record: a tag, then its fields in declaration order, each of fixed width
//! and little-endian. The layout is declared once for both directions.
//!
//! Decoding never panics and accepts only encoder output: decoded bytes encode to the same bytes.

use crate::id::{
    AccountNumber, ApiKey, ConditionId, Digest16, DomainNumber, EventId, EventNumber, KeyNumber,
    MarketNumber, OrderId, OrderNumber, Reference, Sequence, TokenId, WalletAddress,
};
use crate::market::{FeeSchedule, MarketState, Payout, QuestionSet, SystemMode, WalletKind};
use crate::quantity::{Lots, Micros, Price, Tick};
use crate::rejection::RejectionReason;
use crate::settings::Settings;
use crate::side::{CloseReason, OrderType, Outcome, Side};
use crate::state_record::{OrderIdState, PendingWork, StateRecord};
use crate::time::{TimeMs, TimeNs, TimeSeconds};

/// Why bytes are not a state record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordError {
    /// The bytes end inside a record.
    #[error("truncated record")]
    Cut,
    /// No record has this tag.
    #[error("unknown record tag {0}")]
    UnknownTag(u8),
    /// A field has a value that the encoder never writes.
    #[error("{value} is not a valid {field}")]
    InvalidValue {
        /// The expected type of the field.
        field: &'static str,
        /// The value read.
        value: u64,
    },
}

/// A field of a record.
trait Field: Sized {
    fn write(self, out: &mut Vec<u8>);
    fn read(from: &mut &[u8]) -> Result<Self, RecordError>;
}

fn invalid(field: &'static str, value: impl Into<u64>) -> RecordError {
    let value = value.into();
    RecordError::InvalidValue { field, value }
}

/// Tag and fields of each record kind.
macro_rules! records {
    ($($tag:literal = $name:ident { $($field:ident),+ $(,)? })+) => {
        impl StateRecord {
            /// Appends the bytes of the record, at most 256.
            pub fn write(&self, out: &mut Vec<u8>) {
                match *self {
                    $(Self::$name { $($field),+ } => {
                        out.push($tag);
                        $($field.write(out);)+
                    })+
                }
            }

            /// Decodes the next record from the front of an image; `None` at its end.
            ///
            /// # Errors
            /// The bytes are not a record; `image` is unchanged then. Never allocates, whatever the
            /// bytes.
            pub fn read(image: &mut &[u8]) -> Result<Option<Self>, RecordError> {
                let Some((tag, mut rest)) = image.split_first() else {
                    return Ok(None);
                };
                let from = &mut rest;
                let record = match *tag {
                    $($tag => Self::$name { $($field: Field::read(from)?),+ },)+
                    unknown => return Err(RecordError::UnknownTag(unknown)),
                };
                *image = rest;
                Ok(Some(record))
            }
        }
    };
}

records! {
    1 = System {
        rules, sequence, time, mode, settings, timestamp_floor, collateral, fees, pending,
    }
    2 = Domain { domain, separator }
    3 = Account {
        account, wallet, owner, kind, closed_only, heartbeat, free, reserved, live_orders,
    }
    4 = Key { key, api_key, owner, nonce, read_only, live }
    5 = Event { event, id, frozen, questions, converted }
    6 = Market {
        market, condition, tokens, tick, tick_refines, minimum_size, fee, question, state, payout,
        archived, supply,
    }
    7 = Position { account, market, free, reserved }
    8 = Order { order, id, account, market, outcome, side, price, lots, expiration }
    9 = RememberedOrder {
        order, id, timestamp, state, in_expiry_queue, order_type, expiration, post_only, key,
    }
    10 = RememberedReference {
        sequence, time, scope, reference, code, account, object, amount, questions, collateral,
    }
    11 = RememberedRequest { sequence, time, owner, request, last, cancelled }
}

macro_rules! integers {
    ($($int:ty),+) => {$(
        impl Field for $int {
            fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
                Field::read(from).map(Self::from_le_bytes)
            }
        }
    )+};
}
integers!(u8, u16, u32, u64);

/// Newtypes around one field.
macro_rules! wrapped {
    ($($name:ident),+ $(,)?) => {$(
        impl Field for $name {
            fn write(self, out: &mut Vec<u8>) {
                self.0.write(out);
            }
            fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
                Field::read(from).map(Self)
            }
        }
    )+};
}
wrapped!(
    AccountNumber,
    ApiKey,
    ConditionId,
    Digest16,
    DomainNumber,
    EventId,
    EventNumber,
    KeyNumber,
    Lots,
    MarketNumber,
    Micros,
    OrderId,
    OrderNumber,
    Price,
    Reference,
    Sequence,
    TimeMs,
    TimeNs,
    TimeSeconds,
    TokenId,
    WalletAddress,
);

/// Structs of several fields.
macro_rules! structs {
    ($($name:ident { $($field:ident),+ $(,)? })+) => {$(
        impl Field for $name {
            fn write(self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)+
            }
            fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
                Ok(Self { $($field: Field::read(from)?),+ })
            }
        }
    )+};
}
structs! {
    Settings {
        timestamp_past_ms, timestamp_future_ms, marketable_minimum, gtd_safety_seconds,
        live_orders_per_account, remembered_order_ids,
    }
    FeeSchedule { rate_ppm, exponent }
    QuestionSet { low, high }
}

/// Enums with pinned codes.
macro_rules! coded {
    ($($name:ident: $what:literal),+ $(,)?) => {$(
        impl Field for $name {
            fn write(self, out: &mut Vec<u8>) {
                self.code().write(out);
            }
            fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
                let code = Field::read(from)?;
                Self::from_code(code).ok_or_else(|| invalid($what, code))
            }
        }
    )+};
}
coded!(
    SystemMode: "mode", WalletKind: "kind of wallet", MarketState: "state of a market",
    Outcome: "outcome", Side: "side", OrderType: "order type", CloseReason: "reason of an end",
    RejectionReason: "reason of a rejection",
);

impl Field for Tick {
    fn write(self, out: &mut Vec<u8>) {
        (self as u8).write(out);
    }
    fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
        let code = Field::read(from)?;
        Self::from_code(code).ok_or_else(|| invalid("tick", code))
    }
}

impl Field for bool {
    fn write(self, out: &mut Vec<u8>) {
        u8::from(self).write(out);
    }
    fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
        match Field::read(from)? {
            0_u8 => Ok(false),
            1 => Ok(true),
            other => Err(invalid("flag", other)),
        }
    }
}

impl<const N: usize> Field for [u8; N] {
    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self);
    }
    fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
        let (bytes, rest) = from.split_first_chunk().ok_or(RecordError::Cut)?;
        *from = rest;
        Ok(*bytes)
    }
}

/// Pairs of `[Yes, No]`.
macro_rules! pairs {
    ($($name:ident),+) => {$(
        impl Field for [$name; 2] {
            fn write(self, out: &mut Vec<u8>) {
                self.into_iter().for_each(|one| one.write(out));
            }
            fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
                Ok([Field::read(from)?, Field::read(from)?])
            }
        }
    )+};
}
pairs!(Lots, TokenId);

/// Options: a flag, then the value or zeros.
macro_rules! flagged {
    ($($name:ty: $none:expr),+ $(,)?) => {$(
        impl Field for Option<$name> {
            fn write(self, out: &mut Vec<u8>) {
                self.is_some().write(out);
                self.unwrap_or($none).write(out);
            }
            fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
                let (is_some, value) = (bool::read(from)?, Field::read(from)?);
                match (is_some, value == $none) {
                    (true, _) => Ok(Some(value)),
                    (false, true) => Ok(None),
                    (false, false) => Err(invalid("value that is not there", 1_u8)),
                }
            }
        }
    )+};
}
flagged!(
    AccountNumber: AccountNumber(0),
    MarketNumber: MarketNumber(0),
    (EventNumber, u32): (EventNumber(0), 0),
);

impl Field for (EventNumber, u32) {
    fn write(self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
        Ok((Field::read(from)?, Field::read(from)?))
    }
}

/// Options of coded enums: the pinned code, or 255 for `None`.
macro_rules! coded_options {
    ($($name:ident: $what:literal),+ $(,)?) => {$(
        impl Field for Option<$name> {
            fn write(self, out: &mut Vec<u8>) {
                self.map_or(u8::MAX, $name::code).write(out);
            }
            fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
                match Field::read(from)? {
                    u8::MAX => Ok(None),
                    code => match $name::from_code(code) {
                        Some(value) => Ok(Some(value)),
                        None => Err(invalid($what, code)),
                    },
                }
            }
        }
    )+};
}
coded_options!(Outcome: "outcome", Payout: "payout");

/// Tag 2 is a kill without a minimum, as in version 1 of the state; tag 3 has a minimum.
impl Field for OrderIdState {
    fn write(self, out: &mut Vec<u8>) {
        let (code, reason) = match self {
            Self::Live => (0_u8, 0_u16),
            Self::Done => (1, 0),
            Self::Killed { reason, minimum } => (2 + u8::from(!minimum.is_zero()), reason.code()),
        };
        code.write(out);
        reason.write(out);
        if let Self::Killed { minimum, .. } = self
            && !minimum.is_zero()
        {
            minimum.write(out);
        }
    }
    fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
        let (code, number) = (u8::read(from)?, u16::read(from)?);
        let minimum = match (code, number) {
            (0, 0) => return Ok(Self::Live),
            (1, 0) => return Ok(Self::Done),
            (2, _) => Micros::ZERO,
            (3, _) => Micros::read(from)?,
            _ => return Err(invalid("order id state", code)),
        };
        if code == 3 && minimum.is_zero() {
            return Err(invalid("minimum of a rejection", 0_u8));
        }
        let reason = RejectionReason::from_code(number);
        let reason = reason.ok_or_else(|| invalid("reason of a rejection", number))?;
        Ok(Self::Killed { reason, minimum })
    }
}

impl Field for Option<PendingWork> {
    fn write(self, out: &mut Vec<u8>) {
        match self {
            None => 0_u8.write(out),
            Some(PendingWork::CancelOwner {
                owner,
                market,
                outcome,
                reason,
                first,
                request,
            }) => {
                1_u8.write(out);
                owner.write(out);
                market.write(out);
                outcome.write(out);
                reason.write(out);
                first.write(out);
                request.write(out);
            }
            Some(PendingWork::CloseMarket { market }) => {
                2_u8.write(out);
                market.write(out);
            }
            Some(PendingWork::ClosedOnly { account }) => {
                3_u8.write(out);
                account.write(out);
            }
        }
    }
    fn read(from: &mut &[u8]) -> Result<Self, RecordError> {
        Ok(Some(match u8::read(from)? {
            0 => return Ok(None),
            1 => PendingWork::CancelOwner {
                owner: Field::read(from)?,
                market: Field::read(from)?,
                outcome: Field::read(from)?,
                reason: Field::read(from)?,
                first: Field::read(from)?,
                request: Field::read(from)?,
            },
            2 => PendingWork::CloseMarket {
                market: Field::read(from)?,
            },
            3 => PendingWork::ClosedOnly {
                account: Field::read(from)?,
            },
            other => return Err(invalid("pending work", other)),
        }))
    }
}
