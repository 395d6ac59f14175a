//! Query strings: every parser of the three surfaces accepts values within its bounds and names the
//! parameter it rejects; the encoding of the text makes no difference.

use foretell_catalog::query as catalog;
use foretell_wire::Compatibility;
use foretell_wire::data;
use foretell_wire::limits::{MAX_OFFSET, MAX_PARAMETERS, MAX_QUERY};
use foretell_wire::markets::history::HistoryQuery;
use foretell_wire::read::path::PathParameter as _;
use foretell_wire::read::query::Query;
use foretell_wire::read::query::parameters::Parameters;
use foretell_wire::read::query::trading::{
    BalanceQuery, OneToken, OrdersQuery, PageQuery, PriceQuery, TradesQuery,
};

use crate::{Seed, error_checks};

/// A parameter that no endpoint has.
const UNKNOWN: &str = "zzz";

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let query = match Query::parse(Some(text)) {
        Ok(query) => query,
        Err(failure) => return error_checks::check_trading(&failure),
    };
    assert!(text.len() <= MAX_QUERY && query.pairs().count() <= MAX_PARAMETERS);
    let encoded = encoded(&query);
    let again = (encoded.len() <= MAX_QUERY).then(|| Query::parse(Some(&encoded)));
    if let Some(again) = &again {
        assert_eq!(again.as_ref(), Ok(&query), "{encoded}");
    }
    let more = format!("{text}&{UNKNOWN}=1");
    let more = Query::parse(Some(&more)).ok();
    let more = more
        .as_ref()
        .filter(|_| query.pairs().next().is_none_or(|(name, _)| name != UNKNOWN));
    trading(&query, more);
    data_surface(&query, more);
    catalog_surface(&query, more);
}

/// The parameters, every byte encoded as `%xx`.
fn encoded(query: &Query<'_>) -> String {
    let hex = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let pairs: Vec<String> = query
        .pairs()
        .map(|(name, value)| format!("{}={}", hex(name), hex(value)))
        .collect();
    pairs.join("&")
}

/// Parses, checks the result, and parses again with an unknown parameter, which changes nothing.
fn check_lenient<T: Parameters + PartialEq + std::fmt::Debug>(
    query: &Query<'_>,
    more: Option<&Query<'_>>,
    is_within_bounds: impl Fn(&T) -> bool,
) {
    let read = T::read(query);
    match &read {
        Ok(read) => assert!(is_within_bounds(read), "{read:?}"),
        Err(failure) => error_checks::check_trading(failure),
    }
    if let Some(more) = more {
        assert_eq!(T::read(more), read, "an unknown parameter changes it");
    }
}

fn trading(query: &Query<'_>, more: Option<&Query<'_>>) {
    check_lenient::<TradesQuery>(query, more, |read| {
        let ordered = !matches!((read.before, read.after), (Some(b), Some(a)) if b < a);
        ordered && read.id.as_ref().is_none_or(|id| id.len() <= 128)
    });
    check_lenient::<OrdersQuery>(query, more, |_| true);
    check_lenient::<BalanceQuery>(query, more, |_| true);
    check_lenient::<OneToken>(query, more, |_| true);
    check_lenient::<PriceQuery>(query, more, |_| true);
    check_lenient::<PageQuery>(query, more, |page| page.next_cursor.offset() <= MAX_OFFSET);
    check_lenient::<HistoryQuery>(query, more, |read| {
        const NOW: u64 = 1_700_000_000;
        let range = read.range().expect("a range within the rules");
        let window = range.window(read.fidelity, NOW, Compatibility::Interface);
        window.to <= NOW && window.minutes >= 1
    });
}

/// As [`check_lenient`] for a surface that rejects unknown parameters.
fn check_strict<T: Parameters + std::fmt::Debug>(
    query: &Query<'_>,
    more: Option<&Query<'_>>,
    is_within_bounds: impl Fn(&T) -> bool,
) {
    match T::read(query) {
        Ok(read) => {
            assert!(is_within_bounds(&read), "{read:?}");
            let unknown = more.map(T::read);
            assert!(!matches!(unknown, Some(Ok(_))), "an unknown parameter");
        }
        Err(failure) => error_checks::check_data(&failure),
    }
}

/// Whether a filter names at least one market or event where it names any, and not too many.
fn few(markets: &data::MarketSelection) -> bool {
    match markets {
        data::MarketSelection::All => true,
        data::MarketSelection::Markets(markets) => (1..=200).contains(&markets.len()),
        data::MarketSelection::Events(events) => (1..=200).contains(&events.len()),
    }
}

