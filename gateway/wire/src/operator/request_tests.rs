use proptest::prelude::*;
use rstest::rstest;

use super::*;

const WALLET: &str = "0x1111111111111111111111111111111111111111";
const CONDITION_ID: &str = "0x0202020202020202020202020202020202020202020202020202020202020202";

fn filled(body: &str) -> String {
    body.replace('W', WALLET).replace('C', CONDITION_ID)
}

#[test]
fn a_transfer_is_in_whole_units() {
    let body = filled(r#"{"wallet":"W","amount":"100.5","reference":"r1"}"#);
    assert_eq!(
        read_transfer(body.as_bytes()),
        Ok(Transfer {
            wallet: WalletAddress([0x11; 20]),
            amount: Micros(100_500_000),
            reference: "r1".into()
        })
    );
    assert_eq!(
        read_fees_withdrawal(br#"{"amount":"0.000001","reference":"r1"}"#),
        Ok(FeesWithdrawal {
            amount: Micros(1),
            reference: "r1".into()
        })
    );
}

#[rstest]
#[case(
    r#"{"wallet":"W","amount":"1"}"#,
    "reference is missing, allowed: a text of 1 to 64 printable characters"
)]
#[case(
    r#"{"wallet":"W","amount":"1","reference":""}"#,
    "reference is '', allowed: a text of 1 to 64 printable characters"
)]
#[case(
    r#"{"wallet":"W","amount":1,"reference":"r"}"#,
    "amount is 1, allowed: a text, whole units with up to six decimals, above 0"
)]
#[case(
    r#"{"wallet":"W","amount":"0","reference":"r"}"#,
    "amount is '0', allowed: a text, whole units with up to six decimals, above 0"
)]
#[case(
    r#"{"wallet":"W","amount":"-1","reference":"r"}"#,
    "amount is '-1', allowed: a text, whole units with up to six decimals, above 0"
)]
#[case(
    r#"{"wallet":"W","amount":"0.0000001","reference":"r"}"#,
    "amount is '0.0000001', allowed: a text, whole units with up to six decimals, above 0"
)]
#[case(
    r#"{"wallet":"0x1","amount":"1","reference":"r"}"#,
    "wallet is '0x1', allowed: an address, 0x and 40 hex digits"
)]
#[case(
    r#"{"wallet":"W","amount":"1","reference":"r","memo":1}"#,
    "the field 'memo' is unknown, allowed: wallet, amount, reference"
)]
#[case(
    r#"{"wallet":"W","amount":"1","amount":"2","reference":"r"}"#,
    "invalid body: the key 'amount' stands twice"
)]
#[case("[]", "invalid body: an array, allowed: an object")]
fn a_transfer_is_strict(#[case] body: &str, #[case] text: &str) {
    assert_eq!(
        read_transfer(filled(body).as_bytes()).unwrap_err().text(),
        text
    );
}

#[rstest]
#[case("proxy", Some(WalletKind::Proxy))]
#[case("safe", Some(WalletKind::Safe))]
#[case("deposit", Some(WalletKind::Deposit))]
#[case("eoa", None)]
#[case("1", None)]
fn a_binding_names_its_kind(#[case] word: &str, #[case] kind: Option<WalletKind>) {
    let body = filled(&format!(r#"{{"owner":"W","wallet":"W","kind":"{word}"}}"#));
    assert_eq!(
        read_binding(body.as_bytes())
            .ok()
            .map(|binding| binding.kind),
        kind
    );
}

#[test]
fn marks_and_names() {
    let read = |body: &str| filled(body).into_bytes();
    assert_eq!(
        read_unbinding(&read(r#"{"wallet":"W"}"#)),
        Ok(WalletAddress([0x11; 20]))
    );
    let closed = read_closed_only(&read(r#"{"wallet":"W","closed_only":true}"#)).unwrap();
    assert!(closed.closed_only);
    assert!(read_closed_only(&read(r#"{"wallet":"W"}"#)).is_err());
    assert_eq!(
        read_market_name(&read(r#"{"condition_id":"C"}"#)),
        Ok(ConditionId([2; 32]))
    );
    assert!(
        read_archive(&read(r#"{"condition_id":"C","archived":false}"#))
            .is_ok_and(|mark| !mark.archived)
    );
    let key =
        read_key_revocation(br#"{"api_key":"11111111-1111-1111-1111-111111111111"}"#).unwrap();
    assert_eq!(
        (key.api_key, key.cancel_orders),
        (ApiKey([0x11; 16]), false)
    );
}

#[test]
fn market_changes() {
    let read = |body: &str| filled(body).into_bytes();
    let tick = read_tick(&read(r#"{"condition_id":"C","tick_size":"0.001"}"#)).unwrap();
    assert_eq!(tick.tick, Tick::Thousandth);
    assert!(read_tick(&read(r#"{"condition_id":"C","tick_size":"0.05"}"#)).is_err());
    let minimum =
        read_minimum(&read(r#"{"condition_id":"C","minimum_order_size":"2.5"}"#)).unwrap();
    assert_eq!(minimum.minimum_size, Lots(250));
    let fee = read_fee(&read(
        r#"{"condition_id":"C","rate_ppm":40000,"exponent":1}"#,
    ))
    .unwrap();
    assert_eq!(
        fee.fee,
        FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1
        }
    );
    assert!(read_fee(&read(r#"{"condition_id":"C","rate_ppm":40000}"#)).is_err());
    assert!(read_fee(&read(r#"{"condition_id":"C","rate_ppm":1.5,"exponent":1}"#)).is_err());
    assert!(read_fee(&read(r#"{"condition_id":"C","rate_ppm":1,"exponent":256}"#)).is_err());
    for payout in Payout::ALL {
        let body = format!(
            r#"{{"condition_id":"C","payout":"{}"}}"#,
            payout_word(*payout)
        );
        assert_eq!(read_resolution(&read(&body)).unwrap().payout, *payout);
    }
    assert!(read_resolution(&read(r#"{"condition_id":"C","payout":"maybe"}"#)).is_err());
}

#[test]
fn modes_settings_and_domains() {
    for mode in SystemMode::ALL {
        let body = format!(r#"{{"mode":"{}"}}"#, mode_word(*mode));
        assert_eq!(read_mode(body.as_bytes()), Ok(*mode));
    }
    assert!(read_mode(br#"{"mode":"recovering"}"#).is_err());
    let change = read_settings(br#"{"marketable_minimum":"0","gtd_safety_seconds":30}"#).unwrap();
    let settings = change.applied_to(Settings::default());
    assert_eq!(
        settings,
        Settings {
            marketable_minimum: Micros(0),
            gtd_safety_seconds: 30,
            ..Settings::default()
        }
    );
    assert!(read_settings(br#"{"gtd_safety":30}"#).is_err());
    let body = filled(
        r#"{"number":1,"name":"Polymarket STF Exchange","version":"2","chain_id":80002,"verifying_contract":"W"}"#,
    );
    let domain = read_domain(body.as_bytes()).unwrap();
    assert_eq!(domain.number, DomainNumber(1));
    assert_eq!(domain.description.verifying_contract, WALLET);
    let evidence = domain.description.to_evidence().unwrap();
    assert_eq!(
        DomainDescription::from_evidence(&evidence),
        Some(domain.description)
    );
    assert!(read_domain(body.replace(":1,", ":256,").as_bytes()).is_err());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(body: Vec<u8>) {
        let _ = (read_transfer(&body), read_settings(&body), read_domain(&body), read_fee(&body));
    }
}
