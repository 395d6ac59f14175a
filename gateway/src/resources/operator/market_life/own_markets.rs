//! Registration and words of markets and event groups: `/markets`, `/events`, `…/describe`.
//!
//! A market without an id of an upstream's catalog is the operator's own: its words live in the
//! journal, and the catalog shows them. Words of an upstream's market change at the upstream alone, but for
//! its question and labels, which the operator consents to.

use std::sync::Arc;

use foretell_link::Reply;
use foretell_model::command::SetTerms;
use foretell_model::{
    Command, CommandOutcome, ConditionId, EventId, EventNumber, MarketNumber, MarketState,
    MarketTerms as ClockTerms, Rejection, RejectionReason, TimeMs, TokenId,
};
use foretell_view::{EventGroup, View};
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::operator::{
    Clock, CommandAnswer, EventDescription, EventEdit, EventRegistration, EventRow, EventRows,
    EventsQuery, MarketDescription, MarketEdit, MarketRegistration, MarketTerms, WrittenForm as _,
    end_of,
};
use foretell_wire::text::time::iso;
use foretell_wire::{ApiError, ErrorCode};

use crate::app::App;
use crate::catalog::catalog_watcher::refresh_lists;
use crate::catalog::own_catalog::ids::{self, slug_of};
use crate::catalog::own_catalog::is_own;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromQuery};
use crate::http::request_context::RequestContext;
use crate::resources::operator::market_life::known_names::{
    ensure_free_slug, ensure_repeats_event, ensure_repeats_market, is_own_group, is_untouched,
};
use crate::resources::operator::{CommandResult, rejection, submit, submit_or_reject};
use crate::resources::position_of;
use crate::view::search::{PageBack, STEP, in_steps};

/// `POST /events`.
pub(crate) async fn register_event(
    context: RequestContext,
    FromBody(mut wanted): FromBody<EventRegistration>,
) -> Result<Json<CommandAnswer>, Failure> {
    if wanted.slug.is_empty() {
        wanted.slug = slug_of(&wanted.title);
    }
    if wanted.event_id == 0 {
        if wanted.slug.is_empty() {
            let allowed = "letters, digits and hyphens; the title has no letter for one";
            return Err(ApiError::from(FieldError::missing("slug", allowed)).into());
        }
        wanted.event_id = ids::event_group(&genesis(&context.app)?, &wanted.slug);
    }
    let event_id = wanted.event_id;
    let words = wanted.into_description();
    let evidence = words.to_evidence()?;
    let command = Command::RegisterEvent {
        event: EventId(event_id),
    };
    let done = submit_or_reject(&context, command, &evidence).await?;
    if done.before.is_some() {
        ensure_repeats_event(&context.app, EventId(event_id), &words).await?;
    }
    let answer = CommandAnswer {
        event_id: Some(event_id),
        ..done.applied()
    };
    Ok(Json::of(&answer).at(position_of(&done.reply)))
}

/// `POST /markets`: registers a market with its clock and opens it for trading. With `activate`
/// false or an `opens_at` it stays registered. A question of a neg-risk event also stays registered
/// unless `activate` is true, because opening the first question freezes the event's list.
pub(crate) async fn register(
    context: RequestContext,
    FromBody(mut wanted): FromBody<MarketRegistration>,
) -> Result<Json<CommandAnswer>, Failure> {
    let app = &context.app;
    if wanted.terms.closed == Some(true) {
        register_closed(app.exchange_time().millis(), &mut wanted)?;
    }
    generate_ids(app, &mut wanted.terms, &wanted.description.slug)?;
    let condition = wanted.terms.condition_id;
    let known = |view: &View| view.markets().by_condition(&condition).map(|_| ());
    // The times of a repeat may have passed since the first request.
    if app.find(known).await?.is_none() {
        ensure_new(app, &wanted).await?;
    }
    let is_own = wanted.description.market_id == 0;
    let event = event_of(app, &wanted.terms, is_own).await?;
    let done = submit_registration(&context, &mut wanted, event).await?;
    let MarketRegistration { terms, description } = wanted;
    let CommandOutcome::Market(market) = done.outcome else {
        return Err(ErrorCode::Internal.into());
    };
    let mut last = set_clock(&context, market, &done, &terms, &description).await?;
    let opens_later = terms.opens_at.is_some_and(|at| at.0 > 0);
    if terms.closed == Some(true) {
        last = close_unopened(&context, market, last).await?;
    } else if terms.activate.unwrap_or(event.is_none() && !opens_later) {
        last = activate(&context, market).await?;
    }
    let state = app.read_after(last.sequence.max(done.reply.sequence), |state| {
        state.view.markets().get(market).map(|market| market.state)
    });
    let state = state.await?.unwrap_or(MarketState::Registered);
    if description.market_id == 0 {
        write_catalog(app).await;
    }
    let answer = CommandAnswer {
        status: Some(state),
        condition_id: Some(terms.condition_id),
        token_ids: Some(terms.token_ids),
        ..done.applied()
    };
    Ok(Json::of(&answer).at(position_of(&last)))
}

