//! `foretell profile …`: wallet profiles of the data surface. A change is a command of an operator; the
//! gateways' catalog has it within a second.

use std::path::Path;
use std::process::ExitCode;

use clap::{ArgAction, Args, Subcommand};
use foretell_catalog::{Catalog, CatalogError, Profile, Sites};
use foretell_model::WalletAddress;
use foretell_operator_client::OperatorClient;
use foretell_wire::data::pseudonym;
use foretell_wire::operator::{
    MAX_BIO_CHARACTERS, MAX_NAME_CHARACTERS, MAX_URL_CHARACTERS, OperatorCommand, ProfileEdit,
};
use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;
use crate::operator::client;
use crate::output::{Output, table};
use crate::runtime;

/// `foretell profile`
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// Set fields of a profile; an empty text removes a field
    Set {
        /// Wallet address: 0x and 40 hex digits
        address: String,
        /// Fields to set
        #[command(flatten)]
        changes: Changes,
    },
    /// Show a wallet's profile
    Show {
        /// Wallet address: 0x and 40 hex digits
        address: String,
    },
}

/// Fields given on the command line.
#[derive(Clone, Debug, Default, Args)]
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
/// An address or a field is invalid, or the catalog database cannot be used.
pub(crate) fn run(
    config: &Config,
    command: &ProfileCommand,
    output: Output,
) -> Result<ExitCode, Failure> {
    let file = config.catalog_file();
    let (wallet, profile) = match command {
        ProfileCommand::Set { address, changes } => {
            let wallet = wallet(address)?;
            let edit = changes.edit(wallet)?;
            let client = client::connect(config)?;
            runtime::small()?.block_on(client.send(&edit))?;
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
    foretell_wire::ids::address(text).ok_or_else(|| {
        Failure::new(format!("{text:?} is no wallet address"))
            .hint("an address is 0x and 40 hex digits, as `proxyWallet` shows it")
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
        client.send(&changes.edit(wallet)?).await?;
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

impl Changes {
    /// The command that makes the changes.
    fn edit(&self, wallet: WalletAddress) -> Result<OperatorCommand, Failure> {
        self.check()?;
        Ok(OperatorCommand::DescribeWallet(Box::new(ProfileEdit {
            wallet,
            name: self.name.clone(),
            pseudonym: self.pseudonym.clone(),
            bio: self.bio.clone(),
            image: self.image.clone(),
            image_optimized: self.image_optimized.clone(),
            public: self.public,
        })))
    }

    fn check(&self) -> Result<(), Failure> {
        short("--name", &self.name, MAX_NAME_CHARACTERS)?;
        short("--pseudonym", &self.pseudonym, MAX_NAME_CHARACTERS)?;
        short("--bio", &self.bio, MAX_BIO_CHARACTERS)?;
        url("--image", &self.image)?;
        url("--image-optimized", &self.image_optimized)
    }
}

fn short(option: &str, text: &Option<String>, most: usize) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    let count = text.chars().count();
    if count > most {
        return Err(Failure::new(format!(
            "{option} has {count} characters, allowed: {most}"
        )));
    }
    if text
        .chars()
        .any(|letter| letter.is_control() && letter != '\n')
    {
        return Err(Failure::new(format!(
            "{option} is {text:?}, allowed: text without control characters"
        )));
    }
    Ok(())
}

fn url(option: &str, text: &Option<String>) -> Result<(), Failure> {
    short(option, text, MAX_URL_CHARACTERS)?;
    let Some(text) = text.as_deref().filter(|text| !text.is_empty()) else {
        return Ok(());
    };
    let is_url = reqwest::Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match is_url {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "{option} is {text:?}, allowed: a URL of http or https"
        ))),
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

    fn changes(set: impl FnOnce(&mut Changes)) -> Changes {
        let mut changes = Changes::default();
        set(&mut changes);
        changes
    }

    #[test]
    fn what_cannot_be_is_told() {
        let text = |text: &str| Some(text.to_owned());
        for (changes, told) in [
            (
                changes(|it| it.name = Some("é".repeat(65))),
                "--name has 65 characters, allowed: 64",
            ),
            (
                changes(|it| it.pseudonym = text("a\tb")),
                "--pseudonym is \"a\\tb\", allowed: text without control characters",
            ),
            (
                changes(|it| it.image = text("javascript:alert(1)")),
                "--image is \"javascript:alert(1)\", allowed: a URL of http or https",
            ),
        ] {
            let failure = changes.check().unwrap_err().to_string();
            assert!(failure.contains(told), "{failure}");
        }
        let fine = changes(|it| {
            it.name = Some("😀".repeat(64));
            it.bio = text("two\nlines");
            it.image = text("https://example.org/a.png");
            it.image_optimized = text("");
        });
        assert!(fine.check().is_ok());
        assert!(wallet("0x12").is_err());
    }
}
