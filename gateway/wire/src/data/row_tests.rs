//! The rows, field by field: names, order and types of the interface.

use std::sync::Arc;

use foretell_model::{
    ConditionId, Lots, Micros, Outcome, Price, Side, TimeSeconds, TokenId, WalletAddress,
};
use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    ActivityKind, ActivityRow, ActivityV1, ActivityV2, AssetIds, CurPrice, Fill, FillV1, FillV2,
    FillWriter, HolderGroup, HolderRow, HolderV1, MarketText, PositionFigures, PositionRow,
    PositionSort, PositionV1, PositionV2, Profile,
};
use crate::json_text;
use crate::operator::{EventSummary, MarketDescription};
use crate::orders::fill_id::FillId;
use crate::text::decimal::Decimal;

const WALLET: WalletAddress = WalletAddress([0x11; 20]);
const PROFILE: Profile<'_> = Profile {
    name: "Ann \"A\"",
    pseudonym: "",
    bio: "trades\nrain",
    image: "https://example.org/a.png",
    image_optimized: "https://example.org/a-small.png",
    is_public: true,
};

fn market(byte: u8) -> MarketText {
    let description = MarketDescription {
        question: "Will it rain?".to_owned(),
        slug: "will-it-rain".to_owned(),
        icon: "https://example.org/rain.png".to_owned(),
        outcomes: ["Yes", "No"].map(str::to_owned),
        end_date: Some("2027-01-01T00:00:00Z".to_owned()),
        event: Some(EventSummary {
            slug: "weather".to_owned(),
            ..EventSummary::default()
        }),
        ..MarketDescription::default()
    };
    let tokens = [TokenId([byte; 32]), TokenId([byte + 1; 32])];
    let form = AssetIds::ConditionIndex;
    MarketText::new(
        ConditionId([byte; 32]),
        &tokens,
        Arc::new(description),
        form,
    )
}

fn trade(market: &MarketText) -> ActivityRow<'_> {
    ActivityRow {
        kind: ActivityKind::Trade,
        wallet: WALLET,
        profile: PROFILE,
        market: Some(market),
        outcome: Some(Outcome::No),
        fill: Some(Fill {
            id: FillId {
                trade: [0x5a; 16],
                index: Some(1),
            },
            side: Side::Sell,
            price: Price(4_560).into(),
            fee: Micros(1_220),
        }),
        size: Lots(1_234).into(),
        value: Lots(1_234).value_at(Price(4_560)),
        time: TimeSeconds(1_700_000_000),
        receipt: [0xab; 32],
    }
}

