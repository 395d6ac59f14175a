//! Operator commands: each sends a request to the operator's HTTP surface and prints the answer.

pub(crate) mod arguments;
pub(crate) mod client;
mod close_markets;
mod list_file;
pub(crate) mod listening;
mod market_file;
mod market_names;
mod people;
pub mod private_key;
mod reconcile;
mod registration;
mod sender;
mod show;
mod show_status;
mod statement;

use std::path::Path;
use std::process::ExitCode;

use foretell_model::CommandKind;
use foretell_operator_client::OperatorError;
use foretell_wire::operator::{PayoutName, SNAPSHOT_PATH};
use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;
use crate::output::{Output, field};
use crate::runtime;
use crate::trader::Trader;
use arguments::{Account, Keys, Market, Operators, System, Withdrawals};
use market_file::Ending;
pub(crate) use sender::path;
use sender::send;

/// `foretell market …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn market(
    config: &Config,
    act: Option<CommandKind>,
    command: &Market,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        Market::Register { file, inactive } => {
            registration::register(config, file, *inactive, output)
        }
        Market::List => get(config, "/markets", output, show::markets),
        Market::Show(one) => show_market(config, &one.market, output),
        Market::Review => get(config, "/review", output, show::review),
        Market::Close { market, file } => {
            let (market, ending) = (market.as_deref(), Ending::Close);
            let selected = market_file::selected(market, None, file.as_deref(), ending)?;
            close_markets::end_all(config, &selected, ending, output)
        }
        Market::Resolve {
            market,
            payout,
            proposal,
            file,
        } => {
            let payout = payout.clone().map(PayoutName::new);
            let ending = Ending::Resolve {
                proposal: *proposal,
            };
            let market = market.as_deref();
            let selected = market_file::selected(market, payout, file.as_deref(), ending)?;
            close_markets::end_all(config, &selected, ending, output)
        }
        _ => send(config, act, command, output),
    }
}

/// Prints a market with its row of the registered ones, and with the policy that it follows.
fn show_market(config: &Config, market: &str, output: Output) -> Result<ExitCode, Failure> {
    let client = client::connect(config)?;
    let record = runtime::small()?.block_on(async {
        let condition = market_names::condition_id(&client, market).await?;
        let mut record: Value = client.get(&format!("/markets/{condition}")).await?;
        let listed = format!("/markets?condition_id={condition}");
        let mut listed: Value = client.get(&listed).await?;
        record["registered"] = listed["markets"][0].take();
        if record["registered"]["policy"].is_null() {
            let mut status: Value = client.get("/status").await?;
            record["site_policy"] = status["exchange"]["policy"].take();
        }
        Ok::<_, Failure>(record)
    })?;
    output.answer(&record, show::market);
    Ok(ExitCode::SUCCESS)
}

/// `foretell account …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn account(
    config: &Config,
    act: Option<CommandKind>,
    command: &Account,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        Account::Balance { wallet } => {
            let path = format!("/accounts/{wallet}");
            get(config, &path, output, show::account)
        }
        Account::Statement(asked) => statement::run(config, asked),
        _ => send(config, act, command, output),
    }
}

/// `foretell withdrawals …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn withdrawals(
    config: &Config,
    act: Option<CommandKind>,
    command: &Withdrawals,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        Withdrawals::List { ended, limit } => {
            let path = format!("/withdrawals?ended={ended}&limit={limit}");
            get(config, &path, output, show::withdrawals)
        }
        Withdrawals::Reconcile { file, days } => {
            reconcile::run(config, file, days.period()?, output)
        }
        _ => send(config, act, command, output),
    }
}

/// `foretell operators …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn operators(
    config: &Config,
    act: Option<CommandKind>,
    command: &Operators,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        Operators::Add(operator) => people::add(config, operator, output),
        Operators::List => get(config, "/operators", output, show::operators),
        Operators::Me => get(config, "/me", output, show::fields),
        Operators::Revoke { .. } => send(config, act, command, output),
    }
}

/// `foretell keys …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn keys(
    config: &Config,
    act: Option<CommandKind>,
    command: &Keys,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        Keys::Create {
            private_key_file,
            nonce,
        } => create_key(config, private_key_file, *nonce, output),
        Keys::List { owner } => get(config, &format!("/keys?owner={owner}"), output, show::keys),
        Keys::Revoke { .. } => send(config, act, command, output),
    }
}

fn create_key(
    config: &Config,
    private_key_file: &Path,
    nonce: u64,
    output: Output,
) -> Result<ExitCode, Failure> {
    let private_key = private_key::read(private_key_file)?;
    let base = format!("http://{}", config.trading.listen);
    let answer = runtime::small()?.block_on(async {
        let domains = config.signing.parsed()?;
        let trader = Trader::signing(domains, &base, &private_key, nonce).await?;
        let (_, answer) = trader.derive_key(nonce).await?;
        Ok::<Value, Failure>(answer)
    })?;
    output.answer(&answer, show::fields);
    Ok(ExitCode::SUCCESS)
}

/// `foretell system …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn system(
    config: &Config,
    act: Option<CommandKind>,
    command: &System,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        System::Mode { mode: None } => {
            let mode = |exchange: &Value| json!({ "mode": exchange["mode"] });
            show_exchange(config, output, mode, |mode| field(mode, "mode"))
        }
        System::Payments {
            withdrawal_limit: None,
            rebates_daily: None,
        } => {
            let payments = |exchange: &Value| exchange["payments"].clone();
            show_exchange(config, output, payments, show::fields)
        }
        System::Snapshot => {
            let client = client::connect(config)?;
            let answer: Value = block_on(client.post(SNAPSHOT_PATH, &json!({})))?;
            output.answer(&answer, show::applied);
            Ok(ExitCode::SUCCESS)
        }
        System::Mode { .. } => send(config, Some(CommandKind::SetMode), command, output),
        System::Payments { .. } => send(config, Some(CommandKind::SetPayments), command, output),
        System::PayRebates {} | System::WithdrawFees { .. } => send(config, act, command, output),
    }
}

/// Prints a part of the exchange's status.
fn show_exchange(
    config: &Config,
    output: Output,
    part: fn(&Value) -> Value,
    text: fn(&Value) -> String,
) -> Result<ExitCode, Failure> {
    let status: Value = block_on(client::connect(config)?.get("/status"))?;
    output.answer(&part(&status["exchange"]), text);
    Ok(ExitCode::SUCCESS)
}

/// `foretell status`
///
/// # Errors
/// The server cannot be reached.
pub(crate) fn status(config: &Config, output: Output) -> Result<ExitCode, Failure> {
    get(config, "/status", output, show_status::status)
}

fn block_on<T>(request: impl Future<Output = Result<T, OperatorError>>) -> Result<T, Failure> {
    Ok(runtime::small()?.block_on(request)?)
}

/// Prints the answer of a read.
fn get(
    config: &Config,
    path: &str,
    output: Output,
    text: fn(&Value) -> String,
) -> Result<ExitCode, Failure> {
    let answer = block_on(client::connect(config)?.get(path))?;
    output.answer(&answer, text);
    Ok(ExitCode::SUCCESS)
}
