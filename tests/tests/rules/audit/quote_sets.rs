//! Signed sets of quotes of a site's traders, as a gateway sends them.

use foretell_auth::quotes::{QuotesMessage, quotes_separator};
use foretell_fixtures::market;
use foretell_model::command::SetQuotes;
use foretell_model::evidence::QuotesEvidence;
use foretell_model::quote::{Quote, QuoteWord};
use foretell_model::tail::Tail;
use foretell_model::{
    Command, ConditionId, KeyNumber, Lots, MarketNumber, OrderId, Outcome, Price, Sequence, Side,
    TimeMs, WalletKind,
};

use crate::audit::seal::GENESIS;
use crate::audit::site::Site;

/// A set of trader 0, and how it is signed.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Without its digest.
    pub(crate) set: SetQuotes,
    pub(crate) markets: Vec<MarketNumber>,
    pub(crate) words: Vec<QuoteWord>,
    pub(crate) kind: WalletKind,
    /// The trader whose key signs.
    pub(crate) signs: usize,
    pub(crate) chain: u64,
    pub(crate) salt: [u8; 32],
    pub(crate) builder: [u8; 32],
}

/// A quote in the market with this index.
pub(crate) fn quote(condition: u16, token: (Outcome, Side), lots: u64, price: u16) -> Quote {
    Quote {
        condition,
        outcome: token.0,
        side: token.1,
        price: Price(price),
        lots: Lots(lots),
        grow_tail: false,
    }
}

impl Site {
    /// A sound set of group 0 that is valid for a minute.
    pub(crate) fn draft(&self, revision: u64, markets: &[u32], quotes: &[Quote]) -> Draft {
        let now = self.now.millis().0;
        let count = |count: usize| u8::try_from(count).expect("few quotes");
        Draft {
            set: SetQuotes {
                account: self.account(0, WalletKind::Eoa).0,
                key: KeyNumber(0),
                digest: OrderId::ZERO,
                group: 0,
                revision,
                seen: Sequence(u64::MAX),
                timestamp: TimeMs(now),
                valid_until: TimeMs(now + 60_000),
                conditions: count(markets.len()),
                quotes: count(quotes.len()),
            },
            markets: markets.iter().copied().map(MarketNumber).collect(),
            words: quotes.iter().map(Quote::word).collect(),
            kind: WalletKind::Eoa,
            signs: 0,
            chain: 80_002,
            salt: GENESIS,
            builder: [0; 32],
        }
    }

    /// The command, and its tail with its evidence.
    pub(crate) fn sign_set(&self, draft: &Draft) -> (Command, Vec<u8>) {
        let (account, maker) = self.account(0, draft.kind);
        let condition = |number: &MarketNumber| market(number.0).terms.condition;
        let conditions: Vec<ConditionId> = draft.markets.iter().map(condition).collect();
        let mut set = SetQuotes {
            account,
            ..draft.set
        };
        let message = QuotesMessage {
            maker,
            signer: self.wallet(0),
            signature_type: draft.kind,
            group: set.group,
            revision: set.revision,
            seen: set.seen,
            timestamp: set.timestamp,
            valid_until: set.valid_until,
            builder: draft.builder,
            conditions: &conditions,
            quotes: &draft.words,
        };
        let separator = quotes_separator(draft.chain, &draft.salt);
        set.digest = message.digest(&separator);
        let signature = self.signer(draft.signs).sign_quotes(&message, &separator);
        let mut beside = Vec::new();
        Tail::append(&draft.markets, &mut beside);
        Tail::append(&draft.words, &mut beside);
        QuotesEvidence {
            signer: message.signer,
            signature_type: draft.kind.code(),
            builder: draft.builder,
            chain: draft.chain,
            signature: &signature,
        }
        .encode(&mut beside);
        (Command::SetQuotes(set), beside)
    }

    /// Signs and sends a set; returns its sequence.
    pub(crate) fn quote(&mut self, draft: &Draft) -> u64 {
        let (command, beside) = self.sign_set(draft);
        self.apply(command, &beside)
    }
}
