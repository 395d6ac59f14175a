//! Operator commands: each sends a request to the operator's HTTP surface and prints the answer.

pub(crate) mod arguments;
pub(crate) mod client;
mod close_markets;
mod life;
mod market_file;
mod market_names;
mod people;
pub mod private_key;
mod registration;
mod show;

use std::process::ExitCode;

use foretell_model::Hold;
use foretell_operator_client::OperatorError;
use foretell_wire::ApiError;
use foretell_wire::operator::{
    Address, Amount, Archive, Binding, ClosedOnly, Collateral as Limit, EventRegistration,
    FeeChange, FeesWithdrawal, HeldReference, HoldChange, Key, KeyRevocation, MarketName,
    MinimumChange, ModeChange, Name, Nothing, OperatorCommand, OperatorRevocation, PaymentsChange,
    PayoutName, PlainForm as _, SNAPSHOT_PATH, Shares, TickChange, TickSize, Transfer, WalletName,
};
use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;
use crate::output::{Output, field};
use crate::runtime;
use crate::trader::Trader;
use arguments::{Account, Keys, Market, Operators, System};

/// `foretell market …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn market(
    config: &Config,
    command: &Market,
    output: Output,
) -> Result<ExitCode, Failure> {
    let condition_of = |market: &str| market_names::condition_id(config, market);
    let of_market = |market: &str, command: fn(MarketName) -> OperatorCommand| {
        send(config, output, || {
            let condition_id = condition_of(market)?;
            Ok(command(MarketName { condition_id }))
        })
    };
    match command {
        Market::Register { file, inactive } => {
            registration::register(config, file, *inactive, output)
        }
        Market::Event { id, title } => send(config, output, || {
            Ok(OperatorCommand::RegisterEvent(EventRegistration {
                event_id: *id,
                title: title.clone(),
                slug: String::new(),
                ticker: String::new(),
                description: String::new(),
                tags: Vec::new(),
            }))
        }),
        Market::List => get(config, "/markets", output, show::markets),
        Market::Show { market } => {
            let condition = market_names::condition_text(config, market)?;
            let client = client::connect(config)?;
            let record = block_on(async {
                let mut record: Value = client.get(&format!("/markets/{condition}")).await?;
                let listed = format!("/markets?condition_id={condition}");
                let mut listed: Value = client.get(&listed).await?;
                record["registered"] = listed["markets"][0].take();
                if record["registered"]["policy"].is_null() {
                    let mut status: Value = client.get("/status").await?;
                    record["site_policy"] = status["exchange"]["policy"].take();
                }
                Ok(record)
            })?;
            output.answer(&record, show::market);
            Ok(ExitCode::SUCCESS)
        }
        Market::Activate { market } => of_market(market, OperatorCommand::ActivateMarket),
        Market::Pause { market } => send(config, output, || {
            let condition_id = condition_of(market)?;
            let hold = None;
            Ok(OperatorCommand::PauseMarket(HoldChange {
                condition_id,
                hold,
            }))
        }),
        Market::Resume { market, upstream } => send(config, output, || {
            let condition_id = condition_of(market)?;
            let hold = upstream.then_some(Hold::Upstream);
            Ok(OperatorCommand::ResumeMarket(HoldChange {
                condition_id,
                hold,
            }))
        }),
        Market::Close { market, file } => {
            let selected = market_file::selected(market.as_deref(), None, file.as_deref())?;
            close_markets::close(config, &selected, output)
        }
        Market::Resolve {
            market,
            payout,
            proposal,
            file,
        } => {
            let payout = payout.clone().map(PayoutName::new);
            let selected = market_file::selected(market.as_deref(), payout, file.as_deref())?;
            close_markets::resolve(config, &selected, *proposal, output)
        }
        Market::Archive { market, undo } => send(config, output, || {
            Ok(OperatorCommand::ArchiveMarket(Archive {
                condition_id: condition_of(market)?,
                archived: !undo,
            }))
        }),
        Market::Tick { market, tick } => send(config, output, || {
            Ok(OperatorCommand::SetTick(TickChange {
                condition_id: condition_of(market)?,
                tick_size: TickSize::parse("tick_size", tick)?,
            }))
        }),
        Market::MinimumSize { market, shares } => send(config, output, || {
            Ok(OperatorCommand::SetMinimumSize(MinimumChange {
                condition_id: condition_of(market)?,
                minimum_order_size: Shares::parse("minimum_order_size", shares)?,
            }))
        }),
        Market::Fee {
            market,
            rate_ppm,
            exponent,
        } => send(config, output, || {
            Ok(OperatorCommand::SetFee(FeeChange {
                condition_id: condition_of(market)?,
                rate_ppm: *rate_ppm,
                exponent: *exponent,
            }))
        }),
        Market::Review => get(config, "/review", output, show::review),
        Market::PolicyClear { market } => of_market(market, OperatorCommand::ClearPolicy),
        of_life => send(config, output, || life::command(config, of_life)),
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
        Account::Deposit(arguments) => send(config, output, || {
            Ok(OperatorCommand::Deposit(transfer(arguments)?))
        }),
        Account::Withdraw(arguments) => send(config, output, || {
            Ok(OperatorCommand::Withdraw(transfer(arguments)?))
        }),
        Account::Bind {
            owner,
            wallet,
            kind,
        } => send(config, output, || {
            Ok(OperatorCommand::BindWallet(Binding {
                owner: Address::parse("owner", owner)?,
                wallet: Address::parse("wallet", wallet)?,
                kind: *kind,
            }))
        }),
        Account::Unbind { wallet } => send(config, output, || {
            Ok(OperatorCommand::UnbindWallet(WalletName {
                wallet: Address::parse("wallet", wallet)?,
            }))
        }),
        Account::Balance { wallet } => get(
            config,
            &format!("/accounts/{wallet}"),
            output,
            show::account,
        ),
        Account::ClosedOnly { wallet, undo } => send(config, output, || {
            Ok(OperatorCommand::SetClosedOnly(ClosedOnly {
                wallet: Address::parse("wallet", wallet)?,
                closed_only: !undo,
            }))
        }),
        Account::Held => get(config, "/withdrawals", output, show::held),
        Account::Confirm { reference } => send(config, output, || {
            Ok(OperatorCommand::ConfirmWithdrawal(HeldReference {
                reference: reference.clone(),
            }))
        }),
        Account::Release { reference } => send(config, output, || {
            Ok(OperatorCommand::ReleaseWithdrawal(HeldReference {
                reference: reference.clone(),
            }))
        }),
    }
}

