//! The signed set of quotes that placed an order of a proof.

use foretell_auth::quotes::{QuotesMessage, quotes_separator};
use foretell_journal::{Frame, Scratch};
use foretell_model::evidence::QuotesEvidence;
use foretell_model::quote::quote_id;
use foretell_model::{Command, ConditionId, OrderId, WalletAddress, WalletKind};
use foretell_view::{TradeSide, View};
use foretell_wire::schema::JsonSchema;
use foretell_wire::text::ids;
use foretell_wire::values;
use serde::Serialize;

/// The set, and which of its quotes the order is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QuoteSet")]
pub(super) struct SetRow {
    /// Its digest: the id of the order but for the last byte.
    #[serde(with = "values::Hash")]
    digest: OrderId,
    /// Index of the quote; the last byte of the id.
    quote: u8,
    /// Word of the quote.
    #[schemars(with = "values::Hash")]
    word: String,
    /// Group of the set.
    group: u8,
    /// Revision of the set.
    revision: u64,
}

/// A set whose signature was checked.
pub(super) struct SignedSet {
    pub(super) row: SetRow,
    pub(super) signature: String,
    /// Who signed.
    pub(super) recovered: Option<WalletAddress>,
    /// Whether the order is a quote of what was signed; `None` for one signed before a restore, for another salt.
    pub(super) is_valid: Option<bool>,
}

impl SignedSet {
    /// The set of a frame; `None` of other frames.
    pub(super) fn of(
        view: &View,
        side: &TradeSide,
        maker: WalletAddress,
        frame: &Frame<'_>,
    ) -> Option<Self> {
        let mut scratch = Scratch::default();
        let frame = frame.decode(&mut scratch).ok()?;
        let Command::SetQuotes(set) = frame.command else {
            return None;
        };
        let lists = set.lists(frame.evidence)?;
        let evidence = QuotesEvidence::decode(lists.evidence)?;
        let condition = |market: Option<_>| Some(view.markets().get(market?)?.condition);
        let conditions: Option<Vec<ConditionId>> = lists.markets.items().map(condition).collect();
        let words: Option<Vec<_>> = lists.words.items().collect();
        let (conditions, words) = (conditions?, words?);
        let maker = (maker, WalletKind::from_code(evidence.signature_type)?);
        let message = QuotesMessage::of_frame(set, &evidence, maker, &conditions, &words);
        let separator = quotes_separator(evidence.chain, view.branch());
        let is_of_branch = message.digest(&separator) == set.digest;
        let is_signed = (message.verify_signature(&separator, evidence.signature)).is_ok();
        let quote = side.order.index();
        Some(Self {
            row: SetRow {
                digest: set.digest,
                quote,
                word: ids::hex_text(&lists.words.get(quote.into())?.0),
                group: set.group,
                revision: set.revision,
            },
            signature: format!("0x{}", hex::encode(evidence.signature)),
            recovered: (is_of_branch && is_signed).then_some(evidence.signer),
            is_valid: is_of_branch
                .then(|| is_signed && quote_id(&set.digest, quote) == side.order_id),
        })
    }
}
