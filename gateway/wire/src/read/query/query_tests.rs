use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::data::HoldersQuery;
use crate::markets::history::HistoryQuery;
use crate::read::query::parameters::Parameters;
use crate::read::query::trading::{
    BalanceAsset, BalanceQuery, OneToken, OrdersQuery, PriceQuery, TokensQuery, TradesQuery,
};
use crate::text::ids::TokenRef;
use foretell_model::{ConditionId, Side, TimeSeconds, WalletAddress, WalletKind};

const CONDITION: &str = "0x0202020202020202020202020202020202020202020202020202020202020202";
const WALLET: &str = "0x1111111111111111111111111111111111111111";

fn query(text: &str) -> Query<'_> {
    Query::parse(Some(text)).unwrap()
}

#[test]
fn names_and_values_are_decoded() {
    let parsed = query("a=1&b=%41%20+%C3%A9&c&&=x&next_cursor=MA%3D%3D&d=1=2");
    let pairs: Vec<_> = parsed.pairs().collect();
    let expected = [
        ("a", "1"),
        ("b", "A  é"),
        ("c", ""),
        ("", "x"),
        ("next_cursor", "MA=="),
        ("d", "1=2"),
    ];
    assert_eq!(pairs, expected);
    assert_eq!(Query::parse(None), Ok(Query::default()));
}

#[rstest]
#[case("a=%")]
#[case("a=%4")]
#[case("a=%zz")]
#[case("a=%ff")]
#[case("%c3=1")]
#[case("a=%+1")]
fn what_is_not_percent_encoded_utf8_is_refused(#[case] text: &str) {
    let error = Query::parse(Some(text)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidQuery);
}

#[test]
fn a_query_is_bounded() {
    assert!(Query::parse(Some(&"a".repeat(MAX_QUERY))).is_ok());
    assert!(Query::parse(Some(&"a".repeat(MAX_QUERY + 1))).is_err());
    assert!(Query::parse(Some(&vec!["a=1"; MAX_PARAMETERS].join("&"))).is_ok());
    assert!(Query::parse(Some(&vec!["a=1"; MAX_PARAMETERS + 1].join("&"))).is_err());
}

#[test]
fn a_repeated_parameter_is_refused_where_one_is_expected() {
    let repeated = |name: &str| ErrorCode::RepeatedParameter.with([&name]);
    let token = OneToken::read_text(Some("token_id=1&token_id=1"));
    assert_eq!(token, Err(repeated("token_id")));
    let history = HistoryQuery::read_text(Some("market=1&startTs=1&start_ts=1"));
    assert_eq!(history, Err(repeated("start_ts")));
}

#[rstest]
#[case("token_id=12&side=buy", Ok((TokenRef::parse("12").unwrap(), Side::Buy)))]
#[case("token_id=12&side=SELL", Ok((TokenRef::parse("12").unwrap(), Side::Sell)))]
#[case("token_id=12", Err("Invalid side"))]
#[case("token_id=12&side=2", Err("Invalid side"))]
#[case("side=BUY", Err("token_id is missing, allowed: a token id"))]
#[case("token_id=abc&side=BUY", Err("Invalid token id"))]
fn a_token_and_a_side(#[case] text: &str, #[case] expected: Result<(TokenRef, Side), &str>) {
    let read = PriceQuery::read_text(Some(text)).map(|read| (read.token_id, read.side));
    assert_eq!(
        read.map_err(|error| error.text()),
        expected.map_err(str::to_owned)
    );
}

#[rstest]
#[case("token_ids=7,8&sides=BUY,sell", &[("7", true, false), ("8", false, true)])]
#[case("token_ids=7&token_ids=8", &[("7", true, true), ("8", true, true)])]
#[case("token_ids=7,,8&sides=", &[("7", true, true), ("8", true, true)])]
#[case("token_ids=7,7&sides=BUY,SELL", &[("7", true, true)])]
fn a_batch_has_tokens_and_sides(#[case] text: &str, #[case] expected: &[(&str, bool, bool)]) {
    let read = TokensQuery::read_text(Some(text)).unwrap().0;
    let read = read
        .iter()
        .map(|it| (it.text.as_str(), it.sides.buy, it.sides.sell));
    assert_eq!(read.collect::<Vec<_>>(), expected);
}

