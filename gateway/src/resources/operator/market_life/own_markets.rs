//! Registration and words of markets and event groups: `/markets`, `/events`, `…/describe`.
//!
//! A market without an id of an upstream's catalog is the operator's own: its words live in the
//! journal, and the catalog shows them. Words of an upstream's market change at the upstream alone, but for
//! its question and labels, which the operator consents to.

use std::sync::Arc;

use foretell_model::command::{DescribeMarket, MarketDetails};
use foretell_model::tail::Tail;
use foretell_model::{
    Command, CommandOutcome, ConditionId, EventId, EventNumber, MarketNumber, MarketState,
    Rejection, RejectionReason, SlugDigest, TimeMs, TokenId, words,
};
use foretell_view::{EventGroup, Market, View};
use foretell_wire::errors::api_error::FieldError;
use foretell_wire::operator::{
    CommandAnswer, EventDescription, EventEdit, EventRegistration, EventRow, EventRows,
    EventsQuery, MarketDescription, MarketEdit, MarketRegistration, MarketTerms, clock_text,
    end_of,
};
use foretell_wire::text::time::iso;
use foretell_wire::{ApiError, ErrorCode};

use crate::app::App;
use crate::catalog::catalog_watcher::refresh_lists;
use crate::catalog::own_catalog::ids::{self, slug_of};
use crate::catalog::own_catalog::is_own;
use crate::engine::outcome::{Done, Refused};
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromQuery};
use crate::http::request_context::RequestContext;
use crate::resources::operator::{answer, applied, explained};
use crate::resources::registered_market;
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
    let done = context.command(command, &evidence).await?;
    if done.before.is_some() {
        ensure_repeats_event(&context.app, EventId(event_id), &words).await?;
    }
    Ok(Json::of(&CommandAnswer {
        event_id: Some(event_id),
        ..applied(&done)
    }))
}

/// `POST /markets`: registers a market with its clock and opens it for trading, whole or not at all. With
/// `activate` false or an `opens_at` it stays registered. A question of a neg-risk event also stays
/// registered unless `activate` is true, because opening the first question freezes the event's list. A
/// repeat changes nothing.
pub(crate) async fn register(
    context: RequestContext,
    FromBody(mut wanted): FromBody<MarketRegistration>,
) -> Result<Json<CommandAnswer>, Failure> {
    let app = &context.app;
    generate_ids(app, &mut wanted.terms, &wanted.description.slug)?;
    let content = wanted.content();
    if wanted.terms.closed == Some(true) {
        register_closed(app.exchange_time().millis(), &mut wanted)?;
    }
    let condition = wanted.terms.condition_id;
    let known = |view: &View| view.markets().by_condition(&condition).map(|_| ());
    // The end of a repeat may have passed since the first request.
    if app.find(known).await?.is_none() {
        let end = wanted.description.end_date.as_deref();
        refuse_past_end(app, end, wanted.terms.past_end)?;
    }
    let is_own = wanted.description.market_id == 0;
    let event = event_of(app, &wanted.terms, is_own).await?;
    let details = wanted.details(content);
    let done = submit_registration(&context, &wanted, event, details).await?;
    let state = app.read_after(done.decided_at, |state| {
        let known = state.view.markets().by_condition(&condition);
        known.map(|(_, market)| market.state)
    });
    let state = state.await?.unwrap_or(MarketState::Registered);
    if is_own {
        write_catalog(app).await;
    }
    Ok(Json::of(&CommandAnswer {
        status: Some(state),
        condition_id: Some(condition),
        token_ids: Some(wanted.terms.token_ids),
        ..applied(&done)
    }))
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
        return refuse("opens_at", clock_text(&opens_at));
    }
    terms.past_end = Some(true);
    if let Some(closes_at) = terms.closes_at.filter(|at| at.0 > 0 && *at <= now) {
        terms.closes_at = None;
        let end = &mut description.end_date;
        end.get_or_insert_with(|| clock_text(&closes_at));
    }
    Ok(())
}

/// Registers a market. A repeat has the content of the first registration, or what is in force since then.
async fn submit_registration(
    context: &RequestContext,
    wanted: &MarketRegistration,
    event: Option<EventNumber>,
    details: MarketDetails,
) -> Result<Done, Failure> {
    let evidence = wanted.description.to_evidence()?;
    let mut tail = Vec::new();
    Tail::append(&[details], &mut tail);
    let command = Command::RegisterMarket(wanted.command(event));
    let refused = match context.send(command, tail, &evidence).await? {
        Ok(done) => return Ok(done),
        Err(refused) => refused,
    };
    if refused.rejection.reason != RejectionReason::MarketDiffers {
        let slug = &wanted.description.slug;
        return Err(rejection_of_slug(context, &refused.rejection, slug)
            .await?
            .into());
    }
    let market = ensure_repeats_market(&context.app, wanted).await?;
    Ok(refused.as_done(CommandOutcome::Market(market)))
}

/// The error of a rejected command that names a slug: when it is taken, with the market that has it.
async fn rejection_of_slug(
    context: &RequestContext,
    refusal: &Rejection,
    slug: &str,
) -> Result<ApiError, Failure> {
    let is_taken = refusal.reason == RejectionReason::SlugTaken;
    let shared = &context.app.shared_view;
    if is_taken {
        shared.catch_up().await?;
    }
    Ok(explained(context, refusal, |refusal| {
        let number = is_taken.then(|| u32::try_from(refusal.details[0]).ok())??;
        let state = shared.read();
        let holder = state.view.markets().get(MarketNumber(number))?;
        Some(vec![slug.to_owned(), holder.condition.to_string()])
    }))
}

