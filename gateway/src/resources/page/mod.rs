//! The page (docs/api/page.md): its files, and the reads that its views need in addition to those of
//! the surfaces.

pub(crate) mod engine_room;
pub(crate) mod files;
pub(crate) mod proof;
pub(crate) mod site;
pub(crate) mod summary;
pub(crate) mod wallet;

use foretell_wire::ErrorCode;

use crate::failure::Failure;
use crate::page::Page;
use crate::request_context::RequestContext;

/// The page of this process; its routes exist only with it.
fn page(context: &RequestContext) -> Result<&Page, Failure> {
    let page = context.app.page.as_ref();
    page.ok_or_else(|| ErrorCode::NotFound.into())
}
