//! What is wrong with a frame that no correct exchange writes.

use foretell_model::{AccountNumber, EventNumber, KeyNumber, MarketNumber, OrderNumber, Sequence};

/// A frame that cannot follow from the frames before it. The view is half changed and takes no
/// more frames: throw it away and fold again from the journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the frame at sequence {sequence} cannot be: {what}")]
pub struct FoldError {
    /// The frame.
    pub sequence: Sequence,
    /// Why it cannot be.
    pub what: Impossible,
}

/// Why a frame cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Impossible {
    /// A frame is missing or came twice.
    #[error("the next sequence is {expected}")]
    OutOfOrder {
        /// What should have come.
        expected: Sequence,
    },
    /// The view refused an earlier frame.
    #[error("an earlier frame was refused")]
    AfterError,
    /// A number that is not the next of its kind.
    #[error("number {got} was given where {expected} is the next")]
    NumberNotNext {
        /// The number given.
        got: u32,
        /// The number due.
        expected: u32,
    },
    /// No such account.
    #[error("there is no account {0}")]
    UnknownAccount(AccountNumber),
    /// No such market.
    #[error("there is no market {0}")]
    UnknownMarket(MarketNumber),
    /// No such event.
    #[error("there is no event {0}")]
    UnknownEvent(EventNumber),
    /// No such key.
    #[error("there is no key {0}")]
    UnknownKey(KeyNumber),
    /// No such live order.
    #[error("order {0} is not live")]
    OrderNotLive(OrderNumber),
    /// A fill or an ending that does not fit its order.
    #[error("the event does not fit order {0}")]
    OrderDiffers(OrderNumber),
    /// An address, key, condition, token, event or order id that is taken.
    #[error("a name was given twice")]
    NameTaken,
    /// A balance, a reserve, a level or a supply would leave its range.
    #[error("an amount would leave its range")]
    AmountOutOfRange,
    /// The command is not the one this event comes from.
    #[error("event {code} does not belong to this command")]
    NotOfCommand {
        /// [`foretell_model::Event::code`].
        code: u8,
    },
    /// A placed order did not end its frame with exactly one of rested, completed, closed, killed.
    #[error("the placed order has no end, or more than one")]
    PlacementUnfinished,
    /// The amounts of an accepted order give no price.
    #[error("the amounts of the order give no price")]
    NoPrice,
    /// A log, or the numbers of a kind, are used up.
    #[error("a log of the history, or the numbers of a kind, are used up")]
    Full,
    /// The fold panicked over it; the message is on standard error.
    #[error("the fold panicked")]
    Panicked,
    /// A chunk of history from outside does not hold what its place wants.
    #[error("a chunk of history cannot be read")]
    HistoryUnreadable,
}
