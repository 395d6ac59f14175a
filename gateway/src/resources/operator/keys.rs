//! API keys for the operator: `GET /keys?owner=`, `POST /keys/revoke`.

use foretell_model::command::{CancelAll, RevokeKey};
use foretell_model::{Command, Sequence};
use foretell_view::{Key, View};
use foretell_wire::ErrorCode;
use foretell_wire::accounts::account::ApiKeyRow;
use foretell_wire::operator::{CommandAnswer, KeyRevocation, OwnerQuery};
use foretell_wire::schema::JsonSchema;
use foretell_wire::text::decimal::uint256_text;
use serde::Serialize;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromQuery};
use crate::http::request_context::RequestContext;
use crate::resources::operator::answer;

/// A key of an account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KeyRow {
    #[serde(flatten)]
    key: ApiKeyRow,
    /// Whether it only reads.
    read_only: bool,
}

/// Answer of `GET /keys`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct KeyRows {
    /// The keys, revoked ones included.
    keys: Vec<KeyRow>,
}

/// `GET /keys?owner=`: the keys of an address, including revoked ones.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(OwnerQuery { owner }): FromQuery<OwnerQuery>,
) -> Result<Json<KeyRows>, Failure> {
    let app = &context.app;
    let found = app.find(|view| view.accounts().number_of(&owner)).await?;
    let account = found.ok_or(ErrorCode::AccountNotFound)?;
    let state = app.shared_view.read();
    let rows = state
        .view
        .keys()
        .of_owner(account)
        .map(|(_, key)| row(key))
        .collect();
    Ok(Json::of(&KeyRows { keys: rows }).at(state.position()))
}

fn row(key: &Key) -> KeyRow {
    KeyRow {
        key: ApiKeyRow {
            api_key: key.api_key,
            nonce: uint256_text(&key.nonce),
            status: if key.is_live() { "active" } else { "revoked" },
            created_at: key.created,
            revoked_at: key.revoked,
        },
        read_only: key.read_only,
    }
}

/// `POST /keys/revoke`. Revoking again succeeds, so the command may be resent; it also cancels the
/// owner's orders if requested.
pub(crate) async fn revoke(
    context: RequestContext,
    FromBody(wanted): FromBody<KeyRevocation>,
) -> Result<Json<CommandAnswer>, Failure> {
    let find = |view: &View| {
        let (number, key) = view.keys().by_text(&wanted.api_key)?;
        Some((number, key.owner, key.is_live()))
    };
    let found = context.app.find(find).await?;
    let (key, owner, is_live) = found.ok_or(ErrorCode::KeyNotFound)?;
    let cancel_orders = wanted.cancel_orders.unwrap_or(false);
    let command = match (is_live, cancel_orders) {
        (true, cancel_orders) => Command::RevokeKey(RevokeKey { key, cancel_orders }),
        (false, true) => Command::CancelAll(CancelAll {
            owner,
            heartbeat: false,
        }),
        (false, false) => {
            let before = CommandAnswer::new(Sequence(0), true);
            return Ok(Json::of(&before));
        }
    };
    let done = context.command(command, &[]).await?;
    // After the answer this process accepts no request with that key; on a timeout the revocation
    // is durable anyway.
    let _ = context.app.shared_view.wait_for(done.reached).await;
    Ok(answer(&done))
}
