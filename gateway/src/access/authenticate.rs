//! Credentials in headers, checked against the keys of the view (docs/api/authentication.md).

use std::time::Instant;

use foretell_auth::text::{parse_address, parse_api_key};
use foretell_auth::{
    KeyOrigin, L1Error, L1Headers, L2Error, L2Headers, L2Request, verify_l1, verify_l2,
};
use foretell_journal::wall_clock;
use foretell_model::{ApiKey, KeyNumber, TimeMs};
use foretell_view::{Key, View};
use foretell_wire::ErrorCode;
use foretell_wire::text::time::TimeForm;
use http::{HeaderMap, HeaderName};

use crate::access::credentials::{Caller, HeaderNames, KeyAccess, is_funded, owner_wallets};
use crate::access::hints::Hint;
use crate::http::endpoint::RequestPart;
use crate::http::failure::Failure;
use crate::http::operation::Operation;
use crate::http::request_context::RequestContext;
use crate::http::timing::Stage;

const X_CHAIN_ID: HeaderName = HeaderName::from_static("x-chain-id");

/// The address that the L1 headers prove, and the nonce.
pub(crate) struct ProvedAddress(pub(crate) KeyOrigin);

impl RequestPart for ProvedAddress {
    async fn of(context: &RequestContext) -> Result<Self, Failure> {
        Ok(Self(context.l1().await?))
    }

    fn describe(operation: &mut Operation) {
        operation.needs_signature();
    }
}

/// Declares the access that a request needs from the key of its L2 headers.
macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident = $access:ident;)+) => {$(
        $(#[$doc])*
        pub(crate) struct $key(pub(crate) Caller);

        impl RequestPart for $key {
            async fn of(context: &RequestContext) -> Result<Self, Failure> {
                Ok(Self(context.l2(KeyAccess::$access).await?))
            }

            fn describe(operation: &mut Operation) {
                operation.needs_key(KeyAccess::$access == KeyAccess::Read);
            }
        }
    )+};
}

keys! {
    /// Reads the caller's own data; read-only keys are enough.
    ReadKey = Read;
    /// Reads the caller's keys.
    FullKey = Keys;
    /// Changes state.
    WriteKey = Write;
}

impl RequestContext {
    /// Checks the L1 headers; returns the proved address and the nonce.
    pub(crate) async fn l1(&self) -> Result<KeyOrigin, Failure> {
        self.pays(None);
        let auth = &self.app.auth;
        let headers = &self.head.headers;
        let refuse = |hint: &str| auth.unauthorized(ErrorCode::UnauthorizedL1, hint);
        let names = auth.names(headers).map_err(refuse)?;
        let value = |name| single(headers, name).map_err(refuse);
        let claims = L1Headers {
            address: value(&names.address)?.unwrap_or_default(),
            signature: value(&names.signature)?.unwrap_or_default(),
            timestamp: value(&names.timestamp)?.unwrap_or_default(),
            nonce: value(&names.nonce)?,
            chain_id: value(&X_CHAIN_ID)?,
        };
        let chain = auth.domains.chain_id();
        let now = self.clock_for(claims.timestamp);
        let check = || verify_l1(&claims, chain, auth.window, now);
        let checked = self.gate.run(check).await.map_err(|_| ErrorCode::Busy)?;
        if checked.is_err() {
            let find = || Hint::of_l1(&claims, chain, auth.window, now);
            self.hint(self.gate.run(find).await.ok().flatten());
        }
        checked.map_err(|error| match error {
            L1Error::Chain(ours) => {
                let given =
                    foretell_wire::errors::api_error::quoted(claims.chain_id.unwrap_or_default());
                ErrorCode::WrongChain.with([&given, &ours]).into()
            }
            L1Error::Nonce => ErrorCode::InvalidNonce.into(),
            error => refuse(&error.to_string()),
        })
    }

    /// The clock that judges a timestamp: the wall clock, or the exchange's, which `GET /time` answers, while they differ.
    fn clock_for(&self, timestamp: &str) -> TimeMs {
        let (wall, window) = (wall_clock::now().millis(), self.app.auth.window);
        let is_near =
            window.check(timestamp, wall).is_ok() || window.check_seconds(timestamp, wall).is_ok();
        match is_near {
            true => wall,
            false => self.app.exchange_time().millis(),
        }
    }

    /// Checks the L2 headers. [`KeyAccess::Read`] accepts read-only keys.
    pub(crate) async fn l2(&self, level: KeyAccess) -> Result<Caller, Failure> {
        if level != KeyAccess::Write {
            self.app
                .shared_view
                .wait_acknowledged(self.app.engine.acknowledged())
                .await?;
        }
        let began = Instant::now();
        let first = self.check_l2(level, &self.app.shared_view.read().view);
        let caller = match first {
            Ok(caller) => {
                self.timing.note(Stage::Hmac, began);
                caller
            }
            // The key may be newer than the view. Every failure takes this path, so that response
            // times do not distinguish them.
            Err(_) if self.app.shared_view.catch_up().await? => {
                self.check_l2(level, &self.app.shared_view.read().view)?
            }
            Err(refused) => return Err(refused),
        };
        self.prove(caller.key)?;
        if level == KeyAccess::Write {
            let is_funded = is_funded(&self.app.shared_view.read().view, caller.owner);
            self.pays(is_funded.then_some(caller.owner));
        }
        Ok(caller)
    }

