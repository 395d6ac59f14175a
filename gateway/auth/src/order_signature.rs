//! Verifies an order's signature: the stated signer, the key's owner, and one of our domains
//! (docs/api/authentication.md §6). All cheap checks precede the recovery of a key.

use foretell_model::evidence::{OrderEvidence, WORDS_BYTES};
use foretell_model::{DomainNumber, OrderId, WalletAddress, WalletKind};
use secp256k1::PublicKey;

use crate::deposit_wallet;
use crate::domains::{Domain, Domains};
use crate::eip712::{Hash, digest, nested_digest, order_struct_hash};
use crate::known_signer::KnownSigner;
use crate::order::OrderFields;
use crate::signature::{MalformedSignature, Signature, address_of};

/// The owner of a request's API key, and the wallets bound to that owner
/// (docs/api/authentication.md §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnerWallets {
    /// The owner: an EOA.
    pub owner: WalletAddress,
    /// Its proxy wallet (type 1).
    pub proxy: Option<WalletAddress>,
    /// Its safe (type 2).
    pub safe: Option<WalletAddress>,
    /// Its deposit wallet (type 3).
    pub deposit: Option<WalletAddress>,
}

impl OwnerWallets {
    /// An owner without bound wallets.
    #[must_use]
    pub const fn alone(owner: WalletAddress) -> Self {
        Self {
            owner,
            proxy: None,
            safe: None,
            deposit: None,
        }
    }

    /// The owner's wallet of a kind.
    #[must_use]
    pub const fn wallet(&self, kind: WalletKind) -> Option<WalletAddress> {
        match kind {
            WalletKind::Eoa => Some(self.owner),
            WalletKind::Proxy => self.proxy,
            WalletKind::Safe => self.safe,
            WalletKind::Deposit => self.deposit,
        }
    }
}

/// Why an order's signature is rejected. Clients get these texts (docs/api/errors.md §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SignatureError {
    /// Types 0 to 2: the signer is not the key's owner.
    #[error("the order signer address has to be the address of the API KEY")]
    SignerIsNotKeyOwner,
    /// Types 0 and 3: maker and signer differ.
    #[error("invalid signature: maker and signer differ")]
    MakerIsNotSigner,
    /// Types 1 to 3: the maker is not bound to the key's owner as this kind.
    #[error("invalid signature: maker is not bound to the owner of the API key as signature type {}", .0.code())]
    WalletNotBound(WalletKind),
    /// The evidence names a signature type that does not exist.
    #[error("invalid signature: unknown signature type")]
    UnknownType,
    /// r, s, v are not well-formed.
    #[error("invalid signature: {0}")]
    Malformed(#[from] MalformedSignature),
    /// No domain of this market gives the signer's key for this order.
    #[error("invalid signature: the recovered address is not the signer's")]
    OtherSigner,
    /// Type 3: the length is not 317 bytes.
    #[error("invalid signature: {0} bytes, 317 expected for signature type 3")]
    DepositLength(usize),
    /// Type 3: the last two bytes are not the length of the contents type.
    #[error("invalid signature: length of the contents type")]
    ContentsTypeLength,
    /// Type 3: the contents type is not the order's type.
    #[error("invalid signature: contents type")]
    ContentsType,
    /// Type 3: the separator belongs to no domain of this market.
    #[error("invalid signature: domain separator")]
    DomainSeparator,
    /// Type 3: the contents hash is not the order's struct hash.
    #[error("invalid signature: contents hash")]
    ContentsHash,
}

/// A verified order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verified {
    /// Its identity (docs/api/authentication.md §5).
    pub order: OrderId,
    /// The domain it was signed for.
    pub domain: DomainNumber,
    /// Its eleven words, for the evidence.
    pub words: [u8; WORDS_BYTES],
    /// The owner's key; `None` when a [`KnownSigner`] accepted its signature and nothing was recovered.
    pub recovered: Option<PublicKey>,
}

impl Verified {
    /// The evidence of the order's frame; `signature` is the verified one.
    #[must_use]
    pub const fn evidence<'a>(&'a self, signature: &'a [u8]) -> OrderEvidence<'a> {
        OrderEvidence {
            words: &self.words,
            domain: self.domain,
            signature,
        }
    }
}

/// Checks an order for a market with this neg-risk flag, sent with a key of `owner`. It recovers at
/// most two keys, and none when a cheaper check fails or `known`, if it is the owner, accepts.
///
/// # Errors
/// The first check that fails, in this order: parties, form of the signature, tail of a type 3,
/// recovery.
pub fn verify_order(
    fields: &OrderFields,
    signature: &[u8],
    owner: &OwnerWallets,
    neg_risk: bool,
    domains: &Domains,
    known: Option<&KnownSigner>,
) -> Result<Verified, SignatureError> {
    check_parties(fields, owner)?;
    let known = known.filter(|known| known.address() == owner.owner);
    let words = fields.words();
    let struct_hash = order_struct_hash(&words);
    let candidates = domains.candidates(neg_risk);
    let signed = if fields.signature_type == WalletKind::Deposit {
        find_deposit(signature, &struct_hash, fields.maker, candidates, known)?
    } else {
        find_plain(signature, &struct_hash, owner.owner, candidates, known)?
    };
    if signed.signer != owner.owner {
        return Err(SignatureError::OtherSigner);
    }
    Ok(Verified {
        order: signed.order,
        domain: signed.domain.number(),
        words,
        recovered: signed.recovered,
    })
}

