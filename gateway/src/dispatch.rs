//! From a request to a response: bounds, route, body, handler. Nothing a client sends gets past
//! here as anything but an answer, and no panic gets past here at all.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use foretell_wire::Failure as Refusal;
use foretell_wire::failure::quoted;
use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use hyper::body::Incoming;

use crate::answer::{Answer, X_SEQUENCE};
use crate::app::App;
use crate::body::{self, Held, NoBody};
use crate::call::Call;
use crate::client_address::ClientAddress;
use crate::client_shares::{Client, Share};
use crate::config::Surface;
use crate::edge::Arriving;
use crate::failure::{self, Failure};
use crate::limits::MAX_PATH_BYTES;
use crate::resources::{catalog, data};
use crate::routes::{Endpoint, Miss, Routes};
use crate::signatures::SignatureGate;
use crate::timing::{SERVER_TIMING, Timing, X_SERVER_TIMING};
use crate::unread::Counted;

/// An answer with its failure in the shape of its surface.
pub(crate) fn shaped(surface: Surface, answer: Answer) -> Answer {
    match surface {
        Surface::Data => data::shaped(answer),
        Surface::Catalog => catalog::shaped(answer),
        Surface::Trading | Surface::Operator => answer,
    }
}

/// What every request of a listener on one thread shares.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(crate) app: Arc<App>,
    pub(crate) surface: Surface,
    pub(crate) routes: Arc<Routes>,
    pub(crate) gate: Arc<SignatureGate>,
    /// From the end of the head to the end of the body.
    pub(crate) body_timeout: Duration,
}

impl Dispatcher {
    /// Answers one request of a connection's peer.
    pub(crate) async fn dispatch(
        self,
        peer: IpAddr,
        request: Request<Incoming>,
    ) -> Response<Counted> {
        let began = Instant::now();
        let (app, surface) = (Arc::clone(&self.app), self.surface);
        let from = app.edge.client(peer, request.headers());
        let head = *request.method() == Method::HEAD;
        let reader = app.edge.reader(surface, request.headers());
        // An answer that names no state of its own names the one before it: what it says is not
        // older (protocol 11).
        let before = (app.replica.is_ready()).then(|| app.replica.read().place());
        let found = self.find(&request);
        let route = found.as_ref().map_or("none", |(endpoint, _)| endpoint.name);
        let timing = Timing::new(&app.durations, began);
        let timed = request.headers().contains_key(X_SERVER_TIMING);
        let answering = self.answer(Arc::clone(&timing), from, request, found);
        let mut answer = CatchPanic(Box::pin(answering)).await;
        if head {
            answer = answer.without_what_head_omits();
        }
        let (answer, share) = counted(&app, surface, from, answer, timing.has_acted());
        let mut answer = shaped(surface, answer);
        if let Some(place) = before
            && !answer.headers.contains_key(X_SEQUENCE)
        {
            answer = answer.at(place);
        }
        if timed {
            answer.headers.insert(SERVER_TIMING, timing.server_timing());
        }
        app.edge.tell(surface, reader, &mut answer.headers);
        app.metrics.request(route, answer.status, began.elapsed());
        answer.into_response(share)
    }

    fn find(&self, request: &Request<Incoming>) -> Result<(Endpoint, String), Failure> {
        let path = request.uri().path();
        if path.len() > MAX_PATH_BYTES {
            return Err(failure::path_too_long().into());
        }
        let found = self.routes.find(request.method(), path);
        found.map_err(|missed| miss(missed).into())
    }

