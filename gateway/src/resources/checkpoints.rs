//! `GET /audit/checkpoint` and `/audit/checkpoints`: what the engine has signed (protocol 16).

use std::path::PathBuf;

use foretell_checkpoint::{LogError, Reader};
use foretell_wire::checkpoint::CheckpointRow;
use foretell_wire::page::{Cursor, PAGE_ROWS, Page};
use foretell_wire::{Failure as Refusal, json_text};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

/// `GET /audit/checkpoint`: the newest.
pub(crate) async fn newest(call: Call) -> Result<Answer, Failure> {
    let row = read(&call, |reader| {
        let newest = reader.newest()?;
        Ok(newest.map(|signed| CheckpointRow::new(&reader.genesis(), &signed)))
    })
    .await?;
    let row = row.flatten().ok_or(Refusal::Unknown("no checkpoint yet"))?;
    Ok(Answer::json(json_text(&row)))
}

/// `GET /audit/checkpoints?next_cursor=`: all, the oldest first, so that a page stays what it was.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let cursor = call.query()?.cursor()?;
    let page = read(&call, move |reader| {
        let rows = reader.read(cursor.offset(), PAGE_ROWS)?;
        let end = cursor.offset() + rows.len() as u64;
        let next = (!rows.is_empty() && end < reader.count()).then(|| Cursor::at(end));
        let rows = rows
            .iter()
            .map(|signed| CheckpointRow::new(&reader.genesis(), signed));
        Ok(Page::new(rows.collect(), PAGE_ROWS, next))
    })
    .await?;
    let page = page.unwrap_or_else(|| Page::empty(PAGE_ROWS));
    Ok(Answer::json(json_text(&page)))
}

/// Reads the file on a thread that may wait for the disk; `None` while there is none.
async fn read<T: Send + 'static>(
    call: &Call,
    read: impl FnOnce(&Reader) -> std::io::Result<T> + Send + 'static,
) -> Result<Option<T>, Failure> {
    let path = call.app.checkpoints.clone();
    let reading = tokio::task::spawn_blocking(move || from_file(path, read));
    let found = reading.await.map_err(|_| Refusal::Internal)?;
    found.map_err(|error| {
        tracing::error!(%error, "checkpoints cannot be read");
        Refusal::Internal.into()
    })
}

fn from_file<T>(
    path: PathBuf,
    read: impl FnOnce(&Reader) -> std::io::Result<T>,
) -> Result<Option<T>, LogError> {
    let Some(reader) = Reader::open(&path)? else {
        return Ok(None);
    };
    let found = read(&reader);
    found
        .map(Some)
        .map_err(|source| LogError::Io { path, source })
}
