//! `foretell market register`: one market or many from a JSON file.

use std::path::Path;
use std::process::ExitCode;

use foretell_model::CommandKind;
use foretell_operator_client::OperatorError;
use serde_json::{Value, json};

use crate::config::Config;
use crate::exit_codes::REFUSED;
use crate::failure::Failure;
use crate::operator::client;
use crate::operator::list_file::{self, JsonObject};
use crate::output::{Output, field};
use crate::progress;
use crate::runtime;

/// Registers every market of the file; a rejected one is reported and the others continue.
///
/// # Errors
/// The file is not JSON, the surface cannot be reached, or a market was rejected.
pub(super) fn register(
    config: &Config,
    file: &Path,
    inactive: bool,
    output: Output,
) -> Result<ExitCode, Failure> {
    let markets = read(file)?;
    let client = client::connect(config)?;
    let path = super::path(CommandKind::RegisterMarket);
    let bar = progress::bar(markets.len(), "markets", output);
    let refused = runtime::small()?.block_on(async {
        let mut refused = 0_usize;
        for JsonObject(mut market) in markets {
            if inactive {
                market.insert("activate".to_owned(), json!(false));
            }
            let market = Value::Object(market);
            let name = match market["condition_id"].is_null() {
                true => field(&market, "slug"),
                false => field(&market, "condition_id"),
            };
            match client.post::<Value>(path, &market).await {
                Ok(answer) => bar.suspend(|| {
                    output.answer(&answer, |answer| {
                        format!("{name}  {}", field(answer, "status"))
                    })
                }),
                Err(error @ OperatorError::Rejected { .. }) => {
                    let failure = Failure::from(error);
                    refused += 1;
                    bar.suspend(|| eprintln!("{name}: {failure}"));
                }
                Err(error) => return Err(error.into()),
            }
            bar.inc(1);
        }
        Ok::<_, Failure>(refused)
    })?;
    bar.finish_and_clear();
    match refused {
        0 => Ok(ExitCode::SUCCESS),
        refused => {
            Err(Failure::new(format!("{refused} of the markets were rejected")).code(REFUSED))
        }
    }
}

fn read(file: &Path) -> Result<Vec<JsonObject>, Failure> {
    let failure =
        |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", file.display()));
    let text = list_file::text(file).map_err(|error| failure(&error))?;
    let read = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(&text),
        false => serde_json::from_str(&text).map(|market| vec![market]),
    };
    read.map_err(|error| failure(&error))
}
