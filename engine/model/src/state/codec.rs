//! The bytes of a state record: a tag, then its fields in declaration order, each of fixed width
//! ([`crate::codec`]). The layout is declared once for both directions.
//!
//! Decoding never panics and accepts only encoder output: decoded bytes encode to the same bytes.

use crate::codec::{CodecError, Stored, invalid};
use crate::id::MarketNumber;
use crate::quantity::Micros;
use crate::rejection::RejectionReason;
use crate::state::{
    Account, Accrued, Background, BackgroundWork, DelayedOrder, Domain, Event, HeldWithdrawal, Key,
    ListedWallet, Market, Operator, Order, OrderIdState, PendingWork, Policy, Position, Proposal,
    RememberedOrder, RememberedReference, Site, StateKind, StateRecord, System, Terms,
};

/// An option of a coded enum: the pinned code, or 255 for `None`.
struct CodeOrNone<T>(Option<T>);

impl<T: Stored + Copy> Stored for CodeOrNone<T> {
    fn put(&self, out: &mut Vec<u8>) {
        match self.0 {
            Some(value) => value.put(out),
            None => u8::MAX.put(out),
        }
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        match from.split_first() {
            Some((&u8::MAX, rest)) => {
                *from = rest;
                Ok(Self(None))
            }
            _ => T::take(from).map(|value| Self(Some(value))),
        }
    }
}

/// The fields of each record kind, after its code. A field `name as Form` is stored in that form.
macro_rules! records {
    (@put $field:ident $form:ident, $out:ident) => {
        $form(*$field).put($out)
    };
    (@put $field:ident, $out:ident) => {
        $field.put($out)
    };
    (@take $form:ident, $from:ident) => {
        $form::take($from)?.0
    };
    (@take , $from:ident) => {
        Stored::take($from)?
    };
    ($($name:ident { $($field:ident $(as $form:ident)?),+ $(,)? })+) => {
        impl StateRecord {
            /// Appends the bytes of the record, at most 256.
            pub fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name($name { $($field),+ }) => {
                        out.push(StateKind::$name.code());
                        $(records!(@put $field $($form)?, out);)+
                    })+
                }
            }

            /// Decodes the next record from the front of `state`; `None` at its end.
            ///
            /// # Errors
            /// The bytes are not a record; `state` is unchanged then. Never allocates, whatever the
            /// bytes.
            pub fn read(state: &mut &[u8]) -> Result<Option<Self>, CodecError> {
                let Some((tag, mut rest)) = state.split_first() else {
                    return Ok(None);
                };
                let from = &mut rest;
                let kind = StateKind::from_code(*tag).ok_or(CodecError::UnknownTag(*tag))?;
                let record = match kind {
                    $(StateKind::$name => Self::$name($name {
                        $($field: records!(@take $($form)?, from)),+
                    }),)+
                };
                *state = rest;
                Ok(Some(record))
            }
        }
    };
}

records! {
    System {
        rules, sequence, time, mode, settings, timestamp_floor, collateral, fees, pending,
    }
    Domain { domain, separator }
    Account {
        account, wallet, owner, kind, closed_only, heartbeat, free, reserved, live_orders,
    }
    Key { key, api_key, owner, nonce, read_only, live }
    Event { event, id, frozen, questions, converted, outside }
    Market {
        market, condition, tokens, tick, tick_refines, minimum_size, fee, question,
        index as CodeOrNone, state, holds, payout as CodeOrNone, archived, supply,
    }
    Position { account, market, free, reserved }
    Order { order, id, account, market, outcome, side, price, lots, expiration }
    RememberedOrder {
        order, id, timestamp, state, in_expiry_queue, order_type, expiration, post_only, key,
    }
    RememberedReference {
        sequence, time, scope, reference, kind, account, object, amount, questions, collateral,
    }
    Site { payments, policy, rebates_since }
    Operator { operator, name, role, token, live }
    Terms { market, terms, clear_armed }
    Policy { market, policy }
    ListedWallet { market, account, propose, dispute }
    Proposal {
        market, proposal, time, payout, operator, by, window_seconds, evidence, by_time,
        second_person, disputed, counter as CodeOrNone,
    }
    Accrued { account, amount }
    DelayedOrder {
        order, id, account, market, outcome, side, order_type, price, lots, budget, minimum_lots,
        expiration, due, fee, rebate_ppm, reserved, cancel as CodeOrNone,
    }
    HeldWithdrawal { sequence, operator, account, amount, reference }
    Background { first, work, next, end, paid }
}

/// A tag, then the market or zeros.
impl Stored for BackgroundWork {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Settlement { market } => (1_u8, *market).put(out),
            Self::Rebates => (2_u8, MarketNumber(0)).put(out),
        }
    }
    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        match <(u8, MarketNumber)>::take(from)? {
            (1, market) => Ok(Self::Settlement { market }),
            (2, MarketNumber(0)) => Ok(Self::Rebates),
            (other, _) => Err(invalid("background work", other)),
        }
    }
}

/// Tag 2 is a kill without a minimum; tag 3 has one.
impl Stored for OrderIdState {
    fn put(&self, out: &mut Vec<u8>) {
        let (code, reason) = match self {
            Self::Live => (0_u8, 0_u16),
            Self::Done => (1, 0),
            Self::Killed { reason, minimum } => (2 + u8::from(!minimum.is_zero()), reason.code()),
        };
        code.put(out);
        reason.put(out);
        if let Self::Killed { minimum, .. } = self
            && !minimum.is_zero()
        {
            minimum.put(out);
        }
    }
    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let (code, number) = (u8::take(from)?, u16::take(from)?);
        let minimum = match (code, number) {
            (0, 0) => return Ok(Self::Live),
            (1, 0) => return Ok(Self::Done),
            (2, _) => Micros::ZERO,
            (3, _) => Micros::take(from)?,
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

impl Stored for Option<PendingWork> {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            None => 0_u8.put(out),
            Some(PendingWork::CancelOwner {
                owner,
                market,
                outcome,
                reason,
                first,
            }) => {
                1_u8.put(out);
                owner.put(out);
                market.put(out);
                CodeOrNone(*outcome).put(out);
                reason.put(out);
                first.put(out);
            }
            Some(PendingWork::CloseMarket { market }) => {
                2_u8.put(out);
                market.put(out);
            }
            Some(PendingWork::ClosedOnly { account }) => {
                3_u8.put(out);
                account.put(out);
            }
            Some(PendingWork::ClearMarket { market }) => {
                4_u8.put(out);
                market.put(out);
            }
        }
    }
    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        Ok(Some(match u8::take(from)? {
            0 => return Ok(None),
            1 => PendingWork::CancelOwner {
                owner: Stored::take(from)?,
                market: Stored::take(from)?,
                outcome: CodeOrNone::take(from)?.0,
                reason: Stored::take(from)?,
                first: Stored::take(from)?,
            },
            2 => PendingWork::CloseMarket {
                market: Stored::take(from)?,
            },
            3 => PendingWork::ClosedOnly {
                account: Stored::take(from)?,
            },
            4 => PendingWork::ClearMarket {
                market: Stored::take(from)?,
            },
            other => return Err(invalid("pending work", other)),
        }))
    }
}