#[rstest]
#[case(
    "",
    "token_ids is missing, allowed: token ids with commas between them"
)]
#[case("token_ids=7,x", "Invalid token id")]
#[case("token_ids=7&sides=HOLD", "Invalid side")]
#[case(
    "token_ids=7,8&sides=BUY",
    "sides is '1 for 2 tokens', allowed: one for each token"
)]
#[case(
    "token_ids=7,8&sides=BUY,,SELL,BUY",
    "sides is '3 for 2 tokens', allowed: one for each token"
)]
fn a_wrong_batch_is_refused(#[case] text: &str, #[case] error: &str) {
    assert_eq!(
        TokensQuery::read_text(Some(text)).unwrap_err().text(),
        error
    );
}

#[test]
fn trades_take_every_filter() {
    let text = format!(
        "id=t1&taker={WALLET}&maker={WALLET}&maker_address={WALLET}&market={CONDITION}&asset_id=12&before=20&after=10&next_cursor=MTAw&unknown=1"
    );
    let read = TradesQuery::read_text(Some(&text)).unwrap();
    assert_eq!(read.id.as_deref(), Some("t1"));
    assert_eq!(read.taker, Some(WalletAddress([0x11; 20])));
    assert_eq!((read.maker, read.maker_address), (read.taker, read.taker));
    assert_eq!(read.market, Some(ConditionId([2; 32])));
    assert_eq!(read.asset, TokenRef::parse("12"));
    assert_eq!(
        (read.before, read.after),
        (Some(TimeSeconds(20)), Some(TimeSeconds(10)))
    );
    assert_eq!(read.cursor.offset(), 100);
    assert_eq!(TradesQuery::read_text(Some("")), Ok(TradesQuery::default()));
    assert!(TradesQuery::read_text(Some("before=10&after=10")).is_ok());
}

#[rstest]
#[case("before=5&after=10", "before is 5, allowed: not below after (10)")]
#[case(
    "before=-1",
    "before is '-1', allowed: unix seconds, 0 to 253402300799, not milliseconds"
)]
#[case(
    "after=1790000000000",
    "after is '1790000000000', allowed: unix seconds, 0 to 253402300799, not milliseconds"
)]
#[case(
    "after=now",
    "after is 'now', allowed: unix seconds, 0 to 253402300799, not milliseconds"
)]
#[case(
    "after=NaN",
    "after is 'NaN', allowed: unix seconds, 0 to 253402300799, not milliseconds"
)]
#[case(
    "market=1",
    "market is '1', allowed: a condition id, 0x and 64 hex digits"
)]
#[case(
    "taker=0x1",
    "taker is '0x1', allowed: an address, 0x and 40 hex digits"
)]
#[case("asset_id=x", "Invalid token id")]
#[case("next_cursor=LTE%3D", "invalid next_cursor")]
#[case("builder_code=1", "builder_code is '1', allowed: 0x and 64 hex digits")]
#[case("id=1&id=2", "the parameter id is repeated, allowed: once")]
fn a_wrong_filter_of_trades_is_refused(#[case] text: &str, #[case] error: &str) {
    assert_eq!(
        TradesQuery::read_text(Some(text)).unwrap_err().text(),
        error
    );
}

#[test]
fn orders_take_every_filter() {
    let text = format!("id=0x1&market={CONDITION}&asset_id={CONDITION}:1&next_cursor=MA==");
    let read = OrdersQuery::read_text(Some(&text)).unwrap();
    assert_eq!(read.id.as_deref(), Some("0x1"));
    assert!(read.market.is_some() && read.asset.is_some());
    assert_eq!(OrdersQuery::read_text(Some("")), Ok(OrdersQuery::default()));
    assert!(OrdersQuery::read_text(Some(&format!("id={}", "x".repeat(129)))).is_err());
}

