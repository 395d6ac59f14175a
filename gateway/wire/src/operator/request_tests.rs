use proptest::prelude::*;
use rstest::rstest;

use foretell_model::{Hold, TokenId};

use super::*;
use crate::operator::{EventRegistration, MarketRegistration, OperatorCommand};
use crate::operator::{EventSummary, MarketDescription, MarketTerms, payout_word};
use crate::read::RequestBody;
use crate::text::words::mode_word;
use crate::{ErrorCode, json_text};

const WALLET: &str = "0x1111111111111111111111111111111111111111";
const CONDITION_ID: &str = "0x0202020202020202020202020202020202020202020202020202020202020202";

fn filled(body: &str) -> String {
    body.replace('W', WALLET).replace('C', CONDITION_ID)
}

#[test]
fn a_transfer_is_in_whole_units() {
    let body = filled(r#"{"wallet":"W","amount":"100.5","reference":"r1"}"#);
    assert_eq!(
        Transfer::read(body.as_bytes()),
        Ok(Transfer {
            wallet: WalletAddress([0x11; 20]),
            amount: Micros(100_500_000),
            reference: "r1".into()
        })
    );
    assert_eq!(
        FeesWithdrawal::read(br#"{"amount":"0.000001","reference":"r1"}"#),
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
    "wallet is '0x1', allowed: an address, 0x and 40 hex digits; in mixed case with its checksum (EIP-55)"
)]
#[case(
    r#"{"wallet":"0xAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","amount":"1","reference":"r"}"#,
    "wallet is '0xAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', allowed: an address, 0x and 40 hex digits; in mixed case with its checksum (EIP-55)"
)]
#[case(
    r#"{"wallet":"W","amount":"1","reference":"r","memo":1}"#,
    "the field 'memo' is unknown, allowed: wallet, amount, reference"
)]
#[case(
    r#"{"wallet":"W","amount":"1","amount":"2","reference":"r"}"#,
    "invalid body: the key 'amount' is repeated, allowed: once"
)]
#[case("[]", "invalid body: an array, allowed: an object")]
fn a_transfer_is_strict(#[case] body: &str, #[case] text: &str) {
    assert_eq!(
        Transfer::read(filled(body).as_bytes()).unwrap_err().text(),
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
        Binding::read(body.as_bytes())
            .ok()
            .map(|binding| binding.kind),
        kind
    );
}

