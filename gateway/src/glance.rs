//! Hot reads: a `GET` that needs no waiting, no body and no credentials is answered where it
//! arrives, without a task or a copy of its own. Whatever is not plain (an error, a state that is
//! not there yet) is left to the ordinary way, which alone knows how to say it.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::time::Instant;

use foretell_wire::TokenRef;
use foretell_wire::query::Query;
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode};
use hyper::body::{Body, Incoming};

use crate::answer::Answer;
use crate::app::App;
use crate::call::X_MIN_SEQUENCE;
use crate::dispatch::{Dispatcher, counted};
use crate::edge::Arriving;
use crate::metrics::Meter;
use crate::resources::{books, market_of, prices};
use crate::targets::Meaning;
use crate::texts::Saying;
use crate::timing::X_SERVER_TIMING;
use crate::unread::Counted;

/// How a route is answered at a glance.
pub(crate) struct AtAGlance {
    /// What a query asks for; `None` leaves the request to the route's handler.
    pub(crate) asked: fn(&App, &Query<'_>) -> Option<(TokenRef, Saying)>,
    /// Where its answers are counted.
    pub(crate) meter: OnceLock<Meter>,
}

impl AtAGlance {
    /// An answer from the present state, if that shows everything this process has told anybody.
    fn look(&self, app: &App, target: &PathAndQuery) -> Option<Answer> {
        let state = app.replica.present(app.engine.acknowledged())?;
        let meaning = app.targets.meaning(&state, target.as_str(), || {
            let query = Query::parse(target.query()).ok()?;
            let (token, saying) = (self.asked)(app, &query)?;
            let (market, outcome) = market_of(&state.view, &token)?;
            Some(Meaning {
                market,
                outcome,
                saying,
            })
        })?;
        let token = (meaning.market, meaning.outcome);
        let place = state.place();
        let text = match meaning.saying {
            Saying::Book(sides) => {
                let seen = books::seen(&app.texts, &state, token, sides)?;
                drop(state);
                seen.text(&app.texts)
            }
            Saying::Quote(quote) => prices::text(app, &state, token, quote)?.ok()?,
        };
        Some(app.headings.answer(text, place))
    }
}

impl Dispatcher {
    /// The response to a hot read.
    pub(crate) fn glance(
        &self,
        peer: IpAddr,
        request: &Request<Incoming>,
    ) -> Option<Response<Counted>> {
        if *request.method() != Method::GET
            || !request.body().is_end_stream()
            || request.headers().contains_key(X_MIN_SEQUENCE)
            || request.headers().contains_key(X_SERVER_TIMING)
        {
            return None;
        }
        let began = Instant::now();
        let (route, hot) = self.routes.at_a_glance(request.uri().path())?;
        let app = &*self.app;
        let target = request.uri().path_and_query()?;
        // One that panics does so again in the ordinary way, which answers 500.
        let answer =
            std::panic::catch_unwind(AssertUnwindSafe(|| hot.look(app, target))).ok()??;
        let from = app.edge.client(peer, request.headers());
        let arriving = Arriving {
            surface: self.surface,
            from,
            method: request.method(),
            route: Some(route),
            headers: request.headers(),
            at: began,
        };
        let reader = app.edge.reader(self.surface, request.headers());
        let answer = match app.edge.admit(&arriving, &app.metrics) {
            Ok(standing) => answer.stands(standing),
            Err(refusal) => refusal.into_answer(),
        };
        let (mut answer, share) = counted(app, self.surface, from, answer, false);
        app.edge.tell(self.surface, reader, &mut answer.headers);
        let meter = hot.meter.get_or_init(|| app.metrics.meter(route));
        match answer.status {
            StatusCode::OK => meter.answered(began.elapsed()),
            other => app.metrics.request(route, other, began.elapsed()),
        }
        Some(answer.into_response(share))
    }
}
