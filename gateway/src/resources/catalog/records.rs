//! One record, named in the path: `/markets/{id}`, `/events/{id}`, `/tags/{id}` and by slug.

use foretell_catalog::query::{OneQuery, Parameters, path_id};
use foretell_catalog::{Catalog, CatalogError};

use super::ask;
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;

/// `GET /markets/{id}`: a number or a condition id.
pub(crate) async fn market(call: Call) -> Result<Answer, Failure> {
    by_text(&call, Catalog::market).await
}

/// `GET /markets/slug/{slug}`.
pub(crate) async fn market_by_slug(call: Call) -> Result<Answer, Failure> {
    by_text(&call, Catalog::market_by_slug).await
}

/// `GET /events/{id}`.
pub(crate) async fn event(call: Call) -> Result<Answer, Failure> {
    by_number(&call, Catalog::event).await
}

/// `GET /events/slug/{slug}`.
pub(crate) async fn event_by_slug(call: Call) -> Result<Answer, Failure> {
    by_text(&call, Catalog::event_by_slug).await
}

/// `GET /tags/{id}`.
pub(crate) async fn tag(call: Call) -> Result<Answer, Failure> {
    by_number(&call, Catalog::tag).await
}

/// `GET /tags/slug/{slug}`.
pub(crate) async fn tag_by_slug(call: Call) -> Result<Answer, Failure> {
    by_text(&call, Catalog::tag_by_slug).await
}

type ByText = fn(&Catalog, &str, &OneQuery) -> Result<String, CatalogError>;
type ByNumber = fn(&Catalog, u64, &OneQuery) -> Result<String, CatalogError>;

async fn by_text(call: &Call, find: ByText) -> Result<Answer, Failure> {
    let name = path_text(&call.parameter);
    ask(call, OneQuery::of, move |catalog, query| {
        find(catalog, &name, query)
    })
    .await
}

async fn by_number(call: &Call, find: ByNumber) -> Result<Answer, Failure> {
    let id = path_text(&call.parameter);
    let of = |parameters: &Parameters| Ok((path_id(&id)?, OneQuery::of(parameters)?));
    ask(call, of, move |catalog, (id, query)| {
        find(catalog, *id, query)
    })
    .await
}

/// A part of a path as it was meant: `%41` is `A`, and `+` is a plus. What is no such code stands
/// for itself, and what is no UTF-8 names nothing that exists.
fn path_text(part: &str) -> String {
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
