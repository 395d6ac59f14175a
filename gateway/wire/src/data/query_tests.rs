//! Every parameter of every endpoint: its default, its bounds, and each invalid form.

use foretell_model::{ConditionId, Lots, Price, Side, TimeSeconds, WalletAddress};
use proptest::prelude::*;
use rstest::rstest;

use super::{
    ActivityFilter, ActivityKind, ActivityQuery, ActivitySort, BuildersQuery, ClosedPositionsQuery,
    Direction, FillsQuery, FrameRow, HoldersQuery, LeaderboardQuery, LeaderboardSort, LimitOffset,
    LiveVolumeQuery, MarketRef, MarketSelection, MinimumFill, OpenInterestQuery, PositionSort,
    PositionsQuery, TimePeriod, TimeRange, UserQuery, V1List, V1Walk, V2List, V2PricesQuery,
    ValueQuery,
};
use crate::compatibility::Compatibility;
use crate::read::query::parameter::Parameter;
use crate::read::query::parameters::Parameters;

const USER: &str = "0x1111111111111111111111111111111111111111";
const MARKET: &str = "0x0202020202020202020202020202020202020202020202020202020202020202";
const OTHER: &str = "0x0303030303030303030303030303030303030303030303030303030303030303";

/// The error of an endpoint for a query string, or `None`.
fn refused<T: Parameters>(text: &str) -> Option<String> {
    T::read_text(Some(text)).err().map(|error| {
        assert_eq!(error.status(), 400, "{error}");
        error.to_string()
    })
}

/// [`refused`] for the endpoint of a path.
fn ask(endpoint: &str, text: &str) -> Option<String> {
    match endpoint {
        "trades" => refused::<V1Walk<FillsQuery>>(text),
        "positions" => refused::<V1List<PositionsQuery>>(text),
        "closed-positions" => refused::<V1List<ClosedPositionsQuery>>(text),
        "holders" => refused::<HoldersQuery>(text),
        "activity" => refused::<V1Walk<ActivityQuery>>(text),
        "value" => refused::<ValueQuery>(text),
        "traded" => refused::<UserQuery>(text),
        "oi" => refused::<OpenInterestQuery>(text),
        "live-volume" => refused::<LiveVolumeQuery>(text),
        "leaderboard" => refused::<V1List<LeaderboardQuery>>(text),
        "builders" => refused::<V1List<BuildersQuery>>(text),
        "builder-volume" => refused::<BuildersQuery>(text),
        other => panic!("{other}"),
    }
}

/// The required parameters of an endpoint.
fn required(endpoint: &str) -> String {
    match endpoint {
        "trades" | "oi" | "leaderboard" | "builders" | "builder-volume" => String::new(),
        "holders" | "live-volume" => format!("market={MARKET}&"),
        _ => format!("user={USER}&"),
    }
}

