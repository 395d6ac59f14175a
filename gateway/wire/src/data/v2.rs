//! Version 2 of the lists, `/v2/…`: the rows of version 1 under other names, in an envelope with a
//! cursor (docs/api/data.md §7).

pub(crate) mod holders;
pub(crate) mod positions;
pub(crate) mod prices;

use foretell_model::{ConditionId, Outcome, TokenId};
use serde_json::{Map, Value, json};

use crate::data::read::page::LimitOffset;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::text::ids::{self, TokenRef};

/// `{data, pagination}` from the rows of a page and, if there is one, the row after it.
#[must_use]
pub fn v2_page_text(mut rows: Vec<Value>, page: LimitOffset) -> String {
    let has_more = rows.len() > page.limit;
    rows.truncate(page.limit);
    let next = has_more.then(|| (page.offset + page.limit).to_string());
    json!({ "data": rows, "pagination": { "has_more": has_more, "next_cursor": next } }).to_string()
}

/// `{data, pagination}` from a written array of the page's rows; `has_more` when others follow.
#[must_use]
pub fn v2_written(rows: &str, page: LimitOffset, has_more: bool) -> String {
    let next = has_more.then(|| (page.offset + page.limit).to_string());
    let pagination = json!({ "has_more": has_more, "next_cursor": next });
    format!(r#"{{"data":{rows},"pagination":{pagination}}}"#)
}

/// `{data}`
#[must_use]
pub fn v2_text(data: &Value) -> String {
    json!({ "data": data }).to_string()
}

/// The rows of an answer of version 1 in version 2: names in snake case, decimal token ids.
/// `token` finds the token id of an outcome.
///
/// # Errors
/// An internal error when the answer is no list of objects.
pub fn v2_rows(
    answer: &[u8],
    token: &impl Fn(ConditionId, Outcome) -> Option<TokenId>,
) -> Result<Vec<Value>, ApiError> {
    let rows: Vec<Map<String, Value>> =
        serde_json::from_slice(answer).map_err(|_| ErrorCode::Internal)?;
    let rows = rows.into_iter().map(|row| {
        let fields = row.into_iter().map(|(name, value)| match name.as_str() {
            "asset" => ("token_id".to_owned(), in_decimal(value, token)),
            "market" => ("condition_id".to_owned(), value),
            _ => (snake_case(&name), value),
        });
        Value::Object(fields.collect())
    });
    Ok(rows.collect())
}

/// The decimal token id of an asset in either form.
fn in_decimal(value: Value, token: &impl Fn(ConditionId, Outcome) -> Option<TokenId>) -> Value {
    match value.as_str().and_then(TokenRef::parse) {
        Some(TokenRef::Asset(condition, outcome)) => match token(condition, outcome) {
            Some(token) => ids::token_text(&token).into(),
            None => value,
        },
        _ => value,
    }
}

fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_get_their_second_names_and_token_ids() {
        let condition = format!("0x{}", "01".repeat(32));
        let row = format!(r#"[{{"asset":"{condition}:1","proxyWallet":"0x2","size":0.1}}]"#);
        let mut token = [0; 32];
        token[31] = 9;
        let rows = v2_rows(row.as_bytes(), &|_, outcome| {
            (outcome == Outcome::No).then_some(TokenId(token))
        });
        let rows = rows.unwrap();
        let expected = json!({ "token_id": "9", "proxy_wallet": "0x2", "size": 0.1 });
        assert_eq!(rows[0], expected);
        let page = |limit| v2_page_text(vec![json!(1), json!(2)], LimitOffset { limit, offset: 4 });
        assert_eq!(
            page(1),
            r#"{"data":[1],"pagination":{"has_more":true,"next_cursor":"5"}}"#
        );
        assert_eq!(
            page(2),
            r#"{"data":[1,2],"pagination":{"has_more":false,"next_cursor":null}}"#
        );
    }
}