#[rstest]
#[case("asset_type=COLLATERAL", BalanceAsset::Collateral, None)]
#[case(
    "asset_type=COLLATERAL&signature_type=-1",
    BalanceAsset::Collateral,
    None
)]
#[case(
    "asset_type=COLLATERAL&signature_type=0",
    BalanceAsset::Collateral,
    Some(WalletKind::Eoa)
)]
#[case("asset_type=CONDITIONAL&token_id=12&signature_type=3", BalanceAsset::Conditional(TokenRef::parse("12").unwrap()), Some(WalletKind::Deposit))]
fn a_balance_is_asked_by_asset_and_kind(
    #[case] text: &str,
    #[case] asset: BalanceAsset,
    #[case] kind: Option<WalletKind>,
) {
    assert_eq!(
        BalanceQuery::read_text(Some(text)),
        Ok(BalanceQuery { asset, kind })
    );
}

#[rstest]
#[case("", "asset_type is missing, allowed: COLLATERAL or CONDITIONAL")]
#[case(
    "asset_type=collateral",
    "asset_type is 'collateral', allowed: COLLATERAL or CONDITIONAL"
)]
#[case("asset_type=CONDITIONAL", "token_id is missing, allowed: a token id")]
#[case("asset_type=CONDITIONAL&token_id=x", "Invalid token id")]
#[case(
    "asset_type=COLLATERAL&signature_type=4",
    "signature_type is '4', allowed: -1 to 3"
)]
#[case(
    "asset_type=COLLATERAL&signature_type=-2",
    "signature_type is '-2', allowed: -1 to 3"
)]
fn a_wrong_balance_query_is_refused(#[case] text: &str, #[case] error: &str) {
    assert_eq!(
        BalanceQuery::read_text(Some(text)).unwrap_err().text(),
        error
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_panic(text in "[a-z=&%+0-9\u{0}-\u{ff}]{0,60}") {
        if let Ok(parsed) = Query::parse(Some(&text)) {
            let _ = (TradesQuery::read(&parsed), OrdersQuery::read(&parsed), BalanceQuery::read(&parsed));
        }
    }

    #[test]
    fn what_is_encoded_is_decoded(value: String) {
        let encoded: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let text = format!("v={encoded}");
        if text.len() <= MAX_QUERY {
            let parsed = query(&text);
            prop_assert_eq!(parsed.pairs().next(), Some(("v", value.as_str())));
        }
    }
}

/// A query in the forms of the family, as an error or what it read.
fn in_family<T: Parameters>(text: &str) -> Result<T, String> {
    T::read_in(Some(text), Compatibility::Polymarket).map_err(|error| error.text())
}

#[test]
fn the_family_clamps_limits_and_ignores_what_it_does_not_know() {
    const MARKET: &str =
        "market=0x0202020202020202020202020202020202020202020202020202020202020202";
    let holders = |text: &str| {
        let text = format!("{MARKET}&{text}");
        (
            HoldersQuery::read_text(Some(&text))
                .map(|query| query.limit)
                .ok(),
            in_family::<HoldersQuery>(&text).map(|query| query.limit),
        )
    };
    assert_eq!(holders("limit=7"), (Some(7), Ok(7)));
    assert_eq!(holders("limit=501"), (None, Ok(500)));
    assert_eq!(holders("limit=18446744073709551615"), (None, Ok(500)));
    assert_eq!(holders("colour=red"), (None, Ok(100)));
    let (interface, family) = holders("limit=-1");
    assert_eq!(interface, None);
    assert!(
        family.unwrap_err().contains("limit"),
        "no number has no nearest"
    );
}
