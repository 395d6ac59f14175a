//! A set of quotes as its maker signed it: command, tail and evidence of its frame, with the names of its
//! numbers.

use foretell_auth::quotes::{QuotesMessage, quotes_separator};
use foretell_auth::signature::Signature;
use foretell_model::command::SetQuotes;
use foretell_model::evidence::QuotesEvidence;
use foretell_model::quote::QuoteWord;
use foretell_model::{ConditionId, WalletAddress, WalletKind};

use crate::finding::{Check, Violation};
use crate::prove::registry::Registry;

/// A set, and what its numbers stood for at its frame.
#[derive(Debug)]
pub(crate) struct SignedSet {
    set: SetQuotes,
    maker: WalletAddress,
    kind: WalletKind,
    conditions: Vec<ConditionId>,
}

impl SignedSet {
    /// The set of a frame whose evidence was decoded.
    ///
    /// # Errors
    /// Its account or a market was never registered.
    pub(crate) fn new(set: &SetQuotes, beside: &[u8], registry: &Registry) -> Check<Self> {
        let account = registry.account(set.account)?;
        let lists = set.lists(beside);
        let markets = lists.into_iter().flat_map(|lists| lists.markets.items());
        let condition = |market: Option<_>| {
            let market = market.ok_or_else(|| Violation::evidence("a market that is no number"))?;
            Ok(registry.market(market)?.condition)
        };
        Ok(Self {
            set: *set,
            maker: account.wallet,
            kind: account.kind,
            conditions: markets.map(condition).collect::<Check<_>>()?,
        })
    }

    /// Who signed what the frame says, for an exchange with this salt.
    ///
    /// # Errors
    /// What the frame says has another digest than the set, or the signature is malformed.
    pub(crate) fn signer(&self, salt: &[u8; 32], beside: &[u8]) -> Result<WalletAddress, String> {
        let set = &self.set;
        let undecodable = || "the evidence is no signed set of quotes".to_owned();
        let lists = set.lists(beside).ok_or_else(undecodable)?;
        let evidence = QuotesEvidence::decode(lists.evidence).ok_or_else(undecodable)?;
        let words: Option<Vec<QuoteWord>> = lists.words.items().collect();
        if !self.conditions.is_sorted_by(|one, next| one < next) {
            return Err("the conditions of a set are not in ascending order".to_owned());
        }
        let words = words.ok_or_else(undecodable)?;
        let maker = (self.maker, self.kind);
        let message = QuotesMessage::of_frame(set, &evidence, maker, &self.conditions, &words);
        let digest = message.digest(&quotes_separator(evidence.chain, salt));
        if digest != set.digest {
            return Err(format!(
                "set {} was executed; group, revision, seen, times, builder, markets and quotes of its \
                 frame are those of {digest}",
                set.digest
            ));
        }
        let signature = Signature::parse(evidence.signature).map_err(|error| error.to_string())?;
        signature
            .recover(&digest.0)
            .map_err(|error| error.to_string())
    }
}
