//! Stream messages from frames alone, without a gateway: what tests compare with their own
//! derivation.
//!
//! It stays in the crate, whose private parts it joins: the tests that use it are of another crate (`tests/tests/properties`),
//! where they share journals with those of the data surface, and a feature for them would make `cargo test --workspace`
//! compile the gateway again that `cargo run` has compiled. The linker leaves it out: `foretell` has no symbol of it.

use std::path::Path;
use std::sync::Arc;

use foretell_model::{FrameRef, KeyNumber, MarketNumber, Outcome, Sequence, TimeMs};
use foretell_view::{Chunking, FoldError, FrameChanges, View};
use tokio::sync::Semaphore;

use crate::catalog::descriptions::Descriptions;
use crate::policy::limits::CHECKED_AT_START;
use crate::render::book_cache::BookCache;
use crate::streams::fan_out::journal_replay::{JournalReplay, ReplaySpan};
use crate::streams::fan_out::ring::{EncodedFrame, Scope};
use crate::streams::render::encoder::{EncodeLimits, Encoder};
use crate::streams::render::facts::FrameFacts;
use crate::streams::render::text_frame::text_of;
use crate::streams::subscription::demand::{Subject, Watched};
use crate::streams::subscription::first_book::FirstBook;
use crate::view::shared_view::ViewState;
use crate::view::view_bootstrap::ViewSources;

/// Folds frames and renders all their messages as a gateway does.
pub struct StreamFold {
    state: ViewState,
    descriptions: Descriptions,
    encoder: Encoder,
    changes: FrameChanges,
    texts: BookCache,
}

/// A message and its receivers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StreamMessage {
    /// Who receives it.
    pub receiver: StreamReceiver,
    /// Its JSON.
    pub text: String,
}

/// The receivers of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamReceiver {
    /// Market channel: subscribers of this token.
    Token(MarketNumber, Outcome),
    /// Market channel: subscribers of this token and not of the market's other token.
    OnlyToken(MarketNumber, Outcome),
    /// Market channel: subscribers of either token.
    Market(MarketNumber),
    /// Market channel: subscribers of this token with `custom_feature_enabled`.
    CustomToken(MarketNumber, Outcome),
    /// Market channel: everyone with `custom_feature_enabled`.
    CustomAll,
    /// Market channel: subscribers of either token who opted in to the extension.
    ExtendedMarket(MarketNumber),
    /// Both channels: everyone who opted in to the extension.
    ExtendedAll,
    /// User channel: the holder of this key, unless markets were named without this one.
    Key(KeyNumber, Option<MarketNumber>),
}

impl From<Scope> for StreamReceiver {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Token(market, outcome) => Self::Token(market, outcome),
            Scope::OnlyToken(market, outcome) => Self::OnlyToken(market, outcome),
            Scope::Market(market) => Self::Market(market),
            Scope::CustomToken(market, outcome) => Self::CustomToken(market, outcome),
            Scope::CustomAll => Self::CustomAll,
            Scope::ExtendedMarket(market) => Self::ExtendedMarket(market),
            Scope::ExtendedAll => Self::ExtendedAll,
        }
    }
}

impl StreamFold {
    /// Before the first frame. Books above `hash_levels` levels have no hash in `price_change`,
    /// those longer than `large_book` bytes are sent at intervals after trades.
    #[must_use]
    pub fn new(genesis: [u8; 32], hash_levels: usize, large_book: usize) -> Self {
        let limits = EncodeLimits {
            hash_levels,
            large_book,
        };
        Self {
            state: ViewState {
                view: View::new(genesis),
                epoch: 1,
            },
            descriptions: Descriptions::default(),
            encoder: Encoder::new(limits),
            changes: FrameChanges::default(),
            texts: BookCache::default(),
        }
    }

    /// The view.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.state.view
    }

    /// Folds the next frame and returns its messages, market channel first, for the receivers of
    /// every market and every key.
    ///
    /// # Errors
    /// As [`View::apply`].
    pub fn fold(
        &mut self,
        frame: &FrameRef<'_>,
        receipt: [u8; 32],
        server_time: TimeMs,
    ) -> Result<Vec<StreamMessage>, FoldError> {
        let view = &mut self.state.view;
        view.apply_observed(frame, &mut self.changes)?;
        let watched = everything(view);
        let facts = FrameFacts::collect(view, &self.descriptions, &watched, &self.changes, || {
            receipt
        });
        Ok(facts.map_or_else(Vec::new, |facts| {
            messages(view, &self.encoder.encode(&facts, server_time))
        }))
    }

    /// The messages of the frames after `after` up to the last one folded here, rendered again from
    /// a journal as for a client that resumes far back. Folds `slice` frames at a time.
    ///
    /// # Errors
    /// Why the client would get a snapshot instead.
    pub fn replay(
        &self,
        journal: &Path,
        snapshots: &Path,
        after: Sequence,
        slice: usize,
    ) -> Result<Vec<StreamMessage>, String> {
        let sources = ViewSources {
            journal: journal.to_owned(),
            snapshots: snapshots.to_owned(),
            checked_at_start: CHECKED_AT_START,
            chunking: Chunking::Standard,
        };
        let span = ReplaySpan {
            after,
            last: self.state.view.sequence(),
        };
        let turns = Arc::new(Semaphore::new(1));
        let turn = turns.try_acquire_owned().expect("the first");
        let watched = everything(&self.state.view);
        let replay = JournalReplay::open(&sources, &self.descriptions, span, watched, turn);
        let mut replay = replay.map_err(|error| error.to_string())?;
        let mut sent = Vec::new();
        while let Some(frames) = replay.next(slice).map_err(|error| error.to_string())? {
            let view = &self.state.view;
            sent.extend(frames.iter().flat_map(|frame| messages(view, frame)));
        }
        Ok(sent)
    }

    /// The current `book` of a token.
    #[must_use]
    pub fn book(&self, market: MarketNumber, outcome: Outcome) -> Option<String> {
        let book = FirstBook::of(&self.texts, &self.state, (market, outcome))?;
        Some(book.text(&self.texts))
    }
}

fn messages(view: &View, encoded: &EncodedFrame) -> Vec<StreamMessage> {
    let text = |frame: &[u8]| text_of(frame).expect("it was rendered").to_owned();
    let market = encoded.market.iter().map(|message| StreamMessage {
        receiver: message.scope.into(),
        text: text(&message.frame),
    });
    let number = |market| view.markets().number_of(market).expect("it is listed");
    let user = encoded.own_messages().map(|message| StreamMessage {
        receiver: StreamReceiver::Key(message.key, message.market.as_ref().map(number)),
        text: text(&message.frame),
    });
    market.chain(user).collect()
}

fn everything(view: &View) -> Watched {
    let markets = view
        .markets()
        .iter()
        .map(|(market, _)| Subject::Market(market));
    let numbers = 0..u32::try_from(view.keys().count()).unwrap_or(u32::MAX);
    let owned = |key| Some(Subject::Key(key, view.keys().get(key)?.owner));
    let keys = numbers.map(KeyNumber).filter_map(owned);
    Watched::of(markets.chain(keys).chain([Subject::Lifecycle]))
}
