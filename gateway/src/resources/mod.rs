//! One file per resource: what it reads of a request, whom it asks, what it answers.

pub(crate) mod actions;
pub(crate) mod balances;
pub(crate) mod books;
pub(crate) mod builder_trades;
pub(crate) mod cancels;
pub(crate) mod catalog;
pub(crate) mod checkpoints;
pub(crate) mod data;
pub(crate) mod empty;
pub(crate) mod health;
pub(crate) mod heartbeats;
pub(crate) mod keys;
pub(crate) mod market_info;
pub(crate) mod market_lists;
pub(crate) mod my_orders;
pub(crate) mod my_trades;
pub(crate) mod operator;
pub(crate) mod orders;
pub(crate) mod prices;
pub(crate) mod prices_history;
mod raw_records;

use foretell_link::Reply;
use foretell_model::{MarketNumber, Outcome, Reference, Sequence};
use foretell_view::View;
use foretell_wire::batch::AskedToken;
use foretell_wire::{Failure as Refusal, TokenRef};

use crate::answer::Place;
use crate::app::App;
use crate::replica::State;

/// Where a write's answer says it stands.
pub(crate) fn place_of(reply: &Reply) -> Place {
    Place {
        sequence: reply.sequence.max(reply.last_sequence),
        epoch: reply.epoch,
    }
}

/// A reference as the exchange keeps it; its text is the evidence of the frame.
pub(crate) fn reference(text: &str) -> Reference {
    Reference(*blake3::hash(text.as_bytes()).as_bytes())
}

/// The market and outcome of a token in either form.
pub(crate) fn market_of(view: &View, token: &TokenRef) -> Option<(MarketNumber, Outcome)> {
    match token {
        TokenRef::Token(token) => view.markets().by_token(token),
        TokenRef::Asset(condition, outcome) => {
            let (number, _) = view.markets().by_condition(condition)?;
            Some((number, *outcome))
        }
    }
}

/// What a name stands for, where one is given; `None` when that is not there.
pub(crate) fn named<N, T>(
    name: &Option<N>,
    find: impl FnOnce(&N) -> Option<T>,
) -> Option<Option<T>> {
    match name {
        Some(name) => find(name).map(Some),
        None => Some(None),
    }
}

impl App {
    /// Reads what a command of this gateway has just done: waits until the view shows it.
    pub(crate) async fn after<T>(
        &self,
        sequence: Sequence,
        read: impl FnOnce(&State) -> T,
    ) -> Result<T, Refusal> {
        let shown = self.replica.until(sequence).await;
        shown.map_err(|refusal| match refusal {
            Refusal::ViewStopped(stopped) => Refusal::DoneUnshown {
                sequence: sequence.0,
                stopped,
            },
            other => other,
        })?;
        Ok(read(&self.replica.read()))
    }

    /// Waits for the view to catch up when it does not know every token of a batch: what is left
    /// out of the answer then does not exist.
    pub(crate) async fn meet(&self, asked: &[AskedToken]) -> Result<(), Refusal> {
        self.find(|view| {
            asked
                .iter()
                .all(|asked| market_of(view, &asked.token).is_some())
                .then_some(())
        })
        .await?;
        Ok(())
    }
}
