//! Authentication: credentials in headers, checked against the keys of the view
//! (docs/api/authentication.md).

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use foretell_auth::text::{parse_address, parse_api_key};
use foretell_auth::{
    Domain, Domains, KeyOrigin, L1Error, L1Headers, L2Error, L2Headers, L2Request, MasterSecret,
    OwnerWallets, Window, verify_l1, verify_l2,
};
use foretell_model::{
    AccountNumber, ApiKey, Digest16, KeyNumber, TimeMs, WalletAddress, WalletKind,
};
use foretell_view::View;
use foretell_wire::time::TimeForm;
use foretell_wire::{ApiError, ErrorCode};
use http::{HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;

use crate::config::HeaderPrefix;
use crate::failure::Failure;
use crate::request_context::RequestContext;
use crate::timing::Stage;

/// Names the failed check of credentials, if the deployment enables it (`dev_auth_hints`).
const X_AUTH_HINT: HeaderName = HeaderName::from_static("x-auth-hint");
const X_CHAIN_ID: HeaderName = HeaderName::from_static("x-chain-id");

/// The settings of authentication.
pub(crate) struct Auth {
    prefixes: Vec<HeaderNames>,
    hints: bool,
    window: Window,
    pub(crate) master: MasterSecret,
    pub(crate) domains: Domains,
    /// The verifying contracts of the domains, without duplicates.
    pub(crate) contracts: Vec<WalletAddress>,
}

/// The header names with one prefix.
struct HeaderNames {
    address: HeaderName,
    signature: HeaderName,
    timestamp: HeaderName,
    nonce: HeaderName,
    api_key: HeaderName,
    passphrase: HeaderName,
    readonly_api_key: HeaderName,
    times: TimeForm,
}

/// A prefix that is not valid in a header name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("header prefix {0:?}: letters, digits, - and _ are allowed, at least one prefix is needed")]
pub struct BadPrefix(String);

/// The access that a request needs from its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyAccess {
    /// Read the caller's own data; read-only keys are enough. The key is looked up in a view that
    /// covers everything this process has acknowledged, including the key's revocation.
    Read,
    /// As [`Self::Read`] but not for read-only keys. They have no secret besides their names, so
    /// their holder could list the others and keep access after a revocation.
    Keys,
    /// Change state; the exchange itself checks the key of an order.
    Write,
}

/// An authenticated caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) key: KeyNumber,
    pub(crate) api_key: ApiKey,
    pub(crate) owner: AccountNumber,
    pub(crate) wallets: OwnerWallets,
    pub(crate) times: TimeForm,
    /// Digest of the request's HMAC; identifies a resent request.
    pub(crate) request: Digest16,
}

impl Auth {
    pub(crate) fn new(
        prefixes: &[HeaderPrefix],
        hints: bool,
        window: Window,
        master: MasterSecret,
        domains: Domains,
    ) -> Result<Self, BadPrefix> {
        if prefixes.is_empty() {
            return Err(BadPrefix(String::new()));
        }
        let prefixes = prefixes
            .iter()
            .map(HeaderNames::new)
            .collect::<Result<_, _>>()?;
        let mut contracts: Vec<_> = domains.iter().map(Domain::contract).collect();
        contracts.sort_unstable();
        contracts.dedup();
        Ok(Self {
            prefixes,
            hints,
            window,
            master,
            domains,
            contracts,
        })
    }

    /// The names of all headers with credentials.
    pub(crate) fn header_names(&self) -> impl Iterator<Item = &HeaderName> {
        self.prefixes.iter().flat_map(|names| {
            [
                &names.address,
                &names.signature,
                &names.timestamp,
                &names.nonce,
                &names.api_key,
                &names.passphrase,
                &names.readonly_api_key,
            ]
        })
    }

