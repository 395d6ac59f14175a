//! `GET /ui/…`: the files of the page, and `GET /` for browsers.

use foretell_wire::read::path::PathParameter;
use foretell_wire::{ApiError, ErrorCode};
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::http::answer::{Answer, Reply as _};
use crate::http::embedded_file::{EmbeddedFile, REVALIDATE};
use crate::http::failure::Failure;
use crate::http::parts::FromPath;
use crate::http::request_context::RequestContext;
use crate::page::files::find;
use crate::resources::page::page;
use crate::resources::service::health;

/// Everything from the page's own origin; no inline script, no frame around it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
);
const HOME: HeaderValue = HeaderValue::from_static("/ui/");

/// Path of a file of a page; empty for the page itself.
pub(crate) struct FilePath(pub(crate) String);

impl PathParameter for FilePath {
    type Schema = String;
    const ERRORS: &'static [ErrorCode] = &[ErrorCode::NotFound];

    fn read(text: &str) -> Result<Self, ApiError> {
        Ok(Self(text.to_owned()))
    }
}

/// `GET /ui/{*file}`, `GET /ui/` and `GET /ui`.
pub(crate) async fn file(
    context: RequestContext,
    FromPath(FilePath(path)): FromPath<FilePath>,
) -> Result<Answer, Failure> {
    let is_read = path == "api" || path.starts_with("api/");
    let file = find(&path)
        .filter(|_| !is_read)
        .ok_or(ErrorCode::NotFound)?;
    Ok(file_answer(file, &context.head.headers))
}

/// A file in the representation that the client accepts.
pub(crate) fn file_answer(file: &EmbeddedFile, headers: &HeaderMap) -> Answer {
    protected(file.answer(headers))
}

/// `GET /ui/logo`.
pub(crate) async fn logo(context: RequestContext) -> Result<Answer, Failure> {
    let logo = page(&context)?.config.logo.as_ref();
    let logo = logo.ok_or(ErrorCode::NotFound)?;
    let content_type = HeaderValue::from_static(logo.content_type);
    let answer = Answer::json(logo.bytes.clone())
        .header(CONTENT_TYPE, content_type)
        .header(CACHE_CONTROL, REVALIDATE);
    Ok(protected(answer))
}

/// `GET /`: a browser is sent to the page, a client gets "OK".
pub(crate) async fn root(context: RequestContext) -> Result<Answer, Failure> {
    let mut accepted = context.head.headers.get_all(ACCEPT).iter();
    let is_browser = accepted.any(|line| {
        let mut kinds = line.to_str().unwrap_or_default().split(',');
        kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim() == "text/html")
    });
    let answer = if is_browser {
        Answer::without_body(StatusCode::TEMPORARY_REDIRECT).header(LOCATION, HOME)
    } else {
        health::ok(context).await?.into_answer()
    };
    Ok(answer.header(VARY, HeaderValue::from_static("accept")))
}

fn protected(answer: Answer) -> Answer {
    answer
        .header(CONTENT_SECURITY_POLICY, POLICY)
        .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
        .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"))
}
