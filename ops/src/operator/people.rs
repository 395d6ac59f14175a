//! `foretell operators add`.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use foretell_model::OperatorRole;
use foretell_wire::operator::{Name, OperatorAdded, OperatorAddition, PlainForm as _};
use serde_json::json;

use super::{block_on, client, show};
use crate::config::Config;
use crate::failure::Failure;
use crate::output::Output;

/// Adds an operator and shows its token, or writes it to a new file.
///
/// # Errors
/// The file exists, the surface cannot be reached, or it rejects the request.
pub(super) fn add(
    config: &Config,
    name: &str,
    role: OperatorRole,
    token_file: Option<&Path>,
    output: Output,
) -> Result<ExitCode, Failure> {
    let addition = OperatorAddition {
        name: Name::parse("name", name)?,
        role,
    };
    // Before the command: a token that cannot be kept must not be issued.
    let file = token_file.map(create).transpose()?;
    let client = client::connect(config)?;
    let added: OperatorAdded = match (block_on(client.post("/operators", &addition)), &file) {
        (Err(failure), Some((path, _))) => {
            let _ = std::fs::remove_file(path);
            return Err(failure);
        }
        (added, _) => added?,
    };
    let mut answer = json!(added);
    if let Some((path, mut file)) = file {
        let written = file
            .write_all(added.token.as_bytes())
            .and_then(|()| file.sync_all());
        written.map_err(|error| {
            Failure::new(format!("{}: {error}", path.display())).hint(format!(
                "revoke it and add another: foretell operators revoke {name}"
            ))
        })?;
        answer["token"] = "written".into();
        answer["token_file"] = path.display().to_string().into();
    }
    output.answer(&answer, show::fields);
    Ok(ExitCode::SUCCESS)
}

fn create(path: &Path) -> Result<(&Path, std::fs::File), Failure> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let file = file.map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    Ok((path, file))
}
