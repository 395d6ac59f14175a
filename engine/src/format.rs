//! The format id of a data directory: a build goes on only with data of its own id
//! (docs/internals/decisions/0008).

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use foretell_model::limits::FORMAT_ID;

use crate::error::EngineError;

/// The file of the id in a data directory: the number and a newline.
pub const FORMAT_NAME: &str = "format";

/// Whether this build may start on a data directory: its format id, or `None` before its first start.
///
/// # Errors
/// [`EngineError::OtherFormat`], or the file cannot be read.
pub fn check_format(data: &Path) -> Result<Option<u32>, EngineError> {
    let file = data.join(FORMAT_NAME);
    let text = match fs::read_to_string(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(EngineError::process(format!("reading {}", file.display())))?,
    };
    match text.trim().parse() {
        Ok(FORMAT_ID) => Ok(Some(FORMAT_ID)),
        _ => Err(EngineError::OtherFormat {
            file,
            found: text.trim().escape_default().to_string(),
        }),
    }
}

/// Like [`check_format`], and writes the id of this build where there is none.
pub(crate) fn claim_format(data: &Path) -> Result<(), EngineError> {
    if check_format(data)?.is_some() {
        return Ok(());
    }
    let file = data.join(FORMAT_NAME);
    let written = write_synced(data, &file);
    written.map_err(EngineError::process(format!("writing {}", file.display())))
}

/// A power failure leaves the whole file or none.
fn write_synced(data: &Path, file: &Path) -> io::Result<()> {
    let draft = file.with_extension("tmp");
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let mut written = options.open(&draft)?;
    writeln!(written, "{FORMAT_ID}")?;
    written.sync_all()?;
    fs::rename(&draft, file)?;
    fs::File::open(data)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_of_one_format() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(check_format(data.path()).unwrap(), None);
        claim_format(data.path()).unwrap();
        claim_format(data.path()).unwrap();
        assert_eq!(check_format(data.path()).unwrap(), Some(FORMAT_ID));
        for other in ["5\n", "", "6 7\n"] {
            fs::write(data.path().join(FORMAT_NAME), other).unwrap();
            let refused = claim_format(data.path()).unwrap_err();
            assert_eq!(refused.exit_code(), crate::EXIT_REFUSED);
            let text = refused.to_string();
            assert!(
                text.contains(&format!("this build has {FORMAT_ID}")),
                "{text}"
            );
            let kept = fs::read_to_string(data.path().join(FORMAT_NAME)).unwrap();
            assert_eq!(kept, other, "nothing is changed");
        }
    }
}
