//! Account actions: `POST /positions/split`, `/merge`, `/redeem`, `/convert`
//! (docs/api/positions.md).

use serde::{Deserialize, Serialize};

use foretell_model::limits::{MAX_ORDER_LOTS, MAX_QUESTIONS};
use foretell_model::{ConditionId, EventId, Lots, Micros, QuestionSet, WalletAddress};

use crate::errors::api_error::{ApiError, FieldError};
use crate::read::body::{TRADING, bodies};
use crate::schema::JsonSchema;
use crate::text::decimal::{self, Decimal};
use crate::text::ids::TokenRef;
use crate::values::{
    self, Condition, Each, Filled, Optional, OrDefault, Readable as _, Reference, Uint, Wallet,
    values,
};

/// A split or merge.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SetsAction {
    /// The wallet; by default the owner's only bound wallet, else the owner.
    #[serde(with = "OrDefault::<Filled<Wallet>>")]
    pub wallet: Option<WalletAddress>,
    /// The market.
    #[serde(rename = "conditionId", with = "Condition")]
    pub condition: ConditionId,
    /// Number of sets, in micro-shares, a multiple of 10000, up to 1000000000000000.
    #[serde(rename = "amount", with = "ShareMicros")]
    pub lots: Lots,
    /// Idempotency reference, unique per wallet for 30 days among the newest 512.
    #[serde(with = "Reference")]
    pub reference: String,
}

/// A redeem.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct RedeemAction {
    /// The wallet; by default the owner's only bound wallet, else the owner.
    #[serde(with = "OrDefault::<Filled<Wallet>>")]
    pub wallet: Option<WalletAddress>,
    /// The market.
    #[serde(rename = "conditionId", with = "Condition")]
    pub condition: ConditionId,
    /// Idempotency reference, unique per wallet for 30 days among the newest 512.
    #[serde(with = "Reference")]
    pub reference: String,
}

/// A convert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConvertAction {
    /// As in [`SetsAction`].
    pub wallet: Option<WalletAddress>,
    /// The event group.
    pub event: EventId,
    /// The questions whose No shares are converted; not empty.
    pub questions: QuestionNames,
    /// Number of No shares of each question, above 0.
    pub lots: Lots,
    /// As in [`SetsAction`].
    pub reference: String,
}

/// Names of questions of an event group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionNames {
    /// By the bits of their indexes ([`foretell_model::QuestionIndex`]).
    Bits(QuestionSet),
    /// By condition.
    Conditions(Vec<ConditionId>),
}

impl QuestionNames {
    /// How many questions are named.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Bits(bits) => bits.count() as usize,
            Self::Conditions(conditions) => conditions.len(),
        }
    }

    /// The names as they were sent, for the evidence of the command.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Bits(QuestionSet { low, high }) => {
                format!("indexSet={}", u128::from(*high) << 64 | u128::from(*low))
            }
            Self::Conditions(conditions) => {
                let texts: Vec<_> = conditions.iter().map(ToString::to_string).collect();
                format!("conditionIds={}", texts.join(","))
            }
        }
    }
}

/// Kind of account action. `/activity` uses the same words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ActionKind {
    /// Collateral into full sets.
    Split,
    /// Full sets into collateral.
    Merge,
    /// Holdings of a resolved market into their payout.
    Redeem,
    /// No shares of some questions into collateral and Yes shares of the others.
    Conversion,
}

/// A change of one share balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ShareChange {
    /// The token, in the data surface's form.
    #[serde(with = "values::Asset")]
    pub asset: TokenRef,
    /// Whole shares; negative when the wallet lost them.
    #[serde(with = "values::DecimalText")]
    pub amount: Decimal,
}

/// The effect of an account action on its wallet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionEffect {
    /// Kind of action.
    #[serde(rename = "type")]
    pub kind: ActionKind,
    /// Collateral in whole units; negative when the wallet paid it.
    #[serde(with = "values::DecimalText")]
    pub collateral: Decimal,
    /// Changed balances only, by market, then outcome.
    pub shares: Vec<ShareChange>,
}

/// Answer of an account action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActionAnswer {
    /// Always true; a rejection is sent as an error.
    #[schemars(extend("const" = true))]
    pub success: bool,
    /// The wallet that acted.
    #[serde(with = "values::Address")]
    pub wallet: WalletAddress,
    /// The effect.
    #[serde(flatten)]
    pub moved: ActionEffect,
    /// Sequence of the command.
    pub sequence: u64,
    /// Receipt of the journal frame.
    #[serde(rename = "transactionHash", with = "values::Bytes")]
    pub transaction_hash: [u8; 32],
    /// Whether the action was already applied under the same reference.
    pub duplicate: bool,
    /// What a redeem finds already paid: then it moves nothing. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub already_paid: Option<PaidBefore>,
}

