//! The content of a registration, in full: a repeat has the same, or what is in force since then.

use foretell_model::command::{MarketDetails, RegisterMarket};
use foretell_model::{ContentDigest, EventNumber, MarketTerms as ClockTerms, SlugDigest};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::errors::api_error::{ApiError, quoted};
use crate::errors::error_code::ErrorCode;
use crate::operator::markets::description::EventDescription;
use crate::operator::markets::market_terms::MarketTerms;
use crate::operator::markets::register::{MARKET_FIELDS, MarketRegistration};

/// The fields of [`EventDescription`].
const EVENT_FIELDS: &[&str] = &["title", "slug", "ticker", "description", "tags"];

impl MarketRegistration {
    /// The command that registers it, as the next question of an event group if there is one.
    #[must_use]
    pub fn command(&self, event: Option<EventNumber>) -> RegisterMarket {
        RegisterMarket {
            condition: self.terms.condition_id,
            tokens: self.terms.token_ids,
            tick: self.terms.tick(),
            tick_refines: self.terms.tick_refines(),
            minimum_size: self.terms.minimum(),
            fee: self.terms.fee.unwrap_or_default(),
            event,
            index: self.terms.question_index,
            has_details: true,
        }
    }

    /// The details of the command. A market of the operator's own needs its slug; one of an upstream is
    /// registered without it where another market has it. `content` is [`Self::content`] of the request, before
    /// anything of it was moved.
    #[must_use]
    pub fn details(&self, content: ContentDigest) -> MarketDetails {
        MarketDetails {
            terms: self.clock(),
            opening: self.terms.opening(),
            slug: SlugDigest::of(&self.description.slug),
            needs_slug: self.description.market_id == 0,
            content,
        }
    }

    /// The digest of what is registered.
    #[must_use]
    pub fn content(&self) -> ContentDigest {
        ContentDigest::of(crate::json_text(&self.fields()).as_bytes())
    }

    /// Checks a repeat with other content than the market of its condition was registered with: each
    /// field has the value that was `registered`, or the one that is in force `now`.
    ///
    /// # Errors
    /// `market_differs` with the first field that has another value.
    pub fn ensure_repeats(&self, registered: &Self, now: &Self) -> Result<(), ApiError> {
        let fields = [self, registered, now].map(Self::fields);
        ensure_same(ErrorCode::MarketDiffers, MARKET_FIELDS, &fields)
    }

    fn clock(&self) -> ClockTerms {
        let game_start = self.description.game_start_time.as_deref();
        self.terms
            .clock(game_start)
            .applied_to(ClockTerms::default())
    }

    /// Every field with its value or default, except those of the registration as an act.
    fn fields(&self) -> Map<String, Value> {
        let terms = MarketTerms {
            tick_size: Some(self.terms.tick()),
            tick_refines: Some(self.terms.tick_refines()),
            minimum_order_size: Some(self.terms.minimum()),
            fee: Some(self.terms.fee.unwrap_or_default()),
            activate: None,
            past_end: None,
            closed: None,
            ..self.terms.with_clock(self.clock())
        };
        let mut fields = object(&terms);
        fields.extend(object(&self.description));
        fields
    }
}

impl MarketTerms {
    /// These terms with a clock, delay and rebate.
    #[must_use]
    pub const fn with_clock(self, clock: ClockTerms) -> Self {
        Self {
            opens_at: Some(clock.opens_at),
            closes_at: Some(clock.closes_at),
            clear_book_on_start: Some(clock.clear_book_on_start),
            taker_delay_ms: Some(clock.taker_delay_ms),
            rebate_ppm: Some(clock.rebate_ppm),
            ..self
        }
    }
}

impl EventDescription {
    /// Checks a repeat against the event group of its id, as [`MarketRegistration::ensure_repeats`].
    ///
    /// # Errors
    /// `event_differs` with the first field that has another value.
    pub fn ensure_repeats(&self, registered: &Self, now: &Self) -> Result<(), ApiError> {
        let fields = [self, registered, now].map(object);
        ensure_same(ErrorCode::EventDiffers, EVENT_FIELDS, &fields)
    }
}

fn object(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn ensure_same(
    code: ErrorCode,
    names: &[&str],
    [wanted, registered, now]: &[Map<String, Value>; 3],
) -> Result<(), ApiError> {
    let differs = |name: &&&str| {
        let value = wanted.get(**name);
        value != registered.get(**name) && value != now.get(**name)
    };
    match names.iter().find(differs) {
        Some(name) => {
            let values = [wanted, now].map(|fields| shown(fields.get(*name)));
            let [value, known] = values;
            Err(ApiError::new(code, vec![(*name).to_owned(), value, known]))
        }
        None => Ok(()),
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "absent".to_owned(),
        Some(Value::String(text)) => quoted(text),
        Some(scalar @ (Value::Bool(_) | Value::Number(_))) => scalar.to_string(),
        Some(other) => quoted(&other.to_string()),
    }
}
