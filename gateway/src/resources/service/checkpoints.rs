//! `GET /audit/checkpoint` and `/audit/checkpoints`: the engine's signed checkpoints
//! (docs/api/operator.md §5).

use std::path::PathBuf;

use foretell_checkpoint::{CheckpointLogError, CheckpointReader};
use foretell_wire::ErrorCode;
use foretell_wire::checkpoint::CheckpointRow;
use foretell_wire::limits::PAGE_ROWS;
use foretell_wire::read::page::{Cursor, Page};
use foretell_wire::read::query::trading::PageQuery;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::policy::work;
use crate::view::beginning;

/// `GET /audit/checkpoint`: the newest.
pub(crate) async fn newest(context: RequestContext) -> Result<Json<CheckpointRow>, Failure> {
    let row = newest_row(&context).await?;
    let row = row.ok_or(ErrorCode::CheckpointNotFound)?;
    Ok(Json::of(&row))
}

/// The newest checkpoint, if there is one.
pub(crate) async fn newest_row(context: &RequestContext) -> Result<Option<CheckpointRow>, Failure> {
    let begin = beginning::of_journal(&context.app).await.begin;
    let row = read(context, move |reader| {
        let newest = reader.newest()?;
        Ok(newest.map(|signed| CheckpointRow::new(&reader.genesis(), &begin, &signed)))
    });
    Ok(row.await?.flatten())
}

/// `GET /audit/checkpoints?next_cursor=`: all, oldest first, so that pages never change.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(PageQuery {
        next_cursor: cursor,
    }): FromQuery<PageQuery>,
) -> Result<Json<Page<CheckpointRow>>, Failure> {
    let begin = beginning::of_journal(&context.app).await.begin;
    let page = read(&context, move |reader| {
        let rows = reader.read(cursor.offset(), PAGE_ROWS)?;
        let end = cursor.offset() + rows.len() as u64;
        let next = (!rows.is_empty() && end < reader.count()).then(|| Cursor::at(end));
        let rows = rows
            .iter()
            .map(|signed| CheckpointRow::new(&reader.genesis(), &begin, signed));
        Ok(Page::new(rows.collect(), PAGE_ROWS, next))
    })
    .await?;
    let page = page.unwrap_or_else(|| Page::empty(PAGE_ROWS));
    Ok(Json::of(&page))
}

/// Reads the file on a blocking thread; `None` while it does not exist.
async fn read<T: Send + 'static>(
    context: &RequestContext,
    read: impl FnOnce(&CheckpointReader) -> std::io::Result<T> + Send + 'static,
) -> Result<Option<T>, Failure> {
    let path = context.app.checkpoints.clone();
    let reading = work::blocking(move || from_file(path, read));
    let found = reading.await.map_err(|_| ErrorCode::Internal)?;
    found.map_err(|error| {
        tracing::error!(%error, "cannot read checkpoints");
        ErrorCode::Internal.into()
    })
}

fn from_file<T>(
    path: PathBuf,
    read: impl FnOnce(&CheckpointReader) -> std::io::Result<T>,
) -> Result<Option<T>, CheckpointLogError> {
    let Some(reader) = CheckpointReader::open(&path)? else {
        return Ok(None);
    };
    let found = read(&reader);
    found
        .map(Some)
        .map_err(|source| CheckpointLogError::Io { path, source })
}
