//! Faults of clients that the form of a request proves. The answer names them in a header, and the chain of an order
//! also in its text (docs/api/clients.md).

use core::{fmt, slice};

use foretell_auth::domains::{DEFAULT_CHAIN, SHARED_CHAIN};
use foretell_auth::text::{checksum_address, parse_address};
use foretell_auth::{Domain, Domains, L1Headers, OrderFields, OwnerWallets, Window};
use foretell_auth::{verify_l1, verify_order};
use foretell_model::TimeMs;
use http::HeaderName;
use serde_json::Value;

/// Names the fault.
pub(crate) const X_FORETELL_HINT: HeaderName = HeaderName::from_static("x-foretell-hint");

/// Chains that clients of the family sign for by default.
const CHAINS: [u64; 2] = [SHARED_CHAIN, DEFAULT_CHAIN];
/// Fields of an order that have an address.
const ADDRESSES: [&str; 2] = ["maker", "signer"];

/// A fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hint {
    /// The signature is right for another chain.
    OtherChain {
        /// The chain that was signed for.
        signed: u64,
        /// The chain of this exchange.
        ours: u64,
    },
    /// An address in mixed case has another checksum.
    Checksum,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherChain { signed, ours } => {
                write!(f, "signed for chain {signed}; this exchange has {ours}")
            }
            Self::Checksum => f.write_str("an address in the order has a wrong checksum (EIP-55)"),
        }
    }
}

impl Hint {
    /// The chain for which an order was signed, when it is another one.
    pub(crate) fn of_order(
        (fields, signature): (&OrderFields, &[u8]),
        owner: &OwnerWallets,
        neg_risk: bool,
        domains: &Domains,
    ) -> Option<Self> {
        other_chain(domains.chain_id(), |chain| {
            let moved = on_chain(domains, chain);
            moved.is_some_and(|it| {
                verify_order(fields, signature, owner, neg_risk, &it, None).is_ok()
            })
        })
    }

    /// The chain for which an L1 statement was signed, when it is another one.
    pub(crate) fn of_l1(
        claims: &L1Headers<'_>,
        ours: u64,
        window: Window,
        now: TimeMs,
    ) -> Option<Self> {
        let unnamed = L1Headers {
            chain_id: None,
            ..*claims
        };
        other_chain(ours, |chain| {
            verify_l1(&unnamed, chain, window, now).is_ok()
        })
    }

    /// A wrong checksum in the body of an order, or of several.
    pub(crate) fn of_body(body: &[u8]) -> Option<Self> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let orders = body
            .as_array()
            .map_or(slice::from_ref(&body), Vec::as_slice);
        let addresses = orders.iter().flat_map(|order| {
            let fields = ADDRESSES.iter();
            fields.filter_map(|field| order["order"][field].as_str())
        });
        let is_wrong = |text: &str| {
            let is_mixed = text.contains(|it: char| it.is_ascii_lowercase() && it != 'x')
                && text.contains(|it: char| it.is_ascii_uppercase());
            is_mixed && parse_address(text).is_some_and(|it| checksum_address(it) != text)
        };
        addresses
            .into_iter()
            .any(is_wrong)
            .then_some(Self::Checksum)
    }
}

fn other_chain(ours: u64, is_signed_for: impl Fn(u64) -> bool) -> Option<Hint> {
    let others = CHAINS.into_iter().filter(|chain| *chain != ours);
    let signed = others.into_iter().find(|chain| is_signed_for(*chain))?;
    Some(Hint::OtherChain { signed, ours })
}

/// The same domains on another chain.
fn on_chain(domains: &Domains, chain: u64) -> Option<Domains> {
    let moved = domains.iter().map(|domain| {
        let (name, version) = (domain.name(), domain.version());
        Domain::new(
            domain.number(),
            name,
            version,
            chain,
            domain.contract(),
            domain.markets(),
        )
    });
    Domains::new(chain, moved.collect::<Result<_, _>>().ok()?, true).ok()
}
