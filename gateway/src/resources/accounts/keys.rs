//! API keys: `/auth/api-key`, `/auth/derive-api-key`, `/auth/api-keys`,
//! `/auth/readonly-api-key(s)`, `/auth/ban-status/closed-only` (docs/api/authentication.md §2). No
//! secret is stored: keys are derived, and the journal records their number and owner.

use foretell_auth::KeyOrigin;
use foretell_model::command::{RegisterKey, RevokeKey};
use foretell_model::{AccountNumber, ApiKey, Command, KeyNumber};
use foretell_view::{Key, View};
use foretell_wire::ErrorCode;
use foretell_wire::accounts::account::{
    ApiKeyAnswer, ApiKeyRow, ApiKeyRowsAnswer, ApiKeysAnswer, ClosedOnlyAnswer, DeletedAnswer,
    KeysAnswer, ListedKey, OwnKeyRevocation, ReadOnlyKeyAnswer, ReadOnlyKeyRevocation,
    RevokedAllAnswer, RevokedAnswer,
};
use foretell_wire::read::query::trading::KeysQuery;
use foretell_wire::text::decimal::uint256_text;

use crate::access::authenticate::{
    FullKey, ProvedAddress, ReadKey, WriteKey, is_accepted, maker_of, read_only_nonce,
};
use crate::access::credentials::Caller;
use crate::app::App;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromQuery};
use crate::http::request_context::RequestContext;
use crate::policy::work::rest;

/// Keys visited under one lock hold.
const KEY_STEP: usize = 4_096;
/// `metadata=true` shows revoked keys among this many newest keys of an owner.
const NEWEST_KEYS: usize = 1_000;

/// `POST /auth/api-key`: creates the key of an (address, nonce), or returns it again.
pub(crate) async fn create(
    context: RequestContext,
    ProvedAddress(origin): ProvedAddress,
) -> Result<Json<ApiKeyAnswer<'static>>, Failure> {
    let app = &context.app;
    let trio = app.auth.master.trio(&origin, app.auth.domains.chain_id());
    register(&context, &origin, trio.api_key, false).await?;
    let (secret, passphrase) = (trio.secret.text(), trio.passphrase.text());
    let answer = ApiKeyAnswer {
        api_key: trio.api_key,
        secret: &secret,
        passphrase: &passphrase,
    };
    Ok(Json::of(&answer))
}

/// `GET /auth/derive-api-key`: the key of an (address, nonce), if it was created.
pub(crate) async fn derive(
    context: RequestContext,
    ProvedAddress(origin): ProvedAddress,
) -> Result<Json<ApiKeyAnswer<'static>>, Failure> {
    let app = &context.app;
    let trio = app.auth.master.trio(&origin, app.auth.domains.chain_id());
    let live = |view: &View| {
        view.keys()
            .by_text(&trio.api_key)
            .filter(|(_, key)| key.is_live())
            .map(|_| ())
    };
    app.find(live).await?.ok_or(ErrorCode::KeyNotDerivable)?;
    let (secret, passphrase) = (trio.secret.text(), trio.passphrase.text());
    let answer = ApiKeyAnswer {
        api_key: trio.api_key,
        secret: &secret,
        passphrase: &passphrase,
    };
    Ok(Json::of(&answer).at(app.shared_view.read().position()))
}

/// `GET /auth/api-keys`: the caller's live trading keys; `metadata=true` adds the revoked ones
/// among its newest keys.
pub(crate) async fn list(
    context: RequestContext,
    FullKey(caller): FullKey,
    FromQuery(query): FromQuery<KeysQuery>,
) -> Result<Json<KeysAnswer>, Failure> {
    let app = &context.app;
    let metadata = query.metadata == Some(true);
    let (keys, position) = keys_of(app, &caller, false, metadata).await;
    let answer = match metadata {
        true => KeysAnswer::All(ApiKeyRowsAnswer {
            api_keys: keys.iter().map(row).collect(),
        }),
        false => KeysAnswer::Active(ApiKeysAnswer {
            api_keys: listed(&keys),
        }),
    };
    Ok(Json::of(&answer).at(position))
}

