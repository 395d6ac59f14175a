//! Commands on quotes (docs/verify/rules.md §32).

use crate::command::PlaceOrder;
use crate::event::QuotePlaced;
use crate::id::{AccountNumber, KeyNumber, MarketNumber, OrderId, Sequence};
use crate::quote::{Quote, QuoteLimits, QuoteWord, quote_id};
use crate::record::records;
use crate::side::{OrderType, Side};
use crate::tail::Tail;
use crate::time::{TimeMs, TimeSeconds};

records! {
    /// Replace the quotes of a group in the markets that the set lists. Tail: `conditions` market numbers,
    /// then `quotes` words ([`crate::quote::QuoteWord`]). Evidence: [`crate::evidence::QuotesEvidence`].
    ///
    /// Rejected in this order; details name a quote or a market by its index:
    ///
    /// 1. `UnknownAccount`, `UnknownKey`, `KeyOfAnotherOwner`, `InvalidQuotes` (group, counts, tail);
    /// 2. the revision and digest of the last set are `Repeated`; `TimestampOutOfWindow`,
    ///    `RevisionOutOfRange`, `ValidityOutOfRange`;
    /// 3. with a quote: `SystemPaused`, `CancelOnly`, `GroupFrozen`;
    /// 4. by market: `UnknownMarket`, `InvalidQuotes` (listed twice);
    /// 5. by quote: `InvalidQuotes`, `MarketNotReady`, `MarketPaused`, `MarketClosed`, `ClosedOnlyAccount`,
    ///    `PriceOffTick`, `AmountZero`, `AmountTooLarge`, `DuplicateQuote`, `QuotesCross`.
    pub struct SetQuotes {
        /// The maker: the trading wallet.
        pub account: AccountNumber,
        /// The API key of the request.
        pub key: KeyNumber,
        /// EIP-712 hash of the signed set.
        pub digest: OrderId,
        /// Group, below [`crate::limits::QUOTE_GROUPS`].
        pub group: u8,
        /// Number of the set in its group, rising.
        pub revision: u64,
        /// Command of the last own fill that the maker knows; 2^64 − 1 = it does not say.
        pub seen: Sequence,
        /// Signed timestamp.
        pub timestamp: TimeMs,
        /// When the quotes end at the latest.
        pub valid_until: TimeMs,
        /// Markets in the tail, 1 to [`crate::limits::MAX_QUOTES`].
        pub conditions: u8,
        /// Quotes in the tail, at most [`crate::limits::MAX_QUOTES`].
        pub quotes: u8,
    }

    /// Renew the lease of a group's quotes. A lease that ends no later is `Repeated`.
    pub struct RenewQuotes {
        /// The maker.
        pub account: AccountNumber,
        /// The API key of the request.
        pub key: KeyNumber,
        /// Group.
        pub group: u8,
        /// Revision of the group's last set.
        pub revision: u64,
    }

    /// Set lease and limits of a group of quotes; their window starts anew. The same is `Repeated`, but a
    /// `reset` of a frozen group. Rejected in this order: `UnknownAccount`, `UnknownKey`,
    /// `KeyOfAnotherOwner`, `InvalidQuotes` (group), `InvalidQuoteLimits`.
    pub struct SetQuoteLimits {
        /// The maker.
        pub account: AccountNumber,
        /// The API key of the request.
        pub key: KeyNumber,
        /// Group.
        pub group: u8,
        /// Lease and limits.
        pub limits: QuoteLimits,
        /// Whether a frozen group takes quotes again.
        pub reset: bool,
    }
}

/// The lists of a set, beside its command.
#[derive(Debug)]
pub struct QuoteLists<'a> {
    /// Its markets.
    pub markets: Tail<'a, MarketNumber>,
    /// Its quotes.
    pub words: Tail<'a, QuoteWord>,
    /// What follows: [`crate::evidence::QuotesEvidence`].
    pub evidence: &'a [u8],
}

impl SetQuotes {
    /// The lists at the start of the bytes beside the command; `None` when those end before.
    #[must_use]
    pub fn lists<'a>(&self, beside: &'a [u8]) -> Option<QuoteLists<'a>> {
        let (markets, rest) = Tail::split(beside, self.conditions.into())?;
        let (words, evidence) = Tail::split(rest, self.quotes.into())?;
        Some(QuoteLists {
            markets,
            words,
            evidence,
        })
    }
}

impl SetQuotes {
    /// A quote that the command placed, as the order that it is. `None` when the bytes beside the command
    /// have no such quote.
    #[must_use]
    pub fn order(&self, beside: &[u8], placed: &QuotePlaced) -> Option<PlaceOrder> {
        let index = placed.order.index();
        let (market, quote) = self.lists(beside)?.quote(index)?;
        let (shares, value) = (
            placed.lots.micro_shares(),
            placed.lots.value_at(quote.price).0,
        );
        let (maker_amount, taker_amount) = match quote.side {
            Side::Buy => (value, shares),
            Side::Sell => (shares, value),
        };
        Some(PlaceOrder {
            order: quote_id(&self.digest, index),
            account: self.account,
            key: self.key,
            market,
            outcome: quote.outcome,
            side: quote.side,
            order_type: OrderType::Gtc,
            post_only: true,
            maker_amount,
            taker_amount,
            expiration: TimeSeconds(0),
            timestamp: self.timestamp,
        })
    }
}

impl QuoteLists<'_> {
    /// A quote and its market; `None` beyond the last, and for one that no exchange takes.
    #[must_use]
    pub fn quote(&self, index: u8) -> Option<(MarketNumber, Quote)> {
        let quote = self.words.get(index.into())?.read().ok()?;
        let market = self.markets.get(quote.condition.into())?;
        Some((market, quote))
    }
}
