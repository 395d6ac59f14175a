//! Operator commands: each is a request to the operator's HTTP surface and a readable answer.

pub(crate) mod arguments;
pub(crate) mod client;
mod private_key;
mod registration;
mod show;

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;
use crate::output::{Output, field};
use crate::process;
use crate::trader::Trader;
use arguments::{Account, Keys, Market, Mode, Payout, System, WalletKind};
use client::OperatorClient;

/// `foretell market …`
///
/// # Errors
/// Nobody answers, or the exchange refuses.
pub(crate) fn market(
    config: &Config,
    command: &Market,
    output: Output,
) -> Result<ExitCode, Failure> {
    let path = |condition: &str, action: &str| format!("/markets/{condition}/{action}");
    match command {
        Market::Register { file, inactive } => {
            registration::register(config, file, *inactive, output)
        }
        Market::List => get(config, "/markets", output, show::markets),
        Market::Show { condition } => get(
            config,
            &format!("/markets/{condition}"),
            output,
            show::fields,
        ),
        Market::Activate { condition } => {
            post(config, &path(condition, "activate"), &json!({}), output)
        }
        Market::Pause { condition } => post(config, &path(condition, "pause"), &json!({}), output),
        Market::Resume { condition } => {
            post(config, &path(condition, "resume"), &json!({}), output)
        }
        Market::Close { condition } => post(config, &path(condition, "close"), &json!({}), output),
        Market::Resolve { condition, payout } => post(
            config,
            &path(condition, "resolve"),
            &json!({ "payout": payout_word(*payout) }),
            output,
        ),
        Market::Archive { condition, undo } => post(
            config,
            &path(condition, "archive"),
            &json!({ "archived": !undo }),
            output,
        ),
        Market::Tick { condition, tick } => post(
            config,
            &path(condition, "tick"),
            &json!({ "tick": tick }),
            output,
        ),
        Market::MinimumSize { condition, shares } => post(
            config,
            &path(condition, "minimum-size"),
            &json!({ "minimumSize": shares }),
            output,
        ),
        Market::Fee {
            condition,
            rate_ppm,
            exponent,
        } => {
            let body = json!({ "feeRatePpm": rate_ppm, "feeExponent": exponent });
            post(config, &path(condition, "fee"), &body, output)
        }
    }
}

/// `foretell account …`
///
/// # Errors
/// Nobody answers, or the exchange refuses.
pub(crate) fn account(
    config: &Config,
    command: &Account,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        Account::Deposit {
            wallet,
            amount,
            reference,
        } => {
            let body =
                json!({ "wallet": wallet, "amount": amount, "reference": or_fresh(reference) });
            post(config, "/accounts/deposit", &body, output)
        }
        Account::Withdraw {
            wallet,
            amount,
            reference,
        } => {
            let body =
                json!({ "wallet": wallet, "amount": amount, "reference": or_fresh(reference) });
            post(config, "/accounts/withdraw", &body, output)
        }
        Account::Bind {
            owner,
            wallet,
            kind,
        } => {
            let body = json!({ "owner": owner, "wallet": wallet, "kind": wallet_kind_word(*kind) });
            post(config, "/accounts/bind", &body, output)
        }
        Account::Unbind { wallet } => post(
            config,
            "/accounts/unbind",
            &json!({ "wallet": wallet }),
            output,
        ),
        Account::Balance { wallet } => get(
            config,
            &format!("/accounts/{wallet}"),
            output,
            show::account,
        ),
        Account::ClosedOnly { wallet, undo } => post(
            config,
            "/accounts/closed-only",
            &json!({ "wallet": wallet, "closedOnly": !undo }),
            output,
        ),
    }
}

/// `foretell keys …`
///
/// # Errors
/// Nobody answers, or the exchange refuses.
pub(crate) fn keys(config: &Config, command: &Keys, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Keys::Create {
            private_key_file,
            nonce,
        } => {
            let private_key = private_key::read(private_key_file)?;
            let base = format!("http://{}", config.trading.listen);
            let answer = process::small_runtime()?.block_on(async {
                let trader = Trader::connect(&base, &private_key, *nonce).await?;
                let (_, answer) = trader.derive_key(*nonce).await?;
                Ok::<Value, Failure>(answer)
            })?;
            output.answer(&answer, show::fields);
            Ok(ExitCode::SUCCESS)
        }
        Keys::List { owner } => get(config, &format!("/keys?owner={owner}"), output, show::keys),
        Keys::Revoke {
            api_key,
            cancel_orders,
        } => post(
            config,
            "/keys/revoke",
            &json!({ "apiKey": api_key, "cancelOrders": cancel_orders }),
            output,
        ),
    }
}

/// `foretell system …`
///
/// # Errors
/// Nobody answers, or the exchange refuses.
pub(crate) fn system(
    config: &Config,
    command: &System,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        System::Mode { mode } => post(
            config,
            "/system/mode",
            &json!({ "mode": mode_word(*mode) }),
            output,
        ),
        System::WithdrawFees { amount, reference } => {
            let body = json!({ "amount": amount, "reference": or_fresh(reference) });
            post(config, "/fees/withdraw", &body, output)
        }
    }
}

/// `foretell status`
///
/// # Errors
/// Nobody answers.
pub(crate) fn status(config: &Config, output: Output) -> Result<ExitCode, Failure> {
    get(config, "/status", output, show::status)
}

fn get(
    config: &Config,
    path: &str,
    output: Output,
    text: fn(&Value) -> String,
) -> Result<ExitCode, Failure> {
    let client = OperatorClient::new(config)?;
    let answer = process::small_runtime()?.block_on(client.get(path))?;
    output.answer(&answer, text);
    Ok(ExitCode::SUCCESS)
}

fn post(config: &Config, path: &str, body: &Value, output: Output) -> Result<ExitCode, Failure> {
    let client = OperatorClient::new(config)?;
    let mut answer = process::small_runtime()?.block_on(client.post(path, body))?;
    // A reference that we made up is the caller's only way to repeat the command safely.
    if let (Value::Object(answer), Some(reference)) = (&mut answer, body.get("reference")) {
        answer
            .entry("reference")
            .or_insert_with(|| reference.clone());
    }
    output.answer(&answer, |answer| {
        format!(
            "done at sequence {}\n{}",
            field(answer, "sequence"),
            show::fields(answer)
        )
    });
    Ok(ExitCode::SUCCESS)
}

fn or_fresh(reference: &Option<String>) -> String {
    reference
        .clone()
        .unwrap_or_else(|| uuid::Uuid::new_v4().to_string())
}

const fn payout_word(payout: Payout) -> &'static str {
    match payout {
        Payout::Yes => "yes",
        Payout::No => "no",
        Payout::Half => "half",
    }
}

const fn wallet_kind_word(kind: WalletKind) -> &'static str {
    match kind {
        WalletKind::Proxy => "proxy",
        WalletKind::Safe => "safe",
        WalletKind::Deposit => "deposit",
    }
}

const fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Running => "running",
        Mode::PostOnly => "post_only",
        Mode::CancelOnly => "cancel_only",
        Mode::Paused => "paused",
    }
}
