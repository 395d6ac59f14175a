use rstest::rstest;

use super::*;
use crate::json_text;
use crate::operator::EventSummary;

fn facts() -> MarketFacts {
    MarketFacts {
        condition: ConditionId([2; 32]),
        tokens: [TokenId([0; 32]), TokenId([1; 32])],
        state: MarketState::Active,
        archived: false,
        tick: Tick::Hundredth,
        minimum_size: Lots(500),
        fee: FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1,
        },
        terms: MarketTerms {
            game_start_time: TimeMs(1_769_171_400_000),
            clear_book_on_start: true,
            taker_delay_ms: 2_500,
            rebate_ppm: 250_000,
            ..MarketTerms::default()
        },
        neg_risk: true,
        question_index: None,
        payout: None,
        prices: [Decimal::new(45_015, 5), Decimal::new(54_985, 5)],
        accepting_since: Some(TimeNs(1_710_000_000_000_000_000)),
        mode: SystemMode::Running,
    }
}

fn description() -> MarketDescription {
    MarketDescription {
        question: "Will it rain?".into(),
        slug: "will-it-rain".into(),
        tags: vec!["Weather".into()],
        market_id: 7,
        end_date: Some("2026-07-01T00:00:00Z".into()),
        game_start_time: Some(String::new()),
        event: Some(EventSummary {
            id: Some(42),
            slug: "rain".into(),
            ..EventSummary::default()
        }),
        raw_metadata: serde_json::from_str(r#"{"volume":"1.50"}"#).unwrap(),
        ..MarketDescription::default()
    }
}

#[test]
fn a_market_detail_has_all_fields_of_both_records_once() {
    let detail = MarketDetail::new(&facts(), &description());
    insta::assert_snapshot!(serde_json::to_string_pretty(&detail).unwrap());
    for field in ["condition_id", "neg_risk", "question", "description"] {
        let text = json_text(&detail);
        assert!(
            text.matches(&format!("\"{field}\":")).count() <= 2,
            "{field}"
        );
    }
}

#[test]
fn a_trading_market_and_its_short_forms() {
    let (facts, description) = (facts(), description());
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&TradingMarket::new(&facts, &description)).unwrap()
    );
    insta::assert_snapshot!(json_text(&SimplifiedMarket::new(&facts, &description)));
    insta::assert_snapshot!(json_text(&ClobMarket::new(&facts, &description)));
    assert_eq!(
        json_text(&FeeRateAnswer::new(&facts)),
        r#"{"base_fee":400,"fd":{"r":0.04,"e":1,"to":true},"fee_schedule":{"rate":0.04,"exponent":1,"taker_only":true,"rebate_rate":0.25}}"#
    );
}

#[rstest]
#[case(MarketState::Registered, SystemMode::Running, [true, false, false, false])]
#[case(MarketState::Active, SystemMode::Running, [true, true, false, true])]
#[case(MarketState::Active, SystemMode::PostOnly, [true, true, false, true])]
#[case(MarketState::Active, SystemMode::CancelOnly, [true, true, false, false])]
#[case(MarketState::Active, SystemMode::Paused, [true, true, false, false])]
#[case(MarketState::Paused, SystemMode::Running, [true, true, false, false])]
#[case(MarketState::Closed, SystemMode::Running, [false, true, true, false])]
#[case(MarketState::Resolved, SystemMode::Running, [false, true, true, false])]
fn flags_follow_state_and_mode(
    #[case] state: MarketState,
    #[case] mode: SystemMode,
    #[case] expected: [bool; 4],
) {
    let facts = MarketFacts {
        state,
        mode,
        ..facts()
    };
    let market = TradingMarket::new(&facts, &description());
    assert_eq!(
        [
            market.enable_order_book,
            market.active,
            market.closed,
            market.accepting_orders
        ],
        expected
    );
}

#[rstest]
#[case(None, ["0.45015", "0.54985"], [false, false], false)]
#[case(Some(Payout::Yes), ["1", "0"], [true, false], false)]
#[case(Some(Payout::No), ["0", "1"], [false, true], false)]
#[case(Some(Payout::Half), ["0.5", "0.5"], [false, false], true)]
fn tokens_show_the_payout_once_resolved(
    #[case] payout: Option<Payout>,
    #[case] prices: [&str; 2],
    #[case] winners: [bool; 2],
    #[case] half: bool,
) {
    let facts = MarketFacts { payout, ..facts() };
    let market = TradingMarket::new(&facts, &description());
    assert_eq!(
        market.tokens.clone().map(|token| token.price.to_string()),
        prices
    );
    assert_eq!(market.tokens.clone().map(|token| token.winner), winners);
    assert_eq!(market.is_50_50_outcome, half);
}

#[rstest]
#[case(Tick::Tenth, "0.1")]
#[case(Tick::Hundredth, "0.01")]
#[case(Tick::Thousandth, "0.001")]
#[case(Tick::TenThousandth, "0.0001")]
fn a_tick_is_a_number_with_exactly_its_text(#[case] tick: Tick, #[case] text: &str) {
    let answer = TickSizeAnswer {
        minimum_tick_size: tick,
    };
    assert_eq!(
        json_text(&answer),
        format!(r#"{{"minimum_tick_size":{text}}}"#)
    );
}

#[test]
fn a_token_leads_to_its_market() {
    let answer = MarketByToken {
        condition_id: ConditionId([2; 32]),
        primary_token_id: TokenId([0; 32]),
        secondary_token_id: TokenId([0; 32]),
    };
    assert_eq!(
        json_text(&answer),
        format!(
            r#"{{"condition_id":"{}","primary_token_id":"0","secondary_token_id":"0"}}"#,
            ConditionId([2; 32])
        )
    );
    assert_eq!(
        json_text(&NegRiskAnswer { neg_risk: false }),
        r#"{"neg_risk":false}"#
    );
}

#[test]
fn only_three_dates_may_be_null() {
    let bare = MarketFacts {
        accepting_since: None,
        terms: MarketTerms::default(),
        ..facts()
    };
    let text = json_text(&TradingMarket::new(&bare, &MarketDescription::default()));
    let market: serde_json::Value = serde_json::from_str(&text).unwrap();
    let nulls: Vec<_> = market
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, value)| value.is_null())
        .map(|(key, _)| key.as_str())
        .collect();
    assert_eq!(
        nulls,
        [
            "accepting_order_timestamp",
            "end_date_iso",
            "game_start_time"
        ]
    );
}
