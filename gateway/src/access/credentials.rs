//! The settings of authentication, and its result (docs/api/authentication.md).

use foretell_auth::{Domain, Domains, MasterSecret, OwnerWallets, Window};
use foretell_model::{AccountNumber, ApiKey, KeyNumber, Micros, WalletAddress, WalletKind};
use foretell_view::View;
use foretell_wire::ErrorCode;
use foretell_wire::text::time::TimeForm;
use http::{HeaderMap, HeaderName, HeaderValue};
use thiserror::Error;

use crate::config::HeaderPrefix;
use crate::http::failure::Failure;

/// Names the failed check of credentials, if the deployment enables it (`dev_auth_hints`).
const X_AUTH_HINT: HeaderName = HeaderName::from_static("x-auth-hint");

/// Collateral from which an owner counts as one with money (docs/api/limits.md §5).
const FUNDED: Micros = Micros(1_000_000);
/// Markets of a wallet's past in which its shares are looked for.
const FUNDED_MARKETS: usize = 1_024;

/// The settings of authentication.
pub(crate) struct Auth {
    prefixes: Vec<HeaderNames>,
    first_prefix: String,
    hints: bool,
    pub(crate) window: Window,
    pub(crate) master: MasterSecret,
    pub(crate) domains: Domains,
    /// The verifying contracts of the domains, without duplicates.
    pub(crate) contracts: Vec<WalletAddress>,
}

/// The header names with one prefix.
pub(crate) struct HeaderNames {
    pub(crate) address: HeaderName,
    pub(crate) signature: HeaderName,
    pub(crate) timestamp: HeaderName,
    pub(crate) nonce: HeaderName,
    pub(crate) api_key: HeaderName,
    pub(crate) passphrase: HeaderName,
    pub(crate) readonly_api_key: HeaderName,
    /// A header of builders' clients, which is not checked.
    builder_api_key: HeaderName,
    pub(crate) times: TimeForm,
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
    /// BLAKE3 of the request's HMAC, the same for a resent request; zeros without one.
    pub(crate) request: [u8; 32],
}

impl Auth {
    pub(crate) fn new(
        prefixes: &[HeaderPrefix],
        hints: bool,
        window: Window,
        master: MasterSecret,
        domains: Domains,
    ) -> Result<Self, BadPrefix> {
        let Some(first) = prefixes.first() else {
            return Err(BadPrefix(String::new()));
        };
        let first_prefix = first.name.clone();
        let prefixes = prefixes
            .iter()
            .map(HeaderNames::new)
            .collect::<Result<_, _>>()?;
        let mut contracts: Vec<_> = domains.iter().map(Domain::contract).collect();
        contracts.sort_unstable();
        contracts.dedup();
        Ok(Self {
            prefixes,
            first_prefix,
            hints,
            window,
            master,
            domains,
            contracts,
        })
    }

    /// The first prefix of credential headers, as configured.
    pub(crate) fn first_prefix(&self) -> &str {
        &self.first_prefix
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
    pub(crate) fn names(&self, headers: &HeaderMap) -> Result<&HeaderNames, &'static str> {
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

    /// The form of times for a public read whose headers have a known prefix.
    pub(crate) fn builder_times(&self, headers: &HeaderMap) -> Option<TimeForm> {
        let mut prefixes = self.prefixes.iter();
        let names = prefixes.find(|names| {
            headers.contains_key(&names.address) || headers.contains_key(&names.builder_api_key)
        });
        names.map(|names| names.times)
    }

    pub(crate) fn unauthorized(&self, code: ErrorCode, hint: &str) -> Failure {
        let failure = Failure::from(code);
        match HeaderValue::from_str(hint) {
            Ok(hint) if self.hints => failure.header(X_AUTH_HINT, hint),
            _ => failure,
        }
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
            builder_api_key: name("BUILDER_API_KEY")?,
            times: prefix.times,
        })
    }
}

/// Whether an owner's wallets hold shares, or at least a dollar.
pub(crate) fn is_funded(view: &View, owner: AccountNumber) -> bool {
    let accounts = view.accounts();
    let has_money = |wallet| accounts.get(wallet).is_some_and(|it| it.total() >= FUNDED);
    let has_shares = |wallet| view.holdings().has_shares(wallet, FUNDED_MARKETS);
    (accounts.wallets_of(owner)).any(|wallet| has_money(wallet) || has_shares(wallet))
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
