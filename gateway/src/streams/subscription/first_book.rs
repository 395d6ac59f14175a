//! The `book` of a token at one state: the first message of a subscription.

use foretell_journal::wall_clock;
use foretell_model::{MarketNumber, Outcome, Sequence};
use foretell_wire::markets::batch::Sides;
use foretell_wire::streams::market::book;
use foretell_wire::streams::{Stamp, stream_id};

use crate::render::book_cache::BookCache;
use crate::render::book_source::{BookSource, book_source};
use crate::view::shared_view::ViewState;

/// A book taken under the view's lock, to be rendered outside of it. Apart from `event_type` and
/// the stamp its text is that of `GET /book` at [`Self::sequence`].
pub(crate) struct FirstBook {
    source: BookSource,
    sequence: Sequence,
    stream_id: String,
}

impl FirstBook {
    /// The book now; `None` for an unknown market.
    pub(crate) fn of(
        texts: &BookCache,
        state: &ViewState,
        token: (MarketNumber, Outcome),
    ) -> Option<Self> {
        Some(Self {
            source: book_source(texts, state, token, Sides::BOTH)?,
            sequence: state.view.sequence(),
            stream_id: stream_id(state.view.branch()),
        })
    }

    /// The sequence of the state that it shows.
    pub(crate) fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// The message.
    pub(crate) fn text(self, texts: &BookCache) -> String {
        let json = self.source.text(texts);
        let stamp = Stamp {
            sequence: self.sequence,
            prev_sequence: None,
            stream_id: &self.stream_id,
            server_time: wall_clock::now().millis(),
        };
        let json = core::str::from_utf8(&json).expect("a book is text");
        book(json, &stamp)
    }
}