/// Checks the evidence of a frame, as an auditor does: the relations between maker, signer and
/// recovered key that the signature type requires. Returns the order's id and the signing key's
/// address. The caller checks that the maker was bound to that address at the time.
///
/// # Errors
/// The first check that fails.
pub fn verify_evidence(
    evidence: &OrderEvidence<'_>,
    domain: &Domain,
) -> Result<(OrderId, WalletAddress), SignatureError> {
    let [zeros @ .., code] = evidence.word(7);
    let kind = WalletKind::from_code(*code)
        .filter(|_| zeros.iter().all(|byte| *byte == 0))
        .ok_or(SignatureError::UnknownType)?;
    let alone = matches!(kind, WalletKind::Eoa | WalletKind::Deposit);
    if alone && evidence.word(1) != evidence.word(2) {
        return Err(SignatureError::MakerIsNotSigner);
    }
    let struct_hash = order_struct_hash(evidence.words);
    let domains = std::iter::once(domain);
    let (signature, maker) = (evidence.signature, evidence.maker());
    let signed = if kind == WalletKind::Deposit {
        find_deposit(signature, &struct_hash, maker, domains, None)?
    } else {
        find_plain(signature, &struct_hash, evidence.signer(), domains, None)?
    };
    Ok((signed.order, signed.signer))
}

/// Checks that maker, signer and the key's owner fit each other and the signature type.
fn check_parties(fields: &OrderFields, owner: &OwnerWallets) -> Result<(), SignatureError> {
    let kind = fields.signature_type;
    match kind {
        WalletKind::Eoa | WalletKind::Deposit if fields.maker != fields.signer => {
            return Err(SignatureError::MakerIsNotSigner);
        }
        WalletKind::Eoa | WalletKind::Proxy | WalletKind::Safe if fields.signer != owner.owner => {
            return Err(SignatureError::SignerIsNotKeyOwner);
        }
        _ => {}
    }
    if owner.wallet(kind) == Some(fields.maker) {
        Ok(())
    } else {
        Err(SignatureError::WalletNotBound(kind))
    }
}

struct Signed<'d> {
    domain: &'d Domain,
    /// The order's id under this domain.
    order: OrderId,
    /// Address of the key that signed.
    signer: WalletAddress,
    /// That key, when it was recovered.
    recovered: Option<PublicKey>,
}

impl<'d> Signed<'d> {
    /// Only where `known` accepts.
    fn accepted((domain, order): (&'d Domain, OrderId), known: &KnownSigner) -> Self {
        Self {
            domain,
            order,
            signer: known.address(),
            recovered: None,
        }
    }

    fn recovered((domain, order): (&'d Domain, OrderId), key: PublicKey) -> Self {
        Self {
            domain,
            order,
            signer: address_of(&key),
            recovered: Some(key),
        }
    }
}

/// Types 0 to 2: the first domain whose recovery gives `signer`.
fn find_plain<'d>(
    signature: &[u8],
    struct_hash: &Hash,
    signer: WalletAddress,
    candidates: impl Iterator<Item = &'d Domain> + Clone,
    known: Option<&KnownSigner>,
) -> Result<Signed<'d>, SignatureError> {
    let signature = Signature::parse(signature)?;
    let orders = candidates.map(|domain| (domain, order_id(domain, struct_hash)));
    if let Some(known) = known
        && let Some(order) = (orders.clone()).find(|(_, id)| known.signed(&id.0, &signature))
    {
        return Ok(Signed::accepted(order, known));
    }
    let recovered = orders.filter_map(|order| {
        let key = signature.recover_key(&order.1.0).ok()?;
        Some(Signed::recovered(order, key))
    });
    let mut recovered = recovered.filter(|signed| signed.signer == signer);
    recovered.next().ok_or(SignatureError::OtherSigner)
}

/// Type 3: the tail names the domain, so one recovery is enough.
fn find_deposit<'d>(
    signature: &[u8],
    struct_hash: &Hash,
    wallet: WalletAddress,
    mut candidates: impl Iterator<Item = &'d Domain>,
    known: Option<&KnownSigner>,
) -> Result<Signed<'d>, SignatureError> {
    let parts = deposit_wallet::split(signature)?;
    let domain = candidates
        .find(|domain| domain.separator() == parts.separator)
        .ok_or(SignatureError::DomainSeparator)?;
    if parts.contents != struct_hash {
        return Err(SignatureError::ContentsHash);
    }
    let inner = Signature::parse(parts.inner)?;
    let order = (domain, order_id(domain, struct_hash));
    let signed = nested_digest(domain.separator(), struct_hash, domain.chain_id(), wallet);
    match known.filter(|known| known.signed(&signed, &inner)) {
        Some(known) => Ok(Signed::accepted(order, known)),
        None => Ok(Signed::recovered(order, inner.recover_key(&signed)?)),
    }
}

fn order_id(domain: &Domain, struct_hash: &Hash) -> OrderId {
    OrderId(digest(domain.separator(), struct_hash))
}
