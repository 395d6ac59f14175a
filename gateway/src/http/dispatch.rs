//! From a request to a response: bounds, route, body, handler. Every request ends in an answer
//! here, also when a handler panics.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use foretell_wire::ErrorCode;
use foretell_wire::errors::api_error::quoted;
use foretell_wire::limits::MAX_PATH_BYTES;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use hyper::body::{Body as _, Incoming};
use parking_lot::Mutex;

use crate::access::authorize::authorize;
use crate::access::hints::X_FORETELL_HINT;
use crate::access::signature_gate::SignatureGate;
use crate::app::App;
use crate::http::answer::{Answer, X_SEQUENCE};
use crate::http::body::{self, BodyError, BodyPermit};
use crate::http::connections::client_quotas::{Client, Reservation};
use crate::http::connections::unread_answers::CountedAnswer;
use crate::http::failure::{self, Failure, X_ERROR_CODE};
use crate::http::request_context::{RequestContext, Said};
use crate::http::route::Route;
use crate::http::router::{RouteError, Router};
use crate::http::surface::{ErrorShape, Surface};
use crate::http::timing::{SERVER_TIMING, Timing, X_SERVER_TIMING};
use crate::policy::client_address::{ClientAddress, Sender};
use crate::policy::limits::PROXIED_REQUEST_WORK;
use crate::policy::request_policy::IncomingRequest;
use crate::policy::work::{Charged, WorkAccount};
use crate::streams::fan_out::Hub;

/// State shared by all requests of a listener on one thread.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(crate) app: Arc<App>,
    pub(crate) surface: Surface,
    pub(crate) routes: Arc<Router>,
    pub(crate) gate: Arc<SignatureGate>,
    /// The stream connections of the thread.
    pub(crate) hub: Arc<Hub>,
    /// From the end of the head to the end of the body.
    pub(crate) body_timeout: Duration,
}

impl Dispatcher {
    /// Answers one request of a connection's peer, which may have shown an operator's token.
    pub(crate) async fn dispatch(
        self,
        peer: IpAddr,
        request: Request<Incoming>,
        is_operator: bool,
    ) -> Response<CountedAnswer> {
        let began = Instant::now();
        let (app, surface) = (Arc::clone(&self.app), self.surface);
        let from = app.policy.client(peer, request.headers());
        let head = *request.method() == Method::HEAD;
        let origin = app.policy.allowed_origin(surface, request.headers());
        // An answer without a state of its own names the state before it, because its content is
        // not older (docs/api/overview.md §3).
        let before = (app.shared_view.is_ready()).then(|| app.shared_view.read().position());
        let found = self.find(&request);
        let route = found.as_ref().ok().map(|(route, _)| Arc::clone(route));
        let shape = match route.as_ref().and_then(|route| route.shape) {
            Some(mounted) => mounted.into(),
            None => surface.error_shape(request.uri().path()),
        };
        let timing = Timing::new(&app.durations, began);
        let timed = request.headers().contains_key(X_SERVER_TIMING);
        let sender = Sender { peer, client: from };
        let client = Client::of(from.counted());
        let account = match is_operator {
            true => app.policy.operators_account(),
            false => app.policy.work_account(surface, client),
        };
        if client != Client::of(peer) {
            account.charge(began, PROXIED_REQUEST_WORK);
        }
        let for_client = (sender, Arc::clone(&account));
        let answering = self.answer(
            Arc::clone(&timing),
            for_client,
            (request, is_operator),
            (found, shape),
        );
        let future = CatchPanic(Box::pin(answering));
        let answer = Charged { account, future }.await;
        let mut answer = answer.unwrap_or_else(|failure| failure.render(shape));
        if head {
            answer = answer.without_head_body();
        }
        let (mut answer, share) = counted(&app, (surface, shape), from, answer, timing.has_acted());
        if let Some(position) = before
            && !answer.headers.contains_key(X_SEQUENCE)
        {
            answer = answer.at(position);
        }
        if timed {
            answer.headers.insert(SERVER_TIMING, timing.server_timing());
        }
        app.policy
            .add_cors_headers(surface, origin, &mut answer.headers);
        app.metrics.request(
            route.as_deref().map(Route::metered),
            answer.status,
            began.elapsed(),
        );
        answer.into_response(share)
    }

    fn find(&self, request: &Request<Incoming>) -> Result<(Arc<Route>, String), Failure> {
        let path = request.uri().path();
        if path.len() > MAX_PATH_BYTES {
            return Err(ErrorCode::PathTooLong.into());
        }
        let found = self.routes.find(request.method(), path);
        found.map_err(route_error)
    }

