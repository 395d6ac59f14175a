//! The catalog surface.

use polyoxide_polymarket::Polymarket;
use polyoxide_polymarket::gamma::types::{MarketsInformationBody, ParentEntityType};

use crate::facts::Facts;
use crate::method::{ALWAYS_EMPTY, ANSWERED, COMMENTS, Method, Outcome, method};

pub fn methods(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let mut methods = events(p, facts);
    methods.extend(markets(p, facts));
    methods.extend(series_and_tags(p, facts));
    methods.extend(others(p, facts));
    methods
}

const CREATORS: Outcome = Outcome::NotOffered("events have no creators");

fn events(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let (own, group, record) = (&*facts.market.event, &*facts.group.id, &*facts.record.id);
    let counts = Outcome::NotOffered("there are no such counts");
    let keyset = Outcome::NotOffered("`/events/keyset` pages lists of events");
    let mut all = Vec::new();
    method!(all, "gamma.events.list", ANSWERED, [own, group, record], p.gamma.events().list().limit(500).send());
    method!(all, "gamma.events.list_keyset", ANSWERED, [own, group, record], p.gamma.events().list_keyset().limit(500).send());
    method!(all, "gamma.events.list_paginated", keyset, [], p.gamma.events().list_paginated().send());
    method!(
        all,
        "gamma.events.list_results",
        Outcome::NotOffered("an event says its results itself"),
        [],
        p.gamma.events().list_results().send()
    );
    method!(all, "gamma.events.list_creators", CREATORS, [], p.gamma.events().list_creators().send());
    method!(all, "gamma.events.get_creator", CREATORS, [], p.gamma.events().get_creator("1").send());
    method!(all, "gamma.events.get", ANSWERED, [facts.group.title, facts.group.market], p.gamma.events().get(group).send());
    method!(
        all,
        "gamma.events.get_by_slug",
        ANSWERED,
        [record, facts.record.market],
        p.gamma.events().get_by_slug(&facts.record.slug).send()
    );
    method!(all, "gamma.events.tags", ANSWERED, [facts.record.tag_slug], p.gamma.events().tags(record).send());
    method!(all, "gamma.events.tweet_count", counts, [], p.gamma.events().tweet_count(record).send());
    method!(all, "gamma.events.comment_count", counts, [], p.gamma.events().comment_count(record).send());
    all
}

fn markets(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let (market, question, record) = (&facts.market, &*facts.group.market, &*facts.record.market);
    let number = || market.id.parse::<i64>().expect("a number");
    let body = move || MarketsInformationBody { id: vec![number()], ..MarketsInformationBody::default() };
    let by_body = Outcome::NotOffered("`GET /markets` has the same filters");
    let mut all = Vec::new();
    method!(
        all,
        "gamma.markets.list",
        ANSWERED,
        [market.condition, question, record],
        p.gamma.markets().list().limit(500).send()
    );
    method!(
        all,
        "gamma.markets.list_keyset",
        ANSWERED,
        [market.condition, question, record],
        p.gamma.markets().list_keyset().limit(500).send()
    );
    method!(all, "gamma.markets.get", ANSWERED, [market.condition, market.yes], p.gamma.markets().get(&market.id).send());
    method!(
        all,
        "gamma.markets.get_by_slug",
        ANSWERED,
        [record],
        p.gamma.markets().get_by_slug(&facts.record.market_slug).send()
    );
    method!(all, "gamma.markets.get_many", ANSWERED, [market.condition], p.gamma.markets().get_many([number()]).send());
    method!(all, "gamma.markets.tags", ANSWERED, [facts.record.tag_slug], p.gamma.markets().tags(record).send());
    method!(
        all,
        "gamma.markets.get_description",
        Outcome::NotOffered("a market says its description itself"),
        [],
        p.gamma.markets().get_description(&market.id).send()
    );
    method!(all, "gamma.markets.query_by_information", by_body, [], p.gamma.markets().query_by_information(body()).send());
    method!(all, "gamma.markets.query_abridged", by_body, [], p.gamma.markets().query_abridged(body()).send());
    all
}

fn series_and_tags(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let (series, tag, slug) = (&*facts.record.series, &*facts.record.tag, &*facts.record.tag_slug);
    let summaries = Outcome::NotOffered("`GET /series/{id}` has the events of a series");
    let mut all = Vec::new();
    method!(all, "gamma.series.list", ANSWERED, [series], p.gamma.series().list().send());
    method!(all, "gamma.series.get", ANSWERED, [facts.record.slug], p.gamma.series().get(series).send());
    method!(all, "gamma.series.get_summary", summaries, [], p.gamma.series().get_summary(series).send());
    method!(
        all,
        "gamma.series.get_summary_by_slug",
        summaries,
        [],
        p.gamma.series().get_summary_by_slug("schema-test-series").send()
    );
    method!(all, "gamma.series.comment_count", COMMENTS, [], p.gamma.series().comment_count(series).send());
    method!(all, "gamma.tags.list", ANSWERED, [slug], p.gamma.tags().list().limit(300).send());
    method!(all, "gamma.tags.get", ANSWERED, [slug], p.gamma.tags().get(tag).send());
    method!(all, "gamma.tags.get_by_slug", ANSWERED, [tag], p.gamma.tags().get_by_slug(slug).send());
    method!(all, "gamma.tags.get_related", ANSWERED, ["[]"], p.gamma.tags().get_related(tag).send());
    method!(all, "gamma.tags.get_related_by_slug", ANSWERED, ["[]"], p.gamma.tags().get_related_by_slug(slug).send());
    method!(all, "gamma.tags.get_related_detailed", ANSWERED, ["[]"], p.gamma.tags().get_related_detailed(tag).send());
    method!(
        all,
        "gamma.tags.get_related_detailed_by_slug",
        ANSWERED,
        ["[]"],
        p.gamma.tags().get_related_detailed_by_slug(slug).send()
    );
    all
}

fn others(p: &'static Polymarket, facts: &'static Facts) -> Vec<Method> {
    let wallet = &*facts.wallet;
    let mut all = Vec::new();
    method!(all, "gamma.sports.list", ALWAYS_EMPTY, ["[]"], p.gamma.sports().list().send());
    method!(all, "gamma.sports.market_types", ALWAYS_EMPTY, ["[]"], p.gamma.sports().market_types().send());
    method!(all, "gamma.sports.list_teams", ALWAYS_EMPTY, ["[]"], p.gamma.sports().list_teams().send());
    method!(all, "gamma.sports.get_team", Outcome::NotOffered("there are no teams"), [], p.gamma.sports().get_team("1").send());
    method!(
        all,
        "gamma.comments.list",
        ALWAYS_EMPTY,
        ["[]"],
        p.gamma.comments().list().parent_entity_type(ParentEntityType::Event).parent_entity_id(1).send()
    );
    method!(all, "gamma.comments.get", COMMENTS, [], p.gamma.comments().get("1").send());
    method!(all, "gamma.comments.by_user", ALWAYS_EMPTY, ["[]"], p.gamma.comments().by_user(wallet).send());
    method!(
        all,
        "gamma.search.public_search",
        ANSWERED,
        [facts.group.id],
        p.gamma.search().public_search(&facts.group.title).send()
    );
    method!(all, "gamma.user.get", ANSWERED, [facts.name], p.gamma.user().get(wallet).send());
    method!(
        all,
        "gamma.user.get_by_address",
        Outcome::NotOffered("`GET /public-profile` has the profile"),
        [],
        p.gamma.user().get_by_address(wallet).send()
    );
    method!(all, "gamma.health.ping", ANSWERED, [], p.gamma.health().ping());
    all
}
