//! Confirmations of trades that a connection may lack when it has everything else.

use foretell_journal::wall_clock;
use foretell_model::{AccountNumber, KeyNumber, Sequence, TimeNs};
use foretell_view::{TradeRecord, TradeSlot, View};
use foretell_wire::streams::user::TradeStatus;
use foretell_wire::streams::{Stamp, stream_id};

use crate::policy::limits::{STREAM_CONFIRM_WITHIN, STREAM_REPEATED_CONFIRMATIONS};
use crate::streams::connection::session::Session;
use crate::streams::fan_out::ring::UserMessage;
use crate::streams::render::user_encoder::trade_messages;
use crate::streams::render::user_facts::{TradeStep, trade_step};
use crate::streams::subscription::demand::{Subject, Watched};

impl Session<'_> {
    /// The confirmations, oldest first, that may not have been sent when the messages of the frame after
    /// `from` were.
    pub(crate) fn repeated_confirmations(
        &self,
        key: KeyNumber,
        owner: AccountNumber,
        from: Sequence,
    ) -> Vec<UserMessage> {
        let watched = Watched::of([Subject::Key(key, owner)]);
        let (trades, stream_id) = {
            let state = self.app.shared_view.read();
            let view = &state.view;
            let step = |slot: TradeSlot| {
                let step = trade_step(view, &self.app.descriptions, &watched, slot)?;
                Some((view.trade(slot)?, step))
            };
            let trades = newest_trades(view, owner, from)
                .into_iter()
                .filter_map(step);
            let trades: Vec<(TradeRecord, TradeStep)> = trades.collect();
            (trades, stream_id(view.branch()))
        };
        let messages = trades.iter().flat_map(|(record, step)| {
            let receipt = self.app.shared_view.receipt(record.place, record.sequence);
            let stamp = Stamp {
                sequence: record.sequence,
                prev_sequence: None,
                stream_id: &stream_id,
                server_time: wall_clock::now().millis(),
            };
            let status = TradeStatus::Confirmed;
            let messages = trade_messages(step, status, receipt.unwrap_or_default(), &stamp);
            messages.collect::<Vec<_>>()
        });
        messages.collect()
    }
}

/// A fill of each trade of an owner in the last [`STREAM_CONFIRM_WITHIN`] before the newest of the frames
/// up to `from`, oldest first.
fn newest_trades(view: &View, owner: AccountNumber, from: Sequence) -> Vec<TradeSlot> {
    let later = first_after(view, from);
    let trades = |since| view.trades_of_owner(owner, since..TimeNs(u64::MAX), Some(later));
    let newest = trades(TimeNs(0))
        .next()
        .and_then(|slot| view.trade_time(slot));
    let within = u64::try_from(STREAM_CONFIRM_WITHIN.as_nanos()).unwrap_or(u64::MAX);
    let since = newest.map_or(0, |newest| newest.0.saturating_sub(within));
    let mut newer = None;
    let newest = trades(TimeNs(since)).filter(|slot| {
        let trade = view.trade_id(*slot);
        core::mem::replace(&mut newer, trade) != trade
    });
    let mut slots: Vec<_> = newest.take(STREAM_REPEATED_CONFIRMATIONS).collect();
    slots.reverse();
    slots
}

/// The first trade of a frame after `from`.
fn first_after(view: &View, from: Sequence) -> TradeSlot {
    let (mut first, mut end) = (0, view.trades().count() as u64);
    while first < end {
        let middle = first + (end - first) / 2;
        match view.trade(TradeSlot::at(middle)) {
            Some(trade) if trade.sequence <= from => first = middle + 1,
            _ => end = middle,
        }
    }
    TradeSlot::at(first)
}
