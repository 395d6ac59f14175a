//! Follows a journal and makes the notices for an operator's systems. The journal is the outbox: a reader
//! that keeps its position misses nothing.

use std::path::Path;
use std::time::Duration;

use foretell_journal::{Follower, FrameError, JournalError, Next, Scratch};
use foretell_model::{AccountNumber, Command, Event, FrameRef, Sequence, WalletAddress};
use foretell_view::{Chunking, FoldError, TradeId, TradeRecord, TradeSide, View};
use foretell_wire::notices::{
    Deposited, FeesTaken, Filled, FilledSide, Notice, PaidOut, RestoredCopy, Settled, What,
};
use foretell_wire::streams::stream_id;

use crate::policy::limits::CHECKED_AT_START;
use crate::render::withdrawal_json;
use crate::view::view_bootstrap::{SuspectFiles, ViewSources, bootstrap_until};

/// How long [`Outbox::wait`] waits at most.
const IDLE: Duration = Duration::from_millis(500);

/// Why a journal cannot be followed. A new [`Outbox`] goes on where the last one was.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// The journal is missing or cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A frame cannot be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A frame does not follow from those before it.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// The engine recovered to an earlier frame.
    #[error("the engine recovered to an earlier frame")]
    Rebuilt,
}

/// A position in a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// What named the journal's trades there: its genesis, or the branch of a restore.
    pub branch: [u8; 32],
    /// The last frame whose notices were read.
    pub sequence: Sequence,
}

/// A reader of a journal.
#[derive(Debug)]
pub struct Outbox {
    view: View,
    follower: Follower,
    scratch: Scratch,
}

impl Outbox {
    /// Follows the journal after a position; `None` = its end. Of a branch that a restore ended only the
    /// frames that the copy has count as read.
    ///
    /// # Errors
    /// The journal is missing or cannot be read.
    pub fn open(
        journal: &Path,
        snapshots: &Path,
        read: Option<Position>,
    ) -> Result<Self, OutboxError> {
        let sources = ViewSources {
            journal: journal.to_owned(),
            snapshots: snapshots.to_owned(),
            checked_at_start: CHECKED_AT_START,
            chunking: Chunking::Standard,
        };
        let Some(Position { branch, sequence }) = read else {
            return Self::after(&sources, Sequence(u64::MAX));
        };
        let mut sequence = sequence;
        loop {
            let outbox = Self::after(&sources, sequence)?;
            if *outbox.view.branch() == branch || sequence == Sequence(0) {
                return Ok(outbox);
            }
            sequence = Sequence(outbox.view.system().restored.0.saturating_sub(1));
        }
    }

    /// The state after a frame, or after the last durable one where that is earlier.
    fn after(sources: &ViewSources, frame: Sequence) -> Result<Self, OutboxError> {
        let started = bootstrap_until(sources, &SuspectFiles::default(), frame)?;
        let mut outbox = Self {
            view: started.state.view,
            follower: started.follower,
            scratch: Scratch::default(),
        };
        let end = frame.min(outbox.follower.durable());
        while outbox.view.sequence() < end {
            outbox.step(|_, _| ())?;
        }
        Ok(outbox)
    }

    /// The last frame that was read, and what names it.
    #[must_use]
    pub fn position(&self) -> Position {
        Position {
            branch: *self.view.branch(),
            sequence: self.view.sequence(),
        }
    }

    /// Whether nothing goes outward after the last frame that was read (docs/verify/rules.md §31).
    #[must_use]
    pub fn is_outward_closed(&self) -> bool {
        self.view.system().is_outward_closed()
    }

    /// Waits for a frame, or a while.
    pub fn wait(&mut self) {
        self.follower.wait(IDLE);
    }

    /// The notices of the frames that follow, up to so many frames; `None` when there is no frame yet.
    ///
    /// # Errors
    /// The journal cannot be followed any more.
    pub fn read(&mut self, frames: usize) -> Result<Option<Vec<Notice>>, OutboxError> {
        let mut found = Vec::new();
        for read in 0..frames {
            match self.step(notices)? {
                Some(of_frame) => found.extend(of_frame),
                None if read == 0 => return Ok(None),
                None => break,
            }
        }
        Ok(Some(found))
    }