fn data_surface(query: &Query<'_>, more: Option<&Query<'_>>) {
    use data::{V1List, V1Walk, V2List};
    let within = |page: data::LimitOffset, limit: usize, most: usize| {
        page.limit <= limit && page.offset <= most
    };
    let in_v2 = |limit: usize| (1..=1_000).contains(&limit);
    check_strict::<V1Walk<data::FillsQuery>>(query, more, |read| {
        within(read.page, 10_000, 10_000) && few(&read.query.markets)
    });
    check_strict::<V2List<data::FillsQuery>>(query, more, |read| {
        in_v2(read.page.limit) && few(&read.query.markets)
    });
    check_strict::<V1List<data::PositionsQuery>>(query, more, |read| {
        let short = |title: &String| title.chars().count() <= 100;
        within(read.page, 500, 10_000) && read.query.title.as_ref().is_none_or(short)
    });
    check_strict::<V2List<data::V2PositionsQuery>>(query, more, |read| {
        in_v2(read.page.limit) && few(&read.query.markets)
    });
    check_strict::<V1List<data::ClosedPositionsQuery>>(query, more, |read| {
        within(read.page, 50, 100_000) && few(&read.query.markets)
    });
    check_strict::<V1Walk<data::ActivityQuery>>(query, more, |read| within(read.page, 500, 10_000));
    check_strict::<V2List<data::ActivityFilter>>(query, more, |read| in_v2(read.page.limit));
    check_strict::<data::ValueQuery>(query, more, |_| true);
    check_strict::<data::UserQuery>(query, more, |_| true);
    check_strict::<data::OpenInterestQuery>(query, more, |read| read.condition_id.len() <= 200);
    check_strict::<data::LiveVolumeQuery>(query, more, |read| {
        few(&read.0) && read.0 != data::MarketSelection::All
    });
    check_strict::<V1List<data::LeaderboardQuery>>(query, more, |read| {
        within(read.page, 50, 1_000)
    });
    check_strict::<V2List<data::V2LeaderboardQuery>>(query, more, |read| in_v2(read.page.limit));
    check_strict::<V1List<data::BuildersQuery>>(query, more, |read| within(read.page, 50, 1_000));
    check_strict::<data::BuilderDaysQuery>(query, more, |read| (1..=90).contains(&read.limit));
    check_strict::<data::HoldersQuery>(query, more, |read| {
        (1..=200).contains(&read.markets.len()) && read.limit <= 500
    });
    check_strict::<data::V2PricesQuery>(query, more, |read| (1..=10_000).contains(&read.limit));
}

fn catalog_surface(query: &Query<'_>, more: Option<&Query<'_>>) {
    use catalog::{EventsQuery, MarketsQuery, OneQuery, SearchQuery, SeriesQuery, TagsQuery};
    let page = |page: catalog::Page| (1..=500).contains(&page.limit);
    check_strict::<EventsQuery>(query, more, |read| page(read.page));
    check_strict::<MarketsQuery>(query, more, |read| {
        page(read.page) && read.filter.ids.len() <= 500
    });
    check_strict::<SeriesQuery>(query, more, |read| page(read.page));
    check_strict::<TagsQuery>(query, more, |read| page(read.page));
    check_strict::<OneQuery>(query, more, |_| true);
    check_strict::<SearchQuery>(query, more, |read| {
        (1..=500).contains(&read.limit) && (1..=1_000_000).contains(&read.page)
    });
    for (_, value) in query.pairs() {
        match catalog::RecordId::read(value) {
            Ok(catalog::RecordId(id)) => assert!(i64::try_from(id).is_ok(), "{value:?}"),
            Err(error) => error_checks::check_trading(&error),
        }
    }
}

pub(crate) fn seeds() -> Vec<Seed> {
    const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    const MARKET: &str = "0x00000000000000000000000000000000000000000000000000000000000000c0";
    let texts = [
        ("nothing", String::new()),
        (
            "own-trades",
            format!("id=1&taker={WALLET}&market={MARKET}&asset_id={MARKET}:1&after=1&before=9&next_cursor=MTAw"),
        ),
        (
            "balance",
            "asset_type=CONDITIONAL&token_id=12345&signature_type=-1".to_owned(),
        ),
        (
            "history",
            "market=12345&interval=1w&fidelity=30".to_owned(),
        ),
        (
            "history-range",
            "market=7&startTs=1.5&endTs=1700000000&fidelity=1".to_owned(),
        ),
        ("side", "token_id=7&side=BUY".to_owned()),
        (
            "trades",
            format!("limit=10&offset=5&takerOnly=true&filterType=CASH&filterAmount=1.5&market={MARKET}&user={WALLET}&side=SELL"),
        ),
        (
            "positions",
            format!("user={WALLET}&market={MARKET},{MARKET}&sizeThreshold=0.1&redeemable=1&sortBy=CASHPNL&sortDirection=ASC&title=a%20b"),
        ),
        (
            "activity",
            format!("user={WALLET}&type=TRADE,SPLIT&start=1&end=9&sortDirection=DESC"),
        ),
        ("holders", format!("market={MARKET}&limit=3&minBalance=1")),
        (
            "events",
            "limit=500&offset=1&active=true&closed=0&order=volume,endDate&ascending=1&tag_slug=x&series_slug=y&creator=z".to_owned(),
        ),
        (
            "markets",
            format!("id=1,2&id=3&condition_ids={MARKET}&clob_token_ids=1,2&event_slug=a&slug=b&order=id"),
        ),
        (
            "search",
            "q=%F0%9F%9A%80+rocket&limit_per_type=5&page=2&search_tags=false".to_owned(),
        ),
        ("half-percent", "a=%2".to_owned()),
    ];
    let bytes = texts.map(|(name, text)| (name, text.into_bytes()));
    bytes.into()
}
