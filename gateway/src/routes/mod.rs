//! The routes of each surface: what exists, what it costs, who may send it.

mod catalog;
mod data;
mod operator;
mod page;
mod streams;
mod trading;

use crate::http::route::{Route, get};
use crate::http::router::Router;
use crate::http::surface::Surface;
#[cfg(all(test, feature = "documents"))]
use crate::openapi::Document;
use crate::resources::operator::site::probes;

pub(crate) use page::PageRoutes;

/// The routes of a surface.
pub(crate) fn router(surface: Surface, page: PageRoutes) -> Router {
    Router::new(
        surface.scope(),
        match surface {
            Surface::Trading => trading::routes(page),
            Surface::Data => data::routes(),
            Surface::Catalog => catalog::routes(),
            Surface::Operator => operator::routes(),
            Surface::Health => probes().into(),
        },
    )
}

/// The routes of a document.
#[cfg(all(test, feature = "documents"))]
pub(crate) fn described(document: Document) -> Vec<Route> {
    match document {
        Document::Trading => trading::described(PageRoutes::None),
        Document::Data => data::routes(),
        Document::Catalog => catalog::routes(),
        Document::Operator => operator::routes(),
        Document::Page => page::described(true),
    }
}

/// For load balancers, on a listener of their own and on the operator's. No body is read for them.
fn probes() -> [Route; 2] {
    [
        get("/livez", None, probes::live).body(0),
        get("/readyz", None, probes::ready)
            .body(0)
            .fails_with::<probes::Ready>(&[503]),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::policy::rate_limits::{RateLimits, Scope};

    /// The paths that a scope's description names.
    fn named(scope: Scope) -> impl Iterator<Item = &'static str> {
        let mut settings = RateLimits::SETTINGS.iter();
        let found = settings.find(|(name, _)| *name == scope.name());
        let (_, description) = found.expect("a setting for each scope");
        let code = description.split('`').skip(1).step_by(2);
        code.filter_map(|code| code.split(' ').next_back().filter(|it| it.starts_with('/')))
    }

    /// Whether a name is that of a path; `/*`, `…` and a final `/` stand for all that begin so.
    fn is_named(name: &str, path: &str) -> bool {
        let start = name.trim_end_matches(['*', '…']);
        match start.len() < name.len() || (name.len() > 1 && name.ends_with('/')) {
            true => path.starts_with(start.trim_end_matches('/')),
            false => path == name,
        }
    }

    #[test]
    fn a_scope_counts_the_routes_that_its_description_names() {
        let mut routes = trading::routes(PageRoutes::Page { wallet: true });
        routes.extend(catalog::routes());
        for route in &routes {
            let scope = route.scope.expect("a scope on surfaces with limits");
            let (mut names, path) = (named(scope).peekable(), route.path);
            let is_listed = names.peek().is_none() || names.any(|name| is_named(name, path));
            assert!(is_listed, "{path} counts in {}", scope.name());
        }
        for scope in routes.iter().filter_map(|route| route.scope) {
            for name in named(scope) {
                let mut counted = routes.iter().filter(|route| route.scope == Some(scope));
                let is_counted = counted.any(|route| is_named(name, route.path));
                assert!(is_counted, "{name} is of {}", scope.name());
            }
        }
    }

    fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pages(&path, found);
            } else if path.extension().is_some_and(|it| it == "md") {
                found.push(path);
            }
        }
    }

    /// Whether a route's path is the one that a document names; `…` stands for the rest.
    fn is_path(route: &str, named: &str) -> bool {
        let (mut route, mut named) = (route.split('/'), named.split('/'));
        loop {
            return match (route.next(), named.next()) {
                (None, None) => true,
                (Some(own), _) if own.starts_with("{*") => true,
                (_, Some("…" | "*")) => true,
                (Some(own), Some(name)) if own == name => continue,
                (Some(own), Some(name)) if own.starts_with('{') && !name.is_empty() => continue,
                _ => false,
            };
        }
    }

    #[test]
    fn routes_of_the_documents_exist() {
        let mut routes = trading::routes(PageRoutes::Page { wallet: true });
        routes.extend(data::routes());
        routes.extend(catalog::routes());
        routes.extend(operator::routes());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut all = vec![root.join("README.md")];
        pages(&root.join("docs"), &mut all);
        // It lists what clients ask for and this exchange does not have, too.
        all.retain(|page| !page.ends_with("client-methods.md"));
        let (mut count, mut unknown) = (0, Vec::new());
        for page in all {
            let text = fs::read_to_string(&page).unwrap();
            for code in text.split('`').skip(1).step_by(2) {
                let Some((method, rest)) = code.split_once(' ') else {
                    continue;
                };
                let path = rest.split([' ', '?', ',']).next().unwrap_or_default();
                let is_method = ["GET", "POST", "PUT", "DELETE"].contains(&method);
                if !is_method || !path.starts_with('/') {
                    continue;
                }
                count += 1;
                let mut routes = routes.iter();
                if !routes.any(|it| it.method == method && is_path(it.path, path)) {
                    unknown.push(format!("{}: {method} {path}", page.display()));
                }
            }
        }
        assert!(count > 150, "only {count} routes were found");
        assert!(unknown.is_empty(), "{unknown:#?}");
    }

    /// `/ws` alone is another name of both channels.
    #[test]
    fn the_channels_of_the_streams_are_documented() {
        const DOCUMENT: &str = include_str!("../../../docs/asyncapi/streams.yaml");
        let addresses = DOCUMENT
            .lines()
            .filter_map(|line| line.strip_prefix("    address: "));
        let routes = streams::routes().map(|route| route.path);
        let routes: BTreeSet<_> = routes.into_iter().filter(|path| *path != "/ws").collect();
        assert_eq!(addresses.collect::<BTreeSet<_>>(), routes);
    }
}