/// Prepares the registration of a closed market: it neither opens nor counts as one that ended
/// unnoticed. A close in the past is no time that falls due, so its words keep it as the end date.
fn register_closed(now: TimeMs, wanted: &mut MarketRegistration) -> Result<(), ApiError> {
    let MarketRegistration { terms, description } = wanted;
    let refuse = |field, value: String| {
        let allowed = "absent where \"closed\" is true: the market never opens";
        Err(FieldError::wrong(field, &value, allowed).into())
    };
    if terms.activate == Some(true) {
        return refuse("activate", "true".to_owned());
    }
    if let Some(opens_at) = terms.opens_at.filter(|at| at.0 > 0) {
        return refuse("opens_at", Clock::json(&opens_at));
    }
    terms.past_end = Some(true);
    if let Some(closes_at) = terms.closes_at.filter(|at| at.0 > 0 && *at <= now) {
        terms.closes_at = None;
        let end = &mut description.end_date;
        end.get_or_insert_with(|| Clock::json(&closes_at));
    }
    Ok(())
}

/// Closes a market that was registered closed. A repeat does so, too, when the first attempt ended
/// before it; a market that was opened since then stays as it is.
async fn close_unopened(
    context: &RequestContext,
    market: MarketNumber,
    last: Reply,
) -> Result<Reply, Failure> {
    let state = |view: &View| view.markets().get(market).map(|market| market.state);
    let read = context
        .app
        .read_after(last.sequence, |state_now| state(&state_now.view));
    if read.await? != Some(MarketState::Registered) {
        return Ok(last);
    }
    let closed = submit_or_reject(context, Command::CloseMarket { market }, &[]).await?;
    Ok(closed.reply)
}

/// Checks what holds for a new market only: times that are not over, and a slug of its own.
async fn ensure_new(app: &App, wanted: &MarketRegistration) -> Result<(), Failure> {
    let MarketRegistration { terms, description } = wanted;
    refuse_past_end(app, terms, description)?;
    check_clock(app, terms, description)?;
    match description.market_id {
        0 => ensure_free_slug(app, &description.slug, &terms.condition_id).await,
        _ => Ok(()),
    }
}

/// Registers a market. A repeat has the same content; that of an own market is in its words.
async fn submit_registration(
    context: &RequestContext,
    wanted: &mut MarketRegistration,
    event: Option<EventNumber>,
) -> Result<CommandResult, Failure> {
    let is_own = wanted.description.market_id == 0;
    wanted.description.registered_terms = is_own.then(|| wanted.terms.to_keep());
    let evidence = wanted.description.to_evidence()?;
    match submit(context, wanted.terms.registration(event), &evidence).await? {
        Ok(done) if done.before.is_none() => Ok(done),
        Ok(done) => {
            ensure_repeats_market(&context.app, wanted).await?;
            Ok(done)
        }
        Err((_, refusal)) => {
            if refusal.reason == RejectionReason::MarketDiffers {
                ensure_repeats_market(&context.app, wanted).await?;
            }
            Err(rejection(context, &refusal).into())
        }
    }
}

/// A market that has ended is registered only when the request says so.
fn refuse_past_end(
    app: &App,
    terms: &MarketTerms,
    description: &MarketDescription,
) -> Result<(), ApiError> {
    let now = i128::from(app.exchange_time().0);
    let end = description.end_date.as_deref();
    let ended = end.filter(|end| end_of(end).is_some_and(|end| end.as_nanosecond() <= now));
    match ended {
        Some(end) if terms.past_end != Some(true) => {
            Err(ApiError::new(ErrorCode::EndsInPast, vec![end.to_owned()]))
        }
        _ => Ok(()),
    }
}

