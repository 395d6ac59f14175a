//! Dispatch from path and method to a handler. Fixed paths match exactly; paths with a parameter
//! use `matchit`.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use foretell_wire::limits::SMALL_BODY_BYTES;
use http::Method;

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::metrics::Meter;

pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send>>;
pub(crate) type Handler = fn(RequestContext) -> HandlerFuture;

/// One method of one path.
pub(crate) struct Route {
    method: Method,
    /// `{name}` matches one segment, `{*name}` the rest. It is also the route's name in metrics and
    /// logs, which never show text from a client.
    pub(crate) path: &'static str,
    /// Longest body in bytes.
    pub(crate) body_limit: usize,
    /// Whether a host that does not lead its cluster leaves it to the leader.
    pub(crate) is_write: bool,
    pub(crate) handle: Handler,
    /// Counts its successes: looked up once, because a lookup costs as much as a route.
    pub(crate) meter: OnceLock<Meter>,
}

impl Route {
    /// A route with a body of at most [`SMALL_BODY_BYTES`].
    pub(crate) fn new(method: Method, path: &'static str, handle: Handler) -> Self {
        let is_write = matches!(method, Method::POST | Method::DELETE);
        Self {
            method,
            path,
            body_limit: SMALL_BODY_BYTES,
            is_write,
            handle,
            meter: OnceLock::new(),
        }
    }

    /// Its name in metrics, and the counter of its successes.
    pub(crate) fn metered(&self) -> (&'static str, &OnceLock<Meter>) {
        (self.path, &self.meter)
    }

    /// Changes nothing, whatever its method.
    pub(crate) fn reading(mut self) -> Self {
        self.is_write = false;
        self
    }

    /// Allows bodies of up to `bytes`.
    pub(crate) fn with_body(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }
}

/// The routes of one surface.
pub(crate) struct Routes {
    exact: HashMap<&'static str, Methods, RandomState>,
    patterns: matchit::Router<Methods>,
}

type Methods = Vec<Arc<Route>>;

/// Why no route matches.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum RouteError {
    /// No such path.
    Path,
    /// The path exists with these methods only.
    Method(String),
}

impl Routes {
    /// # Panics
    /// When two patterns conflict: a bug in the table, which every test finds.
    pub(crate) fn new(routes: impl IntoIterator<Item = Route>) -> Self {
        let mut exact: HashMap<_, Methods, _> = HashMap::default();
        for route in routes {
            exact.entry(route.path).or_default().push(Arc::new(route));
        }
        let mut patterns = matchit::Router::new();
        for (path, methods) in exact.extract_if(|path, _| path.contains('{')) {
            patterns
                .insert(path, methods)
                .expect("patterns do not overlap");
        }
        Self { exact, patterns }
    }

    /// The route of a request, and the value of its path parameter. The GET route answers HEAD.
    pub(crate) fn find(
        &self,
        method: &Method,
        path: &str,
    ) -> Result<(Arc<Route>, String), RouteError> {
        let (methods, parameter) = match self.exact.get(path) {
            Some(methods) => (methods, String::new()),
            None => {
                let found = self.patterns.at(path).map_err(|_| RouteError::Path)?;
                let parameter = found.params.iter().next().map_or("", |(_, value)| value);
                (found.value, parameter.to_owned())
            }
        };
        let wanted = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        methods
            .iter()
            .find(|route| route.method == wanted)
            .map(|route| (Arc::clone(route), parameter))
            .ok_or_else(|| RouteError::Method(allowed(methods)))
    }
}

fn allowed(methods: &[Arc<Route>]) -> String {
    let mut names: Vec<_> = methods.iter().map(|route| route.method.as_str()).collect();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.sort_unstable();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes() -> Routes {
        let route = |method, path, bytes| {
            let handle =
                |_: RequestContext| -> HandlerFuture { Box::pin(async { Ok(Answer::json("0")) }) };
            Route::new(method, path, handle).with_body(bytes)
        };
        Routes::new([
            route(Method::GET, "/book", 1),
            route(Method::POST, "/order", 2),
            route(Method::DELETE, "/order", 3),
            route(Method::GET, "/markets/{condition}", 4),
            route(Method::GET, "/markets/live", 5),
            route(Method::DELETE, "/rewards/{*rest}", 6),
        ])
    }

    #[test]
    fn paths_match_exactly_or_by_pattern() {
        let routes = routes();
        let find = |method: Method, path: &str| {
            routes
                .find(&method, path)
                .map(|(route, text)| (route.body_limit, text))
        };
        let ok = |limit, text: &str| Ok((limit, text.to_owned()));
        assert_eq!(find(Method::GET, "/book"), ok(1, ""));
        assert_eq!(find(Method::HEAD, "/book"), ok(1, ""));
        assert_eq!(find(Method::DELETE, "/order"), ok(3, ""));
        assert_eq!(find(Method::GET, "/markets/0xab"), ok(4, "0xab"));
        assert_eq!(find(Method::GET, "/markets/live"), ok(5, ""));
        assert_eq!(find(Method::DELETE, "/rewards/a/b"), ok(6, "a/b"));
        for path in [
            "/",
            "//book",
            "/book/",
            "/Book",
            "/markets/",
            "/markets/a/b",
            "*",
            "",
            "/%62ook",
        ] {
            assert_eq!(find(Method::GET, path), Err(RouteError::Path), "{path}");
        }
    }

    #[test]
    fn another_method_is_told_which_are_allowed() {
        let routes = routes();
        let miss = |method, path| routes.find(&method, path).err();
        let allow = |text: &str| Some(RouteError::Method(text.to_owned()));
        assert_eq!(miss(Method::PUT, "/order"), allow("DELETE, POST"));
        assert_eq!(miss(Method::HEAD, "/order"), allow("DELETE, POST"));
        assert_eq!(miss(Method::POST, "/markets/x"), allow("GET, HEAD"));
    }
}
