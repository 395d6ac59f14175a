//! The content of a registration, in full: a repeat has the same, or what is in force since then.

use foretell_model::{ConditionId, MarketTerms as ClockTerms};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::errors::api_error::{ApiError, quoted};
use crate::errors::error_code::ErrorCode;
use crate::operator::markets::description::{EventDescription, MarketDescription};
use crate::operator::markets::market_terms::MarketTerms;
use crate::operator::markets::register::{MARKET_FIELDS, MarketRegistration};

/// The fields of [`EventDescription`].
const EVENT_FIELDS: &[&str] = &["title", "slug", "ticker", "description", "tags"];

impl MarketRegistration {
    /// Checks a repeat against the market of its condition: what was `registered`, or is in force `now`.
    ///
    /// # Errors
    /// `market_differs` with the first field that has another value.
    pub fn ensure_repeats(&self, registered: &Self, now: &Self) -> Result<(), ApiError> {
        let fields = [self, registered, now].map(Self::fields);
        ensure_same(ErrorCode::MarketDiffers, MARKET_FIELDS, &fields)
    }

    /// Every field with its value or default, except those of the registration as an act.
    fn fields(&self) -> Map<String, Value> {
        let clock = self
            .terms
            .clock(self.description.game_start_time.as_deref());
        let clock = clock.applied_to(ClockTerms::default());
        let terms = MarketTerms {
            tick_size: Some(self.terms.tick()),
            tick_refines: Some(self.terms.tick_refines()),
            minimum_order_size: Some(self.terms.minimum()),
            fee: Some(self.terms.fee.unwrap_or_default()),
            ..self.terms.with_clock(clock).without_act()
        };
        let mut fields = object(&terms);
        let registered_terms = None;
        fields.extend(object(&MarketDescription {
            registered_terms,
            ..self.description.clone()
        }));
        fields
    }
}

impl MarketTerms {
    /// What the words of a registration keep of its terms: not the names, nor how it was registered.
    #[must_use]
    pub fn to_keep(self) -> Self {
        Self {
            condition_id: ConditionId::ZERO,
            token_ids: Default::default(),
            ..self.without_act()
        }
    }

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

    /// These terms with the clock, delay and rebate of others.
    #[must_use]
    pub const fn with_clock_of(self, other: &Self) -> Self {
        Self {
            opens_at: other.opens_at,
            closes_at: other.closes_at,
            clear_book_on_start: other.clear_book_on_start,
            taker_delay_ms: other.taker_delay_ms,
            rebate_ppm: other.rebate_ppm,
            ..self
        }
    }

    const fn without_act(self) -> Self {
        Self {
            activate: None,
            past_end: None,
            closed: None,
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