fn parse<T: Parameters>(text: &str) -> T {
    T::read_text(Some(text)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn what_is_not_given_has_its_default() {
    let page = |limit| LimitOffset { limit, offset: 0 };
    assert_eq!(
        parse::<V1List<FillsQuery>>(""),
        V1List {
            query: FillsQuery {
                taker_only: true,
                minimum: None,
                markets: MarketSelection::All,
                user: None,
                side: None,
                time: TimeRange::default(),
            },
            page: page(100),
        }
    );
    let user = WalletAddress([0x11; 20]);
    assert_eq!(
        parse::<V1List<PositionsQuery>>(&format!("user={USER}")),
        V1List {
            query: PositionsQuery {
                user,
                markets: MarketSelection::All,
                least: 1_000_000,
                redeemable: false,
                mergeable: false,
                include_archived: true,
                sort: PositionSort::Tokens,
                direction: Direction::Descending,
                title: None,
            },
            page: page(100),
        }
    );
    assert_eq!(
        parse::<V1List<ClosedPositionsQuery>>(&format!("user={USER}")),
        V1List {
            query: ClosedPositionsQuery {
                user,
                markets: MarketSelection::All,
                title: None,
                sort: PositionSort::RealizedPnl,
                direction: Direction::Descending,
            },
            page: page(10),
        }
    );
    let holders = parse::<HoldersQuery>(&format!("market={MARKET}"));
    assert_eq!((holders.limit, holders.least), (100, 1_000_000));
    let activity = parse::<V1List<ActivityQuery>>(&format!("user={USER}"));
    assert_eq!(
        (activity.page, activity.query.filter.sort_direction),
        (page(100), Direction::Descending)
    );
}

#[test]
fn what_is_given_is_taken() {
    let text = format!(
        "limit=10000&offset=10000&takerOnly=0&filterType=CASH&filterAmount=2.5&market={MARKET},{OTHER}\
         &market={MARKET}&user={USER}&side=SELL&start=4&end=9"
    );
    assert_eq!(
        parse::<V1List<FillsQuery>>(&text),
        V1List {
            query: FillsQuery {
                taker_only: false,
                minimum: Some(MinimumFill::Cash(2_500_000)),
                markets: MarketSelection::Markets(
                    [2, 3]
                        .map(|byte| MarketRef::Condition(ConditionId([byte; 32])))
                        .to_vec()
                ),
                user: Some(WalletAddress([0x11; 20])),
                side: Some(Side::Sell),
                time: TimeRange {
                    start: Some(4),
                    end: Some(9),
                },
            },
            page: LimitOffset {
                limit: 10_000,
                offset: 10_000
            },
        }
    );
    let text = format!(
        "user={USER}&sizeThreshold=0&redeemable=true&mergeable=1&limit=0&sortBy=RESOLVING\
         &sortDirection=ASC&title=%C3%84"
    );
    let V1List {
        query: positions,
        page,
    } = parse::<V1List<PositionsQuery>>(&text);
    assert_eq!(
        (positions.least, positions.redeemable, positions.mergeable),
        (0, true, true)
    );
    assert_eq!((positions.sort, page.limit), (PositionSort::Resolving, 0));
    assert_eq!(positions.direction, Direction::Ascending);
    assert_eq!(positions.title.as_deref(), Some("Ä"));
    let text = format!("user={USER}&type=TRADE,REDEEM&type=SPLIT&start=5&end=5&sortBy=TIMESTAMP");
    let activity = parse::<V1List<ActivityQuery>>(&text).query.filter;
    let kinds = [
        ActivityKind::Trade,
        ActivityKind::Redeem,
        ActivityKind::Split,
    ];
    assert_eq!(activity.kinds, kinds);
    assert!(activity.admits(ActivityKind::Redeem, TimeSeconds(5)));
    assert!(!activity.admits(ActivityKind::Merge, TimeSeconds(5)));
    assert!(!activity.admits(ActivityKind::Trade, TimeSeconds(4)));
    assert!(!activity.admits(ActivityKind::Trade, TimeSeconds(6)));
}

/// All sorts that the interface names, and no others.
#[test]
fn the_sorts_are_those_of_the_interface() {
    for (endpoint, sorts) in [
        (
            "positions",
            "CURRENT INITIAL TOKENS CASHPNL PERCENTPNL TITLE RESOLVING PRICE AVGPRICE",
        ),
        (
            "closed-positions",
            "REALIZEDPNL TITLE PRICE AVGPRICE TIMESTAMP",
        ),
        ("activity", "TIMESTAMP TOKENS CASH"),
    ] {
        for sort in sorts.split(' ') {
            assert_eq!(
                ask(endpoint, &format!("user={USER}&sortBy={sort}")),
                None,
                "{sort}"
            );
        }
        for sort in ["tokens", "SIZE", "PRICE,TITLE"] {
            let text = ask(endpoint, &format!("user={USER}&sortBy={sort}")).expect(sort);
            assert!(text.starts_with("invalid_field: sortBy: "), "{text}");
        }
    }
}

#[rstest]
#[case("trades", "limit", 10_000)]
#[case("trades", "offset", 10_000)]
#[case("positions", "limit", 500)]
#[case("positions", "offset", 10_000)]
#[case("closed-positions", "limit", 50)]
#[case("closed-positions", "offset", 100_000)]
#[case("holders", "limit", 500)]
#[case("activity", "limit", 500)]
#[case("activity", "offset", 10_000)]
#[case("leaderboard", "limit", 50)]
#[case("leaderboard", "offset", 1_000)]
#[case("builders", "limit", 50)]
#[case("builders", "offset", 1_000)]
fn an_integer_keeps_its_bounds(#[case] endpoint: &str, #[case] name: &str, #[case] largest: u32) {
    let required = required(endpoint);
    for good in [
        "0".to_owned(),
        largest.to_string(),
        "007".to_owned(),
        String::new(),
    ] {
        assert_eq!(
            ask(endpoint, &format!("{required}{name}={good}")),
            None,
            "{good}"
        );
    }
    for bad in [
        "-1",
        &(largest + 1).to_string(),
        "1e3",
        "1.0",
        "+1",
        "%201",
        "0x10",
        "12345678901234567890",
        "99999999999999999999",
        "4294967296",
        "NaN",
        "%EF%BC%91",
        "null",
    ] {
        let text = ask(endpoint, &format!("{required}{name}={bad}")).expect(bad);
        let allowed = format!("is not an integer from 0 to {largest}");
        assert!(
            text.starts_with(&format!("invalid_field: {name}: '")),
            "{text}"
        );
        assert!(text.ends_with(&allowed), "{text}");
    }
    let twice = ask(endpoint, &format!("{required}{name}=1&{name}=1"));
    let expected = format!("invalid_field: {name}: it is repeated, allowed: once");
    assert_eq!(twice, Some(expected));
}

#[rstest]
#[case("trades", "filterAmount")]
#[case("positions", "sizeThreshold")]
#[case("holders", "minBalance")]
fn a_number_is_digits_with_up_to_six_decimals(#[case] endpoint: &str, #[case] name: &str) {
    let required = match name {
        "filterAmount" => "filterType=CASH&".to_owned(),
        _ => required(endpoint),
    };
    for good in [
        "0",
        "0.0",
        "1",
        "0.000001",
        "1000000000",
        "18446744073709.551615",
    ] {
        assert_eq!(
            ask(endpoint, &format!("{required}{name}={good}")),
            None,
            "{good}"
        );
    }
    for bad in [
        "-0",
        "-1",
        "-0.5",
        "NaN",
        "nan",
        "Infinity",
        "inf",
        "-inf",
        "1e3",
        ".5",
        "1.",
        "1,5",
        "0.0000001",
        "18446744073709.551616",
        "12345678901234567890",
        "1_000",
        "+1",
        "0x1",
    ] {
        let text = ask(endpoint, &format!("{required}{name}={bad}")).expect(bad);
        assert!(
            text.starts_with(&format!("invalid_field: {name}: '")),
            "{text}"
        );
    }
}

#[rstest]
#[case("trades", "takerOnly")]
#[case("positions", "redeemable")]
#[case("positions", "mergeable")]
fn a_boolean_has_four_words(#[case] endpoint: &str, #[case] name: &str) {
    let required = required(endpoint);
    for good in ["true", "false", "True", "False", "1", "0"] {
        assert_eq!(ask(endpoint, &format!("{required}{name}={good}")), None);
    }
    for bad in ["TRUE", "yes", "2", "-1", "null", "true,false"] {
        let text = ask(endpoint, &format!("{required}{name}={bad}")).expect(bad);
        let expected = "is not true, false, 1 or 0";
        assert!(
            text.starts_with(&format!("invalid_field: {name}: '")),
            "{text}"
        );
        assert!(text.ends_with(expected), "{text}");
    }
}

#[rstest]
#[case("positions")]
#[case("closed-positions")]
#[case("activity")]
#[case("value")]
#[case("traded")]
fn a_user_is_required_and_is_an_address(#[case] endpoint: &str) {
    for absent in ["", "user=", "user"] {
        assert_eq!(
            ask(endpoint, absent).as_deref(),
            Some("missing_field: user")
        );
    }
    for bad in [
        "0x12",
        &USER[2..],
        &format!("{USER}0"),
        "0xzz11111111111111111111111111111111111111",
    ] {
        let text = ask(endpoint, &format!("user={bad}")).expect(bad);
        assert!(text.starts_with("invalid_field: user: '"), "{text}");
    }
    let twice = ask(endpoint, &format!("user={USER}&user={USER}"));
    assert_eq!(
        twice.as_deref(),
        Some("invalid_field: user: it is repeated, allowed: once")
    );
    assert_eq!(
        ask(
            endpoint,
            &format!("user={}", USER.to_uppercase().replace("0X", "0x"))
        ),
        None
    );
}

#[rstest]
#[case("holders", true)]
#[case("oi", false)]
#[case("trades", false)]
#[case("positions", false)]
#[case("closed-positions", false)]
#[case("activity", false)]
#[case("value", false)]
fn a_list_of_markets_may_be_cut_by_commas_or_repeated(
    #[case] endpoint: &str,
    #[case] is_required: bool,
) {
    let required = if is_required {
        String::new()
    } else {
        required(endpoint)
    };
    for good in [
        format!("market={MARKET},{OTHER}"),
        format!("market={MARKET}&market={OTHER}"),
        format!("market={MARKET},,{OTHER},"),
        format!("market={MARKET}%2C{OTHER}"),
        format!("market={MARKET}:0,7"),
    ] {
        assert_eq!(ask(endpoint, &format!("{required}{good}")), None, "{good}");
    }
    for of_nothing in [",", ",,"] {
        assert_eq!(
            ask(endpoint, &format!("{required}market={of_nothing}")),
            Some(format!(
                "invalid_field: market: '{of_nothing}' is not a list"
            )),
        );
    }
    for empty in ["", "market="] {
        let expected = is_required.then(|| "missing_field: market".to_owned());
        assert_eq!(
            ask(endpoint, &format!("{required}{empty}")),
            expected,
            "{empty}"
        );
    }
    for bad in ["0x12", &format!("{MARKET}:2"), &format!("{MARKET},x"), "-7"] {
        let text = ask(endpoint, &format!("{required}market={bad}")).expect(bad);
        assert!(text.starts_with("invalid_field: market: '"), "{text}");
    }
    // A query string of the maximum length holds fewer markets than the limit.
    let long = vec![MARKET; 120].join(",");
    assert_eq!(ask(endpoint, &format!("{required}market={long}")), None);
    let endless = vec![MARKET; 10_000].join(",");
    let text = ask(endpoint, &format!("{required}market={endless}"));
    assert_eq!(
        text.as_deref(),
        Some("invalid_field: query: longer than 8192 bytes")
    );
}

#[rstest]
#[case("positions")]
#[case("closed-positions")]
fn a_title_has_up_to_100_characters(#[case] endpoint: &str) {
    let title = |text: &str| ask(endpoint, &format!("user={USER}&title={text}"));
    for good in [
        "x".repeat(100),
        "%F0%9F%8C%8D".repeat(100),
        "a+b%26c".to_owned(),
    ] {
        assert_eq!(title(&good), None, "{good}");
    }
    for bad in ["x".repeat(101), "%F0%9F%8C%8D".repeat(101)] {
        let text = title(&bad).expect("too long");
        assert!(text.starts_with("invalid_field: title: '"), "{text}");
        assert!(
            text.ends_with("is not a text of at most 100 characters"),
            "{text}"
        );
    }
    for bad in ["%FF", "%", "%4"] {
        let text = title(bad).expect(bad);
        assert!(text.starts_with("invalid_field: query: "), "{text}");
    }
}

#[rstest]
#[case("filterType=CASH", "missing_field: filterAmount")]
#[case("filterAmount=5", "missing_field: filterType")]
#[case("filterType=CASH&filterAmount=", "missing_field: filterAmount")]
#[case(
    "filterType=cash&filterAmount=1",
    "invalid_field: filterType: 'cash' is not one of CASH, TOKENS"
)]
#[case(
    "filterType=CASH&filterAmount=-0",
    "invalid_field: filterAmount: '-0' is not a number from 0 to 18446744073709.551615 with at most 6 decimals"
)]
#[case(
    "filterAmount=-1",
    "invalid_field: filterAmount: '-1' is not a number from 0 to 18446744073709.551615 with at most 6 decimals"
)]
#[case("side=buy", "invalid_field: side: 'buy' is not one of BUY, SELL")]
#[case(
    "side=BUY&side=SELL",
    "invalid_field: side: it is repeated, allowed: once"
)]
#[case(
    "takerOnly=1&takerOnly=1",
    "invalid_field: takerOnly: it is repeated, allowed: once"
)]
#[case(
    "user=7",
    "invalid_field: user: '7' is not an address, 0x and 40 hex digits"
)]
fn trades_say_what_is_wrong(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(ask("trades", text).as_deref(), Some(expected));
}

