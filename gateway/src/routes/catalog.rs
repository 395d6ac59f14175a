//! Markets, events, series, tags and search of the catalog.

use foretell_wire::ErrorCode;

use crate::http::endpoint::Endpoint;
use crate::http::route::{Route, get};
use crate::openapi::served;
use crate::policy::rate_limits::Scope::{
    self, Catalog, CatalogEvents, CatalogMarkets, CatalogSearch, CatalogTags,
};
use crate::resources::catalog::{READ, lists, public_profile, records, related_tags, unsupported};
use crate::resources::service::health;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/", Catalog, health::ok),
        get("/ok", Catalog, health::ok),
        get("/openapi.json", Catalog, served::show),
        get("/status", Catalog, health::status),
        list("/markets", CatalogMarkets, lists::markets),
        list("/markets/keyset", CatalogMarkets, lists::markets_keyset),
        by_slug("/markets/slug/{slug}", records::market_by_slug),
        by_id("/markets/{id}", records::market),
        by_id("/markets/{id}/tags", records::market_tags),
        list("/events", CatalogEvents, lists::events),
        list("/events/keyset", CatalogEvents, lists::events_keyset),
        by_slug("/events/slug/{slug}", records::event_by_slug),
        by_id("/events/{id}", records::event),
        by_id("/events/{id}/tags", records::event_tags),
        list("/series", Catalog, lists::series),
        by_id("/series/{id}", records::series),
        list("/tags", CatalogTags, lists::tags),
        by_slug("/tags/slug/{slug}", records::tag_by_slug),
        by_slug("/tags/slug/{slug}/related-tags", related_tags::of_slug),
        by_slug(
            "/tags/slug/{slug}/related-tags/tags",
            related_tags::tags_of_slug,
        ),
        by_id("/tags/{id}", records::tag),
        by_id("/tags/{id}/related-tags", related_tags::of_id),
        by_id("/tags/{id}/related-tags/tags", related_tags::tags_of_id),
        get("/sports", Catalog, unsupported::sports),
        list("/sports/market-types", Catalog, lists::sports_market_types),
        get("/teams", Catalog, unsupported::teams),
        get("/comments", Catalog, unsupported::comments),
        get("/comments/keyset", Catalog, unsupported::comments_keyset),
        get("/comments/{id}", Catalog, unsupported::comment).errors(&[&[ErrorCode::IdNotFound]]),
        get(
            "/comments/user_address/{address}",
            Catalog,
            unsupported::comments_of_user,
        ),
        by_id("/public-profile", public_profile::show),
        list("/public-search", CatalogSearch, lists::search),
    ]
}

fn list<Parts>(path: &'static str, scope: Scope, endpoint: impl Endpoint<Parts>) -> Route {
    get(path, scope, endpoint).errors(&[READ]).large()
}

fn by_id<Parts>(path: &'static str, endpoint: impl Endpoint<Parts>) -> Route {
    get(path, Catalog, endpoint).errors(&[READ, &[ErrorCode::IdNotFound]])
}

fn by_slug<Parts>(path: &'static str, endpoint: impl Endpoint<Parts>) -> Route {
    get(path, Catalog, endpoint).errors(&[READ, &[ErrorCode::SlugNotFound]])
}
