//! The commands that the sync sends to the exchange.

use foretell_model::{ConditionId, FeeSchedule, Lots, Payout, Tick, TokenId};
use foretell_wire::decimal::Decimal;
use foretell_wire::ids::token_text;
use foretell_wire::operator::{MarketDescription, payout_word};
use serde_json::{Value, json};

/// A market to register.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketRegistration {
    /// Its condition; a repeated registration changes nothing.
    pub condition: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// Its tick.
    pub tick: Tick,
    /// Minimum resting order.
    pub minimum_size: Lots,
    /// Taker fee.
    pub fee: FeeSchedule,
    /// The neg-risk event group; the market becomes its next question.
    pub event: Option<u64>,
    /// Whether the command also opens it for trading.
    pub activate: bool,
    /// Its texts, journalled with the registration.
    pub description: MarketDescription,
}

/// A neg-risk event group to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRegistration {
    /// Its id in the catalog.
    pub id: u64,
    /// Its title; never empty.
    pub title: String,
    /// Its name in URLs.
    pub slug: String,
    /// Its short name.
    pub ticker: String,
}

/// A command. All are idempotent.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Registers a neg-risk event group.
    RegisterEvent(EventRegistration),
    /// Registers a market, and optionally opens it.
    RegisterMarket(Box<MarketRegistration>),
    /// Opens a registered market.
    Activate(ConditionId),
    /// Ends trading.
    Close(ConditionId),
    /// Refines the tick.
    SetTick(ConditionId, Tick),
    /// Changes the minimum order.
    SetMinimumSize(ConditionId, Lots),
    /// Changes the fee.
    SetFee(ConditionId, FeeSchedule),
    /// Pays out a closed market.
    Resolve(ConditionId, Payout),
}

impl Command {
    /// Its name in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RegisterEvent(_) => "register event",
            Self::RegisterMarket(_) => "register market",
            Self::Activate(_) => "activate",
            Self::Close(_) => "close",
            Self::SetTick(..) => "tick",
            Self::SetMinimumSize(..) => "minimum size",
            Self::SetFee(..) => "fee",
            Self::Resolve(..) => "resolve",
        }
    }

    /// The market it concerns.
    #[must_use]
    pub fn condition(&self) -> Option<ConditionId> {
        match self {
            Self::RegisterEvent(_) => None,
            Self::RegisterMarket(market) => Some(market.condition),
            Self::Activate(condition)
            | Self::Close(condition)
            | Self::SetTick(condition, _)
            | Self::SetMinimumSize(condition, _)
            | Self::SetFee(condition, _)
            | Self::Resolve(condition, _) => Some(*condition),
        }
    }

    /// The operator's command line for a registered market. It names the market by its condition,
    /// because a slug is upstream text that must not reach a shell.
    #[must_use]
    pub fn command_line(&self) -> Option<String> {
        let words = match self {
            Self::RegisterEvent(_) | Self::RegisterMarket(_) => return None,
            Self::Activate(condition) => format!("activate {condition}"),
            Self::Close(condition) => format!("close {condition}"),
            Self::SetTick(condition, tick) => format!("tick {condition} {}", tick.text()),
            Self::SetMinimumSize(condition, size) => {
                format!("minimum-size {condition} {}", shares(*size))
            }
            Self::SetFee(condition, fee) => {
                format!("fee {condition} {} {}", fee.rate_ppm, fee.exponent)
            }
            Self::Resolve(condition, payout) => {
                format!("resolve {condition} {}", payout_word(*payout))
            }
        };
        Some(format!("foretell market {words}"))
    }

    /// Its path on the operator surface.
    #[must_use]
    pub const fn path(&self) -> &'static str {
        match self {
            Self::RegisterEvent(_) => "/events",
            Self::RegisterMarket(_) => "/markets",
            Self::Activate(_) => "/markets/activate",
            Self::Close(_) => "/markets/close",
            Self::SetTick(..) => "/markets/tick",
            Self::SetMinimumSize(..) => "/markets/minimum",
            Self::SetFee(..) => "/markets/fee",
            Self::Resolve(..) => "/markets/resolve",
        }
    }

    /// Its request body.
    #[must_use]
    pub fn body(&self) -> Value {
        match self {
            Self::RegisterEvent(event) => json!({
                "event_id": event.id, "title": event.title, "slug": event.slug, "ticker": event.ticker,
            }),
            Self::RegisterMarket(market) => market.body(),
            Self::Activate(condition) | Self::Close(condition) => named(condition),
            Self::SetTick(condition, tick) => with(condition, "tick_size", tick.text().into()),
            Self::SetMinimumSize(condition, size) => {
                with(condition, "minimum_order_size", shares(*size).into())
            }
            Self::SetFee(condition, fee) => {
                let mut body = with(condition, "rate_ppm", fee.rate_ppm.into());
                body["exponent"] = fee.exponent.into();
                body
            }
            Self::Resolve(condition, payout) => {
                with(condition, "payout", payout_word(*payout).into())
            }
        }
    }
}

