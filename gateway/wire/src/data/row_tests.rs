//! The rows, field by field: names, order and types of the interface.

use std::cmp::Ordering;

use foretell_model::{
    ConditionId, Lots, Micros, Outcome, Price, Sequence, Side, TimeSeconds, TokenId, WalletAddress,
};
use serde_json::Value;

use super::{
    ActivityKind, ActivityRow, AssetIds, ClosedKey, ClosedSort, CurPrice, Direction, FillRow,
    HolderGroup, HolderRow, MarketNames, MarketText, OpenKey, PositionFigures, PositionRow,
    PositionSort, Profile, RowWriter, WalletText, compare_closed, compare_open,
};

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
    MarketText::new(
        ConditionId([byte; 32]),
        &[TokenId([byte; 32]), TokenId([byte + 1; 32])],
        &MarketNames {
            title: "Will it rain?",
            slug: "will-it-rain",
            icon: "https://example.org/rain.png",
            event_slug: "weather",
            outcomes: ["Yes", "No"],
            end_date: "2027-01-01T00:00:00Z",
        },
        AssetIds::ConditionIndex,
    )
}

fn who() -> WalletText {
    WalletText::new(WALLET, &PROFILE)
}

fn trade<'a>(market: &'a MarketText, who: &'a WalletText) -> FillRow<'a> {
    FillRow {
        who,
        side: Side::Sell,
        market,
        outcome: Outcome::No,
        lots: Lots(1_234),
        price: Price(4_560),
        time: TimeSeconds(1_700_000_000),
        receipt: [0xab; 32],
    }
}

/// An answer formatted for reading, fields in their original order.
fn pretty(rows: RowWriter) -> String {
    let text = rows.finish();
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert!(value.is_array());
    // `serde_json` sorts object fields, so format the text itself.
    text.replace("},{", "},\n{")
        .replace("\",\"", "\",\n \"")
        .replace(",\"", ",\n \"")
}

/// The field names of the first row, in order.
fn names(rows: RowWriter) -> Vec<String> {
    let text = rows.finish();
    let mut names = Vec::new();
    let mut rest = text.as_str();
    while let Some(end) = rest.find("\":") {
        let start = rest[..end].rfind('"').expect("a name is quoted");
        names.push(rest[start + 1..end].to_owned());
        rest = &rest[end + 2..];
    }
    names
}

fn figures() -> PositionFigures {
    PositionFigures {
        lots: 11_000,
        cost: 49_500_000,
        bought: 15_000,
        spent: 67_500_000,
        realized: 6_000_000,
        price: CurPrice::midpoint(Price(5_000), Price(5_100)),
    }
}

fn position(market: &MarketText) -> PositionRow<'_> {
    PositionRow {
        wallet: WALLET,
        market,
        outcome: Outcome::Yes,
        shown: figures().shown(),
        redeemable: false,
        mergeable: true,
        neg_risk: Some(false),
        time: TimeSeconds(1_700_000_000),
    }
}

#[test]
fn a_trade_fill_has_the_fields_of_the_interface() {
    let market = market(2);
    let mut rows = RowWriter::with_capacity(1);
    trade(&market, &who()).write(&mut rows);
    insta::assert_snapshot!(pretty(rows));
}

#[test]
fn a_position_has_the_fields_of_the_interface() {
    let market = market(2);
    let mut rows = RowWriter::with_capacity(1);
    position(&market).write(&mut rows);
    insta::assert_snapshot!(pretty(rows));
}

#[test]
fn a_closed_position_has_no_negative_risk() {
    let market = market(2);
    let open = position(&market);
    let write = |position: PositionRow<'_>| {
        let mut rows = RowWriter::with_capacity(1);
        position.write(&mut rows);
        names(rows)
    };
    let mut fields = write(open);
    fields.retain(|name| name != "negativeRisk");
    assert_eq!(
        write(PositionRow {
            neg_risk: None,
            ..open
        }),
        fields
    );
}

#[test]
fn holders_are_grouped_by_token() {
    let holder = |byte, lots| HolderRow {
        wallet: WalletAddress([byte; 20]),
        lots: Lots(lots),
        profile: PROFILE,
    };
    let holders = [holder(1, 250), holder(2, 100)];
    let mut rows = RowWriter::with_capacity(2);
    for (outcome, holders) in [(Outcome::Yes, &holders[..]), (Outcome::No, &[])] {
        let tokens = [TokenId([2; 32]), TokenId([3; 32])];
        let token = AssetIds::ConditionIndex.text(ConditionId([2; 32]), &tokens, outcome);
        HolderGroup {
            token: &token,
            outcome,
            holders,
        }
        .write(&mut rows);
    }
    insta::assert_snapshot!(pretty(rows));
}

