//! Renders the user channel's messages of a frame.

use foretell_model::ApiKey;
use foretell_view::TradeId;
use foretell_wire::orders::trade::{TradeFacts, TradeFill, TradeParty};
use foretell_wire::streams::Stamp;
use foretell_wire::streams::user::{TradeStatus, order, trade, withdrawal};

use crate::streams::fan_out::ring::UserMessage;
use crate::streams::render::facts::FrameFacts;
use crate::streams::render::text_frame::text_frame;
use crate::streams::render::user_facts::{OrderStep, TradeReader, TradeStep, UserStep};

/// The messages of a frame's steps, in order.
pub(crate) fn user_messages(facts: &FrameFacts, stamp: &Stamp<'_>) -> Vec<UserMessage> {
    let mut messages = Vec::new();
    for step in &facts.user.steps {
        match step {
            UserStep::Order(step) => order_messages(step, facts, stamp, &mut messages),
            UserStep::Withdrawal(step) => {
                let frame = text_frame(&withdrawal(&step.row, stamp));
                messages.extend(step.keys.iter().map(|&key| UserMessage {
                    key,
                    market: None,
                    frame: frame.clone(),
                }));
            }
            UserStep::Trade(step) => {
                let status = TradeStatus::Matched;
                messages.extend(trade_messages(step, status, facts.receipt, stamp));
            }
        }
    }
    messages
}

/// The confirmations of a frame's trades.
pub(crate) fn confirmations(facts: &FrameFacts, stamp: &Stamp<'_>) -> Vec<UserMessage> {
    let trades = facts.user.steps.iter().filter_map(|step| match step {
        UserStep::Trade(step) => Some(step),
        UserStep::Order(_) | UserStep::Withdrawal(_) => None,
    });
    let status = TradeStatus::Confirmed;
    trades
        .flat_map(|step| trade_messages(step, status, facts.receipt, stamp))
        .collect()
}

fn order_messages(
    step: &OrderStep,
    facts: &FrameFacts,
    stamp: &Stamp<'_>,
    messages: &mut Vec<UserMessage>,
) {
    let mut shown = step.facts.clone();
    shown.trades = step.trades.iter().map(TradeId::to_string).collect();
    let frame = text_frame(&order(&shown, step.event, facts.time, stamp));
    messages.extend(step.keys.iter().map(|&key| UserMessage {
        key,
        market: Some(shown.market),
        frame: frame.clone(),
    }));
}

/// A trade for each of its readers.
pub(crate) fn trade_messages<'a>(
    step: &'a TradeStep,
    status: TradeStatus,
    receipt: [u8; 32],
    stamp: &'a Stamp<'_>,
) -> impl Iterator<Item = UserMessage> {
    step.readers.iter().map(move |reader| {
        let facts = trade_of_reader(step, reader, receipt);
        UserMessage {
            key: reader.key,
            market: Some(facts.market),
            frame: text_frame(&trade(&facts, reader.api_key, status, stamp)),
        }
    })
}

/// A trade as one reader may see it: a taker all fills, a maker its own.
fn trade_of_reader(step: &TradeStep, reader: &TradeReader, receipt: [u8; 32]) -> TradeFacts {
    let TradeFacts { fills, taker, .. } = &step.facts;
    let owned = |party: &TradeParty, is_own: bool| TradeParty {
        owner: if is_own { reader.api_key } else { ApiKey::ZERO },
        ..party.clone()
    };
    let fills = fills.iter().zip(&step.makers).filter_map(|(fill, maker)| {
        let is_own = *maker == reader.owner;
        (is_own || reader.is_taker).then(|| TradeFill {
            maker: owned(&fill.maker, is_own),
            ..*fill
        })
    });
    TradeFacts {
        id: step.facts.id.clone(),
        receipt,
        taker: owned(taker, reader.is_taker),
        fills: fills.collect(),
        as_maker: !reader.is_taker,
        ..step.facts
    }
}