/// `DELETE /auth/api-key`: revokes the request's key; cancels its orders too if the body requests
/// that. Read-only keys that it made are accepted no more, and are revoked next.
pub(crate) async fn revoke(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(wanted): FromBody<OwnKeyRevocation>,
) -> Result<Json<RevokedAnswer>, Failure> {
    let cancel_orders = wanted.cancel;
    end(&context, caller.key, cancel_orders).await?;
    let (read_only, _) = keys_of(&context.app, &caller, true, false).await;
    let made = read_only.iter().filter(|key| maker_of(key) == caller.key);
    for key in numbers(&context.app, made) {
        end(&context, key, false).await?;
    }
    let form = context.app.compatibility;
    Ok(Json::of(&RevokedAnswer::in_form(form)))
}

/// `POST /auth/readonly-api-key`: creates a key. Its nonce derives from the request's key and HMAC, so a
/// resent request returns the same key and another request another key.
pub(crate) async fn create_read_only(
    context: RequestContext,
    WriteKey(caller): WriteKey,
) -> Result<Json<ReadOnlyKeyAnswer>, Failure> {
    let app = &context.app;
    let origin = KeyOrigin {
        owner: caller.wallets.owner,
        nonce: read_only_nonce(caller.key, &caller.request),
    };
    let api_key = app
        .auth
        .master
        .read_only_key(&origin, app.auth.domains.chain_id());
    register(&context, &origin, api_key, true).await?;
    Ok(Json::of(&ReadOnlyKeyAnswer { api_key }))
}

/// `GET /auth/readonly-api-keys`: the live ones.
pub(crate) async fn list_read_only(
    context: RequestContext,
    FullKey(caller): FullKey,
) -> Result<Json<Vec<ListedKey>>, Failure> {
    let app = &context.app;
    let (mut keys, position) = keys_of(app, &caller, true, false).await;
    {
        let state = app.shared_view.read();
        keys.retain(|key| is_accepted(&state.view, key));
    }
    Ok(Json::of(&listed(&keys)).at(position))
}

/// `DELETE /auth/readonly-api-key`. Revoking again succeeds, so a request may be resent.
pub(crate) async fn revoke_read_only(
    context: RequestContext,
    WriteKey(caller): WriteKey,
    FromBody(wanted): FromBody<ReadOnlyKeyRevocation>,
) -> Result<Json<DeletedAnswer>, Failure> {
    let app = &context.app;
    let named = wanted.key;
    let own = |view: &View| {
        let (number, key) = view.keys().by_text(&named)?;
        (key.owner == caller.owner && key.read_only).then_some((number, key.is_live()))
    };
    let found = app.find(own).await?;
    let (key, is_live) = found.ok_or(ErrorCode::KeyNotFound)?;
    if is_live {
        end(&context, key, false).await?;
    }
    Ok(Json::of(&DeletedAnswer { deleted: true }))
}

/// `DELETE /auth/api-keys`: revokes every live key of the caller's owner: trading keys, with the
/// caller's last, then read-only ones. For an owner whose key was stolen.
pub(crate) async fn revoke_all(
    context: RequestContext,
    WriteKey(caller): WriteKey,
) -> Result<Json<RevokedAllAnswer>, Failure> {
    let app = &context.app;
    // Only a live trading key can create keys: after the last is revoked no read-only key can
    // appear.
    let mut revoked = 1;
    for key in live_keys(app, &caller, false).await {
        if key != caller.key {
            end(&context, key, false).await?;
            revoked += 1;
        }
    }
    end(&context, caller.key, false).await?;
    for key in live_keys(app, &caller, true).await {
        end(&context, key, false).await?;
        revoked += 1;
    }
    Ok(Json::of(&RevokedAllAnswer {
        revoked: true,
        keys: revoked,
    }))
}

/// `GET /auth/ban-status/closed-only`: whether a wallet of the caller is closed-only.
pub(crate) async fn closed_only(
    context: RequestContext,
    ReadKey(caller): ReadKey,
) -> Result<Json<ClosedOnlyAnswer>, Failure> {
    let app = &context.app;
    let state = app.shared_view.read();
    let accounts = state.view.accounts();
    let closed_only = accounts
        .wallets_of(caller.owner)
        .filter_map(|wallet| accounts.get(wallet))
        .any(|account| account.closed_only);
    Ok(Json::of(&ClosedOnlyAnswer::from(closed_only)).at(state.position()))
}

