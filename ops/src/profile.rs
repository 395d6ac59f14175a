//! `foretell profile …`: wallet profiles of the data surface. A change is a command of an operator; the
//! gateways' catalog has it within a second.

use std::path::Path;
use std::process::ExitCode;

use clap::{ArgAction, Args, Subcommand};
use foretell_catalog::{Catalog, CatalogError, Profile, Sites};
use foretell_model::{CommandKind, WalletAddress};
use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_wire::data::pseudonym;
use foretell_wire::operator::CommandAnswer;
use serde::Serialize;
use serde_json::{Value, json};

use crate::config::Config;
use crate::data_directory::check_owner;
use crate::failure::Failure;
use crate::operator::{self, client};
use crate::output::{Output, table};
use crate::runtime;

/// `foretell profile`
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// Set fields of a profile; an empty text removes a field
    Set(Edit),
    /// Show a wallet's profile
    Show {
        /// Wallet address: 0x and 40 hex digits
        address: String,
    },
}

/// `foretell profile set`: the body of its command.
#[derive(Debug, Args, Serialize)]
pub(crate) struct Edit {
    /// Wallet address: 0x and 40 hex digits
    #[arg(value_name = "ADDRESS")]
    wallet: String,
    /// Fields to set
    #[command(flatten)]
    #[serde(flatten)]
    changes: Changes,
}

/// Fields given on the command line; absent ones stay as they are.
#[derive(Clone, Debug, Default, Args, Serialize)]
#[group(required = true, multiple = true)]
pub(crate) struct Changes {
    /// Display name, at most 64 characters
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Pseudonym, at most 64 characters; empty = generated
    #[arg(long, value_name = "TEXT")]
    pseudonym: Option<String>,
    /// Bio, at most 1,000 characters
    #[arg(long, value_name = "TEXT")]
    bio: Option<String>,
    /// URL of an image (http or https)
    #[arg(long, value_name = "URL")]
    image: Option<String>,
    /// URL of a smaller image
    #[arg(long, value_name = "URL")]
    image_optimized: Option<String>,
    /// Show the name publicly [default of a new profile: true]
    #[arg(long, value_name = "BOOL", action = ArgAction::Set)]
    public: Option<bool>,
}

/// `foretell profile …`
///
/// # Errors
/// The address is invalid, the exchange refuses a field, or the catalog database cannot be used.
pub(crate) fn run(
    config: &Config,
    command: &ProfileCommand,
    output: Output,
) -> Result<ExitCode, Failure> {
    // Also who reads the catalog makes files beside it.
    check_owner(&config.data.directory)?;
    let file = config.catalog_file();
    let (wallet, profile) = match command {
        ProfileCommand::Set(edit) => {
            let wallet = wallet(&edit.wallet)?;
            let client = client::connect(config)?;
            runtime::small()?.block_on(edit.send(&client))?;
            (wallet, known(&file, &wallet)?.unwrap_or_default())
        }
        ProfileCommand::Show { address } => {
            let wallet = wallet(address)?;
            (wallet, known(&file, &wallet)?.unwrap_or_default())
        }
    };
    output.answer(&shown(&wallet, &profile), text);
    Ok(ExitCode::SUCCESS)
}

fn wallet(text: &str) -> Result<WalletAddress, Failure> {
    foretell_wire::text::ids::typed_address(text).ok_or_else(|| {
        Failure::new(format!("{text:?} is not a wallet address"))
            .hint("an address is 0x and 40 hex digits, in mixed case with its checksum (EIP-55), as `proxyWallet` shows it")
    })
}

/// Sets the profile of a wallet that has none.
///
/// # Errors
/// As of `foretell profile set`.
pub(crate) async fn create_profile(
    config: &Config,
    client: &OperatorClient,
    (address, name, bio): (&str, &str, &str),
) -> Result<(), Failure> {
    let (file, wallet) = (config.catalog_file(), wallet(address)?);
    if known(&file, &wallet)?.is_none() {
        let changes = Changes {
            name: Some(name.to_owned()),
            bio: Some(bio.to_owned()),
            ..Changes::default()
        };
        let edit = Edit {
            wallet: address.to_owned(),
            changes,
        };
        edit.send(client).await?;
    }
    Ok(())
}

fn known(file: &Path, wallet: &WalletAddress) -> Result<Option<Profile>, Failure> {
    let catalog = match Catalog::open(file, Sites::default()) {
        Ok(catalog) => catalog,
        Err(CatalogError::Missing(_)) => return Ok(None),
        Err(error) => return Err(failure(file, &error)),
    };
    catalog
        .profile(wallet)
        .map_err(|error| failure(file, &error))
}

fn failure(file: &Path, error: &CatalogError) -> Failure {
    Failure::new(format!("{}: {error}", file.display()))
}

impl Edit {
    async fn send(&self, client: &OperatorClient) -> Result<CommandAnswer, OperatorError> {
        client
            .post(operator::path(CommandKind::DescribeWallet), self)
            .await
    }
}

/// The profile in the format of the data surface.
fn shown(wallet: &WalletAddress, profile: &Profile) -> Value {
    let pseudonym = match profile.pseudonym.as_str() {
        "" => pseudonym(wallet),
        given => given.to_owned(),
    };
    json!({
        "proxyWallet": wallet.to_string(),
        "name": profile.name,
        "pseudonym": pseudonym,
        "bio": profile.bio,
        "profileImage": profile.image,
        "profileImageOptimized": profile.image_optimized,
        "displayUsernamePublic": profile.display_username_public,
    })
}

fn text(shown: &Value) -> String {
    let fields = shown.as_object().into_iter().flatten();
    let rows = fields.map(|(name, value)| {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        vec![name.clone(), value]
    });
    table(&rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_40_digits() {
        assert!(wallet("0x12").is_err());
        assert!(wallet(&format!("0x{}", "1f".repeat(20))).is_ok());
    }
}
