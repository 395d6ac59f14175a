//! Hot reads: a `GET` that needs no waiting, no body and no credentials is answered where it
//! arrives, without a task or a copy of its own. Whatever is not plain (an error, a state that is
//! not there yet) is left to the ordinary way, which alone knows how to say it.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::time::Instant;

use bytes::Bytes;
use foretell_wire::query::Query;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Incoming};

use crate::answer::Answer;
use crate::app::App;
use crate::call::X_MIN_SEQUENCE;
use crate::dispatch::Dispatcher;
use crate::edge::Arriving;
use crate::metrics::Meter;
use crate::replica::State;

/// What a hot read looks at.
pub(crate) struct Glance<'r> {
    pub(crate) app: &'r App,
    query: Option<&'r str>,
}

impl<'r> Glance<'r> {
    /// The query, if it can be read.
    pub(crate) fn query(&self) -> Option<Query<'r>> {
        Query::parse(self.query).ok()
    }

    /// An answer from the present state, if that shows everything this process has told anybody.
    pub(crate) fn look(&self, read: impl FnOnce(&State) -> Option<Bytes>) -> Option<Answer> {
        let state = self.app.replica.present(self.app.engine.acknowledged())?;
        Some(Answer::json(read(&state)?).at(state.place()))
    }
}

/// How a route answers at a glance; `None` leaves the request to its handler.
pub(crate) struct AtAGlance {
    pub(crate) read: fn(&Glance<'_>) -> Option<Answer>,
    /// Where its answers are counted.
    pub(crate) meter: OnceLock<Meter>,
}

impl Dispatcher {
    /// The response to a hot read.
    pub(crate) fn glance(
        &self,
        peer: IpAddr,
        request: &Request<Incoming>,
    ) -> Option<Response<Full<Bytes>>> {
        if *request.method() != Method::GET
            || !request.body().is_end_stream()
            || request.headers().contains_key(X_MIN_SEQUENCE)
        {
            return None;
        }
        let began = Instant::now();
        let (route, hot) = self.routes.at_a_glance(request.uri().path())?;
        let app = &*self.app;
        let glance = Glance {
            app,
            query: request.uri().query(),
        };
        // One that panics does so again in the ordinary way, which answers 500.
        let answer = std::panic::catch_unwind(AssertUnwindSafe(|| (hot.read)(&glance))).ok()??;
        let arriving = Arriving {
            surface: self.surface,
            peer,
            method: request.method(),
            route: Some(route),
            headers: request.headers(),
        };
        let reader = app.edge.reader(self.surface, request.headers());
        let mut answer = match app.edge.admit(&arriving, &app.metrics) {
            Ok(standing) => answer.stands(standing),
            Err(refusal) => refusal.into_answer(),
        };
        app.edge.tell(self.surface, reader, &mut answer.headers);
        let meter = hot.meter.get_or_init(|| app.metrics.meter(route));
        match answer.status {
            StatusCode::OK => meter.answered(began.elapsed()),
            other => app.metrics.request(route, other, began.elapsed()),
        }
        Some(answer.into_response(false))
    }
}
