//! First books of a subscription: a few at a time, as fast as the client reads them.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome};

use crate::policy::limits::{STREAM_BOOK_ARRAY_BYTES, STREAM_DUMP_BOOKS, STREAM_DUMP_BYTES};
use crate::streams::connection::session::Session;
use crate::streams::fan_out::HubState;
use crate::streams::render::text_frame::text_frame;
use crate::streams::subscription::first_book::FirstBook;
use crate::view::shared_view::ViewState;

impl Session<'_> {
    /// Sends books of tokens that have none yet, if the connection has room for them.
    pub(crate) fn refill_books(&self) {
        let hub = &mut *self.hub.lock_again();
        let is_due = |hub: &mut HubState| {
            hub.member(self.id).is_some_and(|member| {
                // Books that wait for the fan-out are not in the outbox yet.
                !member.dump.is_empty()
                    && !member.has_inserts()
                    && member.closing.is_none()
                    && member.outbox.bytes() < STREAM_DUMP_BYTES
            })
        };
        while is_due(hub) {
            if !self.app.shared_view.is_ready() {
                return;
            }
            let books = self.next_books(hub, &self.app.shared_view.read());
            self.send_books(hub, books);
        }
    }

    /// Takes some books from one state. Messages of their tokens after it follow.
    pub(crate) fn next_books(&self, hub: &mut HubState, state: &ViewState) -> Vec<FirstBook> {
        let mut books = Vec::new();
        for token in self.next_tokens(hub) {
            if let Some(book) = FirstBook::of(&self.app.book_cache, state, token) {
                let tokens = hub.index.tokens(token.0, self.id);
                tokens.from[token.1.index()].get_or_insert(book.sequence());
                books.push(book);
            }
        }
        books
    }

    /// Renders books of one state, outside of the view's lock, and sends them.
    pub(crate) fn send_books(&self, hub: &mut HubState, books: Vec<FirstBook>) {
        let Some(sequence) = books.first().map(FirstBook::sequence) else {
            return;
        };
        let books = books.into_iter().map(|it| it.text(&self.app.book_cache));
        hub.insert(self.id, sequence, arrays(books));
    }

    /// The tokens whose books come next, without those that were unsubscribed meanwhile.
    fn next_tokens(&self, hub: &mut HubState) -> Vec<(MarketNumber, Outcome)> {
        let Some((member, index)) = hub.parts(self.id) else {
            return Vec::new();
        };
        if member.has_inserts() || member.outbox.bytes() >= STREAM_DUMP_BYTES {
            return Vec::new();
        }
        let next = std::iter::from_fn(|| member.dump.pop_first()).take(STREAM_DUMP_BOOKS);
        next.filter(|(market, outcome)| index.subscribed(*market, self.id).wanted[outcome.index()])
            .collect()
    }
}

/// The frames of books, which are arrays as in the family.
fn arrays(books: impl Iterator<Item = String>) -> Vec<Bytes> {
    let (mut frames, mut array) = (Vec::new(), String::new());
    for book in books {
        if !array.is_empty() && array.len() + book.len() > STREAM_BOOK_ARRAY_BYTES {
            frames.push(text_frame(&format!("[{array}]")));
            array.clear();
        }
        if !array.is_empty() {
            array.push(',');
        }
        array.push_str(&book);
    }
    frames.push(text_frame(&format!("[{array}]")));
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::render::text_frame::text_of;

    #[test]
    fn books_share_an_array_up_to_a_length() {
        let long = format!("{:?}", "x".repeat(STREAM_BOOK_ARRAY_BYTES));
        let books = ["1", "2", &long, "3"].map(str::to_owned);
        let frames = arrays(books.into_iter());
        let texts: Vec<_> = frames.iter().map(|frame| text_of(frame).unwrap()).collect();
        assert_eq!(texts, ["[1,2]", &format!("[{long}]"), "[3]"]);
    }
}