/// Checks the clock as the core does, before anything is registered: the terms are a command of
/// their own, which comes after the registration.
fn check_clock(
    app: &App,
    terms: &MarketTerms,
    description: &MarketDescription,
) -> Result<(), ApiError> {
    let clock = terms.clock(description.game_start_time.as_deref());
    let ClockTerms {
        opens_at,
        closes_at,
        ..
    } = clock.applied_to(ClockTerms::default());
    let now = app.exchange_time().millis();
    let refuse = |reason, first: TimeMs, second: TimeMs| {
        let refusal = Rejection::with(reason, first.0, second.0);
        Err(ApiError::from_command_rejection(&refusal))
    };
    if closes_at.0 > 0 && opens_at >= closes_at {
        return refuse(RejectionReason::ClockContradicts, opens_at, closes_at);
    }
    if closes_at.0 > 0 && closes_at <= now {
        return refuse(RejectionReason::ClosesInPast, closes_at, now);
    }
    Ok(())
}

/// Fills in condition and tokens that the request leaves out.
fn generate_ids(app: &App, terms: &mut MarketTerms, slug: &str) -> Result<(), ApiError> {
    if terms.condition_id == ConditionId::ZERO {
        terms.condition_id = ids::condition(&genesis(app)?, slug);
    }
    if terms.token_ids == [TokenId::ZERO; 2] {
        terms.token_ids = ids::tokens(&terms.condition_id);
    }
    Ok(())
}

/// The journal's genesis hash, which is known since the first connection to the engine.
fn genesis(app: &App) -> Result<[u8; 32], ApiError> {
    let genesis = app.engine.genesis();
    match genesis == [0; 32] {
        true => Err(ErrorCode::EngineUnavailable.into()),
        false => Ok(genesis),
    }
}

/// The event group of the terms. Own questions and those of an upstream do not mix: nobody would decide
/// the list as a whole.
async fn event_of(
    app: &App,
    terms: &MarketTerms,
    own: bool,
) -> Result<Option<EventNumber>, Failure> {
    let Some(id) = terms.event_id else {
        return Ok(None);
    };
    let find = |view: &View| {
        let (number, group) = view.events().by_id(EventId(id))?;
        let mut questions = group
            .questions
            .iter()
            .filter_map(|it| view.markets().get(*it));
        Some((number, questions.all(|it| is_own(it) == own)))
    };
    match app.find(find).await?.ok_or(ErrorCode::EventNotFound)? {
        (number, true) => Ok(Some(number)),
        (_, false) => {
            let allowed = match own {
                true => "an event group of your own; the questions of this one are an upstream's",
                false => {
                    "an event group of the upstream; the questions of this one are the operator's own"
                }
            };
            Err(ApiError::from(FieldError::wrong("event_id", &id.to_string(), allowed)).into())
        }
    }
}

/// Sets clock, delay and rebate of a new market, before it opens. A repeat does so, too, when the first
/// attempt ended before it. Other terms than those of the beginning stay: they have a command of their own.
async fn set_clock(
    context: &RequestContext,
    market: MarketNumber,
    done: &CommandResult,
    terms: &MarketTerms,
    description: &MarketDescription,
) -> Result<Reply, Failure> {
    let clock = terms.clock(description.game_start_time.as_deref());
    if clock.is_empty() {
        return Ok(done.reply);
    }
    if done.before.is_some() {
        let shared = &context.app.shared_view;
        shared.catch_up().await?;
        if !(shared.read().view.markets().get(market)).is_some_and(is_untouched) {
            return Ok(done.reply);
        }
    }
    let terms = clock.update();
    let set = submit_or_reject(context, Command::SetTerms(SetTerms { market, terms }), &[]).await?;
    Ok(set.reply)
}

async fn activate(context: &RequestContext, market: MarketNumber) -> Result<Reply, Failure> {
    match submit(context, Command::ActivateMarket { market }, &[]).await? {
        Ok(activated) => Ok(activated.reply),
        // It was opened before; its state since then must not be changed here.
        Err((reply, refusal)) if refusal.reason == RejectionReason::InvalidTransition => Ok(reply),
        Err((_, refusal)) => Err(ApiError::from_command_rejection(&refusal).into()),
    }
}

