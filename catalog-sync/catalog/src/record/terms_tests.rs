use super::*;
use crate::record::{MarketRecord, Record, RecordKind, read};
use rstest::rstest;
use serde_json::{Value, json};

fn market(changes: &Value) -> MarketRecord {
    let mut record = json!({
        "id": "1", "slug": "m", "question": "Q", "outcomes": "[\"Yes\", \"No\"]",
        "conditionId": "0x00000000000000000000000000000000000000000000000000000000000000aA",
        "clobTokenIds": "[\"10\", \"11\"]",
    });
    let fields = record.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        fields.insert(name.clone(), value.clone());
    }
    match read(Some(RecordKind::Market), record.to_string().as_bytes())
        .unwrap()
        .record
    {
        Record::Market(market) => *market,
        other => panic!("{other:?} is no market"),
    }
}

fn terms(changes: &Value) -> Result<TradingTerms, NotTradable> {
    market(changes).terms
}

#[test]
fn a_market_that_says_nothing_trades_by_the_defaults() {
    let terms = terms(&json!({})).unwrap();
    assert_eq!(
        (terms.tick, terms.minimum_size),
        (Tick::Hundredth, Lots(500))
    );
    assert_eq!(terms.fee, FeeSchedule::default());
    assert_eq!((terms.neg_risk, terms.accepting_orders), (false, true));
    assert_eq!(terms.question_order, u64::MAX);
    assert_eq!(terms.outcomes, ["Yes", "No"]);
    assert_eq!(terms.condition.0[31], 0xaa);
    assert_eq!([terms.tokens[0].0[31], terms.tokens[1].0[31]], [10, 11]);
}

#[rstest]
#[case(json!({"orderPriceMinTickSize": 0.001}), Tick::Thousandth, 500)]
#[case(json!({"orderPriceMinTickSize": "0.1", "orderMinSize": 15}), Tick::Tenth, 1_500)]
#[case(json!({"orderPriceMinTickSize": "1e-4", "orderMinSize": "0.25"}), Tick::TenThousandth, 25)]
#[case(json!({"orderPriceMinTickSize": 0.005}), Tick::HalfHundredth, 500)]
#[case(json!({"orderPriceMinTickSize": "0.0025"}), Tick::QuarterHundredth, 500)]
#[case(json!({"orderPriceMinTickSize": "0.0100", "orderMinSize": 0}), Tick::Hundredth, 1)]
fn ticks_and_minima(#[case] changes: Value, #[case] tick: Tick, #[case] lots: u64) {
    let terms = terms(&changes).unwrap();
    assert_eq!((terms.tick, terms.minimum_size), (tick, Lots(lots)));
}

#[rstest]
#[case(json!({"feesEnabled": false, "takerBaseFee": 1000, "makerBaseFee": 1000}), 0, 0)]
#[case(json!({"takerBaseFee": 0}), 0, 0)]
#[case(json!({"takerBaseFee": 400}), 40_000, 1)]
#[case(json!({"feesEnabled": true, "takerBaseFee": "400", "makerBaseFee": 0}), 40_000, 1)]
#[case(json!({"feeSchedule": {"rate": 0.04, "exponent": 2}}), 40_000, 2)]
#[case(json!({"feeSchedule": {"rate": 0.0175, "takerOnly": true}, "makerBaseFee": 1000}), 17_500, 1)]
fn fees_of_takers(#[case] changes: Value, #[case] rate_ppm: u32, #[case] exponent: u8) {
    assert_eq!(
        terms(&changes).unwrap().fee,
        FeeSchedule { rate_ppm, exponent }
    );
}

#[rstest]
#[case(json!({"conditionId": ""}), "conditionId is")]
#[case(json!({"conditionId": "0x12"}), "conditionId is")]
#[case(json!({"conditionId": format!("0x{}", "0".repeat(64))}), "conditionId is")]
#[case(json!({"outcomes": "[\"A\", \"B\", \"C\"]"}), "not binary: 3")]
#[case(json!({"outcomes": "broken"}), "not binary: 0")]
#[case(json!({"clobTokenIds": "[\"10\"]"}), "clobTokenIds")]
#[case(json!({"clobTokenIds": "[\"10\", \"10\"]"}), "clobTokenIds")]
#[case(json!({"clobTokenIds": "[\"10\", \"x\"]"}), "clobTokenIds")]
fn what_is_no_market_says_why(#[case] changes: Value, #[case] text: &str) {
    let reason = terms(&changes).unwrap_err().to_string();
    assert!(reason.starts_with(text), "{reason}");
}

