//! API keys: `/auth/api-key`, `/auth/derive-api-key`, `/auth/api-keys`, `/auth/readonly-api-key(s)`,
//! `/auth/ban-status/closed-only` (protocol 7). Nothing secret is stored: a key is derived, and
//! its number and owner are journalled.

use foretell_auth::KeyOrigin;
use foretell_link::Reply;
use foretell_model::{AccountNumber, ApiKey, Command, KeyNumber, Verdict};
use foretell_view::{Key, View};
use foretell_wire::account::{
    ApiKeyAnswer, ApiKeyRow, ApiKeyRowsAnswer, ApiKeysAnswer, ClosedOnlyAnswer, DELETED, Keys,
    REVOKED, ReadOnlyKeyAnswer, RevokedAllAnswer, read_read_only_key, read_revocation,
};
use foretell_wire::decimal::uint256_text;
use foretell_wire::{Failure as Refusal, json_text};

use crate::answer::{Answer, Place};
use crate::app::App;
use crate::auth::{Caller, Level};
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::place_of;

/// Keys looked at under one hold of the lock on the view.
const KEY_STEP: usize = 4_096;
/// Of an owner's keys, the newest, among which `metadata=true` shows the revoked ones too.
const NEWEST_KEYS: usize = 1_000;

/// `POST /auth/api-key`: creates the key of an (address, nonce), or gives it again.
pub(crate) async fn create(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let origin = app.auth.l1(&call).await?;
    let trio = app.auth.master.trio(&origin, app.auth.domains.chain_id());
    let reply = register(&call, &origin, trio.api_key, false).await?;
    let (secret, passphrase) = (trio.secret.text(), trio.passphrase.text());
    let answer = ApiKeyAnswer {
        api_key: trio.api_key,
        secret: &secret,
        passphrase: &passphrase,
    };
    Ok(Answer::json(json_text(&answer)).at(place_of(&reply)))
}

/// `GET /auth/derive-api-key`: the key of an (address, nonce), if it was created.
pub(crate) async fn derive(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let origin = app.auth.l1(&call).await?;
    app.fresh(&call).await?;
    let trio = app.auth.master.trio(&origin, app.auth.domains.chain_id());
    let live = |view: &View| {
        view.keys()
            .by_text(&trio.api_key)
            .filter(|(_, key)| key.is_live())
            .map(|_| ())
    };
    app.find(live).await?.ok_or(Refusal::KeyNotFound)?;
    let (secret, passphrase) = (trio.secret.text(), trio.passphrase.text());
    let answer = ApiKeyAnswer {
        api_key: trio.api_key,
        secret: &secret,
        passphrase: &passphrase,
    };
    Ok(Answer::json(json_text(&answer)).at(app.replica.read().place()))
}

/// `GET /auth/api-keys`: the live trading keys of the caller; with `metadata=true` the revoked ones of its
/// newest keys, too.
pub(crate) async fn list(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Keys).await?;
    let metadata = call.query()?.one("metadata")? == Some("true");
    app.fresh(&call).await?;
    let (keys, place) = keys_of(app, &caller, false, metadata).await;
    let body = if metadata {
        json_text(&ApiKeyRowsAnswer {
            api_keys: keys.iter().map(row).collect(),
        })
    } else {
        json_text(&ApiKeysAnswer {
            api_keys: texts(&keys),
        })
    };
    Ok(Answer::json(body).at(place))
}

/// `DELETE /auth/api-key`: the key the request is signed with; its orders too when the body says so.
pub(crate) async fn revoke(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Write).await?;
    let cancel_orders = read_revocation(&call.body)?;
    let place = end(&call, caller.key, cancel_orders).await?;
    Ok(Answer::json(REVOKED).at(place))
}

/// `POST /auth/readonly-api-key`: a new key. Its nonce is that of the request, so that a request
/// sent again gives the same key and another request another one.
pub(crate) async fn create_read_only(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Write).await?;
    let origin = KeyOrigin {
        owner: caller.wallets.owner,
        nonce: *blake3::hash(&caller.request.0).as_bytes(),
    };
    let api_key = app
        .auth
        .master
        .read_only_key(&origin, app.auth.domains.chain_id());
    let reply = register(&call, &origin, api_key, true).await?;
    Ok(Answer::json(json_text(&ReadOnlyKeyAnswer { api_key })).at(place_of(&reply)))
}

/// `GET /auth/readonly-api-keys`: the live ones.
pub(crate) async fn list_read_only(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Keys).await?;
    app.fresh(&call).await?;
    let (keys, place) = keys_of(app, &caller, true, false).await;
    Ok(Answer::json(json_text(&texts(&keys))).at(place))
}