#[test]
fn marks_and_names() {
    let bytes = |body: &str| filled(body).into_bytes();
    assert_eq!(
        WalletName::read(&bytes(r#"{"wallet":"W"}"#)),
        Ok(WalletName {
            wallet: WalletAddress([0x11; 20])
        })
    );
    let closed = ClosedOnly::read(&bytes(r#"{"wallet":"W","closed_only":true}"#)).unwrap();
    assert!(closed.closed_only);
    assert!(ClosedOnly::read(&bytes(r#"{"wallet":"W"}"#)).is_err());
    assert_eq!(
        MarketName::read(&bytes(r#"{"condition_id":"C"}"#)),
        Ok(MarketName {
            condition_id: ConditionId([2; 32])
        })
    );
    assert!(
        Archive::read(&bytes(r#"{"condition_id":"C","archived":false}"#))
            .is_ok_and(|mark| !mark.archived)
    );
    let key =
        KeyRevocation::read(br#"{"api_key":"11111111-1111-1111-1111-111111111111"}"#).unwrap();
    assert_eq!((key.api_key, key.cancel_orders), (ApiKey([0x11; 16]), None));
}

#[test]
fn market_changes() {
    let bytes = |body: &str| filled(body).into_bytes();
    let tick = TickChange::read(&bytes(r#"{"condition_id":"C","tick_size":"0.001"}"#)).unwrap();
    assert_eq!(tick.tick_size, Tick::Thousandth);
    assert!(TickChange::read(&bytes(r#"{"condition_id":"C","tick_size":"0.05"}"#)).is_err());
    let minimum =
        MinimumChange::read(&bytes(r#"{"condition_id":"C","minimum_order_size":"2.5"}"#)).unwrap();
    assert_eq!(minimum.minimum_order_size, Lots(250));
    let fee = FeeChange::read(&bytes(
        r#"{"condition_id":"C","rate_ppm":40000,"exponent":1}"#,
    ))
    .unwrap();
    assert_eq!(
        fee.fee(),
        FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1
        }
    );
    assert!(FeeChange::read(&bytes(r#"{"condition_id":"C","rate_ppm":40000}"#)).is_err());
    assert!(
        FeeChange::read(&bytes(
            r#"{"condition_id":"C","rate_ppm":1.5,"exponent":1}"#
        ))
        .is_err()
    );
    assert!(
        FeeChange::read(&bytes(
            r#"{"condition_id":"C","rate_ppm":1,"exponent":256}"#
        ))
        .is_err()
    );
    for payout in Payout::ALL {
        let body = format!(
            r#"{{"condition_id":"C","payout":"{}"}}"#,
            payout_word(*payout)
        );
        let named = Resolution::read(&bytes(&body)).unwrap().payout;
        let labels = MarketDescription::default().outcomes;
        assert_eq!(named.among("payout", &labels), Ok(*payout));
    }
    assert!(Resolution::read(&bytes(r#"{"condition_id":"C","payout":""}"#)).is_err());
}

#[test]
fn modes_and_settings() {
    for mode in SystemMode::ALL {
        let body = format!(r#"{{"mode":"{}"}}"#, mode_word(*mode));
        assert_eq!(
            ModeChange::read(body.as_bytes()),
            Ok(ModeChange { mode: *mode })
        );
    }
    assert!(ModeChange::read(br#"{"mode":"recovering"}"#).is_err());
    let change =
        SettingsChange::read(br#"{"marketable_minimum":"0","gtd_safety_seconds":30}"#).unwrap();
    let settings = change.update().applied_to(Settings::default());
    assert_eq!(
        settings,
        Settings {
            marketable_minimum: Micros(0),
            gtd_safety_seconds: 30,
            ..Settings::default()
        }
    );
    assert!(SettingsChange::read(br#"{"gtd_safety":30}"#).is_err());
}

/// Every command in one body of its own; the reader gives back the same request.
#[test]
fn what_a_client_writes_is_what_the_surface_reads() {
    fn again<T>(request: T, command: impl Fn(T) -> OperatorCommand)
    where
        T: Clone + PartialEq + core::fmt::Debug + RequestBody,
    {
        let body = json_text(&command(request.clone()));
        assert_eq!(T::read(body.as_bytes()), Ok(request), "{body}");
    }
    let (wallet, condition_id) = (WalletAddress([0x11; 20]), ConditionId([7; 32]));
    let (amount, reference) = (Micros(1_500_001), "r \"1\"".to_owned());
    let transfer = Transfer {
        wallet,
        amount,
        reference: reference.clone(),
    };
    again(transfer.clone(), OperatorCommand::Deposit);
    again(transfer, OperatorCommand::Withdraw);
    let fees = FeesWithdrawal { amount, reference };
    again(fees, OperatorCommand::WithdrawFees);
    let (owner, kind) = (WalletAddress([0x22; 20]), WalletKind::Safe);
    let binding = Binding {
        owner,
        wallet,
        kind,
    };
    again(binding, OperatorCommand::BindWallet);
    again(WalletName { wallet }, OperatorCommand::UnbindWallet);
    let closed_only = ClosedOnly {
        wallet,
        closed_only: true,
    };
    again(closed_only, OperatorCommand::SetClosedOnly);
    for cancel_orders in [None, Some(true)] {
        let api_key = ApiKey([3; 16]);
        let revocation = KeyRevocation {
            api_key,
            cancel_orders,
        };
        again(revocation, OperatorCommand::RevokeKey);
    }
    let event = EventRegistration {
        event_id: 5,
        title: "T".into(),
        slug: "s".into(),
        ticker: "t".into(),
        description: String::new(),
        tags: Vec::new(),
    };
    again(event, OperatorCommand::RegisterEvent);
    for command in [
        OperatorCommand::ActivateMarket,
        OperatorCommand::CloseMarket,
    ] {
        again(MarketName { condition_id }, command);
    }
    for command in [OperatorCommand::PauseMarket, OperatorCommand::ResumeMarket] {
        for hold in [None, Some(Hold::Operator), Some(Hold::Upstream)] {
            again(HoldChange { condition_id, hold }, command);
        }
    }
    for payout in Payout::ALL.iter().copied() {
        let resolution = Resolution {
            proposal: Some(7),
            ..Resolution::new(condition_id, payout)
        };
        again(resolution, OperatorCommand::ResolveMarket);
    }
    let archive = Archive {
        condition_id,
        archived: true,
    };
    again(archive, OperatorCommand::ArchiveMarket);
    let tick = TickChange {
        condition_id,
        tick_size: Tick::TenThousandth,
    };
    again(tick, OperatorCommand::SetTick);
    let minimum = MinimumChange {
        condition_id,
        minimum_order_size: Lots(1),
    };
    again(minimum, OperatorCommand::SetMinimumSize);
    let fee = FeeChange {
        condition_id,
        rate_ppm: 40_000,
        exponent: 1,
    };
    again(fee, OperatorCommand::SetFee);
    for mode in SystemMode::ALL.iter().copied() {
        again(ModeChange { mode }, OperatorCommand::SetMode);
    }
    let settings = SettingsChange::from(Settings::default());
    again(settings, OperatorCommand::ChangeSettings);
}

#[test]
fn what_a_client_writes_of_a_market_is_what_the_surface_reads() {
    let description = MarketDescription {
        question: "Will it?".into(),
        slug: "will-it".into(),
        outcomes: ["Up".into(), "Down".into()],
        tags: vec!["Weather".into()],
        end_date: Some("2026-07-01T00:00:00Z".into()),
        market_id: 9,
        event: Some(EventSummary {
            id: Some(5),
            slug: "it".into(),
            ..EventSummary::default()
        }),
        ..MarketDescription::default()
    };
    let terms = MarketTerms::new(ConditionId([7; 32]), [TokenId([1; 32]), TokenId([2; 32])]);
    let all_terms = MarketTerms {
        tick_size: Some(Tick::Thousandth),
        tick_refines: Some(false),
        minimum_order_size: Some(Lots(1_550)),
        fee: Some(FeeSchedule {
            rate_ppm: 40_000,
            exponent: 1,
        }),
        event_id: Some(5),
        activate: Some(false),
        ..terms
    };
    for terms in [terms, all_terms] {
        let description = description.clone();
        let market = MarketRegistration { terms, description };
        let command = OperatorCommand::RegisterMarket(Box::new(market.clone()));
        let body = json_text(&command);
        assert_eq!(
            MarketRegistration::read(body.as_bytes()),
            Ok(market),
            "{body}"
        );
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(body: Vec<u8>) {
        let _ = (Transfer::read(&body), SettingsChange::read(&body), FeeChange::read(&body));
    }
}

#[rstest]
#[case(r#"{"wallet":"W","reference":"r"}"#, ErrorCode::MissingField)]
#[case(
    r#"{"wallet":"W","amount":"-1","reference":"r"}"#,
    ErrorCode::InvalidField
)]
#[case(
    r#"{"wallet":"W","amount":"1","reference":"r","memo":1}"#,
    ErrorCode::InvalidContent
)]
fn a_wrong_body_has_the_code_of_its_problem(#[case] body: &str, #[case] code: ErrorCode) {
    let error = Transfer::read(filled(body).as_bytes()).unwrap_err();
    assert_eq!(error.code(), code);
}
