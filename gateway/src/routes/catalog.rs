//! Markets, events, series, tags and search of the catalog.

use crate::http::route::{Route, get};
use crate::openapi::served;
use crate::policy::rate_limits::Scope::{
    Catalog, CatalogEvents, CatalogMarkets, CatalogSearch, CatalogTags,
};
use crate::resources::catalog::{lists, public_profile, records, related_tags, unsupported};
use crate::resources::service::health;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/", Catalog, health::ok),
        get("/ok", Catalog, health::ok),
        get("/openapi.json", Catalog, served::show),
        get("/status", Catalog, health::status),
        get("/markets", CatalogMarkets, lists::markets),
        get("/markets/keyset", CatalogMarkets, lists::markets_keyset),
        get("/markets/slug/{slug}", Catalog, records::market_by_slug),
        get("/markets/{id}", Catalog, records::market),
        get("/markets/{id}/tags", Catalog, records::market_tags),
        get("/events", CatalogEvents, lists::events),
        get("/events/keyset", CatalogEvents, lists::events_keyset),
        get("/events/slug/{slug}", Catalog, records::event_by_slug),
        get("/events/{id}", Catalog, records::event),
        get("/events/{id}/tags", Catalog, records::event_tags),
        get("/series", Catalog, lists::series),
        get("/series/{id}", Catalog, records::series),
        get("/tags", CatalogTags, lists::tags),
        get("/tags/slug/{slug}", Catalog, records::tag_by_slug),
        get(
            "/tags/slug/{slug}/related-tags",
            Catalog,
            related_tags::of_slug,
        ),
        get(
            "/tags/slug/{slug}/related-tags/tags",
            Catalog,
            related_tags::tags_of_slug,
        ),
        get("/tags/{id}", Catalog, records::tag),
        get("/tags/{id}/related-tags", Catalog, related_tags::of_id),
        get(
            "/tags/{id}/related-tags/tags",
            Catalog,
            related_tags::tags_of_id,
        ),
        get("/sports", Catalog, unsupported::sports),
        get("/sports/market-types", Catalog, lists::sports_market_types),
        get("/teams", Catalog, unsupported::teams),
        get("/comments", Catalog, unsupported::comments),
        get("/comments/keyset", Catalog, unsupported::comments_keyset),
        get("/comments/{id}", Catalog, unsupported::comment),
        get(
            "/comments/user_address/{address}",
            Catalog,
            unsupported::comments,
        ),
        get("/public-profile", Catalog, public_profile::show),
        get("/public-search", CatalogSearch, lists::search),
    ]
}