    /// From the edge to the handler.
    async fn answer(
        self,
        timing: Arc<Timing>,
        from: ClientAddress,
        request: Request<Incoming>,
        found: Result<(Endpoint, String), Failure>,
    ) -> Answer {
        let arriving = Arriving {
            surface: self.surface,
            from,
            method: request.method(),
            route: found.as_ref().ok().map(|(endpoint, _)| endpoint.name),
            headers: request.headers(),
            at: timing.began(),
        };
        let standing = match self.app.edge.admit(&arriving, &self.app.metrics) {
            Ok(standing) => standing,
            Err(failure) => return failure.into_answer(),
        };
        match found {
            Ok((endpoint, parameter)) => {
                self.handle(timing, from, request, endpoint, parameter)
                    .await
            }
            Err(failure) => failure.into_answer(),
        }
        .stands(standing)
    }

    async fn handle(
        self,
        timing: Arc<Timing>,
        from: ClientAddress,
        request: Request<Incoming>,
        endpoint: Endpoint,
        parameter: String,
    ) -> Answer {
        let (head, body) = request.into_parts();
        let client = Client::of(from.counted());
        let body = self.body(&head.headers, body, (client, endpoint.body_limit));
        let (body, held) = match body.await {
            Ok(read) => read,
            Err(answer) => return answer,
        };
        let Self {
            app, gate, surface, ..
        } = self;
        let call = Call {
            app,
            gate,
            timing,
            head,
            body,
            _held: held,
            surface,
            client,
            parameter,
        };
        (endpoint.handle)(call)
            .await
            .unwrap_or_else(Failure::into_answer)
    }

    async fn body(
        &self,
        headers: &HeaderMap,
        incoming: Incoming,
        (client, limit): (Client, usize),
    ) -> Result<(Bytes, Held), Answer> {
        let declared = headers
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let room = Arc::clone(&self.app.bounds.of(self.surface).bodies);
        let held = Held::nothing(room, client);
        let reading = body::read(incoming, declared, limit, held);
        let read = tokio::time::timeout(self.body_timeout, reading)
            .await
            .map_err(|_| failure::body_too_slow())?
            .map_err(|problem| match problem {
                NoBody::NoRoom => failure::answer(&Refusal::Busy),
                NoBody::TooLarge => failure::answer(&Refusal::BodyTooLarge { limit }),
                NoBody::Broken => failure::body_broken(),
            })?;
        match other_than_json(headers) {
            Some(given) if !read.0.is_empty() => {
                Err(failure::answer(&Refusal::UnsupportedMediaType { given }))
            }
            _ => Ok(read),
        }
    }
}

/// An answer and its share of what the client may leave unread. Without room for it a read is
/// refused; what a request has done is told all the same.
pub(crate) fn counted(
    app: &App,
    surface: Surface,
    from: ClientAddress,
    answer: Answer,
    has_acted: bool,
) -> (Answer, Share) {
    let (client, unread) = (Client::of(from.counted()), &app.bounds.of(surface).unread);
    if let Ok(share) = unread.take(client, answer.body.len()) {
        return (answer, share);
    }
    let answer = if has_acted {
        answer
    } else {
        app.metrics.answer_refused();
        failure::answers_unread()
    };
    let share = unread.take_anyway(client, answer.body.len());
    (answer, share)
}

/// A body is JSON, said so or not said at all, and not compressed. What it is said to be, quoted,
/// when it is something else.
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

fn miss(miss: Miss) -> Answer {
    match miss {
        Miss::Path => failure::answer(&Refusal::NotFound),
        Miss::Method(allowed) => {
            let value = HeaderValue::from_str(&allowed).expect("names of methods");
            failure::method_not_allowed(&allowed).header(ALLOW, value)
        }
    }
}

/// Turns a panic of the future into a 500. The state a request shares with others is behind locks
/// that do not poison and are never held across what can panic half way through a change.
struct CatchPanic<F>(Pin<Box<F>>);

impl<F: Future<Output = Answer>> Future for CatchPanic<F> {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        let future = &mut self.0;
        match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll,
            Err(_) => {
                tracing::error!("a request panicked; the message is on standard error");
                Poll::Ready(failure::answer(&Refusal::Internal))
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
        let answer = runtime.block_on(CatchPanic(Box::pin(async { panic!("on purpose") })));
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
