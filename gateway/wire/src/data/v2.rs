//! Version 2 of the lists, `/v2/…`: the rows of version 1 under other names, in an envelope with a
//! cursor (docs/api/data.md §7).

pub(crate) mod holders;
pub(crate) mod positions;
pub(crate) mod prices;

use foretell_model::{ConditionId, Outcome, TokenId};
use serde_json::{Map, Value, json};

use crate::data::read::errors::invalid_parameter;
use crate::data::read::page::LimitOffset;
use crate::data::read::parameters::Parameters;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_V2_CURSOR, MAX_V2_ROWS};
use crate::read::query::Query;
use crate::text::ids::{self, TokenRef};

/// The parameters of a list: their names in version 2, and in version 1.
pub type Renames = &'static [(&'static str, &'static str)];

/// `GET /v2/trades`
pub const V2_TRADES: Renames = &[
    ("user", "user"),
    ("condition_id", "market"),
    ("event_id", "eventId"),
    ("side", "side"),
    ("taker_only", "takerOnly"),
    ("filter_type", "filterType"),
    ("filter_amount", "filterAmount"),
    ("start", "start"),
    ("end", "end"),
];
/// `GET /v2/activity`
pub const V2_ACTIVITY: Renames = &[
    ("user", "user"),
    ("condition_id", "market"),
    ("event_id", "eventId"),
    ("type", "type"),
    ("side", "side"),
    ("sort_direction", "sortDirection"),
    ("start", "start"),
    ("end", "end"),
    ("exclude_deposits_withdrawals", "excludeDepositsWithdrawals"),
];
/// `GET /v2/positions`
pub const V2_POSITIONS: Renames = &[
    ("user", "user"),
    ("condition_id", "market"),
    ("event_id", "eventId"),
    ("status", "status"),
    ("title", "title"),
    ("filter_type", "filterType"),
    ("filter_amount", "filterAmount"),
    ("include_archived", "includeArchived"),
    ("sort_by", "sortBy"),
    ("sort_direction", "sortDirection"),
    ("start", "start"),
    ("end", "end"),
];
/// `GET /v2/holders`
pub const V2_HOLDERS: Renames = &[
    ("condition_id", "market"),
    ("min_balance", "minBalance"),
    ("include_pnl", "includePnl"),
];
/// `GET /v2/value`
pub const V2_VALUE: Renames = &[("user", "user"), ("condition_id", "market")];
/// `GET /v2/oi`
pub const V2_OPEN_INTEREST: Renames = &[("condition_id", "market")];
/// `GET /v2/live-volume`
pub const V2_LIVE_VOLUME: Renames = &[("event_id", "id")];

/// A query of version 2 as one of version 1, and its page.
#[derive(Clone, Debug)]
pub struct V2Query<'q> {
    /// The query without `limit` and `cursor`.
    pub first: Query<'q>,
    /// `limit` 1 to 1,000, default 100; the offset that `cursor` encodes.
    pub page: LimitOffset,
}

impl<'q> V2Query<'q> {
    /// Reads the parameters of a list that comes in pages.
    ///
    /// # Errors
    /// A parameter that is unknown, or a wrong `limit` or `cursor`.
    pub fn paged(query: &'q Query<'q>, renames: Renames) -> Result<Self, ApiError> {
        let known = renames.iter().map(|(name, _)| *name);
        let known: Vec<&str> = known.chain(["limit", "cursor"]).collect();
        let parameters = Parameters::of(query, &known)?;
        let limit = parameters.whole("limit", 100, MAX_V2_ROWS)?;
        if limit == 0 {
            let allowed = format!("an integer from 1 to {MAX_V2_ROWS}");
            return Err(invalid_parameter("limit", "0", &allowed));
        }
        let page = LimitOffset {
            limit,
            offset: parameters.whole("cursor", 0, MAX_V2_CURSOR)?,
        };
        Ok(Self {
            first: in_v1(query, renames),
            page,
        })
    }

    /// Reads the parameters of an answer that comes in one piece.
    ///
    /// # Errors
    /// A parameter that is unknown.
    pub fn whole(query: &'q Query<'q>, renames: Renames) -> Result<Self, ApiError> {
        let known: Vec<&str> = renames.iter().map(|(name, _)| *name).collect();
        Parameters::of(query, &known)?;
        let page = LimitOffset {
            limit: 1,
            offset: 0,
        };
        Ok(Self {
            first: in_v1(query, renames),
            page,
        })
    }
}

fn in_v1<'q>(query: &'q Query<'q>, renames: Renames) -> Query<'q> {
    Query::of_pairs(query.pairs().filter_map(|(name, value)| {
        let (_, first) = renames.iter().find(|(known, _)| *known == name)?;
        Some((*first, value))
    }))
}

/// An error of version 1 with the parameter's name in version 2.
#[must_use]
pub fn in_v2(error: ApiError, renames: Renames) -> ApiError {
    let name = |first: &String| {
        let found = renames.iter().find(|(_, known)| known == first);
        found.map_or(first.clone(), |(name, _)| (*name).to_owned())
    };
    match (error.code(), error.values()) {
        (code @ ErrorCode::MissingParameter, [field]) => code.with([&name(field)]),
        (code @ ErrorCode::InvalidParameter, [field, why]) => code.with([&name(field), why]),
        _ => error,
    }
}

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

    fn read<'q>(query: &'q Query<'q>) -> Result<V2Query<'q>, String> {
        V2Query::paged(query, V2_TRADES).map_err(|error| error.to_string())
    }

    #[test]
    fn parameters_get_their_first_names() {
        let text = "condition_id=0x1,0x2&taker_only=false&limit=5&cursor=10";
        let query = Query::parse(Some(text)).unwrap();
        let read = read(&query).unwrap();
        let pairs: Vec<_> = read.first.pairs().collect();
        assert_eq!(pairs, [("market", "0x1,0x2"), ("takerOnly", "false")]);
        assert_eq!((read.page.limit, read.page.offset), (5, 10));
    }

    #[test]
    fn wrong_parameters_are_named_as_they_were_given() {
        for (text, told) in [
            ("market=0x1", "unknown_field: market"),
            (
                "limit=0",
                "invalid_field: limit: '0' is not an integer from 1 to 1000",
            ),
            (
                "limit=1001",
                "invalid_field: limit: '1001' is not an integer from 0 to 1000",
            ),
            (
                "cursor=x",
                "invalid_field: cursor: 'x' is not an integer from 0 to 10000",
            ),
        ] {
            let query = Query::parse(Some(text)).unwrap();
            assert_eq!(read(&query).unwrap_err(), told);
        }
        let error = in_v2(invalid_parameter("eventId", "x", "an id"), V2_TRADES);
        assert_eq!(
            error.to_string(),
            "invalid_field: event_id: 'x' is not an id"
        );
    }

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
