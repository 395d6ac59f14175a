//! The data surface (interface, protocol 12): what wallets traded, hold and closed, and who holds
//! what. Parameters are read and rows written by `foretell_wire::data`; which rows there are is
//! found here, in the view, a bounded number of entries under each hold of its lock.

pub(crate) mod activity;
pub(crate) mod closed_positions;
mod fills;
mod held;
pub(crate) mod holders;
mod lists;
mod named;
pub(crate) mod positions;
pub(crate) mod totals;
pub(crate) mod trades;

use bytes::Bytes;
use foretell_model::{AccountNumber, ConditionId, MarketNumber, WalletAddress};
use foretell_wire::data::{DataFailure, coded};
use foretell_wire::query::Query;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;

/// Entries of the view looked at under one hold of its lock: some wallets have millions.
const STEP: usize = 4_096;
/// Entries of a list of trades looked at where they are listed, under one hold.
const LOOKS: usize = 8_192;

/// An answer of this surface: a failure of the transport, of the edge or of the process gets the
/// code that every failure here begins with.
pub(crate) fn shaped(mut answer: Answer) -> Answer {
    if answer.status.is_success() {
        return answer;
    }
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    if let Value::String(text) = &body["error"] {
        let body = json!({ "error": coded(answer.status.as_u16(), text) });
        answer.body = Bytes::from(body.to_string());
    }
    answer
}

/// Reads the parameters of a request.
fn parameters<Q>(
    call: &Call,
    of: impl FnOnce(&Query<'_>) -> Result<Q, DataFailure>,
) -> Result<Q, Failure> {
    let query = call.query().map_err(DataFailure::from)?;
    Ok(of(&query)?)
}

/// The account of a wallet; `None` when the exchange has never heard of it.
async fn account_of(app: &App, wallet: WalletAddress) -> Result<Option<AccountNumber>, Failure> {
    Ok(app.find(|view| view.accounts().number_of(&wallet)).await?)
}

/// The markets a request names, as far as they are there.
struct Markets {
    /// As they were named; `None` when it names none, and so means all.
    named: Option<Vec<MarketNumber>>,
    /// The same in rising order, each once.
    sorted: Vec<MarketNumber>,
}

impl Markets {
    async fn of(app: &App, conditions: &[ConditionId]) -> Result<Self, Failure> {
        if conditions.is_empty() {
            return Ok(Self {
                named: None,
                sorted: Vec::new(),
            });
        }
        // One that is not there may have come since.
        app.find(|view| {
            let known = |condition| view.markets().by_condition(condition).is_some();
            conditions.iter().all(known).then_some(())
        })
        .await?;
        let state = app.replica.read();
        let markets = state.view.markets();
        let found = conditions
            .iter()
            .filter_map(|condition| Some(markets.by_condition(condition)?.0));
        let named: Vec<_> = found.collect();
        let mut sorted = named.clone();
        sorted.sort_unstable();
        sorted.dedup();
        Ok(Self {
            named: Some(named),
            sorted,
        })
    }

    /// Those it is about, in rising order, each once; `None` when it is about all.
    fn distinct(&self) -> Option<&[MarketNumber]> {
        self.named.as_ref().map(|_| &*self.sorted)
    }

    fn contains(&self, market: MarketNumber) -> bool {
        let distinct = self.distinct();
        distinct.is_none_or(|distinct| distinct.binary_search(&market).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    #[test]
    fn every_failure_has_a_code() {
        let shaped = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            let answer = shaped(Answer::with_status(status, body.to_owned()));
            String::from_utf8(answer.body.to_vec()).unwrap()
        };
        for (status, text, expected) in [
            (404, "not found", "not_found: not found"),
            (405, "x", "method_not_allowed: x"),
            (413, "x", "bad_request: x"),
            (425, "x", "unavailable: x"),
            (503, "x", "unavailable: x"),
            (400, "missing_field: user", "missing_field: user"),
            (429, "rate_limited: x", "rate_limited: x"),
            (500, "x", "internal_error: unexpected database failure"),
        ] {
            let body = json!({ "error": text }).to_string();
            let expected = json!({ "error": expected }).to_string();
            assert_eq!(shaped(status, &body), expected);
        }
        assert_eq!(shaped(200, "[]"), "[]");
    }
}