#[rstest]
#[case(
    "type=BUY",
    "invalid_field: type: 'BUY' is not one of TRADE, SPLIT, MERGE, REDEEM, CONVERSION, MAKER_REBATE, DEPOSIT, WITHDRAWAL"
)]
#[case(
    "start=2&end=1",
    "invalid_field: end: '1' is not a time from start (2) on"
)]
#[case(
    "start=-1",
    "invalid_field: start: '-1' is not unix seconds, 0 to 253402300799, not milliseconds"
)]
#[case(
    "start=1790000000000",
    "invalid_field: start: '1790000000000' is not unix seconds, 0 to 253402300799, not milliseconds"
)]
#[case(
    "sortBy=PRICE",
    "invalid_field: sortBy: 'PRICE' is not one of TIMESTAMP, TOKENS, CASH"
)]
#[case(
    "excludeDepositsWithdrawals=no",
    "invalid_field: excludeDepositsWithdrawals: 'no' is not true, false, 1 or 0"
)]
#[case(
    "sortDirection=UP",
    "invalid_field: sortDirection: 'UP' is not one of ASC, DESC"
)]
fn activity_says_what_is_wrong(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(
        ask("activity", &format!("user={USER}&{text}")).as_deref(),
        Some(expected)
    );
}

#[rstest]
#[case("trades", "eventId")]
#[case("positions", "eventId")]
#[case("closed-positions", "eventId")]
#[case("activity", "eventId")]
#[case("live-volume", "id")]
fn events_are_a_list_in_place_of_markets(#[case] endpoint: &str, #[case] name: &str) {
    let user = match endpoint {
        "live-volume" => String::new(),
        _ => format!("user={USER}&"),
    };
    for good in ["7", "7,8", "7,7,07"] {
        assert_eq!(ask(endpoint, &format!("{user}{name}={good}")), None);
    }
    for bad in ["x", "-1", "1e3", "9223372036854775808"] {
        let text = ask(endpoint, &format!("{user}{name}={bad}")).expect(bad);
        let expected = format!("invalid_field: {name}: '{bad}' is not an event id, an integer");
        assert_eq!(text, expected);
    }
    let both = ask(endpoint, &format!("{user}{name}=7&market={MARKET}"));
    let expected = format!("invalid_field: {name}: market is given too, allowed: one of the two");
    assert_eq!(both, Some(expected));
}