#[test]
fn an_activity_is_a_trade_fill_and_a_type() {
    let market = market(2);
    let mut rows = RowWriter::with_capacity(1);
    trade(&market, &who()).write(&mut rows);
    let mut fields = names(rows);
    fields.push("type".to_owned());
    let stranger = WalletText::new(WALLET, &Profile::default());
    let who = who();
    let action = ActivityRow::Action {
        kind: ActivityKind::Conversion,
        who: &stranger,
        market: &market,
        lots: Lots(500),
        collateral: Micros(5_000_000),
        time: TimeSeconds(1_700_000_000),
        receipt: [0; 32],
    };
    for activity in [ActivityRow::Trade(trade(&market, &who)), action] {
        let mut rows = RowWriter::with_capacity(1);
        activity.write(&mut rows);
        assert_eq!(names(rows), fields);
    }
    let mut rows = RowWriter::with_capacity(1);
    action.write(&mut rows);
    insta::assert_snapshot!(pretty(rows));
}

/// Each sort uses the number in its field; ties go by asset in both directions.
#[test]
fn positions_are_sorted_by_what_they_show() {
    use PositionSort::*;
    let shown = figures().shown();
    let sorts = [
        (Current, shown.current_value),
        (Initial, shown.initial_value),
        (Tokens, shown.size),
        (CashPnl, shown.cash_pnl),
        (PercentPnl, shown.percent_pnl),
        (Price, shown.cur_price),
        (AvgPrice, shown.avg_price),
    ];
    for (sort, number) in sorts {
        assert_eq!(sort.number(&figures()), number, "{sort:?}");
    }
    let (small, large) = (market(2), market(3));
    let key = |number, market| OpenKey {
        number,
        market,
        outcome: Outcome::Yes,
    };
    for (low, high) in [(&small, &large), (&large, &small)] {
        for (sort, number) in sorts {
            let (low, high) = (key(number, low), key(number + 1, high));
            let up = compare_open(sort, Direction::Ascending)(&low, &high);
            let down = compare_open(sort, Direction::Descending)(&low, &high);
            assert_eq!((up, down), (Ordering::Less, Ordering::Greater), "{sort:?}");
        }
    }
    for sort in sorts
        .map(|(sort, _)| sort)
        .into_iter()
        .chain([Title, Resolving])
    {
        for direction in [Direction::Ascending, Direction::Descending] {
            let compare = compare_open(sort, direction);
            let (first, second) = (key(7, &small), key(7, &large));
            assert_eq!(compare(&first, &second), Ordering::Less, "{sort:?}");
            let no = OpenKey {
                outcome: Outcome::No,
                ..first
            };
            assert_eq!(compare(&first, &no), Ordering::Less, "{sort:?}");
            assert_eq!(compare(&first, &first), Ordering::Equal);
        }
    }
}

#[test]
fn closed_positions_of_one_asset_stand_by_when_they_were_closed() {
    let market = market(2);
    let first = ClosedKey {
        number: 5,
        market: &market,
        outcome: Outcome::Yes,
        closed_by: Sequence(7),
    };
    let second = ClosedKey {
        closed_by: Sequence(8),
        ..first
    };
    for sort in CLOSED_SORTS {
        for direction in [Direction::Ascending, Direction::Descending] {
            let order = compare_closed(sort, direction)(&first, &second);
            assert_eq!(order, Ordering::Less);
        }
    }
    let higher = ClosedKey { number: 6, ..first };
    for sort in CLOSED_SORTS {
        let order = compare_closed(sort, Direction::Descending)(&higher, &second);
        assert_eq!(order, Ordering::Less, "{sort:?}");
    }
}

const CLOSED_SORTS: [ClosedSort; 5] = [
    ClosedSort::RealizedPnl,
    ClosedSort::Title,
    ClosedSort::Price,
    ClosedSort::AvgPrice,
    ClosedSort::Timestamp,
];

#[test]
fn closed_positions_are_sorted_by_what_they_show() {
    let figures = PositionFigures {
        lots: 0,
        cost: 0,
        bought: 400,
        spent: 1_000_001,
        realized: -7,
        price: CurPrice::exactly(Price(4_200)),
    };
    let (shown, time) = (figures.shown(), TimeSeconds(9));
    let numbers = CLOSED_SORTS.map(|sort| sort.number(&figures, time));
    let (pnl, price) = (shown.realized_pnl, shown.cur_price);
    assert_eq!(numbers, [pnl, 0, price, shown.avg_price, 9]);
    // Cost of the four shares ever bought, although none is held.
    assert_eq!(shown.avg_price, 250_000);
}
