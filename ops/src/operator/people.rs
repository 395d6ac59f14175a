//! `foretell operators add`.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use foretell_model::CommandKind;
use foretell_wire::operator::OperatorAdded;
use serde_json::json;

use super::arguments::NewOperator;
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
    operator: &NewOperator,
    output: Output,
) -> Result<ExitCode, Failure> {
    let client = client::connect(config)?;
    let path = super::path(CommandKind::AddOperator);
    // Before the command: a token that cannot be kept must not be issued.
    let file = operator.token_file.as_deref().map(create).transpose()?;
    let added: OperatorAdded = match (block_on(client.post(path, operator)), &file) {
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
                "revoke it and add another: foretell operators revoke {}",
                operator.name
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
