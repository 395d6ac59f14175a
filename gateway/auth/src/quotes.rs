//! A signed set of quotes (docs/verify/rules.md §32). Its domain has as salt what names the journal: its
//! genesis, or its branch since a restore. So a signature counts on one exchange alone.

use std::sync::LazyLock;

use alloy_primitives::keccak256;
use foretell_model::command::SetQuotes;
use foretell_model::evidence::QuotesEvidence;
use foretell_model::quote::QuoteWord;
use foretell_model::{ConditionId, OrderId, Sequence, TimeMs, WalletAddress, WalletKind};
use secp256k1::PublicKey;

use crate::eip712::{
    Hash, digest, domain_separator_with_salt, hash_parts, word_of_address, word_of_u64,
};
use crate::known_signer::KnownSigner;
use crate::order_signature::{OwnerWallets, SignatureError};
use crate::signature::{Signature, address_of};

/// `name` of the domain.
pub const QUOTES_DOMAIN_NAME: &str = "Foretell Quotes";
/// `version` of the domain.
pub const QUOTES_DOMAIN_VERSION: &str = "1";
/// The type of the message.
pub const QUOTES_TYPE: &str = "QuoteSet(address maker,address signer,uint8 signatureType,uint8 group,uint64 revision,uint64 seen,uint64 timestamp,uint64 validUntil,bytes32 builder,bytes32[] conditions,uint256[] quotes)";

static QUOTES_TYPE_HASH: LazyLock<Hash> = LazyLock::new(|| keccak256(QUOTES_TYPE).0);

/// Separator of the domain of sets.
#[must_use]
pub fn quotes_separator(chain_id: u64, salt: &[u8; 32]) -> Hash {
    domain_separator_with_salt(QUOTES_DOMAIN_NAME, QUOTES_DOMAIN_VERSION, chain_id, salt)
}

/// What is signed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuotesMessage<'a> {
    /// The wallet that trades.
    pub maker: WalletAddress,
    /// Its owner, whose key signs.
    pub signer: WalletAddress,
    /// The kind of the maker.
    pub signature_type: WalletKind,
    /// The group.
    pub group: u8,
    /// The revision.
    pub revision: u64,
    /// The last own fill that the maker knows.
    pub seen: Sequence,
    /// Time of signing.
    pub timestamp: TimeMs,
    /// When the quotes end at the latest.
    pub valid_until: TimeMs,
    /// The builder; zero = none.
    pub builder: [u8; 32],
    /// The markets.
    pub conditions: &'a [ConditionId],
    /// The quotes.
    pub quotes: &'a [QuoteWord],
}

impl<'a> QuotesMessage<'a> {
    /// What was signed of a journalled set, by its command, its evidence, its maker and its lists.
    #[must_use]
    pub const fn of_frame(
        set: &SetQuotes,
        evidence: &QuotesEvidence<'_>,
        (maker, signature_type): (WalletAddress, WalletKind),
        conditions: &'a [ConditionId],
        quotes: &'a [QuoteWord],
    ) -> Self {
        Self {
            maker,
            signer: evidence.signer,
            signature_type,
            group: set.group,
            revision: set.revision,
            seen: set.seen,
            timestamp: set.timestamp,
            valid_until: set.valid_until,
            builder: evidence.builder,
            conditions,
            quotes,
        }
    }

    /// The hash that is signed.
    #[must_use]
    pub fn digest(&self, separator: &Hash) -> OrderId {
        let conditions: Vec<&[u8]> = self.conditions.iter().map(|it| it.0.as_slice()).collect();
        let quotes: Vec<&[u8]> = self.quotes.iter().map(|it| it.0.as_slice()).collect();
        let message = hash_parts(&[
            QUOTES_TYPE_HASH.as_slice(),
            &word_of_address(self.maker),
            &word_of_address(self.signer),
            &word_of_u64(self.signature_type.code().into()),
            &word_of_u64(self.group.into()),
            &word_of_u64(self.revision),
            &word_of_u64(self.seen.0),
            &word_of_u64(self.timestamp.0),
            &word_of_u64(self.valid_until.0),
            &self.builder,
            &hash_parts(&conditions),
            &hash_parts(&quotes),
        ]);
        OrderId(digest(separator, &message))
    }

    /// Checks parties and signature of a set that came with a key of this owner. Returns the owner's key, unless `known` is
    /// the owner and accepts, and the digest.
    ///
    /// # Errors
    /// The first check that fails; the recovery of the key comes last.
    pub fn verify(
        &self,
        separator: &Hash,
        owner: &OwnerWallets,
        signature: &[u8],
        known: Option<&KnownSigner>,
    ) -> Result<(Option<PublicKey>, OrderId), SignatureError> {
        if self.signer != owner.owner {
            return Err(SignatureError::SignerIsNotKeyOwner);
        }
        if owner.wallet(self.signature_type) != Some(self.maker) {
            return Err(SignatureError::WalletNotBound(self.signature_type));
        }
        let known = known.filter(|known| known.address() == owner.owner);
        self.find_key(separator, signature, known)
    }

    /// Checks the signature alone, as an auditor does. Returns the digest.
    ///
    /// # Errors
    /// It is malformed, or another key's.
    pub fn verify_signature(
        &self,
        separator: &Hash,
        signature: &[u8],
    ) -> Result<OrderId, SignatureError> {
        let (_, digest) = self.find_key(separator, signature, None)?;
        Ok(digest)
    }

    /// The signer's key, unless `known` accepts, and the digest.
    fn find_key(
        &self,
        separator: &Hash,
        signature: &[u8],
        known: Option<&KnownSigner>,
    ) -> Result<(Option<PublicKey>, OrderId), SignatureError> {
        let signature = Signature::parse(signature)?;
        let digest = self.digest(separator);
        if known.is_some_and(|known| known.signed(&digest.0, &signature)) {
            return Ok((None, digest));
        }
        let key = signature.recover_key(&digest.0)?;
        match address_of(&key) == self.signer {
            true => Ok((Some(key), digest)),
            false => Err(SignatureError::OtherSigner),
        }
    }
}