    /// Folds the next frame and looks at the state after it; `None` when there is none.
    fn step<T>(
        &mut self,
        look: impl FnOnce(&View, &FrameRef<'_>) -> T,
    ) -> Result<Option<T>, OutboxError> {
        loop {
            let frame = match self.follower.next_frame()? {
                Next::Frame(frame) => frame,
                Next::Rebuild { .. } => return Err(OutboxError::Rebuilt),
                Next::NewEpoch { .. } => continue,
                Next::UpToDate => return Ok(None),
            };
            let frame = frame.decode(&mut self.scratch)?;
            self.view.apply(&frame)?;
            return Ok(Some(look(&self.view, &frame)));
        }
    }
}

/// Notices of a frame; the view is the one after it.
fn notices(view: &View, frame: &FrameRef<'_>) -> Vec<Notice> {
    let trade = view.trade_by_id(TradeId::new(view.branch(), frame.sequence));
    let mut fills = trade.into_iter().flat_map(|slot| view.fills_of_trade(slot));
    let whats = frame.events.iter().filter_map(|event| match event {
        Event::Fill(_) => filled(view, &fills.next()?),
        event => other(view, frame, event),
    });
    let whats: Vec<What> = whats.collect();
    let numbered = (0..).zip(whats);
    let notice = |(number, what): (usize, What)| Notice {
        id: format!("{}-{}-{number}", stream_id(view.branch()), frame.sequence),
        sequence: frame.sequence.0,
        time: view.system().time,
        what,
    };
    numbered.map(notice).collect()
}

fn wallet(view: &View, account: AccountNumber) -> Option<WalletAddress> {
    Some(view.accounts().get(account)?.wallet)
}

fn filled(view: &View, fill: &TradeRecord) -> Option<What> {
    let side = |side: &TradeSide| {
        Some(FilledSide {
            wallet: wallet(view, side.account)?,
            order: side.order_id.to_string(),
            outcome: side.outcome.code(),
            side: side.side,
            price: side.price,
        })
    };
    Some(What::Fill(Filled {
        trade: fill.id.to_string(),
        index: fill.index.0,
        market: view.markets().get(fill.market)?.condition,
        size: fill.lots,
        fee: fill.fee,
        taker: side(&fill.taker)?,
        maker: side(&fill.maker)?,
    }))
}

/// The notice of an event that is no trade.
fn other(view: &View, frame: &FrameRef<'_>, event: &Event) -> Option<What> {
    let withdrawal = |account, number| {
        let changed = view.withdrawals().find(account, number)?;
        Some(What::Withdrawal(withdrawal_json::row(view, &changed)?))
    };
    match *event {
        Event::Deposited(deposited) => Some(What::Deposit(Deposited {
            wallet: wallet(view, deposited.account)?,
            amount: deposited.amount,
            reference: String::from_utf8_lossy(frame.act().own).into_owned(),
        })),
        Event::WithdrawalRequested(asked) => withdrawal(asked.account, frame.sequence),
        Event::WithdrawalClaimed { withdrawal: number } => {
            let account = view.withdrawals().waiting().get(number)?.account;
            withdrawal(account, number)
        }
        Event::WithdrawalReleased(ended) => withdrawal(ended.account, ended.asked),
        Event::Withdrawn(paid) if matches!(frame.command, Command::Withdraw(_)) => {
            withdrawal(paid.account, frame.sequence)
        }
        Event::FeesWithdrawn { amount } => Some(What::Fees(FeesTaken {
            amount,
            reference: String::from_utf8_lossy(frame.act().own).into_owned(),
        })),
        Event::Restored { .. } => Some(What::Restored(RestoredCopy {
            after: frame.sequence.0.saturating_sub(1),
        })),
        Event::MarketResolved(resolved) => {
            let market = view.markets().get(resolved.market)?;
            let shown = market.is_shown();
            shown.then(|| What::Settlement(Settled::new(market.condition, resolved.payout)))
        }
        Event::Redeemed(redeemed) => Some(What::Payout(PaidOut {
            wallet: wallet(view, redeemed.account)?,
            market: view.markets().get(redeemed.market)?.condition,
            amount: redeemed.payout,
        })),
        _ => None,
    }
}