/// Clients of the family read the end of a closed position as date and time.
#[test]
fn a_closed_position_ends_at_a_time_in_either_form() {
    let of = market(2);
    let tokens = [TokenId([2; 32]), TokenId([3; 32])];
    let described = Arc::clone(&of.description);
    let of = MarketText::new(of.condition, &tokens, described, AssetIds::Token);
    let end = |row: PositionRow<'_>| json_text(&PositionV1::from(row));
    assert!(end(position(&of)).ends_with(r#""endDate":"2027-01-01"}"#));
    assert!(end(closed(&of)).ends_with(r#""endDate":"2027-01-01T00:00:00Z"}"#));
}

/// An answer formatted for reading, fields in their order.
fn pretty(rows: &impl Serialize) -> String {
    (json_text(rows).replace("},{", "},\n{"))
        .replace("\",\"", "\",\n \"")
        .replace(",\"", ",\n \"")
}

/// The field names of a row, in order.
fn names(row: &impl Serialize) -> Vec<String> {
    let row: Map<String, Value> = serde_json::from_str(&json_text(row)).expect("an object");
    row.into_iter().map(|(name, _)| name).collect()
}

fn figures() -> PositionFigures {
    PositionFigures {
        lots: 11_000,
        cost: 49_500_000,
        fees: 550_000,
        bought: 15_000,
        spent: 67_500_000,
        realized: 6_000_000,
        price: CurPrice::midpoint(Price(5_000), Price(5_100)),
    }
}

fn position(market: &MarketText) -> PositionRow<'_> {
    PositionRow {
        wallet: WALLET,
        profile: PROFILE,
        market,
        outcome: Outcome::Yes,
        figures: figures(),
        shown: figures().shown(),
        redeemable: false,
        mergeable: true,
        neg_risk: false,
        archived: false,
        time: TimeSeconds(1_700_000_000),
    }
}

fn closed(market: &MarketText) -> PositionRow<'_> {
    let figures = PositionFigures {
        lots: 0,
        cost: 0,
        fees: 0,
        ..figures()
    };
    PositionRow {
        figures,
        shown: figures.shown(),
        ..position(market)
    }
}

#[test]
fn a_trade_fill_has_the_fields_of_the_interface() {
    let market = market(2);
    insta::assert_snapshot!(pretty(&[FillV1::from(trade(&market))]));
}

#[test]
fn fills_are_written_as_their_view() {
    let market = market(2);
    let buy = ActivityRow {
        outcome: Some(Outcome::Yes),
        fill: Some(Fill {
            id: FillId {
                trade: [0; 16],
                index: None,
            },
            side: Side::Buy,
            price: Decimal::ratio(1, 3, 6).expect("a ratio"),
            fee: Micros::ZERO,
        }),
        profile: Profile::default(),
        ..trade(&market)
    };
    for rows in [vec![], vec![trade(&market)], vec![buy, trade(&market), buy]] {
        let mut writer = FillWriter::with_capacity(rows.len());
        rows.iter().for_each(|row| writer.push(row));
        let view: Vec<_> = rows.iter().copied().map(FillV1::from).collect();
        assert_eq!(writer.finish(), json_text(&view));
    }
}

proptest! {
    #[test]
    fn any_words_of_a_fill_are_written_as_their_view(name: String, lots: u64, time: u64, price in 1..10_000_u16) {
        let market = market(2);
        let profile = Profile { name: &name, pseudonym: &name, ..PROFILE };
        let id = FillId { trade: [7; 16], index: Some(u32::from(price)) };
        let fill = Fill { id, side: Side::Buy, price: Price(price).into(), fee: Micros(lots) };
        let row = ActivityRow {
            profile,
            fill: Some(fill),
            size: Lots(lots).into(),
            value: Micros(lots),
            time: TimeSeconds(time),
            ..trade(&market)
        };
        let mut writer = FillWriter::with_capacity(1);
        writer.push(&row);
        prop_assert_eq!(writer.finish(), json_text(&[FillV1::from(row)]));
    }
}

/// Version 2 has the rows of version 1 in snake case.
#[test]
fn version_2_has_the_fields_of_version_1_in_snake_case() {
    let snake = |name: &str| -> String {
        match name {
            "asset" => "token_id".to_owned(),
            name => name.chars().fold(String::new(), |mut text, letter| {
                if letter.is_ascii_uppercase() {
                    text.push('_');
                }
                text.push(letter.to_ascii_lowercase());
                text
            }),
        }
    };
    let market = market(2);
    let fill = trade(&market);
    let first = names(&FillV1::from(fill));
    let expected: Vec<_> = first.iter().map(|name| snake(name)).collect();
    assert_eq!(names(&FillV2::from(fill)), expected);
    let expected = [expected, vec!["type".to_owned(), "is_combo".to_owned()]].concat();
    assert_eq!(names(&ActivityV2::from(fill)), expected);
}

#[test]
fn a_position_has_the_fields_of_the_interface() {
    let market = market(2);
    insta::assert_snapshot!(pretty(&[PositionV1::from(position(&market))]));
}

#[test]
fn a_position_of_version_2_has_the_fields_of_the_interface() {
    let market = market(2);
    let rows = [position(&market), closed(&market)];
    let rows: Vec<_> = rows.into_iter().map(PositionV2::from).collect();
    insta::assert_snapshot!(pretty(&rows));
}

#[test]
fn a_closed_position_has_no_negative_risk() {
    let market = market(2);
    let mut fields = names(&PositionV1::from(position(&market)));
    fields.retain(|name| name != "negativeRisk");
    assert_eq!(names(&PositionV1::from(closed(&market))), fields);
}

#[test]
fn holders_are_grouped_by_token() {
    let market = market(2);
    let holder = |byte, lots| HolderRow {
        token: market.asset(Outcome::Yes),
        outcome: Outcome::Yes,
        wallet: WalletAddress([byte; 20]),
        lots: Lots(lots),
        profile: PROFILE,
        figures: None,
    };
    let holders = [holder(1, 250), holder(2, 100)];
    fn group<'a>(token: &str, holders: &[HolderRow<'a>]) -> HolderGroup<HolderV1<'a>> {
        HolderGroup {
            token: token.to_owned(),
            holders: holders.iter().copied().map(HolderV1::from).collect(),
        }
    }
    let [yes, no] = [Outcome::Yes, Outcome::No].map(|outcome| market.asset(outcome));
    let groups = [group(yes, &holders), group(no, &[])];
    insta::assert_snapshot!(pretty(&groups));
}

#[test]
fn an_activity_is_a_trade_fill_and_a_type() {
    let market = market(2);
    let mut fields = names(&FillV1::from(trade(&market)));
    fields.push("type".to_owned());
    let traded = trade(&market);
    let action = ActivityRow {
        kind: ActivityKind::Conversion,
        profile: Profile::default(),
        outcome: None,
        fill: None,
        size: Lots(500).into(),
        value: Micros(5_000_000),
        receipt: [0; 32],
        ..traded
    };
    let rebate = ActivityRow {
        kind: ActivityKind::MakerRebate,
        market: None,
        ..action
    };
    let redeem = ActivityRow {
        kind: ActivityKind::Redeem,
        outcome: Some(Outcome::No),
        ..action
    };
    for activity in [traded, action, rebate, redeem] {
        assert_eq!(names(&ActivityV1::from(activity)), fields);
    }
    insta::assert_snapshot!(pretty(&[action, redeem].map(ActivityV1::from)));
}

#[test]
fn positions_are_sorted_by_what_they_show() {
    use PositionSort::*;
    let time = TimeSeconds(9);
    for figures in [
        figures(),
        PositionFigures {
            lots: 0,
            cost: 0,
            fees: 0,
            ..figures()
        },
    ] {
        let shown = figures.shown();
        for (sort, number) in [
            (Current, shown.current_value),
            (Initial, shown.initial_value),
            (Tokens, shown.size),
            (CashPnl, shown.cash_pnl),
            (PercentPnl, shown.percent_pnl),
            (RealizedPnl, shown.realized_pnl),
            (Price, shown.cur_price),
            (AvgPrice, shown.avg_price),
        ] {
            assert_eq!(sort.number(&figures, time), number.0, "{sort:?}");
        }
        assert_eq!(Timestamp.number(&figures, time), 9);
        let text = market(2);
        assert_eq!(Title.text(&text.description), "Will it rain?");
        assert_eq!(Resolving.text(&text.description), "2027-01-01T00:00:00Z");
    }
}