/// What the settlement of a market, or an earlier redeem, paid a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct PaidBefore {
    /// Collateral in whole units; 0 for a wallet that held nothing of worth.
    #[serde(with = "values::Amount")]
    pub amount: Micros,
    /// Sequence of the payment.
    pub sequence: u64,
}

values! {
    /// Micro-shares that are whole lots.
    ShareMicros { reads Lots: str { "pattern": "^[1-9][0-9]{0,11}0000$" }, "a text of digits, micros, a multiple of 10000, 10000 to 1000000000000000", lots; }
    Event { reads EventId: Uint, "an event id, digits", |id: &Uint| id.to_u64().map(EventId); }
    /// A bit set of at most 128 questions; bit i is the question with index i.
    IndexSet { reads QuestionSet: Uint, "digits, 1 to 2^128 - 1", index_set; }
}

fn lots(text: &str) -> Option<Lots> {
    let lots = Lots::from_micro_shares(decimal::digits_u64(text).ok()?);
    lots.filter(|lots| (Lots(1)..=MAX_ORDER_LOTS).contains(lots))
}

fn index_set(digits: &Uint) -> Option<QuestionSet> {
    let bits = digits.to_u128().filter(|bits| *bits > 0)?;
    let half = |shift: u32| u64::try_from(bits >> shift & u128::from(u64::MAX)).ok();
    Some(QuestionSet {
        low: half(0)?,
        high: half(64)?,
    })
}

bodies!(TRADING: SetsAction, RedeemAction);

/// The body of `POST /positions/convert`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConvertAction")]
struct ConvertFields {
    /// The wallet; by default the owner's only bound wallet, else the owner.
    #[serde(with = "OrDefault::<Filled<Wallet>>")]
    wallet: Option<WalletAddress>,
    #[serde(with = "Event")]
    event_id: EventId,
    /// Conditions of the questions, in place of `indexSet`.
    #[serde(with = "Optional::<Each<Condition>>")]
    #[schemars(extend("minItems" = 1, "maxItems" = MAX_QUESTIONS))]
    condition_ids: Option<Vec<ConditionId>>,
    /// Bit i selects the question with index i of the event group. Either this or `conditionIds`.
    #[serde(with = "Optional::<IndexSet>")]
    index_set: Option<QuestionSet>,
    /// Number of No shares of each question, in micro-shares, a multiple of 10000, up to
    /// 1000000000000000.
    #[serde(with = "ShareMicros")]
    amount: Lots,
    /// Idempotency reference, unique per wallet for 30 days among the newest 512.
    #[serde(with = "Reference")]
    reference: String,
}

bodies!(TRADING: ConvertFields => ConvertAction);

impl TryFrom<ConvertFields> for ConvertAction {
    type Error = ApiError;

    fn try_from(fields: ConvertFields) -> Result<Self, ApiError> {
        Ok(Self {
            wallet: fields.wallet,
            event: fields.event_id,
            questions: question_names(fields.condition_ids, fields.index_set)?,
            lots: fields.amount,
            reference: fields.reference,
        })
    }
}

