//! `GET /admin/…`: the operator's page. Its files need no token; every read and command of it does.

use foretell_wire::ErrorCode;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::parts::FromPath;
use crate::http::request_context::RequestContext;
use crate::page::files::find_exactly;
use crate::resources::page::files::{FilePath, file_answer};

const INDEX: &str = "admin/index.html";

/// `GET /admin`.
pub(crate) async fn root(_: RequestContext) -> Result<Answer, Failure> {
    let home = HeaderValue::from_static("/admin/");
    Ok(Answer::without_body(StatusCode::TEMPORARY_REDIRECT).header(LOCATION, home))
}

/// `GET /admin/` and `GET /admin/{*file}`: files of the page and those it shares with `/ui/`.
pub(crate) async fn file(
    context: RequestContext,
    FromPath(FilePath(path)): FromPath<FilePath>,
) -> Result<Answer, Failure> {
    let path = match path.as_str() {
        // Not the page of `/ui/`, which has that name in the table.
        "" | "index.html" => INDEX,
        path => path,
    };
    let file = find_exactly(path).ok_or(ErrorCode::NotFound)?;
    Ok(file_answer(file, &context.head.headers))
}