    fn check_l2(&self, level: KeyAccess, view: &View) -> Result<Caller, Failure> {
        let auth = &self.app.auth;
        let headers = &self.head.headers;
        let refuse = |hint: &str| auth.unauthorized(ErrorCode::Unauthorized, hint);
        let names = auth.names(headers).map_err(refuse)?;
        let value = |name| {
            single(headers, name)
                .map(Option::unwrap_or_default)
                .map_err(refuse)
        };
        let readonly = value(&names.readonly_api_key)?;
        if !readonly.is_empty() && !headers.contains_key(&names.api_key) {
            return match level {
                KeyAccess::Read => readonly_caller(view, names, readonly, value(&names.address)?)
                    .ok_or_else(|| refuse("no such live read-only key of this address")),
                KeyAccess::Keys | KeyAccess::Write => Err(refuse("a read-only key")),
            };
        }
        let claims = L2Headers {
            address: value(&names.address)?,
            passphrase: value(&names.passphrase)?,
            timestamp: value(&names.timestamp)?,
            signature: value(&names.signature)?,
        };
        let request = L2Request {
            method: self.head.method.as_str(),
            path: self.path(),
            body: &self.body,
        };
        let api_key = parse_api_key(value(&names.api_key)?);
        let known = api_key.and_then(|api_key| live_key(view, api_key, false));
        let origin = known.map(|known| known.1);
        let chain = auth.domains.chain_id();
        let hmac = verify_l2(
            &claims,
            &request,
            origin.as_ref(),
            &auth.master,
            chain,
            auth.window,
            self.clock_for(claims.timestamp),
        )
        .map_err(|error| match error {
            L2Error::Timestamp(timestamp) => refuse(&timestamp.to_string()),
            L2Error::Credentials(hint) => refuse(hint.text()),
        })?;
        let request = *blake3::hash(&hmac).as_bytes();
        known
            .and_then(|(key, _)| caller(view, key, names.times, request))
            .ok_or_else(|| refuse("no such live API key"))
    }
}

/// The single value of a header; a value that is not ASCII counts as absent.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, &'static str> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    if values.any(|value| value != first) {
        return Err("a credential header is repeated with different values, allowed: one value");
    }
    Ok(Some(first.to_str().unwrap_or_default()))
}

/// The nonce of a read-only key: the number of the key that made it, then a digest of the request.
pub(crate) fn read_only_nonce(maker: KeyNumber, request: &[u8; 32]) -> [u8; 32] {
    let mut nonce = *request;
    *nonce.first_chunk_mut().expect("32 bytes") = maker.0.to_be_bytes();
    nonce
}

/// The key that made a read-only key.
pub(crate) fn maker_of(key: &Key) -> KeyNumber {
    KeyNumber(u32::from_be_bytes(
        *key.nonce.first_chunk().expect("32 bytes"),
    ))
}

/// Whether a key is not revoked, nor, of a read-only one, the key that made it.
pub(crate) fn is_accepted(view: &View, key: &Key) -> bool {
    let maker = || view.keys().get(maker_of(key));
    let is_made = || maker().is_some_and(|it| it.owner == key.owner && it.is_live());
    key.is_live() && (!key.read_only || is_made())
}

/// A key of this kind that is accepted, and its origin.
pub(crate) fn live_key(
    view: &View,
    api_key: ApiKey,
    read_only: bool,
) -> Option<(KeyNumber, KeyOrigin)> {
    let (number, key) = view.keys().by_text(&api_key)?;
    let owner = view.accounts().get(key.owner)?.wallet;
    (is_accepted(view, key) && key.read_only == read_only).then_some((
        number,
        KeyOrigin {
            owner,
            nonce: key.nonce,
        },
    ))
}

fn readonly_caller(
    view: &View,
    names: &HeaderNames,
    api_key: &str,
    address: &str,
) -> Option<Caller> {
    let (number, origin) = live_key(view, parse_api_key(api_key)?, true)?;
    let owns = parse_address(address)? == origin.owner;
    owns.then(|| caller(view, number, names.times, [0; 32]))?
}

fn caller(view: &View, number: KeyNumber, times: TimeForm, request: [u8; 32]) -> Option<Caller> {
    let key = view.keys().get(number)?;
    Some(Caller {
        key: number,
        api_key: key.api_key,
        owner: key.owner,
        wallets: owner_wallets(view, key.owner)?,
        times,
        request,
    })
}