    /// Runs a request through policy, route, body and handler.
    async fn answer(
        self,
        timing: Arc<Timing>,
        (sender, account): (Sender, Arc<WorkAccount>),
        (request, is_operator): (Request<Incoming>, bool),
        (found, shape): (Result<(Arc<Route>, String), Failure>, ErrorShape),
    ) -> Result<Answer, Failure> {
        let (app, surface) = (Arc::clone(&self.app), self.surface);
        let route = found.as_ref().ok().map(|(route, _)| route);
        // What is refused costs work, too.
        let turn = app.policy.turn(&account).await;
        let turn = turn.or_else(|refused| match route.is_some_and(|route| route.is_urgent) {
            true => Ok(()),
            false => Err(refused),
        });
        if let Err(refused) = turn {
            app.metrics.rate_limited(refused.scope);
            return Ok(Failure::from(&refused).render(shape));
        }
        let incoming = IncomingRequest {
            surface,
            from: sender.client,
            method: request.method(),
            uri: request.uri(),
            shape,
            scope: route.map_or(self.routes.scope, |route| route.scope),
            headers: request.headers(),
            at: timing.began(),
        };
        let said = match self.app.policy.admit(&incoming, &self.app.metrics) {
            Ok(quota) => Arc::new(Mutex::new(Said {
                quota,
                ..Said::default()
            })),
            Err(answer) => return Ok(*answer),
        };
        let answer = match found {
            Ok(found) => {
                let said = Arc::clone(&said);
                let from = (sender, is_operator, said);
                self.handle(timing, from, request, found).await
            }
            Err(failure) => {
                self.discard_body(request).await;
                Err(failure)
            }
        };
        let answer = answer.unwrap_or_else(|failure| app.cluster.explain(failure).render(shape));
        let Said {
            quota,
            position,
            hint,
        } = *said.lock();
        let answer = answer.with_quota(quota);
        let answer = match hint.and_then(|hint| HeaderValue::try_from(hint.to_string()).ok()) {
            Some(hint) => answer.header(X_FORETELL_HINT, hint),
            None => answer,
        };
        Ok(match position {
            Some(position) if !answer.headers.contains_key(X_SEQUENCE) => answer.at(position),
            _ => answer,
        })
    }

    async fn handle(
        self,
        timing: Arc<Timing>,
        (sender, is_operator, said): (Sender, bool, Arc<Mutex<Said>>),
        request: Request<Incoming>,
        (route, parameter): (Arc<Route>, String),
    ) -> Result<Answer, Failure> {
        if route.is_write {
            let has_engine = self.app.engine.welcome().is_some();
            self.app.cluster.ensure_leads(has_engine)?;
        }
        let (head, body) = request.into_parts();
        let client = Client::of(sender.client.counted());
        let body = self.body(&head.headers, body, (client, route.body_limit));
        let (body, permit) = body.await?;
        let Self {
            app, gate, surface, ..
        } = self;
        let mut context = RequestContext {
            app,
            gate,
            timing,
            head,
            body,
            _permit: permit,
            surface,
            client,
            sender,
            scope: route.scope,
            is_large: route.is_large,
            is_mounted: route.shape.is_some(),
            is_operator,
            said,
            payer: OnceLock::new(),
            actor: None,
            parameter,
        };
        if let Some(roles) = route.operators {
            context.actor = Some(authorize(&context, roles).await?);
        }
        let answer = (route.handle)(context, route.freshness).await;
        let unlisted = || unlisted(&route, surface, &answer);
        debug_assert_eq!(unlisted(), None, "{} {}", route.method, route.path);
        answer
    }

    /// Reads the body of a request that no route takes: unread, it would end the connection behind the answer.
    async fn discard_body(&self, request: Request<Incoming>) {
        if request.body().is_end_stream() || self.surface == Surface::Health {
            return;
        }
        let discarded = async move { body::discard(&mut request.into_body()).await };
        // Boxed as in [`Self::body`]. A client that is too slow loses its connection.
        let _ = Box::pin(tokio::time::timeout(self.body_timeout, discarded)).await;
    }

