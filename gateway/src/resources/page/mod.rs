//! The page (docs/api/page.md): its files, and the reads that its views need in addition to those of
//! the surfaces.

pub(crate) mod engine_room;
pub(crate) mod files;
pub(crate) mod proof;
pub(crate) mod site;
pub(crate) mod summary;
pub(crate) mod wallet;

use foretell_wire::ErrorCode;

use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::page::Page;

/// The page of this process; its routes exist only with it.
fn page(context: &RequestContext) -> Result<&Page, Failure> {
    let page = context.app.page.as_ref();
    page.ok_or_else(|| ErrorCode::NotFound.into())
}
