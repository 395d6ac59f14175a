//! How far the webhooks have come: a file that is replaced whole.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use foretell_gateway::outbox::Position;
use foretell_model::Sequence;
use foretell_wire::text::ids;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

#[derive(Serialize, Deserialize)]
struct Cursor {
    branch: String,
    sequence: u64,
}

/// The file's name in the data directory.
pub(crate) const CURSOR_NAME: &str = "webhooks.cursor";

fn path(data: &Path) -> PathBuf {
    data.join(CURSOR_NAME)
}

/// What the last run wrote.
pub(crate) fn read(data: &Path) -> Result<Option<Position>, Failure> {
    let path = path(data);
    let wrong = |what: String| {
        Failure::new(format!("{}: {what}", path.display()))
            .hint("remove it to start at the end of the journal; undelivered notices are then lost")
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error.to_string())),
    };
    let cursor: Cursor = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let branch = ids::bytes32(&cursor.branch);
    let branch = branch.ok_or_else(|| wrong("branch is no 0x and 64 hex digits".to_owned()))?;
    Ok(Some(Position {
        branch,
        sequence: Sequence(cursor.sequence),
    }))
}

/// Replaces the file; after a crash it is the old or the new one.
pub(super) fn write(data: &Path, position: Position) -> Result<(), Failure> {
    let cursor = Cursor {
        branch: ids::hex_text(&position.branch),
        sequence: position.sequence.0,
    };
    let replace = || {
        let mut draft = tempfile::NamedTempFile::new_in(data)?;
        draft.write_all(foretell_wire::json_text(&cursor).as_bytes())?;
        draft.as_file().sync_all()?;
        draft.persist(path(data))?;
        std::fs::File::open(data)?.sync_all()
    };
    let written: std::io::Result<()> = replace();
    written.map_err(|error| Failure::new(format!("{}: {error}", path(data).display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_a_broken_one_is_refused() {
        let data = tempfile::tempdir().unwrap();
        assert!(read(data.path()).unwrap().is_none());
        let position = Position {
            branch: [7; 32],
            sequence: Sequence(9),
        };
        write(data.path(), position).unwrap();
        assert_eq!(read(data.path()).unwrap(), Some(position));
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);
        for broken in ["", "{}", r#"{"branch":"0x07","sequence":1}"#] {
            std::fs::write(path(data.path()), broken).unwrap();
            let refused = read(data.path()).unwrap_err().to_string();
            assert!(refused.contains("remove it"), "{refused}");
        }
    }
}
