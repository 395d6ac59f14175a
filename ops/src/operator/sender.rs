//! Sends a command: its arguments are the body, the path is that of its kind.

use std::process::ExitCode;

use foretell_model::CommandKind;
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_wire::operator::{CommandAnswer, OperatorCommand};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{client, market_names, show};
use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;
use crate::runtime;

/// Sends a command with these arguments and prints the answer.
///
/// # Errors
/// The surface cannot be reached or rejects the command, or the market that an argument names is
/// unknown.
pub(super) fn send(
    config: &Config,
    act: Option<CommandKind>,
    arguments: &impl Serialize,
    output: Output,
) -> Result<ExitCode, Failure> {
    let kind = act.expect("the table of acts has the command line's place of this command");
    let client = client::connect(config)?;
    let answer = runtime::small()?.block_on(async {
        let body = Body::of(&client, arguments).await?;
        let answer: Result<CommandAnswer, _> = client.post(path(kind), &body.fields).await;
        let mut answer = json!(answer.map_err(|error| body.safe_repeat(error))?);
        // A generated idempotency key is printed: only with it can the caller repeat the command
        // safely.
        if let Some(reference) = body.reference {
            answer["reference"] = reference.into();
        }
        Ok::<Value, Failure>(answer)
    })?;
    output.answer(&answer, show::applied);
    Ok(ExitCode::SUCCESS)
}

/// The path of a command that operators send.
pub(crate) fn path(kind: CommandKind) -> &'static str {
    OperatorCommand::path_of(kind).expect("a command of operators")
}

struct Body {
    fields: Map<String, Value>,
    /// The idempotency key among the fields.
    reference: Option<String>,
}

impl Body {
    /// The given arguments as fields: a `market` as its `condition_id`, an `idempotency_key` as the
    /// `reference`, which is a new one if the argument is absent.
    async fn of(client: &OperatorClient, arguments: &impl Serialize) -> Result<Self, Failure> {
        let arguments = serde_json::to_value(arguments);
        let Ok(Value::Object(mut fields)) = arguments else {
            return Err(Failure::new(format!(
                "arguments without names: {arguments:?}"
            )));
        };
        if let Some(Value::String(market)) = fields.remove("market") {
            let condition_id = market_names::condition_id(client, &market).await?;
            fields.insert("condition_id".to_owned(), condition_id.into());
        }
        let reference = fields.remove("idempotency_key").map(|key| match key {
            Value::String(given) => given,
            _ => uuid::Uuid::new_v4().to_string(),
        });
        if let Some(reference) = &reference {
            fields.insert("reference".to_owned(), reference.as_str().into());
        }
        fields.retain(|_, value| !value.is_null());
        Ok(Self { fields, reference })
    }

