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

/// For load balancers, on a listener of their own and on the operator's.
fn probes() -> [Route; 2] {
    [
        get("/livez", None, probes::live),
        get("/readyz", None, probes::ready),
    ]
}