fn question_names(
    conditions: Option<Vec<ConditionId>>,
    index_set: Option<QuestionSet>,
) -> Result<QuestionNames, FieldError> {
    const FIELD: &str = "conditionIds";
    const ALLOWED: &str = "an array of 1 to 128 condition ids, without indexSet";
    match (conditions, index_set) {
        (None, None) => Err(FieldError::missing("indexSet", IndexSet::ALLOWED)),
        (None, Some(bits)) => Ok(QuestionNames::Bits(bits)),
        (Some(_), Some(_)) => Err(FieldError {
            field: FIELD,
            value: Some("an array".to_owned()),
            allowed: ALLOWED,
        }),
        (Some(conditions), None) => {
            if (1..=MAX_QUESTIONS as usize).contains(&conditions.len()) {
                return Ok(QuestionNames::Conditions(conditions));
            }
            let count = format!("{} ids", conditions.len());
            Err(FieldError::wrong(FIELD, &count, ALLOWED))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::error_code::ErrorCode;
    use crate::read::RequestBody as _;
    use foretell_model::Outcome;
    use proptest::prelude::*;
    use rstest::rstest;

    const CONDITION: &str = "0x0202020202020202020202020202020202020202020202020202020202020202";

    fn sets(amount: &str) -> String {
        format!(r#"{{"conditionId":"{CONDITION}","amount":{amount},"reference":"r1"}}"#)
    }

    #[test]
    fn a_split_names_market_amount_and_reference() {
        let action = SetsAction::read(sets(r#""1500000""#).as_bytes()).unwrap();
        assert_eq!(
            action,
            SetsAction {
                wallet: None,
                condition: ConditionId([2; 32]),
                lots: Lots(150),
                reference: "r1".into()
            }
        );
    }

    #[rstest]
    #[case(r#""0""#)]
    #[case(r#""1""#)]
    #[case(r#""15000""#)]
    #[case(r#""1.5""#)]
    #[case(r#""-10000""#)]
    #[case("10000")]
    #[case("null")]
    #[case(r#""18446744073709560000""#)]
    fn an_amount_is_whole_lots_in_micros(#[case] amount: &str) {
        let error = SetsAction::read(sets(amount).as_bytes()).unwrap_err();
        assert!(error.text().starts_with("amount is "), "{error}");
    }

    #[rstest]
    #[case("7", 7, 0)]
    #[case(r#""5""#, 5, 0)]
    #[case(r#""340282366920938463463374607431768211455""#, u64::MAX, u64::MAX)]
    #[case("18446744073709551616", 0, 1)]
    fn an_index_set_is_a_number_or_text(#[case] set: &str, #[case] low: u64, #[case] high: u64) {
        let body =
            format!(r#"{{"eventId":"42","indexSet":{set},"amount":"10000","reference":"r"}}"#);
        let action = ConvertAction::read(body.as_bytes()).unwrap();
        assert_eq!(
            action.questions,
            QuestionNames::Bits(QuestionSet { low, high })
        );
        assert_eq!(action.event, EventId(42));
    }

    #[test]
    fn condition_ids_name_one_to_128_questions() {
        let id = |byte: u8| format!("0x{}", hex::encode([byte; 32]));
        let read = |list: &[String]| {
            let list = serde_json::to_string(list).unwrap();
            let body = format!(
                r#"{{"eventId":42,"conditionIds":{list},"amount":"10000","reference":"r"}}"#
            );
            ConvertAction::read(body.as_bytes())
        };
        let all: Vec<String> = (1..=128).map(id).collect();
        let QuestionNames::Conditions(read_back) = read(&all).unwrap().questions else {
            panic!("names by condition");
        };
        assert_eq!((read_back.len(), read_back[127].0), (128, [128; 32]));
        for (list, shown) in [
            (vec![], "conditionIds is '0 ids'"),
            ((1..=129).map(id).collect(), "conditionIds is '129 ids'"),
            (vec![id(1), "0x12".to_owned()], "conditionIds is '0x12'"),
        ] {
            let error = read(&list).unwrap_err();
            assert!(error.text().starts_with(shown), "{error}");
        }
    }

    #[rstest]
    #[case("0")]
    #[case("-1")]
    #[case("1.5")]
    #[case(r#""340282366920938463463374607431768211456""#)]
    #[case("[1]")]
    #[case("null")]
    fn an_index_set_names_one_to_128_questions(#[case] set: &str) {
        let body = format!(r#"{{"eventId":42,"indexSet":{set},"amount":"10000","reference":"r"}}"#);
        let error = ConvertAction::read(body.as_bytes()).unwrap_err();
        assert!(error.text().starts_with("indexSet is "), "{error}");
    }

    #[test]
    fn a_reference_has_1_to_64_characters() {
        let body = |reference: &str| {
            format!(r#"{{"conditionId":"{CONDITION}","reference":"{reference}"}}"#)
        };
        assert!(RedeemAction::read(body(&"é".repeat(64)).as_bytes()).is_ok());
        assert!(RedeemAction::read(body(&"x".repeat(65)).as_bytes()).is_err());
        assert!(RedeemAction::read(body("").as_bytes()).is_err());
    }

    /// References are journalled and printed at terminals.
    #[test]
    fn a_reference_holds_printable_characters_only() {
        let read = |reference: &str| {
            let body = serde_json::json!({ "conditionId": CONDITION, "reference": reference });
            RedeemAction::read(body.to_string().as_bytes()).map(|action| action.reference)
        };
        for good in ["it's \"r-1\"", "e\u{301}té", "ยำ", "日本 🚀"] {
            assert_eq!(read(good).as_deref(), Ok(good));
        }
        for bad in [
            "\0",
            "a\x1b[31m",
            "a\nb",
            "\u{9b}31m",
            "a\u{202e}b",
            "a\u{200b}",
        ] {
            let error = read(bad).unwrap_err();
            assert_eq!(error.status(), 400);
            let shown = crate::errors::api_error::quoted(bad);
            assert_eq!(
                error.text(),
                format!("reference is {shown}, allowed: a text of 1 to 64 printable characters")
            );
        }
    }

    const SETS: [(&str, &str); 3] = [
        ("conditionId", CONDITION),
        ("amount", "10000"),
        ("reference", "r"),
    ];

    /// The fields of [`SETS`] with one field replaced by `value`, or left out.
    fn sets_with(field: &str, value: Option<&str>) -> String {
        let fields = SETS.iter().filter_map(|(name, usual)| {
            let usual = format!("\"{usual}\"");
            let value = if *name == field {
                value
            } else {
                Some(usual.as_str())
            };
            value.map(|value| format!("\"{name}\":{value}"))
        });
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    }

    #[rstest]
    fn every_field_is_needed_and_is_a_text(
        #[values("conditionId", "amount", "reference")] field: &str,
        #[values(
            None,
            Some("null"),
            Some("\"\""),
            Some("7"),
            Some("true"),
            Some("[]"),
            Some("{}")
        )]
        value: Option<&str>,
    ) {
        let body = sets_with(field, value);
        let error = SetsAction::read(body.as_bytes()).unwrap_err();
        assert_eq!(error.status(), 400);
        assert!(error.text().starts_with(&format!("{field} is ")), "{error}");
    }

    #[rstest]
    #[case(r#""0x1234""#)]
    #[case("7")]
    #[case("{}")]
    fn a_wallet_is_an_address(#[case] wallet: &str) {
        let body = sets_with("", None).replacen('{', &format!("{{\"wallet\":{wallet},"), 1);
        let error = SetsAction::read(body.as_bytes()).unwrap_err();
        assert!(error.text().starts_with("wallet is "), "{error}");
    }

    #[test]
    fn a_key_stands_once_and_an_unknown_one_does_not_matter() {
        let body = sets_with("", None);
        let twice = body.replacen('{', r#"{"amount":"10000","#, 1);
        assert_eq!(
            SetsAction::read(twice.as_bytes()),
            Err(ErrorCode::RepeatedJsonKey.with([&"'amount'"]))
        );
        let more = body.replacen('{', r#"{"note":[1],"wallet":null,"#, 1);
        assert_eq!(
            SetsAction::read(more.as_bytes()),
            SetsAction::read(body.as_bytes())
        );
    }

    #[test]
    fn an_answer_tells_what_came_and_what_went() {
        let market = ConditionId([2; 32]);
        let moved = |outcome, amount| ShareChange {
            asset: TokenRef::Asset(market, outcome),
            amount,
        };
        let mut answer = ActionAnswer {
            success: true,
            wallet: WalletAddress([3; 20]),
            moved: ActionEffect {
                kind: ActionKind::Split,
                collateral: Decimal::micros(-1_500_000),
                shares: vec![
                    moved(Outcome::Yes, Decimal::new(150, 2)),
                    moved(Outcome::No, Decimal::new(150, 2)),
                ],
            },
            sequence: 7,
            transaction_hash: [1; 32],
            duplicate: false,
            already_paid: None,
        };
        let expected = format!(
            r#"{{"success":true,"wallet":"0x{}","type":"SPLIT","collateral":"-1.5","shares":[{{"asset":"{CONDITION}:0","amount":"1.5"}},{{"asset":"{CONDITION}:1","amount":"1.5"}}],"sequence":7,"transactionHash":"0x{}","duplicate":false}}"#,
            "03".repeat(20),
            "01".repeat(32)
        );
        assert_eq!(crate::json_text(&answer), expected);
        answer.already_paid = Some(PaidBefore {
            amount: Micros(2_500_000),
            sequence: 6,
        });
        let paid = r#","duplicate":false,"already_paid":{"amount":"2.5","sequence":6}}"#;
        assert!(crate::json_text(&answer).ends_with(paid));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>) {
            let _ = (SetsAction::read(&body), RedeemAction::read(&body), ConvertAction::read(&body));
        }
    }
}
