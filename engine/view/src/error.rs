//! Errors of frames that no correct exchange writes.

use foretell_model::{
    AccountNumber, EventNumber, KeyNumber, MarketNumber, OperatorNumber, OrderNumber, Sequence,
};

/// A frame that cannot follow the frames before it. The view may be half changed and rejects all
/// later frames: drop it and fold the journal again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("impossible frame at sequence {sequence}: {what}")]
pub struct FoldError {
    /// Sequence of the frame.
    pub sequence: Sequence,
    /// Why it is impossible.
    pub what: Impossible,
}

/// Why a frame is impossible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Impossible {
    /// A frame is missing or repeated.
    #[error("expected sequence {expected}")]
    OutOfOrder {
        /// The expected sequence.
        expected: Sequence,
    },
    /// The view rejected an earlier frame.
    #[error("an earlier frame was rejected")]
    AfterError,
    /// A number that is not the next of its kind.
    #[error("expected number {expected}, got {got}")]
    NumberNotNext {
        /// The frame's number.
        got: u32,
        /// The expected number.
        expected: u32,
    },
    /// No such account.
    #[error("unknown account {0}")]
    UnknownAccount(AccountNumber),
    /// No such market.
    #[error("unknown market {0}")]
    UnknownMarket(MarketNumber),
    /// No such event.
    #[error("unknown event group {0}")]
    UnknownEvent(EventNumber),
    /// No such key.
    #[error("unknown key {0}")]
    UnknownKey(KeyNumber),
    /// No such operator.
    #[error("unknown operator {0}")]
    UnknownOperator(OperatorNumber),
    /// No such live order.
    #[error("order {0} is not live")]
    OrderNotLive(OrderNumber),
    /// A fill or an ending that contradicts its order.
    #[error("the event contradicts order {0}")]
    OrderDiffers(OrderNumber),
    /// A duplicate address, key, condition, token, event or order id.
    #[error("duplicate name")]
    DuplicateName,
    /// A balance, reservation, level or supply would leave its range.
    #[error("amount out of range")]
    AmountOutOfRange,
    /// The frame's command cannot cause this event.
    #[error("event {code} does not belong to this command")]
    NotOfCommand {
        /// [`foretell_model::Event::code`].
        code: u8,
    },
    /// A placed order did not end its frame with exactly one of rested, completed, closed, killed,
    /// delayed.
    #[error("the placed order has no ending, or more than one")]
    PlacementUnfinished,
    /// The amounts of an accepted order give no price.
    #[error("the amounts of the order give no price")]
    NoPrice,
    /// A log is full, or the numbers of a kind are exhausted.
    #[error("a history log is full, or the numbers of a kind are exhausted")]
    Full,
    /// The fold panicked on the frame; the message is on standard error.
    #[error("the fold panicked")]
    Panicked,
    /// A mapped chunk of history contains invalid rows.
    #[error("a chunk of history has invalid rows")]
    HistoryUnreadable,
}