#[rstest]
#[case(json!({"enableOrderBook": false}), "enableOrderBook")]
#[case(json!({"orderPriceMinTickSize": 0.02}), "orderPriceMinTickSize is \"0.02\"")]
#[case(json!({"orderMinSize": 5.001}), "orderMinSize is \"5.001\"")]
#[case(json!({"orderMinSize": -5}), "orderMinSize is \"-5\"")]
#[case(json!({"makerBaseFee": 1000, "takerBaseFee": 1000}), "makerBaseFee is \"1000\"")]
#[case(json!({"makerRebatesFeeShareBps": 10001}), "makerRebatesFeeShareBps is \"10001\"")]
#[case(json!({"secondsDelay": 61}), "secondsDelay is \"61\"")]
#[case(json!({"secondsDelay": -1}), "secondsDelay is \"-1\"")]
#[case(json!({"feeSchedule": {"rate": 2}}), "feeSchedule.rate is \"2\"")]
#[case(json!({"feeSchedule": {"rate": 0.1, "exponent": 3}}), "feeSchedule.exponent is \"3\"")]
#[case(json!({"feeSchedule": {"rate": 0.1, "rebateRate": 1.5}}), "feeSchedule.rebateRate is \"1.5\"")]
fn what_cannot_open_has_names_and_says_why(#[case] changes: Value, #[case] text: &str) {
    let obstacle = terms(&changes).unwrap().obstacle.unwrap().to_string();
    assert!(obstacle.starts_with(text), "{obstacle}");
}

#[rstest]
#[case(json!({}), MarketTerms::default())]
#[case(
    json!({"secondsDelay": 3, "clearBookOnStart": true, "gameStartTime": "2026-01-23 12:30:00+00"}),
    MarketTerms {
        game_start_time: TimeMs(1_769_171_400_000), clear_book_on_start: true,
        taker_delay_ms: 3_000, ..MarketTerms::default()
    }
)]
#[case(json!({"clearBookOnStart": true}), MarketTerms::default())]
#[case(json!({"gameStartTime": "2026-01-23 12:30:00+00"}), MarketTerms::default())]
#[case(
    json!({"feeSchedule": {"rate": 0.04, "exponent": 1, "takerOnly": true, "rebateRate": "0.25"}}),
    MarketTerms { rebate_ppm: 250_000, ..MarketTerms::default() }
)]
#[case(
    json!({"makerBaseFee": 1000, "takerBaseFee": 1000, "makerRebatesFeeShareBps": 10000}),
    MarketTerms { rebate_ppm: 1_000_000, ..MarketTerms::default() }
)]
#[case(
    json!({"feesEnabled": false, "makerRebatesFeeShareBps": 10000}),
    MarketTerms::default()
)]
fn clock_delay_and_rebate_become_terms(#[case] changes: Value, #[case] clock: MarketTerms) {
    assert_eq!(terms(&changes).unwrap().clock, clock);
}

#[rstest]
#[case(true, "resolved", json!("[\"1\", \"0\"]"), Some(Payout::Yes))]
#[case(true, "Resolved", json!("[\"0.0\", \"1.0\"]"), Some(Payout::No))]
#[case(true, "resolved", json!(["0.5", 0.5]), Some(Payout::Half))]
#[case(true, "resolved", json!("[\"0.9999\", \"0.0001\"]"), None)]
#[case(true, "proposed", json!("[\"1\", \"0\"]"), None)]
#[case(false, "resolved", json!("[\"1\", \"0\"]"), None)]
#[case(true, "resolved", json!("[\"1\"]"), None)]
fn payouts_are_exact_and_said_to_be_final(
    #[case] closed: bool,
    #[case] status: &str,
    #[case] prices: Value,
    #[case] expected: Option<Payout>,
) {
    let changes = json!({"closed": closed, "umaResolutionStatus": status, "outcomePrices": prices});
    assert_eq!(market(&changes).payout, expected);
}