#[test]
fn leaderboards_have_defaults_and_words() {
    let V1List { query: board, page } = parse::<V1List<LeaderboardQuery>>("");
    assert_eq!(
        (board.period, board.sort, page.limit),
        (TimePeriod::Day, LeaderboardSort::Profit, 25)
    );
    let text = format!("category=OVERALL&timePeriod=week&orderBy=VOL&user={USER}&userName=Ann");
    let board = parse::<V1List<LeaderboardQuery>>(&text).query;
    assert_eq!(board.period.days(), Some(7));
    assert_eq!(
        (board.sort, board.name.as_deref()),
        (LeaderboardSort::Volume, Some("Ann"))
    );
    assert_eq!(board.user, Some(WalletAddress([0x11; 20])));
    assert_eq!(
        parse::<BuildersQuery>("timePeriod=ALL").time_period,
        TimePeriod::All
    );
    let activity = parse::<V1List<ActivityQuery>>(&format!("user={USER}&sortBy=CASH"));
    assert_eq!(activity.query.sort, ActivitySort::Cash);
    for (endpoint, text, field) in [
        ("leaderboard", "category=POLITICS", "category"),
        ("leaderboard", "orderBy=RANK", "orderBy"),
        ("builders", "timePeriod=YEAR", "timePeriod"),
        ("builder-volume", "timePeriod=1d", "timePeriod"),
    ] {
        let told = ask(endpoint, text).expect(text);
        assert!(
            told.starts_with(&format!("invalid_field: {field}: ")),
            "{told}"
        );
    }
    assert_eq!(
        ask("live-volume", "").as_deref(),
        Some("missing_field: id or market")
    );
    assert_eq!(ask("oi", ""), None);
}

