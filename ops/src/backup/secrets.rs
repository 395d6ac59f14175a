//! The secrets of a data directory, as one file of a backup, and what it means to lack them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use zeroize::Zeroizing;

use super::files::{Unfinished, failed};
use crate::failure::Failure;

/// Files with secrets and their public halves, and what a directory without the file means.
pub(super) const SECRETS: &[(&str, &str)] = &[
    (
        "master.secret",
        "every API key and session ends, unless FORETELL_MASTER_SECRET has it; clients derive new keys",
    ),
    ("operator.token", "the start makes a new token"),
    ("sync.token", "the start makes a new token"),
    (
        "checkpoint.key",
        "the start makes a new key; give the new checkpoint.pub to auditors",
    ),
    ("checkpoint.pub", "written from checkpoint.key"),
    (
        "cluster.key",
        "needed in a cluster; copy it from a host that may lead",
    ),
    ("cluster.pub", "needed by a reader of a cluster; copy it"),
    (
        "reader.key",
        "a reader of a cluster makes a new one; enter its reader.pub in cluster.readers",
    ),
    ("reader.pub", "written from reader.key"),
];

/// Secrets by file name, in hex digits.
type Secrets = BTreeMap<String, String>;

/// The file with the secrets of a data directory.
pub(super) fn collect(data: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut secrets = Secrets::new();
    for (name, _) in SECRETS {
        let path = data.join(name);
        match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            bytes => {
                let bytes = Zeroizing::new(bytes.map_err(failed("read", &path))?);
                secrets.insert((*name).to_owned(), hex::encode(&*bytes));
            }
        }
    }
    let text = serde_json::to_vec_pretty(&secrets).expect("texts have a JSON text");
    Ok(Zeroizing::new(text))
}

/// Writes the secrets of a backup's file into a data directory.
pub(super) fn write(file: &Path, data: &Path) -> Result<(), Failure> {
    let text = Zeroizing::new(fs::read(file).map_err(failed("read", file))?);
    let wrong = || Failure::new(format!("{}: this file contains no secrets", file.display()));
    let secrets: Secrets = serde_json::from_slice(&text).map_err(|_| wrong())?;
    for (name, digits) in secrets {
        let bytes = Zeroizing::new(hex::decode(digits).map_err(|_| wrong())?);
        let (name, _) = SECRETS
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(wrong)?;
        let unfinished = Unfinished::new(data)?;
        unfinished.fill(&mut bytes.as_slice())?;
        unfinished.finish(name)?;
    }
    Ok(())
}

/// The secrets that a data directory lacks, and what that means. Only a cluster needs those after
/// `checkpoint.pub`.
pub(super) fn missing(data: &Path, cluster: bool) -> Vec<(&'static str, &'static str)> {
    let needs =
        |name: &str| cluster || !name.starts_with("cluster.") && !name.starts_with("reader.");
    let lacks = |(name, _): &&(&str, &str)| needs(name) && !data.join(name).exists();
    SECRETS.iter().filter(lacks).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ClusterRole;
    use crate::processes::cluster_config::copied_keys;

    #[test]
    fn every_key_is_a_secret_of_the_backup() {
        let keys = [ClusterRole::Leader, ClusterRole::Reader].map(copied_keys);
        for key in keys.iter().flatten().chain(&["reader.key", "reader.pub"]) {
            assert!(SECRETS.iter().any(|(name, _)| name == key), "{key}");
        }
    }
}