    async fn body(
        &self,
        headers: &HeaderMap,
        incoming: Incoming,
        (client, limit): (Client, usize),
    ) -> Result<(Bytes, BodyPermit), Failure> {
        let declared = headers
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let budget = Arc::clone(&self.app.bounds.of(self.surface).bodies);
        let permit = BodyPermit::new(budget, client);
        if incoming.is_end_stream() {
            return Ok((Bytes::new(), permit));
        }
        if limit == 0 {
            return Err(ErrorCode::BodyTooLarge.with([&limit]).into());
        }
        let reading = body::read(incoming, declared, limit, permit);
        // Boxed, because most requests have no body and would only move the state of reading one.
        let read = Box::pin(tokio::time::timeout(self.body_timeout, reading))
            .await
            .map_err(|_| Failure::from(ErrorCode::BodyTimeout))?
            .map_err(|problem| match problem {
                BodyError::LimitReached => ErrorCode::Busy.into(),
                BodyError::TooLarge => ErrorCode::BodyTooLarge.with([&limit]),
                BodyError::Broken => ErrorCode::BodyIncomplete.into(),
            })?;
        match other_than_json(headers) {
            Some(given) if !read.0.is_empty() => {
                Err(ErrorCode::UnsupportedMediaType.with([&given]).into())
            }
            _ => Ok(read),
        }
    }
}

/// Counts the answer's bytes as unread by its client until the returned share is dropped. Over the
/// client's bound, the answer to a read becomes a 503; the result of a write is sent anyway.
fn counted(
    app: &App,
    (surface, shape): (Surface, ErrorShape),
    from: ClientAddress,
    answer: Answer,
    has_acted: bool,
) -> (Answer, Reservation) {
    let (client, unread) = (Client::of(from.counted()), &app.bounds.of(surface).unread);
    if let Ok(share) = unread.take(client, answer.body.len()) {
        return (answer, share);
    }
    let answer = if has_acted {
        answer
    } else {
        app.metrics.answer_refused();
        Failure::from(ErrorCode::AnswersUnread).render(shape)
    };
    let share = unread.take_unbounded(client, answer.body.len());
    (answer, share)
}

/// The quoted content type or encoding of a body that is not plain JSON. A missing content type
/// counts as JSON.
fn other_than_json(headers: &HeaderMap) -> Option<String> {
    let is_json = |value: &&HeaderValue| {
        value.to_str().is_ok_and(|text| {
            let kind = text.split(';').next().unwrap_or("").trim();
            kind.eq_ignore_ascii_case("application/json")
        })
    };
    let is_plain = |value: &&HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    let other = kinds
        .find(|kind| !is_json(kind))
        .or(encodings.find(|code| !is_plain(code)))?;
    Some(quoted(&String::from_utf8_lossy(other.as_bytes())))
}

/// The code of a failure that the documents of its route do not have.
fn unlisted<'a>(
    route: &Route,
    surface: Surface,
    answer: &'a Result<Answer, Failure>,
) -> Option<&'a str> {
    let code = match answer {
        Ok(answer) => answer.headers.get(X_ERROR_CODE)?.to_str().ok()?,
        Err(failure) => failure.code().name(),
    };
    (!route.lists(surface, code)).then_some(code)
}

fn route_error(error: RouteError) -> Failure {
    match error {
        RouteError::Path => ErrorCode::NotFound.into(),
        RouteError::Method(allowed) => failure::method_not_allowed(allowed),
    }
}

/// Turns a panic of the future into a 500. Shared state is protected by locks that do not poison
/// and are never held across a partial change that can panic.
struct CatchPanic<F>(Pin<Box<F>>);

impl<F: Future<Output = Result<Answer, Failure>>> Future for CatchPanic<F> {
    type Output = Result<Answer, Failure>;

    // A call, so that the instructions of a request can be counted (`bench/steps/gateway.py`).
    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Answer, Failure>> {
        let future = &mut self.0;
        match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll,
            Err(_) => {
                tracing::error!("request handler panicked: see the message on standard error");
                Poll::Ready(Err(ErrorCode::Internal.into()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    #[test]
    fn a_panic_becomes_an_answer() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let result = runtime.block_on(CatchPanic(Box::pin(async { panic!("on purpose") })));
        let answer = result.unwrap_err().render(Surface::Trading);
        assert_eq!(answer.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(answer.headers[CONTENT_TYPE], "application/json");
    }

    #[test]
    fn only_plain_json_bodies_are_read() {
        let headers = |pairs: &[(http::HeaderName, &'static str)]| {
            pairs
                .iter()
                .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
                .collect::<HeaderMap>()
        };
        for (pairs, fine) in [
            (vec![], true),
            (vec![(CONTENT_TYPE, "application/json")], true),
            (
                vec![(CONTENT_TYPE, "Application/JSON; charset=utf-8")],
                true,
            ),
            (vec![(CONTENT_TYPE, "text/plain")], false),
            (vec![(CONTENT_TYPE, "application/json5")], false),
            (vec![(CONTENT_ENCODING, "identity")], true),
            (vec![(CONTENT_ENCODING, "gzip")], false),
        ] {
            assert_eq!(
                other_than_json(&headers(&pairs)).is_none(),
                fine,
                "{pairs:?}"
            );
        }
    }
}