/// `POST /markets/describe`: changes the words of an own market, or what an upstream's means: its question and
/// its labels.
pub(crate) async fn describe(
    context: RequestContext,
    FromBody(edit): FromBody<MarketEdit>,
) -> Result<Json<CommandAnswer>, Failure> {
    let app = &context.app;
    let market = crate::resources::operator::market_of(&context, edit.condition_id).await?;
    app.shared_view.catch_up().await?;
    {
        let state = app.shared_view.read();
        let registered = state.view.markets().get(market);
        let registered = registered.filter(|it| is_own(it) || edit.is_of_meaning());
        registered.ok_or_else(|| upstream_owned("market"))?;
    }
    if let Some(slug) = &edit.slug {
        ensure_free_slug(app, slug, &edit.condition_id).await?;
    }
    let evidence = edit.to_evidence()?;
    let command = Command::DescribeMarket { market };
    describe_as(&context, command, &evidence).await
}

/// `POST /events/describe`: changes the words of an own event group.
pub(crate) async fn describe_event(
    context: RequestContext,
    FromBody(edit): FromBody<EventEdit>,
) -> Result<Json<CommandAnswer>, Failure> {
    let app = &context.app;
    let id = EventId(edit.event_id);
    let find = |view: &View| view.events().by_id(id).map(|(number, _)| number);
    let event = app.find(find).await?.ok_or(ErrorCode::EventNotFound)?;
    app.shared_view.catch_up().await?;
    {
        let state = app.shared_view.read();
        let view = &state.view;
        let group = view.events().get(event).ok_or(ErrorCode::EventNotFound)?;
        if !is_own_group(view, group) {
            return Err(upstream_owned("event").into());
        }
    }
    let evidence = edit.to_evidence()?;
    describe_as(&context, Command::DescribeEvent { event }, &evidence).await
}

/// `GET /events`: event groups, the newest first.
pub(crate) async fn list_events(
    context: RequestContext,
    FromQuery(EventsQuery { before, limit, own }): FromQuery<EventsQuery>,
) -> Result<Json<EventRows>, Failure> {
    let mut page = PageBack::new(before, limit);
    let ((), position) = in_steps(&context.app, |state| {
        let view = &state.view;
        let groups = view.events().before(page.before().map(EventNumber));
        let groups = groups.map(|(number, group)| (number.0, group));
        page.step(STEP, groups, |group| {
            let is_wanted = !own || is_own_group(view, group);
            is_wanted.then(|| event_row(view, group))
        })
    })
    .await;
    let (events, next) = page.finish();
    Ok(Json::of(&EventRows { events, next }).at(position))
}

fn event_row(view: &View, group: &EventGroup) -> EventRow {
    let words = EventDescription::from_words(&group.description).unwrap_or_default();
    let condition = |number: &MarketNumber| Some(view.markets().get(*number)?.condition);
    let questions = group.questions.iter().filter_map(condition);
    EventRow {
        event_id: group.id.0,
        title: words.title,
        slug: words.slug,
        ticker: words.ticker,
        description: words.description,
        tags: words.tags,
        registered: iso(group.registered),
        frozen: group.frozen,
        own: is_own_group(view, group),
        questions: questions.map(|it| it.to_string()).collect(),
    }
}

pub(crate) async fn describe_as(
    context: &RequestContext,
    command: Command,
    evidence: &[u8],
) -> Result<Json<CommandAnswer>, Failure> {
    let done = submit_or_reject(context, command, evidence).await?;
    let app = &context.app;
    app.read_after(done.reply.sequence, |_| ()).await?;
    write_catalog(app).await;
    Ok(done.answer())
}

/// Brings the catalog up to date after a request; a failure is repaired by the watcher's next turn.
async fn write_catalog(app: &Arc<App>) {
    let app = Arc::clone(app);
    let written = tokio::task::spawn_blocking(move || match (&app.own_catalog, &app.catalog) {
        (Some(own), Some(pool)) => {
            own.write(&app.shared_view, pool)?;
            refresh_lists(&app, pool)
        }
        _ => Ok(()),
    });
    if !matches!(written.await, Ok(Ok(()))) {
        tracing::warn!("own words are not in the catalog yet: the next turn writes them");
    }
}

fn upstream_owned(record: &str) -> ApiError {
    ApiError::new(ErrorCode::UpstreamOwned, vec![record.to_owned()])
}
