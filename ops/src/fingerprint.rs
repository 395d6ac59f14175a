//! A digest of the secrets that hosts of a cluster share.

use std::path::Path;

use crate::config::Config;
use crate::failure::Failure;
use crate::process;

/// A digest of the secrets that all hosts of a cluster that can lead must share. It reveals none of
/// them.
///
/// # Errors
/// A secret cannot be read or made.
pub(crate) fn fingerprint(config: &Config) -> Result<String, Failure> {
    let master = process::master_secret(config)?;
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
    };
    let token = read(&config.operator_token_file())?;
    let sync_token = read(&config.sync_token_file())?;
    process::checkpoints(config)?;
    let key = read(&config.checkpoint_key_file())?;
    let mut secrets = zeroize::Zeroizing::new(Vec::new());
    for secret in [&master.bytes()[..], &token, &sync_token, &key] {
        secrets.extend_from_slice(&(secret.len() as u64).to_le_bytes());
        secrets.extend_from_slice(secret);
    }
    let digest = blake3::derive_key(
        "foretell cluster fingerprint of shared secrets v1",
        &secrets,
    );
    Ok(hex::encode(&digest[..16]))
}
