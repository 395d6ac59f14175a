//! One record by id or slug in the path: `/markets/{id}`, `/events/{id}`, `/series/{id}`,
//! `/tags/{id}` and `/slug/…`, and the tags of a market or event.

use foretell_catalog::query::{OneQuery, Parameters, path_id};
use foretell_catalog::{Catalog, CatalogError};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::catalog::ask;

/// `GET /markets/{id}`: a number or a condition id.
pub(crate) async fn market(context: RequestContext) -> Result<Answer, Failure> {
    by_text(&context, OneQuery::of_market, Catalog::market).await
}

/// `GET /markets/slug/{slug}`.
pub(crate) async fn market_by_slug(context: RequestContext) -> Result<Answer, Failure> {
    by_text(&context, OneQuery::of_market, Catalog::market_by_slug).await
}

/// `GET /markets/{id}/tags`.
pub(crate) async fn market_tags(context: RequestContext) -> Result<Answer, Failure> {
    by_text(&context, OneQuery::of, Catalog::market_tags).await
}

/// `GET /events/{id}`.
pub(crate) async fn event(context: RequestContext) -> Result<Answer, Failure> {
    by_number(&context, OneQuery::of_event, Catalog::event).await
}

/// `GET /events/slug/{slug}`.
pub(crate) async fn event_by_slug(context: RequestContext) -> Result<Answer, Failure> {
    by_text(&context, OneQuery::of_event, Catalog::event_by_slug).await
}

/// `GET /events/{id}/tags`.
pub(crate) async fn event_tags(context: RequestContext) -> Result<Answer, Failure> {
    by_number(&context, OneQuery::of, Catalog::event_tags).await
}

/// `GET /series/{id}`.
pub(crate) async fn series(context: RequestContext) -> Result<Answer, Failure> {
    by_number(&context, OneQuery::of, Catalog::one_series).await
}

/// `GET /tags/{id}`.
pub(crate) async fn tag(context: RequestContext) -> Result<Answer, Failure> {
    by_number(&context, OneQuery::of_tag, Catalog::tag).await
}

/// `GET /tags/slug/{slug}`.
pub(crate) async fn tag_by_slug(context: RequestContext) -> Result<Answer, Failure> {
    by_text(&context, OneQuery::of_tag, Catalog::tag_by_slug).await
}

type Read<Q> = fn(&Parameters) -> Result<Q, CatalogError>;
type ByText = fn(&Catalog, &str, &OneQuery) -> Result<String, CatalogError>;
type ByNumber = fn(&Catalog, u64, &OneQuery) -> Result<String, CatalogError>;

async fn by_text(
    context: &RequestContext,
    read: Read<OneQuery>,
    find: ByText,
) -> Result<Answer, Failure> {
    let name = path_text(&context.parameter);
    ask(context, read, move |catalog, query| {
        find(catalog, &name, query)
    })
    .await
}

async fn by_number(
    context: &RequestContext,
    read: Read<OneQuery>,
    find: ByNumber,
) -> Result<Answer, Failure> {
    let id = path_text(&context.parameter);
    let of = |parameters: &Parameters| Ok((path_id(&id)?, read(parameters)?));
    ask(context, of, move |catalog, (id, query)| {
        find(catalog, *id, query)
    })
    .await
}

/// Percent-decodes a part of a path: `%41` is `A`, `+` stays a plus. Invalid escapes stay as they
/// are, and invalid UTF-8 matches no record.
pub(crate) fn path_text(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let mut code = [0];
        let digits = after.first_chunk::<2>().filter(|_| *byte == b'%');
        match digits.map(|digits| hex::decode_to_slice(digits, &mut code)) {
            Some(Ok(())) => {
                bytes.push(code[0]);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_it_encodes() {
        for (part, text) in [
            ("will-it-rain", "will-it-rain"),
            ("a%20b%2Fc", "a b/c"),
            ("%E2%80%8B", "\u{200b}"),
            ("100%", "100%"),
            ("%zz", "%zz"),
            ("%4", "%4"),
            ("a+b", "a+b"),
            ("%ff", "\u{fffd}"),
            ("", ""),
        ] {
            assert_eq!(path_text(part), text, "{part}");
        }
    }
}
