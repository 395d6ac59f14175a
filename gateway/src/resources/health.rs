//! `GET /`, `/ok`, `/time`, `/version` (protocol 11).

use crate::answer::Answer;
use crate::auth::now;
use crate::call::Call;
use crate::failure::{self, Failure};

/// `GET /` and `/ok`.
pub(crate) async fn ok(_: Call) -> Result<Answer, Failure> {
    Ok(Answer::json("\"OK\""))
}

/// `GET /time`: unix seconds, bare.
pub(crate) async fn time(_: Call) -> Result<Answer, Failure> {
    Ok(Answer::json((now().0 / 1_000).to_string()))
}

/// `GET /version`: that of signed orders.
pub(crate) async fn version(_: Call) -> Result<Answer, Failure> {
    Ok(Answer::json(r#"{"version":2}"#))
}

/// Families of paths this exchange does not have.
pub(crate) async fn not_supported(_: Call) -> Result<Answer, Failure> {
    Ok(failure::answer(&foretell_wire::Failure::NotSupported))
}