#[rstest]
fn an_unknown_parameter_is_named_before_anything_else(
    #[values(
        "trades",
        "positions",
        "closed-positions",
        "holders",
        "activity",
        "value",
        "traded",
        "oi",
        "live-volume",
        "leaderboard",
        "builders",
        "builder-volume"
    )]
    endpoint: &str,
) {
    for (name, shown) in [
        ("foo", "foo"),
        ("Limit", "Limit"),
        ("user%00", "'user\\0'"),
        ("%E2%80%AE", "'\\u{202e}'"),
        ("limit%5B%5D", "limit[]"),
    ] {
        let expected = format!("unknown_field: {shown}");
        assert_eq!(ask(endpoint, &format!("{name}=1")), Some(expected));
    }
}

#[rstest]
#[case(
    "condition_id=0x1",
    "invalid_field: condition_id: '0x1' is not a condition id"
)]
#[case("event_id=x", "invalid_field: event_id: 'x' is not an event id")]
#[case(
    "event_id=1&condition_id=2",
    "invalid_field: event_id: market is given too"
)]
#[case("filter_type=CASH", "missing_field: filter_amount")]
#[case("taker_only=2", "invalid_field: taker_only: '2' is not true")]
#[case("market=0x1", "unknown_field: market")]
#[case(
    "limit=0",
    "invalid_field: limit: '0' is not an integer from 1 to 1000"
)]
#[case(
    "limit=1001",
    "invalid_field: limit: '1001' is not an integer from 1 to 1000"
)]
#[case(
    "cursor=7.x.0",
    "invalid_field: cursor: '7.x.0' is not the next_cursor of a page"
)]
fn version_2_names_parameters_as_they_are_given(#[case] text: &str, #[case] expected: &str) {
    let refused = refused::<V2List<FillsQuery>>(text).expect(text);
    assert!(refused.starts_with(expected), "{refused}");
}