/// `foretell operators …`
///
/// # Errors
/// The surface cannot be reached, or it rejects the request.
pub(crate) fn operators(
    config: &Config,
    command: &Operators,
    output: Output,
) -> Result<ExitCode, Failure> {
    match command {
        Operators::Add {
            name,
            role,
            token_file,
        } => people::add(config, name, *role, token_file.as_deref(), output),
        Operators::List => get(config, "/operators", output, show::operators),
        Operators::Revoke { name } => send(config, output, || {
            Ok(OperatorCommand::RevokeOperator(OperatorRevocation {
                name: Name::parse("name", name)?,
            }))
        }),
        Operators::Me => get(config, "/me", output, show::fields),
    }
}

fn transfer(arguments: &arguments::Transfer) -> Result<Transfer, ApiError> {
    Ok(Transfer {
        wallet: Address::parse("wallet", &arguments.wallet)?,
        amount: Amount::parse("amount", &arguments.amount)?,
        reference: or_fresh(&arguments.reference),
    })
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
            let answer = runtime::small()?.block_on(async {
                let domains = config.signing.parsed()?;
                let trader = Trader::signing(domains, &base, &private_key, *nonce).await?;
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
        } => send(config, output, || {
            Ok(OperatorCommand::RevokeKey(KeyRevocation {
                api_key: Key::parse("api_key", api_key)?,
                cancel_orders: Some(*cancel_orders),
            }))
        }),
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
            let status: Value = block_on(client::connect(config)?.get("/status"))?;
            let mode = json!({ "mode": status["exchange"]["mode"] });
            output.answer(&mode, |mode| field(mode, "mode"));
        }
        System::Mode { mode: Some(mode) } => {
            let command = OperatorCommand::SetMode(ModeChange { mode: *mode });
            return send(config, output, || Ok(command));
        }
        System::Snapshot => {
            let client = client::connect(config)?;
            let answer: Value = block_on(client.post(SNAPSHOT_PATH, &json!({})))?;
            output.answer(&answer, show::applied);
        }
        System::Payments {
            withdrawal_limit: None,
            rebates_daily: None,
        } => {
            let status: Value = block_on(client::connect(config)?.get("/status"))?;
            output.answer(&status["exchange"]["payments"], show::fields);
        }
        System::Payments {
            withdrawal_limit,
            rebates_daily,
        } => {
            return send(config, output, || {
                let limit = withdrawal_limit.as_deref();
                let limit = limit.map(|text| Limit::parse("withdrawal_limit", text));
                Ok(OperatorCommand::SetPayments(PaymentsChange {
                    withdrawal_limit: limit.transpose()?,
                    rebates_daily: *rebates_daily,
                }))
            });
        }
        System::PayRebates => {
            return send(config, output, || {
                Ok(OperatorCommand::PayRebates(Nothing {}))
            });
        }
        System::WithdrawFees { amount, reference } => {
            return send(config, output, || {
                Ok(OperatorCommand::WithdrawFees(FeesWithdrawal {
                    amount: Amount::parse("amount", amount)?,
                    reference: or_fresh(reference),
                }))
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `foretell status`
///
/// # Errors
/// The server cannot be reached.
pub(crate) fn status(config: &Config, output: Output) -> Result<ExitCode, Failure> {
    get(config, "/status", output, show::status)
}

fn block_on<T>(request: impl Future<Output = Result<T, OperatorError>>) -> Result<T, Failure> {
    Ok(runtime::small()?.block_on(request)?)
}

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

fn send(
    config: &Config,
    output: Output,
    command: impl FnOnce() -> Result<OperatorCommand, Failure>,
) -> Result<ExitCode, Failure> {
    let client = client::connect(config)?;
    let command = command()?;
    let sent = runtime::small()?.block_on(client.send(&command));
    let mut answer = json!(sent.map_err(|error| safe_repeat(error, &command))?);
    // A generated idempotency key is printed: only with it can the caller repeat the command
    // safely.
    if let Some(reference) = command.reference() {
        answer["reference"] = reference.into();
    }
    output.answer(&answer, show::applied);
    Ok(ExitCode::SUCCESS)
}

/// Names the reference of a command that may have been applied: a repeat with another one could
/// apply it twice.
fn safe_repeat(error: OperatorError, command: &OperatorCommand) -> Failure {
    let may_be_applied = !matches!(
        error,
        OperatorError::Unreachable { .. }
            | OperatorError::Rejected {
                status: 400..=499,
                ..
            }
    );
    let failure = Failure::from(error);
    match command.reference() {
        Some(reference) if may_be_applied => {
            failure.hint(format!("the same command with --reference {reference}"))
        }
        _ => failure,
    }
}

fn or_fresh(reference: &Option<String>) -> String {
    reference
        .clone()
        .unwrap_or_else(|| uuid::Uuid::new_v4().to_string())
}
