//! The catalog surface.

use polymarket_client_sdk_v2::gamma::Client;
use polymarket_client_sdk_v2::gamma::types::ParentEntityType;
use polymarket_client_sdk_v2::gamma::types::request::{
    CommentsByIdRequest, CommentsByUserAddressRequest, CommentsRequest, EventByIdRequest, EventBySlugRequest, EventTagsRequest,
    EventsRequest, MarketByIdRequest, MarketBySlugRequest, MarketTagsRequest, MarketsRequest, PublicProfileRequest,
    RelatedTagsByIdRequest, RelatedTagsBySlugRequest, SearchRequest, SeriesByIdRequest, SeriesListRequest, TagByIdRequest,
    TagBySlugRequest, TagsRequest, TeamsRequest,
};

use super::wallet;
use crate::facts::Facts;
use crate::method::{ALWAYS_EMPTY, ANSWERED, COMMENTS, Method, method};

pub fn methods(facts: &'static Facts) -> Vec<Method> {
    let client = Client::new(&facts.surfaces.catalog).expect("an address");
    let client: &'static Client = Box::leak(Box::new(client));
    let mut methods = events_and_markets(client, facts);
    methods.extend(tags(client, facts));
    methods.extend(others(client, facts));
    methods
}

fn events_and_markets(c: &'static Client, facts: &'static Facts) -> Vec<Method> {
    let (market, group, record) = (&facts.market, &facts.group, &facts.record);
    let mut all = Vec::new();
    method!(all, "gamma.events", ANSWERED, [market.event, group.id, record.id], async {
        c.events(&EventsRequest::builder().limit(500).build()).await
    });
    method!(all, "gamma.event_by_id", ANSWERED, [group.title, group.market], async {
        c.event_by_id(&EventByIdRequest::builder().id(&*group.id).build()).await
    });
    method!(all, "gamma.event_by_slug", ANSWERED, [record.id, record.market], async {
        c.event_by_slug(&EventBySlugRequest::builder().slug(&*record.slug).build()).await
    });
    method!(all, "gamma.event_tags", ANSWERED, [record.tag_slug], async {
        c.event_tags(&EventTagsRequest::builder().id(&*record.id).build()).await
    });
    method!(all, "gamma.markets", ANSWERED, [market.condition, group.market, record.market], async {
        c.markets(&MarketsRequest::builder().limit(500).build()).await
    });
    method!(all, "gamma.market_by_id", ANSWERED, [market.condition, market.yes], async {
        c.market_by_id(&MarketByIdRequest::builder().id(&*market.id).build()).await
    });
    method!(all, "gamma.market_by_slug", ANSWERED, [record.market], async {
        c.market_by_slug(&MarketBySlugRequest::builder().slug(&*record.market_slug).build()).await
    });
    method!(all, "gamma.market_tags", ANSWERED, [record.tag_slug], async {
        c.market_tags(&MarketTagsRequest::builder().id(&*record.market).build()).await
    });
    method!(all, "gamma.series", ANSWERED, [record.series], async { c.series(&SeriesListRequest::default()).await });
    method!(all, "gamma.series_by_id", ANSWERED, [record.slug], async {
        c.series_by_id(&SeriesByIdRequest::builder().id(&*record.series).build()).await
    });
    all
}

fn tags(c: &'static Client, facts: &'static Facts) -> Vec<Method> {
    let (id, slug) = (&*facts.record.tag, &*facts.record.tag_slug);
    let by_id = move || RelatedTagsByIdRequest::builder().id(id).build();
    let by_slug = move || RelatedTagsBySlugRequest::builder().slug(slug).build();
    let mut all = Vec::new();
    method!(all, "gamma.tags", ANSWERED, [slug], async { c.tags(&TagsRequest::builder().limit(300).build()).await });
    method!(all, "gamma.tag_by_id", ANSWERED, [slug], async { c.tag_by_id(&TagByIdRequest::builder().id(id).build()).await });
    method!(all, "gamma.tag_by_slug", ANSWERED, [id], async {
        c.tag_by_slug(&TagBySlugRequest::builder().slug(slug).build()).await
    });
    method!(all, "gamma.related_tags_by_id", ANSWERED, ["[]"], async move { c.related_tags_by_id(&by_id()).await });
    method!(all, "gamma.related_tags_by_slug", ANSWERED, ["[]"], async move { c.related_tags_by_slug(&by_slug()).await });
    method!(all, "gamma.tags_related_to_tag_by_id", ANSWERED, ["[]"], async move { c.tags_related_to_tag_by_id(&by_id()).await });
    method!(all, "gamma.tags_related_to_tag_by_slug", ANSWERED, ["[]"], async move {
        c.tags_related_to_tag_by_slug(&by_slug()).await
    });
    all
}

fn others(c: &'static Client, facts: &'static Facts) -> Vec<Method> {
    let wallet = wallet(facts);
    let mut all = Vec::new();
    method!(all, "gamma.status", ANSWERED, ["OK"], c.status());
    method!(all, "gamma.search", ANSWERED, [facts.group.id], async {
        c.search(&SearchRequest::builder().q(&*facts.group.title).build()).await
    });
    method!(all, "gamma.public_profile", ANSWERED, [facts.name], async move {
        c.public_profile(&PublicProfileRequest::builder().address(wallet).build()).await
    });
    method!(all, "gamma.teams", ALWAYS_EMPTY, ["[]"], async { c.teams(&TeamsRequest::default()).await });
    method!(all, "gamma.sports", ALWAYS_EMPTY, ["[]"], c.sports());
    method!(all, "gamma.sports_market_types", ALWAYS_EMPTY, ["[]"], c.sports_market_types());
    method!(all, "gamma.comments", ALWAYS_EMPTY, ["[]"], async {
        let of_event = CommentsRequest::builder().parent_entity_type(ParentEntityType::Event);
        c.comments(&of_event.parent_entity_id(&*facts.record.id).build()).await
    });
    method!(all, "gamma.comments_by_id", COMMENTS, [], async {
        c.comments_by_id(&CommentsByIdRequest::builder().id("1").build()).await
    });
    method!(all, "gamma.comments_by_user_address", ALWAYS_EMPTY, ["[]"], async move {
        c.comments_by_user_address(&CommentsByUserAddressRequest::builder().user_address(wallet).build()).await
    });
    all
}
