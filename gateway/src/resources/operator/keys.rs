//! API keys as the operator sees them: `GET /keys?owner=`, `POST /keys/revoke`.

use foretell_model::{Command, Digest16, Sequence};
use foretell_view::{Key, View};
use foretell_wire::account::ApiKeyRow;
use foretell_wire::decimal::uint256_text;
use foretell_wire::failure::FieldProblem;
use foretell_wire::operator::{Applied, read_key_revocation};
use foretell_wire::{Failure as Refusal, ids, json_text};
use serde::Serialize;

use super::order;
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::place_of;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(flatten)]
    key: ApiKeyRow,
    read_only: bool,
}

#[derive(Serialize)]
struct Rows {
    keys: Vec<Row>,
}

/// `GET /keys?owner=`: the keys of an address, revoked ones too.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    const ALLOWED: &str = "an address, 0x and 40 hex digits";
    let app = &call.app;
    let owner = call.query()?.read("owner", ALLOWED, ids::address)?;
    let owner = owner.ok_or_else(|| Refusal::from(FieldProblem::missing("owner", ALLOWED)))?;
    app.fresh(&call).await?;
    let found = app.find(|view| view.accounts().number_of(&owner)).await?;
    let account = found.ok_or(Refusal::Unknown("account not found"))?;
    let state = app.replica.read();
    let rows = state
        .view
        .keys()
        .of_owner(account)
        .map(|(_, key)| row(key))
        .collect();
    Ok(Answer::json(json_text(&Rows { keys: rows })).at(state.place()))
}

fn row(key: &Key) -> Row {
    Row {
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

/// `POST /keys/revoke`. One that is revoked already stays so: a command sent again is fine, and
/// cancels what its owner has when it says so.
pub(crate) async fn revoke(call: Call) -> Result<Answer, Failure> {
    let wanted = read_key_revocation(&call.body)?;
    let find = |view: &View| {
        let (number, key) = view.keys().by_text(&wanted.api_key)?;
        Some((number, key.owner, key.is_live()))
    };
    let found = call.app.find(find).await?;
    let (key, owner, is_live) = found.ok_or(Refusal::Unknown("api key not found"))?;
    let cancel_orders = wanted.cancel_orders;
    let command = match (is_live, cancel_orders) {
        (true, cancel_orders) => Command::RevokeKey { key, cancel_orders },
        (false, true) => Command::CancelAll {
            owner,
            heartbeat: false,
            request: Digest16::ZERO,
        },
        (false, false) => {
            let before = Applied::new(Sequence(0), true);
            return Ok(Answer::json(json_text(&before)));
        }
    };
    let done = order(&call.app, command, &[]).await?;
    // From the answer on this process lets nobody in by that key; the revocation stands anyway.
    let shown = place_of(&done.reply).sequence;
    let _ = call.app.replica.until(shown).await;
    Ok(done.answer())
}