/// `DELETE /auth/readonly-api-key`. One that is revoked already stays so: a resent request is fine.
pub(crate) async fn revoke_read_only(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Write).await?;
    let named = read_read_only_key(&call.body)?;
    let own = |view: &View| {
        let (number, key) = view.keys().by_text(&named)?;
        (key.owner == caller.owner && key.read_only).then_some((number, key.is_live()))
    };
    let found = app.find(own).await?;
    let place = match found.ok_or(Refusal::Unknown("api key not found"))? {
        (key, true) => end(&call, key, false).await?,
        (_, false) => app.replica.read().place(),
    };
    Ok(Answer::json(DELETED).at(place))
}

/// `DELETE /auth/api-keys`: every live key of the caller's owner: trading keys, its own as the last of them,
/// then read-only ones. For an owner whose key somebody else had.
pub(crate) async fn revoke_all(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    app.replica.caught_up().await?;
    let caller = app.auth.l2(&call, Level::Write).await?;
    // Only a live trading key makes another: once the last is gone, no read-only one can come.
    let mut revoked = 1;
    for key in live_keys(app, &caller, false).await {
        if key != caller.key {
            end(&call, key, false).await?;
            revoked += 1;
        }
    }
    let mut place = end(&call, caller.key, false).await?;
    for key in live_keys(app, &caller, true).await {
        place = end(&call, key, false).await?;
        revoked += 1;
    }
    Ok(Answer::json(json_text(&RevokedAllAnswer {
        revoked: true,
        keys: revoked,
    }))
    .at(place))
}

/// `GET /auth/ban-status/closed-only`: whether a wallet of the caller may only reduce.
pub(crate) async fn closed_only(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let caller = app.auth.l2(&call, Level::Read).await?;
    app.fresh(&call).await?;
    let state = app.replica.read();
    let accounts = state.view.accounts();
    let closed_only = accounts
        .wallets_of(caller.owner)
        .filter_map(|wallet| accounts.get(wallet))
        .any(|account| account.closed_only);
    Ok(Answer::json(json_text(&ClosedOnlyAnswer(closed_only))).at(state.place()))
}

async fn register(
    call: &Call,
    origin: &KeyOrigin,
    api_key: ApiKey,
    read_only: bool,
) -> Result<Reply, Failure> {
    let (owner, nonce) = (origin.owner, origin.nonce);
    send(
        call,
        Command::RegisterKey {
            owner,
            nonce,
            api_key,
            read_only,
        },
    )
    .await
}

/// Revokes a key, and waits for the view to show it: no request this process reads after the answer
/// is let in by that key.
async fn end(call: &Call, key: KeyNumber, cancel_orders: bool) -> Result<Place, Failure> {
    let reply = send(call, Command::RevokeKey { key, cancel_orders }).await?;
    let place = place_of(&reply);
    // The revocation stands, however far the view is.
    let _ = call.app.replica.until(place.sequence).await;
    Ok(place)
}

async fn send(call: &Call, command: Command) -> Result<Reply, Failure> {
    let reply = call.reply(call.app.engine.submit(command, &[])?).await?;
    match reply.verdict {
        Verdict::Applied(_) | Verdict::Repeated { .. } => Ok(reply),
        Verdict::Refused(refusal) => Err(Refusal::of_command(&refusal).into()),
    }
}

/// Numbers of the live keys of one kind of the caller's owner.
async fn live_keys(app: &App, caller: &Caller, read_only: bool) -> Vec<KeyNumber> {
    let (live, _) = keys_of(app, caller, read_only, false).await;
    let state = app.replica.read();
    let keys = state.view.keys();
    live.iter()
        .filter_map(|key| Some(keys.by_text(&key.api_key)?.0))
        .collect()
}

/// The caller's live keys of one kind, and where `revoked` ones are wanted those among its newest keys.
/// No key is ever forgotten, so they are looked through in parts.
async fn keys_of(app: &App, caller: &Caller, read_only: bool, revoked: bool) -> (Vec<Key>, Place) {
    let (mut search, place) = {
        let state = app.replica.read();
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
        (search, state.place())
    };
    while !search.step(&app.replica.read().view, KEY_STEP) {
        tokio::task::yield_now().await;
    }
    (search.found, place)
}

/// Keys of an owner that are looked for, from the oldest on.
struct KeySearch {
    owner: AccountNumber,
    read_only: bool,
    /// How many were looked at.
    next: usize,
    /// Before this place only live ones are shown.
    revoked_from: usize,
    found: Vec<Key>,
}

impl KeySearch {
    /// Looks at up to `step` keys; true when those were the last.
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

fn texts(keys: &[Key]) -> Keys {
    Keys(keys.iter().map(|key| key.api_key).collect())
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
