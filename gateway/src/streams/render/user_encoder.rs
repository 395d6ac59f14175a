//! Renders the user channel's messages of a frame.

use foretell_model::ApiKey;
use foretell_view::TradeId;
use foretell_wire::orders::trade::{TradeFacts, TradeParty};
use foretell_wire::streams::Stamp;
use foretell_wire::streams::user::{TradeStatus, order, trade};

use crate::streams::fan_out::ring::UserMessage;
use crate::streams::render::facts::FrameFacts;
use crate::streams::render::text_frame::text_frame;
use crate::streams::render::user_facts::{OrderStep, TradeReader, TradeStep, UserStep};

/// The messages, in order: every step, and then the confirmations of its trades.
pub(crate) fn user_messages(facts: &FrameFacts, stamp: &Stamp<'_>) -> Vec<UserMessage> {
    let mut messages = Vec::new();
    for step in &facts.user.steps {
        match step {
            UserStep::Order(step) => order_messages(step, facts, stamp, &mut messages),
            UserStep::Trade(step) => {
                trade_messages(step, TradeStatus::Matched, facts, stamp, &mut messages);
            }
        }
    }
    for step in &facts.user.steps {
        if let UserStep::Trade(step) = step {
            trade_messages(step, TradeStatus::Confirmed, facts, stamp, &mut messages);
        }
    }
    messages
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
        market: step.market,
        frame: frame.clone(),
    }));
}

fn trade_messages(
    step: &TradeStep,
    status: TradeStatus,
    facts: &FrameFacts,
    stamp: &Stamp<'_>,
    messages: &mut Vec<UserMessage>,
) {
    messages.extend(step.readers.iter().map(|reader| {
        let seen = seen_by(step, reader, facts.receipt);
        UserMessage {
            key: reader.key,
            market: step.market,
            frame: text_frame(&trade(&seen, reader.api_key, status, stamp)),
        }
    }));
}

/// A trade as one reader may see it.
fn seen_by(step: &TradeStep, reader: &TradeReader, receipt: [u8; 32]) -> TradeFacts {
    let owned = |party: &TradeParty, is_own: bool| TradeParty {
        owner: if is_own { reader.api_key } else { ApiKey::ZERO },
        ..party.clone()
    };
    TradeFacts {
        receipt,
        taker: owned(&step.facts.taker, reader.is_taker),
        maker: owned(&step.facts.maker, reader.is_maker),
        as_maker: reader.is_maker && !reader.is_taker,
        ..step.facts.clone()
    }
}