#[test]
fn version_2_reads_the_same_filters_under_its_own_names() {
    let first = format!("market={MARKET}&takerOnly=false&filterType=CASH&filterAmount=1&start=4");
    let second = format!(
        "condition_id={MARKET}&taker_only=false&filter_type=CASH&filter_amount=1&start=4&cursor=10.2.0~300"
    );
    let second = parse::<V2List<FillsQuery>>(&second);
    assert_eq!(second.query, parse::<V1List<FillsQuery>>(&first).query);
    let after = FrameRow {
        sequence: 10,
        index: 2,
        side: 0,
    };
    let page = LimitOffset {
        limit: 100,
        offset: 300,
    };
    assert_eq!((second.page, second.after), (page, Some(after)));
}

#[test]
fn version_2_refuses_an_offset_where_other_unknown_parameters_are_ignored() {
    let read = |text| V2List::<FillsQuery>::read_in(Some(text), Compatibility::Polymarket);
    assert!(read("colour=red").is_ok());
    let refused = read("offset=0").unwrap_err().to_string();
    let expected = "invalid_field: offset: version 2 has no offset, allowed: cursor, the next_cursor of a page";
    assert_eq!(refused, expected);
    let of_prices = V2PricesQuery::read_in(
        Some("token_id=12&interval=1d&offset=1"),
        Compatibility::Polymarket,
    );
    assert_eq!(of_prices.unwrap_err().to_string(), expected);
}

#[test]
fn a_cursor_of_version_1_needs_the_order_of_time() {
    let walk = parse::<V1Walk<ActivityQuery>>(&format!("user={USER}&cursor=10.2.0&limit=7"));
    assert_eq!(
        walk.after.map(|row| (row.sequence, row.index)),
        Some((10, 2))
    );
    let refused = ask(
        "activity",
        &format!("user={USER}&cursor=10.2.0&sortBy=CASH"),
    );
    let expected =
        "invalid_field: cursor: '10.2.0' is not allowed with this sortBy, only with TIMESTAMP";
    assert_eq!(refused.as_deref(), Some(expected));
}

#[test]
fn every_parameter_is_described() {
    fn names<Q: Parameters>() -> Vec<&'static str> {
        for parameter in Q::PARAMETERS {
            assert!(parameter.description.ends_with('.'), "{}", parameter.name);
        }
        Q::PARAMETERS.iter().map(|it| it.name).collect()
    }
    let v1 =
        "takerOnly filterType filterAmount market eventId user side start end limit offset cursor";
    assert_eq!(names::<V1Walk<FillsQuery>>().join(" "), v1);
    let v2 = "user condition event_id type side start end sort_direction \
              exclude_deposits_withdrawals limit cursor";
    assert_eq!(names::<V2List<ActivityFilter>>().join(" "), v2);
    let required = |it: &&Parameter| it.is_required;
    let required: Vec<_> = HoldersQuery::PARAMETERS.iter().filter(required).collect();
    assert_eq!((required.len(), required[0].name), (1, "market"));
}

proptest! {
    #[test]
    fn any_query_is_read_or_refused_without_panic(names in prop::collection::vec((0..24_usize, ".{0,12}"), 0..6)) {
        const NAMES: [&str; 24] = [
            "limit", "offset", "user", "market", "side", "takerOnly", "filterType", "filterAmount",
            "title", "sortBy", "sortDirection", "sizeThreshold", "redeemable", "mergeable",
            "minBalance", "type", "start", "end", "cursorId", "x",
            "eventId", "id", "timePeriod", "userName",
        ];
        let pairs: Vec<_> = names.iter().map(|(name, value)| format!("{}={value}", NAMES[*name])).collect();
        let text = pairs.join("&");
        for endpoint in ["trades", "positions", "closed-positions", "holders", "activity", "value", "traded", "oi",
            "live-volume", "leaderboard", "builders", "builder-volume"] {
            let _ = ask(endpoint, &text);
        }
    }
}
