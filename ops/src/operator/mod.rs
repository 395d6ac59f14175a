//! Operator commands: each sends a request to the operator's HTTP surface and prints the answer.

pub(crate) mod arguments;
pub(crate) mod client;
mod close_markets;
mod market_file;
mod market_names;
pub(crate) mod private_key;
mod registration;
mod show;

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;
use crate::output::{Output, field};
use crate::process;
use crate::trader::Trader;
use arguments::{Account, Keys, Market, Mode, System, WalletKind};
use client::OperatorClient;

/// `foretell market …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn market(
    config: &Config,
    command: &Market,
    output: Output,
) -> Result<ExitCode, Failure> {
    let act = |action: &str, market: &str, more: Value| {
        let mut body = json!({ "condition_id": market_names::condition_id(config, market)? });
        merge(&mut body, more);
        post(config, &format!("/markets/{action}"), &body, output)
    };
    match command {
        Market::Register { file, inactive } => {
            registration::register(config, file, *inactive, output)
        }
        Market::Event { id, title } => {
            let body = json!({ "event_id": id, "title": title });
            post(config, "/events", &body, output)
        }
        Market::List => get(config, "/markets", output, show::markets),
        Market::Show { market } => {
            let condition = market_names::condition_id(config, market)?;
            let path = format!("/markets/{condition}");
            get(config, &path, output, show::market)
        }
        Market::Activate { market } => act("activate", market, json!({})),
        Market::Pause { market } => act("pause", market, json!({})),
        Market::Resume { market } => act("resume", market, json!({})),
        Market::Close { market, file } => {
            let selected = market_file::selected(market.as_deref(), None, file.as_deref())?;
            close_markets::close(config, &selected, output)
        }
        Market::Resolve {
            market,
            payout,
            file,
        } => {
            let selected = market_file::selected(market.as_deref(), *payout, file.as_deref())?;
            close_markets::resolve(config, &selected, output)
        }
        Market::Archive { market, undo } => act("archive", market, json!({ "archived": !undo })),
        Market::Tick { market, tick } => act("tick", market, json!({ "tick_size": tick })),
        Market::MinimumSize { market, shares } => {
            act("minimum", market, json!({ "minimum_order_size": shares }))
        }
        Market::Fee {
            market,
            rate_ppm,
            exponent,
        } => act(
            "fee",
            market,
            json!({ "rate_ppm": rate_ppm, "exponent": exponent }),
        ),
    }
}

/// `foretell account …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
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
            &json!({ "wallet": wallet, "closed_only": !undo }),
            output,
        ),
    }
}

/// `foretell keys …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
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
            &json!({ "api_key": api_key, "cancel_orders": cancel_orders }),
            output,
        ),
    }
}

/// `foretell system …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn system(
    config: &Config,
    command: &System,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        System::Mode { mode: None } => {
            let client = OperatorClient::new(config)?;
            let status = process::small_runtime()?.block_on(client.get("/status"))?;
            let mode = json!({ "mode": status["exchange"]["mode"] });
            output.answer(&mode, |mode| field(mode, "mode"));
            Ok(ExitCode::SUCCESS)
        }
        System::Mode { mode: Some(mode) } => post(
            config,
            "/system/mode",
            &json!({ "mode": mode_word(*mode) }),
            output,
        ),
        System::Snapshot => post(config, "/snapshot", &json!({}), output),
        System::WithdrawFees { amount, reference } => {
            let body = json!({ "amount": amount, "reference": or_fresh(reference) });
            post(config, "/fees/withdraw", &body, output)
        }
    }
}

/// `foretell status`
///
/// # Errors
/// The server cannot be reached.
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
    // A generated idempotency key is printed: only with it can the caller repeat the command
    // safely.
    if let (Value::Object(answer), Some(reference)) = (&mut answer, body.get("reference")) {
        answer
            .entry("reference")
            .or_insert_with(|| reference.clone());
    }
    output.answer(&answer, show::applied);
    Ok(ExitCode::SUCCESS)
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

fn or_fresh(reference: &Option<String>) -> String {
    reference
        .clone()
        .unwrap_or_else(|| uuid::Uuid::new_v4().to_string())
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