/// A market gets an end in the past only when the request says so.
fn refuse_past_end(app: &App, end: Option<&str>, past_end: Option<bool>) -> Result<(), ApiError> {
    let now = i128::from(app.exchange_time().0);
    let ended = end.filter(|end| end_of(end).is_some_and(|end| end.as_nanosecond() <= now));
    match ended {
        Some(end) if past_end != Some(true) => {
            Err(ApiError::new(ErrorCode::EndsInPast, vec![end.to_owned()]))
        }
        _ => Ok(()),
    }
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

/// `POST /markets/describe`: changes the words of an own market, or what an upstream's means: its question and
/// its labels.
pub(crate) async fn describe(
    context: RequestContext,
    FromBody(edit): FromBody<MarketEdit>,
) -> Result<Json<CommandAnswer>, Failure> {
    let app = &context.app;
    let market = registered_market(&context, edit.condition_id).await?;
    app.shared_view.catch_up().await?;
    {
        let state = app.shared_view.read();
        let registered = state.view.markets().get(market);
        let registered = registered.filter(|it| is_own(it) || edit.is_of_meaning());
        let registered = registered.ok_or_else(|| upstream_owned("market"))?;
        if !matches!(
            registered.state,
            MarketState::Closed | MarketState::Resolved
        ) {
            refuse_past_end(app, edit.end_date.as_deref(), edit.past_end)?;
        }
    }
    let evidence = edit.to_evidence()?;
    let slug = edit.slug.as_deref();
    let command = Command::DescribeMarket(DescribeMarket {
        market,
        slug: slug.map(SlugDigest::of),
    });
    match context.send(command, Vec::new(), &evidence).await? {
        Ok(done) => described(&context, &done).await,
        Err(Refused { rejection, .. }) => {
            let slug = slug.unwrap_or_default();
            Err(rejection_of_slug(&context, &rejection, slug).await?.into())
        }
    }
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
    let done = context.command(command, evidence).await?;
    described(context, &done).await
}

/// The answer of a change of words, once the catalog has them.
async fn described(context: &RequestContext, done: &Done) -> Result<Json<CommandAnswer>, Failure> {
    let app = &context.app;
    app.read_after(done.decided_at, |_| ()).await?;
    write_catalog(app).await;
    Ok(answer(done))
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
        tracing::warn!(
            "texts of own markets are not in the catalog yet: the next round writes them"
        );
    }
}

fn upstream_owned(record: &str) -> ApiError {
    ApiError::new(ErrorCode::UpstreamOwned, vec![record.to_owned()])
}

/// Checks a registration with other content than that of its condition's market: the number of that market,
/// if the content is what is in force by now.
async fn ensure_repeats_market(
    app: &App,
    wanted: &MarketRegistration,
) -> Result<MarketNumber, Failure> {
    app.shared_view.catch_up().await?;
    let state = app.shared_view.read();
    let view = &state.view;
    let markets = view.markets();
    let known = markets.by_condition(&wanted.terms.condition_id);
    let (number, market) = known.ok_or(ErrorCode::MarketNotFound)?;
    let now = in_force(view, market);
    let (text, _) = words::parts(&market.description);
    let registered = MarketRegistration {
        terms: now.terms,
        description: MarketDescription::from_words(text).unwrap_or_default(),
    };
    wanted.ensure_repeats(&registered, &now)?;
    Ok(number)
}

fn in_force(view: &View, market: &Market) -> MarketRegistration {
    let group = market
        .question
        .and_then(|(event, _)| view.events().get(event));
    let terms = MarketTerms {
        tick_size: Some(market.tick),
        tick_refines: Some(market.tick_refines),
        minimum_order_size: Some(market.minimum_size),
        fee: Some(market.fee),
        event_id: group.map(|group| group.id.0),
        ..MarketTerms::new(market.condition, market.tokens).with_clock(market.terms)
    };
    let description = MarketDescription::from_words(&market.description).unwrap_or_default();
    MarketRegistration { terms, description }
}

/// Checks a repeated registration of an event group. Words of a group with an upstream's questions
/// follow the upstream.
async fn ensure_repeats_event(
    app: &App,
    id: EventId,
    wanted: &EventDescription,
) -> Result<(), Failure> {
    app.shared_view.catch_up().await?;
    let state = app.shared_view.read();
    let events = state.view.events();
    let group = events.by_id(id).and_then(|(number, _)| events.get(number));
    let group = group.filter(|group| is_own_group(&state.view, group));
    let Some(group) = group else {
        return Ok(());
    };
    let (text, _) = words::parts(&group.description);
    let [registered, now] = [text, &group.description]
        .map(|words| EventDescription::from_words(words).unwrap_or_default());
    Ok(wanted.ensure_repeats(&registered, &now)?)
}

/// Whether no question of an event group comes from an upstream's catalog.
fn is_own_group(view: &View, group: &EventGroup) -> bool {
    let is_own = |number: &MarketNumber| view.markets().get(*number).is_some_and(is_own);
    group.questions.iter().all(is_own)
}