impl MarketRegistration {
    fn body(&self) -> Value {
        let mut body = serde_json::to_value(&self.description)
            .expect("a description is texts, numbers and maps with text keys");
        let fields = json!({
            "condition_id": self.condition.to_string(),
            "token_ids": self.tokens.each_ref().map(token_text),
            "tick_size": self.tick.text(),
            "minimum_order_size": shares(self.minimum_size),
            "fee": { "rate_ppm": self.fee.rate_ppm, "exponent": self.fee.exponent },
            "activate": self.activate,
        });
        if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
            body.extend(fields);
            if let Some(event) = self.event {
                body.insert("event_id".to_owned(), event.into());
            }
        }
        body
    }
}

fn named(condition: &ConditionId) -> Value {
    json!({ "condition_id": condition.to_string() })
}

fn with(condition: &ConditionId, field: &str, value: Value) -> Value {
    let mut body = named(condition);
    body[field] = value;
    body
}

fn shares(lots: Lots) -> String {
    Decimal::new(i128::from(lots.0), 2).to_string()
}

#[cfg(test)]
mod tests {
    use foretell_wire::operator::{
        EventSummary, read_event, read_fee, read_market, read_market_name, read_minimum,
        read_resolution, read_tick,
    };

    use super::*;

    fn bytes(command: &Command) -> Vec<u8> {
        command.body().to_string().into_bytes()
    }

    /// The operator surface parses every field that is written here.
    #[test]
    fn the_surface_understands_every_command() {
        let condition = ConditionId([7; 32]);
        let fee = FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1,
        };
        let description = MarketDescription {
            question: "Will it?".into(),
            slug: "will-it".into(),
            outcomes: ["Up".into(), "Down".into()],
            tags: vec!["Weather".into()],
            end_date: Some("2026-07-01T00:00:00Z".into()),
            market_id: 9,
            event: Some(EventSummary {
                id: Some(5),
                slug: "it".into(),
                ..EventSummary::default()
            }),
            ..MarketDescription::default()
        };
        let market = MarketRegistration {
            condition,
            tokens: [TokenId([1; 32]), TokenId([2; 32])],
            tick: Tick::Thousandth,
            minimum_size: Lots(1_550),
            fee,
            event: Some(5),
            activate: false,
            description: description.clone(),
        };
        let read = read_market(&bytes(&Command::RegisterMarket(Box::new(market.clone())))).unwrap();
        assert_eq!((read.condition, read.tokens), (condition, market.tokens));
        assert_eq!(
            (read.tick, read.minimum_size, read.fee),
            (market.tick, market.minimum_size, fee)
        );
        assert_eq!(
            (read.event.map(|event| event.0), read.activate),
            (Some(5), Some(false))
        );
        assert_eq!(read.description, description);

        let event = EventRegistration {
            id: 5,
            title: "T".into(),
            slug: "s".into(),
            ticker: "t".into(),
        };
        assert_eq!(
            read_event(&bytes(&Command::RegisterEvent(event)))
                .unwrap()
                .event
                .0,
            5
        );
        for command in [Command::Activate(condition), Command::Close(condition)] {
            assert_eq!(read_market_name(&bytes(&command)).unwrap(), condition);
        }
        let tick = read_tick(&bytes(&Command::SetTick(condition, Tick::TenThousandth))).unwrap();
        assert_eq!(tick.tick, Tick::TenThousandth);
        let minimum = read_minimum(&bytes(&Command::SetMinimumSize(condition, Lots(1)))).unwrap();
        assert_eq!(minimum.minimum_size, Lots(1));
        assert_eq!(
            read_fee(&bytes(&Command::SetFee(condition, fee)))
                .unwrap()
                .fee,
            fee
        );
        for payout in Payout::ALL {
            let read = read_resolution(&bytes(&Command::Resolve(condition, *payout))).unwrap();
            assert_eq!(read.payout, *payout);
        }
    }
}