    /// The header names of the one prefix that a request uses.
    fn names(&self, headers: &HeaderMap) -> Result<&HeaderNames, &'static str> {
        let mut present = self
            .prefixes
            .iter()
            .filter(|names| headers.contains_key(&names.address));
        match (present.next(), present.next()) {
            (Some(names), None) => Ok(names),
            (None, _) => Err("no <prefix>_ADDRESS header"),
            (Some(_), Some(_)) => Err("headers of two prefixes"),
        }
    }

    fn unauthorized(&self, refusal: ApiError, hint: &str) -> Failure {
        let failure = Failure::from(refusal);
        match HeaderValue::from_str(hint) {
            Ok(hint) if self.hints => failure.header(X_AUTH_HINT, hint),
            _ => failure,
        }
    }

    /// Checks the L1 headers; returns the proved address and the nonce.
    pub(crate) async fn l1(&self, context: &RequestContext) -> Result<KeyOrigin, Failure> {
        let headers = &context.head.headers;
        let refuse = |hint: &str| self.unauthorized(ApiError::UnauthorizedL1, hint);
        let names = self.names(headers).map_err(refuse)?;
        let value = |name| single(headers, name).map_err(refuse);
        let claims = L1Headers {
            address: value(&names.address)?.unwrap_or_default(),
            signature: value(&names.signature)?.unwrap_or_default(),
            timestamp: value(&names.timestamp)?.unwrap_or_default(),
            nonce: value(&names.nonce)?,
            chain_id: value(&X_CHAIN_ID)?,
        };
        let chain = self.domains.chain_id();
        let checked = context
            .gate
            .run(|| verify_l1(&claims, chain, self.window, now()))
            .await;
        checked
            .map_err(|_| ApiError::Busy)?
            .map_err(|error| match error {
                L1Error::Chain(ours) => {
                    let given =
                        foretell_wire::api_error::quoted(claims.chain_id.unwrap_or_default());
                    ApiError::WrongChain { given, ours }.into()
                }
                L1Error::Nonce => ErrorCode::InvalidNonce.into(),
                error => refuse(&error.to_string()),
            })
    }

    /// Checks the L2 headers. [`KeyAccess::Read`] accepts read-only keys.
    pub(crate) async fn l2(
        &self,
        context: &RequestContext,
        level: KeyAccess,
    ) -> Result<Caller, Failure> {
        if level != KeyAccess::Write {
            context
                .app
                .shared_view
                .wait_acknowledged(context.app.engine.acknowledged())
                .await?;
        }
        let began = Instant::now();
        let first = self.check_l2(context, level, &context.app.shared_view.read().view);
        match first {
            Ok(caller) => {
                context.timing.note(Stage::Hmac, began);
                Ok(caller)
            }
            // The key may be newer than the view. Every failure takes this path, so that response
            // times do not distinguish them.
            Err(_) if context.app.shared_view.catch_up().await? => {
                self.check_l2(context, level, &context.app.shared_view.read().view)
            }
            Err(refused) => Err(refused),
        }
    }

    fn check_l2(
        &self,
        context: &RequestContext,
        level: KeyAccess,
        view: &View,
    ) -> Result<Caller, Failure> {
        let headers = &context.head.headers;
        let refuse = |hint: &str| self.unauthorized(ApiError::Unauthorized, hint);
        let names = self.names(headers).map_err(refuse)?;
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
            method: context.head.method.as_str(),
            path: context.path(),
            body: &context.body,
        };
        let api_key = parse_api_key(value(&names.api_key)?);
        let known = api_key.and_then(|api_key| live_key(view, api_key, false));
        let origin = known.map(|known| known.1);
        let chain = self.domains.chain_id();
        let proof = verify_l2(
            &claims,
            &request,
            origin.as_ref(),
            &self.master,
            chain,
            self.window,
            now(),
        )
        .map_err(|error| match error {
            L2Error::Timestamp(timestamp) => refuse(&timestamp.to_string()),
            L2Error::Credentials(hint) => refuse(hint.text()),
        })?;
        let mut digest = [0; 16];
        digest.copy_from_slice(&blake3::hash(&proof.hmac).as_bytes()[..16]);
        known
            .and_then(|(key, _)| caller(view, key, names.times, Digest16(digest)))
            .ok_or_else(|| refuse("no such live API key"))
    }
}

impl HeaderNames {
    fn new(prefix: &HeaderPrefix) -> Result<Self, BadPrefix> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if prefix.name.is_empty() || !prefix.name.bytes().all(plain) {
            return Err(BadPrefix(prefix.name.clone()));
        }
        let name = |suffix: &str| {
            HeaderName::from_bytes(format!("{}_{suffix}", prefix.name).as_bytes())
                .map_err(|_| BadPrefix(prefix.name.clone()))
        };
        Ok(Self {
            address: name("ADDRESS")?,
            signature: name("SIGNATURE")?,
            timestamp: name("TIMESTAMP")?,
            nonce: name("NONCE")?,
            api_key: name("API_KEY")?,
            passphrase: name("PASSPHRASE")?,
            readonly_api_key: name("READONLY_API_KEY")?,
            times: prefix.times,
        })
    }
}

/// The single value of a header; a value that is not ASCII counts as absent.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, &'static str> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    if values.any(|value| value != first) {
        return Err("a header stands twice with different values");
    }
    Ok(Some(first.to_str().unwrap_or_default()))
}

/// A live key of this kind, and its origin.
fn live_key(view: &View, api_key: ApiKey, read_only: bool) -> Option<(KeyNumber, KeyOrigin)> {
    let (number, key) = view.keys().by_text(&api_key)?;
    let owner = view.accounts().get(key.owner)?.wallet;
    (key.is_live() && key.read_only == read_only).then_some((
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
    owns.then(|| caller(view, number, names.times, Digest16::ZERO))?
}

fn caller(view: &View, number: KeyNumber, times: TimeForm, request: Digest16) -> Option<Caller> {
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

/// An owner's wallets by kind.
pub(crate) fn owner_wallets(view: &View, owner: AccountNumber) -> Option<OwnerWallets> {
    let accounts = view.accounts();
    let wallet = |kind| {
        let number = accounts.wallet_of_kind(owner, kind)?;
        accounts.get(number).map(|account| account.wallet)
    };
    Some(OwnerWallets {
        owner: accounts.get(owner)?.wallet,
        proxy: wallet(WalletKind::Proxy),
        safe: wallet(WalletKind::Safe),
        deposit: wallet(WalletKind::Deposit),
    })
}

/// The wall clock. Credential windows compare with the client's clock, not the exchange's.
pub(crate) fn now() -> TimeMs {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    TimeMs(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
