//! From path and method to a route. Fixed paths match exactly; paths with a parameter use
//! `matchit`.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use http::Method;

use crate::http::route::Route;
use crate::policy::rate_limits::Scope;

/// The routes of one surface.
pub(crate) struct Router {
    /// Rate limit of requests that match no route.
    pub(crate) scope: Option<Scope>,
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

impl Router {
    /// # Panics
    /// When two patterns conflict: a bug in the table, which every test finds.
    pub(crate) fn new(scope: Option<Scope>, routes: impl IntoIterator<Item = Route>) -> Self {
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
        Self {
            scope,
            exact,
            patterns,
        }
    }

    /// The route of a request, and the value of its path parameter. The GET route answers HEAD, and a path with a slash
    /// behind it is that path.
    pub(crate) fn find(
        &self,
        method: &Method,
        path: &str,
    ) -> Result<(Arc<Route>, String), RouteError> {
        let without_slash = path.strip_suffix('/').filter(|path| !path.ends_with('/'));
        let exact = |path: &str| Some((self.exact.get(path)?, String::new()));
        let found = exact(path).or_else(|| exact(without_slash?));
        let found = found.or_else(|| self.by_pattern(path));
        let found = found.or_else(|| self.by_pattern(without_slash?));
        let (methods, parameter) = found.ok_or(RouteError::Path)?;
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

    fn by_pattern(&self, path: &str) -> Option<(&Methods, String)> {
        let found = self.patterns.at(path).ok()?;
        let parameter = found.params.iter().next().map_or("", |(_, value)| value);
        Some((found.value, parameter.to_owned()))
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
    use crate::http::answer::Answer;
    use crate::http::failure::Failure;
    use crate::http::request_context::RequestContext;
    use crate::http::route::{delete, get, post};

    async fn zero(_: RequestContext) -> Result<Answer, Failure> {
        Ok(Answer::json("0"))
    }

    fn router() -> Router {
        let routes = [
            get("/book", None, zero).body(1),
            post("/order", None, zero).body(2),
            delete("/order", None, zero).body(3),
            get("/markets/{condition}", None, zero).body(4),
            get("/markets/live", None, zero).body(5),
            delete("/rewards/{*rest}", None, zero).body(6),
            delete("/rewards/own", None, zero).body(7),
        ];
        Router::new(None, routes)
    }

    #[test]
    fn paths_match_exactly_or_by_pattern() {
        let routes = router();
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
        assert_eq!(find(Method::GET, "/markets/0xab/"), ok(4, "0xab"));
        assert_eq!(find(Method::GET, "/book/"), ok(1, ""));
        assert_eq!(find(Method::DELETE, "/rewards/own/"), ok(7, ""));
        assert_eq!(find(Method::GET, "/markets/live"), ok(5, ""));
        assert_eq!(find(Method::DELETE, "/rewards/a/b"), ok(6, "a/b"));
        for path in [
            "/",
            "//book",
            "/book//",
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
        let routes = router();
        let miss = |method, path| routes.find(&method, path).err();
        let allow = |text: &str| Some(RouteError::Method(text.to_owned()));
        assert_eq!(miss(Method::PUT, "/order"), allow("DELETE, POST"));
        assert_eq!(miss(Method::HEAD, "/order"), allow("DELETE, POST"));
        assert_eq!(miss(Method::POST, "/markets/x"), allow("GET, HEAD"));
    }
}
