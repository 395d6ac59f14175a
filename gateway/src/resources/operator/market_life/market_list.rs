//! `GET /markets` of the operator: the exchange's markets, for synchronisation with a catalog.

use std::collections::BTreeSet;

use foretell_model::{ConditionId, EventId, MarketNumber};
use foretell_view::{Market, View};
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::operator::{
    MarketRow, MarketRows, PolicyChange, TermsChange, registered_end_date,
};
use foretell_wire::read::query::Query;
use foretell_wire::text::decimal::digits_u64;
use foretell_wire::text::ids::condition_id;
use foretell_wire::{ApiError, json_text};

use crate::app::App;
use crate::catalog::own_catalog::is_own;
use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;

/// Most rows of a page.
const MAX_ROWS: usize = 10_000;
/// Most conditions, and most events, that a request may name.
const MAX_NAMED: usize = 100;

/// `GET /markets`: all, by number; with `condition_id` or `event_id` (each a list) only those
/// markets and the questions of those neg-risk events; with `limit` and `offset` a page.
pub(crate) async fn list(context: RequestContext) -> Result<Answer, Failure> {
    const ROWS: &str = "1 to 10000";
    let app = &context.app;
    let query = context.query()?;
    let number = |text: &str| usize::try_from(digits_u64(text).ok()?).ok();
    let limit = query.read("limit", ROWS, |text| {
        number(text).filter(|rows| (1..=MAX_ROWS).contains(rows))
    })?;
    let limit = limit.unwrap_or(usize::MAX);
    let offset = query.read("offset", "a number", number)?.unwrap_or(0);
    let named = MarketSelection::of(&query)?;
    context.wait_fresh().await?;
    // A comparison must see everything durable, also right after a gateway's start.
    app.shared_view.catch_up().await?;
    let state = app.shared_view.read();
    let view = &state.view;
    let row = |(number, market)| row(app, view, number, market);
    let markets = match named {
        Some(named) => named
            .numbers(view)
            .into_iter()
            .filter_map(|number| Some((number, view.markets().get(number)?)))
            .skip(offset)
            .take(limit)
            .map(row)
            .collect(),
        None => {
            let all = view.markets().iter();
            all.skip(offset).take(limit).map(row).collect()
        }
    };
    Ok(Answer::json(json_text(&MarketRows { markets })).at(state.position()))
}

/// Markets named by a request.
struct MarketSelection {
    conditions: Vec<ConditionId>,
    events: Vec<EventId>,
}

impl MarketSelection {
    /// `None` when it names none.
    fn of(query: &Query<'_>) -> Result<Option<Self>, ApiError> {
        const ALLOWED: &str = "up to 100";
        let conditions = query.list("condition_id", MAX_NAMED, ALLOWED)?;
        let events = query.list("event_id", MAX_NAMED, ALLOWED)?;
        if conditions.is_empty() && events.is_empty() {
            return Ok(None);
        }
        let condition = |text: &str| {
            condition_id(text)
                .ok_or_else(|| FieldError::wrong("condition_id", text, "0x and 64 hex digits"))
        };
        let event = |text: &str| {
            digits_u64(text)
                .map(EventId)
                .map_err(|_| FieldError::wrong("event_id", text, "a number"))
        };
        Ok(Some(Self {
            conditions: conditions
                .into_iter()
                .map(condition)
                .collect::<Result<_, _>>()?,
            events: events.into_iter().map(event).collect::<Result<_, _>>()?,
        }))
    }

    /// Those that exist, without duplicates.
    fn numbers(&self, view: &View) -> BTreeSet<MarketNumber> {
        let condition = |id: &ConditionId| view.markets().by_condition(id);
        let conditions = self.conditions.iter().filter_map(condition);
        let event = |id: &EventId| view.events().by_id(*id);
        let events = self.events.iter().filter_map(event);
        let questions = events.flat_map(|(_, event)| event.questions.iter().copied());
        conditions
            .map(|(number, _)| number)
            .chain(questions)
            .collect()
    }
}

fn row(app: &App, view: &View, number: MarketNumber, market: &Market) -> MarketRow {
    let policy = view.resolutions().own_policy(number);
    let described = app.descriptions.of(market);
    let question = market.question;
    let event = question.and_then(|(event, _)| view.events().get(event));
    MarketRow {
        condition_id: market.condition,
        token_ids: market.tokens,
        status: market.state,
        outcomes: described.outcomes.clone(),
        archived: market.archived,
        tick: market.tick,
        minimum_size: market.minimum_size,
        fee: market.fee,
        neg_risk: market.is_neg_risk(),
        event_id: event.map(|event| event.id.0),
        event_frozen: event.is_some_and(|event| event.frozen),
        question_index: market.index,
        holds: market.holds,
        payout: market.payout,
        question: described.question.clone(),
        slug: described.slug.clone(),
        end_date: registered_end_date(&market.description),
        terms: Some(TermsChange::of(market.condition, market.terms)),
        own: is_own(market),
        settled: market.settled.is_some(),
        policy: policy.map(|own| PolicyChange::of(Some(market.condition), own.policy)),
    }
}
