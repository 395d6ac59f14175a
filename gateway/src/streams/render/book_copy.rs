//! A market's book at one frame, copied under the view's lock, readable from either token.

use foretell_model::{ConditionId, MarketNumber, Outcome, Price, TokenId};
use foretell_view::View;
use foretell_wire::markets::batch::Sides;
use foretell_wire::markets::book::{Book, BookLevel, BookText};

use crate::render::book_source::copied_book;

/// The inputs of both tokens' book texts.
#[derive(Debug)]
pub(crate) struct BookCopy {
    pub(crate) tokens: [TokenId; 2],
    yes: Book,
}

impl BookCopy {
    /// The book now; `None` for an unknown market.
    pub(crate) fn of(view: &View, market: MarketNumber) -> Option<Self> {
        Some(Self {
            tokens: view.markets().get(market)?.tokens,
            yes: copied_book(view, (market, Outcome::Yes), Sides::BOTH)?,
        })
    }

    pub(crate) fn condition(&self) -> ConditionId {
        self.yes.market
    }

    pub(crate) fn token(&self, outcome: Outcome) -> TokenId {
        self.tokens[outcome.index()]
    }

    /// Levels of both sides.
    pub(crate) fn levels(&self) -> usize {
        self.yes.bids.len() + self.yes.asks.len()
    }

    /// The best bid and the best ask of Yes.
    pub(crate) fn best(&self) -> [Option<Price>; 2] {
        let best = |levels: &Vec<BookLevel>| levels.first().map(|level| level.price);
        [&self.yes.bids, &self.yes.asks].map(best)
    }

    /// The text of `GET /book` for an outcome's token.
    pub(crate) fn text(&self, outcome: Outcome) -> BookText {
        let yes = &self.yes;
        match outcome {
            Outcome::Yes => yes.text(Sides::BOTH),
            Outcome::No => Book {
                token: self.token(outcome),
                bids: mirrored(&yes.asks),
                asks: mirrored(&yes.bids),
                last_trade_price: yes.last_trade_price.map(Price::complement),
                ..*yes
            }
            .text(Sides::BOTH),
        }
    }
}

/// The other token's levels, best first as well.
fn mirrored(levels: &[BookLevel]) -> Vec<BookLevel> {
    let mirror = |level: &BookLevel| BookLevel {
        price: level.price.complement(),
        lots: level.lots,
    };
    levels.iter().map(mirror).collect()
}

/// A Yes price in the price of an outcome's token, and back.
pub(crate) fn seen_from(outcome: Outcome, price: Price) -> Price {
    match outcome {
        Outcome::Yes => price,
        Outcome::No => price.complement(),
    }
}
