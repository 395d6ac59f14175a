//! Which path and method is answered by what. Paths match exactly; those with a part that varies
//! go through `matchit`.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use foretell_wire::TokenRef;
use foretell_wire::query::Query;
use http::Method;

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::glance::AtAGlance;
use crate::texts::Saying;

/// A handler on its way.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send>>;

/// What answers a request.
#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    /// Name in metrics and logs: the route, never what a client wrote.
    pub(crate) name: &'static str,
    /// Longest body in bytes.
    pub(crate) body_limit: usize,
    /// The handler.
    pub(crate) handle: fn(Call) -> Handling,
}

/// The routes of one surface.
#[derive(Default)]
pub(crate) struct Routes {
    exact: HashMap<&'static str, Methods, RandomState>,
    /// A handful, told apart by their lengths.
    hot: Vec<(&'static str, AtAGlance)>,
    patterns: matchit::Router<Methods>,
    pattern_methods: HashMap<&'static str, Methods>,
}

type Methods = Vec<(Method, Endpoint)>;

/// Why a request has no endpoint.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Miss {
    /// No such path.
    Path,
    /// The path has other methods: these.
    Method(String),
}

impl Routes {
    /// Adds an endpoint. A path with `{name}` has one part that varies, or `{*name}` a tail.
    pub(crate) fn add(
        mut self,
        method: Method,
        path: &'static str,
        body_limit: usize,
        handle: fn(Call) -> Handling,
    ) -> Self {
        let endpoint = Endpoint {
            name: path,
            body_limit,
            handle,
        };
        if path.contains('{') {
            self.pattern_methods
                .entry(path)
                .or_default()
                .push((method, endpoint));
        } else {
            self.exact.entry(path).or_default().push((method, endpoint));
        }
        self
    }

    /// Lets the `GET` of a path, which is exact, be answered at a glance where that is possible.
    pub(crate) fn hot(
        mut self,
        path: &'static str,
        asked: fn(&App, &Query<'_>) -> Option<(TokenRef, Saying)>,
    ) -> Self {
        let meter = OnceLock::new();
        self.hot.push((path, AtAGlance { asked, meter }));
        self
    }

    /// How the `GET` of a path is answered at a glance, and the name of its route.
    pub(crate) fn at_a_glance(&self, path: &str) -> Option<(&'static str, &AtAGlance)> {
        let (name, hot) = self.hot.iter().find(|(name, _)| *name == path)?;
        Some((name, hot))
    }

    /// Adds one endpoint for every usual method of each path.
    pub(crate) fn add_all(
        self,
        paths: &[&'static str],
        body_limit: usize,
        handle: fn(Call) -> Handling,
    ) -> Self {
        const METHODS: [Method; 5] = [
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
        ];
        let pairs = paths
            .iter()
            .flat_map(|path| METHODS.map(|method| (method, *path)));
        pairs.fold(self, |routes, (method, path)| {
            routes.add(method, path, body_limit, handle)
        })
    }

    /// The table, complete.
    ///
    /// # Panics
    /// When two patterns contradict each other: a mistake in the table, found by every test.
    pub(crate) fn build(mut self) -> Self {
        for (path, methods) in self.pattern_methods.drain() {
            self.patterns
                .insert(path, methods)
                .expect("patterns do not overlap");
        }
        self
    }

    /// The endpoint of a request, and what stands for the part of its path that varies. A HEAD is
    /// answered by the GET.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Result<(Endpoint, String), Miss> {
        let (methods, parameter) = match self.exact.get(path) {
            Some(methods) => (methods, String::new()),
            None => {
                let found = self.patterns.at(path).map_err(|_| Miss::Path)?;
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
            .find(|(method, _)| method == wanted)
            .map(|(_, endpoint)| (*endpoint, parameter))
            .ok_or_else(|| Miss::Method(allowed(methods)))
    }
}

fn allowed(methods: &Methods) -> String {
    let mut names: Vec<_> = methods.iter().map(|(method, _)| method.as_str()).collect();
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
        let handle = |_: Call| -> Handling { Box::pin(async { Ok(Answer::json("0")) }) };
        Routes::default()
            .add(Method::GET, "/book", 1, handle)
            .add(Method::POST, "/order", 2, handle)
            .add(Method::DELETE, "/order", 3, handle)
            .add(Method::GET, "/markets/{condition}", 4, handle)
            .add(Method::GET, "/markets/live", 5, handle)
            .add_all(&["/rewards/{*rest}", "/rfq"], 6, handle)
            .build()
    }

    #[test]
    fn paths_match_exactly_or_by_pattern() {
        let routes = routes();
        let find = |method: Method, path: &str| {
            routes
                .find(&method, path)
                .map(|(endpoint, text)| (endpoint.body_limit, text))
        };
        let ok = |limit, text: &str| Ok((limit, text.to_owned()));
        assert_eq!(find(Method::GET, "/book"), ok(1, ""));
        assert_eq!(find(Method::HEAD, "/book"), ok(1, ""));
        assert_eq!(find(Method::DELETE, "/order"), ok(3, ""));
        assert_eq!(find(Method::GET, "/markets/0xab"), ok(4, "0xab"));
        assert_eq!(find(Method::GET, "/markets/live"), ok(5, ""));
        assert_eq!(find(Method::GET, "/rewards/a/b"), ok(6, "a/b"));
        assert_eq!(find(Method::DELETE, "/rewards/a/b"), ok(6, "a/b"));
        assert_eq!(find(Method::POST, "/rfq"), ok(6, ""));
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
            assert_eq!(find(Method::GET, path), Err(Miss::Path), "{path}");
        }
    }

    #[test]
    fn another_method_is_told_which_are_allowed() {
        let routes = routes();
        let miss = |method, path| routes.find(&method, path).err();
        let allow = |text: &str| Some(Miss::Method(text.to_owned()));
        assert_eq!(miss(Method::PUT, "/order"), allow("DELETE, POST"));
        assert_eq!(miss(Method::HEAD, "/order"), allow("DELETE, POST"));
        assert_eq!(miss(Method::POST, "/markets/x"), allow("GET, HEAD"));
    }
}