    /// Names the reference of a command that may have been applied: a repeat with another one could
    /// apply it twice.
    fn safe_repeat(&self, error: OperatorError) -> Failure {
        let may_be_applied = !matches!(
            error,
            OperatorError::Unreachable { .. }
                | OperatorError::Rejected {
                    status: 400..=499,
                    ..
                }
        );
        let failure = Failure::from(error);
        match &self.reference {
            Some(reference) if may_be_applied => {
                failure.hint(format!("the same command with --reference {reference}"))
            }
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_wire::operator::{
        Archive, Binding, ClosedOnly, DisputeRequest, EventEdit, EventRegistration, FeeChange,
        FeesWithdrawal, Finalisation, HoldChange, KeyRevocation, MarketEdit, MarketName,
        MinimumChange, ModeChange, Nothing, OperatorAddition, OperatorRevocation, PaymentsChange,
        PolicyChange, ProposalRequest, ProposalWithdrawal, TermsChange, TickChange, Transfer,
        WalletListing, WalletName, WithdrawalName, WithdrawalPayment,
    };
    use foretell_wire::read::RequestBody;

    use super::*;
    use crate::cli::{Cli, Command};
    use crate::operator::arguments::{Operators, System};

    const MARKET: &str = "0x3333333333333333333333333333333333333333333333333333333333333333";
    const WALLET: &str = "0x1111111111111111111111111111111111111111";
    const KEY: &str = "7d444840-9dc0-41d1-b245-5ffdce74fad2";

    /// The body of a command line, whose words are separated by spaces; the exchange reads it as
    /// `T`. A `MARKET`, `WALLET`, `KEY` or `WIRE` stands for one.
    fn body<T: RequestBody>(line: &str) -> Body {
        let words = line.split(' ').map(|word| match word {
            "MARKET" => MARKET,
            "WALLET" => WALLET,
            "KEY" => KEY,
            "WIRE" => "wire 1",
            other => other,
        });
        let cli = Cli::read(std::iter::once("foretell").chain(words)).expect(line);
        let is_set_here = matches!(
            cli.command,
            Command::System(System::Mode { .. } | System::Payments { .. })
                | Command::Operators(Operators::Add(_))
        );
        assert_eq!(cli.act.is_none(), is_set_here, "{line}");
        let arguments = match cli.command {
            Command::Market(command) => json!(command),
            Command::Account(command) => json!(command),
            Command::Withdrawals(command) => json!(command),
            Command::Operators(command) => json!(command),
            Command::Keys(command) => json!(command),
            Command::System(command) => json!(command),
            other => panic!("{other:?}"),
        };
        let client = OperatorClient::new("http://127.0.0.1:1", "").expect("a client");
        let runtime = runtime::small().expect("a runtime");
        let body = runtime.block_on(Body::of(&client, &arguments));
        let body = body.expect("no market is looked up");
        if let Err(error) = T::read(json!(body.fields).to_string().as_bytes()) {
            panic!("{line}: {}", error.text());
        }
        body
    }

    fn check<T: RequestBody>(line: &str, expected: Value) {
        assert_eq!(json!(body::<T>(line).fields), expected, "{line}");
    }

    #[test]
    fn the_arguments_of_a_market_are_the_body() {
        let of = |fields: Value| {
            let mut body = json!({ "condition_id": MARKET });
            let fields = fields.as_object().cloned().unwrap_or_default();
            body.as_object_mut().expect("an object").extend(fields);
            body
        };
        check::<EventRegistration>("market event new T", json!({ "event_id": 0, "title": "T" }));
        check::<EventEdit>(
            "market describe-event 7 --slug s --tag a --tag b",
            json!({ "event_id": 7, "slug": "s", "tags": ["a", "b"] }),
        );
        check::<MarketEdit>(
            "market describe MARKET --outcomes Up Down --end-date 2027-01-01",
            of(json!({ "outcomes": ["Up", "Down"], "end_date": "2027-01-01" })),
        );
        check::<MarketName>("market activate MARKET", of(json!({})));
        check::<HoldChange>("market pause MARKET", of(json!({})));
        check::<HoldChange>("market resume MARKET", of(json!({})));
        let upstream = of(json!({ "hold": "upstream" }));
        check::<HoldChange>("market resume MARKET --upstream", upstream);
        check::<Archive>("market archive MARKET", of(json!({ "archived": true })));
        let shown = of(json!({ "archived": false }));
        check::<Archive>("market archive MARKET --undo", shown);
        let tick = of(json!({ "tick_size": "0.001" }));
        check::<TickChange>("market tick MARKET 0.001", tick);
        let minimum = of(json!({ "minimum_order_size": "10" }));
        check::<MinimumChange>("market minimum-size MARKET 10", minimum);
        let fee = of(json!({ "rate_ppm": 20_000, "exponent": 1 }));
        check::<FeeChange>("market fee MARKET 20000", fee);
        check::<TermsChange>(
            "market terms MARKET --clear-book-on-start true --taker-delay-ms 400 --opens-at ",
            of(json!({ "opens_at": "", "clear_book_on_start": true, "taker_delay_ms": 400 })),
        );
        check::<DisputeRequest>(
            "market dispute MARKET --counter No --wallet WALLET",
            of(json!({ "counter": "No", "wallet": WALLET })),
        );
        check::<ProposalWithdrawal>("market withdraw-proposal MARKET", of(json!({})));
        let proposal = of(json!({ "proposal": 9 }));
        check::<Finalisation>("market finalise MARKET --proposal 9", proposal);
        check::<PolicyChange>("market policy --by-time false", json!({ "by_time": false }));
        check::<PolicyChange>(
            "market policy --market MARKET --proposers admin,read-only --window 60",
            of(json!({ "proposers": ["admin", "read-only"], "minimum_window_seconds": 60 })),
        );
        check::<MarketName>("market policy-clear MARKET", of(json!({})));
        check::<WalletListing>(
            "market policy-wallet WALLET --propose",
            json!({ "wallet": WALLET, "propose": true, "dispute": false }),
        );
    }

    #[test]
    fn the_arguments_of_people_and_payments_are_the_body() {
        let named = json!({ "withdrawal": 7 });
        check::<WithdrawalName>("withdrawals claim 7", named.clone());
        check::<WithdrawalName>("withdrawals fail 7", named);
        let payment = json!({ "withdrawal": 7, "payment": "wire 1" });
        check::<WithdrawalPayment>("withdrawals pay 7 WIRE", payment);
        check::<Nothing>("withdrawals open", json!({}));
        let binding = json!({ "owner": WALLET, "wallet": WALLET, "kind": "proxy" });
        check::<Binding>("account bind WALLET WALLET proxy", binding);
        check::<WalletName>("account unbind WALLET", json!({ "wallet": WALLET }));
        for (undo, closed_only) in [("", true), (" --undo", false)] {
            let restriction = json!({ "wallet": WALLET, "closed_only": closed_only });
            check::<ClosedOnly>(&format!("account closed-only WALLET{undo}"), restriction);
        }
        let addition = json!({ "name": "ann", "role": "read-only" });
        check::<OperatorAddition>("operators add ann read-only --token-file t", addition);
        check::<OperatorRevocation>("operators revoke ann", json!({ "name": "ann" }));
        let revocation = json!({ "api_key": KEY, "cancel_orders": true });
        check::<KeyRevocation>("keys revoke KEY --cancel-orders", revocation);
        check::<ModeChange>("system mode cancel-only", json!({ "mode": "cancel_only" }));
        check::<Nothing>("system pay-rebates", json!({}));
        let payments = json!({ "withdrawal_limit": "50" });
        check::<PaymentsChange>("system payments --withdrawal-limit 50", payments);
    }

    #[test]
    fn a_missing_reference_is_generated_and_known() {
        let given = body::<Transfer>("account deposit WALLET 5 --reference r1");
        assert_eq!(given.reference.as_deref(), Some("r1"));
        for body in [
            body::<Transfer>("account withdraw WALLET 5"),
            body::<FeesWithdrawal>("system withdraw-fees 5"),
            body::<ProposalRequest>("market propose MARKET Yes"),
        ] {
            let reference = body.reference.as_deref();
            assert_eq!(body.fields["reference"].as_str(), reference);
            assert!(reference.is_some_and(|text| !text.is_empty()));
        }
    }

    #[test]
    fn a_failure_names_the_reference_of_a_command_that_may_be_applied() {
        let body = body::<Transfer>("account deposit WALLET 5 --reference r1");
        let rejected = |status| OperatorError::Rejected {
            status,
            code: String::new(),
            text: String::new(),
        };
        for (error, hinted) in [
            (OperatorError::CutOff(String::new()), true),
            (rejected(503), true),
            (rejected(409), false),
        ] {
            let text = body.safe_repeat(error.clone()).to_string();
            assert_eq!(text.contains("--reference r1"), hinted, "{error:?}");
        }
    }
}