async fn register(
    context: &RequestContext,
    origin: &KeyOrigin,
    api_key: ApiKey,
    read_only: bool,
) -> Result<(), Failure> {
    let command = Command::RegisterKey(RegisterKey {
        owner: origin.owner,
        nonce: origin.nonce,
        api_key,
        read_only,
    });
    context.command(command, &[]).await?;
    Ok(())
}

/// Revokes a key and waits for the view to show it: no request that this process reads after the
/// answer is accepted with that key.
async fn end(context: &RequestContext, key: KeyNumber, cancel_orders: bool) -> Result<(), Failure> {
    let command = Command::RevokeKey(RevokeKey { key, cancel_orders });
    let done = context.command(command, &[]).await?;
    // The revocation is durable even if the view lags.
    let _ = context.app.shared_view.wait_for(done.reached).await;
    Ok(())
}

/// Numbers of the owner's live keys of one kind.
async fn live_keys(app: &App, caller: &Caller, read_only: bool) -> Vec<KeyNumber> {
    let (live, _) = keys_of(app, caller, read_only, false).await;
    numbers(app, live.iter())
}

fn numbers<'k>(app: &App, keys: impl Iterator<Item = &'k Key>) -> Vec<KeyNumber> {
    let state = app.shared_view.read();
    let known = state.view.keys();
    keys.filter_map(|key| Some(known.by_text(&key.api_key)?.0))
        .collect()
}

/// The caller's live keys of one kind. With `revoked`, also the revoked ones among the caller's
/// newest [`NEWEST_KEYS`] keys. An owner's list only grows, so it is read in steps, with the view's
/// lock released in between.
async fn keys_of(
    app: &App,
    caller: &Caller,
    read_only: bool,
    revoked: bool,
) -> (Vec<Key>, StatePosition) {
    let (mut search, position) = {
        let state = app.shared_view.read();
        let all = state.view.keys().count_of(caller.owner);
        let search = KeySearch {
            owner: caller.owner,
            read_only,
            next: 0,
            revoked_from: if revoked {
                all.saturating_sub(NEWEST_KEYS)
            } else {
                usize::MAX
            },
            found: Vec::new(),
        };
        (search, state.position())
    };
    while !search.step(&app.shared_view.read().view, KEY_STEP) {
        rest().await;
    }
    (search.found, position)
}

/// A search through an owner's keys, oldest first.
struct KeySearch {
    owner: AccountNumber,
    read_only: bool,
    /// Number of keys visited.
    next: usize,
    /// Before this index only live ones are shown.
    revoked_from: usize,
    found: Vec<Key>,
}

impl KeySearch {
    /// Visits up to `step` keys; true after the last.
    fn step(&mut self, view: &View, step: usize) -> bool {
        let keys = view.keys().of_owner_from(self.owner, self.next);
        let before = self.next;
        for (_, key) in keys.take(step) {
            let is_shown = key.is_live() || self.next >= self.revoked_from;
            if key.read_only == self.read_only && is_shown {
                self.found.push(*key);
            }
            self.next += 1;
        }
        self.next - before < step
    }
}

fn listed(keys: &[Key]) -> Vec<ListedKey> {
    keys.iter().map(|key| ListedKey(key.api_key)).collect()
}

fn row(key: &Key) -> ApiKeyRow {
    ApiKeyRow {
        api_key: key.api_key,
        nonce: uint256_text(&key.nonce),
        status: if key.is_live() { "active" } else { "revoked" },
        created_at: key.created,
        revoked_at: key.revoked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_view::{ALICE, TestView};

    #[test]
    fn live_keys_are_always_found_and_revoked_ones_among_the_newest() {
        let mut view = TestView::new(0);
        // Every second one is revoked; the first key of all is live.
        for number in 0..40 {
            let key = view.key(ALICE, number);
            if number % 2 == 0 {
                view.revoke(key);
            }
        }
        for (revoked_from, step, expected) in [(usize::MAX, 7, 21), (31, 1, 26), (0, 100, 41)] {
            let mut search = KeySearch {
                owner: ALICE,
                read_only: false,
                next: 0,
                revoked_from,
                found: Vec::new(),
            };
            let mut holds = 1;
            while !search.step(&view.0, step) {
                holds += 1;
            }
            assert_eq!((search.found.len(), holds), (expected, 41 / step + 1));
            assert_eq!(search.found.iter().filter(|key| key.is_live()).count(), 21);
        }
    }
}
